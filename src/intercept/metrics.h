/* SPDX-License-Identifier: MIT */
/*
 * The counters of this process (common/metrics_page.h), which `ccltap record --metrics`
 * reads: there is no event, and nothing of LTTng.
 *
 * It hides where the page is, that it is made at the first call of NCCL or when a device
 * of libibverbs is opened, and that the process keeps neither a descriptor nor a file of
 * it: the page is memory whose descriptor goes to the supervisor, so it lasts as long as
 * one of the two.
 */
#ifndef TAP_INTERCEPT_METRICS_H
#define TAP_INTERCEPT_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/compiler.h"
#include "common/metrics_page.h"
#include "common/thread.h"

/* NULL while nobody asked for counters. */
extern struct tap_metrics_page *tap_metrics_page tap_hidden;

/* Whether counters are all that is wanted: then LTTng is not loaded. */
bool tap_metrics_are_alone(void) tap_hidden;

/*
 * The second switch of an entry point while LTTng is not loaded: set by the supervisor
 * when a recording begins.
 */
const int *tap_metrics_wish(void) tap_hidden;
bool tap_metrics_is_wished(void) tap_hidden;
/* Tells the supervisor how far loading LTTng is. */
void tap_metrics_tell(enum tap_metrics_attached how_far) tap_hidden;

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

/* A call that is counted. */
struct tap_metrics_call {
	struct tap_metrics_slot *slot; /* NULL: it is counted with others */
	int64_t begin_ns;	       /* 0: it is not timed */
};

/* What several threads count at once. */
struct tap_metrics_call tap_metrics_begin_shared(unsigned row,
						 bool is_operation) tap_hidden;
void tap_metrics_end_shared(const struct tap_metrics_call *call, unsigned row,
			    bool has_failed, uint64_t bytes) tap_hidden;
void tap_metrics_drop(struct tap_metrics_comm *room, uint64_t operations) tap_hidden;

/*
 * The bytes of a type of NCCL's, 0 unknown: a digit for each, as no table is near.  NCCL
 * has no type from 16 on, and bytes count only of calls that it accepts.
 */
static inline uint64_t tap_metrics_type_bytes(unsigned type)
{
	return UINT64_C(0x112842884411) >> (4 * type & 63) & 15;
}

/* Whether the call on a communicator is timed before which so many have begun. */
static inline bool tap_metrics_is_timed(const struct tap_metrics_slot *slot,
					uint64_t begun)
{
	return (uint32_t) begun == slot->next_timed;
}

/*
 * Around a call on a communicator with this room.  The first returns what the second
 * needs; of a call that is not timed neither reads a clock.
 */
static inline struct tap_metrics_call
tap_metrics_call_begins(struct tap_metrics_comm *room, unsigned row)
{
	struct tap_metrics_call call = {0};
	uint64_t begun;

	if (unlikely(!room))
		return tap_metrics_begin_shared(row, true);
	call.slot = &room->of[row];
	begun = __atomic_load_n(&call.slot->begun, __ATOMIC_RELAXED);
	__atomic_store_n(&call.slot->begun, begun + 1, __ATOMIC_RELAXED);
	if (unlikely(tap_metrics_is_timed(call.slot, begun))) {
		call.slot->next_timed += TAP_METRICS_CALLS_TIMED;
		call.begin_ns = tap_now_ns();
	}
	return call;
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

static inline void tap_metrics_call_ends(const struct tap_metrics_call *call,
					 unsigned row, bool has_failed, uint64_t bytes)
{
	if (unlikely(!call->slot)) {
		tap_metrics_end_shared(call, row, has_failed, bytes);
		return;
	}
	if (unlikely(call->begin_ns)) {
		tap_metrics_add(&call->slot->timed_ns,
				(uint64_t) (tap_now_ns() - call->begin_ns));
		__atomic_store_n(&call->slot->timed, call->slot->timed + 1,
				 __ATOMIC_RELAXED);
	}
	tap_metrics_count_end(call->slot, has_failed, bytes);
}

/* The counters of a queue. */
struct tap_metrics_room {
	struct tap_metrics_queue *queue;   /* NULL: it is not counted */
	struct tap_metrics_device *device; /* of all queues, to add to atomically */
	bool is_own;			   /* false: other queues add to `queue`, too */
};

/* Room for a queue of this device, until the queue is gone. */
struct tap_metrics_room tap_metrics_take_room(const char *device) tap_hidden;
void tap_metrics_return_room(const struct tap_metrics_room *room) tap_hidden;

/*
 * NCCL's threads that move messages, each of which tells of itself: that it goes to sleep
 * or works, that it has had nothing to do so many times, and that it ends.
 */
#define TAP_METRICS_YIELDS 64
void tap_metrics_proxy_rests(struct tap_ccl_thread *thread, bool is_asleep) tap_hidden;
void tap_metrics_proxy_yields(struct tap_ccl_thread *thread) tap_hidden;
void tap_metrics_proxy_ends(struct tap_ccl_thread *thread) tap_hidden;

/* A kernel of NCCL's has run. */
void tap_metrics_count_kernel(uint64_t ns) tap_hidden;

#endif
