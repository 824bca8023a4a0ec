/* SPDX-License-Identifier: MIT */
/*
 * The trace does not say how many channels NCCL wanted for the collective, only how many
 * it used, nor on how many nodes the ranks are, nor, for some releases, with how many
 * threads: every number that fits is tried, and there is an answer where all lead to the
 * same one.
 */
#include "join/nccl/expected.h"

#include <string.h>

/* The first releases with rules of their own. */
#define EVEN 21800    /* each channel has as many loops as the others */
#define ALIGNED 22000 /* shares in multiples of what all threads take at once */
#define CELLS 22200   /* in cells */
#define LARGE_CELLS 22300
#define ONE_BUFFER 21900 /* on each kind of processor */

#define CHUNK_MIN 16384		   /* of a tree, that depends on nodes */
#define BUFFER (UINT64_C(4) << 20) /* of SIMPLE */
#define BUFFER_ARM (UINT64_C(1) << 20)
#define STEPS 8
#define CHANNELS_MAX 64

/* Larger numbers are of no real program, and would overflow. */
#define COUNT_MAX (UINT64_C(1) << 48)
#define RANKS_MAX (1 << 14)

#define TREE_GRAIN_MAX 36864 /* 2.18.3, collectives/device/all_reduce.h: 640 threads */

#define WARPS_MIN 3
#define WARPS_MAX 20
#define WARP 32

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
 * Divides the cells if NCCL wanted so many channels; each has a share of them, which in
 * 2.22 is rounded down for the first one.  Returns false if it would not have used as
 * many as it did.
 */
static bool find_shares(uint64_t cells, const struct shares *share, uint64_t wanted,
			uint64_t used, struct shares *ret)
{
	const uint64_t rest = cells - share->first;
	const uint64_t channels = 1 + div_up(rest, share->middle);

	*ret = *share;
	ret->last = rest - (channels > 1 ? channels - 2 : 0) * share->middle;
	if (channels == used)
		return true;
	/* One too many, because a share was rounded down: the last channel has more. */
	if (channels != wanted + 1 || used != wanted || wanted < 2)
		return false;
	ret->middle = rest / (wanted - 1);
	ret->last = ret->middle + rest % (wanted - 1);
	return true;
}

/* Bytes of a cell, and of what a channel moves at least. */
struct cells {
	uint64_t bytes, least;
};

static struct cells cells_of(const struct tap_ccl_work *work, uint64_t per_byte)
{
	const uint64_t least = work->version >= 22900 ? 32768 : 16384;

	if (work->version < LARGE_CELLS)
		return (struct cells){16, 512};
	return (struct cells){div_up(div_up(least, per_byte), 16) * 16, least};
}

static struct shares share_of(const struct tap_ccl_work *work, const struct cells *cell,
			      uint64_t cells, uint64_t per_byte, uint64_t traffic)
{
	const uint64_t per_cell = cell->bytes * per_byte;
	const uint64_t share = min(cells, div_up(traffic, per_cell));
	const bool is_down = work->version < LARGE_CELLS;

	return (struct shares){is_down ? min(cells, traffic / per_cell) : share, share,
			       0};
}

/* The elements of the channel with this place in the mask, likewise. */
static bool find_cells(const struct tap_ccl_work *work, const struct whole *whole,
		       uint64_t wanted, uint64_t used, uint64_t place,
		       uint64_t *ret_count)
{
	const bool is_new = work->version >= 22900;
	const uint64_t per_byte = traffic_per_byte(work, whole->ranks);
	const uint64_t bytes = whole->count * whole->element_bytes;
	const struct cells cell = cells_of(work, per_byte);
	const uint64_t cell_count = cell.bytes / whole->element_bytes;
	const uint64_t cells = div_up(bytes, cell.bytes);
	const uint64_t each = max(cell.least, bytes * per_byte) / wanted;
	const uint64_t traffic = is_new ? div_up(each, 16) * 16 : max(cell.least, each);
	const struct shares share = share_of(work, &cell, cells, per_byte, traffic);
	struct shares shares;

	if (wanted == 1 && (used == 1 || work->version >= LARGE_CELLS)) {
		*ret_count = whole->count;
		return used == 1;
	}
	/* Without a share of its own the first channel would not be used. */
	if (!share.first || !find_shares(cells, &share, wanted, used, &shares))
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

/* What 2.20 and 2.21 divide data into multiples of, in bytes. */
static uint64_t alignment(enum tap_ccl_protocol protocol, uint64_t warps)
{
	switch (protocol) {
	case TAP_CCL_LL:
		return 8 * WARP * warps;
	case TAP_CCL_LL128:
		return 480 * warps;
	default:
		return 4096;
	}
}

/* What one channel has of a collective, in bytes of each rank. */
struct part {
	uint64_t least, most;
	uint64_t loops;	 /* that it has its loops for */
	uint64_t chosen; /* of all ranks, that a tree's chunks are chosen by */
	uint64_t align;	 /* elements: of the chunks of a ring's last loop */
};

static struct part part_of(const struct whole *whole, uint64_t count)
{
	const uint64_t bytes = count * whole->element_bytes;
	const uint64_t align = 16 / whole->element_bytes;

	return (struct part){bytes, bytes, bytes, bytes, align};
}

/* Each channel has as many loops; how full the last one is, depends on threads. */
static struct part even_part(const struct whole *whole, uint64_t used)
{
	const uint64_t bytes = whole->count * whole->element_bytes;

	return (struct part){0, bytes, div_up(bytes, used), bytes / used, 1};
}

/* The same, if NCCL wanted so many channels and had so many warps. */
static bool find_aligned(const struct tap_ccl_work *work, const struct whole *whole,
			 uint64_t wanted, uint64_t used, uint64_t place, uint64_t warps,
			 struct part *ret)
{
	const uint64_t align = alignment(work->protocol, warps) / whole->element_bytes;
	const uint64_t share = div_up(whole->count, wanted * align) * align;

	if (div_up(whole->count, share) != used)
		return false;
	*ret = part_of(whole,
		       place + 1 < used ? share : whole->count - share * (used - 1));
	ret->chosen = whole->count * whole->element_bytes / wanted;
	ret->align = align;
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

/* Before 2.20 a tree with SIMPLE has smaller ones, too, by its depth. */
static uint64_t shrink_by_depth(uint64_t chunk, uint64_t bytes, uint64_t ranks,
				uint64_t nodes)
{
	const uint64_t depth = ranks / nodes - 1 + log2_of(nodes);

	while (bytes / chunk < depth * 8 && chunk > 131072)
		chunk /= 2;
	while (bytes / chunk < depth * 4 && chunk > 65536)
		chunk /= 2;
	while (bytes / chunk < depth && chunk > 32768)
		chunk /= 2;
	return chunk;
}

/* What the trace does not say of the buffers and the nodes. */
struct guess {
	uint64_t nodes;
	uint64_t buffer; /* bytes of SIMPLE's */
};

static uint64_t buffer_of(const struct tap_ccl_work *work, const struct guess *guess)
{
	const uint64_t set = work->sizes.buffers[work->protocol];

	if (set)
		return set;
	switch (work->protocol) {
	case TAP_CCL_LL:
		return 524288;
	case TAP_CCL_LL128:
		return 4915200;
	default:
		return guess->buffer;
	}
}

static struct chunks chunks_of(const struct tap_ccl_work *work, uint64_t bytes,
			       const struct whole *whole, const struct guess *guess)
{
	const uint64_t ranks = whole->ranks, element_bytes = whole->element_bytes;
	static const uint64_t grains[] = {
		[TAP_CCL_LL] = 16, [TAP_CCL_LL128] = LL128_DATA, [TAP_CCL_SIMPLE] = 512};
	const bool is_long =
		work->protocol == TAP_CCL_SIMPLE && work->algorithm == TAP_CCL_RING &&
		(work->function == TAP_CCL_ALL_REDUCE || is_spread(work->function));
	const bool is_tree = work->algorithm == TAP_CCL_TREE;
	const bool is_even = work->version < ALIGNED;
	struct chunks chunks = {.steps = is_long ? STEPS / 2 : 1,
				.slice_steps = is_long ? STEPS / 4 : 1,
				.slot_bytes = buffer_of(work, guess) / STEPS};

	chunks.bytes = chunks.slot_bytes * chunks.steps;
	if (is_tree && is_even && chunks.bytes && work->protocol == TAP_CCL_SIMPLE)
		chunks.bytes = shrink_by_depth(chunks.bytes, bytes, ranks, guess->nodes);
	if (work->protocol == TAP_CCL_LL)
		chunks.bytes /= 2;
	if (work->protocol == TAP_CCL_LL128) {
		if (is_tree && is_even && chunks.bytes)
			chunks.bytes = shrink(chunks.bytes, bytes, ranks, guess->nodes);
		chunks.bytes = chunks.bytes / 16 * 15;
		if (is_tree && !is_even && chunks.bytes)
			chunks.bytes = shrink(chunks.bytes, bytes, ranks, guess->nodes);
	}
	if (!is_even && work->version < CELLS)
		chunks.bytes -= chunks.bytes % element_bytes;
	if (work->version >= CELLS)
		chunks.bytes =
			chunks.bytes / grains[work->protocol] * grains[work->protocol];
	return chunks;
}

/* ---- Bytes ---- */

/*
 * What a rank sends of a part in a ring's all-reduce: each chunk twice, but for two that
 * follow one another, and depend on its place in the ring.
 */
static void find_ring_bytes(const struct whole *whole, const struct part *about,
			    uint64_t chunk_bytes, struct tap_expected *ret)
{
	const uint64_t ranks = whole->ranks, size = whole->element_bytes;
	const uint64_t part = about->most / size, align = about->align;
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
	ret->least_bytes = sent + (2 * rest - most_missing) * size;
	ret->most_bytes = sent + (2 * rest - least_missing) * size;
}

/*
 * Bounds of what a rank sends where each channel has as many loops, of which the last one
 * may be empty on some.
 */
static void find_even_bytes(const struct tap_ccl_work *work, const struct whole *whole,
			    uint64_t chunk_bytes, struct tap_expected *ret)
{
	const bool is_ring = work->algorithm == TAP_CCL_RING;
	const bool is_twice = is_ring && work->function == TAP_CCL_ALL_REDUCE;
	const uint64_t used = (uint64_t) __builtin_popcountll(work->channel_mask);
	const uint64_t unit = chunk_bytes * (is_twice ? whole->ranks : 1);
	const uint64_t bytes = whole->count * whole->element_bytes;
	const uint64_t full = bytes / (used * unit), rest = bytes % (used * unit);
	/* A tree's chunk is one of what all threads take, where there is one loop. */
	const uint64_t room = is_ring || full ? unit : unit + TREE_GRAIN_MAX;
	const uint64_t most = min(rest, room), least = used > 1 ? 0 : rest;

	if (is_twice) {
		ret->least_bytes = 2 * (whole->ranks - 1) * chunk_bytes * full;
		ret->most_bytes = ret->least_bytes + 2 * most;
		ret->least_bytes += least;
	} else {
		const uint64_t times =
			is_ring && is_spread(work->function) ? whole->ranks - 1 : 1;

		ret->least_bytes = times * (full * unit + least);
		ret->most_bytes = times * (full * unit + most);
	}
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
			  const struct part *part, const struct guess *guess,
			  struct tap_expected *ret)
{
	const uint64_t ranks = whole->ranks;
	const bool is_ring = work->algorithm == TAP_CCL_RING;
	const bool is_all_reduce = work->function == TAP_CCL_ALL_REDUCE;
	const bool is_long = is_ring && (is_all_reduce || is_spread(work->function));
	const uint64_t bytes = part->loops * (is_spread(work->function) ? ranks : 1);
	const struct chunks chunks = chunks_of(work, part->chosen, whole, guess);
	const uint64_t steps = is_long ? (ranks - 1) * (is_all_reduce ? 2 : 1) : 1;
	const uint64_t loop = chunks.bytes * (is_long ? ranks : 1);
	const uint64_t messages =
		loop ? steps * div_up(bytes, loop) * (chunks.steps / chunks.slice_steps)
		     : 0;

	/* A buffer may be too small for a chunk. */
	if (!loop || messages > UINT32_MAX)
		return false;
	*ret = (struct tap_expected){.messages = (uint32_t) messages,
				     .most_messages = (uint32_t) messages,
				     .least_bytes = part->least,
				     .most_bytes = part->most,
				     .largest_bytes =
					     chunks.slot_bytes * chunks.slice_steps,
				     .is_small = bytes <= loop / 2};
	if (work->version < ALIGNED) {
		find_even_bytes(work, whole, chunks.bytes, ret);
	} else if (is_ring && is_all_reduce) {
		find_ring_bytes(whole, part, chunks.bytes, ret);
	} else if (is_long) {
		ret->least_bytes *= ranks - 1;
		ret->most_bytes *= ranks - 1;
	}
	wrap(work->protocol, ret);
	return true;
}

bool tap_expected_has_rule(uint32_t version)
{
	return version >= EVEN && version < 23100;
}

/*
 * Whether the work is on the channel, as far as the rule asks for that: before 2.20 each
 * channel that is used has as many messages.
 */
static bool has_channel(const struct tap_ccl_work *work,
			const struct tap_ccl_place *place)
{
	if (place->channel < 0)
		return work->version < ALIGNED;
	return place->channel < CHANNELS_MAX && work->channel_mask >> place->channel & 1;
}

/* Whether the channels that were used are the first ones. */
static bool has_rule(const struct tap_ccl_work *work, const struct tap_ccl_place *place)
{
	const uint64_t mask = work->channel_mask;

	return work->function && work->algorithm && work->protocol &&
	       work->version >= EVEN &&
	       work->sizes.buffers[work->protocol] != TAP_CCL_UNKNOWN &&
	       place->nranks >= 2 && place->nranks <= RANKS_MAX && work->element_bytes &&
	       work->element_bytes <= 8 && work->count &&
	       work->count <= COUNT_MAX / (uint64_t) place->nranks && mask &&
	       !(mask & (mask + 1)) && has_channel(work, place) &&
	       (work->algorithm == TAP_CCL_RING || work->function == TAP_CCL_ALL_REDUCE);
}

/* The answers that there are so far. */
struct answers {
	uint32_t messages; /* that are asked for; 0: any */
	bool is_found, has_failed;
	struct tap_expected *all;
};

void tap_expected_merge(struct tap_expected *all, const struct tap_expected *one)
{
	all->is_vague |= one->is_vague || all->least_bytes != one->least_bytes ||
			 all->most_bytes != one->most_bytes;
	all->messages = (uint32_t) min(all->messages, one->messages);
	all->most_messages = (uint32_t) max(all->most_messages, one->most_messages);
	all->least_bytes = min(all->least_bytes, one->least_bytes);
	all->most_bytes = max(all->most_bytes, one->most_bytes);
	all->largest_bytes = max(all->largest_bytes, one->largest_bytes);
	all->is_small &= one->is_small;
}

static void add_answer(const struct tap_ccl_work *work, const struct whole *whole,
		       const struct part *part, const struct guess *guess,
		       struct answers *answers)
{
	struct tap_expected one;

	if (!find_messages(work, whole, part, guess, &one)) {
		answers->has_failed = true;
		return;
	}
	if (answers->messages && one.messages != answers->messages)
		return;
	if (answers->is_found)
		tap_expected_merge(answers->all, &one);
	else
		*answers->all = one;
	answers->is_found = true;
}

/* Whether the chunks depend on the nodes, and are not larger than the part anyway. */
static bool has_nodes(const struct tap_ccl_work *work, const struct part *part)
{
	return work->algorithm == TAP_CCL_TREE && part->loops > CHUNK_MIN / 2 &&
	       (work->protocol == TAP_CCL_LL128 ||
		(work->version < ALIGNED && work->protocol == TAP_CCL_SIMPLE));
}

static void add_answers(const struct tap_ccl_work *work, const struct whole *whole,
			const struct part *part, struct answers *answers)
{
	const uint64_t most = has_nodes(work, part) ? whole->ranks : 1;
	const bool has_other_buffer = work->version < ONE_BUFFER &&
				      work->protocol == TAP_CCL_SIMPLE &&
				      !work->sizes.buffers[TAP_CCL_SIMPLE];
	struct guess guess;

	for (guess.nodes = 1; guess.nodes <= most; guess.nodes++) {
		guess.buffer = BUFFER;
		add_answer(work, whole, part, &guess, answers);
		guess.buffer = BUFFER_ARM;
		if (has_other_buffer)
			add_answer(work, whole, part, &guess, answers);
	}
}

/* Whether the shares have been tried with as many threads less one warp. */
static bool is_again(const struct tap_ccl_work *work, const struct whole *whole,
		     uint64_t wanted, const struct tap_ccl_place *place, uint64_t warps,
		     const struct part *part)
{
	const uint64_t used = (uint64_t) __builtin_popcountll(work->channel_mask);
	struct part before;

	return warps > WARPS_MIN &&
	       find_aligned(work, whole, wanted, used, (uint64_t) place->channel,
			    warps - 1, &before) &&
	       before.least == part->least;
}

/* Tries all that NCCL 2.20 and 2.21 may have wanted, but nothing twice. */
static void add_aligned(const struct tap_ccl_work *work, const struct whole *whole,
			const struct tap_ccl_place *place, struct answers *answers)
{
	const uint64_t used = (uint64_t) __builtin_popcountll(work->channel_mask);
	const bool is_tree = work->algorithm == TAP_CCL_TREE;
	const uint64_t most_warps =
		work->protocol == TAP_CCL_SIMPLE ? WARPS_MIN : WARPS_MAX;
	uint64_t warps, wanted, latest;
	struct part part;

	for (warps = WARPS_MIN; warps <= most_warps; warps++) {
		latest = 0;
		for (wanted = used; wanted <= CHANNELS_MAX; wanted++) {
			if (!find_aligned(work, whole, wanted, used,
					  (uint64_t) place->channel, warps, &part) ||
			    (is_tree ? is_again(work, whole, wanted, place, warps, &part)
				     : part.least == latest))
				continue;
			latest = part.least;
			add_answers(work, whole, &part, answers);
			/* A tuner plugin has chunks chosen by those that are used. */
			part.chosen = whole->count * whole->element_bytes / used;
			if (is_tree && wanted > used)
				add_answers(work, whole, &part, answers);
		}
	}
}

/* The same for releases that divide data into cells. */
static void add_cells(const struct tap_ccl_work *work, const struct whole *whole,
		      const struct tap_ccl_place *place, struct answers *answers)
{
	const uint64_t used = (uint64_t) __builtin_popcountll(work->channel_mask);
	uint64_t wanted, count;
	struct part part;

	/* A share that was rounded down makes one channel more. */
	for (wanted = max(used - 1, 1); wanted <= CHANNELS_MAX; wanted++) {
		if (!find_cells(work, whole, wanted, used, (uint64_t) place->channel,
				&count))
			continue;
		part = part_of(whole, count);
		add_answers(work, whole, &part, answers);
	}
}

bool tap_expected_find_range(const struct tap_ccl_work *work,
			     const struct tap_ccl_place *place, uint32_t messages,
			     struct tap_expected *ret)
{
	const uint64_t used = (uint64_t) __builtin_popcountll(work->channel_mask);
	struct answers answers = {messages, false, false, ret};
	struct whole whole;
	struct part part;

	if (!has_rule(work, place))
		return false;
	memset(ret, 0, sizeof(*ret));
	if (is_silent(work, place->from, place->to))
		return true;
	whole = whole_of(work, (uint64_t) place->nranks);
	if (work->version >= CELLS) {
		add_cells(work, &whole, place, &answers);
	} else if (work->version >= ALIGNED) {
		add_aligned(work, &whole, place, &answers);
	} else {
		part = even_part(&whole, used);
		add_answers(work, &whole, &part, &answers);
	}
	return answers.is_found && !answers.has_failed;
}

bool tap_expected_find(const struct tap_ccl_work *work, const struct tap_ccl_place *place,
		       uint32_t messages, struct tap_expected *ret)
{
	return tap_expected_find_range(work, place, messages, ret) &&
	       ret->messages == ret->most_messages;
}
