/* SPDX-License-Identifier: MIT */
/*
 * The outermost object and the array of events are walked by hand, and each value in them
 * is parsed by json-c: a file of a training step has some hundred megabytes.
 */
#include "join/views/event_file.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PIECE 65536
#define DEPTH_MAX 64

struct input {
	const struct tap_event_file_reader *reader;
	gzFile file;
	struct json_tokener *tokener;
	char *piece;
	size_t at, used;
	uint64_t before; /* bytes of the file in front of the piece */
	uint64_t events;
	bool has_events;
};

int tap_event_file_fail(struct tap_event_file_error *error, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vsnprintf(error->text, sizeof(error->text), format, list);
	va_end(list);
	return -EBADMSG;
}

/* ---- Bytes ---- */

/* Reads the next piece.  Returns its length, 0 at the end, or -errno. */
static int read_piece(struct input *input)
{
	int length, number;
	const char *why;

	input->before += input->used;
	input->at = input->used = 0;
	errno = 0;
	length = gzread(input->file, input->piece, PIECE);
	if (length >= 0) {
		input->used = (size_t) length;
		return length;
	}
	why = gzerror(input->file, &number);
	if (number != Z_ERRNO)
		return tap_event_file_fail(input->reader->error,
					   "cannot be decompressed: %s", why);
	number = errno ? errno : EIO;
	tap_event_file_fail(input->reader->error, "cannot be read: %s", strerror(number));
	return -number;
}

static int fail_at_end(struct input *input)
{
	return tap_event_file_fail(input->reader->error,
				   "ends in the middle, after %" PRIu64
				   " events: it was cut short, or is "
				   "still being written",
				   input->events);
}

static int fail_here(struct input *input, const char *what)
{
	return tap_event_file_fail(input->reader->error, "has %s at byte %" PRIu64, what,
				   input->before + input->at);
}

/* The next character that is no space, which stays; 0 at the end.  Returns 0 or -errno.
 */
static int peek(struct input *input, char *c)
{
	int length;

	for (;;) {
		for (; input->at < input->used; input->at++) {
			*c = input->piece[input->at];
			if (!strchr(" \t\r\n", *c) || !*c)
				return *c ? 0 : fail_here(input, "a byte 0");
		}
		length = read_piece(input);
		*c = '\0';
		if (length <= 0)
			return length;
	}
}

/* Takes this character.  Returns 0 or -errno. */
static int take(struct input *input, char wanted)
{
	char what[] = "no ?", c;
	int ret = peek(input, &c);

	if (ret)
		return ret;
	if (!c)
		return fail_at_end(input);
	what[sizeof(what) - 2] = wanted;
	if (c != wanted)
		return fail_here(input, what);
	input->at++;
	return 0;
}

/*
 * Takes a comma, or the bracket that ends the container: then *is_over.  Returns 0 or
 * -errno.
 */
static int take_separator(struct input *input, char closing, bool *is_over)
{
	char c;
	int ret = peek(input, &c);

	*is_over = c == closing;
	return ret ? ret : take(input, *is_over ? closing : ',');
}

/* ---- Values ---- */

/* Parses a value, which the caller frees; it may be NULL, of null.  Returns 0 or -errno.
 */
static int parse(struct input *input, struct json_object **value)
{
	enum json_tokener_error error;
	int ret;

	json_tokener_reset(input->tokener);
	for (;;) {
		if (input->at == input->used) {
			ret = read_piece(input);
			if (ret <= 0)
				return ret ? ret : fail_at_end(input);
		}
		*value = json_tokener_parse_ex(input->tokener, input->piece + input->at,
					       (int) (input->used - input->at));
		error = json_tokener_get_error(input->tokener);
		if (error != json_tokener_continue)
			break;
		input->at = input->used;
	}
	input->at += json_tokener_get_parse_end(input->tokener);
	return error == json_tokener_success
		       ? 0
		       : fail_here(input, json_tokener_error_desc(error));
}

static int read_event(struct input *input)
{
	struct json_object *event = NULL;
	int ret = parse(input, &event);

	if (!ret && !json_object_is_type(event, json_type_object))
		ret = fail_here(input, "an event that is no object");
	if (!ret)
		ret = input->reader->event(input->reader->data, event);
	json_object_put(event);
	input->events++;
	return ret;
}

static int read_events(struct input *input)
{
	bool is_over;
	char c;
	int ret = take(input, '[');

	if (!ret)
		ret = peek(input, &c);
	if (ret)
		return ret;
	input->has_events = true;
	if (c == ']')
		return take(input, ']');
	do {
		ret = read_event(input);
		if (!ret)
			ret = take_separator(input, ']', &is_over);
	} while (!ret && !is_over);
	return ret;
}

static int read_value(struct input *input, const char *name)
{
	struct json_object *value = NULL;
	int ret;

	if (!strcmp(name, "traceEvents"))
		return read_events(input);
	ret = parse(input, &value);
	if (!ret)
		ret = input->reader->member(input->reader->data, name, value);
	json_object_put(value);
	return ret;
}

static int read_members(struct input *input)
{
	struct json_object *name;
	bool is_over = false;
	int ret = take(input, '{');

	while (!ret && !is_over) {
		name = NULL;
		ret = parse(input, &name);
		if (!ret && !json_object_is_type(name, json_type_string))
			ret = fail_here(input, "no name of a member");
		if (!ret)
			ret = take(input, ':');
		if (!ret)
			ret = read_value(input, json_object_get_string(name));
		json_object_put(name);
		if (!ret)
			ret = take_separator(input, '}', &is_over);
	}
	if (!ret && !input->has_events)
		return tap_event_file_fail(input->reader->error,
					   "has no traceEvents: it is no trace of a "
					   "profiler");
	return ret;
}

static int read_all(struct input *input)
{
	char c;
	int ret = peek(input, &c);

	if (ret)
		return ret;
	if (!c)
		return tap_event_file_fail(input->reader->error, "is empty");
	if (c != '{' && c != '[')
		return tap_event_file_fail(input->reader->error, "is not JSON");
	ret = c == '{' ? read_members(input) : read_events(input);
	if (!ret)
		ret = peek(input, &c);
	return ret || !c ? ret : fail_here(input, "something behind its end");
}

int tap_event_file_read(const char *path, const struct tap_event_file_reader *reader)
{
	struct input input = {.reader = reader};
	int ret = -ENOMEM;

	errno = 0;
	input.file = gzopen(path, "rbe");
	if (!input.file) {
		ret = errno ? -errno : -ENOMEM;
		tap_event_file_fail(reader->error, "cannot be read: %s", strerror(-ret));
		return ret;
	}
	input.piece = malloc(PIECE);
	input.tokener = json_tokener_new_ex(DEPTH_MAX);
	if (input.piece && input.tokener)
		ret = read_all(&input);
	if (ret == -ENOMEM)
		tap_event_file_fail(reader->error, "cannot be read: memory is short");
	if (input.tokener)
		json_tokener_free(input.tokener);
	free(input.piece);
	gzclose(input.file);
	return ret;
}
