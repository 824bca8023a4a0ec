/* SPDX-License-Identifier: MIT */
/*
 * What a NCCL tells its kernel: since 2.22 the arguments are one buffer that the host can
 * read, with the communicator, the channels and the number of each device function.
 *
 * It hides how a buffer is laid out and what is not to be believed about it.  A byte is
 * read only where the launch says that the buffer has one, and only for a release whose
 * layout is known; what the numbers mean is left to the reader.
 */
#ifndef TAP_INTERCEPT_CUDA_NCCL_ARGS_H
#define TAP_INTERCEPT_CUDA_NCCL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "tracepoints/cuda_events.h"

/* An event, and in how many bytes it is written: its arrays follow what they have room
 * for. */
struct tap_nccl_args_event {
	struct tap_cuda_nccl_args record;
	uint8_t arrays[TAP_NCCL_FUNCTIONS_MAX * (sizeof(uint16_t) + sizeof(uint8_t))];
} __attribute__((packed));

/* Whether the layout of a release, as 22809, is known. */
bool tap_nccl_args_known(uint32_t version) tap_hidden;

/* The buffer that a launch's `extra` names, NULL and 0 when it names none. */
const void *tap_nccl_args_buffer(void *const *extra, size_t *ret_size) tap_hidden;

/*
 * Reads a buffer of a known release.  Returns the bytes of the event, 0 when that cannot
 * be NCCL's arguments.  call_id is left to the caller.
 */
size_t tap_nccl_args_read(struct tap_nccl_args_event *ret_event, const void *buffer,
			  size_t size, uint32_t version) tap_hidden;

#endif
