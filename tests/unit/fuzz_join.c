/* SPDX-License-Identifier: MIT */
/*
 * The join under any sequence of events.  Bytes become events of three processes
 * and four threads with small call numbers, so that they collide a lot.
 *
 * In "make check" a fixed number of fixed sequences runs.  To search for more:
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -DTAP_LIBFUZZER -D_GNU_SOURCE \
 *         -Isrc -Itests -I. tests/unit/fuzz_join.c src/join/{buffer,field,heap,json}.c \
 *         src/join/{jsonl,order,outfile,pair,process,report,table,text,view}.c \
 *         -o fuzz
 *   ./fuzz -max_len=4096
 */
#include "join/join.h"
#include "join/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 3000
#define LENGTH_MAX 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tap_view *(*const views[])(void) = {
	tap_text_create,
	tap_jsonl_create,
	tap_report_create,
};

struct input {
	const uint8_t *data;
	size_t left;
};

static unsigned int take(struct input *input)
{
	if (!input->left)
		return 0;
	input->left--;
	return *input->data++;
}

static void add_fields(struct tap_fields *fields, struct input *input)
{
	static const char *const names[] = {"result", "library_id", "path", "rank",
					    "host",   "what",	    "pid"};
	unsigned int count = take(input) % 4;
	uint64_t *elements;
	struct tap_field *field;

	while (count--) {
		const char *name = names[take(input) % 7];
		unsigned int kind = take(input) % 5;

		if (kind == TAP_FIELD_STRING) {
			tap_fields_add_string(fields, name, "a/b\xff\n", take(input) % 6);
		} else if (kind == TAP_FIELD_ARRAY) {
			field = tap_fields_add_array(fields, name, take(input) % 3,
						     &elements);
			if (field)
				memset(elements, 1,
				       field->value.data.length * sizeof(*elements));
		} else {
			field = tap_fields_add(fields, name, (enum tap_field_kind) kind);
			if (field)
				field->value.u = take(input) - 3u;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct tap_view *view = views[take(&input) % 3]();
	const struct tap_bounds bounds = {
		.open_calls = 1 + take(&input) % 6,
		.held_operations = 1 + take(&input) % 8,
	};
	struct tap_join *join = tap_join_create(view->consumer, view, &bounds);
	struct tap_trace *traces[2] = {tap_join_add_trace(join, "alpha", NULL, -1),
				       tap_join_add_trace(join, "beta", NULL, 9)};
	const struct tap_name *names[2] = {tap_join_intern(join, "nccl", 4, "a", 1),
					   tap_join_intern(join, "nccl", 4, "b", 1)};
	struct tap_event event = {0};
	struct tap_outfile output;
	int ret = tap_outfile_open(&output, "/dev/null", true);

	view->join = join;
	view->output = &output;
	view->settings.window = 1 + take(&input) % 5;
	view->settings.is_json = take(&input) % 2;
	while (!ret && input.left) {
		unsigned int what = take(&input), where = take(&input);

		tap_fields_clear(&event.fields);
		event.kind =
			what % 8 < 6 ? (enum tap_event_kind)(what % 8) : TAP_EVENT_EXIT;
		event.name = names[what / 8 % 2];
		event.has_call_id = what / 16 % 8 != 7;
		event.is_inner = what / 128;
		event.trace = traces[where % 2];
		event.pid = (int64_t) (where / 2 % 3) - 1;
		event.tid = (int64_t) (where / 8 % 4) - 1;
		event.call_id = take(&input) % 16;
		event.parent_id = take(&input) % 16;
		event.caller_number = take(&input) % 4;
		event.caller_offset = event.call_id;
		event.time_ns += (int64_t) take(&input) - 20;
		add_fields(&event.fields, &input);
		ret = tap_join_event(join, &event);
	}
	if (!ret)
		ret = tap_join_finish(join);
	view->destroy(view);
	tap_join_destroy(join);
	tap_fields_free(&event.fields);
	tap_outfile_close(&output);
	if (ret)
		abort();
	return 0;
}

#ifndef TAP_LIBFUZZER
int main(void)
{
	static uint8_t data[LENGTH_MAX];
	uint64_t state = 0x2545f4914f6cdd1du;
	unsigned int i;
	size_t j, size;

	printf("1..1\n");
	for (i = 0; i < ROUNDS; i++) {
		size = 16 + i * 7 % (LENGTH_MAX - 16);
		for (j = 0; j < size; j++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			data[j] = (uint8_t) (state >> 24);
		}
		LLVMFuzzerTestOneInput(data, size);
	}
	printf("ok 1 - %u random sequences of events are joined\n", ROUNDS);
	return 0;
}
#endif
