/* SPDX-License-Identifier: MIT */
/*
 * How many messages NCCL sends for sends, against numbers that were worked out by hand
 * from its source (transfer.h says where each rule is), and which shapes messages leave.
 */
#include "join/nccl/transfer.h"
#include "unit/tap.h"

#define KiB UINT64_C(1024)
#define MiB (1024 * KiB)
#define ANY UINT64_MAX

struct run {
	struct tap_sends sends;
	uint64_t messages, bytes; /* that it was found to have */
};

struct line {
	const char *what;
	struct run found[2]; /* no sends: none */
	struct tap_sends sends;
	int64_t least, most; /* -1: no shape is left */
	bool is_single;
	uint64_t bytes; /* where is_single */
};

#define SENDS_OF(release, ...) \
	{ \
		{__VA_ARGS__}, sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), \
			release, \
		{ \
			.buffers = { 0 } \
		} \
	}
#define NO_SENDS \
	{ \
		.count = 0 \
	}
#define SENDS(...) SENDS_OF(22809, __VA_ARGS__)
/* One send, with a buffer of so many bytes. */
#define SEND_BY(release, buffer, send) \
	{ \
		{send}, 1, release, \
		{ \
			.buffers[TAP_CCL_SIMPLE] = buffer \
		} \
	}

/* One send that may use LL, with a buffer of so many bytes. */
#define SEND_BY_LL(release, buffer, send) \
	{ \
		{send}, 1, release, \
		{ \
			.buffers[TAP_CCL_LL] = buffer, .has_ll_sends = 1 \
		} \
	}

/* clang-format off */
static const struct line lines[] = {
	/* Another channel has all of it; or this one, in chunks of 32 KiB. */
	{"a send on any connection", {{NO_SENDS, 0, 0}}, SENDS(100000), 0, 4, false, 0},
	/* One channel, so this one: 2 chunks of 32 KiB. */
	{"less, where a send of one channel is known",
	 {{SENDS(100000), 4, 100000}}, SENDS(64 * KiB), 2, 2, true, 64 * KiB},
	{"nothing is one message, on the first channel",
	 {{SENDS(100000), 4, 100000}}, SENDS(0), 1, 1, true, 0},
	{"two sends of one kernel",
	 {{SENDS(100000), 4, 100000}}, SENDS(64 * KiB, 0), 3, 3, true, 64 * KiB},
	/* 1 MiB in chunks of 128 KiB, if no send uses more channels; else in two parts, ... */
	{"more, where only a small send is known",
	 {{SENDS(100000), 4, 100000}}, SENDS(MiB), 1, 8, false, 0},
	{"more, where a large send is known, too",
	 {{SENDS(100000), 4, 100000}, {SENDS(MiB), 8, MiB}}, SENDS(2 * MiB),
	 16, 16, true, 2 * MiB},
	/* Two parts of 64 KiB and less: 52 KiB, and 46752 bytes, each in 2 chunks. */
	{"the second part of two", {{SENDS(100000), 2, 46752}}, SENDS(0), 0, 0, true, 0},
	/* 120000 bytes are 61440 and 58560, whatever shape has two channels for them. */
	{"the second part of another send",
	 {{SENDS(100000), 2, 46752}}, SENDS(120000), 2, 2, true, 58560},
	/* On one node the smallest part has 16 KiB, so that 40000 bytes are two. */
	{"less than two parts on several nodes",
	 {{SENDS(100000), 2, 46752}}, SENDS(40000), 0, 1, false, 0},
	{"no send of NCCL's has so many", {{SENDS(100000), 3, ANY}}, SENDS(0), -1, 0, false, 0},
	{"no part has so many bytes", {{SENDS(100000), 4, 99999}}, SENDS(0), -1, 0, false, 0},
	/* One of 32 parts in chunks of 512 KiB; all of it in chunks of 128 KiB. */
	{"the largest", {{NO_SENDS, 0, 0}}, SENDS(TAP_SEND_BYTES_MAX),
	 1 << 16, 1 << 23, false, 0},
	/* The same in chunks of 4 KiB; more sends of that are fewer than 2^32 messages. */
	{"the largest by the smallest buffer", {{NO_SENDS, 0, 0}},
	 SEND_BY(22809, 32 * KiB, TAP_SEND_BYTES_MAX), 1 << 23, 1 << 28, false, 0},
	/* Before 2.22, 300000 bytes are three parts of 80 KiB and one of 54240 bytes. */
	{"the first parts of four of an old release",
	 {{SENDS_OF(21803, 300000), 3, 81920}}, SENDS_OF(21803, 300000), 3, 3, true, 81920},
	/* Two of 128 KiB and one of 37856 bytes. */
	{"the same of 2.21, with parts of half a step",
	 {{SENDS_OF(22105, 300000), 2, 131072}}, SENDS_OF(22105, 300000), 2, 2, true, 131072},
	{"the same of an unknown release",
	 {{SENDS_OF(0, 300000), 3, 81920}}, SENDS_OF(0, 300000), 3, 3, true, 81920},
	{"no part of a new release is as large",
	 {{SENDS(300000), 3, 81920}}, SENDS(300000), -1, 0, false, 0},
	{"the fourth part, whose own size tells its chunks",
	 {{SENDS_OF(21803, 300000), 2, 54240}}, SENDS_OF(21803, 300000), 2, 2, true, 54240},
	/* A chunk is an eighth of the buffer: 13 of 8 KiB; 5 of half as much. */
	{"a small buffer", {{SEND_BY(22809, 64 * KiB, 100000), 13, 100000}},
	 SEND_BY(22809, 64 * KiB, 20000), 5, 5, true, 20000},
	{"a small buffer in 2.18", {{SEND_BY(21803, 64 * KiB, 100000), 4, 100000}},
	 SEND_BY(21803, 64 * KiB, 20000), 1, 1, true, 20000},
	/* Chunks of 12500 bytes, of which NCCL keeps 12288. */
	{"a buffer that is no power of two",
	 {{SEND_BY(22809, 100000, 100000), 9, 100000}},
	 SEND_BY(22809, 100000, 0), 1, 1, true, 0},
	/* 7 lines of 16 bytes; 1000 lines. */
	{"a send by LL", {{SEND_BY_LL(22809, 0, 52), 1, 112}},
	 SEND_BY_LL(22809, 0, 8000), 1, 1, true, 16000},
	{"nothing by LL", {{SEND_BY_LL(22809, 0, 52), 1, 112}},
	 SEND_BY_LL(22809, 0, 0), 1, 1, true, 0},
	/* Chunks of 512 bytes of data: one, and 61 lines. */
	{"a small buffer of LL", {{SEND_BY_LL(22809, 16 * KiB, 100), 1, 208}},
	 SEND_BY_LL(22809, 16 * KiB, 1000), 2, 2, true, 2000},
	{"LL where nobody has asked for it", {{SENDS(52), 1, 112}}, SENDS(52), -1, 0, false, 0},
	/* More than 16384 bytes for each of 32 channels at most. */
	{"a send that is too large for LL", {{SEND_BY_LL(22809, 0, MiB), 8, MiB}},
	 SEND_BY_LL(22809, 0, 2 * MiB), 16, 16, true, 2 * MiB},
	/* By LL three chunks of 16 KiB, or two by SIMPLE, where no more channels are there. */
	{"what one channel has no LL for", {{SEND_BY_LL(22809, 0, 52), 1, 112}},
	 SEND_BY_LL(22809, 0, 40000), 1, 3, false, 0},
	/* Since 2.29 several channels have LL only if it is divided among them. */
	{"the same, divided before", {{SEND_BY_LL(22907, 0, 52), 1, 112}},
	 SEND_BY_LL(22907, 0, 40000), 1, 2, false, 0},
	/* Chunks of 8 KiB of data, and from 2.20 on of 16. */
	{"LL in 2.18", {{SEND_BY_LL(21803, 0, 52), 1, 112}},
	 SEND_BY_LL(21803, 0, 10000), 2, 2, true, 20000},
	{"LL in 2.21", {{SEND_BY_LL(22105, 0, 52), 1, 112}},
	 SEND_BY_LL(22105, 0, 10000), 1, 1, true, 20000},
	{"nothing is one message of an old release, too",
	 {{SENDS_OF(21803, 100000), 4, 100000}}, SENDS_OF(21803, 0), 1, 1, true, 0},
};
/* clang-format on */

static bool is_as_worked_out(const struct line *line)
{
	struct tap_shapes shapes = {0};
	struct tap_sends_range range;
	size_t i;

	for (i = 0; i < 2 && line->found[i].sends.count; i++) {
		const struct run *run = &line->found[i];

		if (!tap_shapes_drop(&shapes, &run->sends, run->messages, run->messages,
				     run->bytes))
			return false;
	}
	range = tap_sends_find(&shapes, &line->sends);
	printf("# %u to %u messages, %s, %llu bytes\n", range.least, range.most,
	       range.is_single ? "all the same" : "several shapes",
	       (unsigned long long) range.first.least_bytes);
	if (line->least < 0 || !range.is_any)
		return line->least < 0 && !range.is_any;
	return range.least == line->least && range.most == line->most &&
	       range.is_single == line->is_single &&
	       (!range.is_single || range.first.least_bytes == line->bytes);
}

/* Of what is said to be undivided no shape of any release has more than a message each.
 */
static bool is_one_message_each(void)
{
	static const uint32_t releases[] = {0, 21803, 22105, 22203, 22907, 23007};
	struct tap_sends sends = {.count = 2};
	size_t i, has_ll;

	for (i = 0; i < 2 * sizeof(releases) / sizeof(releases[0]); i++)
		for (has_ll = 0; has_ll < 2; has_ll++)
			for (sends.bytes[0] = 0; sends.bytes[0] <= 1024;
			     sends.bytes[0]++) {
				const struct tap_shapes shapes = {0};

				sends.bytes[1] = 1024 - sends.bytes[0];
				sends.version = releases[i / 2];
				sends.sizes = (struct tap_ccl_sizes){
					.buffers = {[TAP_CCL_LL] = i % 2 ? 131072 : 0,
						    [TAP_CCL_SIMPLE] = i % 2 ? 65536 : 0},
					.chunks = {[TAP_CCL_NET] = i % 2 ? 8192 : 0},
					.has_ll_sends = has_ll};
				if (!tap_sends_are_undivided(&sends) ||
				    tap_sends_find(&shapes, &sends).most != 2)
					return false;
			}
	return true;
}

static bool is_undivided(uint32_t version, uint64_t bytes, uint64_t chunk)
{
	const struct tap_sends sends = {.bytes = {bytes},
					.count = 1,
					.version = version,
					.sizes.chunks[TAP_CCL_NET] = chunk};

	return tap_sends_are_undivided(&sends);
}

int main(void)
{
	size_t i;

	printf("1..%zu\n", sizeof(lines) / sizeof(lines[0]) + 3);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ok(is_as_worked_out(&lines[i]), lines[i].what);
	ok(!tap_sends_have_rule(22105) && tap_sends_have_rule(22203) &&
		   tap_sends_have_rule(23007) && !tap_sends_have_rule(23102),
	   "releases with a rule");
	ok(is_one_message_each(), "what is too little to be divided is one message");
	ok(is_undivided(21803, 1024, 0) && !is_undivided(21803, 1025, 0) &&
		   !is_undivided(21803, 1024, 4096) &&
		   !is_undivided(21803, 1024, TAP_CCL_UNKNOWN) &&
		   !is_undivided(23102, 0, 0) && !is_undivided(21704, 0, 0),
	   "nothing of that is said of large sends, small chunks and other releases");
	return 0;
}
