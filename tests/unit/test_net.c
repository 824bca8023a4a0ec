/* SPDX-License-Identifier: MIT */
/*
 * NCCL's messages against what was really sent.  One process sends to another as NET/IB
 * does, over several queue pairs, whole or in pieces, of one request or several, with
 * receives posted for each message or beforehand, and flushes.  Each message has a size
 * of its own; the join sees the events alone, and some of them are lost.  No message may
 * get another's size, and none may lack but what lost an event.
 */
#include "join/model/link.h"
#include "unit/draw.h"
#include "unit/tap.h"
#include "unit/verbs_events.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 3000
#define WINDOW 6
#define STEP_NS 10 /* between events */
#define QPS_MAX 4
#define GROUP_MAX 8
#define ENTRY 64
#define SLOTS 256
#define REGION UINT64_C(0x100000)
#define MIRROR UINT64_C(0x500000)

enum { WRITE, WRITE_WITH_IMM, READ = 4 };
enum { SENDER, RECEIVER };

struct message {
	unsigned int requests;
	uint64_t sizes[GROUP_MAX];
	uint64_t bytes;
	unsigned int lost; /* events that it depends on */
	bool is_found;
};

struct queue {
	uint64_t sent, signaled, consuming, receives, sends_done, receives_done;
};

struct world {
	unsigned int qps, loss;
	bool is_split, is_preposted, is_swapped, has_groups;
	struct events events;
	struct queue queues[2][QPS_MAX + 1]; /* the last flushes */
	struct message *messages;
	unsigned int next_queue[2];
	uint64_t polled;
	unsigned int found, wrong, links, flushes, wrong_flushes;
	uint64_t flushed[MESSAGES + 1];
};

/* ---- Events ---- */

static void give(struct world *world, unsigned int p, struct message *message)
{
	/* The first ones teach how many parts there are. */
	const bool is_lost = message && message - world->messages > 8 && world->loss &&
			     !draw(world->loss);

	if (is_lost)
		message->lost++;
	event_give(&world->events, p, STEP_NS, is_lost);
}

static void emit_region(struct world *world, unsigned int p, uint64_t addr)
{
	event_begin(&world->events, TAP_VERBS_MR);
	event_add(&world->events, "mr_id", 1);
	event_add(&world->events, "context_id", 1);
	event_add(&world->events, "addr", addr);
	event_add(&world->events, "length", ENTRY * GROUP_MAX * SLOTS);
	event_add(&world->events, "rkey", 7);
	give(world, p, NULL);
}

static void emit_queue(struct world *world, unsigned int p, unsigned int q, bool is_flush)
{
	const unsigned int peer = is_flush ? p : !p;

	event_begin(&world->events, TAP_VERBS_QP);
	event_add(&world->events, "qp_id", q + 1);
	event_add(&world->events, "context_id", 1);
	event_add(&world->events, "qp_num", 10 + q);
	event_add(&world->events, "type", 2);
	event_add(&world->events, "send_cq_id", 1);
	event_add(&world->events, "qp_context", 0x7000);
	give(world, p, NULL);
	event_give_connected(&world->events, p, q + 1, 10 + q, peer, STEP_NS);
}

struct request {
	uint64_t opcode, flags, wr_id, length, addr, remote_addr, imm_data;
};

static void post(struct world *world, unsigned int p, unsigned int q,
		 const struct request *requests, size_t count, struct message *message)
{
	static const char *const names[] = {"opcode", "send_flags",  "wr_id",	"length",
					    "addr",   "remote_addr", "imm_data"};
	struct queue *queue = &world->queues[p][q];
	uint64_t values[GROUP_MAX + 1], ones[GROUP_MAX + 1];
	size_t i, j;

	event_begin(&world->events, TAP_VERBS_POST_SEND_LIST);
	world->events.event.begin_ns = world->events.now + 5;
	event_add(&world->events, "qp_id", q + 1);
	event_add(&world->events, "generation", 1);
	event_add(&world->events, "seq", queue->sent + 1);
	event_add(&world->events, "signaled_seq",
		  queue->signaled + (requests[0].flags == 2));
	event_add(&world->events, "consuming_seq",
		  queue->consuming + (requests[0].opcode == WRITE_WITH_IMM));
	event_add(&world->events, "num_wr", count);
	for (j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
		for (i = 0; i < count; i++)
			memcpy(&values[i], (const uint64_t *) &requests[i] + j,
			       sizeof(values[i]));
		event_add_all(&world->events, names[j], values, count);
	}
	for (i = 0; i < count; i++) {
		values[i] = 7;
		ones[i] = 1;
		queue->sent++;
		queue->signaled += requests[i].flags == 2;
		queue->consuming += requests[i].opcode == WRITE_WITH_IMM;
	}
	event_add_all(&world->events, "rkey", values, count);
	event_add_all(&world->events, "num_sge", ones, count);
	give(world, p, message);
}

static void post_receive(struct world *world, unsigned int q, uint64_t wr_id,
			 struct message *message)
{
	event_begin(&world->events, TAP_VERBS_POST_RECV);
	event_add(&world->events, "qp_id", q + 1);
	event_add(&world->events, "generation", 1);
	event_add(&world->events, "seq", ++world->queues[RECEIVER][q].receives);
	event_add(&world->events, "wr_id", wr_id);
	event_add(&world->events, "num_sge", 0);
	give(world, RECEIVER, message);
}

static void poll(struct world *world, unsigned int p, unsigned int q, bool is_receive,
		 uint64_t wr_id, uint64_t imm_data, struct message *message)
{
	struct queue *queue = &world->queues[p][q];
	const uint64_t qp_id = q + 1, generation = 1, is = is_receive,
		       opcode = is ? 129 : 1, flags = is ? 2 : 0;

	event_begin(&world->events, TAP_VERBS_POLL);
	event_add(&world->events, "cq_id", 1);
	event_add(&world->events, "num_wc", 1);
	event_add_all(&world->events, "wr_id", &wr_id, 1);
	event_add_all(&world->events, "qp_id", &qp_id, 1);
	event_add_all(&world->events, "generation", &generation, 1);
	event_add_all(&world->events, "seq",
		      is_receive ? &queue->receives_done : &queue->sends_done, 1);
	event_add_all(&world->events, "opcode", &opcode, 1);
	event_add_all(&world->events, "is_recv", &is, 1);
	event_add_all(&world->events, "imm_data", &imm_data, 1);
	event_add_all(&world->events, "wc_flags", &flags, 1);
	give(world, p, message);
}

/* ---- What NCCL does ---- */

static unsigned int parts(const struct world *world)
{
	return world->is_split ? world->qps : 1;
}

static uint64_t address_of(unsigned int k, unsigned int r)
{
	return 0x1000000 + k % 16 * 0x100000 + r * 0x10000;
}

static void clear_to_send(struct world *world, unsigned int k)
{
	struct message *message = &world->messages[k];
	const unsigned int slot = k % SLOTS;
	const uint64_t at = slot * ENTRY * GROUP_MAX;
	const struct request cts = {.opcode = WRITE,
				    .flags = slot ? 0 : 2,
				    .wr_id = slot,
				    .length = message->requests * ENTRY,
				    .addr = MIRROR + at,
				    .remote_addr = REGION + at};
	unsigned int i, q;

	for (i = 0; i < parts(world); i++) {
		q = world->next_queue[RECEIVER]++ % world->qps;
		if (!world->is_preposted)
			post_receive(world, q, world->is_swapped ? slot : k % 16,
				     message);
	}
	post(world, RECEIVER, 0, &cts, 1, message);
	if (cts.flags) {
		world->queues[RECEIVER][0].sends_done++;
		poll(world, RECEIVER, 0, false, slot, 0, NULL);
	}
}

static void send(struct world *world, unsigned int k, uint64_t *imm_data)
{
	struct message *message = &world->messages[k];
	const unsigned int n = message->requests;
	unsigned int i, r;

	*imm_data = n > 1		? 0
		    : world->is_swapped ? __builtin_bswap32((uint32_t) message->bytes)
					: message->bytes;
	for (i = 0; i < parts(world); i++) {
		const unsigned int q = world->next_queue[SENDER]++ % world->qps;
		struct request requests[GROUP_MAX + 1];

		for (r = 0; r < n; r++) {
			const uint64_t piece = message->sizes[r] / parts(world);
			const bool is_last = i + 1 == parts(world);

			requests[r] = (struct request){
				.remote_addr = address_of(k, r) + i * piece,
				.length =
					is_last ? message->sizes[r] - i * piece : piece};
		}
		if (n > 1)
			requests[r++] = (struct request){.length = n * sizeof(int)};
		requests[r - 1].opcode = WRITE_WITH_IMM;
		requests[r - 1].flags = 2;
		requests[r - 1].wr_id = world->is_swapped ? k % SLOTS : k * 3 % 256;
		requests[r - 1].imm_data = *imm_data;
		post(world, SENDER, q, requests, r, message);
	}
}

static void finish_message(struct world *world, unsigned int k, uint64_t imm_data)
{
	struct message *message = &world->messages[k];
	const uint64_t wr_id = world->is_swapped ? k % SLOTS : k * 3 % 256;
	unsigned int i, r;

	for (i = 0; i < parts(world); i++) {
		const unsigned int q = (k * parts(world) + i) % world->qps;

		world->queues[RECEIVER][q].receives_done++;
		poll(world, RECEIVER, q, true,
		     world->is_preposted ? UINT64_MAX
		     : world->is_swapped ? k % SLOTS
					 : k % 16,
		     imm_data, message);
		if (world->is_preposted)
			post_receive(world, q, UINT64_MAX, NULL);
		world->queues[SENDER][q].sends_done++;
		poll(world, SENDER, q, false, wr_id, imm_data, message);
	}
	for (r = message->requests; r && !message->sizes[r - 1]; r--)
		;
	if (r) {
		const struct request flush = {.opcode = READ,
					      .flags = 2,
					      .length = 1,
					      .remote_addr = address_of(k, r - 1)};

		world->flushed[world->queues[RECEIVER][QPS_MAX].sent + 1] = k + 1;
		post(world, RECEIVER, QPS_MAX, &flush, 1, message);
		world->queues[RECEIVER][QPS_MAX].sends_done++;
		poll(world, RECEIVER, QPS_MAX, false, 0, 0, message);
	}
}

/* ---- What the join says ---- */

static int take_span(void *data, struct tap_span *span)
{
	struct world *world = data;
	struct message *message;
	uint64_t bytes;

	if (span->work.kind != TAP_WORK_NET_SEND ||
	    tap_fields_get_unsigned(&span->exit, "bytes", &bytes))
		return 0;
	if (!span->work.message.number || span->work.message.number > MESSAGES) {
		world->wrong++;
		return 0;
	}
	message = &world->messages[span->work.message.number - 1];
	world->wrong += message->bytes != bytes || message->is_found;
	message->is_found = true;
	world->found++;
	return 0;
}

static int take_link(void *data, const struct tap_link *link)
{
	struct world *world = data;

	world->links += link->kind == TAP_LINK_CTS_MESSAGE;
	if (link->kind != TAP_LINK_FLUSH_MESSAGE)
		return 0;
	world->flushes++;
	world->wrong_flushes += link->known == TAP_KNOWN_EXACT &&
				world->flushed[link->ends[1].work.request.seq] !=
					link->ends[0].work.message.number;
	return 0;
}

static bool run(struct world *world)
{
	static const struct tap_consumer consumer = {.span_ended = take_span,
						     .link = take_link};
	uint64_t imm_data[WINDOW] = {0};
	unsigned int ready = 0, sent = 0, done = 0, i, q, lost = 0;
	bool is_passed = true;

	events_begin(&world->events, &consumer, world, 1 << 16);
	world->messages = calloc(MESSAGES, sizeof(*world->messages));
	emit_region(world, SENDER, REGION);
	emit_region(world, RECEIVER, MIRROR);
	for (q = 0; q < world->qps; q++) {
		emit_queue(world, SENDER, q, false);
		emit_queue(world, RECEIVER, q, false);
	}
	emit_queue(world, RECEIVER, QPS_MAX, true);
	for (q = 0; world->is_preposted && q < world->qps; q++)
		for (i = 0; i < 2 * WINDOW; i++)
			post_receive(world, q, UINT64_MAX, NULL);
	while (done < MESSAGES) {
		struct message *message = &world->messages[ready];

		switch (draw(3)) {
		case 0:
			if (ready == MESSAGES || ready == done + WINDOW)
				break;
			message->requests = world->has_groups && !draw(3)
						    ? 2 + (unsigned int) draw(7)
						    : 1;
			for (i = 0; i < message->requests; i++) {
				message->sizes[i] = draw(4) ? 1 + draw(60000) : 0;
				message->bytes += message->sizes[i];
			}
			clear_to_send(world, ready++);
			break;
		case 1:
			if (sent < ready) {
				send(world, sent, &imm_data[sent % WINDOW]);
				sent++;
			}
			break;
		default:
			if (done < sent) {
				finish_message(world, done, imm_data[done % WINDOW]);
				done++;
			}
			break;
		}
	}
	if (tap_join_finish(world->events.join))
		world->events.is_right = false;
	for (i = 0; i < MESSAGES; i++)
		lost += world->messages[i].lost;
	CHECK(world->events.is_right && !world->wrong && !world->wrong_flushes);
	CHECK(world->found == world->links);
	CHECK(world->found + lost >= MESSAGES);
	CHECK(world->loss || (world->found == MESSAGES && world->flushes));
	printf("# %u of %u messages, %u events lost, %u flushes; wrong %u, %u\n",
	       world->found, MESSAGES, lost, world->flushes, world->wrong,
	       world->wrong_flushes);
	events_end(&world->events);
	free(world->messages);
	return is_passed;
}

static const struct world worlds[] = {
	{.qps = 1},
	{.qps = 1, .has_groups = true},
	{.qps = 4, .has_groups = true},
	{.qps = 4, .has_groups = true, .is_split = true},
	{.qps = 2, .has_groups = true, .is_split = true, .is_swapped = true},
	{.qps = 1, .is_preposted = true, .is_swapped = true},
	{.qps = 4,
	 .has_groups = true,
	 .is_split = true,
	 .is_preposted = true,
	 .is_swapped = true},
};

#define WORLDS (sizeof(worlds) / sizeof(worlds[0]))

static bool run_all(unsigned int loss)
{
	struct world *world = malloc(sizeof(*world));
	bool is_passed = true;
	size_t i;

	for (i = 0; i < WORLDS; i++) {
		*world = worlds[i];
		world->loss = loss;
		is_passed &= run(world);
	}
	free(world);
	return is_passed;
}

static bool test_whole(void)
{
	return run_all(0);
}

static bool test_lost(void)
{
	bool is_passed = true;
	unsigned int loss;

	for (loss = 20; loss < 3000; loss *= 5)
		is_passed &= run_all(loss);
	return is_passed;
}

int main(void)
{
	printf("1..2\n");
	report("every message of a whole trace is found", test_whole);
	report("where events are lost none gets another's parts", test_lost);
	return 0;
}
