/* SPDX-License-Identifier: MIT */
/*
 * Messages between the processes of one host, through memory that two of them share.  Who
 * posts writes into it; what has come is done by who polls in vain, and by one thread per
 * process where nobody polls, which sleeps until it is rung for or a timer is due.
 */
#include "wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How long what nobody polls for may lie there when somebody has polled just before. */
#define NAP_NS 1000000

static uint64_t timer_at = SOFT_NEVER;
/* How long the thread sleeps; 0 while it does not. */
static uint64_t asleep_until;
/* The rings of the bell that were heeded, and how often it was by who polled. */
static atomic_uint heeded;
static unsigned int polled;
/* A wire has room again, for which queue pairs may wait. */
static bool has_room;

static int reserve(char **buffer, size_t *size, size_t needed)
{
	size_t grown = *size ? *size : SOFT_RING_BYTES;
	char *larger;

	if (needed <= *size)
		return 0;
	while (grown < needed)
		grown *= 2;
	larger = realloc(*buffer, grown);
	if (!larger)
		return -ENOMEM;
	*buffer = larger;
	*size = grown;
	return 0;
}

static void tell(struct soft_wire *wire)
{
	if (wire->bell)
		soft_bell_ring(wire->bell);
}

static void publish(struct soft_wire *wire)
{
	if (soft_ring_publish(&wire->out))
		tell(wire);
}

/* By whomever: also who sends over a full wire may find room for all that waits. */
static void flush(struct soft_wire *wire)
{
	while (wire->out_start != wire->out_end) {
		wire->out_start +=
			soft_ring_put(&wire->out, wire->out_data + wire->out_start,
				      wire->out_end - wire->out_start);
		if (wire->out_start != wire->out_end &&
		    !soft_ring_ask_for_room(&wire->out))
			break;
	}
	publish(wire);
	if (wire->out_start != wire->out_end)
		return;
	has_room = true;
	if (asleep_until)
		soft_bell_wake(soft_own_bell);
}

bool soft_wire_is_full(const struct soft_wire *wire)
{
	return wire->out_start != wire->out_end;
}

static void put(struct soft_wire *wire, const void *data, size_t size)
{
	size_t went = 0;

	if (!soft_wire_is_full(wire))
		went = soft_ring_put(&wire->out, data, size);
	if (went == size)
		return;
	if (!soft_wire_is_full(wire)) {
		wire->out_start = 0;
		wire->out_end = 0;
	}
	if (reserve(&wire->out_data, &wire->out_size, wire->out_end + size - went)) {
		/* A message that is half on its way. */
		soft_wire_die(wire);
		return;
	}
	memcpy(wire->out_data + wire->out_end, (const char *) data + went, size - went);
	wire->out_end += size - went;
}

void soft_wire_send(struct soft_wire *wire, const struct soft_frame *frame,
		    const struct soft_span *spans, int num_spans)
{
	int i;

	if (wire->is_dead)
		return;
	put(wire, frame, sizeof(*frame));
	for (i = 0; i < num_spans && !wire->is_dead; i++)
		put(wire, spans[i].data, spans[i].size);
	if (soft_wire_is_full(wire))
		flush(wire);
	else if (!wire->held)
		publish(wire);
}

void soft_wire_hold(struct soft_wire *wire)
{
	wire->held++;
}

void soft_wire_release(struct soft_wire *wire)
{
	if (--wire->held == 0)
		publish(wire);
}

static void dispatch(struct soft_wire *wire, const struct soft_frame *frame, char *data)
{
	struct soft_span payload = {.data = data, .size = frame->size};

	if (frame->is_answer)
		soft_take_answer(frame, &payload);
	else
		soft_respond(wire, frame, &payload, payload.size ? 1 : 0);
}

static void take(struct soft_wire *wire, size_t bytes)
{
	if (soft_ring_take(&wire->in, bytes))
		tell(wire);
}

/* More of a message that is larger than the ring. */
static void collect(struct soft_wire *wire, size_t left)
{
	struct soft_frame frame;
	size_t needed;

	memcpy(&frame, wire->in_used ? wire->in_data : soft_ring_data(&wire->in),
	       sizeof(frame));
	needed = sizeof(frame) + frame.size;
	if (reserve(&wire->in_data, &wire->in_size, needed)) {
		soft_wire_die(wire);
		return;
	}
	if (left > needed - wire->in_used)
		left = needed - wire->in_used;
	memcpy(wire->in_data + wire->in_used, soft_ring_data(&wire->in), left);
	wire->in_used += left;
	take(wire, left);
	if (wire->in_used < needed)
		return;
	wire->in_used = 0;
	dispatch(wire, &frame, wire->in_data + sizeof(frame));
}

/* False: what there is is not a whole message. */
static bool receive_next(struct soft_wire *wire)
{
	size_t left = soft_ring_left(&wire->in);
	struct soft_frame frame;
	size_t needed;

	if (wire->in_used) {
		if (left)
			collect(wire, left);
		return left;
	}
	if (left < sizeof(frame))
		return false;
	memcpy(&frame, soft_ring_data(&wire->in), sizeof(frame));
	needed = sizeof(frame) + frame.size;
	if (needed > SOFT_RING_BYTES) {
		collect(wire, left);
		return true;
	}
	if (left < needed)
		return false;
	dispatch(wire, &frame, soft_ring_data(&wire->in) + sizeof(frame));
	take(wire, needed);
	return true;
}

void soft_wire_receive(struct soft_wire *wire)
{
	/* What comes meanwhile has its turn after the others. */
	uint64_t end = wire->in.position + soft_ring_left(&wire->in);

	if (end == wire->in.position)
		return;
	soft_wire_hold(wire);
	while (!wire->is_dead && wire->in.position < end)
		if (!receive_next(wire))
			break;
	soft_wire_release(wire);
}

static void pump_all(void)
{
	struct soft_qp *qp;

	while (has_room) {
		has_room = false;
		LIST_FOREACH(qp, &soft_qps, link)
		soft_pump(qp);
	}
}

/* Whatever has come, and what waited for room. */
static void carry(void)
{
	struct soft_wire *wire;

	atomic_store_explicit(&heeded, soft_bell_rings(soft_own_bell),
			      memory_order_relaxed);
	LIST_FOREACH(wire, &soft_wires, link)
	{
		if (!wire->is_mapped || wire->is_dead)
			continue;
		soft_wire_receive(wire);
		if (soft_wire_is_full(wire))
			flush(wire);
	}
	pump_all();
}

void soft_timer(uint64_t at)
{
	if (at >= timer_at || at >= SOFT_NEVER - 1)
		return;
	timer_at = at;
	if (at < asleep_until)
		soft_bell_wake(soft_own_bell);
}

static void run_timers(void)
{
	struct soft_qp *qp;
	uint64_t now;

	if (timer_at == SOFT_NEVER)
		return;
	now = soft_now();
	if (timer_at > now)
		return;
	timer_at = SOFT_NEVER;
	LIST_FOREACH(qp, &soft_qps, link)
	{
		soft_request_timer(qp, now);
		soft_respond_timer(qp, now);
	}
}

void *soft_wire_serve(void *unused)
{
	struct soft_bell *bell = soft_own_bell;
	unsigned int polled_before = 0;

	(void) unused;
	for (;;) {
		uint32_t wakes;
		uint32_t rings;
		bool is_polled;
		uint64_t now;
		uint64_t most;

		pthread_mutex_lock(&soft_lock);
		asleep_until = 0;
		wakes = soft_bell_wakes(bell);
		carry();
		rings = atomic_load_explicit(&heeded, memory_order_relaxed);
		run_timers();
		pump_all();
		is_polled = polled != polled_before;
		polled_before = polled;
		now = soft_now();
		most = timer_at == SOFT_NEVER ? SOFT_NEVER
		       : timer_at > now	      ? timer_at - now
					      : 0;
		if (is_polled && most > NAP_NS)
			most = NAP_NS;
		asleep_until = most == SOFT_NEVER ? SOFT_NEVER : now + most;
		pthread_mutex_unlock(&soft_lock);
		if (is_polled)
			soft_bell_nap(bell, wakes, most);
		else
			soft_bell_sleep(bell, rings, wakes, most);
	}
	return NULL;
}

void soft_progress(void)
{
	struct soft_bell *bell = soft_own_bell;

	/* Nothing has come, or somebody else is at it. */
	if (!bell ||
	    soft_bell_rings(bell) ==
		    atomic_load_explicit(&heeded, memory_order_relaxed) ||
	    pthread_mutex_trylock(&soft_lock))
		return;
	carry();
	polled++;
	pthread_mutex_unlock(&soft_lock);
}

void soft_wire_forget_all(void)
{
	LIST_INIT(&soft_wires);
	timer_at = SOFT_NEVER;
	asleep_until = 0;
	heeded = 0;
}
