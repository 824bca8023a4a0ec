/* SPDX-License-Identifier: MIT */
/*
 * `ccltap top` on a terminal, until its user has seen enough. Hides ncurses, that this
 * may be built without it, the keys, and that a supervisor may not answer for a while.
 */
#ifndef TAP_TOOLS_TOP_SCREEN_H
#define TAP_TOOLS_TOP_SCREEN_H

#include "tools/counting.h"
#include "tools/top_look.h"
#include "tools/top_table.h"

struct tap_top_wish {
	double interval_s;
	enum tap_top_key key;
	bool is_reversed;
	char filter[64];
};

/*
 * Shows one of these recordings, which the user chooses where there are several. Returns
 * an exit status, after a message where it is not 0 or where the recording has ended.
 */
int tap_top_screen_run(const struct tap_countings *found, struct tap_top_wish *wish);

#endif
