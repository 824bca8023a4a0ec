/* SPDX-License-Identifier: MIT */
/*
 * Graphs for the tests: from a text of events, or a CTF trace, into a sink.
 * Hides where the plugins of the build are.
 */
#ifndef TAP_TESTS_GOLDEN_GRAPH_H
#define TAP_TESTS_GOLDEN_GRAPH_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

struct test_plugins {
	const bt_plugin *own;
	const bt_plugin *source;
	const bt_plugin *ctf;
	const bt_plugin *utils;
};

/* Loads the plugins of the build in $top_builddir.  Returns whether it could. */
bool test_plugins_load(struct test_plugins *plugins);
void test_plugins_unload(struct test_plugins *plugins);

/*
 * Reads path, a text of events or (is_ctf) a folder with one trace, into a sink:
 * "timeline" or "report" of ours, "ctf", which writes a trace of CTF 1.8 into the folder
 * given as parameter, "dummy", which only reads, or "filter", which does so after our
 * filter.  Takes the reference of params.  The first cause of an error goes into cause.
 * Returns whether the reading came to its end.
 */
bool test_graph_run(const struct test_plugins *plugins, const char *path, bool is_ctf,
		    const char *sink, bt_value *params, char *cause, size_t size);

#endif
