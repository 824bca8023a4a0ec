/* SPDX-License-Identifier: MIT */
/* How `ccltap top` gets its table from a supervisor. Hides the descriptor that has it. */
#ifndef TAP_TOOLS_TOP_LOOK_H
#define TAP_TOOLS_TOP_LOOK_H

#include <stddef.h>

#include "tools/counting.h"
#include "tools/top_table.h"

/*
 * Looks once. `await` is as of tap_link_request_awaiting(), NULL: nothing else is to be
 * done meanwhile. Returns 0; -EPIPE when the recording has ended; or another -errno, with
 * the reason in `why`.
 */
int tap_top_look(const struct tap_counting *counting, struct tap_top_table *table,
		 int (*await)(int link, unsigned seconds), char *why, size_t size);

#endif
