/* SPDX-License-Identifier: MIT */
/* Knows where LTTng puts a snapshot: FOLDER/snapshot-1-DATE-TIME-N/ust/... */
#include "tools/snapshots.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/message.h"

static const char prefix[] = "snapshot-", inside[] = "/ust/";

struct tap_snapshot {
	struct tap_snapshot *next;
	char *folder; /* the folder of all snapshots of the recorder */
	const char *name;
	unsigned int count; /* of snapshots in the folder */
	bool is_chosen;	    /* by ccltap, as the newest */
};

static bool is_name(const char *name)
{
	return !strncmp(name, prefix, strlen(prefix)) &&
	       isdigit((unsigned char) name[strlen(prefix)]);
}

/* Where the name of a snapshot begins in a path, NULL: the path is in none. */
static char *find_name(char *path)
{
	char *end, *name;

	for (end = strstr(path, inside); end; end = strstr(end + 1, inside)) {
		*end = '\0';
		name = strrchr(path, '/');
		if (name && is_name(name + 1))
			return name + 1;
		*end = '/';
	}
	return NULL;
}

static unsigned int count_in(const char *folder)
{
	DIR *directory = opendir(folder);
	unsigned int count = 0;
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		count += is_name(entry->d_name);
	if (directory)
		closedir(directory);
	return count;
}

/* Whether the snapshot lies below the folder that the user named. */
static bool is_below(const struct tap_snapshot *snapshot, const char *named)
{
	char *real = realpath(named, NULL);
	bool is = real && !strncmp(snapshot->folder, real, strlen(real));

	free(real);
	return is;
}

static struct tap_snapshot *make(char *path, char *name)
{
	struct tap_snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		return NULL;
	name[-1] = '\0';
	snapshot->folder = path;
	snapshot->name = name;
	snapshot->count = count_in(path);
	return snapshot;
}

int tap_snapshots_add(struct tap_snapshots *snapshots, const char *trace,
		      const char *folder)
{
	char *path = realpath(trace, NULL), *name = path ? find_name(path) : NULL;
	struct tap_snapshot *snapshot, *other;

	if (!name) {
		snapshots->has_others = true;
		free(path);
		return 0;
	}
	snapshot = make(path, name);
	if (!snapshot) {
		free(path);
		tap_message_write("out of memory");
		return TAP_EXIT_FAILURE;
	}
	other = snapshots->first;
	while (other && strcmp(other->folder, snapshot->folder))
		other = other->next;
	if (!other) {
		snapshot->next = snapshots->first;
		snapshots->first = snapshot;
		snapshot->is_chosen = is_below(snapshot, folder);
		return 0;
	}
	/* The same snapshot, of another user's processes. */
	if (!strcmp(other->name, snapshot->name)) {
		free(snapshot->folder);
		free(snapshot);
		return 0;
	}
	tap_message_write("%s and %s in %s are of one flight recorder and have events in "
			  "common: read them one by one, each by naming its folder",
			  other->name, snapshot->name, snapshot->folder);
	free(snapshot->folder);
	free(snapshot);
	return TAP_EXIT_USAGE;
}

void tap_snapshots_report(const struct tap_snapshots *snapshots)
{
	const struct tap_snapshot *snapshot;

	for (snapshot = snapshots->first; snapshot; snapshot = snapshot->next)
		if (snapshot->is_chosen && snapshot->count > 1)
			tap_message_write("reading %s, the newest of %u snapshots in %s; "
					  "to read another one, name its folder",
					  snapshot->name, snapshot->count,
					  snapshot->folder);
}

bool tap_snapshots_add_params(const struct tap_snapshots *snapshots, bt_value *params)
{
	const struct tap_snapshot *snapshot;
	char *all = NULL, *longer;
	bool is_whole;

	if (!snapshots->first)
		return true;
	for (snapshot = snapshots->first; snapshot; snapshot = snapshot->next) {
		if (asprintf(&longer, "%u %s\n%s", snapshot->count, snapshot->name,
			     all ? all : "") < 0) {
			free(all);
			return false;
		}
		free(all);
		all = longer;
	}
	is_whole = !bt_value_map_insert_string_entry(params, "snapshots", all) &&
		   !bt_value_map_insert_bool_entry(params, "flight-recorder",
						   !snapshots->has_others);
	free(all);
	return is_whole;
}

void tap_snapshots_free(struct tap_snapshots *snapshots)
{
	struct tap_snapshot *snapshot;

	while ((snapshot = snapshots->first)) {
		snapshots->first = snapshot->next;
		free(snapshot->folder);
		free(snapshot);
	}
}
