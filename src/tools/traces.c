/* SPDX-License-Identifier: MIT */
/* Links to the metadata and to one stream each, in a temporary folder. */
#include "tools/traces.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/vec.h"
#include "tools/message.h"

/* Directories open at once while one is removed. */
#define FOLDERS_OPEN 32

/* How often babeltrace2 may die of one trace; a hang counts as several. */
#define DEATHS_MAX 64
#define DEATHS_OF_LATE 16

/* How often babeltrace2 may hang before what it was reading is left out whole. */
#define LATES_MAX 4

int tap_traces_append(struct tap_traces *traces, char *path, const struct stat *status)
{
	if (tap_array_reserve(traces->list, traces->room, traces->count + 1))
		return ENOMEM;
	traces->list[traces->count++] = (struct tap_trace){
		.path = path, .device = status->st_dev, .inode = status->st_ino};
	return 0;
}

struct tap_watch *tap_traces_make_watch(void)
{
	void *watch = mmap(NULL, sizeof(struct tap_watch), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (watch != MAP_FAILED)
		return watch;
	tap_message_write("out of memory");
	return NULL;
}

uint64_t tap_traces_size(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	uint64_t size = 0;

	while (folder && (entry = readdir(folder))) {
		struct stat status;

		if (!fstatat(dirfd(folder), entry->d_name, &status, 0) &&
		    S_ISREG(status.st_mode))
			size += (uint64_t) status.st_size;
	}
	if (folder)
		closedir(folder);
	return size;
}

static int link_into(const char *folder, const char *trace, const char *name)
{
	char to[PATH_MAX], at[PATH_MAX], *real;
	int ret;

	if (snprintf(to, sizeof(to), "%s/%s", trace, name) >= (int) sizeof(to) ||
	    snprintf(at, sizeof(at), "%s/%s", folder, name) >= (int) sizeof(at))
		return -ENAMETOOLONG;
	real = realpath(to, NULL);
	ret = real && !symlink(real, at) ? 0 : -errno;
	free(real);
	return ret;
}

static int remove_one(const char *path, const struct stat *status, int type,
		      struct FTW *at)
{
	(void) status;
	(void) type;
	(void) at;
	remove(path);
	return 0;
}

void tap_traces_empty_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	char *below;

	while (folder && (entry = readdir(folder))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") ||
		    asprintf(&below, "%s/%s", path, entry->d_name) < 0)
			continue;
		nftw(below, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
		free(below);
	}
	if (folder)
		closedir(folder);
}

/* Makes a folder with links to the metadata and to one stream, in parts; NULL: none. */
static char *make_part(const char *parts, const char *trace, const char *stream)
{
	char *folder;

	if (asprintf(&folder, "%s/XXXXXX", parts) < 0)
		return NULL;
	if (mkdtemp(folder) && !link_into(folder, trace, "metadata") &&
	    !link_into(folder, trace, stream))
		return folder;
	free(folder);
	return NULL;
}

static const char *parts_folder(struct tap_traces *traces)
{
	const char *folder = getenv("TMPDIR");

	if (traces->parts)
		return traces->parts;
	if (asprintf(&traces->parts, "%s/ccltapXXXXXX",
		     folder && *folder ? folder : "/tmp") < 0)
		traces->parts = NULL;
	if (traces->parts && !mkdtemp(traces->parts)) {
		free(traces->parts);
		traces->parts = NULL;
	}
	return traces->parts;
}

static void leave_out(struct tap_damage *damage, const char *stream, const char *cause)
{
	if (!damage->left_out++) {
		snprintf(damage->stream, sizeof(damage->stream), "%s", stream);
		snprintf(damage->stream_cause, sizeof(damage->stream_cause), "%s", cause);
	}
}

static bool add_part(struct tap_traces *traces, struct tap_damage *damage,
		     const char *name, const struct stat *status)
{
	char *stream = strdup(name);
	char *part = stream && parts_folder(traces)
			     ? make_part(traces->parts, damage->trace, name)
			     : NULL;

	if (!part || tap_traces_append(traces, part, status)) {
		free(part);
		free(stream);
		return false;
	}
	traces->list[traces->count - 1].damage = damage;
	traces->list[traces->count - 1].stream = stream;
	damage->kept++;
	return true;
}

/* Turns each stream file of a trace into a trace. */
static void add_parts(struct tap_traces *traces, struct tap_damage *damage)
{
	DIR *folder = opendir(damage->trace);
	struct dirent *entry;
	char cause[256];

	while (folder && (entry = readdir(folder))) {
		struct stat status = {0};

		if (*entry->d_name == '.' || !strcmp(entry->d_name, "metadata") ||
		    fstatat(dirfd(folder), entry->d_name, &status, 0) ||
		    !S_ISREG(status.st_mode) ||
		    add_part(traces, damage, entry->d_name, &status))
			continue;
		snprintf(cause, sizeof(cause), "no folder can be made in TMPDIR: %s",
			 strerror(errno));
		leave_out(damage, entry->d_name, cause);
	}
	if (folder)
		closedir(folder);
}

static struct tap_damage *add_damage(struct tap_traces *traces, const char *cause)
{
	struct tap_damage *damage = calloc(1, sizeof(*damage));

	if (!damage)
		return NULL;
	snprintf(damage->cause, sizeof(damage->cause), "%s", cause);
	tap_list_append(&traces->damages, damage, all);
	return damage;
}

/* Why babeltrace2 makes no trace of this metadata, which it only logs. */
static const char *describe_metadata(const char *path, const char *cause)
{
	char name[PATH_MAX];
	struct stat status;

	if (snprintf(name, sizeof(name), "%s/metadata", path) >= (int) sizeof(name))
		return cause;
	if (access(name, R_OK))
		return "its metadata cannot be read";
	if (!stat(name, &status) && !status.st_size)
		return "its metadata is empty";
	/* 2.0 says the first, 2.1 the second, of a line of metadata. */
	if (!strncmp(cause, "Cannot create trace for", 23) ||
	    !strncmp(cause, "At line ", 8))
		return "its metadata is damaged";
	return cause;
}

/* Drops the stops of a trace, whose streams are no longer read as part of it. */
static void drop_stops(struct tap_watch *watch, const char *trace)
{
	unsigned int i, kept = 0;

	for (i = 0; i < watch->stop_count; i++)
		if (watch->stops[i].trace != trace)
			watch->stops[kept++] = watch->stops[i];
	watch->stop_count = kept;
}

/*
 * Removes a trace from the list: its streams replace it, unless it was a single stream.
 */
static void take_apart(struct tap_traces *traces, size_t i, const char *cause)
{
	struct tap_trace trace = traces->list[i];
	struct tap_damage *damage = trace.damage;

	traces->is_changed = true;
	drop_stops(traces->watch, trace.path);
	traces->count--;
	memmove(&traces->list[i], &traces->list[i + 1],
		(traces->count - i) * sizeof(*traces->list));
	if (damage) {
		damage->kept--;
		leave_out(damage, trace.stream, cause);
		free(trace.stream);
		free(trace.path);
		return;
	}
	damage = add_damage(traces, describe_metadata(trace.path, cause));
	if (!damage) {
		free(trace.path);
		return;
	}
	damage->trace = trace.path;
	add_parts(traces, damage);
}

/* Walks the list from its end, since take_apart() appends. */
void tap_traces_drop_refused(struct tap_traces *traces)
{
	struct tap_watch *watch = traces->watch;
	size_t i;

	for (i = traces->count; i--;) {
		if (watch->refusals[i].is_refused)
			take_apart(traces, i, watch->refusals[i].cause);
		watch->refusals[i].is_refused = false;
	}
	watch->has_refused = false;
}

/* Leaves out all streams of a trace of which babeltrace2 dies again and again. */
static void give_up(struct tap_traces *traces, const struct tap_damage *damage,
		    const char *cause)
{
	size_t i;

	for (i = traces->count; i--;)
		if (traces->list[i].damage == damage)
			take_apart(traces, i, cause);
}

static bool add_stop(const struct tap_trace *trace, struct tap_watch *watch)
{
	struct tap_stop *stop = &watch->stops[watch->stop_count];

	if (watch->stop_count == TAP_WATCH_STOPS)
		return false;
	stop->trace = trace->path;
	snprintf(stop->shown, sizeof(stop->shown), "%s",
		 trace->damage ? trace->damage->trace : trace->path);
	stop->port = watch->port;
	stop->batches = watch->batches - 1;
	watch->stop_count++;
	return true;
}

bool tap_traces_blame(struct tap_traces *traces, bool is_late)
{
	const char *cause = is_late ? "babeltrace2 does not finish reading it"
				    : "babeltrace2 fails on it";
	struct tap_watch *watch = traces->watch;
	enum tap_stage stage = atomic_load(&watch->stage);
	struct tap_trace *trace;
	struct tap_damage *damage;

	if (stage == TAP_STAGE_OWN || watch->trace >= traces->count)
		return false;
	trace = &traces->list[watch->trace];
	damage = trace->damage;
	/*
	 * The messages before the failure are good, but waiting for many hangs takes too
	 * long.
	 */
	traces->lates += is_late;
	if (traces->lates > LATES_MAX || stage != TAP_STAGE_READ || watch->batches < 2 ||
	    !add_stop(trace, watch))
		take_apart(traces, watch->trace, cause);
	if (damage) {
		damage->deaths += is_late ? DEATHS_OF_LATE : 1;
		if (damage->deaths >= DEATHS_MAX)
			give_up(traces, damage, cause);
	}
	atomic_store(&watch->stage, TAP_STAGE_OWN);
	return true;
}

void tap_traces_report(const struct tap_traces *traces)
{
	const struct tap_watch *watch = traces->watch;
	const struct tap_damage *damage;
	unsigned int i;

	for (damage = traces->damages.first; damage; damage = damage->all.after) {
		if (!damage->kept)
			tap_message_write("cannot read the trace %s: %s", damage->trace,
					  damage->cause);
		else if (damage->left_out)
			tap_message_write("left %u damaged streams of %s out: %s: %s",
					  damage->left_out, damage->trace, damage->stream,
					  damage->stream_cause);
		else
			tap_message_write("read each stream of %s by itself: %s",
					  damage->trace, damage->cause);
	}
	for (i = 0; i < watch->stop_count; i++)
		tap_message_write("left the rest of the stream %s of %s out: babeltrace2 "
				  "fails on it",
				  watch->stops[i].name, watch->stops[i].shown);
}

void tap_traces_remove_parts(struct tap_traces *traces)
{
	if (traces->parts)
		nftw(traces->parts, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
	free(traces->parts);
	traces->parts = NULL;
}

void tap_traces_free(struct tap_traces *traces)
{
	struct tap_damage *damage;
	size_t i;

	for (i = 0; i < traces->count; i++) {
		free(traces->list[i].path);
		free(traces->list[i].stream);
	}
	free(traces->list);
	while ((damage = tap_list_take_first(&traces->damages, all))) {
		free(damage->trace);
		free(damage);
	}
	tap_snapshots_free(&traces->snapshots);
	tap_traces_remove_parts(traces);
}
