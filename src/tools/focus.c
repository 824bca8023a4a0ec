/* SPDX-License-Identifier: MIT */
/* The sink of `ccltap why` writes the values of the filters into a file in memory. */
#include "tools/focus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/commands.h"
#include "tools/graph.h"
#include "tools/message.h"

static bt_value *make_params(int64_t number, const char *path)
{
	bt_value *params = bt_value_map_create();

	if (params && !bt_value_map_insert_string_entry(params, "output", "/dev/null") &&
	    !bt_value_map_insert_signed_integer_entry(params, "finding", number) &&
	    !bt_value_map_insert_string_entry(params, "focus", path) &&
	    !bt_value_map_insert_bool_entry(params, "progress", isatty(STDERR_FILENO)))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

/* Takes the next line; NULL: it is empty. */
static const char *next_line(char **at)
{
	char *line = *at, *end = strchr(line, '\n');

	if (!end)
		return NULL;
	*end = '\0';
	*at = end + 1;
	return *line ? line : NULL;
}

static int take_values(struct tap_focus *focus, int fd, struct tap_filters_view *filters)
{
	const ssize_t length = pread(fd, focus->values, sizeof(focus->values) - 1, 0);
	const char *rank, *begin, *end;
	char *at = focus->values;

	if (length <= 0) {
		tap_message_write("there is no finding %s: \"ccltap why\" tells them, from 1 on",
				  focus->finding);
		return TAP_EXIT_USAGE;
	}
	focus->values[length] = '\0';
	rank = next_line(&at);
	begin = next_line(&at);
	end = next_line(&at);
	tap_filters_set_focus(filters, rank, begin, end);
	return 0;
}

int tap_focus_find(struct tap_focus *focus, char *const *folders, int count,
		   struct tap_filters_view *filters)
{
	char *end = NULL, path[64];
	const unsigned long number = strtoul(focus->finding, &end, 10);
	int fd, ret;

	if (*focus->finding < '1' || *focus->finding > '9' || *end || number > INT32_MAX) {
		tap_message_write("--finding %s: give its number in \"ccltap why\", from 1 on",
				  focus->finding);
		return TAP_EXIT_USAGE;
	}
	fd = memfd_create("ccltap-focus", MFD_CLOEXEC);
	if (fd < 0) {
		tap_message_write("cannot begin: %s", strerror(errno));
		return TAP_EXIT_FAILURE;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = tap_graph_run(folders, count, "why", make_params((int64_t) number, path),
			    false);
	if (!ret)
		ret = take_values(focus, fd, filters);
	close(fd);
	return ret;
}
