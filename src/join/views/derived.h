/* SPDX-License-Identifier: MIT */
/*
 * The spans as events of four kinds, as ccltap-trace(5) describes: beginnings, ends,
 * links and counters.  A viewer that knows these four needs to know no call, no layer and
 * no rule of the join.  The events come in order of time, each when it happens, so that
 * only open spans are held.
 *
 * Hides which row and lane a span is drawn in, and how a process is named.
 */
#ifndef TAP_JOIN_VIEWS_DERIVED_H
#define TAP_JOIN_VIEWS_DERIVED_H

#include "join/model/link.h"
#include "join/views/view.h"

enum tap_mark_kind {
	TAP_MARK_BEGIN,
	TAP_MARK_END, /* of a span, with its state; not of a call that has not returned */
	TAP_MARK_LINK,
	TAP_MARK_COUNTER,
};

/* One event; it belongs to the view until the function returns. */
struct tap_mark {
	enum tap_mark_kind kind;
	/*
	 * Not before that of the previous event, except for what is known late:
	 * tap_context_horizon().
	 */
	int64_t time_ns;
	const struct tap_process *process;
	const char *who; /* the name of the process, the same as long as it lives */

	/*
	 * Of a beginning and an end.  The place of a span without a beginning is not set.
	 */
	const struct tap_span *span;
	int64_t bytes; /* -1 unknown */

	/* Of a link: one event for each end. */
	const struct tap_link *link;
	uint64_t link_number; /* from 1 */
	const struct tap_link_end *end;
	size_t part; /* from 1 */

	/* Of a counter. */
	const char *layer;
	const char *counter;
	int64_t value;
};

/* The receiver of the events; each function returns 0 or -errno. */
struct tap_mark_taker {
	int (*mark)(void *data, const struct tap_mark *mark);
	int (*finish)(void *data, const struct tap_loss *loss);
	void *data;
};

/* The kind of a span, for colours; a number never gets another meaning. */
enum tap_span_kind {
	TAP_SPAN_CALL = 1,
	TAP_SPAN_COLLECTIVE,
	TAP_SPAN_SEND,
	TAP_SPAN_RECEIVE,
	TAP_SPAN_GROUP,
	TAP_SPAN_RANGE,	    /* a range of the program */
	TAP_SPAN_WORK_SEND, /* a work request of any opcode */
	TAP_SPAN_WORK_RECEIVE,
	TAP_SPAN_NET_SEND, /* a message of NCCL's network code */
	TAP_SPAN_NET_RECEIVE,
	TAP_SPAN_LAUNCH, /* in the CUDA driver: of a kernel, a graph, a host function */
	TAP_SPAN_COPY,	 /* or memory set */
	TAP_SPAN_WAIT,	 /* until work on a stream is done */
	TAP_SPAN_KERNEL, /* on a GPU, not NCCL's */
	TAP_SPAN_KERNEL_NCCL, /* of several functions, or of an unknown one */
	TAP_SPAN_KERNEL_ALL_REDUCE,
	TAP_SPAN_KERNEL_ALL_GATHER,
	TAP_SPAN_KERNEL_REDUCE_SCATTER,
	TAP_SPAN_KERNEL_BROADCAST,
	TAP_SPAN_KERNEL_REDUCE,
	TAP_SPAN_KERNEL_SEND_RECV,
	TAP_SPAN_GPU_COPY,
	TAP_SPAN_GPU_SET,
	TAP_SPAN_PROXY_OP,
	TAP_SPAN_PROXY_CTRL, /* of a progress thread */
};
enum tap_span_kind tap_span_kind(const struct tap_span *span);
const char *tap_span_kind_name(enum tap_span_kind kind);

/* NULL when memory is short. */
struct tap_view *tap_derived_create(const struct tap_mark_taker *taker);

#endif
