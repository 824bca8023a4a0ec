/* SPDX-License-Identifier: MIT */
/* The component holds the parameters and ports; its iterator reads. */
#include "join/bt/filter.h"

#include "join/bt/ctf.h"
#include "join/bt/merge.h"
#include "join/bt/param.h"
#include "join/bt/progress.h"
#include "join/views/filtered.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Events read before the iterator checks whether they produced messages. */
#define BUDGET 16

struct filter {
	bt_self_component_filter *self;
	unsigned int port_count;
	struct tap_bounds bounds;
	uint64_t damaged_streams, removed_chunks, unrecorded, relay_gaps;
	bool is_window;
	char *jobs; /* that are read, NULL: all */
	bool reports_loss;
	bool has_progress;
	bool has_links;
	struct tap_filters filters;
};

struct reading {
	bt_self_message_iterator *iterator;
	struct tap_view *view;
	struct tap_filtered *filtered; /* NULL: no filters are given */
	struct tap_join *join;
	struct tap_decoder *decoder;
	struct tap_merge *merge;
	struct tap_ctf *ctf;
	struct tap_progress progress;
	bool reports_loss;
	bool is_over;
};

#define APPEND_CAUSE(reading, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR((reading)->iterator, \
								   __VA_ARGS__)

/* ---- The component ---- */

static int add_port(struct filter *filter)
{
	char name[24];

	snprintf(name, sizeof(name), "in%u", filter->port_count++);
	return bt_self_component_filter_add_input_port(filter->self, name, NULL, NULL)
		       ? -ENOMEM
		       : 0;
}

bt_component_class_initialize_method_status
tap_filter_init(bt_self_component_filter *self,
		bt_self_component_filter_configuration *configuration,
		const bt_value *values, void *data)
{
	enum {
		OPEN,
		HELD,
		DAMAGED,
		REMOVED,
		UNRECORDED,
		RELAY,
		JOBS,
		SNAPSHOTS,
		FLIGHT,
		LOSS,
		PROGRESS,
		LINKS,
		FILTERS
	};
	struct tap_param params[] = {
		[OPEN] = {.name = "open-calls",
			  .kind = TAP_PARAM_COUNT,
			  .count = TAP_PARAM_OPEN_CALLS},
		[HELD] = {.name = "held-operations",
			  .kind = TAP_PARAM_COUNT,
			  .count = TAP_PARAM_HELD_OPERATIONS},
		[DAMAGED] = {.name = "damaged-streams", .kind = TAP_PARAM_COUNT},
		[REMOVED] = {.name = "removed-chunks", .kind = TAP_PARAM_COUNT},
		[UNRECORDED] = {.name = "unrecorded-processes", .kind = TAP_PARAM_COUNT},
		[RELAY] = {.name = "relay-gaps", .kind = TAP_PARAM_COUNT},
		[JOBS] = {.name = "jobs", .kind = TAP_PARAM_STRING},
		[SNAPSHOTS] = {.name = "snapshots", .kind = TAP_PARAM_STRING},
		[FLIGHT] = {.name = "flight-recorder", .kind = TAP_PARAM_BOOL},
		[LOSS] = {.name = "loss", .kind = TAP_PARAM_BOOL},
		[PROGRESS] = {.name = "progress", .kind = TAP_PARAM_BOOL},
		[LINKS] = {.name = "links", .kind = TAP_PARAM_BOOL},
		TAP_PARAM_FILTERS(FILTERS),
	};
	bt_self_component *component = bt_self_component_filter_as_self_component(self);
	struct filter *filter;

	(void) configuration;
	(void) data;
	if (!tap_params_read(component, values, params,
			     sizeof(params) / sizeof(params[0])))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	filter = calloc(1, sizeof(*filter));
	if (!filter)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	filter->self = self;
	filter->bounds.open_calls = (size_t) params[OPEN].count;
	filter->bounds.held_operations = (size_t) params[HELD].count;
	filter->damaged_streams = (uint64_t) params[DAMAGED].count;
	filter->removed_chunks = (uint64_t) params[REMOVED].count;
	filter->unrecorded = (uint64_t) params[UNRECORDED].count;
	filter->relay_gaps = (uint64_t) params[RELAY].count;
	filter->is_window = params[FLIGHT].boolean;
	if (params[JOBS].string)
		filter->jobs = strdup(params[JOBS].string);
	filter->reports_loss = params[LOSS].boolean;
	filter->has_progress = params[PROGRESS].boolean;
	filter->has_links = params[LINKS].boolean;
	if (!tap_params_take_filters(component, &params[FILTERS], &filter->filters)) {
		free(filter->jobs);
		free(filter);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	if ((params[JOBS].string && !filter->jobs) || add_port(filter) ||
	    bt_self_component_filter_add_output_port(self, "out", NULL, NULL)) {
		tap_filters_free(&filter->filters);
		free(filter->jobs);
		free(filter);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	bt_self_component_set_data(component, filter);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static struct filter *get(bt_self_component_filter *self)
{
	return bt_self_component_get_data(
		bt_self_component_filter_as_self_component(self));
}

void tap_filter_finalize(bt_self_component_filter *self)
{
	struct filter *filter = get(self);

	tap_filters_free(&filter->filters);
	free(filter->jobs);
	free(filter);
}

bt_component_class_port_connected_method_status
tap_filter_connected(bt_self_component_filter *self, bt_self_component_port_input *port,
		     const bt_port_output *other)
{
	(void) port;
	(void) other;
	/* One port is always free. */
	return add_port(get(self))
		       ? BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_MEMORY_ERROR
		       : BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_OK;
}

/* ---- Its iterator ---- */

static int take_mark(void *data, const struct tap_mark *mark)
{
	struct reading *reading = data;

	return tap_ctf_add(reading->ctf, mark);
}

/* Events cannot show what is left out or lost: both go to standard error. */
static int report_loss(void *data, const struct tap_loss *loss)
{
	static const char none[] = "loss: none\n";
	struct reading *reading = data;
	struct tap_buffer line = {0};
	size_t head;

	tap_progress_end(&reading->progress);
	if (!reading->reports_loss)
		return 0;
	tap_filtered_add_text(&line, reading->view);
	head = line.used;
	tap_view_add_loss_text(&line, loss);
	if (line.used - head == strlen(none) &&
	    !memcmp(line.data + head, none, strlen(none)))
		line.used = head;
	if (!line.is_short)
		fwrite(line.data, 1, line.used, stderr);
	tap_buffer_free(&line);
	return 0;
}

static void destroy(struct reading *reading)
{
	if (!reading)
		return;
	tap_merge_destroy(reading->merge);
	if (reading->view)
		reading->view->destroy(reading->view);
	tap_filtered_destroy(reading->filtered);
	tap_ctf_destroy(reading->ctf);
	tap_join_destroy(reading->join);
	tap_decoder_destroy(reading->decoder);
	free(reading);
}

/* Makes the join, and between it and the view what leaves out what nobody wants to see. */
static void make_join(struct reading *reading, const struct filter *filter)
{
	if (!tap_filters_are_given(&filter->filters)) {
		reading->join = tap_join_create(reading->view->consumer, reading->view,
						&filter->bounds);
		return;
	}
	reading->filtered = tap_filtered_create(reading->view, &filter->filters,
						filter->bounds.open_calls);
	if (reading->filtered)
		reading->join = tap_join_create(&tap_filtered_consumer,
						reading->filtered, &filter->bounds);
}

static struct reading *create(bt_self_message_iterator *iterator,
			      const struct filter *filter)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	const struct tap_mark_taker taker = {take_mark, report_loss, reading};
	bool is_short = false;

	if (!reading)
		return NULL;
	reading->iterator = iterator;
	reading->reports_loss = filter->reports_loss;
	reading->progress.is_wanted = filter->has_progress;
	reading->view = tap_derived_create(&taker, filter->has_links);
	if (reading->view)
		make_join(reading, filter);
	if (reading->join) {
		reading->view->context = tap_join_context(reading->join);
		reading->decoder = tap_decoder_create(reading->join);
		tap_join_loss(reading->join)->damaged_streams = filter->damaged_streams;
		tap_join_loss(reading->join)->removed_chunks = filter->removed_chunks;
		tap_join_loss(reading->join)->unrecorded = filter->unrecorded;
		tap_join_loss(reading->join)->relay_gaps = filter->relay_gaps;
		tap_join_loss(reading->join)->is_window = filter->is_window;
		is_short = filter->jobs && tap_join_set_jobs(reading->join, filter->jobs);
	}
	if (reading->decoder && !is_short) {
		reading->merge = tap_merge_create(reading->decoder, reading->join);
		reading->ctf = tap_ctf_create(iterator, reading->decoder);
	}
	if (reading->merge && reading->ctf)
		return reading;
	destroy(reading);
	return NULL;
}

/* Returns 0, -EIO after reporting the cause, or -ENOMEM. */
static int read_port(struct reading *reading, const struct filter *filter,
		     unsigned int number)
{
	bt_self_component_port_input *port =
		bt_self_component_filter_borrow_input_port_by_index(filter->self, number);
	bt_message_iterator *from;

	if (!bt_port_is_connected(bt_port_input_as_port_const(
		    bt_self_component_port_input_as_port_input(port))))
		return 0;
	if (bt_message_iterator_create_from_message_iterator(reading->iterator, port,
							     &from)) {
		APPEND_CAUSE(reading, "Cannot read the stream of port in%u", number);
		return -EIO;
	}
	if (!tap_merge_add(reading->merge, from))
		return 0;
	bt_message_iterator_put_ref(from);
	return -ENOMEM;
}

bt_message_iterator_class_initialize_method_status
tap_filter_begin(bt_self_message_iterator *iterator,
		 bt_self_message_iterator_configuration *configuration,
		 bt_self_component_port_output *port)
{
	const struct filter *filter = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(iterator));
	struct reading *reading = create(iterator, filter);
	unsigned int i;
	int ret = reading ? 0 : -ENOMEM;

	(void) configuration;
	(void) port;
	for (i = 0; !ret && i < filter->port_count; i++)
		ret = read_port(reading, filter, i);
	if (ret) {
		destroy(reading);
		return ret == -ENOMEM
			       ? BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR
			       : BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(iterator, reading);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void tap_filter_end(bt_self_message_iterator *iterator)
{
	destroy(bt_self_message_iterator_get_data(iterator));
}

/* Reads until there is a message, or until there will be none.  Returns 0 or -errno. */
static int read_more(struct reading *reading, bool *is_waiting)
{
	enum tap_merge_status status = TAP_MERGE_OK;
	int ret = 0;

	while (!ret && status == TAP_MERGE_OK && !tap_ctf_count(reading->ctf))
		ret = tap_merge_run(reading->merge, BUDGET, &status);
	tap_progress_show(&reading->progress, tap_merge_event_count(reading->merge));
	*is_waiting = status == TAP_MERGE_AGAIN;
	if (ret || status != TAP_MERGE_END)
		return ret;
	reading->is_over = true;
	ret = tap_join_finish(reading->join);
	return ret ? ret : tap_ctf_end(reading->ctf, tap_join_context(reading->join));
}

bt_message_iterator_class_next_method_status
tap_filter_next(bt_self_message_iterator *iterator, bt_message_array_const messages,
		uint64_t capacity, uint64_t *count)
{
	struct reading *reading = bt_self_message_iterator_get_data(iterator);
	bool is_waiting = false;
	int ret = 0;

	if (!tap_ctf_count(reading->ctf) && !reading->is_over)
		ret = read_more(reading, &is_waiting);
	if (ret == -ENOMEM)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
	if (ret) {
		APPEND_CAUSE(reading, "Cannot join the events: %s", strerror(-ret));
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	*count = tap_ctf_take(reading->ctf, messages, capacity);
	if (*count)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	return is_waiting ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN
			  : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}
