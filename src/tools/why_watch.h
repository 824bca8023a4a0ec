/* SPDX-License-Identifier: MIT */
/*
 * Looks again and again at what is wrong with a program that is being recorded. Hides
 * which findings are new, changed or gone since the last look, and how they are shown on a
 * terminal and elsewhere.
 */
#ifndef TAP_TOOLS_WHY_WATCH_H
#define TAP_TOOLS_WHY_WATCH_H

#include "tools/why_look.h"

/*
 * Looks every pause_s seconds, or when the last look is over, until something was wrong
 * and all is well, or the recordings have ended, or a signal asks to end. Returns the last
 * verdict.
 */
enum tap_verdict tap_why_watch(const struct tap_why *why, unsigned pause_s);

#endif
