/* SPDX-License-Identifier: MIT */
/*
 * The arguments of every command that reads traces: which traces, and where to write.
 * Hides how argp passes arguments, and what is read when there are none.
 */
#ifndef TAP_TOOLS_READING_H
#define TAP_TOOLS_READING_H

#include <argp.h>
#include <stdbool.h>

/* Keys of options without a letter; a command's own keys begin at TAP_KEY_OTHERS. */
enum { TAP_KEY_OVERWRITE = 256, TAP_KEY_OTHERS };

struct tap_reading {
	char **traces; /* that are named, or the newest recording here */
	char *here;    /* that one */
	int trace_count;
	const char *output; /* -o */
	bool overwrite;	    /* TAP_KEY_OVERWRITE */
};

/* For keys that a command's own parser does not know. */
error_t tap_reading_parse(struct tap_reading *reading, int key, char *arg,
			  struct argp_state *state);

#endif
