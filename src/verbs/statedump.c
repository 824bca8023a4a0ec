/* SPDX-License-Identifier: MIT */
/* The state dump of the objects, and polls without success for the watchdog. */
#include <inttypes.h>
#include <stdio.h>

#include "common/clock.h"
#include "verbs/address.h"
#include "verbs/objects.h"
#include "verbs/entry_point.h"

/* At one look; the next one sees the others. */
#define NR_SEEN 64

void tap_verbs_write_statedump(struct tap_state_counts *counts)
{
	const struct tap_verbs_events *events = &tap_events_table->verbs;
	const struct tap_context *context;
	const struct tap_srq *srq;
	const struct tap_cq *cq;
	const struct tap_qp *qp;
	const struct tap_mr *mr;
	const struct tap_ah *ah;

	(void) counts;
	if (!tap_tables_lock()) {
		tap_problem("not recorded", "the state of verbs", 1);
		return;
	}
	tap_table_each(&tap_contexts, context) events->context(&context->about, true);
	tap_addresses_write_statedump(events);
	tap_table_each(&tap_cqs, cq) events->cq(&cq->about, true);
	tap_table_each(&tap_srqs, srq) events->srq(&srq->about, true);
	tap_table_each(&tap_mrs, mr) events->mr(&mr->about, true);
	tap_table_each(&tap_ahs, ah) events->ah(&ah->about, true);
	tap_table_each(&tap_qps, qp)
		events->statedump_qp(&qp->about, &qp->modify, &qp->counts);
	tap_tables_unlock();
}

struct seen {
	uint32_t cq_id;
	uint64_t polls;
	int64_t idle_ns;
	bool is_stuck;
};

/*
 * Whether a request is posted whose completion the queue has not shown.  Under the lock.
 */
static bool is_pending(uint32_t cq_id)
{
	const struct tap_qp *q;

	tap_table_each(&tap_qps, q)
	{
		if (q->about.send_cq_id == cq_id &&
		    q->counts.signaled > q->counts.send_completed)
			return true;
		if (q->about.recv_cq_id == cq_id &&
		    q->counts.recv_posted > q->counts.recv_completed)
			return true;
	}
	return false;
}

/* Under the lock: whether the polls of c are to be reported. */
static bool look_at(struct tap_cq *c, int64_t now_ns)
{
	const uint64_t completions = __atomic_load_n(&c->completions, __ATOMIC_RELAXED);
	const uint64_t reported =
		__atomic_load_n(&c->reported_empty_polls, __ATOMIC_ACQUIRE);
	const uint64_t polls = reported + tap_cq_unreported_polls(c, reported);
	const bool is_polled = polls != c->seen_polls;
	int64_t idle_ns;

	c->seen_polls = polls;
	if (!c->idle_since_ns || completions != c->seen_completions || !is_polled) {
		c->seen_completions = completions;
		c->idle_since_ns = now_ns;
		c->due_ns = TAP_SECOND_NS;
		c->is_stuck = false;
		return false;
	}
	idle_ns = now_ns - c->idle_since_ns;
	if (idle_ns < c->due_ns)
		return false;
	c->due_ns = idle_ns * 2;
	return true;
}

static bool is_newly_stuck(struct tap_cq *c, int64_t now_ns, int64_t stuck_ns)
{
	if (!stuck_ns || c->is_stuck || now_ns - c->idle_since_ns < stuck_ns ||
	    !is_pending(c->head.id))
		return false;
	c->is_stuck = true;
	return true;
}

static void ask(const struct seen *seen)
{
	char why[128];

	snprintf(why, sizeof(why),
		 "completion queue %" PRIu32 " was polled for %" PRId64
		 " s and had nothing",
		 seen->cq_id, seen->idle_ns / TAP_SECOND_NS);
	tap_resolve_ask_snapshot(why);
}

void tap_verbs_look(int64_t stuck_ns)
{
	static struct seen seen[NR_SEEN];
	const int64_t now_ns = tap_now_ns();
	struct tap_cq *c;
	unsigned nr = 0, i;

	if (!tap_tables_lock())
		return;
	tap_table_each(&tap_cqs, c)
	{
		bool is_reported, is_stuck;

		if (nr == NR_SEEN)
			break;
		seen[nr] = (struct seen){.cq_id = c->head.id};
		is_reported = look_at(c, now_ns);
		is_stuck = is_newly_stuck(c, now_ns, stuck_ns);
		if (!is_reported && !is_stuck)
			continue;
		seen[nr].polls = c->seen_polls;
		seen[nr].idle_ns = now_ns - c->idle_since_ns;
		seen[nr++].is_stuck = is_stuck;
	}
	tap_tables_unlock();
	for (i = 0; i < nr; i++)
		tap_events_table->verbs.polling(seen[i].cq_id, seen[i].polls,
						(uint64_t) seen[i].idle_ns);
	/* Only after all events are in the buffers. */
	for (i = 0; i < nr; i++)
		if (seen[i].is_stuck)
			ask(&seen[i]);
}

static bool is_locked_for_fork;

void tap_verbs_fork_prepare(void)
{
	is_locked_for_fork = tap_tables_lock();
}

void tap_verbs_fork_done(void)
{
	if (is_locked_for_fork)
		tap_tables_unlock();
}
