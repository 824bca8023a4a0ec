/* SPDX-License-Identifier: MIT */
/* One graph for each view. */
#include "golden/views.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the view of tables fills, and expects to be empty. */
#define TABLES "fuzz.tables"

static const struct view {
	const char *sink;
	const char *parameter;
	const char *value;
} views[] = {
	{"timeline", "format", "text"},
	{"timeline", "format", "jsonl"},
	{"report", "json", NULL},
	{"check", "json", NULL},
	{"report", "full", NULL},
	{"report", NULL, NULL},
	{"timeline", "tree", NULL},
	{"timeline", "format", "perfetto"},
	{"timeline", "format", "json"},
	{"timeline", "format", "json.gz"},
	{"export", "folder", TABLES},
	{"why", NULL, NULL},
	{"report", "page", TAP_PAGE_FOLDER},
	{"audit", "json", NULL},
	{"audit", "full", NULL},
	{"filter", NULL, NULL},
};

const size_t test_view_count = sizeof(views) / sizeof(views[0]);

bool test_folder_make(const char *path)
{
	return !mkdir(path, 0777) || errno == EEXIST;
}

void test_folder_remove(const char *path)
{
	char file[4096 + 512];
	struct dirent *entry;
	DIR *folder = opendir(path);

	while (folder && (entry = readdir(folder))) {
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		if (*entry->d_name != '.' && unlink(file) && errno == EISDIR)
			test_folder_remove(file);
	}
	if (folder)
		closedir(folder);
	rmdir(path);
}

bool test_view_run(const struct test_plugins *plugins, const char *path, bool is_ctf,
		   size_t view)
{
	const struct view *one = &views[view];
	const bool is_tables = one->value && !strcmp(one->value, TABLES);
	bt_value *params = bt_value_map_create();
	char cause[512];
	bool is_sound;

	/* A reading that died has left it full. */
	if (is_tables) {
		test_folder_remove(TABLES);
		if (!test_folder_make(TABLES))
			return false;
	}
	/* The sink behind the filter has no parameters. */
	if (strcmp(one->sink, "filter")) {
		if (one->value)
			bt_value_map_insert_string_entry(params, one->parameter,
							 one->value);
		else if (one->parameter)
			bt_value_map_insert_bool_entry(params, one->parameter, BT_TRUE);
		bt_value_map_insert_bool_entry(params, "stacks", BT_TRUE);
		bt_value_map_insert_string_entry(params, "output", "/dev/null");
		bt_value_map_insert_bool_entry(params, "overwrite", BT_TRUE);
	}
	is_sound = test_graph_run(plugins, path, is_ctf, one->sink, params, cause,
				  sizeof(cause));
	if (is_tables)
		test_folder_remove(TABLES);
	return is_sound;
}

unsigned int test_views_run(const struct test_plugins *plugins, const char *path,
			    bool is_ctf)
{
	unsigned int sound = 0;
	size_t view;

	for (view = 0; view < test_view_count; view++)
		sound += test_view_run(plugins, path, is_ctf, view);
	return sound;
}
