/* SPDX-License-Identifier: MIT */
/* The sink writes its verdict into a file in memory. */
#include "tools/why_look.h"

#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/filters.h"
#include "tools/graph.h"
#include "tools/message.h"
#include "tools/terminal.h"

static bt_value *make_params(const struct tap_why *why, const char *verdict,
			     bool shows_progress)
{
	bt_value *params = bt_value_map_create();

	if (params && !bt_value_map_insert_bool_entry(params, "json", why->is_json) &&
	    !bt_value_map_insert_string_entry(params, "output", why->output) &&
	    !bt_value_map_insert_bool_entry(params, "overwrite", why->overwrite) &&
	    !bt_value_map_insert_string_entry(params, "verdict", verdict) &&
	    (!why->is_full || !bt_value_map_insert_bool_entry(params, "full", true)) &&
	    !bt_value_map_insert_bool_entry(params, "progress", shows_progress) &&
	    tap_terminal_add_params(params) &&
	    (!why->filters || tap_filters_add_params(why->filters, params)))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

static enum tap_verdict read_verdict(int fd)
{
	char word[16] = "";

	if (pread(fd, word, sizeof(word) - 1, 0) < 0)
		return TAP_VERDICT_NONE;
	return !strcmp(word, "clear\n")	  ? TAP_VERDICT_WELL
	       : !strcmp(word, "found\n") ? TAP_VERDICT_WRONG
					  : TAP_VERDICT_NONE;
}

enum tap_verdict tap_why_look(const struct tap_why *why, bool shows_progress)
{
	enum tap_verdict verdict = TAP_VERDICT_NONE;
	int fd = memfd_create("ccltap-why", MFD_CLOEXEC);
	char path[64];

	if (fd < 0) {
		tap_message_write("cannot begin: %s", strerror(errno));
		return TAP_VERDICT_NONE;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!tap_graph_run(why->folders, why->count, why->sink ? why->sink : "why",
			   make_params(why, path, shows_progress), false))
		verdict = read_verdict(fd);
	close(fd);
	return verdict;
}
