/* SPDX-License-Identifier: MIT */
/*
 * Where a Perfetto UI lies on this machine that needs no network. Hides that a wheel of
 * Python's has one.
 */
#ifndef TAP_TOOLS_PERFETTO_UI_H
#define TAP_TOOLS_PERFETTO_UI_H

/*
 * The folder with its index.html, a string that stays valid; chosen: the one that the
 * user named, or NULL. NULL after a message that says how to get one.
 */
const char *tap_perfetto_ui_find(const char *chosen);

#endif
