/* SPDX-License-Identifier: MIT */
/*
 * What NCCL announces to a tool by NVTX: a range for each call, with values that tell
 * what it is about.  Hides the tool, its tables, and what is registered with it before.
 */
#ifndef MINI_NCCL_NVTX_H
#define MINI_NCCL_NVTX_H

#include <stdbool.h>
#include <stdint.h>

enum mini_range_name {
#define RANGE(name, schema, told) MINI_RANGE_##name,
#include "nvtx.def"
#undef RANGE
	/* Of the host function of a graph. */
	MINI_RANGE_HOST_FUNCTION
};

struct mini_range {
	enum mini_range_name name;
	bool is_open;
	/* What is told at its end. */
	bool has_values;
	uint64_t values[8];
};

struct mini_range mini_range_begin(enum mini_range_name name);
/* Values in the order of nvtx.def: as many as it tells. */
struct mini_range mini_range_begin_with(enum mini_range_name name,
					const uint64_t *values);
void mini_range_tell(struct mini_range *range, const uint64_t *values);
void mini_range_end(struct mini_range *range);

/* Until the end of the block. */
#define MINI_RANGE(name) \
	struct mini_range range __attribute__((unused, cleanup(mini_range_end))) = \
		mini_range_begin(MINI_RANGE_##name)
#define MINI_RANGE_WITH(name, ...) \
	struct mini_range range __attribute__((unused, cleanup(mini_range_end))) = \
		mini_range_begin_with(MINI_RANGE_##name, \
				      (const uint64_t[8]){__VA_ARGS__})

/* The calling thread. */
void mini_nvtx_name_thread(const char *name);

#endif
