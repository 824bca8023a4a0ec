/* SPDX-License-Identifier: MIT */
/*
 * What is sent over one connection: sizes, tags, groups and data, made of a seed alone,
 * so that both ends know it and nobody has to tell.  Hidden here is how sizes are drawn
 * and which bytes of a message are looked at.
 */
#include "nib.h"

#include <stdlib.h>
#include <string.h>

/* Of the largest there are a few; one at a time is under way. */
#define MESSAGES_PER_LARGE 500
/* Places in a message that are looked at, first and last byte among them. */
#define SPOTS 8
#define SPOT_BYTES 64
#define BEHIND 0xa5

uint32_t nib_random(uint64_t *state)
{
	/* Knuth's; the high bits are the good ones. */
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t) (*state >> 33);
}

/* Up to 1.5 * 2^bits, each power of two as likely as the next. */
static uint32_t scaled(uint64_t *state, unsigned int bits)
{
	const unsigned int shift = nib_random(state) % (bits + 1);

	return nib_random(state) % (1U << shift) + (1U << shift) / 2 + 1;
}

static uint32_t draw_size(uint64_t *state, size_t max_size)
{
	const uint32_t kind = nib_random(state) % 100;
	uint32_t size;

	if (kind < 5)
		return 0;
	size = kind < 80 ? scaled(state, 13) : scaled(state, 17);
	return size < max_size ? size : (uint32_t) max_size;
}

void nib_plan(struct nib_plan *plan, const struct nib_options *options, int connection)
{
	uint64_t state = options->seed * 2ULL + (unsigned int) connection;
	struct nib_message *messages;
	uint32_t group = 0;
	int of;
	int i;
	int k;

	nib_random(&state);
	messages = calloc((size_t) options->messages, sizeof(*messages));
	if (!messages)
		nib_die("no memory");
	for (i = 0; i < options->messages; i += of, group++) {
		of = 1 + (int) (nib_random(&state) % (uint32_t) options->max_group);
		if (of > options->messages - i)
			of = options->messages - i;
		for (k = 0; k < of; k++) {
			messages[i + k].size = draw_size(&state, options->max_size);
			/* As NCCL: who sends; and who else in the same group. */
			messages[i + k].tag = of == 1 ? connection : 16 + k;
			messages[i + k].group = group;
			messages[i + k].place = (uint8_t) k;
			messages[i + k].of = (uint8_t) of;
			messages[i + k].offered = (uint32_t) (i + k);
		}
		for (k = of - 1; k > 0; k--) {
			const int other = (int) (nib_random(&state) % (uint32_t) (k + 1));
			const uint32_t kept = messages[i + k].offered;

			messages[i + k].offered = messages[i + other].offered;
			messages[i + other].offered = kept;
		}
	}
	for (i = MESSAGES_PER_LARGE / 2; i < options->messages; i += MESSAGES_PER_LARGE)
		messages[i].size = (uint32_t) options->max_size;
	plan->connection = connection;
	plan->nr = options->messages;
	plan->messages = messages;
}

static unsigned char byte(const struct nib_plan *plan, uint32_t ordinal, size_t at)
{
	uint32_t mixed = ordinal * 2654435761U + (uint32_t) at * 40503U +
			 (uint32_t) plan->connection * 97U;

	return (unsigned char) ((mixed >> 24) ^ (mixed >> 11));
}

/* The n-th place that is looked at: from where, and how many bytes. */
static size_t spot(size_t size, int n, size_t *from)
{
	const size_t bytes = size < SPOT_BYTES ? size : SPOT_BYTES;

	*from = n == SPOTS ? size - bytes : (size - bytes) / SPOTS * (size_t) n;
	return bytes;
}

void nib_fill(const struct nib_plan *plan, uint32_t ordinal, unsigned char *data)
{
	const size_t size = plan->messages[ordinal].size;
	size_t from;
	size_t bytes;
	size_t i;
	int n;

	for (n = 0; n <= SPOTS; n++) {
		bytes = spot(size, n, &from);
		for (i = from; i < from + bytes; i++)
			data[i] = byte(plan, ordinal, i);
	}
}

void nib_spoil(const struct nib_plan *plan, uint32_t ordinal, unsigned char *data,
	       size_t room)
{
	const size_t size = plan->messages[ordinal].size;
	size_t from;
	size_t bytes;
	size_t i;
	int n;

	for (n = 0; n <= SPOTS; n++) {
		bytes = spot(size, n, &from);
		for (i = from; i < from + bytes; i++)
			data[i] = (unsigned char) ~byte(plan, ordinal, i);
	}
	if (room > size)
		data[size] = BEHIND;
}

bool nib_is_right(const struct nib_plan *plan, uint32_t ordinal,
		  const unsigned char *data, size_t room)
{
	const size_t size = plan->messages[ordinal].size;
	size_t from;
	size_t bytes;
	size_t i;
	int n;

	for (n = 0; n <= SPOTS; n++) {
		bytes = spot(size, n, &from);
		for (i = from; i < from + bytes; i++)
			if (data[i] != byte(plan, ordinal, i))
				return false;
	}
	return room <= size || data[size] == BEHIND;
}
