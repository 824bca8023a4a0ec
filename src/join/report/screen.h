/* SPDX-License-Identifier: MIT */
/*
 * The first screen of the report: what is wrong, the collectives and the ranks.
 *
 * Hides how the lines of a screen are shared out, which of them go first where it is too
 * small for all, and how long sentences are broken.
 */
#ifndef TAP_JOIN_REPORT_SCREEN_H
#define TAP_JOIN_REPORT_SCREEN_H

#include "join/report/overview.h"
#include "join/report/report_work.h"

struct tap_screen {
	const struct tap_view *view; /* its size is in the settings */
	const struct tap_findings *findings;
	const struct tap_overview *overview;
	const struct tap_report_calls *calls;
	const struct tap_report_work *work;
	const struct tap_loss *loss;
};

/* Adds the screen, whose lines are at most as many and as long as the settings say. */
void tap_screen_add(struct tap_buffer *text, const struct tap_screen *screen);

/* Adds its first lines alone, as long as they are: what the trace has, and what it lacks. */
void tap_screen_add_headline(struct tap_buffer *line, const struct tap_screen *screen);

/*
 * Adds lines that are broken at blanks to be at most `width` characters long; what is
 * broken off is indented.  Ends with a newline unless `lines` is empty.
 */
void tap_screen_wrap(struct tap_buffer *text, const struct tap_buffer *lines,
		     size_t width, size_t indent);

/* Adds the first lines, each cut to the width, and without blanks at its end. */
void tap_screen_cut(struct tap_buffer *text, const struct tap_buffer *lines, size_t width,
		    size_t count);

#endif
