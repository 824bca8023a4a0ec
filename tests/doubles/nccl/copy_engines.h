/* SPDX-License-Identifier: MIT */
/* What a communicator has for collectives by copy engines; see copies.h. */
#ifndef MINI_NCCL_COPY_ENGINES_H
#define MINI_NCCL_COPY_ENGINES_H

#include <cuda.h>
#include <nccl.h>
#include <stdbool.h>
#include <stdint.h>

/* NCCL's ncclCeColl. */
struct mini_copy_engines {
	/* A word for each rank, twice: it is ready, and it is done.  NULL: not yet. */
	uint32_t *words;
	ncclWindow_t window;
	/* How often the ranks have met, and by which of the two they meet next. */
	uint32_t sequence;
	bool is_done_next;
	/* After the last copies that no graph has. */
	CUevent last;
};

#endif
