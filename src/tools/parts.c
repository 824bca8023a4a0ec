/* SPDX-License-Identifier: MIT */
/* Knows the layout of LTTng's directories. */
#include "tools/parts.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/control_socket.h"
#include "tools/message.h"

/* Enough for a slow disk. */
#define PATIENCE_SECONDS 120

static const char snapshot[] = "snapshot-";

/*
 * Connects to the supervisor that records into a folder, or into this host's directory in
 * it; -errno when there is none.
 */
static int connect_to(const char *folder)
{
	char host[256] = "", below[PATH_MAX], place[TAP_LINK_PLACE_SIZE];
	char *real = realpath(folder, NULL);
	int link = -ECONNREFUSED;

	if (real && !gethostname(host, sizeof(host) - 1)) {
		tap_link_place(real, place);
		link = tap_link_connect(place);
		if (link < 0 && snprintf(below, sizeof(below), "%s/%s", real, host) <
					(int) sizeof(below)) {
			tap_link_place(below, place);
			link = tap_link_connect(place);
		}
	}
	free(real);
	return link;
}

int tap_parts_complete(struct tap_parts *parts, const char *folder)
{
	const struct tap_question question = {.verb = TAP_LINK_ROTATE};
	struct tap_answer answer;
	int ret, link = connect_to(folder);

	*parts = (struct tap_parts){0};
	if (link < 0)
		return 0;
	tap_link_set_patience(link, PATIENCE_SECONDS);
	ret = tap_link_ask(link, &question, -1);
	if (!ret)
		ret = tap_link_receive_answer(link, &answer);
	close(link);
	/* The recording has ended meanwhile. */
	if (ret == -EPIPE || ret == -ECONNRESET)
		return 0;
	if (ret || answer.error) {
		tap_message_write(
			"cannot complete the running recording in %s: %s", folder,
			ret	       ? strerror(-ret)
			: *answer.text ? answer.text
				       : "the LTTng session daemon does not answer");
		return TAP_EXIT_FAILURE;
	}
	if (!*answer.path)
		return 0;
	parts->growing = strdup(answer.path);
	return parts->growing ? 0 : TAP_EXIT_FAILURE;
}

static bool is_newest(const char *path, int base)
{
	char folder[PATH_MAX];
	const char *name = path + base;
	struct dirent *entry;
	bool newest = true;
	DIR *siblings;

	snprintf(folder, sizeof(folder), "%.*s", base, path);
	siblings = opendir(folder);
	if (!siblings)
		return true;
	while (newest && (entry = readdir(siblings)))
		newest = strncmp(entry->d_name, snapshot, strlen(snapshot)) ||
			 strverscmp(entry->d_name, name) <= 0;
	closedir(siblings);
	return newest;
}

static bool is_in(const char *path, int base, const char *folder)
{
	char here[PATH_MAX], *real;
	bool is;

	snprintf(here, sizeof(here), "%.*s", base, path);
	real = realpath(here, NULL);
	is = real && !strcmp(real, folder);
	free(real);
	return is;
}

bool tap_parts_skip(const struct tap_parts *parts, const char *path, int base)
{
	const char *name = path + base;

	if (!strncmp(name, snapshot, strlen(snapshot)))
		return !is_newest(path, base);
	/*
	 * Everything except archives, other parts and snapshots is still being written.
	 */
	if (parts->growing && strcmp(name, "archives") && strncmp(name, "part-", 5))
		return is_in(path, base, parts->growing);
	return false;
}

void tap_parts_free(struct tap_parts *parts)
{
	free(parts->growing);
	*parts = (struct tap_parts){0};
}
