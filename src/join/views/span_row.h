/* SPDX-License-Identifier: MIT */
/*
 * The row in which a view draws a span: a thread, a stream, a connection or a queue of a
 * process.
 *
 * Hides which spans share a row, what it is called once more is known of its thread or
 * connection, and in which order the rows of a process stand.
 */
#ifndef TAP_JOIN_VIEWS_SPAN_ROW_H
#define TAP_JOIN_VIEWS_SPAN_ROW_H

#include "join/base/buffer.h"
#include "join/model/nccl_connection.h"
#include "join/model/nccl_thread.h"
#include "join/model/span.h"

/* What a row shows. */
enum tap_span_row_kind {
	TAP_ROW_CALLS,	/* of a thread */
	TAP_ROW_RANGES, /* of a thread, by NVTX */
	TAP_ROW_CTRL,	/* whether a progress thread is asleep */
	TAP_ROW_STREAM,
	TAP_ROW_OPS, /* ProxyOps of a connection */
	TAP_ROW_MESSAGES,
	TAP_ROW_REQUESTS, /* of a queue */
};

struct tap_span_row {
	enum tap_span_row_kind kind;
	const struct tap_process *process;
	uint64_t number;      /* among the rows of this kind and process */
	struct tap_work work; /* of a span in it; none: of a thread */
	enum tap_thread_role role;
	struct tap_nccl_connection about; /* process NULL: nothing is known */
};

/* What no other row of the trace has: a key for a table. */
struct tap_span_row_key {
	uint64_t kind_and_process, number;
};

struct tap_span_row_key tap_span_row_key(const struct tap_span *span);
struct tap_span_row tap_span_row_of(const struct tap_span *span);

/* The rows that a thread, or an end of a connection, may have. */
#define TAP_SPAN_ROWS_OF_THREAD 3
#define TAP_SPAN_ROWS_OF_CONNECTION 2
void tap_span_row_keys_of_thread(const struct tap_nccl_thread *thread,
				 struct tap_span_row_key *keys);
void tap_span_row_keys_of_connection(const struct tap_nccl_connection *connection,
				     struct tap_span_row_key *keys);

/* "thread 11 (NCCL progress)", "GPU 0, stream 7", "net 3 send, channel 0, to rank 1" */
void tap_span_row_add_name(struct tap_buffer *name, const struct tap_span_row *row);
/*
 * Where a row stands below its process: calls of the program's threads, streams, NCCL's
 * threads, connections, queues.  What belongs to one thread or connection is together.
 */
int64_t tap_span_row_place(const struct tap_span_row *row);

#endif
