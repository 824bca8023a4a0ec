/* SPDX-License-Identifier: MIT */
/*
 * NVTX: ranges that a program and its libraries announce to tools.  NCCL announces its
 * calls, also where it is linked statically and no wrapper can intercept them.
 *
 * It hides how NVTX finds a tool (NVTX_INJECTION64_PATH names this library), and that
 * each object which contains NVTX attaches to the tool separately.
 */
#ifndef TAP_INTERCEPT_NVTX_NVTX_H
#define TAP_INTERCEPT_NVTX_NVTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "intercept/nvtx/nvtx_abi.h"
#include "intercept/nvtx/nvtx_stack.h"

/* The longest text of a range that is recorded, with the terminating NUL. */
#define TAP_NVTX_TEXT 256

struct tap_nvtx_schemas;

struct tap_nvtx_domain {
	char name[64];
	bool is_nccl;
	const void *within;		  /* an address in the NCCL library of this
					     domain */
	struct tap_nvtx_schemas *schemas; /* NULL: payloads are not read */
};

/* The target of a registered string's handle. */
struct tap_nvtx_string {
	const char *function; /* the row's name, NULL when the text is not the name of a
				 row */
	const char *text;
};

/* Whether any NCCL has begun to announce its calls through NVTX. */
bool tap_nvtx_sees_nccl(void) tap_hidden;

/*
 * Whether events may be written; starts LTTng if need be.  Costs nothing once the start
 * has failed.
 */
bool tap_nvtx_is_started(void) tap_hidden;

/* nvtx_call.c: a range in NCCL's domain that has the name of a row. */
void tap_nvtx_call_begin(const struct tap_nvtx_domain *domain, const char *function,
			 const struct nvtx_abi_attributes *attributes) tap_hidden;
void tap_nvtx_call_end(const struct tap_nvtx_level *level,
		       const struct nvtx_abi_data *data, size_t nr) tap_hidden;

/* nvtx_range.c: any other range, where the user enables them; attributes may be NULL. */
void tap_nvtx_range_begin(const struct tap_nvtx_domain *domain,
			  const struct nvtx_abi_attributes *attributes) tap_hidden;
void tap_nvtx_range_end(uint64_t call_id) tap_hidden;
/*
 * Begins a range that any thread may end; returns its number for tap_nvtx_range_end(), or
 * 0.
 */
uint64_t tap_nvtx_range_start(const struct tap_nvtx_domain *domain,
			      const struct nvtx_abi_attributes *attributes) tap_hidden;
void tap_nvtx_mark(const struct tap_nvtx_domain *domain,
		   const struct nvtx_abi_attributes *attributes) tap_hidden;

/* Converts a wide string to UTF-8, truncated to size. */
void tap_nvtx_narrow(const wchar_t *wide, char *ret_text, size_t size) tap_hidden;

#endif
