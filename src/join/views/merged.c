/* SPDX-License-Identifier: MIT */
/* What a profiler's file is about: its base, rank, processes and threads. */
#include "join/views/merged.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Times before this, in 2001, do not count from 1970. */
#define SINCE_1970_NS INT64_C(1000000000000000000)

/* ---- Values ---- */

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *value = NULL;

	return json_object_object_get_ex(object, name, &value) ? value : NULL;
}

static const char *text_of(struct json_object *value)
{
	return value ? json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN) : "";
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool add_digit(int64_t *number, char digit)
{
	return !__builtin_mul_overflow(*number, 10, number) &&
	       !__builtin_add_overflow(*number, digit - '0', number);
}

/*
 * Microseconds as ns: exactly where they are written with decimals, since a
 * floating-point number may not hold them.
 */
static bool read_time(const char *text, int64_t *time_ns)
{
	const bool is_negative = *text == '-';
	const char *at = text + is_negative;
	int64_t ns = 0;
	int decimals;
	double real;
	char *end;

	while (is_digit(*at))
		if (!add_digit(&ns, *at++))
			return false;
	at += *at == '.';
	for (decimals = 0; decimals < 3; decimals++)
		if (!add_digit(&ns, is_digit(*at) ? *at++ : '0'))
			return false;
	while (is_digit(*at))
		at++;
	*time_ns = is_negative ? -ns : ns;
	if (!*at && at > text + is_negative)
		return true;
	real = strtod(text, &end) * 1000;
	if (*end || end == text || !isfinite(real) || fabs(real) >= 9e18)
		return false;
	*time_ns = (int64_t) real;
	return true;
}

struct tap_clock *tap_merged_clock_of(const struct tap_merged_file *file)
{
	return file->process && file->process->trace ? file->process->trace->clock : NULL;
}

bool tap_merged_time_of(const struct tap_merged_file *file, struct json_object *event,
			int64_t *time_ns)
{
	struct json_object *value = member(event, "ts");
	int64_t since;

	return value && read_time(json_object_get_string(value), &since) &&
	       !__builtin_add_overflow(file->base_ns, since, time_ns);
}

bool tap_merged_is_metadata(struct json_object *event)
{
	struct json_object *phase = member(event, "ph");

	return phase && !strcmp(json_object_get_string(phase), "M");
}

/* What json-c keeps of a number's text may be more than JSON allows: "1.", "NaN". */
static bool is_number(const char *text)
{
	const char *at = text + (*text == '-');
	size_t length = strspn(at, "0123456789");

	if (!length || (*at == '0' && length > 1))
		return false;
	at += length;
	if (*at == '.') {
		length = strspn(++at, "0123456789");
		if (!length)
			return false;
		at += length;
	}
	if (*at == 'e' || *at == 'E') {
		at++;
		at += *at == '+' || *at == '-';
		length = strspn(at, "0123456789");
		if (!length)
			return false;
		at += length;
	}
	return !*at;
}

static void add_number(struct tap_buffer *to, const char *text)
{
	if (is_number(text))
		tap_buffer_add_string(to, text);
	else
		tap_json_add_string(to, text);
}

static void add_array(struct tap_buffer *to, struct json_object *array)
{
	size_t i, count = json_object_array_length(array);

	tap_buffer_add_char(to, '[');
	for (i = 0; i < count; i++) {
		if (i)
			tap_buffer_add_char(to, ',');
		tap_merged_add_value(to, json_object_array_get_idx(array, i));
	}
	tap_buffer_add_char(to, ']');
}

static void add_object(struct tap_buffer *to, struct json_object *object)
{
	struct json_object_iterator at = json_object_iter_begin(object);
	const struct json_object_iterator end = json_object_iter_end(object);
	bool has_before = false;

	tap_buffer_add_char(to, '{');
	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
		if (has_before)
			tap_buffer_add_char(to, ',');
		has_before = true;
		tap_json_add_string(to, json_object_iter_peek_name(&at));
		tap_buffer_add_char(to, ':');
		tap_merged_add_value(to, json_object_iter_peek_value(&at));
	}
	tap_buffer_add_char(to, '}');
}

void tap_merged_add_value(struct tap_buffer *to, struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_null:
		tap_buffer_add_string(to, "null");
		break;
	case json_type_boolean:
		tap_buffer_add_string(to,
				      json_object_get_boolean(value) ? "true" : "false");
		break;
	case json_type_int:
	case json_type_double:
		add_number(to, text_of(value));
		break;
	case json_type_string:
		tap_json_add_bytes(to, json_object_get_string(value),
				   (size_t) json_object_get_string_len(value));
		break;
	case json_type_array:
		add_array(to, value);
		break;
	case json_type_object:
		add_object(to, value);
		break;
	}
}

/* ---- Processes and threads ---- */

static int64_t number_of(struct json_object *value)
{
	return json_object_is_type(value, json_type_int) ? json_object_get_int64(value)
							 : -1;
}

/* On demand, the profiler copies the text of a field: "5" is 5, and "five" nothing. */
static int64_t rank_of(struct json_object *value)
{
	const char *text;
	int64_t rank;
	char *end;

	if (!json_object_is_type(value, json_type_string))
		return number_of(value);
	text = json_object_get_string(value);
	errno = 0;
	rank = strtoll(text, &end, 10);
	return end == text || *end || errno ? -1 : rank;
}

static struct tap_merged_process *process_of(struct tap_merged_file *file,
					     struct json_object *event)
{
	struct json_object *pid = member(event, "pid");
	const char *text = text_of(pid);
	const uint64_t key = tap_table_hash(text);
	struct tap_merged_process *process = tap_table_find(&file->by_key, key, 0);

	if (process)
		return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = strdup(text);
	process->number = number_of(pid);
	if (process->pid && !tap_vec_add(&file->processes, process) &&
	    !tap_table_set(&file->by_key, key, 0, process))
		return process;
	if (!file->processes.count ||
	    file->processes.items[file->processes.count - 1] != process) {
		free(process->pid);
		free(process);
	}
	return NULL;
}

struct tap_merged_track *tap_merged_track_of(struct tap_merged_file *file,
					     struct json_object *event)
{
	struct tap_merged_process *process = process_of(file, event);
	struct tap_merged_track *track;
	const char *text;
	uint64_t pid, tid;

	if (!process)
		return NULL;
	pid = tap_table_hash(process->pid);
	text = text_of(member(event, "tid"));
	tid = tap_table_hash(text) | 1; /* 0 is the process itself */
	track = tap_table_find(&file->by_key, pid, tid);
	if (track)
		return track;
	track = calloc(1, sizeof(*track));
	if (!track)
		return NULL;
	track->process = process;
	track->tid = strdup(text);
	if (track->tid && !tap_vec_add(&file->tracks, track) &&
	    !tap_table_set(&file->by_key, pid, tid, track))
		return track;
	if (!file->tracks.count || file->tracks.items[file->tracks.count - 1] != track) {
		free(track->tid);
		free(track);
	}
	return NULL;
}

static int replace_text(char **text, struct json_object *value)
{
	char *copy = strdup(value ? json_object_get_string(value) : "");

	if (!copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

/* A name, a label, or a place, of a process or a thread. */
static int take_metadata(struct tap_merged_file *file, struct json_object *event)
{
	struct tap_merged_process *process = process_of(file, event);
	struct json_object *what = member(event, "name"), *args = member(event, "args");
	struct tap_merged_track *track;
	const char *name = what ? json_object_get_string(what) : "";

	if (!process)
		return -ENOMEM;
	if (!json_object_is_type(args, json_type_object))
		return 0;
	if (!strcmp(name, "process_name"))
		return replace_text(&process->name, member(args, "name"));
	if (!strcmp(name, "process_labels"))
		return replace_text(&process->label, member(args, "labels"));
	if (!strcmp(name, "process_sort_index"))
		process->sort = json_object_get_int64(member(args, "sort_index"));
	if (strncmp(name, "thread_", strlen("thread_")) != 0)
		return 0;
	track = tap_merged_track_of(file, event);
	if (!track)
		return -ENOMEM;
	if (!strcmp(name, "thread_name"))
		return replace_text(&track->name, member(args, "name"));
	if (!strcmp(name, "thread_sort_index"))
		track->sort = json_object_get_int64(member(args, "sort_index"));
	return 0;
}

/* ---- The first reading ---- */

static int take_event(void *data, struct json_object *event)
{
	struct tap_merged_file *file = data;
	struct tap_merged_track *track;
	int64_t time_ns;

	if (tap_merged_is_metadata(event))
		return take_metadata(file, event);
	if (!tap_merged_time_of(file, event, &time_ns))
		return tap_event_file_fail(file->error,
					   "has no time \"ts\" in event %" PRIu64,
					   file->events + 1);
	track = tap_merged_track_of(file, event);
	if (!track)
		return -ENOMEM;
	track->events++;
	if (!file->events++ || time_ns < file->first_ns)
		file->first_ns = time_ns;
	if (file->events == 1 || time_ns > file->last_ns)
		file->last_ns = time_ns;
	return 0;
}

static int take_member(void *data, const char *name, struct json_object *value)
{
	struct tap_merged_file *file = data;
	struct json_object *rank;

	if (!strcmp(name, "baseTimeNanoseconds")) {
		if (!json_object_is_type(value, json_type_int))
			return tap_event_file_fail(file->error,
						   "has a baseTimeNanoseconds that is no "
						   "integer");
		file->base_ns = json_object_get_int64(value);
		/* Events may have come before it. */
		if (file->events && !file->has_base &&
		    (__builtin_add_overflow(file->first_ns, file->base_ns,
					    &file->first_ns) ||
		     __builtin_add_overflow(file->last_ns, file->base_ns,
					    &file->last_ns)))
			return tap_event_file_fail(file->error,
						   "has times that are too large");
		file->has_base = true;
		return 0;
	}
	if (!strcmp(name, "displayTimeUnit"))
		return 0;
	if (!strcmp(name, "distributedInfo") &&
	    json_object_is_type(value, json_type_object)) {
		rank = member(value, "rank");
		if (rank)
			file->rank = rank_of(rank);
	}
	tap_buffer_add_char(&file->members, ',');
	tap_json_add_string(&file->members, name);
	tap_buffer_add_char(&file->members, ':');
	tap_merged_add_value(&file->members, value);
	return file->members.is_short ? -ENOMEM : 0;
}

static void free_file(struct tap_merged_file *file)
{
	size_t i;

	for (i = 0; i < file->processes.count; i++) {
		free(file->processes.items[i]->pid);
		free(file->processes.items[i]->name);
		free(file->processes.items[i]->label);
		free(file->processes.items[i]);
	}
	for (i = 0; i < file->tracks.count; i++) {
		free(file->tracks.items[i]->tid);
		free(file->tracks.items[i]->name);
		free(file->tracks.items[i]);
	}
	tap_vec_free(&file->processes);
	tap_vec_free(&file->tracks);
	tap_table_free(&file->by_key);
	tap_buffer_free(&file->members);
	free(file->path);
	free(file);
}

static int read_first(struct tap_merged_file *file)
{
	const struct tap_event_file_reader reader = {.event = take_event,
						     .member = take_member,
						     .data = file,
						     .error = file->error};
	struct stat status;
	int ret;

	/* Before it is opened: a pipe that nobody writes would hold us up. */
	if (!stat(file->path, &status) && !S_ISREG(status.st_mode) &&
	    !S_ISDIR(status.st_mode))
		return tap_event_file_fail(file->error,
					   "is read twice: it must be a regular file");
	ret = tap_event_file_read(file->path, &reader);
	if (ret)
		return ret;
	if (!file->has_base && file->events && file->first_ns < SINCE_1970_NS)
		return tap_event_file_fail(
			file->error,
			"has no baseTimeNanoseconds, and its times are not since 1970: "
			"they cannot be put on the clock of the recording");
	return 0;
}

int tap_merged_add(struct tap_merged *merged, const char *path,
		   struct tap_event_file_error *error)
{
	struct tap_merged_file *file = calloc(1, sizeof(*file));
	int ret;

	if (!file)
		return -ENOMEM;
	file->rank = -1;
	file->error = error;
	file->number = (unsigned int) merged->files.count + 1;
	file->path = strdup(path);
	ret = file->path ? read_first(file) : -ENOMEM;
	if (!ret)
		ret = tap_vec_add(&merged->files, file);
	if (ret)
		free_file(file);
	return ret;
}

int64_t tap_merged_first_ns(const struct tap_merged *merged)
{
	int64_t first_ns = INT64_MAX;
	size_t i;

	for (i = 0; i < merged->files.count; i++)
		if (merged->files.items[i]->events &&
		    merged->files.items[i]->first_ns < first_ns)
			first_ns = merged->files.items[i]->first_ns;
	return first_ns;
}

void tap_merged_free(struct tap_merged *merged)
{
	size_t i;

	for (i = 0; i < merged->files.count; i++)
		free_file(merged->files.items[i]);
	tap_vec_free(&merged->files);
}

/* ---- Of which process a file is ---- */

/* Numbers of GPUs, of which the profiler makes processes, too, are no process's. */
static bool is_gpu(const struct tap_merged_process *process)
{
	return process->label && !strncmp(process->label, "GPU", strlen("GPU"));
}

static bool has_pid(const struct tap_merged_file *file, int64_t pid)
{
	const struct tap_merged_track *track;
	size_t i;

	for (i = 0; i < file->tracks.count; i++) {
		track = file->tracks.items[i];
		if (track->events && track->process->number == pid &&
		    !is_gpu(track->process))
			return true;
	}
	return false;
}

/* How well the process fits the file; 0: not at all. */
static int fit(const struct tap_merged_file *file, const struct tap_process *process)
{
	const bool is_pid = process->pid >= 0 && has_pid(file, process->pid);

	if (process->is_foreign || (file->rank < 0 && !is_pid))
		return 0;
	if (file->rank >= 0 && tap_process_rank(process) != file->rank)
		return 0;
	return 1 + is_pid;
}

static void find_process(struct tap_merged_file *file, const struct tap_context *context)
{
	int best = 0, here;
	bool is_only = true;
	size_t i;

	for (i = 0; i < context->processes.count; i++) {
		here = fit(file, context->processes.all[i]);
		if (!here || here < best)
			continue;
		is_only = here > best;
		best = here;
		file->process = context->processes.all[i];
	}
	file->is_other_pid = best == 1;
	if (best && is_only) {
		file->how = file->rank >= 0 ? TAP_MERGED_BY_RANK : TAP_MERGED_BY_PID;
		return;
	}
	file->process = NULL;
	if (best)
		file->how = TAP_MERGED_SEVERAL;
	else
		file->how = file->rank >= 0 ? TAP_MERGED_ABSENT : TAP_MERGED_UNKNOWN;
}

/* As the profiler places them: by process, then by thread. */
static int compare_tracks(const void *one, const void *other)
{
	const struct tap_merged_track *a = *(struct tap_merged_track *const *) one,
				      *b = *(struct tap_merged_track *const *) other;

	if (a->process->sort != b->process->sort)
		return a->process->sort < b->process->sort ? -1 : 1;
	if (a->process != b->process)
		return strcmp(a->process->pid, b->process->pid);
	return a->sort == b->sort ? 0 : a->sort < b->sort ? -1 : 1;
}

static int place_file(struct tap_merged_file *file, struct tap_tracks *tracks)
{
	size_t i;
	int ret = 0;

	file->owner = file->process ? tap_tracks_process(tracks, file->process)
				    : ++tracks->last_track;
	if (!file->owner)
		return -ENOMEM;
	if (file->tracks.count)
		qsort(file->tracks.items, file->tracks.count, sizeof(*file->tracks.items),
		      compare_tracks);
	for (i = 0; !ret && i < file->tracks.count; i++) {
		if (!file->tracks.items[i]->events)
			continue;
		file->tracks.items[i]->track = ++tracks->last_track;
		ret = tap_packets_place(tracks->packets, tracks->last_track, file->owner);
	}
	return ret;
}

int tap_merged_place(struct tap_merged *merged, struct tap_tracks *tracks)
{
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < merged->files.count; i++) {
		find_process(merged->files.items[i], tracks->packets->view->context);
		ret = place_file(merged->files.items[i], tracks);
	}
	return ret;
}

/* ---- What is said about a file ---- */

static void add_whose(struct tap_buffer *text, const struct tap_merged_file *file)
{
	switch (file->how) {
	case TAP_MERGED_UNKNOWN:
		tap_buffer_add_string(text, "their rank is not known: the file has no "
					    "distributedInfo, and no process of the "
					    "recording has its pid");
		return;
	case TAP_MERGED_ABSENT:
		tap_buffer_add_string(text, "the recording has no rank ");
		tap_buffer_add_signed(text, file->rank);
		return;
	case TAP_MERGED_SEVERAL:
		tap_buffer_add_string(text, "several processes of the recording may be "
					    "meant");
		return;
	case TAP_MERGED_BY_RANK:
	case TAP_MERGED_BY_PID:
		break;
	}
	tap_view_add_process(text, file->process);
	tap_buffer_add_string(text, file->how == TAP_MERGED_BY_RANK
					    ? " as its distributedInfo says"
					    : ", whose pid it has");
	if (file->is_other_pid)
		tap_buffer_add_string(text, ", though not with the pid of the recording");
}

/* A trace of another run would be somewhere else in time, on the clock of the reading. */
static bool is_apart(const struct tap_merged_file *file,
		     const struct tap_context *context)
{
	struct tap_clock *clock = tap_merged_clock_of(file);

	return tap_clock_convert(clock, file->last_ns) < context->first_ns ||
	       tap_clock_convert(clock, file->first_ns) > context->last_ns;
}

void tap_merged_add_text(struct tap_buffer *text, const struct tap_merged *merged,
			 const struct tap_context *context)
{
	const struct tap_merged_file *file;
	size_t i;

	for (i = 0; i < merged->files.count; i++) {
		file = merged->files.items[i];
		tap_buffer_add_string(text, "merged: ");
		tap_buffer_add_visible(text, file->path);
		tap_buffer_add_string(text, ": ");
		tap_buffer_add_unsigned(text, file->events);
		tap_buffer_add_string(text, " events; ");
		add_whose(text, file);
		if (!file->has_base && file->events)
			tap_buffer_add_string(text,
					      "; without baseTimeNanoseconds, its times "
					      "are taken as microseconds since 1970");
		if (!file->process && tap_view_host_count(context) > 1)
			tap_buffer_add_string(text, "; its host is not known: its times "
						    "are taken as the reference's");
		if (file->events && is_apart(file, context))
			tap_buffer_add_string(text, "; none is at a time of the "
						    "recording: is it of another run?");
		tap_buffer_add_char(text, '\n');
	}
}
