/* SPDX-License-Identifier: MIT */
/* Knows the layout of LTTng's directories. */
#include "tools/parts.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/control_socket.h"
#include "tools/message.h"
#include "tools/record_output.h"
#include "tools/snapshots.h"
#include "tools/traces.h"

/* Enough for a slow disk. */
#define PATIENCE_SECONDS 120

/* How long a recording may take to end. */
#define ENDING_TRIES 6000
#define ENDING_PAUSE_MS 10

/* Directories open at once while a chunk is measured. */
#define FOLDERS_OPEN 16

static const char archives[] = "archives";

static struct tap_parts_wish wished;

void tap_parts_wish(const struct tap_parts_wish *wish)
{
	wished = *wish;
}

/* ---- Running recordings ---- */

struct wanted {
	const char *path;
	int link; /* -1: not found */
};

static void look_at_place(const char *place, void *data)
{
	const struct tap_question question = {.verb = TAP_LINK_STATUS};
	struct wanted *wanted = data;
	struct tap_answer answer;
	int link;

	if (wanted->link >= 0)
		return;
	link = tap_link_connect(place);
	if (link < 0)
		return;
	tap_link_set_patience(link, PATIENCE_SECONDS);
	if (!tap_link_ask(link, &question, -1) &&
	    !tap_link_receive_answer(link, &answer) && !strcmp(answer.path, wanted->path))
		wanted->link = link;
	else
		close(link);
}

/*
 * A supervisor that only counted before listens at the place of its metrics, so it is
 * asked what it records now.
 */
static int connect_to(const char *real)
{
	struct wanted wanted = {.path = real};
	char place[TAP_LINK_PLACE_SIZE];

	tap_link_place(real, place);
	wanted.link = tap_link_connect(place);
	if (wanted.link < 0 && tap_output_is_held(real))
		tap_link_each(look_at_place, &wanted);
	return wanted.link;
}

/*
 * Calls each for a folder, or else for the directories in it, one for each host, with the
 * connection to the supervisor that records there, which belongs to each(), or -1. Returns
 * the first status that is not 0.
 */
static int for_recordings(const char *folder,
			  int (*each)(int link, const char *path, void *data),
			  void *data)
{
	char below[PATH_MAX], *real = realpath(folder, NULL);
	struct dirent *entry;
	int link, ret = 0;
	DIR *hosts;

	if (!real)
		return 0;
	link = connect_to(real);
	ret = each(link, real, data);
	hosts = link < 0 && !ret ? opendir(real) : NULL;
	while (!ret && hosts && (entry = readdir(hosts)))
		if (*entry->d_name != '.' &&
		    snprintf(below, sizeof(below), "%s/%s", real, entry->d_name) <
			    (int) sizeof(below))
			ret = each(connect_to(below), below, data);
	if (hosts)
		closedir(hosts);
	free(real);
	return ret;
}

static int note_running(int link, const char *path, void *data)
{
	bool *is_running = data;

	*is_running = link >= 0 || tap_output_is_held(path);
	if (link >= 0)
		close(link);
	return *is_running;
}

bool tap_parts_is_running(const char *folder)
{
	bool is_running = false;

	for_recordings(folder, note_running, &is_running);
	return is_running;
}

/*
 * Once nobody can join a recording any more, it is completed. Of another host nothing is
 * waited for: whether it goes on there is not known.
 */
static void wait_until_complete(const char *path)
{
	const struct timespec pause = {.tv_nsec = ENDING_PAUSE_MS * 1000000};
	const char *name = strrchr(path, '/');
	char host[256] = "";
	int i;

	if (!name || gethostname(host, sizeof(host) - 1) || strcmp(name + 1, host))
		return;
	for (i = 0; i < ENDING_TRIES && tap_output_is_held(path); i++)
		nanosleep(&pause, NULL);
}

/* nftw() passes no argument to its callback. */
static uint64_t measured;

static int measure(const char *path, const struct stat *status, int type, struct FTW *at)
{
	/* Metadata is the same in each chunk, and costs little time. */
	if (type == FTW_F && strcmp(path + at->base, "metadata"))
		measured += (uint64_t) status->st_size;
	return 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

static int is_chunk(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

/* Finds the oldest chunk that is read. Returns 0 or an exit status. */
static int choose_chunks(struct tap_parts *parts, struct tap_part *part)
{
	char path[PATH_MAX];
	struct dirent **chunks;
	uint64_t bytes = 0;
	int count, i;

	snprintf(path, sizeof(path), "%s/%s", part->path, archives);
	count = scandir(path, &chunks, is_chunk, compare_names);
	for (i = count; i-- > 0;) {
		if (i == count - 1 || bytes < wished.newest_bytes) {
			free(part->oldest);
			part->oldest = strdup(chunks[i]->d_name);
			snprintf(path, sizeof(path), "%s/%s/%s", part->path, archives,
				 chunks[i]->d_name);
			measured = 0;
			nftw(path, measure, FOLDERS_OPEN, FTW_PHYS);
			bytes += measured;
		} else {
			parts->left_out++;
		}
		free(chunks[i]);
	}
	if (count >= 0)
		free(chunks);
	return count > 0 && !part->oldest ? TAP_EXIT_FAILURE : 0;
}

static int complete(int link, const char *path, void *data)
{
	const struct tap_question question = {
		.verb = wished.wants_look ? TAP_LINK_LOOK : TAP_LINK_ROTATE};
	struct tap_part part = {.link = link};
	struct tap_parts *parts = data;
	struct tap_answer answer;
	int ret;

	if (link < 0) {
		wait_until_complete(path);
		return 0;
	}
	tap_link_set_patience(link, PATIENCE_SECONDS);
	ret = tap_link_ask(link, &question, -1);
	if (!ret)
		ret = tap_link_receive_answer(link, &answer);
	/* The recording has ended meanwhile, or has a snapshot that is complete. */
	if (ret == -EPIPE || ret == -ECONNRESET ||
	    (!ret && !answer.error && !*answer.path)) {
		close(link);
		if (ret)
			wait_until_complete(path);
		return 0;
	}
	if (ret || answer.error) {
		close(link);
		tap_message_write(
			"cannot complete the running recording in %s: %s", path,
			ret	       ? strerror(-ret)
			: *answer.text ? answer.text
				       : "the LTTng session daemon does not answer");
		return TAP_EXIT_FAILURE;
	}
	part.path = strdup(answer.path);
	if (*answer.text)
		part.look = strdup(answer.text);
	if (!part.path || (*answer.text && !part.look) ||
	    tap_vec_add(&parts->growing, part)) {
		close(link);
		free(part.path);
		free(part.look);
		tap_message_write("out of memory");
		return TAP_EXIT_FAILURE;
	}
	return wished.newest_bytes
		       ? choose_chunks(parts,
				       &parts->growing.items[parts->growing.count - 1])
		       : 0;
}

int tap_parts_complete(struct tap_parts *parts, const char *folder)
{
	return for_recordings(folder, complete, parts);
}

/* ---- What is read ---- */

static bool is_same(const char *path, const char *other)
{
	char *real = realpath(path, NULL);
	bool is = real && !strcmp(real, other);

	free(real);
	return is;
}

/* Whether a directory in a running recording is still being written, or not wanted. */
static bool is_left_out(const struct tap_part *part, const char *path, int base)
{
	const char *name = path + base;

	if (part->look)
		return !is_same(path, part->look);
	return strcmp(name, archives) && strncmp(name, "part-", 5) &&
	       !tap_snapshots_is_name(name);
}

bool tap_parts_skip(const struct tap_parts *parts, const char *path, int base)
{
	const char *name = path + base;
	char here[PATH_MAX], above[PATH_MAX];
	size_t i;

	snprintf(here, sizeof(here), "%.*s", base, path);
	for (i = 0; i < parts->growing.count; i++) {
		const struct tap_part *part = &parts->growing.items[i];

		if (is_same(here, part->path)) {
			if (is_left_out(part, path, base))
				return true;
			continue;
		}
		snprintf(above, sizeof(above), "%s/%s", part->path, archives);
		if (part->oldest && is_same(here, above) &&
		    strverscmp(name, part->oldest) < 0)
			return true;
	}
	if (!strncmp(name, TAP_OUTPUT_LOOK, strlen(TAP_OUTPUT_LOOK))) {
		for (i = 0; i < parts->growing.count; i++)
			if (parts->growing.items[i].look &&
			    is_same(path, parts->growing.items[i].look))
				return false;
		return true;
	}
	return tap_snapshots_is_name(name) && !tap_snapshots_is_wanted(path, base);
}

void tap_parts_free(struct tap_parts *parts)
{
	size_t i;

	for (i = 0; i < parts->growing.count; i++) {
		struct tap_part *part = &parts->growing.items[i];

		if (part->look) {
			tap_traces_empty_folder(part->look);
			rmdir(part->look);
		}
		close(part->link);
		free(part->path);
		free(part->look);
		free(part->oldest);
	}
	tap_vec_free(&parts->growing);
	*parts = (struct tap_parts){0};
}
