/* SPDX-License-Identifier: MIT */
/*
 * `ccltap export`: tables of a recording, for engines. The reader fills a folder of our
 * own in the one that the user names, DuckDB makes Parquet there, and what is complete is
 * moved to its place: who reads the folder meanwhile never sees half a table.
 */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/child.h"
#include "tools/columns.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/duckdb.h"
#include "tools/folders.h"
#include "tools/graph.h"
#include "tools/message.h"
#include "tools/reading.h"
#include "tools/snapshots.h"
#include "tools/traces.h"

/* Processes at a time are at most as many. */
#define JOBS_MAX 1024

struct request {
	const char *format;
	const char *duckdb; /* of Parquet */
	unsigned int jobs;  /* 0: all hosts are joined, in one process */
	struct tap_reading reading;
};

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0,
	 "parquet, by the program duckdb (default), csv or jsonl, without it", 0},
	{"jobs", 'j', "N", 0,
	 "convert each host's traces by themselves, N of them at a time", 0},
	{"output", 'o', "DIR", 0,
	 "write to the folder DIR, which may have other hosts' tables", 0},
	{"overwrite", TAP_KEY_OVERWRITE, NULL, 0,
	 "replace the tables of these hosts in DIR", 0},
	{0},
};

static error_t parse_jobs(struct request *request, const char *text)
{
	char *end;
	const unsigned long number = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || !number || number > JOBS_MAX) {
		tap_message_write("--jobs needs a number of processes from 1 to %d: %s",
				  JOBS_MAX, text);
		return EINVAL;
	}
	request->jobs = (unsigned int) number;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case 'j':
		return parse_jobs(request, arg);
	case 'f':
		if (strcmp(arg, "parquet") && strcmp(arg, "csv") &&
		    strcmp(arg, "jsonl")) {
			tap_message_write(
				"format \"%s\" is not known: choose parquet, csv or jsonl",
				arg);
			return EINVAL;
		}
		request->format = arg;
		return 0;
	}
	return tap_reading_parse(&request->reading, key, arg, state);
}

static const struct argp_child children[] = {{.argp = &tap_snapshots_argp}, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.children = children,
	.args_doc = "[TRACE...]",
	.doc = "Writes what is in TRACE, a folder that was recorded into, as tables for "
	       "DuckDB, Spark and the like; without it, what is in the newest recording "
	       "here. \"ccltap query\" asks them.",
};

static bool is_parquet(const struct request *request)
{
	return !strcmp(request->format, "parquet");
}

/* ---- Folders ---- */

/* Calls each for the entries of a folder; returns 0 or the first errno. */
static int for_each(const char *path, int (*each)(const char *name, void *data),
		    void *data)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int ret = folder ? 0 : errno;

	while (!ret && folder && (entry = readdir(folder)))
		if (*entry->d_name != '.')
			ret = each(entry->d_name, data);
	if (folder)
		closedir(folder);
	return ret;
}

static int say_not_empty(const char *name, void *data)
{
	(void) name;
	(void) data;
	return ENOTEMPTY;
}

/* Whether the folder may be written to: it is new, empty, or an export. */
static bool is_fit(const char *folder)
{
	struct tap_columns columns = {0};
	const int ret = tap_columns_read(&columns, folder);

	tap_columns_free(&columns);
	if (!ret || for_each(folder, say_not_empty, NULL) != ENOTEMPTY)
		return true;
	tap_message_write(
		"%s has other things than tables of ccltap: name a new folder with -o",
		folder);
	return false;
}

/* Makes the folder and in it another one, which is filled. Returns an exit status. */
static int make_staging(const char *folder, char staging[PATH_MAX])
{
	int ret = -tap_folders_make(folder, 0777, NULL);

	if (!ret && !is_fit(folder))
		return TAP_EXIT_USAGE;
	if (!ret && snprintf(staging, PATH_MAX, "%s/.export-XXXXXX", folder) >= PATH_MAX)
		ret = ENAMETOOLONG;
	if (!ret && !mkdtemp(staging))
		ret = errno;
	if (!ret)
		return 0;
	tap_message_write("cannot write %s: %s", folder,
			  ret == ENOTDIR || ret == EEXIST ? "it is not a folder"
							  : strerror(ret));
	return TAP_EXIT_USAGE;
}

/* ---- Parquet ---- */

struct conversion {
	FILE *statements;
	const char *staging;
	const struct tap_columns *columns;
	const struct tap_column *table;
};

static int convert_host(const char *host, void *data)
{
	const struct conversion *conversion = data;
	FILE *statements = conversion->statements;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/part-0.", conversion->table->table, host);
	fputs("COPY (FROM read_csv('", statements);
	fprintf(statements, "%scsv', hive_partitioning=false", path);
	tap_columns_add_csv(statements, conversion->columns, conversion->table);
	/* No dictionary for what hardly repeats, as times do: smaller, links by a quarter. */
	fprintf(statements,
		")) TO '%sparquet' (FORMAT parquet, COMPRESSION zstd, "
		"DICTIONARY_SIZE_LIMIT 2000);\n",
		path);
	return 0;
}

static int for_each_host(struct conversion *conversion,
			 int (*each)(const char *name, void *data))
{
	char path[PATH_MAX];
	int ret = 0;

	for (conversion->table = tap_columns_next(conversion->columns, NULL);
	     !ret && conversion->table;
	     conversion->table =
		     tap_columns_next(conversion->columns, conversion->table)) {
		if (snprintf(path, sizeof(path), "%s/%s", conversion->staging,
			     conversion->table->table) >= (int) sizeof(path))
			return ENAMETOOLONG;
		ret = for_each(path, each, conversion);
	}
	return ret;
}

static int remove_csv(const char *host, void *data)
{
	const struct conversion *conversion = data;
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s/%s/part-0.csv", conversion->staging,
		     conversion->table->table, host) >= (int) sizeof(path))
		return ENAMETOOLONG;
	return unlink(path) ? errno : 0;
}

/* Returns an exit status, or minus a signal. */
static int convert(const struct request *request, const char *staging)
{
	struct tap_columns columns = {0};
	struct conversion conversion = {.statements = tap_duckdb_begin(),
					.staging = staging,
					.columns = &columns};
	int ret, status;

	if (!conversion.statements)
		return TAP_EXIT_FAILURE;
	/* The first that knows DICTIONARY_SIZE_LIMIT. */
	fputs("SELECT error('it is ' || version() || ', and 1.2 or later is needed') "
	      "WHERE regexp_matches(version(), '^v(0|1\\.[01])\\.');\n",
	      conversion.statements);
	/* The rows of a file stay in order, and what is read at once has a bound. */
	fputs("SET memory_limit='1GB'; SET temp_directory='.duckdb';\n",
	      conversion.statements);
	/* One of several is itself one thread, so that all of them give the same bytes. */
	if (request->jobs)
		fputs("SET threads=1; SET memory_limit='512MB';\n",
		      conversion.statements);
	ret = tap_columns_read(&columns, staging);
	if (!ret)
		ret = for_each_host(&conversion, convert_host);
	status = ret ? fclose(conversion.statements)
		     : tap_duckdb_run(request->duckdb, conversion.statements, staging,
				      NULL, true);
	if (!ret && !status)
		ret = for_each_host(&conversion, remove_csv);
	tap_columns_free(&columns);
	if (ret)
		tap_message_write("cannot write %s: %s", staging, strerror(ret));
	return ret ? TAP_EXIT_FAILURE : status;
}

/* ---- To its place ---- */

struct move {
	const char *from, *to;
	const char *table;
	bool is_into_ours; /* in which nothing may be replaced */
};

static int move_host(const char *host, void *data)
{
	const struct move *move = data;
	char from[PATH_MAX], to[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s/%s/%s", move->from, move->table, host) >=
		    (int) sizeof(from) ||
	    snprintf(to, sizeof(to), "%s/%s/%s", move->to, move->table, host) >=
		    (int) sizeof(to))
		return ENAMETOOLONG;
	/* The reader has refused what may not be overwritten. */
	if (!move->is_into_ours)
		tap_traces_empty_folder(to);
	return rename(from, to) ? errno : 0;
}

static int move_table(const char *table, void *data)
{
	struct move *move = data;
	char from[PATH_MAX], to[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s/%s", move->from, table) >=
		    (int) sizeof(from) ||
	    snprintf(to, sizeof(to), "%s/%s", move->to, table) >= (int) sizeof(to))
		return ENAMETOOLONG;
	if (!strcmp(table, TAP_COLUMNS_FILE))
		return rename(from, to) ? errno : 0;
	if (mkdir(to, 0777) && errno != EEXIST)
		return errno;
	move->table = table;
	return for_each(from, move_host, move);
}

static int move_all(const char *staging, const char *folder)
{
	struct move move = {.from = staging, .to = folder};
	const int ret = for_each(staging, move_table, &move);

	if (!ret)
		return 0;
	tap_message_write("cannot write %s: %s", folder, strerror(ret));
	return TAP_EXIT_FAILURE;
}

static bool is_of_host(const char *name)
{
	return !name[strspn(name, "0123456789")];
}

/* Moves the tables of one host, from a folder of their own, to those of the others. */
static int gather_host(const char *name, void *data)
{
	struct move move = {.to = data, .is_into_ours = true};
	char from[PATH_MAX];
	int ret;

	if (!is_of_host(name))
		return 0;
	if (snprintf(from, sizeof(from), "%s/%s", move.to, name) >= (int) sizeof(from))
		return ENAMETOOLONG;
	move.from = from;
	ret = for_each(from, move_table, &move);
	if (ret)
		return ret;
	tap_traces_empty_folder(from);
	return rmdir(from) ? errno : 0;
}

static int gather(char *staging)
{
	const int ret = for_each(staging, gather_host, staging);

	if (!ret)
		return 0;
	tap_message_write("cannot put the tables of all hosts together: %s",
			  ret == ENOTEMPTY || ret == EEXIST
				  ? "two traces say in different ways that they are of one "
				    "host; export without --jobs"
				  : strerror(ret));
	return TAP_EXIT_FAILURE;
}

/* ---- The verb ---- */

static bt_value *make_params(const char *staging, void *data)
{
	const struct request *request = data;
	bt_value *params = bt_value_map_create();

	if (params && !bt_value_map_insert_string_entry(params, "folder", staging) &&
	    (request->reading.overwrite ||
	     !bt_value_map_insert_string_entry(params, "kept",
					       request->reading.output)) &&
	    !bt_value_map_insert_string_entry(params, "format",
					      is_parquet(request) ? "csv"
								  : request->format) &&
	    /* Of several processes, the one that has started them shows it. */
	    !bt_value_map_insert_bool_entry(params, "progress",
					    !request->jobs && isatty(STDERR_FILENO)))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

static int convert_host_folder(const char *folder, void *data)
{
	const struct request *request = data;

	return is_parquet(request) ? convert(request, folder) : 0;
}

/* Returns an exit status, or minus a signal. */
static int fill_each(struct request *request, char *staging)
{
	const struct tap_graph_each each = {
		.sink = "export",
		.make_params = make_params,
		.finish = convert_host_folder,
		.folder = staging,
		.processes = request->jobs,
		.shows_percent = isatty(STDERR_FILENO),
		.data = request,
	};
	const int ret = tap_graph_fill_each(request->reading.traces,
					    request->reading.trace_count, &each);

	return ret ? ret : gather(staging);
}

/* Returns an exit status, or minus a signal. */
static int fill(struct request *request, const char *staging)
{
	const int ret =
		tap_graph_fill(request->reading.traces, request->reading.trace_count,
			       "export", make_params(staging, request), staging);

	return !ret && is_parquet(request) ? convert(request, staging) : ret;
}

/* Returns an exit status, or minus a signal. */
static int export(struct request *request, char *staging)
{
	const int ret =
		request->jobs ? fill_each(request, staging) : fill(request, staging);

	return ret ? ret : move_all(staging, request->reading.output);
}

int tap_export_main(int argc, char **argv)
{
	struct request request = {.format = "parquet"};
	char staging[PATH_MAX];
	bool is_there;
	int ret;

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_EXIT_USAGE;
	if (!request.reading.output) {
		tap_message_write("where to write is missing: name a folder with -o");
		return TAP_EXIT_USAGE;
	}
	if (is_parquet(&request)) {
		request.duckdb = tap_duckdb_find("; or use --format csv");
		if (!request.duckdb)
			return TAP_EXIT_USAGE;
	}
	tap_child_fill_standard();
	is_there = !access(request.reading.output, F_OK);
	ret = make_staging(request.reading.output, staging);
	if (ret)
		return ret;
	ret = export(&request, staging);
	tap_traces_empty_folder(staging);
	rmdir(staging);
	if (ret && !is_there)
		rmdir(request.reading.output);
	if (ret < 0)
		tap_child_follow(-ret);
	return ret;
}
