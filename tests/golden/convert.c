/* SPDX-License-Identifier: MIT */
/*
 * convert events|ctf INPUT SINK [PARAMETER=VALUE]...: one graph from a shell.
 * convert -: one for each line of standard input, with tabs between its words; thousands
 * of graphs take a tenth of the time that as many processes take, with sanitizers above
 * all. VALUE is yes, a number or a string.  A program of our own, so that sanitizers,
 * which must be in the program, work.
 */
#include "golden/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ARGUMENTS 32

static bt_value *parse(int count, char **arguments)
{
	bt_value *params = bt_value_map_create();
	char *equals, *end;

	for (int i = 0; i < count; i++) {
		equals = strchr(arguments[i], '=');
		if (!equals) {
			bt_value_put_ref(params);
			return NULL;
		}
		*equals++ = '\0';
		if (!strcmp(equals, "yes"))
			bt_value_map_insert_bool_entry(params, arguments[i], BT_TRUE);
		else if (strtoll(equals, &end, 10) && !*end)
			bt_value_map_insert_signed_integer_entry(params, arguments[i],
								 strtoll(equals, NULL,
									 10));
		else
			bt_value_map_insert_string_entry(params, arguments[i], equals);
	}
	return params;
}

/* Returns the status for the shell; on 1, the cause. */
static int run(const struct test_plugins *plugins, int count, char **arguments,
	       char *ret_cause, size_t size)
{
	bt_value *params = count < 3 ? NULL : parse(count - 3, arguments + 3);
	bool has_run;

	if (!params)
		return 2;
	/* Which takes the reference. */
	has_run = test_graph_run(plugins, arguments[1], !strcmp(arguments[0], "ctf"),
				 arguments[2], params, ret_cause, size);
	return has_run ? 0 : 1;
}

/* A line of arguments each, and a line with the status and the cause for an answer. */
static void serve(const struct test_plugins *plugins)
{
	char line[4096], cause[512], *arguments[MAX_ARGUMENTS], *rest;
	int count, status;

	while (fgets(line, sizeof(line), stdin)) {
		count = 0;
		*cause = '\0';
		line[strcspn(line, "\n")] = '\0';
		for (char *word = strtok_r(line, "\t", &rest);
		     word && count < MAX_ARGUMENTS; word = strtok_r(NULL, "\t", &rest))
			arguments[count++] = word;
		status = run(plugins, count, arguments, cause, sizeof(cause));
		cause[strcspn(cause, "\n")] = '\0';
		printf("%d %s\n", status, cause);
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	struct test_plugins plugins;
	char cause[512] = "";
	int status = 0;

	if (!test_plugins_load(&plugins))
		return 2;
	if (argc == 2 && !strcmp(argv[1], "-"))
		serve(&plugins);
	else
		status = run(&plugins, argc - 1, argv + 1, cause, sizeof(cause));
	if (status)
		fprintf(stderr, "convert: %s\n", cause);
	test_plugins_unload(&plugins);
	return status;
}
