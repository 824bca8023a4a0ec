/* SPDX-License-Identifier: MIT */
/*
 * convert events|ctf INPUT SINK [PARAMETER=VALUE]...: one graph from a shell.
 * VALUE is yes, a number or a string.  A program of our own, so that sanitizers,
 * which must be in the program, work.
 */
#include "golden/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct test_plugins plugins;
	bt_value *params = bt_value_map_create();
	char cause[512], *equals, *end;
	bool has_run;
	int i;

	if (argc < 4)
		return 2;
	for (i = 4; i < argc; i++) {
		equals = strchr(argv[i], '=');
		if (!equals)
			return 2;
		*equals++ = '\0';
		if (!strcmp(equals, "yes"))
			bt_value_map_insert_bool_entry(params, argv[i], BT_TRUE);
		else if (strtoll(equals, &end, 10) && !*end)
			bt_value_map_insert_signed_integer_entry(params, argv[i],
								 strtoll(equals, NULL,
									 10));
		else
			bt_value_map_insert_string_entry(params, argv[i], equals);
	}
	if (!test_plugins_load(&plugins))
		return 2;
	has_run = test_graph_run(&plugins, argv[2], !strcmp(argv[1], "ctf"), argv[3],
				 params, cause, sizeof(cause));
	if (!has_run)
		fprintf(stderr, "convert: %s\n", cause);
	test_plugins_unload(&plugins);
	return has_run ? 0 : 1;
}
