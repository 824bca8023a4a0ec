/* SPDX-License-Identifier: MIT */
/*
 * What every command that reads traces is given: which, and where to write.  Hides how
 * argp gives arguments, and what is said when there are none.
 */
#ifndef TAP_TOOLS_READING_H
#define TAP_TOOLS_READING_H

#include <argp.h>
#include <stdbool.h>

/* Of options that have no letter; a command's own begin behind. */
enum { TAP_KEY_OVERWRITE = 256, TAP_KEY_OTHERS };

struct tap_reading {
	char **traces;
	int trace_count;
	const char *output; /* -o */
	bool overwrite;	    /* TAP_KEY_OVERWRITE */
};

/* What a command's own parser does not know. */
error_t tap_reading_parse(struct tap_reading *reading, int key, char *arg,
			  struct argp_state *state);

#endif
