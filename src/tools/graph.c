/* SPDX-License-Identifier: MIT */
/* From folders to a babeltrace2 graph, and from its errors to one line. */
#include "tools/graph.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/message.h"
#include "tools/parts.h"
#include "tools/plugins.h"
#include "tools/record_output.h"
#include "tools/snapshots.h"

/* Directories open at once while looking for traces. */
#define FOLDERS_OPEN 32

/* While a source has nothing yet; traces on disk never do that. */
#define AGAIN_NS 10000000

struct found_trace {
	char *path;
	dev_t device;
	ino_t inode;
	const bt_component_source *source; /* of the graph being made */
};

struct found_traces {
	struct found_trace *list;
	size_t count;
	size_t room;
	int error;   /* errno of a folder that could not be read */
	char *parts; /* a temporary folder with the streams of damaged traces, or NULL */
	struct tap_snapshots snapshots;
};

/* nftw() has no argument for its callback: set during find_traces() alone. */
static struct found_traces *finding;
static struct tap_parts finding_in;

/* Takes the path when it returns 0, else it returns an errno. */
static int append_trace(struct found_traces *traces, char *path,
			const struct stat *status)
{
	struct found_trace *trace;

	if (traces->count == traces->room) {
		size_t room = traces->room ? traces->room * 2 : 16;
		struct found_trace *list = realloc(traces->list, room * sizeof(*list));

		if (!list)
			return ENOMEM;
		traces->list = list;
		traces->room = room;
	}
	trace = &traces->list[traces->count++];
	trace->path = path;
	trace->device = status->st_dev;
	trace->inode = status->st_ino;
	trace->source = NULL;
	return 0;
}

static int add_trace(const char *metadata, const struct stat *status, size_t base)
{
	char *path;
	size_t i;

	for (i = 0; i < finding->count; i++)
		if (finding->list[i].device == status->st_dev &&
		    finding->list[i].inode == status->st_ino)
			return 0;
	path = strndup(metadata, base > 1 ? base - 1 : base);
	if (!path || append_trace(finding, path, status)) {
		free(path);
		return ENOMEM;
	}
	return 0;
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *at)
{
	if (type == FTW_DNR && !finding->error)
		finding->error = EACCES;
	if (type == FTW_D && at->level && tap_parts_skip(&finding_in, path, at->base))
		return FTW_SKIP_SUBTREE;
	if (type != FTW_F || !S_ISREG(status->st_mode) ||
	    strcmp(path + at->base, "metadata"))
		return FTW_CONTINUE;
	return add_trace(path, status, (size_t) at->base) ? FTW_STOP : FTW_CONTINUE;
}

static int compare_traces(const void *left, const void *right)
{
	const struct found_trace *a = left, *b = right;

	return strcmp(a->path, b->path);
}

/* The traces below a folder; says so when there is none.  Returns an exit status. */
static int find_traces(struct found_traces *traces, const char *folder)
{
	size_t before = traces->count;
	struct stat status;
	bool is_growing;
	int ret;

	if (stat(folder, &status)) {
		tap_message_write("cannot read %s: %s", folder, strerror(errno));
		return TAP_EXIT_USAGE;
	}
	if (!S_ISDIR(status.st_mode)) {
		tap_message_write(
			"%s is not a folder: give the folder that was recorded into",
			folder);
		return TAP_EXIT_USAGE;
	}
	ret = tap_parts_complete(&finding_in, folder);
	if (ret)
		return ret;
	finding = traces;
	traces->error = 0;
	ret = nftw(folder, visit, FOLDERS_OPEN, FTW_ACTIONRETVAL);
	finding = NULL;
	is_growing = finding_in.growing;
	tap_parts_free(&finding_in);
	if (ret || (traces->count == before && traces->error)) {
		tap_message_write("cannot read %s: %s", folder,
				  strerror(ret > 0   ? ENOMEM
					   : ret < 0 ? errno
						     : traces->error));
		return TAP_EXIT_USAGE;
	}
	if (!traces->count && is_growing) {
		tap_message_write("nothing is recorded in %s yet, which goes on (a flight "
				  "recorder writes at \"ccltap snapshot\")", folder);
		return TAP_EXIT_FAILURE;
	}
	/* The same folder named twice is no mistake. */
	if (!traces->count) {
		tap_message_write("no trace in %s: a CTF trace is a folder with a file "
				  "\"metadata\"; record one with \"ccltap record -o %s\"",
				  folder, folder);
		return TAP_EXIT_USAGE;
	}
	for (; !ret && before < traces->count; before++)
		ret = tap_snapshots_add(&traces->snapshots, traces->list[before].path,
					folder);
	if (ret)
		return ret;
	/* The order of a directory is the file system's, and changes with a copy. */
	qsort(traces->list, traces->count, sizeof(*traces->list), compare_traces);
	return 0;
}

/* What babeltrace2 says was wrong first, as far as that is one line; and forgets it. */
static void get_cause(char *text, size_t size)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *message = "unknown error";

	if (error && bt_error_get_cause_count(error))
		message = bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(error, 0));
	snprintf(text, size, "%.*s", (int) strcspn(message, "\n"), message);
	if (error)
		bt_error_release(error);
}

/* ---- The graph ---- */

/* Where the streams go: a sink of ours, or a filter of ours before a sink that is not. */
struct reader {
	const bt_component_sink *sink;
	const bt_component_filter *filter;
};

/* The port that is free: each that is connected makes another. */
static const bt_port_input *free_port(const struct reader *reader)
{
	if (reader->filter)
		return bt_component_filter_borrow_input_port_by_index_const(
			reader->filter,
			bt_component_filter_get_input_port_count(reader->filter) - 1);
	return bt_component_sink_borrow_input_port_by_index_const(
		reader->sink, bt_component_sink_get_input_port_count(reader->sink) - 1);
}

static bool connect_source(bt_graph *graph, const bt_component_source *source,
			   const struct reader *reader)
{
	uint64_t i, count = bt_component_source_get_output_port_count(source);

	for (i = 0; i < count; i++)
		if (bt_graph_connect_ports(
			    graph,
			    bt_component_source_borrow_output_port_by_index_const(source,
										  i),
			    free_port(reader), NULL))
			return false;
	return true;
}

static const bt_component_source *add_source(bt_graph *graph, const bt_plugin *ctf,
					     const char *path, size_t number)
{
	const bt_component_class_source *class =
		bt_plugin_borrow_source_component_class_by_name_const(ctf, "fs");
	const bt_component_source *source = NULL;
	bt_value *params, *inputs = NULL;
	char name[32];

	snprintf(name, sizeof(name), "trace%zu", number);
	params = bt_value_map_create();
	if (class && params &&
	    !bt_value_map_insert_empty_array_entry(params, "inputs", &inputs) &&
	    !bt_value_array_append_string_element(inputs, path))
		bt_graph_add_source_component(graph, class, name, params,
					      BT_LOGGING_LEVEL_NONE, &source);
	bt_value_put_ref(params);
	return source;
}

static bool add_sink(bt_graph *graph, const bt_plugin *own, const char *name,
		     const bt_value *params, struct reader *reader)
{
	const bt_component_class_sink *class =
		bt_plugin_borrow_sink_component_class_by_name_const(own, name);

	return class &&
	       !bt_graph_add_sink_component(graph, class, name, params,
					    BT_LOGGING_LEVEL_NONE, &reader->sink);
}

/* What babeltrace2's own sink for CTF is told.  NULL: memory is short. */
static bt_value *make_writer_params(const char *folder)
{
	bt_value *params = bt_value_map_create();

	if (params && !bt_value_map_insert_string_entry(params, "path", folder) &&
	    !bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE) &&
	    /* Before 2.1 it writes nothing but CTF 1.8, and knows no such parameter. */
	    ((bt_version_get_major() == 2 && bt_version_get_minor() == 0) ||
	     !bt_value_map_insert_string_entry(params, "ctf-version", "1")))
		return params;
	bt_value_put_ref(params);
	return NULL;
}

static bool add_writer(bt_graph *graph, const bt_plugin *own, const bt_plugin *ctf,
		       const bt_value *params, const char *folder, struct reader *reader)
{
	const bt_component_class_filter *filter =
		bt_plugin_borrow_filter_component_class_by_name_const(own, "timeline");
	const bt_component_class_sink *sink =
		bt_plugin_borrow_sink_component_class_by_name_const(ctf, "fs");
	bt_value *writer_params = make_writer_params(folder);
	bool is_added =
		filter && sink && writer_params &&
		!bt_graph_add_filter_component(graph, filter, "timeline", params,
					       BT_LOGGING_LEVEL_NONE, &reader->filter) &&
		!bt_graph_add_sink_component(graph, sink, "ctf", writer_params,
					     BT_LOGGING_LEVEL_NONE, &reader->sink) &&
		!bt_graph_connect_ports(
			graph,
			bt_component_filter_borrow_output_port_by_index_const(
				reader->filter, 0),
			bt_component_sink_borrow_input_port_by_index_const(reader->sink,
									   0),
			NULL);

	bt_value_put_ref(writer_params);
	return is_added;
}

/* Returns an exit status; to is the folder that is written, or NULL. */
static int run(bt_graph *graph, const char *to)
{
	static const struct timespec pause = {.tv_nsec = AGAIN_NS};
	bt_graph_run_status status;
	char cause[512];

	while ((status = bt_graph_run(graph)) == BT_GRAPH_RUN_STATUS_AGAIN)
		nanosleep(&pause, NULL);
	if (status == BT_GRAPH_RUN_STATUS_OK)
		return 0;
	if (status == BT_GRAPH_RUN_STATUS_MEMORY_ERROR)
		snprintf(cause, sizeof(cause), "out of memory");
	else
		get_cause(cause, sizeof(cause));
	/* babeltrace2's writer does not say why it failed; our filter has only memory. */
	if (to && status != BT_GRAPH_RUN_STATUS_MEMORY_ERROR)
		tap_message_write("cannot write all of %s, what is there is not whole: "
				  "is there room for it?",
				  to);
	else
		tap_message_write("cannot go on: %s", cause);
	return TAP_EXIT_FAILURE;
}

/* ---- Traces of which a stream cannot be read ---- */

/* Whether babeltrace2 opens this trace; else the cause. */
static bool can_open(const bt_plugin *ctf, const char *path, char *cause, size_t size)
{
	bt_graph *graph = bt_graph_create(0);
	bool is_open = graph && add_source(graph, ctf, path, 0);

	if (!is_open)
		get_cause(cause, size);
	bt_graph_put_ref(graph);
	return is_open;
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

/* A folder with links to the metadata and to one stream, in parts; NULL: none. */
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

/*
 * babeltrace2 refuses a trace if one of its stream files is cut short.  So each
 * stream file becomes a trace of its own, and the ones that it refuses are left
 * out.  Returns how many can be read; *missing grows by the others.
 */
static size_t add_parts(struct found_traces *traces, const bt_plugin *ctf,
			const char *trace, uint64_t *missing)
{
	DIR *folder = opendir(trace);
	size_t readable = 0;
	struct dirent *entry;
	uint64_t refused = 0;
	char cause[512];

	while (folder && (entry = readdir(folder))) {
		struct stat status = {0};
		char *part;

		if (*entry->d_name == '.' || !strcmp(entry->d_name, "metadata") ||
		    fstatat(dirfd(folder), entry->d_name, &status, 0) ||
		    !S_ISREG(status.st_mode))
			continue;
		part = make_part(traces->parts, trace, entry->d_name);
		if (part && can_open(ctf, part, cause, sizeof(cause)) &&
		    !append_trace(traces, part, &status)) {
			readable++;
			continue;
		}
		free(part);
		refused++;
	}
	if (folder)
		closedir(folder);
	if (readable)
		*missing += refused;
	return readable;
}

static const char *parts_folder(struct found_traces *traces)
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

/* The trace of this number cannot be read: its parts take its place, if any can. */
static void replace_trace(struct found_traces *traces, const bt_plugin *ctf, size_t i,
			  uint64_t *missing)
{
	char *path = traces->list[i].path;
	uint64_t before = *missing;
	char cause[512];

	get_cause(cause, sizeof(cause));
	traces->count--;
	memmove(&traces->list[i], &traces->list[i + 1],
		(traces->count - i) * sizeof(*traces->list));
	if (parts_folder(traces) && add_parts(traces, ctf, path, missing))
		tap_message_write("left %" PRIu64 " damaged streams of %s out: %s",
				  *missing - before, path, cause);
	else
		tap_message_write("cannot read the trace %s: %s", path, cause);
	free(path);
}

/*
 * A graph with the traces that can be read; the others are told of and left out.
 * A graph in which a source failed is of no more use: the next one is without.
 * Returns NULL when no trace is left.
 */
static bt_graph *make_graph(const bt_plugin *ctf, struct found_traces *traces,
			    uint64_t *missing)
{
	bt_graph *graph;
	size_t i;

	while (traces->count) {
		/* Version 0 of the messages: all that 2.0 has, and 2.1 still does. */
		graph = bt_graph_create(0);
		for (i = 0; graph && i < traces->count; i++) {
			traces->list[i].source =
				add_source(graph, ctf, traces->list[i].path, i);
			if (!traces->list[i].source)
				break;
		}
		if (i == traces->count)
			return graph;
		replace_trace(traces, ctf, i, missing);
		bt_graph_put_ref(graph);
	}
	return NULL;
}

/*
 * What recordings say of themselves, for the sink: their jobs, unless a trace is of none,
 * and the chunks that are missing.
 */
static bool add_recordings(const struct found_traces *traces, bt_value *params)
{
	struct tap_output_about about, before = {0};
	char *jobs = NULL, *longer;
	bool is_known = true;
	int64_t removed = 0;
	size_t i;

	/* They are in the order of their paths, so those of one recording are together. */
	for (i = 0; i < traces->count; i++) {
		if (!tap_output_describe(traces->list[i].path, &about) || !*about.job) {
			is_known = false;
			continue;
		}
		if (about.device == before.device && about.inode == before.inode)
			continue;
		before = about;
		removed += about.removed;
		if (asprintf(&longer, "%s%s\n", jobs ? jobs : "", about.job) < 0) {
			free(jobs);
			return false;
		}
		free(jobs);
		jobs = longer;
	}
	if (removed && bt_value_map_insert_signed_integer_entry(params, "removed-chunks",
								removed))
		is_known = false;
	if (is_known && jobs)
		bt_value_map_insert_string_entry(params, "jobs", jobs);
	free(jobs);
	return true;
}

/* What is made of the traces: a view of ours, or with a folder, traces in it. */
struct target {
	const char *sink;
	const char *folder;
	bt_value *params;
};

static bool add_reader(bt_graph *graph, const bt_plugin *own, const bt_plugin *ctf,
		       const struct target *target, struct reader *reader)
{
	return target->folder
		       ? add_writer(graph, own, ctf, target->params, target->folder,
				    reader)
		       : add_sink(graph, own, target->sink, target->params, reader);
}

/*
 * A graph whose writer has failed: babeltrace2 2.0 frees again what it has freed when
 * that is taken apart, so it stays until the process ends.
 */
static bt_graph *spoilt;

static int run_target(struct found_traces *traces, const struct target *target)
{
	const bt_plugin *own = tap_plugins_find_own();
	const bt_plugin *ctf = own ? tap_plugins_find_ctf() : NULL;
	struct reader reader = {0};
	bt_graph *graph = NULL;
	uint64_t missing = 0;
	int ret = TAP_EXIT_FAILURE;
	bool is_whole;
	char cause[512];
	size_t i;

	if (!own || !ctf)
		goto out;
	ret = TAP_EXIT_USAGE;
	graph = make_graph(ctf, traces, &missing);
	if (!graph)
		goto out;
	if (missing &&
	    bt_value_map_insert_signed_integer_entry(target->params, "damaged-streams",
						     (int64_t) missing)) {
		tap_message_write("out of memory");
		goto out;
	}
	if (!add_recordings(traces, target->params) ||
	    !tap_snapshots_add_params(&traces->snapshots, target->params)) {
		tap_message_write("out of memory");
		goto out;
	}
	is_whole = add_reader(graph, own, ctf, target, &reader);
	for (i = 0; is_whole && i < traces->count; i++)
		is_whole = connect_source(graph, traces->list[i].source, &reader);
	if (is_whole) {
		ret = run(graph, target->folder);
		if (ret && target->folder) {
			spoilt = graph;
			graph = NULL;
		}
	} else {
		get_cause(cause, sizeof(cause));
		tap_message_write("%s", cause);
	}
out:
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(ctf);
	bt_plugin_put_ref(own);
	return ret;
}

static void free_traces(struct found_traces *traces)
{
	size_t i;

	for (i = 0; i < traces->count; i++)
		free(traces->list[i].path);
	free(traces->list);
	tap_snapshots_free(&traces->snapshots);
	if (!traces->parts)
		return;
	nftw(traces->parts, remove_one, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
	free(traces->parts);
}

/* Takes the reference of the parameters. */
static int read_folders(char *const *folders, int count, const struct target *target)
{
	struct found_traces traces = {0};
	int i, ret = 0;

	if (!target->params) {
		tap_message_write("out of memory");
		return TAP_EXIT_FAILURE;
	}
	for (i = 0; !ret && i < count; i++)
		ret = find_traces(&traces, folders[i]);
	if (!ret)
		tap_snapshots_tell(&traces.snapshots);
	if (!ret)
		ret = run_target(&traces, target);
	free_traces(&traces);
	bt_value_put_ref(target->params);
	return ret;
}

int tap_graph_run(char *const *folders, int count, const char *sink, bt_value *params)
{
	const struct target target = {.sink = sink, .params = params};

	return read_folders(folders, count, &target);
}

/* Whether there is nothing in a folder; else that is said. */
static bool is_empty(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	if (!folder) {
		tap_message_write("cannot write %s: %s", path,
				  errno == ENOTDIR ? "it is not a folder"
						   : strerror(errno));
		return false;
	}
	while ((entry = readdir(folder)) &&
	       (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")))
		;
	closedir(folder);
	if (entry)
		tap_message_write("%s exists and is not empty: choose another name",
				  path);
	return !entry;
}

int tap_graph_write(char *const *folders, int count, const char *to, bt_value *params)
{
	const struct target target = {.folder = to, .params = params};
	bool is_made = !mkdir(to, 0777), is_there = is_made || errno == EEXIST;
	int ret;

	if (!is_there)
		tap_message_write("cannot write %s: %s", to, strerror(errno));
	if (!is_there || (!is_made && !is_empty(to))) {
		bt_value_put_ref(params);
		return TAP_EXIT_USAGE;
	}
	ret = read_folders(folders, count, &target);
	/* It goes when nothing was written. */
	if (ret && is_made)
		rmdir(to);
	return ret;
}
