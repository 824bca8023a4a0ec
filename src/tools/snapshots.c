/* SPDX-License-Identifier: MIT */
/* Knows where LTTng puts a snapshot: FOLDER/snapshot-1-DATE-TIME-N/ust/... */
#include "tools/snapshots.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
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
	unsigned int count;  /* of snapshots in the folder */
	unsigned int number; /* of this one, from 1 on */
	bool is_found;	     /* by ccltap, in a folder that the user named */
};

/* ---- The choice ---- */

/* What the command line says; 0: the newest, unless all are wanted. */
static struct {
	bool is_made, is_all;
	unsigned long number;
	/* Of a folder that lacks it, the number of its snapshots. */
	unsigned int had;
} choice;

enum { KEY_SNAPSHOT = 528 };

static const struct argp_option options[] = {
	{"snapshot", KEY_SNAPSHOT, "N", 0,
	 "of a flight recorder, read its Nth snapshot, the last, or all [last]", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void) state;
	if (key != KEY_SNAPSHOT)
		return ARGP_ERR_UNKNOWN;
	choice.is_made = true;
	choice.number = strtoul(arg, NULL, 10);
	choice.is_all = !strcmp(arg, "all");
	if (choice.is_all || !strcmp(arg, "last")) {
		choice.number = 0;
		return 0;
	}
	if (choice.number && !arg[strspn(arg, "0123456789")])
		return 0;
	tap_message_write("snapshot \"%s\": give its number, from 1 on, last, or all", arg);
	return EINVAL;
}

const struct argp tap_snapshots_argp = {.options = options, .parser = parse};

bool tap_snapshots_is_chosen(void)
{
	return choice.is_made;
}

bool tap_snapshots_wants_all(void)
{
	return choice.is_all;
}

/* ---- The snapshots ---- */

bool tap_snapshots_is_name(const char *name)
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
		if (name && tap_snapshots_is_name(name + 1))
			return name + 1;
		*end = '/';
	}
	return NULL;
}

/*
 * How many snapshots there are in a folder, and, counted from 1, which one of them has
 * this name. LTTng numbers them in order, with gaps where it wrote elsewhere.
 */
static unsigned int count_in(const char *folder, const char *name,
			     unsigned int *ret_number)
{
	DIR *directory = opendir(folder);
	unsigned int count = 0;
	struct dirent *entry;

	*ret_number = 0;
	while (directory && (entry = readdir(directory))) {
		if (!tap_snapshots_is_name(entry->d_name))
			continue;
		count++;
		*ret_number += strverscmp(entry->d_name, name) <= 0;
	}
	if (directory)
		closedir(directory);
	return count;
}

char *tap_snapshots_newest(const char *folder)
{
	DIR *directory = opendir(folder);
	char newest[NAME_MAX + 1] = "", *path;
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (tap_snapshots_is_name(entry->d_name) &&
		    strverscmp(entry->d_name, newest) > 0)
			snprintf(newest, sizeof(newest), "%s", entry->d_name);
	if (directory)
		closedir(directory);
	if (!*newest || asprintf(&path, "%s/%s", folder, newest) < 0)
		return NULL;
	return path;
}

bool tap_snapshots_is_wanted(const char *path, int base)
{
	char folder[PATH_MAX];
	unsigned int number, count;

	if (choice.is_all)
		return true;
	snprintf(folder, sizeof(folder), "%.*s", base ? base : 1, base ? path : ".");
	count = count_in(folder, path + base, &number);
	if (!choice.number)
		return number == count;
	if (choice.number > count)
		choice.had = count;
	return number == choice.number;
}

bool tap_snapshots_report_absent(void)
{
	if (!choice.had)
		return false;
	tap_message_write("there is no snapshot %lu: the flight recorder has written %u",
			  choice.number, choice.had);
	return true;
}

bool tap_snapshots_are_alike(const char *trace, const char *other)
{
	char *a = realpath(trace, NULL), *b = realpath(other, NULL);
	char *in_a = a ? find_name(a) : NULL, *in_b = b ? find_name(b) : NULL;
	/* find_name() has ended both paths behind the snapshot's name. */
	const bool are = in_a && in_b && in_a - a == in_b - b &&
			 !strncmp(a, b, (size_t) (in_a - a)) &&
			 !strcmp(in_a + strlen(in_a) + 1, in_b + strlen(in_b) + 1);

	free(a);
	free(b);
	return are;
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
	snapshot->count = count_in(path, name, &snapshot->number);
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
		snapshot->is_found = is_below(snapshot, folder);
		return 0;
	}
	/* The same snapshot, of another user's processes. */
	if (choice.is_all || !strcmp(other->name, snapshot->name)) {
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

static void report(const struct tap_snapshot *snapshot)
{
	if (choice.is_all)
		tap_message_write("reading all %u snapshots in %s", snapshot->count,
				  snapshot->folder);
	else
		tap_message_write("reading snapshot %u of %u in %s (%s): --snapshot=N "
				  "reads another, --snapshot=all all of them",
				  snapshot->number, snapshot->count, snapshot->folder,
				  snapshot->name);
}

void tap_snapshots_report(const struct tap_snapshots *snapshots)
{
	const struct tap_snapshot *snapshot;

	for (snapshot = snapshots->first; snapshot; snapshot = snapshot->next)
		if (snapshot->is_found && snapshot->count > 1)
			report(snapshot);
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
