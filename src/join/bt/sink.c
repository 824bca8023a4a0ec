/* SPDX-License-Identifier: MIT */
/* Parameters, ports and status codes: the join as babeltrace2 sees it. */
#include "join/bt/sink.h"

#include "join/bt/merge.h"
#include "join/bt/param.h"
#include "join/bt/progress.h"
#include "join/views/event_file.h"
#include "join/views/filtered.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events taken before babeltrace2 may check whether the user wants to stop. */
#define BUDGET 16384

#define WINDOW 100000


struct sink {
	bt_self_component_sink *self;
	const char *output_name;
	char *folder; /* that the view fills instead of the output, or NULL */
	struct tap_outfile output;
	struct tap_view *view;
	struct tap_filters filters;
	struct tap_filtered *filtered; /* NULL: no filters are given */
	struct tap_symbols *symbols;
	struct tap_join *join;
	struct tap_decoder *decoder;
	struct tap_merge *merge;
	unsigned int port_count;
	struct tap_progress progress;
};

/* The parameters that all sinks have come first. */
enum {
	OUTPUT,
	OVERWRITE,
	OPEN,
	HELD,
	DAMAGED,
	REMOVED,
	UNRECORDED,
	RELAY,
	JOBS,
	SNAPSHOTS,
	FLIGHT,
	PROGRESS,
	STACKS,
	MODULES,
	DEBUG_PATH,
	COLUMNS,
	LINES,
	COLOUR,
	FILTERS,
	COMMON_COUNT = FILTERS + TAP_FILTERS
};

/* clang-format off */
#define COMMON_PARAMS \
	[OUTPUT] = {.name = "output", .kind = TAP_PARAM_STRING, .string = "-"}, \
	[OVERWRITE] = {.name = "overwrite", .kind = TAP_PARAM_BOOL}, \
	[OPEN] = {.name = "open-calls", .kind = TAP_PARAM_COUNT, \
		  .count = TAP_PARAM_OPEN_CALLS}, \
	[HELD] = {.name = "held-operations", .kind = TAP_PARAM_COUNT, \
		  .count = TAP_PARAM_HELD_OPERATIONS}, \
	[DAMAGED] = {.name = "damaged-streams", .kind = TAP_PARAM_COUNT}, \
	[REMOVED] = {.name = "removed-chunks", .kind = TAP_PARAM_COUNT}, \
	[UNRECORDED] = {.name = "unrecorded-processes", .kind = TAP_PARAM_COUNT}, \
	[RELAY] = {.name = "relay-gaps", .kind = TAP_PARAM_COUNT}, \
	[JOBS] = {.name = "jobs", .kind = TAP_PARAM_STRING}, \
	[SNAPSHOTS] = {.name = "snapshots", .kind = TAP_PARAM_STRING}, \
	[FLIGHT] = {.name = "flight-recorder", .kind = TAP_PARAM_BOOL}, \
	[PROGRESS] = {.name = "progress", .kind = TAP_PARAM_BOOL}, \
	[STACKS] = {.name = "stacks", .kind = TAP_PARAM_BOOL}, \
	[MODULES] = {.name = "modules", .kind = TAP_PARAM_STRING}, \
	[DEBUG_PATH] = {.name = "debug-path", .kind = TAP_PARAM_STRING}, \
	[COLUMNS] = {.name = "columns", .kind = TAP_PARAM_COUNT, .count = 100}, \
	[LINES] = {.name = "lines", .kind = TAP_PARAM_COUNT, .count = 24}, \
	[COLOUR] = {.name = "colour", .kind = TAP_PARAM_BOOL}, \
	TAP_PARAM_FILTERS(FILTERS)
/* clang-format on */

#define APPEND_CAUSE(self, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT( \
		bt_self_component_sink_as_self_component(self), __VA_ARGS__)

static void destroy(struct sink *sink)
{
	if (!sink)
		return;
	tap_merge_destroy(sink->merge);
	if (sink->view)
		sink->view->destroy(sink->view);
	tap_filtered_destroy(sink->filtered);
	tap_filters_free(&sink->filters);
	tap_symbols_destroy(sink->symbols);
	tap_join_destroy(sink->join);
	tap_decoder_destroy(sink->decoder);
	tap_outfile_close(&sink->output);
	free(sink->folder);
	free(sink);
}

static int add_port(struct sink *sink)
{
	char name[24];

	snprintf(name, sizeof(name), "in%u", sink->port_count++);
	return bt_self_component_sink_add_input_port(sink->self, name, NULL, NULL)
		       ? -ENOMEM
		       : 0;
}

/* Makes the join, and between it and the view what leaves out what nobody wants to see. */
static bool make_join(struct sink *sink, const struct tap_bounds *bounds)
{
	struct tap_view *view = sink->view;

	if (!tap_filters_are_given(&sink->filters)) {
		sink->join = tap_join_create(view->consumer, view, bounds);
		return sink->join;
	}
	sink->filtered = tap_filtered_create(view, &sink->filters, bounds->open_calls);
	if (sink->filtered)
		sink->join = tap_join_create(&tap_filtered_consumer, sink->filtered,
					     bounds);
	return sink->join;
}

/* Makes the component of a view, and owns the view, even on failure. */
static bt_component_class_initialize_method_status
make_sink(bt_self_component_sink *self, struct tap_view *view,
	  const struct tap_param *params)
{
	const char *output = params[OUTPUT].string;
	const struct tap_bounds bounds = {
		.open_calls = (size_t) params[OPEN].count,
		.held_operations = (size_t) params[HELD].count,
	};
	struct sink *sink = calloc(1, sizeof(*sink));
	int ret;

	if (!sink || !view) {
		if (view)
			view->destroy(view);
		free(sink);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	sink->self = self;
	sink->view = view;
	sink->progress.is_wanted = params[PROGRESS].boolean;
	if (!tap_params_take_filters(bt_self_component_sink_as_self_component(self),
				     &params[FILTERS], &sink->filters)) {
		destroy(sink);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (make_join(sink, &bounds))
		sink->decoder = tap_decoder_create(sink->join);
	sink->merge = sink->decoder ? tap_merge_create(sink->decoder, sink->join) : NULL;
	if (params[STACKS].boolean)
		sink->symbols = tap_symbols_create(params[MODULES].string,
						   params[DEBUG_PATH].string);
	if (!sink->merge || (params[STACKS].boolean && !sink->symbols) ||
	    (params[JOBS].string && tap_join_set_jobs(sink->join, params[JOBS].string)) ||
	    (params[SNAPSHOTS].string &&
	     tap_join_set_snapshots(sink->join, params[SNAPSHOTS].string)) ||
	    add_port(sink)) {
		destroy(sink);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	tap_join_loss(sink->join)->damaged_streams = (uint64_t) params[DAMAGED].count;
	tap_join_loss(sink->join)->removed_chunks = (uint64_t) params[REMOVED].count;
	tap_join_loss(sink->join)->unrecorded = (uint64_t) params[UNRECORDED].count;
	tap_join_loss(sink->join)->relay_gaps = (uint64_t) params[RELAY].count;
	tap_join_loss(sink->join)->is_window = params[FLIGHT].boolean;
	view->context = tap_join_context(sink->join);
	view->output = &sink->output;
	view->symbols = sink->symbols;
	view->settings.columns = (size_t) params[COLUMNS].count;
	view->settings.lines = (size_t) params[LINES].count;
	view->settings.has_colour = params[COLOUR].boolean;
	ret = tap_outfile_open(&sink->output, output, params[OVERWRITE].boolean);
	if (ret) {
		if (ret == -EEXIST)
			APPEND_CAUSE(self,
				     "%s exists: choose another name or overwrite it",
				     output);
		else
			APPEND_CAUSE(self, "Cannot write %s: %s", output, strerror(-ret));
		destroy(sink);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	sink->output_name = sink->output.path ? sink->output.path : "standard output";
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), sink);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* A tree is shown whole: filters choose operations, and ranks of them. */
static bool refuse_filters_of_trees(bt_self_component_sink *self,
				    const struct tap_param *params)
{
	static const enum tap_filter refused[] = {TAP_FILTER_LAYER,  TAP_FILTER_CALL,
						  TAP_FILTER_BEGIN,  TAP_FILTER_END,
						  TAP_FILTER_LAST,   TAP_FILTER_ERRORS,
						  TAP_FILTER_SLOWEST};
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		const struct tap_param *param = &params[FILTERS + refused[i]];

		if (!param->string && !param->boolean)
			continue;
		APPEND_CAUSE(self,
			     "Trees have no filter %s: choose by rank, host, comm or op",
			     param->name);
		return true;
	}
	return false;
}

/* Merges files, one in each line, into a trace in JSON. */
static bool merge_files(bt_self_component_sink *self, struct tap_view *view,
			bool is_events, const char *paths)
{
	struct tap_event_file_error error = {{0}};
	char *copy = strdup(paths), *line, *rest = copy;
	int ret = copy ? 0 : -ENOMEM;

	if (!is_events) {
		APPEND_CAUSE(self, "Only formats json and json.gz are merged with files");
		free(copy);
		return false;
	}
	while (!ret && (line = strsep(&rest, "\n"))) {
		ret = tap_trace_events_merge(view, line, &error);
		if (ret)
			APPEND_CAUSE(self, "%s %s: nothing was written", line,
				     *error.text ? error.text : strerror(-ret));
	}
	free(copy);
	return !ret;
}

bt_component_class_initialize_method_status
tap_sink_init_timeline(bt_self_component_sink *self,
		       bt_self_component_sink_configuration *configuration,
		       const bt_value *values, void *data)
{
	enum { FORMAT = COMMON_COUNT, ABSOLUTE, ALL, TREE, MERGE, WINDOW_SIZE };
	struct tap_param params[] = {
		COMMON_PARAMS,
		[FORMAT] = {.name = "format", .kind = TAP_PARAM_STRING, .string = "text"},
		[ABSOLUTE] = {.name = "absolute", .kind = TAP_PARAM_BOOL},
		[ALL] = {.name = "all", .kind = TAP_PARAM_BOOL},
		[TREE] = {.name = "tree", .kind = TAP_PARAM_BOOL},
		[MERGE] = {.name = "merge", .kind = TAP_PARAM_STRING},
		[WINDOW_SIZE] = {.name = "window",
				 .kind = TAP_PARAM_COUNT,
				 .count = WINDOW},
	};
	struct tap_view *view;
	bool is_json, is_perfetto, is_events, is_gzip;

	(void) configuration;
	(void) data;
	if (!tap_params_read(bt_self_component_sink_as_self_component(self), values,
			     params, sizeof(params) / sizeof(params[0])))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	is_json = !strcmp(params[FORMAT].string, "jsonl");
	is_perfetto = !strcmp(params[FORMAT].string, "perfetto");
	is_gzip = !strcmp(params[FORMAT].string, "json.gz");
	is_events = is_gzip || !strcmp(params[FORMAT].string, "json");
	if (!is_json && !is_perfetto && !is_events &&
	    strcmp(params[FORMAT].string, "text")) {
		APPEND_CAUSE(self,
			     "Format \"%s\" is not text, jsonl, perfetto, json or json.gz",
			     params[FORMAT].string);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (params[TREE].boolean && (is_perfetto || is_events)) {
		APPEND_CAUSE(self, "Format \"%s\" has no trees", params[FORMAT].string);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (params[TREE].boolean && refuse_filters_of_trees(self, params))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	if (params[TREE].boolean)
		view = tap_tree_create();
	else if (is_perfetto)
		view = tap_perfetto_create();
	else if (is_events)
		view = tap_trace_events_create();
	else
		view = is_json ? tap_jsonl_create() : tap_text_create();
	if (view) {
		view->settings.is_json = is_json;
		view->settings.is_gzip = is_gzip;
		view->settings.is_absolute = params[ABSOLUTE].boolean;
		view->settings.is_unfolded = params[ALL].boolean;
		view->settings.window = (size_t) params[WINDOW_SIZE].count;
	}
	if (view && params[MERGE].string &&
	    !merge_files(self, view, is_events, params[MERGE].string)) {
		view->destroy(view);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return make_sink(self, view, params);
}

/*
 * How far a trace can be trusted is asked of all of it, and so is what its program does:
 * what check or audit says of a rank alone would be no verdict.
 */
static bool refuse_filters(bt_self_component_sink *self, const struct tap_param *params,
			   const char *verb)
{
	size_t i;

	for (i = 0; i < TAP_FILTERS; i++)
		if (params[FILTERS + i].string || params[FILTERS + i].boolean) {
			APPEND_CAUSE(self, "There is no filter %s: %s judges the whole trace",
				     params[FILTERS + i].name, verb);
			return true;
		}
	return false;
}

/* Makes a view that writes sums, for a person or a program. */
static bt_component_class_initialize_method_status
init_sums(bt_self_component_sink *self, const bt_value *values,
	  struct tap_view *(*create)(void) )
{
	enum { JSON = COMMON_COUNT };
	struct tap_param params[] = {
		COMMON_PARAMS,
		[JSON] = {.name = "json", .kind = TAP_PARAM_BOOL},
	};
	struct tap_view *view;

	if (!tap_params_read(bt_self_component_sink_as_self_component(self), values,
			     params, sizeof(params) / sizeof(params[0])))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	if (refuse_filters(self, params,
			   create == tap_check_create ? "check" : "complete"))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	view = create();
	if (view)
		view->settings.is_json = params[JSON].boolean;
	return make_sink(self, view, params);
}

bt_component_class_initialize_method_status
tap_sink_init_report(bt_self_component_sink *self,
		     bt_self_component_sink_configuration *configuration,
		     const bt_value *values, void *data)
{
	enum {
		JSON = COMMON_COUNT,
		FULL,
		CALLS,
		COMM,
		NET,
		GPU,
		MEASURES,
		BASELINE,
		BASELINE_NAME,
		AUDIT,
		PAGE,
		TITLE
	};
	struct tap_param params[] = {
		COMMON_PARAMS,
		[JSON] = {.name = "json", .kind = TAP_PARAM_BOOL},
		[FULL] = {.name = "full", .kind = TAP_PARAM_BOOL},
		[CALLS] = {.name = "calls", .kind = TAP_PARAM_BOOL},
		[COMM] = {.name = "comm", .kind = TAP_PARAM_BOOL},
		[NET] = {.name = "net", .kind = TAP_PARAM_BOOL},
		[GPU] = {.name = "gpu", .kind = TAP_PARAM_BOOL},
		[MEASURES] = {.name = "measures", .kind = TAP_PARAM_BOOL},
		[BASELINE] = {.name = "baseline", .kind = TAP_PARAM_STRING},
		[BASELINE_NAME] = {.name = "baseline-name", .kind = TAP_PARAM_STRING},
		[AUDIT] = {.name = "audit", .kind = TAP_PARAM_STRING},
		[PAGE] = {.name = "page", .kind = TAP_PARAM_STRING},
		[TITLE] = {.name = "title", .kind = TAP_PARAM_STRING},
	};
	struct tap_view *view;
	const char *path;
	int ret;

	(void) configuration;
	(void) data;
	if (!tap_params_read(bt_self_component_sink_as_self_component(self), values,
			     params, sizeof(params) / sizeof(params[0])))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	view = tap_report_create();
	if (view) {
		view->settings.is_json = params[JSON].boolean;
		view->settings.is_baseline = params[MEASURES].boolean;
		view->settings.tables = (params[FULL].boolean ? TAP_TABLES_ALL : 0) |
					(params[CALLS].boolean ? TAP_TABLES_CALLS : 0) |
					(params[COMM].boolean ? TAP_TABLES_COMM : 0) |
					(params[NET].boolean ? TAP_TABLES_NET : 0) |
					(params[GPU].boolean ? TAP_TABLES_GPU : 0);
	}
	path = params[BASELINE].string;
	ret = view && path ? tap_report_compare(view, path) : 0;
	if (!ret && view && params[PAGE].string) {
		path = params[PAGE].string;
		ret = tap_report_make_page(view, path, params[TITLE].string,
					   params[BASELINE_NAME].string);
	}
	if (!ret && view && params[PAGE].string && params[AUDIT].string) {
		path = params[AUDIT].string;
		ret = tap_report_add_audit(view, path);
	}
	if (ret) {
		APPEND_CAUSE(self, "Cannot read %s: %s", path, strerror(-ret));
		view->destroy(view);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return make_sink(self, view, params);
}

bt_component_class_initialize_method_status
tap_sink_init_check(bt_self_component_sink *self,
		    bt_self_component_sink_configuration *configuration,
		    const bt_value *values, void *data)
{
	(void) configuration;
	(void) data;
	return init_sums(self, values, tap_check_create);
}

bt_component_class_initialize_method_status
tap_sink_init_complete(bt_self_component_sink *self,
		       bt_self_component_sink_configuration *configuration,
		       const bt_value *values, void *data)
{
	(void) configuration;
	(void) data;
	return init_sums(self, values, tap_complete_create);
}

bt_component_class_initialize_method_status
tap_sink_init_why(bt_self_component_sink *self,
		  bt_self_component_sink_configuration *configuration,
		  const bt_value *values, void *data)
{
	enum { JSON = COMMON_COUNT, VERDICT, FINDING, FOCUS };
	struct tap_param params[] = {
		COMMON_PARAMS,
		[JSON] = {.name = "json", .kind = TAP_PARAM_BOOL},
		[VERDICT] = {.name = "verdict", .kind = TAP_PARAM_STRING},
		[FINDING] = {.name = "finding", .kind = TAP_PARAM_COUNT, .count = 1},
		[FOCUS] = {.name = "focus", .kind = TAP_PARAM_STRING},
	};
	const char *path;
	struct tap_view *view;
	int ret;

	(void) configuration;
	(void) data;
	if (!tap_params_read(bt_self_component_sink_as_self_component(self), values,
			     params, sizeof(params) / sizeof(params[0])))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	view = tap_why_create();
	if (view)
		view->settings.is_json = params[JSON].boolean;
	path = params[VERDICT].string;
	ret = view && path ? tap_why_tell_verdict(view, path) : 0;
	if (!ret && view && params[FOCUS].string) {
		path = params[FOCUS].string;
		ret = tap_why_tell_finding(view, (size_t) params[FINDING].count, path);
	}
	if (ret) {
		APPEND_CAUSE(self, "Cannot write %s: %s", path, strerror(-ret));
		view->destroy(view);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return make_sink(self, view, params);
}

bt_component_class_initialize_method_status
tap_sink_init_audit(bt_self_component_sink *self,
		    bt_self_component_sink_configuration *configuration,
		    const bt_value *values, void *data)
{
	enum { JSON = COMMON_COUNT, BRIEF, FULL, VERDICT };
	struct tap_param params[] = {
		COMMON_PARAMS,
		[JSON] = {.name = "json", .kind = TAP_PARAM_BOOL},
		[BRIEF] = {.name = "brief", .kind = TAP_PARAM_BOOL},
		[FULL] = {.name = "full", .kind = TAP_PARAM_BOOL},
		[VERDICT] = {.name = "verdict", .kind = TAP_PARAM_STRING},
	};
	struct tap_view *view;
	int ret;

	(void) configuration;
	(void) data;
	if (!tap_params_read(bt_self_component_sink_as_self_component(self), values,
			     params, sizeof(params) / sizeof(params[0])) ||
	    refuse_filters(self, params, "audit"))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	view = tap_audit_create();
	if (view) {
		view->settings.is_json = params[JSON].boolean;
		view->settings.is_brief = params[BRIEF].boolean;
		view->settings.tables = params[FULL].boolean ? TAP_TABLES_ALL : 0;
	}
	ret = view && params[VERDICT].string
		      ? tap_audit_tell_verdict(view, params[VERDICT].string)
		      : 0;
	if (ret) {
		APPEND_CAUSE(self, "Cannot write %s: %s", params[VERDICT].string,
			     strerror(-ret));
		view->destroy(view);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	return make_sink(self, view, params);
}

static struct sink *get(bt_self_component_sink *self)
{
	return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

bt_component_class_initialize_method_status
tap_sink_init_export(bt_self_component_sink *self,
		     bt_self_component_sink_configuration *configuration,
		     const bt_value *values, void *data)
{
	enum { FORMAT = COMMON_COUNT, FOLDER, KEPT };
	struct tap_param params[] = {
		COMMON_PARAMS,
		[FORMAT] = {.name = "format", .kind = TAP_PARAM_STRING, .string = "csv"},
		[FOLDER] = {.name = "folder", .kind = TAP_PARAM_STRING},
		[KEPT] = {.name = "kept", .kind = TAP_PARAM_STRING},
	};
	bt_component_class_initialize_method_status status;
	bool is_json;

	(void) configuration;
	(void) data;
	if (!tap_params_read(bt_self_component_sink_as_self_component(self), values,
			     params, sizeof(params) / sizeof(params[0])))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	is_json = !strcmp(params[FORMAT].string, "jsonl");
	if (!is_json && strcmp(params[FORMAT].string, "csv")) {
		APPEND_CAUSE(self, "Format \"%s\" is not csv or jsonl",
			     params[FORMAT].string);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if (!params[FOLDER].string) {
		APPEND_CAUSE(self, "The parameter folder is missing");
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	status = make_sink(
		self,
		tap_export_create(params[FOLDER].string, params[KEPT].string, is_json),
		params);
	/* Nothing is written to the output: what fails is the folder. */
	if (status == BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK)
		get(self)->folder = strdup(params[KEPT].string ? params[KEPT].string
							       : params[FOLDER].string);
	return status;
}

void tap_sink_finalize(bt_self_component_sink *self)
{
	destroy(get(self));
}

bt_component_class_port_connected_method_status
tap_sink_connected(bt_self_component_sink *self, bt_self_component_port_input *port,
		   const bt_port_output *other)
{
	(void) port;
	(void) other;
	/* One port is always free. */
	return add_port(get(self))
		       ? BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_MEMORY_ERROR
		       : BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_OK;
}

/* Returns 0, -EIO after reporting the cause, or -ENOMEM. */
static int read_port(struct sink *sink, unsigned int number)
{
	bt_self_component_port_input *port =
		bt_self_component_sink_borrow_input_port_by_index(sink->self, number);
	bt_message_iterator *iterator;

	if (!bt_port_is_connected(bt_port_input_as_port_const(
		    bt_self_component_port_input_as_port_input(port))))
		return 0;
	if (bt_message_iterator_create_from_sink_component(sink->self, port, &iterator)) {
		APPEND_CAUSE(sink->self, "Cannot read the stream of port in%u", number);
		return -EIO;
	}
	if (!tap_merge_add(sink->merge, iterator))
		return 0;
	bt_message_iterator_put_ref(iterator);
	return -ENOMEM;
}

/* These names alone are longer than a line. */
#define CONFIGURED(status) \
	BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_##status

bt_component_class_sink_graph_is_configured_method_status
tap_sink_configured(bt_self_component_sink *self)
{
	struct sink *sink = get(self);
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < sink->port_count; i++)
		ret = read_port(sink, i);
	if (ret == -ENOMEM)
		return CONFIGURED(MEMORY_ERROR);
	return ret ? CONFIGURED(ERROR) : CONFIGURED(OK);
}

static bt_component_class_sink_consume_method_status fail(struct sink *sink, int ret)
{
	if (ret == -ENOMEM)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
	if (sink->folder && ret == -EEXIST)
		APPEND_CAUSE(sink->self,
			     "%s has tables of a host of this trace already: choose another "
			     "folder or overwrite them",
			     sink->folder);
	else if (sink->output.failed_folder)
		APPEND_CAUSE(sink->self,
			     "Cannot write a temporary file in %s: %s; set TMPDIR to a "
			     "folder that has room",
			     sink->output.failed_folder, strerror(-ret));
	else
		APPEND_CAUSE(sink->self, "Cannot write %s: %s",
			     sink->folder ? sink->folder : sink->output_name,
			     strerror(-ret));
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}

bt_component_class_sink_consume_method_status
tap_sink_consume(bt_self_component_sink *self)
{
	struct sink *sink = get(self);
	enum tap_merge_status status;
	int ret;

	ret = tap_merge_run(sink->merge, BUDGET, &status);
	if (ret)
		return fail(sink, ret);
	tap_progress_show(&sink->progress, tap_merge_event_count(sink->merge));
	if (status == TAP_MERGE_AGAIN)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
	if (status == TAP_MERGE_OK)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
	tap_progress_end(&sink->progress);
	ret = tap_join_finish(sink->join);
	if (ret)
		return fail(sink, ret);
	return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
}
