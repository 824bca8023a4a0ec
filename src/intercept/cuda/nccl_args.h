/* SPDX-License-Identifier: MIT */
/*
 * The arguments that NCCL gives its kernel: since 2.22 they are one buffer that the host
 * can read, with the communicator, the channels and the number of each device function.
 * From 2.18 on to that they are three parameters, of which two are the communicator and
 * the channels; the functions are in the device's memory.
 *
 * It hides the layouts and the checks on them.  The tracer reads a byte only within the
 * size that the launch gives, or that the kernel's name says of its parameters, and only
 * for a release whose layout is known; the reader interprets the numbers.
 */
#ifndef TAP_INTERCEPT_CUDA_NCCL_ARGS_H
#define TAP_INTERCEPT_CUDA_NCCL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "tracepoints/cuda_events.h"

/* An event as it is written: the record, then its arrays, without unused elements. */
struct tap_nccl_args_event {
	struct tap_cuda_nccl_args record;
	uint8_t arrays[TAP_NCCL_FUNCTIONS_MAX * (sizeof(uint16_t) + sizeof(uint8_t))];
} __attribute__((packed));

/* Whether the layout of a release, such as 22809, is known. */
bool tap_nccl_args_known(uint32_t version) tap_hidden;

/* The buffer that a launch's `extra` names; NULL and 0 when `extra` names none. */
const void *tap_nccl_args_buffer(void *const *extra, size_t *ret_size) tap_hidden;

/*
 * Reads the parameters of a kernel whose name says that they are a pointer, a uint64_t
 * and a pointer.  Returns the event's size in bytes, 0 when they cannot be those of that
 * release.  The caller sets call_id.
 */
size_t tap_nccl_args_read_parameters(struct tap_nccl_args_event *ret_event,
				     void *const *parameters,
				     uint32_t version) tap_hidden;

/*
 * Reads a buffer of a known release.  Returns the event's size in bytes, 0 when the
 * buffer cannot hold NCCL's arguments.  The caller sets call_id.
 */
size_t tap_nccl_args_read(struct tap_nccl_args_event *ret_event, const void *buffer,
			  size_t size, uint32_t version) tap_hidden;

#endif
