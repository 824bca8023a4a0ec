/* SPDX-License-Identifier: MIT */
/* Each shape is tried: there are not many, and few remain after the first messages. */
#include "join/nccl/transfer.h"

#include <stddef.h>

/*
 * One send uses up to 32 channels, NCCL has more for a very fast network only: with 2^k
 * of them, k + 1 numbers of channels for a small send, and 2^k parts.
 */
#define SHAPES_OF_STEPS (1 * 1 + 2 * 2 + 3 * 4 + 4 * 8 + 5 * 16 + 6 * 32)
#define PART_ALIGN 4096

#define OLDEST 21800	    /* the first release of which any rule is known */
#define NEXT 23100	    /* the first one of which none is */
#define NEW_RULES 22200	    /* the first release that has them */
#define LIMITED 21900	    /* the first one with chunks no larger than a slot */
#define WHOLE 22000	    /* with larger parts among nodes, and whole chunks of LL */
#define DIVIDED_FIRST 22900 /* in which a send is divided before LL is decided on */
#define SLOTS 8		    /* NCCL_STEPS */
#define OWN_BUFFER 4194304
#define OWN_LL_BUFFER 524288
#define OWN_LL_THRESHOLD 16384
#define LL_DATA 8 /* of each line */
#define LL_LINE 16

bool tap_sends_have_rule(uint32_t version)
{
	return version >= NEW_RULES && version < NEXT;
}

/* ---- What is too little to be divided ---- */

/*
 * NCCL's parts are multiples of 4096 bytes and, before 2.22, no smaller than an eighth of
 * a chunk, which is an eighth of a buffer at most, and of LL half of that.
 */
#define UNDIVIDED_MAX 1024
#define PARTS 8

/* Whether a size that may be set is its own, or no less than this. */
static bool is_large(uint64_t size, uint64_t least)
{
	return !size || (size != TAP_CCL_UNKNOWN && size >= least);
}

bool tap_send_is_undivided(uint64_t bytes, const struct tap_ccl_sizes *sizes)
{
	const uint64_t buffer = UNDIVIDED_MAX * PARTS * SLOTS;
	size_t i;

	for (i = 0; i < TAP_CCL_PATHS; i++)
		if (!is_large(sizes->chunks[i], UNDIVIDED_MAX * PARTS))
			return false;
	return bytes <= UNDIVIDED_MAX &&
	       is_large(sizes->buffers[TAP_CCL_SIMPLE], buffer) &&
	       is_large(sizes->buffers[TAP_CCL_LL], 2 * buffer);
}

bool tap_sends_are_undivided(const struct tap_sends *sends)
{
	unsigned int i;

	for (i = 0; i < sends->count; i++)
		if (!tap_send_is_undivided(sends->bytes[i], &sends->sizes))
			return false;
	return !sends->version || (sends->version >= OLDEST && sends->version < NEXT);
}

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

/* ---- Shapes ---- */

/* What follows from the nodes that a communicator has, and from what joins their GPUs. */
struct steps {
	enum tap_ccl_path path;
	/* Of a part, in chunks: at least one by this number, at most so many. */
	uint64_t least_divisor, most;
	bool is_old; /* of 2.18 to 2.21 */
};

static const struct steps steps_of[TAP_SHAPES / SHAPES_OF_STEPS] = {
	{TAP_CCL_NET, 2, 1, false},	/* several nodes */
	{TAP_CCL_PCI, 8, 32, false},	/* one */
	{TAP_CCL_NVLINK, 8, 32, false}, /* one, with NVLink */
	{TAP_CCL_NET, 8, 1, true},	{TAP_CCL_PCI, 8, 32, true},
	{TAP_CCL_NVLINK, 8, 32, true},
};

struct shape {
	const struct steps *steps;
	uint64_t least, most; /* channels that a send uses, if large enough */
	uint64_t part;	      /* that the connection has */
	size_t number;
};

/*
 * By number: of all steps in turn, for each power of two that `most` may be, each that
 * `least` may be, with each part.
 */
static struct shape shape_of(size_t number)
{
	struct shape shape = {steps_of + number / SHAPES_OF_STEPS, 1, 1, 0, number};
	size_t rest = number % SHAPES_OF_STEPS, nr_least = 1;

	for (; rest >= nr_least * shape.most; shape.most *= 2)
		rest -= nr_least++ * shape.most;
	shape.least <<= rest / shape.most;
	shape.part = rest % shape.most;
	return shape;
}

static bool is_of_release(const struct shape *shape, const struct tap_sends *sends)
{
	return !sends->version || shape->steps->is_old == (sends->version < NEW_RULES);
}

/* The first one from this number on that is left; false: none is. */
static bool find_left(const struct tap_shapes *shapes, const struct tap_sends *sends,
		      size_t number, struct shape *ret_shape)
{
	while (number < TAP_SHAPES) {
		const uint64_t left = ~shapes->dropped[number / 64] >> number % 64;

		if (!left) {
			number = (number / 64 + 1) * 64;
			continue;
		}
		number += (size_t) __builtin_ctzll(left);
		if (number >= TAP_SHAPES)
			break;
		*ret_shape = shape_of(number);
		if (is_of_release(ret_shape, sends))
			return true;
		number = (number / SHAPES_OF_STEPS + 1) * SHAPES_OF_STEPS;
	}
	return false;
}

/* ---- Messages ---- */

/* What the sizes of chunks make of a shape. */
struct measures {
	uint64_t chunk, part_least, part_most;
};

static struct measures measure_chunk(const struct steps *steps, uint32_t version,
				     uint64_t chunk)
{
	const bool is_halved =
		steps->is_old && steps->path == TAP_CCL_NET && version >= WHOLE;
	const uint64_t divisor = is_halved ? 2 : steps->least_divisor;

	return (struct measures){.chunk = chunk,
				 .part_least = chunk / divisor,
				 .part_most = chunk * steps->most};
}

static struct measures measure(const struct steps *steps, const struct tap_sends *sends)
{
	static const uint64_t chunks[] = {[TAP_CCL_NET] = 131072,
					  [TAP_CCL_PCI] = 131072,
					  [TAP_CCL_NVLINK] = 524288};
	const uint64_t buffer = sends->sizes.buffers[TAP_CCL_SIMPLE];
	const uint64_t slot = (buffer ? buffer : OWN_BUFFER) / SLOTS;
	const bool is_limited = !sends->version || sends->version >= LIMITED;
	uint64_t chunk = sends->sizes.chunks[steps->path];

	if (!chunk)
		chunk = chunks[steps->path];
	if (is_limited && chunk > slot)
		chunk = slot;
	return measure_chunk(steps, sends->version, chunk);
}

static struct measures measure_ll(const struct steps *steps,
				  const struct tap_sends *sends)
{
	const uint64_t buffer = sends->sizes.buffers[TAP_CCL_LL];

	return measure_chunk(steps, sends->version,
			     (buffer ? buffer : OWN_LL_BUFFER) / SLOTS);
}

static uint64_t channels_of(const struct shape *shape, const struct measures *measures,
			    uint64_t bytes)
{
	uint64_t channels = div_up(bytes, measures->part_least), part;

	if (channels > shape->least || shape->steps->is_old)
		channels = shape->least;
	part = div_up(bytes, channels);
	if (part < measures->part_least)
		part = measures->part_least;
	while (part > measures->part_most && channels <= shape->most / 2) {
		channels *= 2;
		part = div_up(bytes, channels);
	}
	return channels;
}

/* NCCL keeps four binary digits of it. */
static uint64_t round_down(uint64_t chunk)
{
	unsigned int digits = 0;

	while (chunk >> digits >= 16)
		digits++;
	return chunk >> digits << digits;
}

/* The bytes of each part but the last ones. */
static uint64_t part_of(const struct shape *shape, const struct measures *measures,
			uint64_t bytes, uint64_t channels)
{
	const uint64_t align = shape->steps->is_old ? measures->part_least : PART_ALIGN;

	return div_up(div_up(bytes, channels), align) * align;
}

/* What a connection has of one send. */
struct share {
	uint64_t bytes; /* 0: none */
	bool is_ll;
};

static struct share share_by(const struct shape *shape, const struct measures *measures,
			     uint64_t bytes, uint64_t channels)
{
	const uint64_t part = part_of(shape, measures, bytes, channels),
		       begin = shape->part * part;

	if (shape->part >= channels || begin >= bytes)
		return (struct share){0};
	return (struct share){.bytes = bytes - begin < part ? bytes - begin : part};
}

/*
 * LL is decided on by the bytes of the send and all channels that it may have, and then
 * it is divided once more, by LL's steps; since 2.29 by the channels that it has, and it
 * stays divided; before 2.22 by the bytes of each part.
 */
static struct share share_of(const struct shape *shape, const struct tap_sends *sends,
			     uint64_t bytes)
{
	const struct measures simple = measure(shape->steps, sends),
			      ll = measure_ll(shape->steps, sends);
	const uint64_t own = sends->sizes.ll_threshold;
	const uint64_t threshold = own ? own : OWN_LL_THRESHOLD;
	const uint64_t channels = channels_of(shape, &simple, bytes);
	struct share share = share_by(shape, &simple, bytes, channels);

	if (sends->sizes.has_ll_sends != 1)
		return share;
	if (shape->steps->is_old) {
		share.is_ll = share.bytes <= threshold;
	} else if (sends->version >= DIVIDED_FIRST) {
		share.is_ll = bytes <= channels * threshold;
	} else if (bytes <= shape->most * threshold) {
		share = share_by(shape, &ll, bytes, channels_of(shape, &ll, bytes));
		share.is_ll = true;
	}
	return share;
}

/* The data of a message of a send, of which the connection has a share. */
static uint64_t chunk_of(const struct shape *shape, const struct tap_sends *sends,
			 const struct share *share, uint64_t bytes)
{
	const struct measures measures = share->is_ll ? measure_ll(shape->steps, sends)
						      : measure(shape->steps, sends);
	const uint64_t size = shape->steps->is_old ? share->bytes : bytes;
	uint64_t chunk = measures.chunk;

	if (size < chunk && (!share->is_ll || sends->version < WHOLE))
		chunk /= 4;
	else if (size < 8 * chunk)
		chunk /= 2;
	if (share->is_ll)
		chunk /= LL_LINE / LL_DATA;
	return shape->steps->is_old ? chunk : round_down(chunk);
}

/* What a message with so many bytes of data has. */
static uint64_t carried(const struct share *share, uint64_t bytes)
{
	return share->is_ll ? div_up(bytes, LL_DATA) * LL_LINE : bytes;
}

/* Adds the messages of one send over the connection. */
static void add_send(const struct shape *shape, const struct tap_sends *sends,
		     uint64_t bytes, struct tap_expected *expected)
{
	struct share share;
	uint64_t chunk;

	if (!bytes) {
		expected->messages += !shape->part;
		return;
	}
	share = share_of(shape, sends, bytes);
	if (!share.bytes)
		return;
	chunk = chunk_of(shape, sends, &share, bytes);
	expected->messages += (uint32_t) div_up(share.bytes, chunk);
	expected->least_bytes += share.bytes / chunk * carried(&share, chunk) +
				 carried(&share, share.bytes % chunk);
	expected->most_bytes = expected->least_bytes;
	if (expected->largest_bytes < carried(&share, chunk))
		expected->largest_bytes = carried(&share, chunk);
}

static struct tap_expected find(const struct shape *shape, const struct tap_sends *sends)
{
	struct tap_expected expected = {0};
	unsigned int i;

	for (i = 0; i < sends->count; i++)
		add_send(shape, sends, sends->bytes[i], &expected);
	return expected;
}

static bool is_equal(const struct tap_expected *a, const struct tap_expected *b)
{
	return a->messages == b->messages && a->least_bytes == b->least_bytes;
}

struct tap_sends_range tap_sends_find(const struct tap_shapes *shapes,
				      const struct tap_sends *sends)
{
	struct tap_sends_range range = {.is_single = true};
	struct shape shape;
	size_t next;

	for (next = 0; find_left(shapes, sends, next, &shape); next = shape.number + 1) {
		const struct tap_expected one = find(&shape, sends);

		if (!range.is_any) {
			range.is_any = true;
			range.least = range.most = one.messages;
			range.first = one;
		}
		range.is_single &= is_equal(&range.first, &one);
		if (one.largest_bytes > range.first.largest_bytes)
			range.first.largest_bytes = one.largest_bytes;
		if (one.messages < range.least)
			range.least = one.messages;
		if (one.messages > range.most)
			range.most = one.messages;
	}
	range.is_single &= range.is_any;
	return range;
}

bool tap_shapes_drop(struct tap_shapes *shapes, const struct tap_sends *sends,
		     uint64_t least, uint64_t most, uint64_t bytes)
{
	const uint64_t changes = shapes->changes;
	struct shape shape;
	size_t next;

	for (next = 0; find_left(shapes, sends, next, &shape); next = shape.number + 1) {
		const struct tap_expected one = find(&shape, sends);

		if (one.messages >= least && one.messages <= most &&
		    (bytes == UINT64_MAX || bytes == one.least_bytes))
			continue;
		shapes->dropped[shape.number / 64] |= UINT64_C(1) << shape.number % 64;
		shapes->changes++;
	}
	return shapes->changes != changes;
}
