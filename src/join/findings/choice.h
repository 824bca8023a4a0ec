/* SPDX-License-Identifier: MIT */
/*
 * Which findings filters choose.  The analyses get the whole trace: of half of it they
 * would find what is not so.
 *
 * Hides what the filters of calls mean for a finding, which may be about several ranks,
 * and of which some of this may be unknown.
 */
#ifndef TAP_JOIN_FINDINGS_CHOICE_H
#define TAP_JOIN_FINDINGS_CHOICE_H

#include "join/findings/finding.h"
#include "join/model/context.h"
#include "join/views/filters.h"

/* That something cannot be told passes always: a filter must not hide it. */
bool tap_finding_passes(const struct tap_finding *finding,
			const struct tap_filters *filters,
			const struct tap_context *context);

#endif
