/* SPDX-License-Identifier: MIT */
/*
 * Finds babeltrace2's plugins, ours and its own; hides where they lie.  NULL comes after
 * one line on stderr; else the reference is the caller's.
 */
#ifndef TAP_TOOLS_PLUGINS_H
#define TAP_TOOLS_PLUGINS_H

#include <babeltrace2/babeltrace.h>

/* What comes with ccltap. */
const bt_plugin *tap_plugins_find_own(void);

/* babeltrace2's own "ctf". */
const bt_plugin *tap_plugins_find_ctf(void);

#endif
