/* SPDX-License-Identifier: MIT */
/*
 * What to look at of a finding: the ranks at fault, from when to when.
 *
 * Hides which processes the ranks of a finding are, where its beginning and end are, and that
 * these may be unknown.
 */
#ifndef TAP_JOIN_REPORT_FOCUS_H
#define TAP_JOIN_REPORT_FOCUS_H

#include "common/vec.h"
#include "join/findings/finding.h"
#include "join/model/context.h"

struct tap_culprits {
	TAP_VEC(const struct tap_process *);
};

/*
 * Adds the processes at fault that the trace knows; where the finding has ranks only, by
 * their communicator, or by the ranks of the job.  Returns 0 or -ENOMEM.
 */
int tap_focus_add_culprits(struct tap_culprits *culprits,
			   const struct tap_finding *finding,
			   const struct tap_context *context);

/*
 * Adds three lines, values of the filters rank, begin and end; an empty line: everything
 * passes.  A rank that is missing did nothing in that time: some that wait for it come
 * with it.  Returns 0 or -ENOMEM.
 */
int tap_focus_add(struct tap_buffer *text, const struct tap_finding *finding,
		   const struct tap_context *context);

#endif
