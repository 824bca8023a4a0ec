/* SPDX-License-Identifier: MIT */
/* Tries cuts, operation after operation, and of each connection after connection. */
#include "join/nccl/net_fit.h"

#include <stddef.h>

/* Steps of a search. */
#define STEPS_MAX (1U << 20)

/* Bytes of a line on the wire, and those of data in it. */
struct line {
	uint64_t wire, data;
};

static const struct line ll = {16, 8}, ll128 = {2048, 1920};

void tap_fit_add(struct tap_fit_sum *sum, uint64_t bytes)
{
	sum->bytes += bytes;
	sum->messages += bytes != 0;
	sum->bits |= bytes;
}

/* Whether the messages are of lines, of which only the last of each is not full. */
static bool are_lines(const struct tap_fit_sum *sum, uint64_t bytes,
		      const struct line *line)
{
	const uint64_t lines = sum->bytes / line->wire;

	return !(sum->bits & (line->wire - 1)) && lines * line->data >= bytes &&
	       (lines - sum->messages) * line->data < bytes;
}

bool tap_fit_is_whole(const struct tap_fit_sum *sum, uint64_t bytes)
{
	return sum->bytes == bytes ||
	       (bytes && (are_lines(sum, bytes, &ll) || are_lines(sum, bytes, &ll128)));
}

struct search {
	const struct tap_fit_op *ops;
	size_t op_count;
	struct tap_fit_message *messages;
	size_t message_count;
	size_t lanes;
	size_t next[TAP_FIT_LANES_MAX]; /* message that is of no operation yet */
	size_t ends[TAP_FIT_LANES_MAX];
	size_t steps;
	bool is_found;
};

/* Whether more messages only make it worse. */
static bool is_too_much(const struct tap_fit_sum *sum, uint64_t bytes)
{
	return sum->bytes > 2 * bytes + (sum->messages + 1) * ll128.wire;
}

/* A message keeps the operation that it has in each cut that fits. */
static void accept(struct search *search)
{
	size_t i;

	search->steps += search->message_count;
	for (i = 0; i < search->message_count; i++) {
		struct tap_fit_message *message = &search->messages[i];

		if (!search->is_found)
			message->op = message->tried;
		else if (message->op != message->tried)
			message->op = TAP_FIT_NONE;
	}
	search->is_found = true;
}

static void try_lane(struct search *search, size_t op, size_t lane,
		     struct tap_fit_sum sum);

/* All connections have been gone through for this operation. */
static void try_next(struct search *search, size_t op, const struct tap_fit_sum *sum)
{
	if (!search->ops[op].is_open && !tap_fit_is_whole(sum, search->ops[op].bytes))
		return;
	if (op + 1 == search->op_count)
		accept(search);
	else
		try_lane(search, op + 1, 0, search->ops[op + 1].certain);
}

/* Gives the operation none, one, two ... of the connection's next messages. */
static void try_lane(struct search *search, size_t op, size_t lane,
		     struct tap_fit_sum sum)
{
	const struct tap_fit_op *about = &search->ops[op];
	const size_t first = lane < search->lanes ? search->next[lane] : 0;
	struct tap_fit_message *message;
	bool is_hollow = false; /* it would begin with what is empty */
	size_t at;

	search->steps++;
	if (lane == search->lanes) {
		try_next(search, op, &sum);
		return;
	}
	for (at = first; search->steps < STEPS_MAX; at++) {
		search->steps++;
		message = at < search->ends[lane] ? &search->messages[at] : NULL;
		if ((!message || message->most > op) &&
		    !(is_hollow && about->has_data[lane])) {
			search->next[lane] = at;
			try_lane(search, op, lane + 1, sum);
		}
		if (!message || message->least > op)
			break;
		message->tried = op;
		if (about->is_open)
			continue;
		if (!about->bytes || (is_hollow && message->bytes))
			break;
		is_hollow |= at == first && !message->bytes && message->least < op;
		tap_fit_add(&sum, message->bytes);
		if (is_too_much(&sum, about->bytes))
			break;
	}
	search->next[lane] = first;
}

enum tap_fit tap_fit_find(const struct tap_fit_op *ops, size_t op_count,
			  struct tap_fit_message *messages, size_t message_count)
{
	struct search search = {.ops = ops,
				.op_count = op_count,
				.messages = messages,
				.message_count = message_count};
	size_t i;

	for (i = 0; i < message_count; i++) {
		messages[i].op = TAP_FIT_NONE;
		while (search.lanes <= messages[i].lane)
			search.next[search.lanes++] = i;
		search.ends[messages[i].lane] = i + 1;
	}
	try_lane(&search, 0, 0, ops[0].certain);
	if (search.steps >= STEPS_MAX)
		return TAP_FIT_TOO_MANY;
	return search.is_found ? TAP_FIT_YES : TAP_FIT_NO;
}
