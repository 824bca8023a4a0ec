/* SPDX-License-Identifier: MIT */
/*
 * Counts a recording's events with a babeltrace2 graph. The order of events does not
 * matter here, so every stream is read on its own and none is merged.
 *
 * A child reads: babeltrace2 fails assertions on some damaged traces, and the recorder
 * still has to return the program's status.
 */
#include "tools/record_summary.h"

#include <babeltrace2/babeltrace.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/vec.h"
#include "tools/child.h"
#include "tools/parts.h"
#include "tools/plugins.h"

/*
 * LTTng records by user, so the trace also has the user's other jobs. A process names its
 * job in one event, which may be read after all of its other events.
 */
struct process {
	int64_t vpid, namespace;
	bool is_ours;
	uint64_t events;
	uint64_t layer_events[TAP_SUMMARY_LAYERS];
};

/* A text for the closing line if its process turns out to be of this job. */
struct note {
	size_t process;
	bool is_problem;
	char *text;
};

/* More than a line can show; bounds the cost of a trace of garbage. */
#define MOST_NOTES 4096

/* The sink's iterators and what it counts; belongs to read_events(). */
struct counter {
	struct tap_summary *summary;
	const char *job;
	bt_message_iterator **iterators;
	size_t iterator_count;
	size_t next;
	TAP_VEC(struct process) processes;
	size_t last_process;
	TAP_VEC(struct note) notes;
	bool is_interrupted;
	bool is_out_of_memory;
};

/* nftw() passes no argument to its callback. */
static struct {
	bt_value *traces;
	uint64_t bytes;
} found;

static int look_at_file(const char *path, const struct stat *st, int type,
			struct FTW *place)
{
	char *folder;

	static const struct tap_parts ended;

	if (type == FTW_D && place->level && tap_parts_skip(&ended, path, place->base))
		return FTW_SKIP_SUBTREE;
	if (type != FTW_F)
		return FTW_CONTINUE;
	found.bytes += st->st_size;
	if (strcmp(path + place->base, "metadata"))
		return FTW_CONTINUE;
	folder = strndup(path, place->base - 1);
	if (!folder ||
	    bt_value_array_append_string_element(found.traces, folder) !=
	    BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK) {
		free(folder);
		return FTW_STOP;
	}
	free(folder);
	return FTW_CONTINUE;
}

static void add_text(struct tap_summary_texts *texts, const char *text)
{
	for (size_t i = 0; i < texts->count; i++)
		if (!strcmp(texts->texts[i], text))
			return;
	if (texts->count < TAP_SUMMARY_TEXTS)
		texts->texts[texts->count] = strdup(text);
	if (texts->count < TAP_SUMMARY_TEXTS && texts->texts[texts->count])
		texts->count++;
	else
		texts->left_out++;
}

static const bt_field *member(const bt_field *record, const char *name)
{
	if (!record || bt_field_get_class_type(record) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return NULL;
	return bt_field_structure_borrow_member_field_by_name_const(record, name);
}

static const char *text_of(const bt_field *record, const char *name)
{
	const bt_field *field = member(record, name);

	if (!field || bt_field_get_class_type(field) != BT_FIELD_CLASS_TYPE_STRING)
		return "";
	/* babeltrace2 2.0 keeps the previous text in an empty string field. */
	return bt_field_string_get_length(field) ? bt_field_string_get_value(field) : "";
}

/* A number in the event's context, -1 where there is none. */
static int64_t context_of(const bt_event *event, const char *name)
{
	const bt_field *field;

	field = member(bt_event_borrow_common_context_field_const(event), name);
	if (field && bt_field_class_type_is(bt_field_get_class_type(field),
					    BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return bt_field_integer_signed_get_value(field);
	if (field && bt_field_class_type_is(bt_field_get_class_type(field),
					    BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return (int64_t)bt_field_integer_unsigned_get_value(field);
	return -1;
}

static bool is_process(const struct process *process, int64_t vpid, int64_t namespace)
{
	return process->vpid == vpid && process->namespace == namespace;
}

static struct process *find_process(struct counter *counter, const bt_event *event)
{
	const int64_t vpid = context_of(event, "vpid");
	const int64_t namespace = context_of(event, "pid_ns");
	const struct process made = { .vpid = vpid, .namespace = namespace };
	size_t i = counter->last_process;

	if (i < counter->processes.count &&
	    is_process(&counter->processes.items[i], vpid, namespace))
		return &counter->processes.items[i];
	for (i = 0; i < counter->processes.count; i++)
		if (is_process(&counter->processes.items[i], vpid, namespace))
			break;
	if (i == counter->processes.count && tap_vec_add(&counter->processes, made)) {
		counter->is_out_of_memory = true;
		return NULL;
	}
	counter->last_process = i;
	return &counter->processes.items[i];
}

/* Index of the layer in the summary, or TAP_SUMMARY_LAYERS when there are too many. */
static size_t find_layer(struct tap_summary *summary, const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < summary->layer_count; i++)
		if (strlen(summary->layers[i].name) == length &&
		    !memcmp(summary->layers[i].name, name, length))
			return i;
	if (i == TAP_SUMMARY_LAYERS || length >= sizeof(summary->layers[i].name))
		return TAP_SUMMARY_LAYERS;
	memcpy(summary->layers[i].name, name, length);
	return summary->layer_count++;
}

static void add_note(struct counter *counter, size_t process, bool is_problem,
		     const char *text)
{
	struct note note = { .process = process, .is_problem = is_problem };

	if (counter->notes.count == MOST_NOTES)
		return;
	note.text = strdup(text);
	if (note.text && !tap_vec_add(&counter->notes, note))
		return;
	free(note.text);
	counter->is_out_of_memory = true;
}

static void note_own_event(struct counter *counter, const char *name,
			   const bt_field *payload, size_t process)
{
	static const char dump[] = "statedump_";
	const char *text;
	char line[256];

	/* The statedump has the same events, for processes that began before the trace. */
	if (!strncmp(name, dump, strlen(dump)))
		name += strlen(dump);
	if (!strcmp(name, "process")) {
		if (!strcmp(text_of(payload, "job_id"), counter->job))
			counter->processes.items[process].is_ours = true;
	} else if (!strcmp(name, "library")) {
		if (!*text_of(payload, "layer"))
			return;
		text = text_of(payload, "path");
		add_note(counter, process, false,
			 strrchr(text, '/') ? strrchr(text, '/') + 1 : text);
	} else if (!strcmp(name, "problem")) {
		text = text_of(payload, "detail");
		snprintf(line, sizeof(line), "%s%s%s%s", text_of(payload, "what"),
			 *text ? " (" : "", text, *text ? ")" : "");
		add_note(counter, process, true, line);
	}
}

static void count_event(struct counter *counter, const bt_event *event)
{
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));
	const char *colon = name ? strchr(name, ':') : NULL;
	struct process *process = find_process(counter, event);
	size_t layer;

	if (!process)
		return;
	process->events++;
	if (!colon)
		return;
	layer = find_layer(counter->summary, name, colon - name);
	if (layer < TAP_SUMMARY_LAYERS)
		process->layer_events[layer]++;
	if (!strncmp(name, "tap:", 4))
		note_own_event(counter, colon + 1,
			       bt_event_borrow_payload_field_const(event),
			       process - counter->processes.items);
}

static void count_message(struct counter *counter, const bt_message *message)
{
	uint64_t count;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		count_event(counter, bt_message_event_borrow_event_const(message));
		return;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		if (bt_message_discarded_events_get_count(message, &count) ==
		    BT_PROPERTY_AVAILABILITY_AVAILABLE)
			counter->summary->discarded += count;
		return;
	default:
		return;
	}
}

bool tap_summary_must_end(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t pending;

	if (sigpending(&pending) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigismember(&pending, signals[i]) == 1)
			return true;
	return false;
}

static bt_component_class_sink_consume_method_status consume(bt_self_component_sink *self)
{
	struct counter *counter = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));
	bt_message_iterator_next_status status;
	bt_message_array_const messages;
	uint64_t count;

	if (counter->next == counter->iterator_count)
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	if (tap_summary_must_end()) {
		counter->is_interrupted = true;
		return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END;
	}
	status = bt_message_iterator_next(counter->iterators[counter->next], &messages,
					  &count);
	switch (status) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		for (uint64_t i = 0; i < count; i++) {
			count_message(counter, messages[i]);
			bt_message_put_ref(messages[i]);
		}
		break;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		bt_message_iterator_put_ref(counter->iterators[counter->next]);
		counter->iterators[counter->next++] = NULL;
		break;
	default:
		/* The other statuses have the same numbers for both functions. */
		return (int)status;
	}
	return counter->is_out_of_memory ?
		BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR :
		BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
}

/* There is always one free port, so that any number can be connected. */
static int add_port(bt_self_component_sink *self)
{
	char name[32];

	snprintf(name, sizeof(name), "in%" PRIu64,
		 bt_component_sink_get_input_port_count(
			 bt_self_component_sink_as_component_sink(self)));
	return bt_self_component_sink_add_input_port(self, name, NULL, NULL);
}

static bt_component_class_initialize_method_status
initialize(bt_self_component_sink *self,
	   bt_self_component_sink_configuration *configuration,
	   const bt_value *parameters, void *data)
{
	(void)configuration;
	(void)parameters;
	bt_self_component_set_data(bt_self_component_sink_as_self_component(self), data);
	return add_port(self) ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR :
				BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_component_class_port_connected_method_status
input_port_connected(bt_self_component_sink *self, bt_self_component_port_input *port,
		     const bt_port_output *other)
{
	(void)port;
	(void)other;
	return add_port(self) ? BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_ERROR :
				BT_COMPONENT_CLASS_PORT_CONNECTED_METHOD_STATUS_OK;
}

static bool is_connected(bt_self_component_port_input *port)
{
	return bt_port_is_connected(bt_port_input_as_port_const(
		bt_self_component_port_input_as_port_input(port)));
}

static int make_iterators(bt_self_component_sink *self, struct counter *counter,
			  uint64_t port_count)
{
	counter->iterators = calloc(port_count, sizeof(*counter->iterators));
	if (!counter->iterators)
		return -ENOMEM;
	for (uint64_t i = 0; i < port_count; i++) {
		bt_self_component_port_input *port =
			bt_self_component_sink_borrow_input_port_by_index(self, i);
		bt_message_iterator **iterator =
			&counter->iterators[counter->iterator_count];

		if (!is_connected(port))
			continue;
		if (bt_message_iterator_create_from_sink_component(self, port, iterator))
			return -EIO;
		counter->iterator_count++;
	}
	return 0;
}

static bt_component_class_sink_graph_is_configured_method_status
graph_is_configured(bt_self_component_sink *self)
{
	struct counter *counter = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));
	uint64_t port_count = bt_component_sink_get_input_port_count(
		bt_self_component_sink_as_component_sink(self));

	if (make_iterators(self, counter, port_count))
		return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_sink *self)
{
	struct counter *counter = bt_self_component_get_data(
		bt_self_component_sink_as_self_component(self));

	for (size_t i = 0; i < counter->iterator_count; i++)
		bt_message_iterator_put_ref(counter->iterators[i]);
	free(counter->iterators);
	counter->iterators = NULL;
	counter->iterator_count = counter->next = 0;
}

static const bt_component_sink *add_sink(bt_graph *graph, struct counter *counter)
{
	const bt_component_sink *sink = NULL;
	bt_component_class_sink *class;

	class = bt_component_class_sink_create("count", consume);
	if (!class)
		return NULL;
	if (bt_component_class_sink_set_initialize_method(class, initialize) ||
	    bt_component_class_sink_set_graph_is_configured_method(class,
								   graph_is_configured) ||
	    bt_component_class_sink_set_input_port_connected_method(
		    class, input_port_connected) ||
	    bt_component_class_sink_set_finalize_method(class, finalize) ||
	    bt_graph_add_sink_component_with_initialize_method_data(
		    graph, class, "count", NULL, counter, BT_LOGGING_LEVEL_NONE, &sink))
		sink = NULL;
	bt_component_class_sink_put_ref(class);
	return sink;
}

static const bt_component_class_source *find_reader(const bt_plugin **ret_plugin)
{
	*ret_plugin = tap_plugins_find_ctf();
	if (!*ret_plugin)
		return NULL;
	return bt_plugin_borrow_source_component_class_by_name_const(*ret_plugin, "fs");
}

/* Adds the reader of one trace and connects all of its streams. */
static int add_source(bt_graph *graph, const bt_component_class_source *reader,
		      const bt_component_sink *sink, const char *folder)
{
	const bt_component_source *source;
	bt_value *parameters = bt_value_map_create();
	bt_value *inputs = NULL;
	int ret = -EIO;

	if (!parameters ||
	    bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs) ||
	    bt_value_array_append_string_element(inputs, folder))
		goto out;
	/* babeltrace2 requires a distinct name for every component of a graph. */
	if (bt_graph_add_source_component(graph, reader, folder, parameters,
					  BT_LOGGING_LEVEL_NONE, &source))
		goto out;
	for (uint64_t i = 0; i < bt_component_source_get_output_port_count(source); i++) {
		uint64_t last = bt_component_sink_get_input_port_count(sink) - 1;
		const bt_port_output *from =
			bt_component_source_borrow_output_port_by_index_const(source, i);
		const bt_port_input *to =
			bt_component_sink_borrow_input_port_by_index_const(sink, last);

		if (bt_graph_connect_ports(graph, from, to, NULL))
			goto out;
	}
	ret = 0;
out:
	bt_value_put_ref(parameters);
	return ret;
}

static int read_events(struct counter *counter, const bt_value *traces)
{
	const bt_component_class_source *reader;
	const bt_component_sink *sink;
	const bt_plugin *plugin = NULL;
	bt_graph *graph = bt_graph_create(0);
	int ret = -EIO;

	reader = find_reader(&plugin);
	if (!graph || !reader)
		goto out;
	sink = add_sink(graph, counter);
	if (!sink)
		goto out;
	for (uint64_t i = 0; i < bt_value_array_get_length(traces); i++) {
		const bt_value *folder =
			bt_value_array_borrow_element_by_index_const(traces, i);

		if (add_source(graph, reader, sink, bt_value_string_get(folder)))
			goto out;
	}
	if (bt_graph_run(graph) == BT_GRAPH_RUN_STATUS_OK)
		ret = 0;
out:
	bt_graph_put_ref(graph);
	bt_plugin_put_ref(plugin);
	bt_current_thread_clear_error();
	return ret;
}

static void sum_up(struct counter *counter)
{
	struct tap_summary *summary = counter->summary;

	for (size_t i = 0; i < counter->processes.count; i++) {
		const struct process *process = &counter->processes.items[i];

		if (!process->is_ours) {
			summary->foreign_processes++;
			continue;
		}
		summary->processes++;
		summary->events += process->events;
		for (size_t layer = 0; layer < summary->layer_count; layer++)
			summary->layers[layer].events += process->layer_events[layer];
	}
	for (size_t i = 0; i < counter->notes.count; i++) {
		struct note *note = &counter->notes.items[i];

		if (counter->processes.items[note->process].is_ours)
			add_text(note->is_problem ? &summary->problems :
				 &summary->attached, note->text);
		free(note->text);
	}
	tap_vec_free(&counter->notes);
	tap_vec_free(&counter->processes);
}

/* ---- The child ---- */

/* Limit for the child: far more than the largest trace that is read back needs. */
#define CPU_SECONDS 60
/* Longer texts are cut. */
#define TEXT_BYTES 1024

/*
 * The child's findings, in shared memory; `attached` and `problems` have the summary's
 * texts.
 */
struct result {
	bool is_there;
	int error;
	struct tap_summary summary;
	char attached[TAP_SUMMARY_TEXTS][TEXT_BYTES];
	char problems[TAP_SUMMARY_TEXTS][TEXT_BYTES];
};

static void pack(const struct tap_summary_texts *texts, char (*ret_texts)[TEXT_BYTES])
{
	for (size_t i = 0; i < texts->count; i++)
		snprintf(ret_texts[i], TEXT_BYTES, "%s", texts->texts[i]);
}

/* A text for which there is no memory is only counted. */
static void unpack(struct tap_summary_texts *texts, char (*packed)[TEXT_BYTES])
{
	size_t count = texts->count;

	texts->count = 0;
	for (size_t i = 0; i < count; i++) {
		char *text = strdup(packed[i]);

		if (text)
			texts->texts[texts->count++] = text;
		else
			texts->left_out++;
	}
}

/* The child's task. */
struct task {
	struct result *result;
	const bt_value *traces;
	const char *job;
};

static int count_in_child(void *data)
{
	const struct task *task = data;
	struct result *result = task->result;
	struct counter counter = { .summary = &result->summary, .job = task->job };
	const struct rlimit time = { CPU_SECONDS, CPU_SECONDS };
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	setrlimit(RLIMIT_CPU, &time);
	if (nowhere >= 0)
		dup2(nowhere, STDERR_FILENO);
	result->error = read_events(&counter, task->traces);
	sum_up(&counter);
	pack(&result->summary.attached, result->attached);
	pack(&result->summary.problems, result->problems);
	result->is_there = !counter.is_interrupted;
	_exit(EXIT_SUCCESS);
}

static int count_events(struct result *result, const bt_value *traces, const char *job)
{
	struct task task = { .result = result, .traces = traces, .job = job };
	const struct tap_child_work work = { .run = count_in_child,
					     .data = &task,
					     .must_end = tap_summary_must_end };
	int status, ret = tap_child_run(&work, &status);

	if (ret < 0)
		return ret;
	return result->is_there ? result->error : -EIO;
}

static int read_in_child(struct tap_summary *summary, const bt_value *traces,
			 const char *job)
{
	struct result *result = mmap(NULL, sizeof(*result), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t bytes = summary->bytes;
	int ret;

	if (result == MAP_FAILED)
		return -ENOMEM;
	ret = count_events(result, traces, job);
	if (result->is_there) {
		*summary = result->summary;
		summary->bytes = bytes;
		unpack(&summary->attached, result->attached);
		unpack(&summary->problems, result->problems);
		summary->was_read = !ret || summary->events;
	}
	munmap(result, sizeof(*result));
	/* Then a failure is not worth an error either. */
	return tap_summary_must_end() ? 0 : ret;
}

int tap_summary_read(struct tap_summary *summary, const char *path, const char *job,
		     uint64_t limit_bytes)
{
	int ret;

	*summary = (struct tap_summary){ 0 };
	found.bytes = 0;
	found.traces = bt_value_array_create();
	if (!found.traces)
		return -ENOMEM;
	ret = nftw(path, look_at_file, 16, FTW_PHYS | FTW_ACTIONRETVAL);
	summary->bytes = found.bytes;
	if (ret)
		ret = ret < 0 ? -errno : -ENOMEM;
	else if (!bt_value_array_get_length(found.traces))
		ret = -ENOENT;
	else if (found.bytes <= limit_bytes)
		ret = read_in_child(summary, found.traces, job);
	bt_value_put_ref(found.traces);
	return ret;
}

static void free_texts(struct tap_summary_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		free(texts->texts[i]);
}

void tap_summary_free(struct tap_summary *summary)
{
	free_texts(&summary->attached);
	free_texts(&summary->problems);
}
