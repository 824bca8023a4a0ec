/* SPDX-License-Identifier: MIT */
/* The manual page of a verb. Hides where it is and what shows it. */
#ifndef TAP_TOOLS_MANUAL_H
#define TAP_TOOLS_MANUAL_H

#include <stdbool.h>

/*
 * Shows a page of section 1 on the terminal. Returns false when there is no terminal, no
 * such page, or nothing to show it with.
 */
bool tap_manual_show(const char *page);

#endif
