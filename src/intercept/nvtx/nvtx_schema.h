/* SPDX-License-Identifier: MIT */
/*
 * The payload values that NCCL passes to NVTX with a range.
 *
 * It hides their layout in memory, which NCCL describes: a schema gives the name and the
 * offset of each value.  The tracer can therefore read a release that adds or moves
 * values, and skips values with unknown names.
 */
#ifndef TAP_INTERCEPT_NVTX_NVTX_SCHEMA_H
#define TAP_INTERCEPT_NVTX_NVTX_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "intercept/nvtx/nvtx_abi.h"
#include "tracepoints/events.h"

#define TAP_NVTX_SCHEMAS 48

/* The schemas that one instance of NCCL has registered; all zero at first. */
struct tap_nvtx_schemas {
	uint32_t nr;
	struct tap_nvtx_schema {
		uint64_t id;
		size_t size; /* 0 when unknown */
		uint32_t nr;
		struct {
			uint16_t offset;
			uint8_t size;
			bool is_signed;
			uint8_t value; /* its index in tap_nvtx_values */
		} at[TAP_NVTX_NR];
	} all[TAP_NVTX_SCHEMAS];
};

/* Returns the schema's number: the one that the caller assigned, if any. */
uint64_t tap_nvtx_schema_add(struct tap_nvtx_schemas *schemas,
			     const struct nvtx_abi_schema *from) tap_hidden;

/* Reads the values in nr pieces of memory into *values and keeps no pointer to them. */
void tap_nvtx_schema_read(const struct tap_nvtx_schemas *schemas,
			  const struct nvtx_abi_data *data, size_t nr,
			  struct tap_nvtx_values *values) tap_hidden;

void tap_nvtx_schemas_fork_child(void) tap_hidden;

#endif
