/* SPDX-License-Identifier: MIT */
/*
 * One look at what is wrong with a program: reads its traces, writes the findings, and
 * knows the verdict. Hides how the verdict comes from the sink, which is in another
 * process.
 */
#ifndef TAP_TOOLS_WHY_LOOK_H
#define TAP_TOOLS_WHY_LOOK_H

#include <stdbool.h>

/* What a look says, and `ccltap why` returns. */
enum tap_verdict {
	TAP_VERDICT_WELL,
	TAP_VERDICT_WRONG,
	TAP_VERDICT_NONE, /* it cannot be told */
};

struct tap_filters_view;

struct tap_why {
	const char *sink; /* that looks: NULL: "why"; or "audit" */
	char *const *folders;
	int count;
	const char *output; /* a file, or "-" */
	bool overwrite;
	bool is_json;
	bool is_full; /* only of an audit */
	const struct tap_filters_view *filters; /* NULL: none */
};

/*
 * Reads and writes. When that fails, the verdict is NONE after one line on stderr; a
 * signal that ends the reading ends this process.
 */
enum tap_verdict tap_why_look(const struct tap_why *why, bool shows_progress);

#endif
