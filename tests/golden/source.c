/* SPDX-License-Identifier: MIT */
/*
 * A babeltrace2 source for the tests: text in, messages out, so that a case can
 * be read and written by hand.  Hides how events are built.
 *
 * One thing per line, fields separated by blanks:
 *
 *   # comment
 *   trace host=NAME [vpid=N]       the streams named first below are of this trace
 *   TIME STREAM VPID VTID EVENT [FIELD=VALUE]...
 *   TIME STREAM discarded N        N events; - does not tell how many
 *   TIME STREAM discarded-packets N
 *   TIME STREAM inactive           nothing until TIME
 *   TIME STREAM again              nothing yet, the first time it is asked
 *   TIME STREAM error              the stream breaks off here
 *
 * VPID and VTID are "-" in a stream without these contexts.  A value is 12,
 * 0x12 (hexadecimal), +12 or -12 (signed), 7:label or 7: (enumeration), 1.5,
 * "text" with \xHH, @9000 (a string of so many letters), [1,2] or [0x1,0x2],
 * ["a"] (array of strings) or {} (structure).
 */
#include <babeltrace2/babeltrace.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MAX 64
#define STRING_MAX 100000

#define APPEND_CAUSE(self, ...) \
	BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT( \
		bt_self_component_source_as_self_component(self), __VA_ARGS__)

enum line_kind { EVENT, DISCARDED, DISCARDED_PACKETS, INACTIVE, AGAIN, BROKEN };

struct line {
	enum line_kind kind;
	uint64_t time;
	uint64_t count;
	bool has_count;
	bt_event_class *class;
	int64_t pid;
	int64_t tid;
	char *text;		  /* the tokens point into it */
	char *tokens[TOKENS_MAX]; /* fields */
	int token_count;
};

struct class
{
	char *signature;
	bt_event_class *class;
	struct class *next;
};

struct stream {
	char *name;
	bt_stream_class *stream_class;
	bt_stream *stream;
	bool has_pid;
	bool has_tid;
	struct line *lines;
	size_t count;
	size_t room;
	struct class *classes;
	struct stream *next;
};

struct source {
	bt_self_component_source *self;
	bt_trace_class *trace_class;
	bt_trace *trace;
	bt_clock_class *clock_class;
	struct stream *streams; /* newest first */
};

/* ---- Classes and values ---- */

enum value_kind {
	VALUE_UNSIGNED,
	VALUE_HEX,
	VALUE_SIGNED,
	VALUE_ENUM,
	VALUE_REAL,
	VALUE_STRING,
	VALUE_ARRAY,
	VALUE_HEX_ARRAY,
	VALUE_STRINGS,
	VALUE_STRUCTURE,
	VALUE_NONE,
};

static enum value_kind kind_of(const char *value)
{
	if (*value == '"' || *value == '@')
		return VALUE_STRING;
	if (!strncmp(value, "[\"", 2))
		return VALUE_STRINGS;
	if (*value == '[')
		return strncmp(value, "[0x", 3) ? VALUE_ARRAY : VALUE_HEX_ARRAY;
	if (*value == '{')
		return VALUE_STRUCTURE;
	if (*value == '+' || *value == '-')
		return VALUE_SIGNED;
	if (!isdigit((unsigned char) *value))
		return VALUE_NONE;
	if (!strncmp(value, "0x", 2))
		return VALUE_HEX;
	if (strchr(value, ':'))
		return VALUE_ENUM;
	return strchr(value, '.') ? VALUE_REAL : VALUE_UNSIGNED;
}

static bt_field_class *make_integer(bt_trace_class *trace_class, bool is_hex)
{
	bt_field_class *class = bt_field_class_integer_unsigned_create(trace_class);

	if (is_hex)
		bt_field_class_integer_set_preferred_display_base(
			class, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
	return class;
}

static bt_field_class *make_enum(bt_trace_class *trace_class, const char *value)
{
	bt_field_class *class = bt_field_class_enumeration_unsigned_create(trace_class);
	bt_integer_range_set_unsigned *ranges = bt_integer_range_set_unsigned_create();
	const char *label = strchr(value, ':') + 1;
	uint64_t number = strtoull(value, NULL, 10);

	/* Without a label, the class has one for another value. */
	if (!*label)
		number++;
	bt_integer_range_set_unsigned_add_range(ranges, number, number);
	bt_field_class_enumeration_unsigned_add_mapping(class, *label ? label : "other",
							ranges);
	bt_integer_range_set_unsigned_put_ref(ranges);
	return class;
}

static bt_field_class *make_field_class(bt_trace_class *trace_class, const char *value)
{
	enum value_kind kind = kind_of(value);
	bt_field_class *class, *element;

	switch (kind) {
	case VALUE_UNSIGNED:
	case VALUE_HEX:
		return make_integer(trace_class, kind == VALUE_HEX);
	case VALUE_SIGNED:
		return bt_field_class_integer_signed_create(trace_class);
	case VALUE_ENUM:
		return make_enum(trace_class, value);
	case VALUE_REAL:
		return bt_field_class_real_double_precision_create(trace_class);
	case VALUE_STRING:
		return bt_field_class_string_create(trace_class);
	case VALUE_ARRAY:
	case VALUE_HEX_ARRAY:
	case VALUE_STRINGS:
		element = kind == VALUE_STRINGS
				  ? bt_field_class_string_create(trace_class)
				  : make_integer(trace_class, kind == VALUE_HEX_ARRAY);
		class = bt_field_class_array_dynamic_create(trace_class, element, NULL);
		bt_field_class_put_ref(element);
		return class;
	case VALUE_STRUCTURE:
		class = bt_field_class_structure_create(trace_class);
		element = make_integer(trace_class, false);
		bt_field_class_structure_append_member(class, "member", element);
		bt_field_class_put_ref(element);
		return class;
	case VALUE_NONE:
		break;
	}
	return NULL;
}

static void set_string(bt_field *field, const char *value)
{
	char *text = malloc(STRING_MAX + 1);
	size_t length = 0;
	unsigned int byte;

	if (!text)
		abort();
	if (*value == '@') {
		length = strtoull(value + 1, NULL, 10);
		length = length < STRING_MAX ? length : STRING_MAX;
		memset(text, 'a', length);
	} else {
		for (value++; *value && *value != '"' && length < STRING_MAX; value++) {
			if (!strncmp(value, "\\x", 2) &&
			    sscanf(value + 2, "%2x", &byte) == 1 && byte && value[3]) {
				text[length++] = (char) byte;
				value += 3;
			} else {
				text[length++] = *value;
			}
		}
	}
	text[length] = '\0';
	bt_field_string_set_value(field, text);
	free(text);
}

static void set_array(bt_field *field, const char *value, bool has_strings)
{
	uint64_t i, count = value[1] && value[1] != ']';
	const char *comma;

	for (comma = strchr(value, ','); comma; comma = strchr(comma + 1, ','))
		count++;
	bt_field_array_dynamic_set_length(field, count);
	for (i = 0, value++; i < count; i++) {
		bt_field *element =
			bt_field_array_borrow_element_field_by_index(field, i);

		if (has_strings)
			bt_field_string_set_value(element, "element");
		else
			bt_field_integer_unsigned_set_value(element,
							    strtoull(value, NULL, 0));
		comma = strchr(value, ',');
		value = comma ? comma + 1 : "";
	}
}

static void set_field(bt_field *field, const char *value)
{
	switch (kind_of(value)) {
	case VALUE_UNSIGNED:
	case VALUE_HEX:
	case VALUE_ENUM:
		bt_field_integer_unsigned_set_value(field, strtoull(value, NULL, 0));
		break;
	case VALUE_SIGNED:
		bt_field_integer_signed_set_value(field, strtoll(value, NULL, 10));
		break;
	case VALUE_REAL:
		bt_field_real_double_precision_set_value(field, strtod(value, NULL));
		break;
	case VALUE_STRING:
		set_string(field, value);
		break;
	case VALUE_ARRAY:
	case VALUE_HEX_ARRAY:
	case VALUE_STRINGS:
		set_array(field, value, kind_of(value) == VALUE_STRINGS);
		break;
	case VALUE_STRUCTURE:
		bt_field_integer_unsigned_set_value(
			bt_field_structure_borrow_member_field_by_index(field, 0), 1);
		break;
	case VALUE_NONE:
		break;
	}
}

/* ---- Reading the text ---- */

static void add_context(struct source *source, bt_field_class *context, const char *name)
{
	bt_field_class *number =
		bt_field_class_integer_signed_create(source->trace_class);

	bt_field_class_structure_append_member(context, name, number);
	bt_field_class_put_ref(number);
}

static struct stream *find_stream(struct source *source, const char *name, bool has_pid,
				  bool has_tid)
{
	bt_field_class *context;
	struct stream *stream;

	for (stream = source->streams; stream; stream = stream->next)
		if (!strcmp(stream->name, name))
			return stream;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		abort();
	stream->name = strdup(name);
	stream->has_pid = has_pid;
	stream->has_tid = has_tid;
	stream->stream_class = bt_stream_class_create(source->trace_class);
	bt_stream_class_set_default_clock_class(stream->stream_class,
						source->clock_class);
	bt_stream_class_set_supports_packets(stream->stream_class, BT_TRUE, BT_TRUE,
					     BT_TRUE);
	bt_stream_class_set_supports_discarded_events(stream->stream_class, BT_TRUE,
						      BT_TRUE);
	bt_stream_class_set_supports_discarded_packets(stream->stream_class, BT_TRUE,
						       BT_TRUE);
	if (has_pid || has_tid) {
		context = bt_field_class_structure_create(source->trace_class);
		if (has_pid)
			add_context(source, context, "vpid");
		if (has_tid)
			add_context(source, context, "vtid");
		bt_stream_class_set_event_common_context_field_class(stream->stream_class,
								     context);
		bt_field_class_put_ref(context);
	}
	stream->stream = bt_stream_create(stream->stream_class, source->trace);
	bt_stream_set_name(stream->stream, name);
	stream->next = source->streams;
	source->streams = stream;
	return stream;
}

static bt_event_class *find_class(struct source *source, struct stream *stream,
				  const char *name, struct line *line)
{
	bt_field_class *payload, *member;
	char signature[4096], *equals;
	struct class *class;
	size_t used;
	int i;

	used = (size_t) snprintf(signature, sizeof(signature), "%s", name);
	for (i = 0; i < line->token_count && used < sizeof(signature); i++) {
		equals = strchr(line->tokens[i], '=');
		used += (size_t) snprintf(signature + used, sizeof(signature) - used,
					  " %.*s %d%s", (int) (equals - line->tokens[i]),
					  line->tokens[i], kind_of(equals + 1),
					  kind_of(equals + 1) == VALUE_ENUM ? equals + 1
									    : "");
	}
	for (class = stream->classes; class; class = class->next)
		if (!strcmp(class->signature, signature))
			return class->class;
	class = calloc(1, sizeof(*class));
	if (!class)
		abort();
	class->signature = strdup(signature);
	class->class = bt_event_class_create(stream->stream_class);
	class->next = stream->classes;
	stream->classes = class;
	bt_event_class_set_name(class->class, name);
	payload = bt_field_class_structure_create(source->trace_class);
	bt_event_class_set_payload_field_class(class->class, payload);
	for (i = 0; i < line->token_count; i++) {
		equals = strchr(line->tokens[i], '=');
		member = make_field_class(source->trace_class, equals + 1);
		*equals = '\0';
		bt_field_class_structure_append_member(payload, line->tokens[i], member);
		*equals = '=';
		bt_field_class_put_ref(member);
	}
	bt_field_class_put_ref(payload);
	return class->class;
}

/* Whether every field has a name of its own and a value that can be made. */
static bool are_fields_sound(const struct line *line)
{
	int i, j;

	for (i = 0; i < line->token_count; i++) {
		const char *equals = strchr(line->tokens[i], '=');

		if (!equals || equals == line->tokens[i] ||
		    kind_of(equals + 1) == VALUE_NONE)
			return false;
		for (j = 0; j < i; j++)
			if (!strncmp(line->tokens[i], line->tokens[j],
				     (size_t) (equals + 1 - line->tokens[i])))
				return false;
	}
	return true;
}

static int split(char *text, char **tokens)
{
	int count = 0;

	while (count < TOKENS_MAX) {
		bool is_quoted = false;

		text += strspn(text, " \t");
		if (!*text || *text == '#')
			break;
		tokens[count++] = text;
		for (; *text && (is_quoted || (*text != ' ' && *text != '\t')); text++)
			if (*text == '"')
				is_quoted = !is_quoted;
		if (*text)
			*text++ = '\0';
	}
	return count;
}

static void start_trace(struct source *source, char **tokens, int count)
{
	int i;

	bt_trace_put_ref(source->trace);
	bt_trace_class_put_ref(source->trace_class);
	source->trace_class = bt_trace_class_create(
		bt_self_component_source_as_self_component(source->self));
	source->trace = bt_trace_create(source->trace_class);
	for (i = 0; i < count; i++) {
		if (!strncmp(tokens[i], "host=", 5))
			bt_trace_set_environment_entry_string(source->trace, "hostname",
							      tokens[i] + 5);
		else if (!strncmp(tokens[i], "vpid=", 5))
			bt_trace_set_environment_entry_integer(source->trace, "vpid",
							       strtoll(tokens[i] + 5,
								       NULL, 10));
	}
}

static struct line *add_line(struct stream *stream)
{
	if (stream->count == stream->room) {
		stream->room = stream->room ? stream->room * 2 : 16;
		stream->lines =
			realloc(stream->lines, stream->room * sizeof(*stream->lines));
		if (!stream->lines)
			abort();
	}
	return &stream->lines[stream->count++];
}

static bool read_line(struct source *source, const char *from)
{
	static const struct {
		const char *name;
		enum line_kind kind;
	} kinds[] = {
		{"discarded", DISCARDED}, {"discarded-packets", DISCARDED_PACKETS},
		{"inactive", INACTIVE},	  {"again", AGAIN},
		{"error", BROKEN},
	};
	struct line line = {.kind = EVENT};
	char *tokens[TOKENS_MAX], *end;
	struct stream *stream;
	size_t i;
	int count;

	line.text = strdup(from);
	if (!line.text)
		abort();
	count = split(line.text, tokens);
	if (!count || !strcmp(tokens[0], "trace")) {
		if (count)
			start_trace(source, tokens + 1, count - 1);
		free(line.text);
		return true;
	}
	if (count < 3)
		goto wrong;
	line.time = strtoull(tokens[0], &end, 10);
	if (*end || line.time > INT64_MAX)
		goto wrong;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(tokens[2], kinds[i].name))
			line.kind = kinds[i].kind;
	if (line.kind != EVENT) {
		stream = find_stream(source, tokens[1], true, true);
		line.has_count = count > 3 && strcmp(tokens[3], "-");
		if (line.has_count)
			line.count = strtoull(tokens[3], NULL, 10);
		/* babeltrace2 takes no loss of nothing. */
		if (line.has_count && !line.count)
			goto wrong;
		*add_line(stream) = line;
		return true;
	}
	if (count < 5)
		goto wrong;
	line.pid = strtoll(tokens[2], NULL, 10);
	line.tid = strtoll(tokens[3], NULL, 10);
	line.token_count = count - 5;
	memcpy(line.tokens, tokens + 5, (size_t) line.token_count * sizeof(*tokens));
	if (!are_fields_sound(&line))
		goto wrong;
	stream = find_stream(source, tokens[1], strcmp(tokens[2], "-"),
			     strcmp(tokens[3], "-"));
	line.class = find_class(source, stream, tokens[4], &line);
	*add_line(stream) = line;
	return true;
wrong:
	free(line.text);
	return false;
}

static void destroy(struct source *source)
{
	struct stream *stream;
	struct class *class;
	size_t i;

	while ((stream = source->streams)) {
		source->streams = stream->next;
		while ((class = stream->classes)) {
			stream->classes = class->next;
			bt_event_class_put_ref(class->class);
			free(class->signature);
			free(class);
		}
		for (i = 0; i < stream->count; i++)
			free(stream->lines[i].text);
		free(stream->lines);
		free(stream->name);
		bt_stream_put_ref(stream->stream);
		bt_stream_class_put_ref(stream->stream_class);
		free(stream);
	}
	bt_clock_class_put_ref(source->clock_class);
	bt_trace_put_ref(source->trace);
	bt_trace_class_put_ref(source->trace_class);
	free(source);
}

static bool read_file(struct source *source, const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned int number = 0;
	bool is_sound = true;
	char *line = NULL;
	size_t room = 0;

	if (!file) {
		APPEND_CAUSE(source->self, "Cannot read %s", path);
		return false;
	}
	while (is_sound && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		number++;
		is_sound = read_line(source, line);
	}
	if (!is_sound)
		APPEND_CAUSE(source->self, "%s:%u is not an event", path, number);
	free(line);
	fclose(file);
	return is_sound;
}

/* ---- The component ---- */

static bt_component_class_initialize_method_status
init(bt_self_component_source *self,
     bt_self_component_source_configuration *configuration, const bt_value *params,
     void *data)
{
	const bt_value *path = bt_value_map_borrow_entry_value_const(params, "path");
	struct source *source = calloc(1, sizeof(*source));
	struct stream *stream, *first = NULL, *next;

	(void) configuration;
	(void) data;
	if (!source || !path || !bt_value_is_string(path)) {
		free(source);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	source->self = self;
	source->clock_class =
		bt_clock_class_create(bt_self_component_source_as_self_component(self));
	start_trace(source, NULL, 0);
	if (!read_file(source, bt_value_string_get(path))) {
		destroy(source);
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	}
	/* Ports in the order of the text. */
	for (stream = source->streams; stream; stream = next) {
		next = stream->next;
		stream->next = first;
		first = stream;
	}
	source->streams = first;
	for (stream = first; stream; stream = stream->next)
		bt_self_component_source_add_output_port(self, stream->name, stream,
							 NULL);
	bt_self_component_set_data(bt_self_component_source_as_self_component(self),
				   source);
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void finalize(bt_self_component_source *self)
{
	destroy(bt_self_component_get_data(
		bt_self_component_source_as_self_component(self)));
}

struct iterator {
	struct source *source;
	struct stream *stream;
	enum { BEFORE, BETWEEN, AFTER } place;
	size_t next;
	bool has_waited;
	const bt_packet *packet; /* open, or NULL */
	uint64_t time;		 /* of the latest event */
};

static bt_message_iterator_class_initialize_method_status
init_iterator(bt_self_message_iterator *self,
	      bt_self_message_iterator_configuration *configuration,
	      bt_self_component_port_output *port)
{
	struct iterator *iterator = calloc(1, sizeof(*iterator));

	(void) configuration;
	if (!iterator)
		return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
	iterator->source = bt_self_component_get_data(
		bt_self_message_iterator_borrow_component(self));
	iterator->stream = bt_self_component_port_get_data(
		bt_self_component_port_output_as_self_component_port(port));
	bt_self_message_iterator_set_data(self, iterator);
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static void finalize_iterator(bt_self_message_iterator *self)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);

	bt_packet_put_ref(iterator->packet);
	free(iterator);
}

static bt_message_iterator_class_seek_beginning_method_status
rewind_iterator(bt_self_message_iterator *self)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);

	BT_PACKET_PUT_REF_AND_RESET(iterator->packet);
	iterator->place = BEFORE;
	iterator->next = 0;
	iterator->has_waited = false;
	iterator->time = 0;
	return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
}

static bt_message *make_event(bt_self_message_iterator *self, struct iterator *iterator,
			      const struct line *line, const bt_packet *packet)
{
	struct stream *stream = iterator->stream;
	bt_message *message =
		bt_message_event_create_with_packet_and_default_clock_snapshot(
			self, line->class, packet, line->time);
	bt_event *event = bt_message_event_borrow_event(message);
	bt_field *context = bt_event_borrow_common_context_field(event);
	bt_field *payload = bt_event_borrow_payload_field(event);
	int i;

	if (stream->has_pid)
		bt_field_integer_signed_set_value(
			bt_field_structure_borrow_member_field_by_name(context, "vpid"),
			line->pid);
	if (stream->has_tid)
		bt_field_integer_signed_set_value(
			bt_field_structure_borrow_member_field_by_name(context, "vtid"),
			line->tid);
	for (i = 0; i < line->token_count; i++)
		set_field(bt_field_structure_borrow_member_field_by_index(payload,
									  (uint64_t) i),
			  strchr(line->tokens[i], '=') + 1);
	return message;
}

static bt_message *make_loss(bt_self_message_iterator *self, struct stream *stream,
			     const struct line *line)
{
	bt_message *message;

	if (line->kind == DISCARDED) {
		message = bt_message_discarded_events_create_with_default_clock_snapshots(
			self, stream->stream, line->time, line->time);
		if (line->has_count)
			bt_message_discarded_events_set_count(message, line->count);
	} else {
		message =
			bt_message_discarded_packets_create_with_default_clock_snapshots(
				self, stream->stream, line->time, line->time);
		if (line->has_count)
			bt_message_discarded_packets_set_count(message, line->count);
	}
	return message;
}

static void open_packet(bt_self_message_iterator *self, struct iterator *iterator,
			uint64_t time, bt_message_array_const messages, uint64_t *count)
{
	if (iterator->packet)
		return;
	iterator->packet = bt_packet_create(iterator->stream->stream);
	messages[(*count)++] =
		bt_message_packet_beginning_create_with_default_clock_snapshot(
			self, iterator->packet, time);
}

static void close_packet(bt_self_message_iterator *self, struct iterator *iterator,
			 bt_message_array_const messages, uint64_t *count)
{
	if (!iterator->packet)
		return;
	messages[(*count)++] =
		bt_message_packet_end_create_with_default_clock_snapshot(self,
									 iterator->packet,
									 iterator->time);
	bt_packet_put_ref(iterator->packet);
	iterator->packet = NULL;
}

/* Returns what to tell when this line ends the batch, else OK. */
static bt_message_iterator_class_next_method_status
add_message(bt_self_message_iterator *self, struct iterator *iterator,
	    const struct line *line, bt_message_array_const messages, uint64_t *count)
{
	switch (line->kind) {
	case EVENT:
		open_packet(self, iterator, line->time, messages, count);
		messages[(*count)++] = make_event(self, iterator, line, iterator->packet);
		iterator->time = line->time;
		break;
	case DISCARDED:
	case DISCARDED_PACKETS:
		/* Packets are lost between two others. */
		close_packet(self, iterator, messages, count);
		messages[(*count)++] = make_loss(self, iterator->stream, line);
		break;
	case INACTIVE:
		messages[(*count)++] = bt_message_message_iterator_inactivity_create(
			self, iterator->source->clock_class, line->time);
		break;
	case AGAIN:
		iterator->has_waited = !iterator->has_waited;
		if (iterator->has_waited)
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_AGAIN;
		break;
	case BROKEN:
		BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
			self, "Stream %s is broken", iterator->stream->name);
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

static bt_message_iterator_class_next_method_status next(bt_self_message_iterator *self,
							 bt_message_array_const messages,
							 uint64_t capacity,
							 uint64_t *count)
{
	struct iterator *iterator = bt_self_message_iterator_get_data(self);
	struct stream *stream = iterator->stream;
	bt_message_iterator_class_next_method_status status;

	*count = 0;
	if (iterator->place == AFTER)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	if (iterator->place == BEFORE) {
		messages[(*count)++] =
			bt_message_stream_beginning_create(self, stream->stream);
		iterator->place = BETWEEN;
	}
	while (*count + 3 < capacity && iterator->next < stream->count) {
		const struct line *line = &stream->lines[iterator->next];

		/* Messages and bad news do not go together. */
		if (*count && (line->kind == AGAIN || line->kind == BROKEN))
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
		status = add_message(self, iterator, line, messages, count);
		if (status)
			return status;
		iterator->next++;
	}
	if (iterator->next == stream->count && *count + 1 < capacity) {
		close_packet(self, iterator, messages, count);
		messages[(*count)++] = bt_message_stream_end_create(self, stream->stream);
		iterator->place = AFTER;
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

BT_PLUGIN_MODULE();
BT_PLUGIN(ccltaptest);
BT_PLUGIN_SOURCE_COMPONENT_CLASS(events, next);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_INITIALIZE_METHOD(events, init);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_FINALIZE_METHOD(events, finalize);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD(events,
									  init_iterator);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_FINALIZE_METHOD(
	events, finalize_iterator);
BT_PLUGIN_SOURCE_COMPONENT_CLASS_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHODS(
	events, rewind_iterator, NULL);
