/* SPDX-License-Identifier: MIT */
/*
 * The counters of this process (common/metrics_page.h), which `ccltap record --metrics`
 * reads: there is no event, and nothing of LTTng.
 *
 * It hides where the page is, that it is made at the first call of a traced library, and
 * that the process keeps neither a descriptor nor a file of it: the page is memory whose
 * descriptor goes to the supervisor, so it lasts as long as one of the two.
 */
#ifndef TAP_INTERCEPT_METRICS_H
#define TAP_INTERCEPT_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/metrics_page.h"

/* NULL while nobody asked for counters. */
extern struct tap_metrics_page *tap_metrics_page tap_hidden;

/* Whether counters are all that is wanted: then LTTng is not loaded. */
bool tap_metrics_are_alone(void) tap_hidden;

enum tap_metrics_state { TAP_METRICS_OFF, TAP_METRICS_ON, TAP_METRICS_MAKING };

/*
 * Makes the page if it is wanted and not there.  Returns MAKING while another thread does
 * so: ask again at the next call.  The caller has set the guard.
 */
enum tap_metrics_state tap_metrics_begin(void) tap_hidden;

/*
 * Gives a communicator room, which a communicator before it may have had; *room NULL: it
 * has none and is counted with others.  Under the lock of comm.c, as is the next
 * function.
 */
void tap_metrics_give_room(struct tap_metrics_comm **room) tap_hidden;
void tap_metrics_describe(struct tap_metrics_comm *room, uint64_t key, int32_t nranks,
			  int32_t rank, bool is_live) tap_hidden;

/* What several threads count at once. */
void tap_metrics_begin_shared(unsigned row, bool is_operation) tap_hidden;
void tap_metrics_end_shared(unsigned row, bool has_failed, uint64_t bytes) tap_hidden;
void tap_metrics_drop(struct tap_metrics_comm *room, uint64_t operations) tap_hidden;

/*
 * The bytes of a type of NCCL's, 0 unknown: a digit for each, as no table is near.  NCCL
 * has no type from 16 on, and bytes count only of calls that it accepts.
 */
static inline uint64_t tap_metrics_type_bytes(unsigned type)
{
	return UINT64_C(0x112842884411) >> (4 * type & 63) & 15;
}

/*
 * Around a call on a communicator with this room.  The first returns what the second
 * needs; neither reads a clock.
 */
static inline struct tap_metrics_slot *
tap_metrics_call_begins(struct tap_metrics_comm *room, unsigned row)
{
	if (unlikely(!room)) {
		tap_metrics_begin_shared(row, true);
		return NULL;
	}
	tap_metrics_add(&room->of[row].begun, 1);
	return &room->of[row];
}

static inline void tap_metrics_count_end(struct tap_metrics_slot *slot, bool has_failed,
					 uint64_t bytes)
{
	if (unlikely(has_failed))
		tap_metrics_add(&slot->failed, 1);
	else
		tap_metrics_add(&slot->bytes, bytes);
	tap_metrics_add(&slot->ended, 1);
}

static inline void tap_metrics_call_ends(struct tap_metrics_slot *slot, unsigned row,
					 bool has_failed, uint64_t bytes)
{
	if (unlikely(!slot)) {
		tap_metrics_end_shared(row, has_failed, bytes);
		return;
	}
	tap_metrics_count_end(slot, has_failed, bytes);
}

#endif
