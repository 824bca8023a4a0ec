/* SPDX-License-Identifier: MIT */
/*
 * A filter after each source, which passes on the source's messages and notes which
 * stream is about to be read. Hides how a stream is ended before the point at which
 * babeltrace2 died, and how babeltrace2's errors are worded for users.
 */
#ifndef TAP_TOOLS_WATCHED_H
#define TAP_TOOLS_WATCHED_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/watch.h"

/*
 * Adds a filter with an output port for each port of the source, connected to it.
 * `number` is the trace's number in the watch, `path` the path in its stops. Returns NULL
 * when it cannot be made, and babeltrace2 knows the cause.
 */
const bt_component_filter *tap_watched_add(bt_graph *graph,
					   const bt_component_source *source,
					   struct tap_watch *watch, unsigned int number,
					   const char *path);

/*
 * Fills in babeltrace2's first cause of the error, worded for users, and clears the
 * error.
 */
void tap_watched_take_cause(char *text, size_t size);

#endif
