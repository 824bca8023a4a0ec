/* SPDX-License-Identifier: MIT */
/* A batch of messages costs a copy of their pointers, a look at their types and three stores. */
#include "tools/watched.h"

#include <ctype.h>
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Causes ---- */

/* babeltrace2's messages end in internal values: ": msg-it-addr=0x..., magic=...". */
static size_t length_of_words(const char *message)
{
	const char *at, *key;

	for (at = message; *at && *at != '\n'; at++) {
		if (strncmp(at, ": ", 2))
			continue;
		for (key = at + 2; isalnum((unsigned char) *key) || *key == '-'; key++)
			;
		if (*key == '=' && key > at + 2)
			break;
	}
	return (size_t) (at - message);
}

void tap_watched_take_cause(char *text, size_t size)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *message = "unknown error";

	if (error && bt_error_get_cause_count(error))
		message = bt_error_cause_get_message(
			bt_error_borrow_cause_by_index(error, 0));
	/* 2.0 says the first, 2.1 the second. */
	if (!strncmp(message, "User function returned EOF", 26) ||
	    !strncmp(message, "Insufficient data in file", 25))
		message = "it is cut short";
	else if (!strncmp(message, "Failed to index CTF stream file", 31))
		message = "its packets are damaged or cut short";
	snprintf(text, size, "%.*s", (int) length_of_words(message), message);
	if (error)
		bt_error_release(error);
}

/* ---- The filter ---- */

struct watched_trace {
	struct tap_watch *watch;
	unsigned int number;
	const char *path;
	uint64_t count; /* of ports */
};

struct watched_stream {
	struct tap_watch *watch;
	unsigned int trace;
	uint64_t port;
	struct tap_stop *stop; /* NULL: none */
	bt_message_iterator *from;
	uint64_t batches;
	bool is_damaged;
	/* Of its file: bytes, those of a packet on average, and those read so far. */
	uint64_t size, packet_size, read;
};

static bt_component_class_initialize_method_status
init(bt_self_component_filter *self,
     bt_self_component_filter_configuration *configuration, const bt_value *params,
     void *data)
{
	const struct watched_trace *given = data;
	struct watched_trace *trace = malloc(sizeof(*trace));
	uint64_t i;
	char name[32];

	(void) configuration;
	(void) params;
	if (!trace)
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	*trace = *given;
	for (i = 0; i < trace->count; i++) {
		snprintf(name, sizeof(name), "in%ju", (uintmax_t) i);
		if (bt_self_component_filter_add_input_port(self, name, NULL, NULL))
			break;
		snprintf(name, sizeof(name), "out%ju", (uintmax_t) i);
		/* The port's number plus 1, as the pointer 0 means no data. */
		if (bt_self_component_filter_add_output_port(self, name,
							     (void *) (uintptr_t) (i + 1),
							     NULL))
			break;
	}
	if (i < trace->count) {
		free(trace);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	}
	bt_self_component_set_data(bt_self_component_filter_as_self_component(self),
				   trace);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_filter *self)
{
	free(bt_self_component_get_data(
		bt_self_component_filter_as_self_component(self)));
}

static struct tap_stop *find_stop(const struct watched_trace *trace, uint64_t port)
{
	unsigned int i;

	for (i = 0; i < trace->watch->stop_count; i++) {
		struct tap_stop *stop = &trace->watch->stops[i];

		if (stop->port == port && !strcmp(stop->trace, trace->path))
			return stop;
	}
	return NULL;
}

/* Notes that babeltrace2 is about to work on the stream. */
static void enter(const struct watched_stream *stream)
{
	stream->watch->trace = stream->trace;
	stream->watch->port = stream->port;
	stream->watch->batches = stream->batches;
	tap_watch_enter(stream->watch, TAP_STAGE_READ);
}

static void leave(const struct watched_stream *stream)
{
	tap_watch_enter(stream->watch, TAP_STAGE_OWN);
}

static bt_message_iterator_class_initialize_method_status
begin(bt_self_message_iterator *self,
      bt_self_message_iterator_configuration *configuration,
      bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);
	const struct watched_trace *trace = bt_self_component_get_data(component);
	struct watched_stream *stream = calloc(1, sizeof(*stream));
	int status;

	(void) configuration;
	if (!stream)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	stream->watch = trace->watch;
	stream->trace = trace->number;
	stream->port =
		(uint64_t) (uintptr_t) bt_self_component_port_get_data(
			bt_self_component_port_output_as_self_component_port(port)) -
		1;
	stream->stop = find_stop(trace, stream->port);
	enter(stream);
	/* Only a filter has input and output ports. */
	status = bt_message_iterator_create_from_message_iterator(
		self,
		bt_self_component_filter_borrow_input_port_by_index(
			(bt_self_component_filter *) component, stream->port),
		&stream->from);
	leave(stream);
	if (status) {
		free(stream);
		return status == BT_MESSAGE_ITERATOR_CREATE_FROM_MESSAGE_ITERATOR_STATUS_MEMORY_ERROR
			       ? BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR
			       : BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	bt_self_message_iterator_set_data(self, stream);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void end(bt_self_message_iterator *self)
{
	struct watched_stream *stream = bt_self_message_iterator_get_data(self);

	bt_message_iterator_put_ref(stream->from);
	free(stream);
}

/*
 * Fills in the name for messages about the stop: the stream's file, from its first
 * message.
 */
static void note_name(struct tap_stop *stop, const bt_message *message)
{
	const char *name = NULL, *slash;

	if (bt_message_get_type(message) == BT_MESSAGE_TYPE_STREAM_BEGINNING)
		name = bt_stream_get_name(
			bt_message_stream_beginning_borrow_stream_const(message));
	slash = name ? strrchr(name, '/') : NULL;
	snprintf(stop->name, sizeof(stop->name), "%s",
		 slash	? slash + 1
		 : name ? name
			: "");
}

/* ---- How much is read ---- */

/* The beginning of LTTng's index of a stream; numbers are big-endian. */
struct index_head {
	uint32_t magic, major, minor, entry_size;
};

/* How many packets the stream in a file has, by its index; 0 without one. */
static uint64_t count_packets(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct index_head head;
	char index[PATH_MAX];
	struct stat status;
	uint64_t count = 0;
	int fd;

	if (!slash || snprintf(index, sizeof(index), "%.*s/index/%s.idx",
			       (int) (slash - path), path, slash + 1) >=
			      (int) sizeof(index))
		return 0;
	/* Of unknown origin, it may be a pipe. */
	fd = open(index, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) &&
	    read(fd, &head, sizeof(head)) == (ssize_t) sizeof(head) && head.entry_size)
		count = ((uint64_t) status.st_size - sizeof(head)) /
			be32toh(head.entry_size);
	close(fd);
	return count;
}

/* babeltrace2 calls a stream as its file. */
static void begin_counting(struct watched_stream *stream, const bt_message *message)
{
	const char *path = bt_stream_get_name(
		bt_message_stream_beginning_borrow_stream_const(message));
	struct stat status;
	uint64_t packets;

	stream->size = stream->packet_size = stream->read = 0;
	if (!path || stat(path, &status) || !S_ISREG(status.st_mode))
		return;
	packets = count_packets(path);
	stream->size = (uint64_t) status.st_size;
	stream->packet_size = packets ? stream->size / packets : 0;
	atomic_fetch_add_explicit(&stream->watch->all_bytes, stream->size,
				  memory_order_relaxed);
}

static void count_read(struct watched_stream *stream, uint64_t bytes)
{
	if (bytes > stream->size - stream->read)
		bytes = stream->size - stream->read;
	stream->read += bytes;
	atomic_fetch_add_explicit(&stream->watch->read_bytes, bytes,
				  memory_order_relaxed);
}

/* All packets of a stream count as equally long, which all but LTTng's last ones are. */
static void count_batch(struct watched_stream *stream, bt_message_array_const messages,
			uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++) {
		switch (bt_message_get_type(messages[i])) {
		case BT_MESSAGE_TYPE_STREAM_BEGINNING:
			begin_counting(stream, messages[i]);
			break;
		case BT_MESSAGE_TYPE_PACKET_END:
			count_read(stream, stream->packet_size);
			break;
		case BT_MESSAGE_TYPE_STREAM_END:
			count_read(stream, stream->size);
			break;
		default:
			break;
		}
	}
}

/* ---- Reading on ---- */

#define FAIL(self, ...) \
	(BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(self, __VA_ARGS__), \
	 BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR)

/* Clears babeltrace2's error; returns whether there was one. */
static bool forget_error(void)
{
	const bt_error *error = bt_current_thread_take_error();

	if (error)
		bt_error_release(error);
	return error;
}

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *self,
							 bt_message_array_const messages,
							 uint64_t capacity,
							 uint64_t *count)
{
	struct watched_stream *stream = bt_self_message_iterator_get_data(self);
	bt_message_array_const from;
	bt_message_iterator_next_status status;
	char cause[256];

	(void) capacity; /* babeltrace2 has one capacity for all iterators */
	if (stream->stop && stream->batches >= stream->stop->batches)
		return FAIL(self, "babeltrace2 fails on it");
	stream->batches++;
	enter(stream);
	status = bt_message_iterator_next(stream->from, &from, count);
	leave(stream);
	/* babeltrace2 2.0 leaves errors behind that its status does not report. */
	if (status != BT_MESSAGE_ITERATOR_NEXT_STATUS_ERROR &&
	    status != BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR && forget_error())
		stream->is_damaged = true;
	switch (status) {
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
		memcpy(messages, from, *count * sizeof(*from));
		count_batch(stream, from, *count);
		if (stream->stop && stream->batches == 1)
			note_name(stream->stop, from[0]);
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
		if (stream->is_damaged)
			return FAIL(self, "its events are damaged");
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
	default:
		tap_watched_take_cause(cause, sizeof(cause));
		return FAIL(self, "%s", cause);
	}
}

/* The traces of several hosts are read twice. */
static bt_message_iterator_class_can_seek_beginning_method_status
can_rewind(bt_self_message_iterator *self, bt_bool *can)
{
	const struct watched_stream *stream = bt_self_message_iterator_get_data(self);

	/* The two types of status have the same values. */
	return (bt_message_iterator_class_can_seek_beginning_method_status)
		bt_message_iterator_can_seek_beginning(stream->from, can);
}

static bt_message_iterator_class_seek_beginning_method_status
rewind_stream(bt_self_message_iterator *self)
{
	struct watched_stream *stream = bt_self_message_iterator_get_data(self);
	int status;

	stream->batches = 0;
	stream->is_damaged = false;
	enter(stream);
	status = bt_message_iterator_seek_beginning(stream->from);
	leave(stream);
	return (bt_message_iterator_class_seek_beginning_method_status) status;
}

static bt_component_class_filter *make_class(void)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(next);
	bt_component_class_filter *class = NULL;

	if (iterator &&
	    !bt_message_iterator_class_set_initialize_method(iterator, begin) &&
	    !bt_message_iterator_class_set_finalize_method(iterator, end) &&
	    !bt_message_iterator_class_set_seek_beginning_methods(iterator, rewind_stream,
								  can_rewind))
		class = bt_component_class_filter_create("watched", iterator);
	bt_message_iterator_class_put_ref(iterator);
	if (class && (bt_component_class_filter_set_initialize_method(class, init) ||
		      bt_component_class_filter_set_finalize_method(class, finalize)))
		BT_COMPONENT_CLASS_FILTER_PUT_REF_AND_RESET(class);
	return class;
}

static bool connect(bt_graph *graph, const bt_component_source *source,
		    const bt_component_filter *filter, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++)
		if (bt_graph_connect_ports(
			    graph,
			    bt_component_source_borrow_output_port_by_index_const(source,
										  i),
			    bt_component_filter_borrow_input_port_by_index_const(filter,
										 i),
			    NULL))
			return false;
	return true;
}

const bt_component_filter *tap_watched_add(bt_graph *graph,
					   const bt_component_source *source,
					   struct tap_watch *watch, unsigned int number,
					   const char *path)
{
	struct watched_trace trace = {
		.watch = watch,
		.number = number,
		.path = path,
		.count = bt_component_source_get_output_port_count(source),
	};
	bt_component_class_filter *class = make_class();
	const bt_component_filter *filter = NULL;
	char name[32];

	snprintf(name, sizeof(name), "watched%u", number);
	if (class &&
	    bt_graph_add_filter_component_with_initialize_method_data(
		    graph, class, name, NULL, &trace, BT_LOGGING_LEVEL_NONE, &filter))
		filter = NULL;
	bt_component_class_filter_put_ref(class);
	return filter && connect(graph, source, filter, trace.count) ? filter : NULL;
}
