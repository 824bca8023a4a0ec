/* SPDX-License-Identifier: MIT */
/*
 * Memory regions: finds the region of a peer's memory that a request names.
 *
 * Hides that several regions of a process may have the same rkey: a key is valid in one
 * context only, and the device reuses it.
 */
#ifndef TAP_JOIN_RDMA_MEMORY_H
#define TAP_JOIN_RDMA_MEMORY_H

#include "join/base/table.h"

#include <stdbool.h>

struct tap_event;
struct tap_process;
struct tap_qp;

struct tap_mr {
	uint64_t id;
	uint64_t context_id; /* an rkey is valid in this context only */
	uint64_t addr, length, rkey;
	struct tap_mr *older; /* with the same rkey */
};

/* Empty when all zero. */
struct tap_memory {
	struct tap_table by_id;	 /* (process, number) */
	struct tap_table by_key; /* (process, rkey) */
};

/*
 * Takes the event of a registration.  Sets *added to the new region, or to NULL.  Returns
 * 0 or -errno.
 */
int tap_memory_registered(struct tap_memory *memory, const struct tap_process *process,
			  const struct tap_event *event, const struct tap_mr **added);
void tap_memory_freed(struct tap_memory *memory, const struct tap_process *process,
		      const struct tap_event *event);

/* The region that now has these bytes and that qp's peers reach with rkey, or NULL. */
const struct tap_mr *tap_memory_find(const struct tap_memory *memory,
				     const struct tap_qp *qp, uint64_t rkey,
				     uint64_t addr, uint64_t length);
/* Whether a region has exactly these bounds. */
bool tap_memory_has(const struct tap_memory *memory, const struct tap_process *process,
		    uint64_t addr, uint64_t length);

void tap_memory_free(struct tap_memory *memory);

#endif
