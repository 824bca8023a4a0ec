/* SPDX-License-Identifier: MIT */
/*
 * `--finding N`: shows what a finding of `ccltap why` is about, the ranks at fault in its
 * interval. Hides that the traces are read once more before, since findings are known last.
 */
#ifndef TAP_TOOLS_FOCUS_H
#define TAP_TOOLS_FOCUS_H

#include "tools/filters.h"

/* All zero is no focus. */
struct tap_focus {
	const char *finding; /* as the user gave it; NULL: not given */
	char values[3 * 4096]; /* of the filters */
};

/*
 * Sets the filters for the finding. Returns an exit status, after one line on stderr when
 * it is not 0.
 */
int tap_focus_find(struct tap_focus *focus, char *const *folders, int count,
		   struct tap_filters_view *filters);

#endif
