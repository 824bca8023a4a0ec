/* SPDX-License-Identifier: MIT */
/* Two plugins of the build, two of babeltrace2, and a straight line between two. */
#include "golden/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const bt_plugin *load(const char *folder, const char *file)
{
	const char *build = getenv("top_builddir");
	const bt_plugin_set *set = NULL;
	const bt_plugin *plugin;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s/.libs/%s", build ? build : ".", folder, file);
	if (bt_plugin_find_all_from_file(path, BT_TRUE, &set) !=
	    BT_PLUGIN_FIND_ALL_FROM_FILE_STATUS_OK) {
		fprintf(stderr, "# cannot load %s\n", path);
		return NULL;
	}
	plugin = bt_plugin_set_borrow_plugin_by_index_const(set, 0);
	bt_plugin_get_ref(plugin);
	bt_plugin_set_put_ref(set);
	return plugin;
}

bool test_plugins_load(struct test_plugins *plugins)
{
	memset(plugins, 0, sizeof(*plugins));
	plugins->own = load(".", "babeltrace-plugin-ccltap.so");
	plugins->source = load("tests/golden", "babeltrace-plugin-ccltaptest.so");
	bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE,
		       &plugins->ctf);
	bt_plugin_find("utils", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE,
		       &plugins->utils);
	return plugins->own && plugins->source && plugins->ctf && plugins->utils;
}

void test_plugins_unload(struct test_plugins *plugins)
{
	bt_plugin_put_ref(plugins->own);
	bt_plugin_put_ref(plugins->source);
	bt_plugin_put_ref(plugins->ctf);
	bt_plugin_put_ref(plugins->utils);
}

static const bt_component_source *add_source(bt_graph *graph,
					     const struct test_plugins *plugins,
					     const char *path, bool is_ctf)
{
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create(), *inputs;

	if (is_ctf) {
		bt_value_map_insert_empty_array_entry(params, "inputs", &inputs);
		bt_value_array_append_string_element(inputs, path);
	} else {
		bt_value_map_insert_string_entry(params, "path", path);
	}
	bt_graph_add_source_component(
		graph,
		bt_plugin_borrow_source_component_class_by_name_const(
			is_ctf ? plugins->ctf : plugins->source,
			is_ctf ? "fs" : "events"),
		"source", params, BT_LOGGING_LEVEL_NONE, &source);
	bt_value_put_ref(params);
	return source;
}

/* All streams of a source into our filter, and that into a sink that only reads. */
static bool connect_filter(bt_graph *graph, const struct test_plugins *plugins,
			   const bt_component_source *source,
			   const bt_component_sink *sink)
{
	const bt_component_filter *filter = NULL;
	uint64_t i;

	if (bt_graph_add_filter_component(
		    graph,
		    bt_plugin_borrow_filter_component_class_by_name_const(plugins->own,
									  "timeline"),
		    "filter", NULL, BT_LOGGING_LEVEL_NONE, &filter))
		return false;
	for (i = 0; i < bt_component_source_get_output_port_count(source); i++)
		if (bt_graph_connect_ports(
			    graph,
			    bt_component_source_borrow_output_port_by_index_const(source,
										  i),
			    bt_component_filter_borrow_input_port_by_index_const(
				    filter,
				    bt_component_filter_get_input_port_count(filter) - 1),
			    NULL))
			return false;
	return !bt_graph_connect_ports(
		graph, bt_component_filter_borrow_output_port_by_index_const(filter, 0),
		bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
}

/* All streams of a source into a sink that adds ports. */
static bool connect_own(bt_graph *graph, const bt_component_source *source,
			const bt_component_sink *sink)
{
	uint64_t i;

	for (i = 0; i < bt_component_source_get_output_port_count(source); i++)
		if (bt_graph_connect_ports(
			    graph,
			    bt_component_source_borrow_output_port_by_index_const(source,
										  i),
			    bt_component_sink_borrow_input_port_by_index_const(
				    sink,
				    bt_component_sink_get_input_port_count(sink) - 1),
			    NULL))
			return false;
	return true;
}

/* The sinks of babeltrace2 have one port: the stock muxer goes before it. */
static bool connect_stock(bt_graph *graph, const struct test_plugins *plugins,
			  const bt_component_source *source,
			  const bt_component_sink *sink)
{
	const bt_component_filter *muxer = NULL;
	uint64_t i;

	if (bt_graph_add_filter_component(
		    graph,
		    bt_plugin_borrow_filter_component_class_by_name_const(plugins->utils,
									  "muxer"),
		    "muxer", NULL, BT_LOGGING_LEVEL_NONE, &muxer))
		return false;
	for (i = 0; i < bt_component_source_get_output_port_count(source); i++)
		if (bt_graph_connect_ports(
			    graph,
			    bt_component_source_borrow_output_port_by_index_const(source,
										  i),
			    bt_component_filter_borrow_input_port_by_index_const(muxer,
										 i),
			    NULL))
			return false;
	return !bt_graph_connect_ports(
		graph, bt_component_filter_borrow_output_port_by_index_const(muxer, 0),
		bt_component_sink_borrow_input_port_by_index_const(sink, 0), NULL);
}

/* CTF 1.8, which is all that the sink of 2.0 writes: that refuses the parameter. */
static void ask_ctf_1(bt_value *params)
{
	if ((bt_version_get_major() > 2 || bt_version_get_minor() > 0) &&
	    !bt_value_map_has_entry(params, "ctf-version"))
		bt_value_map_insert_string_entry(params, "ctf-version", "1");
}

bool test_graph_run(const struct test_plugins *plugins, const char *path, bool is_ctf,
		    const char *name, bt_value *params, char *cause, size_t size)
{
	bool to_ctf = !strcmp(name, "ctf"), is_filtered = !strcmp(name, "filter");
	bool to_dummy = is_filtered || !strcmp(name, "dummy");
	bt_graph *graph = bt_graph_create(0);
	const bt_component_source *source = add_source(graph, plugins, path, is_ctf);
	const bt_component_sink *sink = NULL;
	bt_graph_run_status status = BT_GRAPH_RUN_STATUS_ERROR;
	const bt_error *error;
	bool is_connected = false;

	if (to_ctf)
		ask_ctf_1(params);
	if (source)
		bt_graph_add_sink_component(
			graph,
			bt_plugin_borrow_sink_component_class_by_name_const(
				to_ctf	   ? plugins->ctf
				: to_dummy ? plugins->utils
					   : plugins->own,
				to_ctf	   ? "fs"
				: to_dummy ? "dummy"
					   : name),
			"sink", params, BT_LOGGING_LEVEL_NONE, &sink);
	if (sink)
		is_connected = is_filtered ? connect_filter(graph, plugins, source, sink)
			       : to_ctf || to_dummy
				       ? connect_stock(graph, plugins, source, sink)
				       : connect_own(graph, source, sink);
	if (is_connected)
		while ((status = bt_graph_run(graph)) == BT_GRAPH_RUN_STATUS_AGAIN)
			;
	bt_graph_put_ref(graph);
	bt_value_put_ref(params);
	error = bt_current_thread_take_error();
	snprintf(cause, size, "%s",
		 error && bt_error_get_cause_count(error)
			 ? bt_error_cause_get_message(
				   bt_error_borrow_cause_by_index(error, 0))
			 : "");
	if (error)
		bt_error_release(error);
	return status == BT_GRAPH_RUN_STATUS_OK;
}
