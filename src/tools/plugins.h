/* SPDX-License-Identifier: MIT */
/*
 * Finds babeltrace2's plugins, ccltap's and babeltrace2's own; hides where they lie. Both
 * functions return a reference that the caller owns, or NULL after one line on stderr.
 */
#ifndef TAP_TOOLS_PLUGINS_H
#define TAP_TOOLS_PLUGINS_H

#include <babeltrace2/babeltrace.h>

/* The plugin that comes with ccltap. */
const bt_plugin *tap_plugins_find_own(void);

/* babeltrace2's own plugin "ctf". */
const bt_plugin *tap_plugins_find_ctf(void);

#endif
