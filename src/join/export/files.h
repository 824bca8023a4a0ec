/* SPDX-License-Identifier: MIT */
/*
 * The files of an export: FOLDER/TABLE/host=NAME/part-0.csv or part-0.jsonl, one for each
 * table and host, and FOLDER/columns.csv, which names the columns and their types.
 *
 * Hides folders, names of hosts in paths, and that no file stays open: a thousand hosts
 * have more files than a process may open, so rows are held until there are many.
 */
#ifndef TAP_JOIN_EXPORT_FILES_H
#define TAP_JOIN_EXPORT_FILES_H

#include "join/base/table.h"
#include "join/export/tables.h"

struct tap_export_host;

struct tap_export_files {
	/* The owner sets these; the rest is zero at first. */
	const char *folder; /* that is filled; it exists */
	const char *kept;   /* has the hosts that may not be exported again; NULL: none */
	bool is_json;

	struct tap_json json;
	struct tap_buffer line;
	struct tap_export_host *hosts, *latest;
};

/* Each returns 0, -EEXIST for a host that is exported already, or another -errno. */

/* Makes the files of a host, if it has none. */
int tap_export_files_add_host(struct tap_export_files *files, const char *host);
/* Adds a row to a table of a host. */
int tap_export_files_write(struct tap_export_files *files, const char *host,
			   enum tap_export_name table, const void *row);
/* Writes what is held. */
int tap_export_files_finish(struct tap_export_files *files);

void tap_export_files_free(struct tap_export_files *files);

#endif
