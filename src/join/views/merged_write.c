/* SPDX-License-Identifier: MIT */
/* The events of a profiler's file, with times, tracks and arrows of this trace. */
#include "join/views/merged.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "join/views/perfetto_form_json.h"

/* Above all that ccltap shows of a process, and processes that it does not know below. */
#define LANES_AT INT64_C(-1000000)
#define PROCESSES_AT INT64_C(1000000)

/* Numbers of arrows up to here stay numbers, of which each file has its own. */
#define IDS_BITS 32

struct writing {
	struct tap_merged_file *file;
	struct tap_packets *packets;
	uint64_t events;
};

/* ---- Tracks ---- */

static void add_trimmed(struct tap_buffer *name, const char *text)
{
	tap_buffer_add_visible(name, text);
	while (name->used && name->data[name->used - 1] == ' ')
		name->used--;
}

/* The file's own `pid` or `tid`, which are JSON: "Spans" without its quotes. */
static void add_id_as_text(struct tap_buffer *name, const char *json)
{
	const bool is_text = *json == '"';

	add_trimmed(name, json + is_text);
	if (is_text && name->used && name->data[name->used - 1] == '"')
		name->used--;
}

/* "PyTorch: GPU 0, stream 7"; "PyTorch", for what belongs to no process and no thread. */
static void add_track_name(struct tap_buffer *name, const struct tap_merged_track *track)
{
	const struct tap_merged_process *process = track->process;
	const char *label = process->label ? process->label : "";
	size_t used;

	tap_buffer_add_string(name, "PyTorch: ");
	used = name->used;
	if (*label && strcmp(label, "CPU") != 0)
		add_trimmed(name, label);
	else if (process->number < 0)
		add_id_as_text(name, process->pid);
	if (name->used > used)
		tap_buffer_add_string(name, ", ");
	used = name->used;
	if (!track->name && process->number >= 0)
		tap_buffer_add_string(name, "thread ");
	if (track->name && *track->name)
		add_trimmed(name, track->name);
	else
		add_id_as_text(name, track->tid);
	if (name->used == used)
		name->used -= 2;
}

/* "PyTorch, rank 5", where the recording does not have it. */
static void add_owner_name(struct tap_buffer *name, const struct tap_merged_file *file)
{
	const char *base = strrchr(file->path, '/');

	tap_buffer_add_string(name, "PyTorch, rank ");
	if (file->rank >= 0)
		tap_buffer_add_signed(name, file->rank);
	else
		tap_buffer_add_string(name, "not known");
	tap_buffer_add_string(name, ": ");
	tap_buffer_add_visible(name, base ? base + 1 : file->path);
}

static int describe_file(const struct tap_merged_file *file, struct tap_packets *packets,
			 struct tap_buffer *name)
{
	struct tap_about_track about = {.kind = TAP_TRACK_PROCESS,
					.track = file->owner,
					.place = PROCESSES_AT + file->number};
	int ret = 0;
	size_t i;

	name->used = 0;
	add_owner_name(name, file);
	if (!file->process)
		ret = tap_packets_describe(packets, &about, name);
	about.kind = TAP_TRACK_LANE;
	about.parent = file->owner;
	for (i = 0; !ret && i < file->tracks.count; i++) {
		about.track = file->tracks.items[i]->track;
		about.place = LANES_AT + (int64_t) i;
		name->used = 0;
		add_track_name(name, file->tracks.items[i]);
		if (about.track)
			ret = tap_packets_describe(packets, &about, name);
	}
	return ret;
}

/* ---- Events ---- */

/* What one file calls 7, another one does, too. */
static void add_id(struct tap_buffer *line, const struct tap_merged_file *file,
		   struct json_object *id)
{
	const int64_t number =
		json_object_is_type(id, json_type_int) ? json_object_get_int64(id) : -1;
	struct tap_buffer text = {0};

	if (number >= 0 && !(number >> IDS_BITS)) {
		tap_buffer_add_unsigned(line, (uint64_t) file->number << IDS_BITS |
						      (uint64_t) number);
		return;
	}
	tap_buffer_add_unsigned(&text, file->number);
	tap_buffer_add_char(&text, ':');
	tap_buffer_add_string(&text, id ? json_object_get_string(id) : "");
	tap_buffer_add_char(&text, '\0');
	if (text.is_short)
		line->is_short = true;
	else
		tap_json_add_string(line, text.data);
	tap_buffer_free(&text);
}

static void add_members(struct tap_json *json, const struct tap_merged_file *file,
			struct json_object *event)
{
	struct json_object_iterator at = json_object_iter_begin(event);
	const struct json_object_iterator end = json_object_iter_end(event);
	const char *name;

	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
		name = json_object_iter_peek_name(&at);
		if (!strcmp(name, "pid") || !strcmp(name, "tid") || !strcmp(name, "ts"))
			continue;
		tap_json_add_name(json, name);
		if (!strcmp(name, "id"))
			add_id(&json->line, file, json_object_iter_peek_value(&at));
		else
			tap_merged_add_value(&json->line,
					     json_object_iter_peek_value(&at));
	}
}

static int fail_changed(const struct tap_merged_file *file)
{
	return tap_event_file_fail(file->error, "changed while it was read");
}

static int write_event(void *data, struct json_object *event)
{
	const struct writing *writing = data;
	struct tap_merged_file *file = writing->file;
	struct tap_clock *clock = tap_merged_clock_of(file);
	struct tap_json *json = &writing->packets->json;
	struct tap_merged_track *track;
	int64_t time_ns;

	if (tap_merged_is_metadata(event))
		return 0;
	track = tap_merged_track_of(file, event);
	if (!track)
		return -ENOMEM;
	if (!track->track || !tap_merged_time_of(file, event, &time_ns))
		return fail_changed(file);
	tap_json_open(json, NULL, '{');
	tap_form_json_track(writing->packets, track->track);
	tap_form_json_time(writing->packets, tap_clock_convert(clock, time_ns));
	add_members(json, file, event);
	((struct writing *) data)->events++;
	return tap_form_json_record(writing->packets);
}

static int pass_member(void *data, const char *name, struct json_object *value)
{
	(void) data;
	(void) name;
	(void) value;
	return 0;
}

static void add_tail(const struct tap_merged_file *file, struct tap_buffer *tail)
{
	tap_buffer_add_string(tail, tail->used ? "},\n" : ",\"merged\":[\n");
	tap_buffer_add_string(tail, "{\"file\":");
	tap_json_add_string(tail, file->path);
	tap_buffer_add_string(tail, ",\"rank\":");
	tap_json_add_not_negative(tail, file->rank);
	tap_buffer_add(tail, file->members.data, file->members.used);
}

static int write_file(struct tap_merged_file *file, struct tap_packets *packets)
{
	struct tap_event_file_error error = {{0}};
	struct writing writing = {.file = file, .packets = packets};
	const struct tap_event_file_reader reader = {.event = write_event,
						     .member = pass_member,
						     .data = &writing,
						     .error = &error};
	struct tap_buffer name = {0};
	int ret = describe_file(file, packets, &name);

	tap_buffer_free(&name);
	file->error = &error;
	if (!ret)
		ret = tap_event_file_read(file->path, &reader);
	if (!ret && writing.events != file->events)
		ret = fail_changed(file);
	file->error = NULL;
	if (!ret)
		add_tail(file, &packets->tail);
	else if (*error.text)
		fprintf(stderr, "ccltap: --merge: %s %s: the output is incomplete\n",
			file->path, error.text);
	return ret;
}

int tap_merged_write(struct tap_merged *merged, struct tap_packets *packets)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < merged->files.count; i++)
		ret = write_file(merged->files.items[i], packets);
	if (!ret && merged->files.count)
		tap_buffer_add_string(&packets->tail, "}]");
	return ret;
}
