/* SPDX-License-Identifier: MIT */
/*
 * The values that NCCL gives NVTX with a range.
 *
 * It hides how they lie in memory, which NCCL describes itself: a schema names each value
 * and says where it is.  So a release that adds a value or moves one is read as well, and
 * what has no name that is known here is left out.
 */
#ifndef TAP_INTERCEPT_NVTX_NVTX_SCHEMA_H
#define TAP_INTERCEPT_NVTX_NVTX_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "intercept/nvtx/nvtx_abi.h"
#include "tracepoints/events.h"

#define TAP_NVTX_SCHEMAS 48

/* What one instance of NCCL has described; all zero at first. */
struct tap_nvtx_schemas {
	uint32_t nr;
	struct tap_nvtx_schema {
		uint64_t id;
		size_t size; /* 0 when it was not told */
		uint32_t nr;
		struct {
			uint16_t offset;
			uint8_t size;
			bool is_signed;
			uint8_t value; /* its place in tap_nvtx_values */
		} at[TAP_NVTX_NR];
	} all[TAP_NVTX_SCHEMAS];
};

/* Returns the schema's number, which is its own if it has one. */
uint64_t tap_nvtx_schema_add(struct tap_nvtx_schemas *schemas,
			     const struct nvtx_abi_schema *from) tap_hidden;

/* Adds what nr pieces of memory hold to *values; they are read here and not kept. */
void tap_nvtx_schema_read(const struct tap_nvtx_schemas *schemas,
			  const struct nvtx_abi_data *data, size_t nr,
			  struct tap_nvtx_values *values) tap_hidden;

void tap_nvtx_schemas_fork_child(void) tap_hidden;

#endif
