/* SPDX-License-Identifier: MIT */
/*
 * The words that several findings use: ranks, operations, times, and where a process
 * stands.
 *
 * Hides how long lists are kept short, and which of the things that are known of a
 * process says most about where it is.
 */
#ifndef TAP_JOIN_FINDINGS_WORDS_H
#define TAP_JOIN_FINDINGS_WORDS_H

#include "join/base/buffer.h"
#include "join/model/context.h"
#include "join/model/link.h"

/* "rank 1", "ranks 0-6, 8", "no rank"; an unknown rank is "?".  The ranks are sorted. */
void tap_words_add_ranks(struct tap_buffer *text, const int64_t *ranks, size_t count);
/* The same as the beginning of a sentence. */
void tap_words_begin_with_ranks(struct tap_buffer *text, const int64_t *ranks,
				size_t count);
/* "6.2 s": two significant digits, for what is only known to be that long or longer. */
void tap_words_add_about(struct tap_buffer *text, int64_t duration_ns);
/* "0.378 s": since the first event of the trace. */
void tap_words_add_time(struct tap_buffer *text, const struct tap_context *context,
			int64_t time_ns);
/* "ncclAllReduce #6 on 0xaf59e012.."; without what is unknown. */
void tap_words_add_operation(struct tap_buffer *text, const struct tap_name *name,
			     uint64_t number, const struct tap_comm *comm);
/* "train+0x2fdb", or nothing where the caller is unknown; returns whether it is known. */
bool tap_words_add_caller(struct tap_buffer *text, const struct tap_library *library,
			  uint64_t number, uint64_t offset);
/* "pid 9361", with its host where the trace has several. */
void tap_words_add_pid(struct tap_buffer *text, const struct tap_context *context,
		       const struct tap_process *process);
/*
 * "pid 9361, last operation #5 at 0.378 s": where the process is now, in one clause; comm
 * is the communicator that the sentence is about, or NULL.
 */
void tap_words_add_place(struct tap_buffer *text, const struct tap_context *context,
			 const struct tap_end_state *end, const struct tap_comm *comm);
/*
 * A sentence about what the process did last and since when nothing is known of it, and
 * what a person would look at next.
 */
void tap_words_add_since(struct tap_buffer *text, const struct tap_context *context,
			 const struct tap_end_state *end);
void tap_words_add_next(struct tap_buffer *text, const struct tap_end_state *end,
			int64_t rank);

/* The open call of the process that has been open longest, or NULL. */
const struct tap_open_call *tap_words_open_call(const struct tap_end_state *end);

#endif
