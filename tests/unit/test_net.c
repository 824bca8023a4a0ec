/* SPDX-License-Identifier: MIT */
/*
 * NCCL's messages against what was really sent.  One process sends to another as NET/IB
 * does, over several queue pairs, whole or in pieces, of one request or several, with
 * receives posted for each message or beforehand, and flushes.  Each message has a size
 * of its own; the join sees the events alone, and some of them are lost.  No message may
 * get another's size, and none may lack but what lost an event.
 */
#include "join/join.h"
#include "join/model/link.h"
#include "unit/tap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 3000
#define WINDOW 6
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
	struct tap_join *join;
	struct tap_trace *trace;
	struct tap_event event;
	int64_t now;
	struct queue queues[2][QPS_MAX + 1]; /* the last flushes */
	struct message *messages;
	unsigned int next_queue[2];
	uint64_t polled;
	unsigned int found, wrong, links, flushes, wrong_flushes;
	uint64_t flushed[MESSAGES + 1];
	bool is_right;
};

static uint64_t draw_state = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
	draw_state ^= draw_state << 13;
	draw_state ^= draw_state >> 7;
	draw_state ^= draw_state << 17;
	return (draw_state >> 20) % below;
}

/* ---- Events ---- */

static void begin_event(struct world *world, enum tap_verbs_event verbs)
{
	tap_fields_clear(&world->event.fields);
	world->event.kind = TAP_EVENT_VERBS;
	world->event.verbs = verbs;
	world->event.begin_ns = 0;
}

static void add(struct world *world, const char *name, uint64_t value)
{
	tap_fields_add(&world->event.fields, name, TAP_FIELD_UNSIGNED)->value.u = value;
}

static void add_all(struct world *world, const char *name, const uint64_t *values,
		    size_t count)
{
	uint64_t *elements;

	tap_fields_add_array(&world->event.fields, name, count, &elements);
	memcpy(elements, values, count * sizeof(*values));
}

static void give(struct world *world, unsigned int p, struct message *message)
{
	world->event.trace = world->trace;
	world->event.pid = p + 1;
	world->event.tid = p + 1;
	world->event.time_ns = world->now += 10;
	/* The first ones teach how many parts there are. */
	if (message && message - world->messages > 8 && world->loss &&
	    !draw(world->loss)) {
		message->lost++;
		return;
	}
	if (tap_join_event(world->join, &world->event))
		world->is_right = false;
}

static void tell_region(struct world *world, unsigned int p, uint64_t addr)
{
	begin_event(world, TAP_VERBS_MR);
	add(world, "mr_id", 1);
	add(world, "context_id", 1);
	add(world, "addr", addr);
	add(world, "length", ENTRY * GROUP_MAX * SLOTS);
	add(world, "rkey", 7);
	give(world, p, NULL);
}

static void tell_queue(struct world *world, unsigned int p, unsigned int q, bool is_flush)
{
	const unsigned int peer = is_flush ? p : !p;

	begin_event(world, TAP_VERBS_QP);
	add(world, "qp_id", q + 1);
	add(world, "context_id", 1);
	add(world, "qp_num", 10 + q);
	add(world, "type", 2);
	add(world, "send_cq_id", 1);
	add(world, "qp_context", 0x7000);
	give(world, p, NULL);
	begin_event(world, TAP_VERBS_QP_MODIFY);
	add(world, "qp_id", q + 1);
	add(world, "life", 1);
	add(world, "attr_mask", 1 << 20 | 1 << 7);
	add(world, "dest_qp_num", 10 + q);
	add(world, "dgid_lo", peer);
	add(world, "sgid_lo", p);
	add(world, "is_global", 1);
	give(world, p, NULL);
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

	begin_event(world, TAP_VERBS_POST_SEND_LIST);
	world->event.begin_ns = world->now + 5;
	add(world, "qp_id", q + 1);
	add(world, "life", 1);
	add(world, "seq", queue->sent + 1);
	add(world, "signaled_seq", queue->signaled + (requests[0].flags == 2));
	add(world, "consuming_seq",
	    queue->consuming + (requests[0].opcode == WRITE_WITH_IMM));
	add(world, "num_wr", count);
	for (j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
		for (i = 0; i < count; i++)
			memcpy(&values[i], (const uint64_t *) &requests[i] + j,
			       sizeof(values[i]));
		add_all(world, names[j], values, count);
	}
	for (i = 0; i < count; i++) {
		values[i] = 7;
		ones[i] = 1;
		queue->sent++;
		queue->signaled += requests[i].flags == 2;
		queue->consuming += requests[i].opcode == WRITE_WITH_IMM;
	}
	add_all(world, "rkey", values, count);
	add_all(world, "num_sge", ones, count);
	give(world, p, message);
}

static void post_receive(struct world *world, unsigned int q, uint64_t wr_id,
			 struct message *message)
{
	begin_event(world, TAP_VERBS_POST_RECV);
	add(world, "qp_id", q + 1);
	add(world, "life", 1);
	add(world, "seq", ++world->queues[RECEIVER][q].receives);
	add(world, "wr_id", wr_id);
	add(world, "num_sge", 0);
	give(world, RECEIVER, message);
}

static void poll(struct world *world, unsigned int p, unsigned int q, bool is_receive,
		 uint64_t wr_id, uint64_t imm_data, struct message *message)
{
	struct queue *queue = &world->queues[p][q];
	const uint64_t qp_id = q + 1, life = 1, is = is_receive, opcode = is ? 129 : 1,
		       flags = is ? 2 : 0;

	begin_event(world, TAP_VERBS_POLL);
	add(world, "cq_id", 1);
	add(world, "num_wc", 1);
	add_all(world, "wr_id", &wr_id, 1);
	add_all(world, "qp_id", &qp_id, 1);
	add_all(world, "life", &life, 1);
	add_all(world, "seq", is_receive ? &queue->receives_done : &queue->sends_done, 1);
	add_all(world, "opcode", &opcode, 1);
	add_all(world, "is_recv", &is, 1);
	add_all(world, "imm_data", &imm_data, 1);
	add_all(world, "wc_flags", &flags, 1);
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
	static const struct tap_bounds bounds = {1 << 16, 1 << 16};
	uint64_t imm_data[WINDOW] = {0};
	unsigned int ready = 0, sent = 0, done = 0, i, q, lost = 0;
	bool is_passed = true;

	world->join = tap_join_create(&consumer, world, &bounds);
	world->trace = tap_join_add_trace(world->join, "host", NULL, -1);
	world->messages = calloc(MESSAGES, sizeof(*world->messages));
	world->is_right = true;
	tell_region(world, SENDER, REGION);
	tell_region(world, RECEIVER, MIRROR);
	for (q = 0; q < world->qps; q++) {
		tell_queue(world, SENDER, q, false);
		tell_queue(world, RECEIVER, q, false);
	}
	tell_queue(world, RECEIVER, QPS_MAX, true);
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
	if (tap_join_finish(world->join))
		world->is_right = false;
	for (i = 0; i < MESSAGES; i++)
		lost += world->messages[i].lost;
	CHECK(world->is_right && !world->wrong && !world->wrong_flushes);
	CHECK(world->found == world->links);
	CHECK(world->found + lost >= MESSAGES);
	CHECK(world->loss || (world->found == MESSAGES && world->flushes));
	printf("# %u of %u messages, %u events lost, %u flushes; wrong %u, %u\n",
	       world->found, MESSAGES, lost, world->flushes, world->wrong,
	       world->wrong_flushes);
	tap_join_destroy(world->join);
	tap_fields_free(&world->event.fields);
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
