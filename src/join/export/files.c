/* SPDX-License-Identifier: MIT */
/* Each table of each host has a buffer, which is appended to its file when it is full. */
#include "join/export/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE 32768

/* What engines that read such folders take for no value. */
#define NO_HOST "__HIVE_DEFAULT_PARTITION__"

struct tap_export_host {
	char *name;
	char *encoded; /* in paths */
	struct tap_buffer rows[TAP_EXPORT_TABLES];
	struct tap_export_host *next;
};

/* ---- Paths ---- */

/* As in a URL: a name may have a slash, and a percent sign means such a code. */
static char *encode(const char *name)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-_.";
	char *encoded, *at;

	if (!*name)
		return strdup(NO_HOST);
	encoded = malloc(3 * strlen(name) + 1);
	for (at = encoded; encoded && *name; name++)
		at += sprintf(at, strchr(plain, *name) ? "%c" : "%%%02X",
			      (unsigned char) *name);
	if (encoded)
		*at = '\0';
	return encoded;
}

/* Returns 0, or -ENAMETOOLONG. */
static int make_path(char path[PATH_MAX], const struct tap_export_files *files,
		     const struct tap_export_host *host, enum tap_export_name table)
{
	const int length = snprintf(path, PATH_MAX, "%s/%s/host=%s/part-0.%s",
				    files->folder, tap_export_tables[table].name,
				    host->encoded, files->is_json ? "jsonl" : "csv");

	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* Makes the two folders of a file. */
static int make_folders(const char *path)
{
	char folder[PATH_MAX];
	char *end, *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	end = strrchr(folder, '/');
	*end = '\0';
	slash = strrchr(folder, '/');
	*slash = '\0';
	if (mkdir(folder, 0777) && errno != EEXIST)
		return -errno;
	*slash = '/';
	return mkdir(folder, 0777) && errno != EEXIST ? -errno : 0;
}

/* ---- Bytes ---- */

static int write_all(int fd, const struct tap_buffer *bytes)
{
	size_t done = 0;

	while (done < bytes->used) {
		const ssize_t length = write(fd, bytes->data + done, bytes->used - done);

		if (length < 0)
			return -errno;
		done += (size_t) length;
	}
	return 0;
}

static int append(const char *path, struct tap_buffer *bytes, int flags)
{
	int fd, ret;

	if (bytes->is_short)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0666);
	if (fd < 0)
		return -errno;
	ret = write_all(fd, bytes);
	if (close(fd) && !ret)
		ret = -errno;
	bytes->used = 0;
	return ret;
}

static int flush(struct tap_export_files *files, struct tap_export_host *host,
		 enum tap_export_name table)
{
	char path[PATH_MAX];
	int ret = make_path(path, files, host, table);

	return ret ? ret : append(path, &host->rows[table], O_APPEND);
}

/* ---- Hosts ---- */

static int make_file(struct tap_export_files *files, struct tap_export_host *host,
		     enum tap_export_name table)
{
	char path[PATH_MAX];
	int ret = make_path(path, files, host, table);

	if (!ret)
		ret = make_folders(path);
	if (ret)
		return ret;
	if (!files->is_json)
		tap_export_add_names(&host->rows[table],
				     tap_export_tables[table].columns);
	return append(path, &host->rows[table], O_CREAT | O_EXCL);
}

static bool is_kept(const struct tap_export_files *files,
		    const struct tap_export_host *host)
{
	char path[PATH_MAX];

	return files->kept &&
	       snprintf(path, sizeof(path), "%s/%s/host=%s", files->kept,
			tap_export_tables[TAP_EXPORT_PROCESS].name,
			host->encoded) < (int) sizeof(path) &&
	       !access(path, F_OK);
}

static int make_host(struct tap_export_files *files, const char *name)
{
	struct tap_export_host *host = calloc(1, sizeof(*host));
	int table, ret;

	if (!host)
		return -ENOMEM;
	host->next = files->hosts;
	files->hosts = host;
	host->name = strdup(name);
	host->encoded = encode(name);
	if (!host->name || !host->encoded)
		return -ENOMEM;
	if (is_kept(files, host))
		return -EEXIST;
	for (table = 0, ret = 0; !ret && table < TAP_EXPORT_TABLES; table++)
		ret = make_file(files, host, (enum tap_export_name) table);
	return ret;
}

static struct tap_export_host *find_host(struct tap_export_files *files, const char *name)
{
	struct tap_export_host *host = files->latest;

	if (host && !strcmp(host->name, name))
		return host;
	for (host = files->hosts; host && strcmp(host->name, name); host = host->next)
		;
	if (host)
		files->latest = host;
	return host;
}

int tap_export_files_add_host(struct tap_export_files *files, const char *host)
{
	return find_host(files, host) ? 0 : make_host(files, host);
}

int tap_export_files_write(struct tap_export_files *files, const char *name,
			   enum tap_export_name table, const void *row)
{
	const struct tap_export_column *columns = tap_export_tables[table].columns;
	int ret = tap_export_files_add_host(files, name);
	struct tap_export_host *host;
	struct tap_buffer *rows;

	if (ret)
		return ret;
	host = find_host(files, name);
	rows = &host->rows[table];
	if (files->is_json)
		tap_export_add_json(rows, &files->json, columns, row);
	else
		tap_export_add_csv(rows, columns, row);
	return rows->used < BUFFER_SIZE && !rows->is_short ? 0
							   : flush(files, host, table);
}

static int write_types(struct tap_export_files *files)
{
	struct tap_buffer *line = &files->line;
	char path[PATH_MAX];
	size_t i;

	if (snprintf(path, sizeof(path), "%s/columns.csv", files->folder) >=
	    (int) sizeof(path))
		return -ENAMETOOLONG;
	tap_buffer_add_string(line, "table,column,type\n");
	for (i = 0; i < TAP_EXPORT_TABLES; i++)
		tap_export_add_types(line, &tap_export_tables[i]);
	return append(path, line, O_CREAT | O_EXCL);
}

int tap_export_files_finish(struct tap_export_files *files)
{
	struct tap_export_host *host;
	int table, ret = 0;

	for (host = files->hosts; host && !ret; host = host->next)
		for (table = 0; !ret && table < TAP_EXPORT_TABLES; table++)
			ret = flush(files, host, (enum tap_export_name) table);
	return ret ? ret : write_types(files);
}

void tap_export_files_free(struct tap_export_files *files)
{
	struct tap_export_host *host;
	int table;

	while ((host = files->hosts)) {
		files->hosts = host->next;
		for (table = 0; table < TAP_EXPORT_TABLES; table++)
			tap_buffer_free(&host->rows[table]);
		free(host->name);
		free(host->encoded);
		free(host);
	}
	tap_json_free(&files->json);
	tap_buffer_free(&files->line);
}
