/* SPDX-License-Identifier: MIT */
/*
 * How many messages NCCL sends for a collective, against numbers that were worked out by
 * hand from its source (expected.h says where each rule is).
 */
#include "join/nccl/expected.h"
#include "unit/tap.h"

#define KiB UINT64_C(1024)
#define MiB (1024 * KiB)

struct line {
	const char *what;
	uint32_t version;
	const char *collective, *algorithm, *protocol;
	uint64_t count, element_bytes;
	int64_t root;
	uint64_t channel_mask;
	struct tap_ccl_place place;
	uint32_t asked;
	/* -1: there is no rule, or no single answer. */
	int64_t messages;
	uint64_t least_bytes, most_bytes, largest_bytes;
};

/* With a buffer of so many bytes. */
struct sized_line {
	enum tap_ccl_protocol protocol;
	uint64_t buffer;
	struct line line;
};

/* clang-format off */
static const struct line lines[] = {
	/* 4 steps for 3 ranks, of 4 slots in slices of 2; chunks of 24, 24 and 16 numbers. */
	{"a small all-reduce in a ring",
	 22809, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 8, 320, 352, MiB},
	{"the same in 2.23",
	 22304, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 8, 320, 352, MiB},
	{"the same in 2.30",
	 23007, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 8, 320, 352, MiB},
	/* Two ranks send each other half; twice the size with LL. */
	{"an all-reduce with LL",
	 22809, "AllReduce", "RING", "LL", 1024, 4, -1, 1, {2, 0, 1, 0}, 0,
	 2, 8192, 8224, 64 * KiB},
	/* Three loops of 3 chunks of 2 MiB, and one of 3 of 1 MiB. */
	{"an all-reduce of several loops",
	 22809, "AllReduce", "RING", "SIMPLE", 21 * MiB / 4, 4, -1, 1, {3, 0, 1, 0}, 0,
	 32, 28 * MiB, 28 * MiB, MiB},
	/* 1,000,000 bytes are 245 cells of 4096: 123 and 122, of which the last is not full. */
	{"an all-gather over two channels, the first",
	 22809, "AllGather", "RING", "LL128", 250000, 4, -1, 3, {4, 0, 1, 0}, 0,
	 3, 1611776, 1619968, 614400},
	{"an all-gather over two channels, the last",
	 22809, "AllGather", "RING", "LL128", 250000, 4, -1, 3, {4, 0, 1, 1}, 0,
	 3, 1587200, 1595392, 614400},
	{"a reduce-scatter",
	 22809, "ReduceScatter", "RING", "SIMPLE", 4 * MiB, 2, -1, 1, {2, 0, 1, 0}, 0,
	 8, 8 * MiB, 8 * MiB, MiB},
	{"a broadcast",
	 22809, "Broadcast", "RING", "SIMPLE", MiB + 1, 1, 0, 1, {3, 0, 1, 0}, 0,
	 3, MiB + 1, MiB + 1, 512 * KiB},
	{"a broadcast ends before its root",
	 22809, "Broadcast", "RING", "SIMPLE", MiB, 1, 0, 1, {3, 2, 0, 0}, 0, 0, 0, 0, 0},
	{"a reduction ends at its root",
	 22809, "Reduce", "RING", "LL", MiB, 4, 1, 1, {3, 1, 2, 0}, 0, 0, 0, 0, 0},
	{"a reduction",
	 22809, "Reduce", "RING", "LL", 10000, 4, 1, 1, {3, 0, 1, 0}, 0,
	 2, 80000, 80032, 64 * KiB},
	{"a tree",
	 22809, "AllReduce", "TREE", "SIMPLE", MiB, 4, -1, 1, {8, 0, 1, 0}, 0,
	 8, 4 * MiB, 4 * MiB, 512 * KiB},
	{"a tree with LL",
	 22809, "AllReduce", "TREE", "LL", 10000, 4, -1, 1, {8, 0, 1, 0}, 0,
	 2, 80000, 80032, 64 * KiB},
	{"a small tree with LL128",
	 22809, "AllReduce", "TREE", "LL128", 256, 4, -1, 1, {4, 0, 1, 0}, 0,
	 1, 0, 4096, 614400},
	{"a tree with LL128, whose chunks depend on the nodes",
	 22809, "AllReduce", "TREE", "LL128", MiB, 4, -1, 1, {4, 0, 1, 0}, 0,
	 -1, 0, 0, 0},
	/* 2 MiB in chunks of 18 * 1920 bytes: on three nodes, with one rank each. */
	{"one of several answers, by the number of messages",
	 22809, "AllReduce", "TREE", "LL128", MiB / 2, 4, -1, 1, {3, 0, 1, 0}, 61,
	 61, 2236416,
	 2363392, 614400},
	{"none of several answers has so many",
	 22809, "AllReduce", "TREE", "LL128", MiB / 2, 4, -1, 1, {3, 0, 1, 0}, 62,
	 -1, 0, 0, 0},
	/* 128 cells of 2 KiB, 16 for each channel. */
	{"LL counts fourfold when channels are filled",
	 22809, "AllReduce", "RING", "LL", 65536, 4, -1, 0xff, {2, 0, 1, 7}, 0,
	 2, 65536, 65568, 64 * KiB},
	/* 4 cells of 8 KiB for 3 channels that hold one each: the last one has two. */
	{"a share that was rounded down",
	 22809, "AllReduce", "RING", "SIMPLE", 24577, 1, -1, 7, {2, 0, 1, 2}, 0,
	 4, 8193, 8193, MiB},
	{"before 2.18",
	 21701, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 -1, 0, 0, 0},
	/* The last loop's chunks depend on the threads: one may have all numbers. */
	{"a small all-reduce in a ring in 2.18",
	 21803, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 8, 256, 512, MiB},
	/* 1,000,000 bytes in chunks of 576,000: one channel may have none. */
	{"an all-gather over two channels in 2.18",
	 21803, "AllGather", "RING", "LL128", 250000, 4, -1, 3, {4, 0, 1, 1}, 0,
	 3, 0, 1849344, 614400},
	/* 4 loops with a buffer of 4 MiB, 14 with one of 1 MiB. */
	{"2.18 has another buffer on ARM",
	 21803, "AllReduce", "RING", "SIMPLE", 21 * MiB / 4, 4, -1, 1, {3, 0, 1, 0}, 0,
	 -1, 0, 0, 0},
	{"an all-reduce of several loops in 2.19",
	 21903, "AllReduce", "RING", "SIMPLE", 21 * MiB / 4, 4, -1, 1, {3, 0, 1, 0}, 0,
	 32, 27 * MiB, 30 * MiB, MiB},
	{"a small tree in 2.18",
	 21803, "AllReduce", "TREE", "SIMPLE", 1024, 4, -1, 1, {8, 0, 1, 0}, 0,
	 1, 4096, 4096, 512 * KiB},
	/* Chunks of 128 KiB, but of 256 KiB on 5 to 7 nodes. */
	{"a tree in 2.19, whose chunks depend on the nodes",
	 21903, "AllReduce", "TREE", "SIMPLE", MiB, 4, -1, 1, {8, 0, 1, 0}, 0,
	 -1, 0, 0, 0},
	/* 1 MiB in two chunks, one for each channel, and one byte. */
	{"a broadcast over two channels in 2.19",
	 21904, "Broadcast", "RING", "SIMPLE", MiB + 1, 1, 0, 3, {3, 0, 1, 1}, 0,
	 2, 512 * KiB, 512 * KiB + 1, 512 * KiB},
	{"a small all-reduce in a ring in 2.21",
	 22105, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 8, 256, 512, MiB},
	/* 1,000,000 bytes: 123 times 4096, and the rest. */
	{"an all-gather over two channels in 2.20, the first",
	 22005, "AllGather", "RING", "SIMPLE", 250000, 4, -1, 3, {4, 0, 1, 0}, 0,
	 6, 1511424, 1511424, MiB},
	{"an all-gather over two channels in 2.20, the last",
	 22005, "AllGather", "RING", "SIMPLE", 250000, 4, -1, 3, {4, 0, 1, 1}, 0,
	 6, 1488576, 1488576, MiB},
	/* 40 to 488 numbers, as 3 to 15 warps take 64 each: 960 or 512 for the first. */
	{"a reduce-scatter in 2.20, divided by what threads take",
	 22005, "ReduceScatter", "RING", "LL", 1000, 4, -1, 3, {2, 0, 1, 1}, 0,
	 1, 320, 3920, 64 * KiB},
	{"a small all-reduce in a ring in 2.22",
	 22203, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 8, 320, 352, MiB},
	/* 63 cells of 16 bytes: 62 and one where one channel was wanted, or 32 and 31. */
	{"a broadcast over one channel too many in 2.22, the first",
	 22203, "Broadcast", "RING", "SIMPLE", 1000, 1, 0, 3, {3, 0, 1, 0}, 0,
	 1, 512, 992, 512 * KiB},
	{"a broadcast over one channel too many in 2.22, the last",
	 22203, "Broadcast", "RING", "SIMPLE", 1000, 1, 0, 3, {3, 0, 1, 1}, 0,
	 1, 8, 488, 512 * KiB},
	{"after 2.30, by the rules of that",
	 23203, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 8, 320, 352, MiB},
	{"another algorithm",
	 22809, "AllGather", "PAT", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0, -1, 0, 0, 0},
	{"channels that are not the first ones",
	 22809, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 5, {3, 0, 1, 0}, 0,
	 -1, 0, 0, 0},
	{"a channel that is not used",
	 22809, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 1}, 0,
	 -1, 0, 0, 0},
	{"more channels than NCCL would use",
	 22809, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 3, {3, 0, 1, 0}, 0,
	 -1, 0, 0, 0},
	{"a size without end",
	 22809, "AllReduce", "RING", "SIMPLE", UINT64_MAX, 8, -1, 1, {3, 0, 1, 0}, 0,
	 -1, 0, 0, 0},
};

static const struct sized_line sized_lines[] = {
	/* Three loops of 3 chunks of 32 KiB, the last one of 5464, 5464 and 5456 numbers. */
	{TAP_CCL_SIMPLE, 64 * KiB,
	 {"a small buffer",
	 22809, "AllReduce", "RING", "SIMPLE", 64 * KiB, 4, -1, 1, {3, 0, 1, 0}, 0,
	 24, 349504, 349536, 16 * KiB}},
	{TAP_CCL_LL, 16 * KiB,
	 {"a small buffer of another protocol",
	 22809, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 8, 320, 352, MiB}},
	/* Chunks of 1 KiB of data: 40 of 40000 bytes. */
	{TAP_CCL_LL, 16 * KiB,
	 {"a reduction with LL and a small buffer",
	 22809, "Reduce", "RING", "LL", 10000, 4, 1, 1, {3, 0, 1, 0}, 0,
	 40, 80000, 80640, 2 * KiB}},
	{TAP_CCL_SIMPLE, TAP_CCL_UNKNOWN,
	 {"a buffer whose size is not known",
	 22809, "AllReduce", "RING", "SIMPLE", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 -1, 0, 0, 0}},
	{TAP_CCL_LL, 16,
	 {"a buffer without room for a chunk",
	 22809, "AllReduce", "RING", "LL", 64, 4, -1, 1, {3, 0, 1, 0}, 0,
	 -1, 0, 0, 0}},
};
/* clang-format on */

static bool is_as_worked_out(const struct line *line, const struct tap_ccl_sizes *sizes)
{
	struct tap_ccl_work work =
		tap_ccl_work_named(line->collective, line->algorithm, line->protocol);
	struct tap_expected found = {0};
	bool is_found;

	work.version = line->version;
	work.count = line->count;
	work.element_bytes = line->element_bytes;
	work.root = line->root;
	work.channel_mask = line->channel_mask;
	work.sizes = *sizes;
	is_found = tap_expected_find(&work, &line->place, line->asked, &found);
	if (!is_found && line->messages < 0)
		return true;
	printf("# %s %u messages, %llu to %llu bytes, none over %llu\n",
	       is_found ? "found" : "no rule:", found.messages,
	       (unsigned long long) found.least_bytes,
	       (unsigned long long) found.most_bytes,
	       (unsigned long long) found.largest_bytes);
	return is_found && found.messages == line->messages &&
	       found.least_bytes == line->least_bytes &&
	       found.most_bytes == line->most_bytes &&
	       found.largest_bytes == line->largest_bytes;
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int main(void)
{
	size_t i;

	printf("1..%zu\n", COUNT(lines) + COUNT(sized_lines) + 1);
	for (i = 0; i < COUNT(lines); i++)
		ok(is_as_worked_out(&lines[i], &(struct tap_ccl_sizes){0}),
		   lines[i].what);
	for (i = 0; i < COUNT(sized_lines); i++) {
		const struct sized_line *sized = &sized_lines[i];
		struct tap_ccl_sizes sizes = {0};

		sizes.buffers[sized->protocol] = sized->buffer;
		ok(is_as_worked_out(&sized->line, &sizes), sized->line.what);
	}
	ok(!tap_expected_has_rule(21701) && tap_expected_has_rule(21803) &&
		   tap_expected_has_rule(23007) && !tap_expected_has_rule(23102),
	   "releases with a rule");
	return 0;
}
