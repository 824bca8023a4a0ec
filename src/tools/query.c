/* SPDX-License-Identifier: MIT */
/*
 * `ccltap query`: a question to the tables of exports, answered by DuckDB. The questions
 * are files of SQL that run on other engines, too: each names tables, and here each table
 * is a view of the files in one or several folders.
 */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/compiler.h"
#include "tools/child.h"
#include "tools/columns.h"
#include "tools/command_line.h"
#include "tools/commands.h"
#include "tools/duckdb.h"
#include "tools/message.h"
#include "tools/place.h"
#include "tools/reading.h"

#define SUFFIX ".sql"
#define NAME_SIZE 64

enum { KEY_SQL = TAP_KEY_OTHERS, KEY_LIST };

struct request {
	const char *format;
	const char *sql; /* NULL: the name is the first argument */
	bool list;
	char **arguments;
	int count;
};

static const struct argp_option options[] = {
	{"sql", KEY_SQL, "SQL", 0, "ask this instead of a question that has a name", 0},
	{"list", KEY_LIST, NULL, 0, "list the questions that have a name", 0},
	{"format", 'f', "FORMAT", 0, "table, for people (default), csv or json", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *request = state->input;

	switch (key) {
	case KEY_SQL:
		request->sql = arg;
		return 0;
	case KEY_LIST:
		request->list = true;
		return 0;
	case 'f':
		if (strcmp(arg, "table") && strcmp(arg, "csv") && strcmp(arg, "json")) {
			tap_message_write(
				"format \"%s\" is not known: choose table, csv or json",
				arg);
			return EINVAL;
		}
		request->format = arg;
		return 0;
	case ARGP_KEY_ARGS:
		request->arguments = state->argv + state->next;
		request->count = state->argc - state->next;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "NAME [DIR...]\n--sql SQL [DIR...]\n--list",
	.doc = "Asks the tables that \"ccltap export\" wrote to the folders DIR; without "
	       "one, those in the current folder. --list says which questions have a "
	       "NAME.",
};

/* ---- The questions ---- */

static int is_question(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name);

	return length > strlen(SUFFIX) && length < NAME_SIZE &&
	       !strcmp(entry->d_name + length - strlen(SUFFIX), SUFFIX);
}

/* Names without suffix, sorted; the caller frees them. Returns how many, -1 after a
 * message. */
static int find_questions(struct dirent ***ret_names)
{
	const int count = scandir(tap_place_queries(), ret_names, is_question, alphasort);
	int i;

	if (count < 0)
		tap_message_write("cannot read %s: %s; is ccltap installed as a whole?",
				  tap_place_queries(), strerror(errno));
	for (i = 0; i < count; i++)
		*strrchr((*ret_names)[i]->d_name, '.') = '\0';
	return count;
}

static void free_questions(struct dirent **names, int count)
{
	while (count-- > 0)
		free(names[count]);
	free(names);
}

/* Opens a question; NULL with errno. */
static FILE *open_question(const char *name)
{
	char path[PATH_MAX];

	if (strchr(name, '/') ||
	    snprintf(path, sizeof(path), "%s/%s" SUFFIX, tap_place_queries(), name) >=
		    (int) sizeof(path)) {
		errno = ENOENT;
		return NULL;
	}
	return fopen(path, "re");
}

/* Its first line says what it asks. */
static void list_one(const char *name)
{
	FILE *file = open_question(name);
	char line[512] = "";

	if (!file || !fgets(line, sizeof(line), file) || strncmp(line, "-- ", 3))
		snprintf(line, sizeof(line), "-- \n");
	printf("%-12s  %s", name, line + 3);
	if (file)
		fclose(file);
}

static int list_all(void)
{
	struct dirent **names = NULL;
	const int count = find_questions(&names);
	int i;

	if (count < 0)
		return TAP_EXIT_FAILURE;
	for (i = 0; i < count; i++)
		list_one(names[i]->d_name);
	free_questions(names, count);
	return 0;
}

static int refuse(const char *name)
{
	struct tap_meant meant = {.word = name};
	struct dirent **names = NULL;
	const int count = find_questions(&names);
	int i;

	if (count < 0)
		return TAP_EXIT_FAILURE;
	for (i = 0; i < count; i++)
		tap_meant_add(&meant, names[i]->d_name);
	if (meant.name)
		tap_message_write(
			"no question \"%s\": did you mean \"%s\"? \"ccltap query "
			"--list\" lists them",
			name, meant.name);
	else
		tap_message_write(
			"no question \"%s\": \"ccltap query --list\" lists them", name);
	free_questions(names, count);
	return TAP_EXIT_USAGE;
}

/* Adds a question; how many folders it asks, 0: as many as there are, is set. */
static void add_question(FILE *statements, FILE *question, int *ret_folders)
{
	char line[1024];

	*ret_folders = 0;
	while (fgets(line, sizeof(line), question)) {
		sscanf(line, "-- folders: %d", ret_folders);
		fputs(line, statements);
	}
	fputs(";\n", statements);
}

/* ---- The tables ---- */

/* How a kind of file is read. */
static const struct reader {
	const char *suffix, *function;
	bool has_types; /* in the file */
} readers[] = {
	{"parquet", "read_parquet", true},
	{"csv", "read_csv", false},
	{"jsonl", "read_json", false},
};

struct folder {
	const char *path;
	int run; /* from 1 */
	struct tap_columns columns;
};

static void add_files(FILE *statements, const glob_t *files)
{
	size_t i;

	putc('[', statements);
	for (i = 0; i < files->gl_pathc; i++) {
		if (i)
			fputs(", ", statements);
		tap_duckdb_add_quoted(statements, files->gl_pathv[i]);
	}
	putc(']', statements);
}

/* Adds "SELECT ... FROM read_csv(...)" for the files of one kind. */
static void add_select(FILE *statements, const struct folder *folder,
		       const struct tap_column *table, const struct reader *reader,
		       const glob_t *files)
{
	fputs("SELECT ", statements);
	tap_columns_add_names(statements, &folder->columns, table);
	fprintf(statements, "host, CAST(%d AS BIGINT) AS run FROM %s(", folder->run,
		reader->function);
	add_files(statements, files);
	fputs(", hive_partitioning=true, hive_types={'host': 'VARCHAR'}", statements);
	if (reader->has_types) {
		fputs(", union_by_name=true", statements);
	} else if (!strcmp(reader->suffix, "csv")) {
		tap_columns_add_csv(statements, &folder->columns, table);
	} else {
		fputs(", format='newline_delimited', columns=", statements);
		tap_columns_add_types(statements, &folder->columns, table);
	}
	fputs(")", statements);
}

/* A path, in which nothing means other files. */
static bool escape(const char *path, char *to, size_t size)
{
	size_t used = 0;

	for (; *path && used + 2 < size; path++) {
		if (strchr("*?[]\\", *path))
			to[used++] = '\\';
		to[used++] = *path;
	}
	to[used] = '\0';
	return !*path;
}

/* Adds what the folder has of a table; returns how many files. */
static size_t add_folder(FILE *statements, const struct folder *folder,
			 const struct tap_column *table, bool is_first)
{
	char path[PATH_MAX], pattern[PATH_MAX + 128];
	size_t i, count = 0;

	if (!escape(folder->path, path, sizeof(path)))
		return 0;
	for (i = 0; i < ARRAY_SIZE(readers); i++) {
		glob_t files = {0};

		snprintf(pattern, sizeof(pattern), "%s/%s/host=*/*.%s", path,
			 table->table, readers[i].suffix);
		if (!glob(pattern, 0, NULL, &files)) {
			if (count || !is_first)
				fputs("\nUNION ALL BY NAME ", statements);
			add_select(statements, folder, table, &readers[i], &files);
			count += files.gl_pathc;
		}
		globfree(&files);
	}
	return count;
}

/* Adds a view of a table; returns how many files it has. */
static size_t add_view(FILE *statements, const struct folder *folders, int count,
		       const struct tap_column *table)
{
	size_t files = 0;
	int i;

	fprintf(statements, "CREATE TEMP VIEW \"%s\" AS\n", table->table);
	for (i = 0; i < count; i++)
		files += add_folder(statements, &folders[i], table, !files);
	fputs(";\n", statements);
	return files;
}

static int open_folder(struct folder *folder, const char *path, int run)
{
	int ret;

	folder->path = path;
	folder->run = run;
	/* DuckDB takes a list of names for patterns. */
	if (strpbrk(path, "*?[]")) {
		tap_message_write(
			"cannot read %s: DuckDB takes *, ?, [ and ] in a name for "
			"a pattern; rename the folder",
			path);
		return TAP_EXIT_USAGE;
	}
	ret = tap_columns_read(&folder->columns, path);
	if (!ret)
		return 0;
	if (ret == ENOENT || ret == ENOTDIR)
		tap_message_write(
			"no tables in %s: write them with \"ccltap export -o %s "
			"TRACE\"",
			path, path);
	else
		tap_message_write("cannot read %s/" TAP_COLUMNS_FILE ": %s", path,
				  ret == EINVAL ? "it is damaged" : strerror(ret));
	return TAP_EXIT_USAGE;
}

/* Adds the views; the folders are open. Returns an exit status. */
static int add_views(FILE *statements, const struct folder *folders, int count)
{
	const struct tap_column *table;

	/* The first one decides which tables there are. */
	for (table = tap_columns_next(&folders->columns, NULL); table;
	     table = tap_columns_next(&folders->columns, table)) {
		if (add_view(statements, folders, count, table))
			continue;
		tap_message_write("no table \"%s\" in %s: the export was not completed",
				  table->table, folders->path);
		return TAP_EXIT_USAGE;
	}
	return 0;
}

/* ---- The verb ---- */

static int run(const struct request *request, const char *duckdb, FILE *statements)
{
	const char *mode[] = {!strcmp(request->format, "csv")	 ? "-csv"
			      : !strcmp(request->format, "json") ? "-json"
								 : "-table",
			      "-nullvalue", !strcmp(request->format, "table") ? "-" : "",
			      NULL};

	return tap_duckdb_run(duckdb, statements, NULL, mode, false);
}

/* Asks folders that are open. Takes the question, NULL: that of --sql. */
static int ask(const struct request *request, const char *duckdb, FILE *question,
	       const struct folder *folders, int count)
{
	FILE *statements = tap_duckdb_begin();
	int wanted = 0, ret;

	if (!statements)
		return TAP_EXIT_FAILURE;
	ret = add_views(statements, folders, count);
	if (question)
		add_question(statements, question, &wanted);
	else
		fprintf(statements, "%s\n;\n", request->sql);
	if (!ret && wanted && wanted != count) {
		tap_message_write("this question is about %d folders: name as many",
				  wanted);
		ret = TAP_EXIT_USAGE;
	}
	if (!ret)
		return run(request, duckdb, statements);
	fclose(statements);
	return ret;
}

static int open_and_ask(const struct request *request, const char *duckdb, FILE *question,
			char *const *paths, int count)
{
	struct folder *folders = calloc((size_t) count, sizeof(*folders));
	int i, ret = 0;

	if (!folders) {
		tap_message_write("out of memory");
		return TAP_EXIT_FAILURE;
	}
	for (i = 0; !ret && i < count; i++)
		ret = open_folder(&folders[i], paths[i], i + 1);
	if (!ret)
		ret = ask(request, duckdb, question, folders, count);
	for (i = 0; i < count; i++)
		tap_columns_free(&folders[i].columns);
	free(folders);
	return ret;
}

int tap_query_main(int argc, char **argv)
{
	struct request request = {.format = "table"};
	static char here[] = ".";
	char *const current[] = {here};
	FILE *question = NULL;
	const char *duckdb;
	int skipped, ret;

	if (tap_command_line_parse(&argp, argc, argv, 0, &request))
		return TAP_EXIT_USAGE;
	if (request.list)
		return list_all();
	skipped = !request.sql;
	if (skipped > request.count) {
		tap_message_write("a question is missing: \"ccltap query --list\" lists "
				  "them");
		return TAP_EXIT_USAGE;
	}
	if (skipped)
		question = open_question(request.arguments[0]);
	if (skipped && !question)
		return refuse(request.arguments[0]);
	duckdb = tap_duckdb_find("");
	ret = TAP_EXIT_USAGE;
	if (duckdb)
		ret = request.count > skipped
			      ? open_and_ask(&request, duckdb, question,
					     request.arguments + skipped,
					     request.count - skipped)
			      : open_and_ask(&request, duckdb, question, current, 1);
	if (question)
		fclose(question);
	if (ret < 0)
		tap_child_follow(-ret);
	return ret;
}
