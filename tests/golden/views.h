/* SPDX-License-Identifier: MIT */
/*
 * Every view of ours, for tests that read damaged input: what they print is of no interest, that
 * they come to an end is.  Hides which views there are and what each writes.
 */
#ifndef TAP_TESTS_GOLDEN_VIEWS_H
#define TAP_TESTS_GOLDEN_VIEWS_H

#include "golden/graph.h"

extern const size_t test_view_count;

/* Reads path into the view of that number; as test_graph_run(), without the cause. */
bool test_view_run(const struct test_plugins *plugins, const char *path, bool is_ctf,
		   size_t view);

/* Into all of them; returns how many readings came to their end. */
unsigned int test_views_run(const struct test_plugins *plugins, const char *path,
			    bool is_ctf);

/* Whether there is a folder of that name now. */
bool test_folder_make(const char *path);
void test_folder_remove(const char *path);

#endif
