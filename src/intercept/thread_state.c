/* SPDX-License-Identifier: MIT */
/*
 * Reads what threads publish in struct tap_thread, under the lock of threads.c.
 */
#include "intercept/thread_state.h"

#include "common/clock.h"
#include "common/thread.h"
#include "intercept/layer.h"
#include "intercept/nccl/comm.h"
#include "intercept/threads.h"
#include "intercept/trace.h"

/* The values may be from different moments: the thread runs meanwhile. */
static void read_group(const struct tap_thread *t, struct tap_thread_state *ret_state)
{
	*ret_state = (struct tap_thread_state){
		.tid = t->tid,
		.group_id = __atomic_load_n(&t->group_id, __ATOMIC_RELAXED),
		.group_depth = __atomic_load_n(&t->group_depth, __ATOMIC_RELAXED),
		.function = "",
	};
}

/* Returns whether the thread is in a recorded call, and fills in which. */
static bool read_open(const struct tap_thread *t, struct tap_thread_state *ret_state)
{
	const struct tap_open *open = &t->open;

	read_group(t, ret_state);
	ret_state->call_id = __atomic_load_n(&open->call_id, __ATOMIC_ACQUIRE);
	if (!ret_state->call_id)
		return false;
	ret_state->function = __atomic_load_n(&open->function, __ATOMIC_RELAXED);
	ret_state->comm_id = __atomic_load_n(&open->comm_id, __ATOMIC_RELAXED);
	ret_state->comm_key = __atomic_load_n(&open->comm_key, __ATOMIC_RELAXED);
	ret_state->op_number = __atomic_load_n(&open->op_number, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&open->call_id, __ATOMIC_RELAXED) == ret_state->call_id;
}

/*
 * While no session records, threads publish only operations, and calls that change a
 * communicator or a group.
 */
static bool read_inside(const struct tap_thread *t, struct tap_thread_state *ret_state)
{
	const char *inside = __atomic_load_n(&t->inside, __ATOMIC_RELAXED);

	read_group(t, ret_state);
	if (inside)
		ret_state->function = inside;
	ret_state->comm_id =
		__atomic_load_n(&__atomic_load_n(&t->last_comm, __ATOMIC_RELAXED)->id,
				__ATOMIC_RELAXED);
	return inside || ret_state->group_depth;
}

/* tap:statedump_thread for each thread that is inside a call or a group. */
static void write_statedump(struct tap_state_counts *counts)
{
	struct tap_thread_state state;
	const struct tap_thread *t;
	int64_t now_ns;

	if (!tap_threads_lock()) {
		tap_problem("not recorded", "the state of threads", 1);
		return;
	}
	counts->all_threads = tap_threads_all_known();
	now_ns = tap_now_ns();
	for (t = tap_threads_newest(); t; t = t->earlier) {
		if (read_open(t, &state)) {
			if (state.call_id == t->open.seen_id)
				state.min_ns = (uint64_t) (now_ns - t->open.seen_ns);
		} else if (!read_inside(t, &state)) {
			continue;
		}
		tap_events_table->statedump_thread(&state);
		counts->threads++;
	}
	tap_threads_unlock();
}

const struct tap_layer tap_layer_thread_state = {
	.write_statedump = write_statedump,
};

/* Whether the call that t is in is new, due for a report, or stuck. */
static bool look(struct tap_thread *t, int64_t now_ns, int64_t stuck_ns,
		 struct tap_thread_seen *ret_seen)
{
	struct tap_open *open = &t->open;
	int64_t min_ns;

	if (!read_open(t, &ret_seen->state))
		return false;
	ret_seen->is_new = open->seen_id != ret_seen->state.call_id;
	if (ret_seen->is_new) {
		open->seen_id = ret_seen->state.call_id;
		open->seen_ns = now_ns;
		open->due_ns = TAP_SECOND_NS;
		open->is_stuck = false;
	}
	min_ns = now_ns - open->seen_ns;
	ret_seen->state.min_ns = (uint64_t) min_ns;
	ret_seen->is_due = min_ns >= open->due_ns;
	ret_seen->is_stuck = stuck_ns && min_ns >= stuck_ns && !open->is_stuck;
	return ret_seen->is_new || ret_seen->is_due || ret_seen->is_stuck;
}

uint32_t tap_threads_look(int64_t stuck_ns, struct tap_thread_seen *ret_seen,
			  uint32_t room)
{
	struct tap_thread *t;
	int64_t now_ns;
	uint32_t nr = 0;

	if (!tap_threads_lock())
		return 0;
	now_ns = tap_now_ns();
	for (t = tap_threads_newest(); t && nr < room; t = t->earlier) {
		if (!look(t, now_ns, stuck_ns, &ret_seen[nr]))
			continue;
		/* New calls, of which there may be many at each look, leave room for others. */
		if (ret_seen[nr].is_new && nr >= room / 2)
			continue;
		while (t->open.due_ns <= now_ns - t->open.seen_ns)
			t->open.due_ns *= 10;
		t->open.is_stuck |= ret_seen[nr].is_stuck;
		nr++;
	}
	tap_threads_unlock();
	return nr;
}

uint32_t tap_threads_look_proxies(struct tap_proxy_seen *ret_seen, uint32_t room)
{
	const uint8_t rests = TAP_THREAD_SLEEP | TAP_THREAD_YIELD;
	const struct tap_thread *t;
	uint32_t nr = 0;

	if (!tap_threads_lock())
		return 0;
	for (t = tap_threads_newest(); t && nr < room; t = t->earlier)
		if (t->is_ccl && __atomic_load_n(&t->ccl.does, __ATOMIC_RELAXED) & rests)
			ret_seen[nr++] = (struct tap_proxy_seen){
				.tid = t->tid,
				.is_asleep = __atomic_load_n(&t->ccl.is_asleep,
							     __ATOMIC_RELAXED),
				.yields = __atomic_load_n(&t->ccl.yields,
							  __ATOMIC_RELAXED)};
	tap_threads_unlock();
	return nr;
}
