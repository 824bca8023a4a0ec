/* SPDX-License-Identifier: MIT */
/*
 * What a launch of a NCCL kernel is asked for beside what any launch is: arguments
 * none|alike|mixed BURSTS TURNS PAUSE-US reads a buffer of 24 channels, whose batches are
 * of one function or of four, as a launch names it.
 */
#include <string.h>

#include "bursts.h"
#include "intercept/cuda/nccl_args.h"

#define NR_CHANNELS 24
#define VERSION 22809

static struct {
	uint64_t comm, channel_mask;
	uint32_t work_storage, work_mask;
	uint64_t work_buf;
	struct {
		uint32_t flags, offset_base;
		uint64_t offset_bits;
	} batches[NR_CHANNELS];
} buffer = {.comm = 0x7f0000001000, .channel_mask = (1u << NR_CHANNELS) - 1};

static size_t size = sizeof(buffer);
static void *extra[] = {(void *) 1, &buffer, (void *) 2, &size, (void *) 0};

static void none(long turns)
{
	long i;

	for (i = 0; i < turns; i++)
		__asm__ volatile("" : : "r"(extra) : "memory");
}

static void read_them(long turns)
{
	struct tap_nccl_args_event event;
	const void *at;
	size_t length;
	long i;

	for (i = 0; i < turns; i++) {
		at = tap_nccl_args_buffer(extra, &length);
		if (!at || !tap_nccl_args_read(&event, at, length, VERSION))
			abort();
		__asm__ volatile("" : : "r"(&event) : "memory");
	}
}

int main(int argc, char **argv)
{
	const int kinds = argc > 1 && !strcmp(argv[1], "mixed") ? 4 : 1;
	int i;

	if (argc != 5)
		return 2;
	for (i = 0; i < NR_CHANNELS; i++)
		buffer.batches[i].flags = (uint32_t) (100 + i * kinds / NR_CHANNELS)
					  << 17;
	return bursts_print(strcmp(argv[1], "none") ? read_them : none,
			    strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10),
			    strtol(argv[4], NULL, 10));
}
