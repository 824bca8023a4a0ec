/* SPDX-License-Identifier: MIT */
/*
 * A filter after each source, which hands on what the source makes and notes of which
 * stream it is about to be made.  Hides how a stream ends before what babeltrace2 died
 * of, and what babeltrace2's errors are called to people.
 */
#ifndef TAP_TOOLS_WATCHED_H
#define TAP_TOOLS_WATCHED_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/watch.h"

/*
 * A filter with a port out for each port of the source, connected to it.  The trace has
 * this number in the watch, and the path that stops name.  NULL: it cannot be made, and
 * babeltrace2 knows the cause.
 */
const bt_component_filter *tap_watched_add(bt_graph *graph,
					   const bt_component_source *source,
					   struct tap_watch *watch, unsigned int number,
					   const char *path);

/* What babeltrace2 says was wrong first, as a person can use it; and forgets it. */
void tap_watched_take_cause(char *text, size_t size);

#endif
