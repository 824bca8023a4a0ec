/* SPDX-License-Identifier: MIT */
/*
 * What the tracer could not observe in the program, for those who say so: the verdict that
 * nothing is wrong, and the check.
 *
 * Hides how what is alike in several processes becomes one line.
 */
#ifndef TAP_JOIN_FINDINGS_UNOBSERVED_H
#define TAP_JOIN_FINDINGS_UNOBSERVED_H

#include "common/vec.h"
#include "join/base/buffer.h"
#include "join/base/json.h"
#include "join/model/span.h"

struct tap_unobserved_kind {
	char *what;
	char *why;    /* "": not known */
	char *detail; /* why, and when if that is known: of the first */
	uint64_t count;
	TAP_VEC(const struct tap_process *) processes;
};

/* All zero: nothing yet. */
struct tap_unobserved {
	TAP_VEC(struct tap_unobserved_kind) kinds;
	uint64_t others; /* beyond the kinds that are kept */
};

/*
 * Notes a problem, if it is one of this sort; keeps at most `most` kinds.  Returns 0 or
 * -ENOMEM.
 */
int tap_unobserved_add(struct tap_unobserved *unobserved, size_t most,
		       const struct tap_problem *problem);

/* "kernels on the GPU: CUPTI is absent (8 processes)" */
void tap_unobserved_add_kind(struct tap_buffer *text,
			     const struct tap_unobserved_kind *kind);

void tap_unobserved_free(struct tap_unobserved *unobserved);

#endif
