/* SPDX-License-Identifier: MIT */
/* The table of the components in this plugin. */
#include "join/bt/filter.h"
#include "join/bt/sink.h"

/* The symbols that babeltrace2 looks up; this file exports nothing else. */
#pragma GCC visibility push(default)
BT_PLUGIN_MODULE();
#pragma GCC visibility pop

BT_PLUGIN(ccltap);
BT_PLUGIN_DESCRIPTION("Views of the traces that ccltap records");
BT_PLUGIN_LICENSE("MIT");
BT_PLUGIN_AUTHOR("ccltap");

BT_PLUGIN_SINK_COMPONENT_CLASS(timeline, tap_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(timeline,
					   "Write the calls of a trace in order");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(timeline, "See babeltrace2-plugin-ccltap(7)");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(timeline, tap_sink_init_timeline);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(timeline, tap_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(timeline, tap_sink_connected);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(timeline, tap_sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(report, tap_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(
	report, "Write how often and how long was called what");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(report, "See babeltrace2-plugin-ccltap(7)");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(report, tap_sink_init_report);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(report, tap_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(report, tap_sink_connected);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(report, tap_sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(check, tap_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(check, "Write how far a trace can be trusted");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(check, "See babeltrace2-plugin-ccltap(7)");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(check, tap_sink_init_check);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(check, tap_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(check, tap_sink_connected);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(check, tap_sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(complete, tap_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(complete,
					   "Write whether all ranks of a job are there");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(complete, "See babeltrace2-plugin-ccltap(7)");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(complete, tap_sink_init_complete);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(complete, tap_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(complete, tap_sink_connected);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(complete, tap_sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(why, tap_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(why, "Write what is wrong with the program");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(why, "See babeltrace2-plugin-ccltap(7)");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(why, tap_sink_init_why);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(why, tap_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(why, tap_sink_connected);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(why, tap_sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(audit, tap_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(
	audit, "Write what the program does with its collective library");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(audit, "See babeltrace2-plugin-ccltap(7)");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(audit, tap_sink_init_audit);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(audit, tap_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(audit, tap_sink_connected);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(audit, tap_sink_configured);

BT_PLUGIN_SINK_COMPONENT_CLASS(export, tap_sink_consume);
BT_PLUGIN_SINK_COMPONENT_CLASS_DESCRIPTION(export, "Write tables for engines");
BT_PLUGIN_SINK_COMPONENT_CLASS_HELP(export, "See babeltrace2-plugin-ccltap(7)");
BT_PLUGIN_SINK_COMPONENT_CLASS_INITIALIZE_METHOD(export, tap_sink_init_export);
BT_PLUGIN_SINK_COMPONENT_CLASS_FINALIZE_METHOD(export, tap_sink_finalize);
BT_PLUGIN_SINK_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(export, tap_sink_connected);
BT_PLUGIN_SINK_COMPONENT_CLASS_GRAPH_IS_CONFIGURED_METHOD(export, tap_sink_configured);

BT_PLUGIN_FILTER_COMPONENT_CLASS(timeline, tap_filter_next);
BT_PLUGIN_FILTER_COMPONENT_CLASS_DESCRIPTION(timeline,
					     "Make a trace of the calls of a trace");
BT_PLUGIN_FILTER_COMPONENT_CLASS_HELP(timeline, "See babeltrace2-plugin-ccltap(7)");
BT_PLUGIN_FILTER_COMPONENT_CLASS_INITIALIZE_METHOD(timeline, tap_filter_init);
BT_PLUGIN_FILTER_COMPONENT_CLASS_FINALIZE_METHOD(timeline, tap_filter_finalize);
BT_PLUGIN_FILTER_COMPONENT_CLASS_INPUT_PORT_CONNECTED_METHOD(timeline,
							     tap_filter_connected);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(
	timeline, tap_filter_begin);
BT_PLUGIN_FILTER_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(timeline,
									tap_filter_end);
