/* SPDX-License-Identifier: MIT */
/*
 * The layout is from device.h of 2.22 to 2.30, and from the debugging information of 2.31
 * and 2.32; the parameters before that are from enqueue.cc of 2.18 to 2.21
 * (ncclLaunchKernel; 2.18.3: line 1043).
 */
#include "intercept/cuda/nccl_args.h"

#include <string.h>

/* As in cuda.h. */
#define PARAM_END ((void *) 0)
#define PARAM_POINTER ((void *) 1)
#define PARAM_SIZE ((void *) 2)
#define NR_PARAMS 8 /* more than CUDA defines */

#define SIZE_MAX_BYTES 32768 /* limit of a kernel's arguments */
#define NR_STORAGES 3

struct header {
	uint64_t comm, channel_mask;
	uint32_t work_storage; /* in its low 8 bits */
	uint32_t work_mask;
	uint64_t work_buf;
};

struct batch {
	uint32_t flags; /* from bit 0: jump 14, extends 1, work type 2, function */
	uint32_t offset_base;
	uint64_t offset_bits;
};

#define JUMP 0x3fff
#define TYPE_SHIFT 15
#define TYPE 3
#define FUNCTION_SHIFT 17

/* One more than arguments of 4 KiB can hold. */
#define NR_BATCHES 255

#define OLDEST 21800
#define BUFFER 22200 /* the first release with a buffer */

bool tap_nccl_args_known(uint32_t version)
{
	return version >= OLDEST && version < 23300;
}

const void *tap_nccl_args_buffer(void *const *extra, size_t *ret_size)
{
	const void *buffer = NULL;
	const size_t *size = NULL;
	unsigned i;

	for (i = 0; extra && i < 2 * NR_PARAMS && extra[i] != PARAM_END; i += 2) {
		if (extra[i] == PARAM_POINTER)
			buffer = extra[i + 1];
		else if (extra[i] == PARAM_SIZE)
			size = extra[i + 1];
		else
			break;
	}
	*ret_size = buffer && size ? *size : 0;
	return *ret_size ? buffer : NULL;
}

/*
 * Each pair of function and work type once, in the order of batches.  Bit n of `known` is
 * set when last[n] is.
 */
struct found {
	uint32_t keys[TAP_NCCL_FUNCTIONS_MAX];
	unsigned nr;
	uint64_t known;
	uint32_t last[64];
};

tap_apart static bool search(const struct found *found, uint32_t key)
{
	unsigned i;

	for (i = 0; i < found->nr; i++)
		if (found->keys[i] == key)
			return true;
	return false;
}

/* Returns false when there is no room for key. */
static inline bool note(struct found *found, uint32_t key)
{
	const unsigned place = key >> FUNCTION_SHIFT & 63;
	const uint64_t bit = 1ull << place;

	if (likely(found->known & bit)) {
		if (likely(found->last[place] == key) || search(found, key))
			return true;
	}
	if (found->nr == TAP_NCCL_FUNCTIONS_MAX)
		return false;
	found->known |= bit;
	found->last[place] = key;
	found->keys[found->nr++] = key;
	return true;
}

static size_t write_arrays(struct tap_nccl_args_event *event, const struct found *found)
{
	uint8_t *at = event->arrays, *const types = at + found->nr * sizeof(uint16_t);
	unsigned i;

	for (i = 0; i < found->nr; i++) {
		const uint16_t id = (uint16_t) (found->keys[i] >> FUNCTION_SHIFT);

		memcpy(at, &id, sizeof(id));
		types[i] = found->keys[i] >> TYPE_SHIFT & TYPE;
		at += sizeof(id);
	}
	event->record.nr_functions = (uint8_t) found->nr;
	return sizeof(event->record) + (size_t) (types + found->nr - event->arrays);
}

static inline uint32_t flags_of(const char *batches, size_t i)
{
	uint32_t flags;

	memcpy(&flags, batches + i * sizeof(struct batch), sizeof(flags));
	return flags;
}

/*
 * Whether each channel has one batch, as nearly always, and whether all have one
 * function.
 */
static bool are_single(const char *batches, size_t count, bool *ret_are_alike)
{
	const uint32_t first = flags_of(batches, 0);
	uint32_t all = first;
	size_t i = 1;

	while (i < count && flags_of(batches, i) == first)
		i++;
	*ret_are_alike = i == count;
	for (; i < count; i++)
		all |= flags_of(batches, i);
	return !(all & JUMP);
}

size_t tap_nccl_args_read_parameters(struct tap_nccl_args_event *ret_event,
				     void *const *parameters, uint32_t version)
{
	uint64_t comm, channel_mask;

	if (version >= BUFFER || !parameters[0] || !parameters[1])
		return 0;
	memcpy(&comm, parameters[0], sizeof(comm));
	memcpy(&channel_mask, parameters[1], sizeof(channel_mask));
	if (!comm || !channel_mask)
		return 0;
	ret_event->record = (struct tap_cuda_nccl_args){
		.comm = comm,
		.channel_mask = channel_mask,
		.version = version,
	};
	return sizeof(ret_event->record);
}

size_t tap_nccl_args_read(struct tap_nccl_args_event *ret_event, const void *buffer,
			  size_t size, uint32_t version)
{
	/* Since 2.32 the function's number has 11 bits, with its collective above. */
	const uint32_t bits = (version < 23200 ? UINT32_MAX : 0x0fffffff) &
			      ~(uint32_t) ((1 << TYPE_SHIFT) - 1);
	const char *batches;
	struct found found;
	struct header header;
	uint32_t flags;
	uint64_t mask;
	unsigned nr_batches = 0;
	bool is_complete = true, are_alike;
	size_t nr, channel, at;

	if (version < BUFFER || size < sizeof(header) + sizeof(struct batch) ||
	    size > SIZE_MAX_BYTES)
		return 0;
	memcpy(&header, buffer, sizeof(header));
	batches = (const char *) buffer + sizeof(header);
	if (!header.comm || !header.channel_mask ||
	    (header.work_storage & 0xff) >= NR_STORAGES)
		return 0;
	nr = (size - sizeof(header)) / sizeof(struct batch);
	found.nr = 0;
	found.known = 0;
	mask = header.channel_mask;
	channel = (size_t) __builtin_popcountll(mask);
	if (channel <= nr && are_single(batches, channel, &are_alike)) {
		nr_batches = (unsigned) channel;
		for (at = 0; at < (are_alike ? 1 : channel); at++)
			is_complete &= note(&found, flags_of(batches, at) & bits);
		mask = 0;
	}
	/* Batch n is the first of the n-th channel, and each batch leads to the next. */
	for (channel = 0; mask; mask &= mask - 1, channel++) {
		for (at = channel, flags = JUMP; flags & JUMP; at += flags & JUMP) {
			if (unlikely(at >= nr || nr_batches == NR_BATCHES)) {
				is_complete = false;
				break;
			}
			flags = flags_of(batches, at);
			nr_batches++;
			is_complete &= note(&found, flags & bits);
		}
	}
	ret_event->record = (struct tap_cuda_nccl_args){
		.comm = header.comm,
		.channel_mask = header.channel_mask,
		.version = version,
		.args_bytes = (uint32_t) size,
		.nr_batches = (uint16_t) nr_batches,
		.work_storage = header.work_storage & 0xff,
		.complete = is_complete,
	};
	return write_arrays(ret_event, &found);
}
