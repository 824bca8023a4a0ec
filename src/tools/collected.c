/* SPDX-License-Identifier: MIT */
/*
 * Traces are read into the sink "ccltap.complete", whose first word is the verdict;
 * tables are asked the question "complete", each row of which is something that is
 * missing.
 */
#include "tools/collected.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/child.h"
#include "tools/columns.h"
#include "tools/graph.h"
#include "tools/message.h"
#include "tools/record_output.h"
#include "tools/terminal.h"

#define FOLDERS_OPEN 32

/* ---- What there is ---- */

static int find_metadata(const char *path, const struct stat *status, int type,
			 struct FTW *at)
{
	(void) status;
	return type == FTW_F && !strcmp(path + at->base, "metadata");
}

static bool has_trace(const char *folder)
{
	return nftw(folder, find_metadata, FOLDERS_OPEN, FTW_PHYS) == 1;
}

static bool has_tables(const char *folder)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/" TAP_COLUMNS_FILE, folder) <
		       (int) sizeof(path) &&
	       !access(path, R_OK);
}

/* ---- What the recorders say of their hosts ---- */

/* Returns an exit status: 1 if the recording of this host is not all here. */
static int look_at_host(const char *path, const char *host)
{
	struct tap_output_about about;

	if (tap_output_find_sent(path, &about)) {
		printf("%s: its trace is not here: it was sent to %s\n", host,
		       about.sent);
		return TAP_EXIT_FAILURE;
	}
	if (!tap_output_describe(path, &about) || about.has_ended)
		return 0;
	printf("%s: the recording goes on, or its supervisor was killed\n", host);
	return TAP_EXIT_FAILURE;
}

static int look_at_hosts(const char *folder)
{
	DIR *hosts = opendir(folder);
	char path[PATH_MAX];
	struct dirent *entry;
	int ret = 0;

	while (hosts && (entry = readdir(hosts)))
		if (*entry->d_name != '.' &&
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) <
			    (int) sizeof(path) &&
		    look_at_host(path, entry->d_name))
			ret = TAP_EXIT_FAILURE;
	if (hosts)
		closedir(hosts);
	return ret;
}

/* ---- Traces ---- */

static bt_value *make_params(const char *output)
{
	bt_value *params = bt_value_map_create();

	if (params && tap_terminal_add_params(params) &&
	    !bt_value_map_insert_string_entry(params, "output", output) &&
	    !bt_value_map_insert_bool_entry(params, "overwrite", true) &&
	    !bt_value_map_insert_bool_entry(params, "progress", isatty(STDERR_FILENO)))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

/* Copies a file to standard output; returns whether the first line has that word. */
static bool show(int fd, const char *word)
{
	FILE *file = fdopen(fd, "r");
	bool is_first = true, has_word = false;
	char line[4096];

	if (file)
		rewind(file);
	while (file && fgets(line, sizeof(line), file)) {
		has_word |= is_first && strstr(line, word);
		is_first = false;
		fputs(line, stdout);
	}
	if (file)
		fclose(file);
	else
		close(fd);
	return has_word;
}

static int check_traces(const char *folder)
{
	char *folders[] = {strdup(folder)};
	int fd = memfd_create("ccltap-complete", MFD_CLOEXEC), ret;
	char path[64];

	if (!*folders || fd < 0) {
		tap_message_write("cannot begin to read: %s", strerror(errno));
		free(*folders);
		return TAP_EXIT_FAILURE;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ret = tap_graph_run(folders, 1, "complete", make_params(path), false);
	free(*folders);
	if (ret) {
		close(fd);
		return TAP_EXIT_FAILURE;
	}
	return show(fd, "incomplete") ? TAP_EXIT_FAILURE : 0;
}

/* ---- Tables ---- */

/* Returns the status of `ccltap query`, whose answer is in the file. */
static int ask(const char *folder, int answer)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (dup2(answer, STDOUT_FILENO) >= 0)
			execl("/proc/self/exe", "ccltap", "query", "--format", "csv",
			      "complete", folder, (char *) NULL);
		_exit(TAP_EXIT_FAILURE);
	}
	if (pid < 0)
		return TAP_EXIT_FAILURE;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : TAP_EXIT_FAILURE;
}

/* Whether there is a row below the names of the columns. */
static bool has_rows(int fd)
{
	char text[4096];
	ssize_t length = pread(fd, text, sizeof(text), 0);
	const char *line = length > 0 ? memchr(text, '\n', (size_t) length) : NULL;

	return line && line + 1 < text + length;
}

static int check_tables(const char *folder)
{
	int fd = memfd_create("ccltap-complete", MFD_CLOEXEC);

	if (fd < 0 || ask(folder, fd)) {
		tap_message_write("%s: not known whether the tables are complete",
				  folder);
		if (fd >= 0)
			close(fd);
		return TAP_EXIT_FAILURE;
	}
	if (!has_rows(fd)) {
		puts("complete: the tables");
		close(fd);
		return 0;
	}
	puts("incomplete: the tables");
	show(fd, "");
	return TAP_EXIT_FAILURE;
}

int tap_collected_check(const char *folder, bool is_read)
{
	const bool are_tables = has_tables(folder), are_traces = has_trace(folder);
	int ret = look_at_hosts(folder);

	if (!are_tables && !are_traces && !ret) {
		tap_message_write("%s has no recording and no tables: is --source right?",
				  folder);
		return TAP_EXIT_FAILURE;
	}
	if (is_read && are_traces && check_traces(folder))
		ret = TAP_EXIT_FAILURE;
	if (is_read && are_tables && check_tables(folder))
		ret = TAP_EXIT_FAILURE;
	return ret;
}
