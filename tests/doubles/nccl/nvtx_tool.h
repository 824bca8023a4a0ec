/* SPDX-License-Identifier: MIT */
/*
 * The tool that NVTX_INJECTION64_PATH names, which a library speaks to without linking
 * it. Hides how NVTX's headers find it, and the tables of functions that it fills in.
 */
#ifndef MINI_NCCL_NVTX_TOOL_H
#define MINI_NCCL_NVTX_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* nvtxPayloadSchemaEntry_t. */
struct mini_nvtx_entry {
	uint64_t flags;
	uint64_t type;
	const char *name;
	const char *description;
	uint64_t detail;
	uint64_t offset;
	const void *semantics;
	const void *reserved;
};

/* nvtxPayloadData_t. */
struct mini_nvtx_payload {
	uint64_t schema;
	size_t size;
	const void *data;
};

/* Looks once. */
bool mini_nvtx_has_tool(void);
void *mini_nvtx_create_domain(const char *name);
void *mini_nvtx_register_text(void *domain, const char *text);
void mini_nvtx_register_schema(void *domain, uint64_t number,
			       const struct mini_nvtx_entry *entries, size_t count,
			       size_t size);
void mini_nvtx_register_reductions(void *domain, uint64_t number);
/* The payload may be NULL. */
void mini_nvtx_push(void *domain, void *text, const struct mini_nvtx_payload *payload);
void mini_nvtx_pop(void *domain, const struct mini_nvtx_payload *payload);
void mini_nvtx_name(uint32_t thread, const char *name);

#endif
