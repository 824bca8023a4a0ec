/* SPDX-License-Identifier: MIT */
/*
 * Memory regions: which bytes of which process a request names.
 *
 * A key names a region of one context, and is given out again.  Hides that several have
 * the same one.
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
	uint64_t context_id; /* keys are its own */
	uint64_t addr, length, rkey;
	struct tap_mr *older; /* with the same key */
};

/* All zero is none. */
struct tap_memory {
	struct tap_table by_id;	 /* (process, number) */
	struct tap_table by_key; /* (process, rkey) */
};

/* Takes an event.  The region that it adds, or NULL.  Returns 0 or -errno. */
int tap_memory_registered(struct tap_memory *memory, const struct tap_process *process,
			  const struct tap_event *event, const struct tap_mr **added);
void tap_memory_freed(struct tap_memory *memory, const struct tap_process *process,
		      const struct tap_event *event);

/* The region that has these bytes now for those who talk to qp, or NULL. */
const struct tap_mr *tap_memory_find(const struct tap_memory *memory,
				     const struct tap_qp *qp, uint64_t rkey,
				     uint64_t addr, uint64_t length);
/* Whether there is a region of just these bytes. */
bool tap_memory_has(const struct tap_memory *memory, const struct tap_process *process,
		    uint64_t addr, uint64_t length);

void tap_memory_free(struct tap_memory *memory);

#endif
