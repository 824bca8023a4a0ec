/* SPDX-License-Identifier: MIT */
/*
 * The trace does not say how many channels NCCL wanted for the collective, only how many
 * it used, nor on how many nodes the ranks are: every number that fits is tried, and
 * there is an answer where all lead to the same one.
 */
#include "join/nccl/expected.h"

#include <string.h>

#define OLDEST 22300 /* the first release that has these rules */
#define STEPS 8
#define CHANNELS_MAX 64

/* Larger numbers are of no real program, and would overflow. */
#define COUNT_MAX (UINT64_C(1) << 48)
#define RANKS_MAX (1 << 14)

#define LL_LINE_DATA 8	 /* of 16 bytes */
#define LL128_SLICE 2048 /* with 1920 bytes of data */
#define LL128_DATA 1920

static uint64_t div_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- Names ---- */

struct name {
	const char *name;
	int value;
};

static int find(const struct name *names, const char *name)
{
	for (; name && names->name; names++)
		if (!strcmp(names->name, name))
			return names->value;
	return 0;
}

static const struct name functions[] = {{"AllReduce", TAP_CCL_ALL_REDUCE},
					{"AllGather", TAP_CCL_ALL_GATHER},
					{"ReduceScatter", TAP_CCL_REDUCE_SCATTER},
					{"Broadcast", TAP_CCL_BROADCAST},
					{"Reduce", TAP_CCL_REDUCE},
					{NULL, 0}};

enum tap_ccl_function tap_ccl_function_named(const char *call)
{
	return strncmp(call, "nccl", 4) ? TAP_CCL_NO_FUNCTION : find(functions, call + 4);
}

struct tap_ccl_work tap_ccl_work_named(const char *collective, const char *algorithm,
				       const char *protocol)
{
	static const struct name algorithms[] = {{"RING", TAP_CCL_RING},
						 {"TREE", TAP_CCL_TREE},
						 {NULL, 0}};
	static const struct name protocols[] = {{"LL", TAP_CCL_LL},
						{"LL128", TAP_CCL_LL128},
						{"SIMPLE", TAP_CCL_SIMPLE},
						{NULL, 0}};

	return (struct tap_ccl_work){.function = find(functions, collective),
				     .algorithm = find(algorithms, algorithm),
				     .protocol = find(protocols, protocol),
				     .root = -1};
}

/* ---- Elements of each channel ---- */

/* All that NCCL calls one element, of this many bytes. */
struct whole {
	uint64_t count, element_bytes;
	uint64_t ranks;
};

/* NCCL counts bytes where it only moves them. */
static struct whole whole_of(const struct tap_ccl_work *work, uint64_t ranks)
{
	const bool is_moved = work->function == TAP_CCL_ALL_GATHER ||
			      work->function == TAP_CCL_BROADCAST;

	return (struct whole){.count = is_moved ? work->count * work->element_bytes
						: work->count,
			      .element_bytes = is_moved ? 1 : work->element_bytes,
			      .ranks = ranks};
}

static bool is_spread(enum tap_ccl_function function)
{
	return function == TAP_CCL_ALL_GATHER || function == TAP_CCL_REDUCE_SCATTER;
}

static uint64_t traffic_per_byte(const struct tap_ccl_work *work, uint64_t ranks)
{
	uint64_t traffic = 1;

	if (work->function == TAP_CCL_ALL_REDUCE)
		traffic = 2;
	else if (is_spread(work->function))
		traffic = ranks;
	return work->protocol == TAP_CCL_LL && work->version >= 22600 ? 4 * traffic
								      : traffic;
}

/* How the cells of a collective are divided: the first, those between, the last. */
struct shares {
	uint64_t first, middle, last;
};

/*
 * Divides the cells if NCCL wanted so many channels.  Returns false if it would not have
 * used as many as it did.
 */
static bool find_shares(uint64_t cells, uint64_t share, uint64_t wanted, uint64_t used,
			struct shares *ret)
{
	const uint64_t channels = div_up(cells, share);
	uint64_t rest;

	*ret = (struct shares){share, share, cells - (used - 1) * share};
	if (channels == used)
		return true;
	/* One too many, because a share was rounded down: the last channel has more. */
	if (channels != wanted + 1 || used != wanted || wanted < 2)
		return false;
	rest = cells - share;
	ret->middle = rest / (wanted - 1);
	ret->last = ret->middle + rest % (wanted - 1);
	return true;
}

/* The elements of the channel with this place in the mask, likewise. */
static bool find_part(const struct tap_ccl_work *work, const struct whole *whole,
		      uint64_t wanted, uint64_t used, uint64_t place, uint64_t *ret_count)
{
	const bool is_new = work->version >= 22900;
	const uint64_t least = is_new ? 32768 : 16384;
	const uint64_t per_byte = traffic_per_byte(work, whole->ranks);
	const uint64_t bytes = whole->count * whole->element_bytes;
	const uint64_t cell = div_up(div_up(least, per_byte), 16) * 16;
	const uint64_t cell_count = cell / whole->element_bytes;
	const uint64_t cells = div_up(bytes, cell);
	const uint64_t each = max(least, bytes * per_byte) / wanted;
	const uint64_t traffic = is_new ? div_up(each, 16) * 16 : max(least, each);
	struct shares shares;

	if (wanted == 1) {
		*ret_count = whole->count;
		return used == 1;
	}
	if (!find_shares(cells, min(cells, div_up(traffic, cell * per_byte)), wanted,
			 used, &shares))
		return false;
	if (used > 1 && place + 1 == used)
		*ret_count =
			shares.last * cell_count - (cells * cell_count - whole->count);
	else if (used == 1)
		*ret_count = whole->count;
	else
		*ret_count = (place ? shares.middle : shares.first) * cell_count;
	return true;
}

/* ---- Chunks ---- */

struct chunks {
	uint64_t bytes;	    /* of a chunk of one rank */
	unsigned int steps; /* of a chunk, each of a slot of the buffer */
	unsigned int slice_steps;
	uint64_t slot_bytes; /* on the wire */
};

static unsigned int log2_of(uint64_t number)
{
	unsigned int log = 0;

	while (number >>= 1)
		log++;
	return log;
}

/* A tree with LL128 has smaller chunks where there is little for each. */
static uint64_t shrink(uint64_t chunk, uint64_t bytes, uint64_t ranks, uint64_t nodes)
{
	const float per_node = (float) ranks / (float) nodes;
	const float steps = (float) (1 + log2_of(nodes) + 0.1 * (double) per_node);

	while ((float) (bytes / chunk) < steps * 64 / per_node && chunk > 131072)
		chunk /= 2;
	while ((float) (bytes / chunk) < steps * 16 / per_node && chunk > 32768)
		chunk /= 2;
	return chunk;
}

static struct chunks chunks_of(const struct tap_ccl_work *work, uint64_t bytes,
			       uint64_t ranks, uint64_t nodes)
{
	static const uint64_t buffers[] = {[TAP_CCL_LL] = 524288,
					   [TAP_CCL_LL128] = 4915200,
					   [TAP_CCL_SIMPLE] = 4194304};
	static const uint64_t grains[] = {
		[TAP_CCL_LL] = 16, [TAP_CCL_LL128] = LL128_DATA, [TAP_CCL_SIMPLE] = 512};
	const bool is_long =
		work->protocol == TAP_CCL_SIMPLE && work->algorithm == TAP_CCL_RING &&
		(work->function == TAP_CCL_ALL_REDUCE || is_spread(work->function));
	const uint64_t set = work->sizes.buffers[work->protocol];
	struct chunks chunks = {.steps = is_long ? STEPS / 2 : 1,
				.slice_steps = is_long ? STEPS / 4 : 1,
				.slot_bytes =
					(set ? set : buffers[work->protocol]) / STEPS};

	chunks.bytes = chunks.slot_bytes * chunks.steps;
	if (work->protocol == TAP_CCL_LL)
		chunks.bytes /= 2;
	if (work->protocol == TAP_CCL_LL128)
		chunks.bytes = chunks.bytes / 16 * 15;
	if (work->protocol == TAP_CCL_LL128 && work->algorithm == TAP_CCL_TREE)
		chunks.bytes = shrink(chunks.bytes, bytes, ranks, nodes);
	chunks.bytes = chunks.bytes / grains[work->protocol] * grains[work->protocol];
	return chunks;
}

/* ---- Bytes ---- */

/*
 * What a rank sends of a part in a ring's all-reduce: each chunk twice, but for two that
 * follow one another, and depend on its place in the ring.
 */
static void find_ring_bytes(const struct whole *whole, uint64_t part,
			    uint64_t chunk_bytes, uint64_t *ret_least, uint64_t *ret_most)
{
	const uint64_t ranks = whole->ranks, size = whole->element_bytes;
	const uint64_t align = size < 16 ? 16 / size : 1;
	const uint64_t loop = ranks * (chunk_bytes / size);
	const uint64_t full = part / loop * loop, rest = part % loop;
	const uint64_t chunk = div_up(div_up(rest, ranks), align) * align;
	const uint64_t filled = chunk ? rest / chunk : 0;
	const uint64_t tail = chunk ? rest % chunk : 0;
	const uint64_t sent = 2 * (full - full / ranks) * size;
	uint64_t least_missing = UINT64_MAX, most_missing = 0, at;

	/* Chunks before `filled` are whole, one has the tail, the others are empty. */
	for (at = 0; at < ranks; at++) {
		const uint64_t next = (at + 1) % ranks;
		const uint64_t missing = (at < filled	 ? chunk
					  : at == filled ? tail
							 : 0) +
					 (next < filled	   ? chunk
					  : next == filled ? tail
							   : 0);

		least_missing = min(least_missing, missing);
		most_missing = max(most_missing, missing);
	}
	*ret_least = sent + (2 * rest - most_missing) * size;
	*ret_most = sent + (2 * rest - least_missing) * size;
}

/* Turns bytes of data into bytes on the wire. */
static void wrap(enum tap_ccl_protocol protocol, struct tap_expected *expected)
{
	switch (protocol) {
	case TAP_CCL_LL:
		expected->least_bytes *= 2;
		expected->most_bytes = 2 * expected->most_bytes +
				       2 * LL_LINE_DATA * (uint64_t) expected->messages;
		break;
	case TAP_CCL_LL128:
		expected->least_bytes = expected->least_bytes / LL128_DATA * LL128_SLICE;
		expected->most_bytes =
			div_up(expected->most_bytes, LL128_DATA) * LL128_SLICE +
			LL128_SLICE * (uint64_t) expected->messages;
		break;
	default:
		break;
	}
}

/* ---- All of it ---- */

/* In a chain, one rank does not send to the next. */
static bool is_silent(const struct tap_ccl_work *work, int64_t from, int64_t to)
{
	return work->algorithm == TAP_CCL_RING &&
	       ((work->function == TAP_CCL_BROADCAST && to == work->root) ||
		(work->function == TAP_CCL_REDUCE && from == work->root));
}

static bool find_messages(const struct tap_ccl_work *work, const struct whole *whole,
			  uint64_t part, uint64_t nodes, struct tap_expected *ret)
{
	const uint64_t ranks = whole->ranks;
	const uint64_t data = part * whole->element_bytes;
	const uint64_t bytes = is_spread(work->function) ? data * ranks : data;
	const struct chunks chunks = chunks_of(work, bytes, ranks, nodes);
	const bool is_ring = work->algorithm == TAP_CCL_RING;
	const bool is_all_reduce = work->function == TAP_CCL_ALL_REDUCE;
	const bool is_long = is_ring && (is_all_reduce || is_spread(work->function));
	const uint64_t steps = is_long ? (ranks - 1) * (is_all_reduce ? 2 : 1) : 1;
	const uint64_t loop = chunks.bytes * (is_long ? ranks : 1);
	const uint64_t messages =
		loop ? steps * div_up(bytes, loop) * (chunks.steps / chunks.slice_steps)
		     : 0;

	/* A buffer may be too small for a chunk. */
	if (!loop || messages > UINT32_MAX)
		return false;
	*ret = (struct tap_expected){.messages = (uint32_t) messages,
				     .least_bytes = data,
				     .most_bytes = data,
				     .largest_bytes =
					     chunks.slot_bytes * chunks.slice_steps,
				     .is_small = bytes <= loop / 2};
	if (is_ring && is_all_reduce)
		find_ring_bytes(whole, part, chunks.bytes, &ret->least_bytes,
				&ret->most_bytes);
	else if (is_long)
		ret->least_bytes = ret->most_bytes = data * (ranks - 1);
	wrap(work->protocol, ret);
	return true;
}

static bool is_equal(const struct tap_expected *a, const struct tap_expected *b)
{
	return a->messages == b->messages && a->least_bytes == b->least_bytes &&
	       a->most_bytes == b->most_bytes && a->largest_bytes == b->largest_bytes;
}

bool tap_expected_has_rule(uint32_t version)
{
	return version >= OLDEST && version < 23100;
}

/* Whether the channels that were used are the first ones. */
static bool has_rule(const struct tap_ccl_work *work, const struct tap_ccl_place *place)
{
	const uint64_t mask = work->channel_mask;

	return work->function && work->algorithm && work->protocol &&
	       work->version >= OLDEST &&
	       work->sizes.buffers[work->protocol] != TAP_CCL_UNKNOWN &&
	       place->nranks >= 2 && place->nranks <= RANKS_MAX && work->element_bytes &&
	       work->element_bytes <= 8 && work->count &&
	       work->count <= COUNT_MAX / (uint64_t) place->nranks &&
	       place->channel >= 0 && place->channel < CHANNELS_MAX && mask &&
	       !(mask & (mask + 1)) && mask >> place->channel & 1 &&
	       (work->algorithm == TAP_CCL_RING || work->function == TAP_CCL_ALL_REDUCE);
}

/* The answers that there are so far. */
struct answers {
	uint32_t messages; /* that are asked for; 0: any */
	bool is_found, is_single;
	struct tap_expected *first;
};

static void add_answers(const struct tap_ccl_work *work, const struct whole *whole,
			uint64_t part, struct answers *answers)
{
	const bool has_nodes =
		work->algorithm == TAP_CCL_TREE && work->protocol == TAP_CCL_LL128;
	struct tap_expected one;
	uint64_t nodes;

	for (nodes = 1; nodes <= (has_nodes ? whole->ranks : 1); nodes++) {
		if (!find_messages(work, whole, part, nodes, &one)) {
			answers->is_single = false;
			return;
		}
		if (answers->messages && one.messages != answers->messages)
			continue;
		if (!answers->is_found)
			*answers->first = one;
		answers->is_found = true;
		answers->is_single &= is_equal(answers->first, &one);
	}
}

bool tap_expected_find(const struct tap_ccl_work *work, const struct tap_ccl_place *place,
		       uint32_t messages, struct tap_expected *ret)
{
	const uint64_t used = (uint64_t) __builtin_popcountll(work->channel_mask);
	struct answers answers = {messages, false, true, ret};
	struct whole whole;
	uint64_t wanted, part;

	if (!has_rule(work, place))
		return false;
	memset(ret, 0, sizeof(*ret));
	if (is_silent(work, place->from, place->to))
		return true;
	whole = whole_of(work, (uint64_t) place->nranks);
	for (wanted = used; wanted <= CHANNELS_MAX; wanted++)
		if (find_part(work, &whole, wanted, used, (uint64_t) place->channel,
			      &part))
			add_answers(work, &whole, part, &answers);
	return answers.is_found && answers.is_single;
}
