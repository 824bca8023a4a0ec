/* SPDX-License-Identifier: MIT */
/*
 * Turns folders into a babeltrace2 graph, and its errors into one line. A child reads;
 * the parent leaves out what the child cannot read, and starts another child.
 */
#include "tools/graph.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/by_host.h"
#include "tools/child.h"
#include "tools/watched.h"
#include "tools/message.h"
#include "tools/pager.h"
#include "tools/parts.h"
#include "tools/plugins.h"
#include "tools/record_output.h"
#include "tools/sending.h"
#include "tools/snapshots.h"
#include "tools/traces.h"
#include "tools/workers.h"

/* Directories open at once while looking for traces. */
#define FOLDERS_OPEN 32

/* Pause while a source has no message yet, which does not happen for traces on disk. */
#define AGAIN_NS 10000000

/* nftw() passes no argument to its callback: set during find_traces() only. */
static struct tap_traces *finding;
static const struct tap_parts *finding_in;

static int add_trace(const char *metadata, const struct stat *status, size_t base)
{
	char *path;
	size_t i;

	for (i = 0; i < finding->count; i++)
		if (finding->list[i].device == status->st_dev &&
		    finding->list[i].inode == status->st_ino)
			return 0;
	path = strndup(metadata, base > 1 ? base - 1 : base);
	if (!path || tap_traces_append(finding, path, status)) {
		free(path);
		return ENOMEM;
	}
	return 0;
}

static int visit(const char *path, const struct stat *status, int type, struct FTW *at)
{
	if (type == FTW_DNR && !finding->error)
		finding->error = EACCES;
	if (type == FTW_D && at->level && tap_parts_skip(finding_in, path, at->base))
		return FTW_SKIP_SUBTREE;
	if (type != FTW_F || !S_ISREG(status->st_mode) ||
	    strcmp(path + at->base, "metadata"))
		return FTW_CONTINUE;
	return add_trace(path, status, (size_t) at->base) ? FTW_STOP : FTW_CONTINUE;
}

static int compare_traces(const void *left, const void *right)
{
	const struct tap_trace *a = left, *b = right;

	return strcmp(a->path, b->path);
}

/* The trace is with a relay daemon. */
static void report_sent(const char *folder, const struct tap_output_about *about)
{
	const size_t length = strcspn(about->sent, " ");

	tap_message_write(
		"the recording in %s was sent to the relay daemon at %.*s: read it "
		"there, in %s below that daemon's folder%s%s",
		folder, (int) length, about->sent,
		about->sent + length + !!about->sent[length],
		*about->lost ? "; not complete: " : "", about->lost);
}

/* Adds the traces below a folder; reports when there is none. Returns an exit status. */
static int find_traces(struct tap_traces *traces, struct tap_parts *parts,
		       const char *folder)
{
	size_t before = traces->count, growing = parts->growing.count;
	struct tap_output_about about;
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
	ret = tap_parts_complete(parts, folder);
	if (ret)
		return ret;
	finding = traces;
	finding_in = parts;
	traces->error = 0;
	ret = nftw(folder, visit, FOLDERS_OPEN, FTW_ACTIONRETVAL);
	finding = NULL;
	is_growing = parts->growing.count > growing;
	if (ret || (traces->count == before && traces->error)) {
		tap_message_write("cannot read %s: %s", folder,
				  strerror(ret > 0   ? ENOMEM
					   : ret < 0 ? errno
						     : traces->error));
		return TAP_EXIT_USAGE;
	}
	if (traces->count == before && tap_snapshots_report_absent())
		return TAP_EXIT_USAGE;
	if (!traces->count && tap_output_find_sent(folder, &about)) {
		report_sent(folder, &about);
		return TAP_EXIT_USAGE;
	}
	if (!traces->count && is_growing) {
		tap_message_write("nothing is recorded in %s yet; the recording is running (a flight "
				  "recorder writes at \"ccltap snapshot\")", folder);
		return TAP_EXIT_FAILURE;
	}
	/* Naming the same folder twice is no error. */
	if (!traces->count) {
		if (tap_output_describe(folder, &about))
			tap_message_write("the recording in %s is empty: no call that is "
					  "traced was made; \"ccltap doctor\" looks for "
					  "reasons",
					  folder);
		else
			tap_message_write("no trace in %s: a CTF trace is a folder with a "
					  "file \"metadata\"; record one with \"ccltap "
					  "record -o NEW_FOLDER -- PROGRAM\"",
					  folder);
		return TAP_EXIT_USAGE;
	}
	for (; !ret && before < traces->count; before++)
		ret = tap_snapshots_add(&traces->snapshots, traces->list[before].path,
					folder);
	if (ret)
		return ret;
	/*
	 * The order of directory entries depends on the file system and changes with a
	 * copy.
	 */
	qsort(traces->list, traces->count, sizeof(*traces->list), compare_traces);
	return 0;
}

/* ---- The graph ---- */

/*
 * Where the streams go: a sink of ccltap, or a filter of ccltap before babeltrace2's
 * sink.
 */
struct reader {
	const bt_component_sink *sink;
	const bt_component_filter *filter;
};

/* The free port: the component adds one for each that is connected. */
static const bt_port_input *free_port(const struct reader *reader)
{
	if (reader->filter)
		return bt_component_filter_borrow_input_port_by_index_const(
			reader->filter,
			bt_component_filter_get_input_port_count(reader->filter) - 1);
	return bt_component_sink_borrow_input_port_by_index_const(
		reader->sink, bt_component_sink_get_input_port_count(reader->sink) - 1);
}

static bool connect_watched(bt_graph *graph, const bt_component_filter *watched,
			  const struct reader *reader)
{
	uint64_t i, count = bt_component_filter_get_output_port_count(watched);

	for (i = 0; i < count; i++)
		if (bt_graph_connect_ports(
			    graph,
			    bt_component_filter_borrow_output_port_by_index_const(watched,
										  i),
			    free_port(reader), NULL))
			return false;
	return true;
}

/* Adds the paths of a trace and of those that its source reads, too. */
static bool add_inputs(bt_value *inputs, const struct tap_traces *traces, size_t number)
{
	size_t i;

	for (i = number; i < traces->count; i++)
		if ((i == number || traces->list[i].part_of == number + 1) &&
		    bt_value_array_append_string_element(inputs, traces->list[i].path))
			return false;
	return true;
}

/* babeltrace2 drops packets that two traces of one source have in common. */
static const bt_component_source *add_source(bt_graph *graph, const bt_plugin *ctf,
					     const struct tap_traces *traces,
					     size_t number)
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
	    add_inputs(inputs, traces, number))
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

/* Parameters of babeltrace2's own CTF sink. NULL: out of memory. */
static bt_value *make_writer_params(const char *folder)
{
	bt_value *params = bt_value_map_create();

	if (params && !bt_value_map_insert_string_entry(params, "path", folder) &&
	    !bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE) &&
	    /* Before 2.1 the sink writes only CTF 1.8 and does not know the parameter. */
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

/* Returns an exit status; `to` is the folder that is written, or NULL. */
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
		tap_watched_take_cause(cause, sizeof(cause));
	/*
	 * babeltrace2's writer gives no cause; ccltap's filter fails only when out of
	 * memory.
	 */
	if (to && status != BT_GRAPH_RUN_STATUS_MEMORY_ERROR)
		tap_message_write("cannot write all of %s, so nothing of it is kept: "
				  "is there room for it?",
				  to);
	else
		tap_message_write("cannot go on: %s", cause);
	return TAP_EXIT_FAILURE;
}

/* ---- Opening, in the child ---- */

static bool open_trace(bt_graph *graph, const bt_plugin *ctf,
		       struct tap_traces *traces, unsigned int i)
{
	struct tap_trace *trace = &traces->list[i];
	struct tap_watch *watch = traces->watch;

	watch->trace = i;
	watch->size = tap_traces_size(trace->path);
	tap_watch_enter(watch, TAP_STAGE_OPEN);
	trace->source = add_source(graph, ctf, traces, i);
	tap_watch_enter(watch, TAP_STAGE_OWN);
	return trace->source;
}

/* babeltrace2 does not open trace i: tells the parent, also about the traces after it. */
static void refuse_from(const bt_plugin *ctf, struct tap_traces *traces, unsigned int i)
{
	struct tap_watch *watch = traces->watch;
	bt_graph *graph = NULL;
	bool is_open = false;

	watch->has_refused = true;
	for (;;) {
		if (!is_open) {
			watch->refusals[i].is_refused = true;
			tap_watched_take_cause(watch->refusals[i].cause,
					     sizeof(watch->refusals[i].cause));
		}
		bt_graph_put_ref(graph);
		if (++i == traces->count)
			break;
		/* A graph in which a source failed cannot be used again. */
		graph = bt_graph_create(0);
		is_open = graph && (traces->list[i].part_of ||
				    open_trace(graph, ctf, traces, i));
	}
}

/* Makes a graph with all traces. NULL: some cannot be opened. */
static bt_graph *make_graph(const bt_plugin *ctf, struct tap_traces *traces)
{
	/* Message protocol version 0: the only one of 2.0, and 2.1 supports it. */
	bt_graph *graph = bt_graph_create(0);
	unsigned int i;

	for (i = 0; graph && i < traces->count; i++) {
		if (traces->list[i].part_of || open_trace(graph, ctf, traces, i))
			continue;
		refuse_from(ctf, traces, i);
		BT_GRAPH_PUT_REF_AND_RESET(graph);
	}
	return graph;
}

/* Nothing for 0. */
static bool insert_count(bt_value *params, const char *name, int64_t count)
{
	return !count ||
	       !bt_value_map_insert_signed_integer_entry(
		       params, name, count > INT32_MAX ? INT32_MAX : count);
}

/* The length of the path of the part of a recording that the trace is in; 0: the first.
 */
static size_t find_again(const char *trace)
{
	static const char name[] = "/" TAP_SENDING_AGAIN;
	const char *at = trace;
	size_t digits;

	while ((at = strstr(at, name))) {
		at += strlen(name);
		digits = strspn(at, "0123456789");
		if (digits && (!at[digits] || at[digits] == '/'))
			return (size_t) (at - trace) + digits;
	}
	return 0;
}

/*
 * How often a relay daemon has come back: a part of the recording begins there. Where a
 * marker is, the recording was not sent, whatever its folder is called.
 */
static int64_t count_gaps(const struct tap_traces *traces)
{
	const char *path, *before = "";
	struct tap_output_about about;
	int64_t count = 0;
	size_t i, length;

	/* Traces are sorted by path, so those of one part are adjacent. */
	for (i = 0; i < traces->count; i++) {
		path = traces->list[i].damage ? traces->list[i].damage->trace
					      : traces->list[i].path;
		length = find_again(path);
		if (!length || tap_output_describe(path, &about))
			continue;
		if (find_again(before) != length || strncmp(path, before, length))
			count++;
		before = path;
	}
	return count;
}

/*
 * Adds what the markers of the recordings say: their jobs, unless some trace has none,
 * and the numbers of removed chunks and of processes that were not recorded, with those that are
 * left out now.
 */
static bool add_recordings(const struct tap_traces *traces, int64_t left_out,
			   bt_value *params)
{
	struct tap_output_about about, before = {0};
	char *jobs = NULL, *longer;
	bool is_known = true;
	int64_t removed = left_out, unrecorded = 0;
	size_t i;

	/* Traces are sorted by path, so those of one recording are adjacent. */
	for (i = 0; i < traces->count; i++) {
		const struct tap_trace *trace = &traces->list[i];

		if (!tap_output_describe(trace->damage ? trace->damage->trace
						       : trace->path,
					 &about) ||
		    !*about.job) {
			is_known = false;
			continue;
		}
		if (about.device == before.device && about.inode == before.inode)
			continue;
		before = about;
		removed += about.removed;
		unrecorded += about.unrecorded;
		if (asprintf(&longer, "%s%s\n", jobs ? jobs : "", about.job) < 0) {
			free(jobs);
			return false;
		}
		free(jobs);
		jobs = longer;
	}
	if (!insert_count(params, "removed-chunks", removed) ||
	    !insert_count(params, "unrecorded-processes", unrecorded) ||
	    !insert_count(params, "relay-gaps", count_gaps(traces)))
		is_known = false;
	if (is_known && jobs)
		bt_value_map_insert_string_entry(params, "jobs", jobs);
	free(jobs);
	return true;
}

/* What to make of the traces: a view, or traces in a folder. */
struct target {
	const char *sink;
	const char *folder;
	const char *filled; /* by a sink: a folder that is empty at first, or NULL */
	bt_value *params;
	bool is_streamed; /* standard output is read while it is written */
};

/* The output of a view, as it is before anything is written. */
struct before {
	const char *made;   /* the file that the child creates, NULL: it exists */
	off_t start, size; /* of standard output if that is a file, else -1 */
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
 * A graph whose writer has failed: destroying it makes babeltrace2 2.0 free memory twice,
 * so it stays until the process exits.
 */
static bt_graph *spoilt;

static bool add_losses(const struct tap_traces *traces, bt_value *params)
{
	const struct tap_damage *damage;
	int64_t missing = 0;

	for (damage = traces->damages.first; damage; damage = damage->all.after)
		missing += damage->left_out;
	return !missing || !bt_value_map_insert_signed_integer_entry(
				   params, "damaged-streams", missing);
}

struct reading {
	struct tap_traces *traces;
	unsigned left_out; /* older chunks */
	const struct target *target;
};

/* Returns an exit status, to be ignored when the watch says that traces were refused. */
static int run_target(void *data)
{
	const struct reading *reading = data;
	const struct target *target = reading->target;
	struct tap_traces *traces = reading->traces;
	const bt_plugin *own = tap_plugins_find_own();
	const bt_plugin *ctf = own ? tap_plugins_find_ctf() : NULL;
	struct reader reader = {0};
	bt_graph *graph = NULL;
	int ret = TAP_EXIT_FAILURE;
	bool is_whole;
	char cause[512];
	unsigned int i;

	if (!own || !ctf)
		goto out;
	ret = TAP_EXIT_USAGE;
	graph = make_graph(ctf, traces);
	if (!graph)
		goto out;
	if (!add_losses(traces, target->params) ||
	    !add_recordings(traces, reading->left_out, target->params) ||
	    !tap_snapshots_add_params(&traces->snapshots, target->params)) {
		tap_message_write("out of memory");
		goto out;
	}
	is_whole = add_reader(graph, own, ctf, target, &reader);
	for (i = 0; is_whole && i < traces->count; i++) {
		const struct tap_trace *trace = &traces->list[i];
		const bt_component_filter *watched;

		if (trace->part_of)
			continue;
		watched = tap_watched_add(graph, trace->source, traces->watch, i,
					  trace->path);
		is_whole = watched && connect_watched(graph, watched, &reader);
	}
	if (is_whole) {
		ret = run(graph, target->folder);
		if (ret && target->folder) {
			spoilt = graph;
			graph = NULL;
		}
	} else {
		tap_watched_take_cause(cause, sizeof(cause));
		tap_message_write("%s", cause);
	}
out:
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(ctf);
	bt_plugin_put_ref(own);
	return ret;
}

/* ---- Reading ---- */

/* The file that a view writes, "-" for standard output. */
static const char *find_output(const struct target *target)
{
	const bt_value *value =
		bt_value_map_borrow_entry_value_const(target->params, "output");

	return value ? bt_value_string_get(value) : "-";
}

static struct before look_at_output(const struct target *target)
{
	const char *output = target->folder ? "" : find_output(target);
	struct before before = {.start = -1};
	struct stat status;

	if (!strcmp(output, "-") && !fstat(STDOUT_FILENO, &status) &&
	    S_ISREG(status.st_mode) && !(fcntl(STDOUT_FILENO, F_GETFL) & O_APPEND)) {
		before.start = lseek(STDOUT_FILENO, 0, SEEK_CUR);
		before.size = status.st_size;
	} else if (*output && lstat(output, &status)) {
		before.made = output;
	}
	return before;
}

/* Removes the output of a child that did not finish. */
static void undo(const struct target *target, const struct before *before)
{
	if (target->folder)
		tap_traces_empty_folder(target->folder);
	if (target->filled)
		tap_traces_empty_folder(target->filled);
	if (before->made)
		unlink(before->made);
	if (before->start >= 0 && lseek(STDOUT_FILENO, before->start, SEEK_SET) >= 0 &&
	    ftruncate(STDOUT_FILENO, before->size))
		tap_message_write("cannot cut standard output: %s", strerror(errno));
}

/* Whether the output is shown on the terminal. */
static bool is_shown(const struct target *target)
{
	return !target->folder && !strcmp(find_output(target), "-") &&
	       isatty(STDOUT_FILENO);
}

/*
 * Whether the user wants progress. This process shows it, and not the plugin, which counts
 * events and cannot know how many there are.
 */
static bool take_progress(const struct target *target)
{
	const bt_value *wish =
		bt_value_map_borrow_entry_value_const(target->params, "progress");

	return wish && bt_value_bool_get(wish) &&
	       !bt_value_map_insert_bool_entry(target->params, "progress", BT_FALSE);
}

/*
 * Runs children until nothing more has to be left out. Returns an exit status, or minus a
 * signal.
 */
static int read_traces(struct tap_traces *traces, unsigned left_out,
		       const struct target *target)
{
	const struct before before = look_at_output(target);
	struct reading reading = {
		.traces = traces, .left_out = left_out, .target = target};
	const bool is_relayed = target->is_streamed || is_shown(target);
	struct tap_relay relay = {.is_paged = is_shown(target) && tap_pager_is_due(),
				  .ends_with_pager = target->is_streamed};
	const struct tap_child_work work = {.run = run_target,
					    .data = &reading,
					    .watch = traces->watch,
					    .relay = is_relayed ? &relay : NULL,
					    .shows_percent = take_progress(target)};

	while (traces->count) {
		int status = 0, end;

		traces->watch->all_bytes = traces->watch->read_bytes = 0;
		end = tap_child_run(&work, &status);

		if (end < 0) {
			tap_message_write("cannot start to read: %s", strerror(-end));
			return TAP_EXIT_FAILURE;
		}
		if (end == TAP_CHILD_KILLED && status != SIGKILL)
			return -status;
		if (end == TAP_CHILD_KILLED) {
			tap_message_write("cannot go on: what reads was killed; is memory "
					  "short?");
			return TAP_EXIT_FAILURE;
		}
		if (end == TAP_CHILD_DONE && !traces->watch->has_refused)
			return status;
		if (tap_snapshots_wants_all()) {
			tap_message_write("cannot read all snapshots together: one is "
					  "damaged; --snapshot=N reads one");
			return TAP_EXIT_FAILURE;
		}
		if (end == TAP_CHILD_DONE) {
			tap_traces_drop_refused(traces);
		} else if (!tap_traces_blame(traces, end == TAP_CHILD_LATE)) {
			tap_message_write("cannot go on: ccltap failed (signal %d): please "
					  "report it, with the trace if you can",
					  status);
			return TAP_EXIT_FAILURE;
		}
		undo(target, &before);
		/*
		 * With other streams, the order of lines that are already out may change.
		 */
		if (relay.passed && traces->is_changed) {
			tap_message_write("cannot continue: babeltrace2 fails on a stream "
					  "part of which is shown already; write to a file with -o");
			return TAP_EXIT_FAILURE;
		}
	}
	return TAP_EXIT_USAGE;
}

/* Has one source read what all snapshots have of the same stream. */
static void join_snapshots(struct tap_traces *traces)
{
	size_t i, j;

	for (i = 1; i < traces->count; i++)
		for (j = 0; j < i && !traces->list[i].part_of; j++)
			if (!traces->list[j].part_of &&
			    tap_snapshots_are_alike(traces->list[i].path,
						    traces->list[j].path))
				traces->list[i].part_of = j + 1;
}

/* Takes the reference of the parameters. */
static int read_folders(char *const *folders, int count, const struct target *target)
{
	struct tap_traces traces = {.watch = tap_traces_make_watch()};
	struct tap_parts parts = {0};
	int i, ret = 0;

	if (!traces.watch)
		return TAP_EXIT_FAILURE;
	if (!target->params) {
		tap_message_write("out of memory");
		return TAP_EXIT_FAILURE;
	}
	for (i = 0; !ret && i < count; i++)
		ret = find_traces(&traces, &parts, folders[i]);
	if (!ret && tap_snapshots_wants_all())
		join_snapshots(&traces);
	if (!ret) {
		tap_snapshots_report(&traces.snapshots);
		ret = read_traces(&traces, parts.left_out, target);
		tap_traces_report(&traces);
	}
	tap_traces_free(&traces);
	tap_parts_free(&parts);
	munmap(traces.watch, sizeof(*traces.watch));
	bt_value_put_ref(target->params);
	return ret;
}

int tap_graph_run(char *const *folders, int count, const char *sink, bt_value *params,
		  bool is_streamed)
{
	const struct target target = {.sink = sink,
				      .params = params,
				      .is_streamed = is_streamed};
	int ret = read_folders(folders, count, &target);

	if (ret < 0)
		tap_child_follow(-ret);
	return ret;
}

int tap_graph_fill(char *const *folders, int count, const char *sink, bt_value *params,
		   const char *folder)
{
	const struct target target = {.sink = sink, .params = params, .filled = folder};

	return read_folders(folders, count, &target);
}

/* ---- Each host by itself ---- */

struct hosts {
	struct tap_by_host by_host;
	const struct tap_graph_each *each;
	unsigned left_out; /* older chunks */
};

static const char *name_host(size_t number, void *data)
{
	const struct hosts *hosts = data;
	const char *name = hosts->by_host.hosts.items[number].name;

	return *name ? name : "the host without a name";
}

static void measure_hosts(void *data, uint64_t *done, uint64_t *all)
{
	const struct hosts *hosts = data;

	tap_by_host_measure(&hosts->by_host, done, all);
}

/* In a process of its own. Returns an exit status, or minus a signal. */
static int read_host(size_t number, void *data)
{
	const struct hosts *hosts = data;
	const struct tap_graph_each *each = hosts->each;
	struct tap_traces *traces = &hosts->by_host.hosts.items[number].traces;
	struct target target = {.sink = each->sink};
	char folder[PATH_MAX];
	int ret = TAP_EXIT_FAILURE;

	if (snprintf(folder, sizeof(folder), "%s/%zu", each->folder, number) >=
		    (int) sizeof(folder) ||
	    mkdir(folder, 0777)) {
		tap_message_write("cannot write %s: %s", each->folder, strerror(errno));
		return TAP_EXIT_FAILURE;
	}
	target.filled = folder;
	target.params = each->make_params(folder, each->data);
	if (!target.params) {
		tap_message_write("out of memory");
		return TAP_EXIT_FAILURE;
	}
	if (tap_snapshots_wants_all())
		join_snapshots(traces);
	ret = read_traces(traces, hosts->left_out, &target);
	tap_traces_report(traces);
	/* A host that cannot be read does not keep the others from being read. */
	if (!traces->count)
		ret = TAP_WORKERS_NOTHING;
	if (!ret)
		ret = each->finish(folder, each->data);
	bt_value_put_ref(target.params);
	tap_traces_remove_parts(traces);
	return ret;
}

static int read_hosts(struct hosts *hosts)
{
	const struct tap_graph_each *each = hosts->each;
	const struct tap_workers workers = {
		.count = hosts->by_host.hosts.count,
		.processes = each->processes,
		.run = read_host,
		.name = name_host,
		.progress = measure_hosts,
		.shows_percent = each->shows_percent,
		.data = hosts,
	};
	const int ret = tap_workers_run(&workers);

	return ret == TAP_WORKERS_NOTHING ? TAP_EXIT_USAGE : ret;
}

int tap_graph_fill_each(char *const *folders, int count, const struct tap_graph_each *each)
{
	struct hosts hosts = {.each = each};
	struct tap_traces traces = {0};
	struct tap_parts parts = {0};
	int i, ret = 0;

	for (i = 0; !ret && i < count; i++)
		ret = find_traces(&traces, &parts, folders[i]);
	if (!ret)
		ret = tap_by_host_sort(&hosts.by_host, &traces);
	if (!ret) {
		tap_snapshots_report(&traces.snapshots);
		hosts.left_out = parts.left_out;
		ret = read_hosts(&hosts);
	}
	tap_by_host_free(&hosts.by_host);
	tap_traces_free(&traces);
	tap_parts_free(&parts);
	return ret;
}

/* Whether a folder is empty; if not, reports that. */
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
	/* An incomplete trace is not kept. */
	if (ret)
		tap_traces_empty_folder(to);
	if (ret && is_made)
		rmdir(to);
	if (ret < 0)
		tap_child_follow(-ret);
	return ret;
}
