/* SPDX-License-Identifier: MIT */
/*
 * DuckDB, a program of its own, which makes Parquet and answers queries. Hides where it
 * is, how it is started so that no setting of the user's changes what it writes, and that
 * its statements come from a file in memory.
 */
#ifndef TAP_TOOLS_DUCKDB_H
#define TAP_TOOLS_DUCKDB_H

#include <stdbool.h>
#include <stdio.h>

/*
 * The program: of CCLTAP_DUCKDB, else in PATH. NULL after one line on stderr that says
 * how to get it, and then `instead`.
 */
const char *tap_duckdb_find(const char *instead);

/* A file for statements; NULL after a line on stderr. */
FILE *tap_duckdb_begin(void);

/* Adds a text in quotes; a path or a name may have quotes itself. */
void tap_duckdb_add_quoted(FILE *statements, const char *text);

/*
 * Runs the statements, which it closes, in a folder (NULL: here), with options of the
 * program's (up to NULL). is_quiet: what it says on stderr is one line of ours. Returns
 * an exit status, after a message when it is not 0, or minus the signal that ended the
 * program: then whoever calls this ends by it, too.
 */
int tap_duckdb_run(const char *program, FILE *statements, const char *folder,
		   const char *const *options, bool is_quiet);

#endif
