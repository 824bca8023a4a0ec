/* SPDX-License-Identifier: MIT */
/* The parser of the arguments that the commands which read traces share. */
#include "tools/reading.h"

#include <errno.h>
#include <stddef.h>

#include "tools/here.h"
#include "tools/message.h"

error_t tap_reading_parse(struct tap_reading *reading, int key, char *arg,
			  struct argp_state *state)
{
	switch (key) {
	case 'o':
		reading->output = arg;
		return 0;
	case TAP_KEY_OVERWRITE:
		reading->overwrite = true;
		return 0;
	case ARGP_KEY_ARGS:
		reading->traces = state->argv + state->next;
		reading->trace_count = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		reading->here = tap_here_find();
		reading->traces = &reading->here;
		reading->trace_count = 1;
		if (reading->here)
			return 0;
		tap_message_write("a trace is missing: no recording is in this folder; "
				  "give the folder that was recorded into");
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}
