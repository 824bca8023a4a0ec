/* SPDX-License-Identifier: MIT */
/*
 * The join under any sequence of events.  Bytes become events of three processes
 * and four threads with small numbers of calls, communicators, operations and
 * groups, so that they collide a lot.
 *
 * In "make check" a fixed number of fixed sequences runs.  To search for more:
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -DTAP_LIBFUZZER -D_GNU_SOURCE \
 *         -Isrc -Itests -I. tests/unit/fuzz_join.c BUILD/src/join/.libs/libjoin.a \
 *         -ldw -ldl -o fuzz
 *   ./fuzz -max_len=4096
 */
#include "join/views/derived.h"
#include "join/join.h"
#include "join/views/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 3000
#define LENGTH_MAX 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the events of the derived trace. */
static int64_t mark_ns;

static int take_mark(void *data, const struct tap_mark *mark)
{
	(void) data;
	if (mark->time_ns < mark_ns)
		abort();
	mark_ns = mark->time_ns;
	return 0;
}

static int finish_marks(void *data, const struct tap_loss *loss)
{
	(void) data;
	(void) loss;
	return 0;
}

static struct tap_view *create_derived(void)
{
	const struct tap_mark_taker taker = {take_mark, finish_marks, NULL};

	mark_ns = INT64_MIN;
	return tap_derived_create(&taker, true);
}

static struct tap_view *(*const views[])(void) = {
	tap_text_create, tap_jsonl_create, tap_report_create,
	create_derived,	 tap_check_create, tap_complete_create, tap_audit_create,
};

static const char *const calls[] = {
	"ncclAllReduce", "ncclBcast",	   "ncclBroadcastConfig", "ncclSend",
	"ncclRecv",	 "ncclGroupStart", "ncclGroupEnd",	  "ncclGroupSimulateEnd",
};

static const char *const cuda_calls[] = {"cuLaunchKernelEx", "cuGraphLaunch",
					 "cuMemcpyAsync", "cuMemsetD8Async"};

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
	static const char *const names[] = {"result",
					    "library_id",
					    "path",
					    "rank",
					    "host",
					    "what",
					    "pid",
					    "comm_id",
					    "comm_key",
					    "alias_key",
					    "nranks",
					    "generation",
					    "collectives",
					    "group_outcome",
					    "origin",
					    "parent_comm_id",
					    "config_commName",
					    "async_error",
					    "function",
					    "stack_id",
					    "libraries",
					    "offsets",
					    "end"};
	unsigned int count = take(input) % 6;
	uint64_t *elements;
	struct tap_field *field;

	while (count--) {
		const char *name =
			names[take(input) % (sizeof(names) / sizeof(names[0]))];
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

/* Work requests of few queue pairs, with small ordinals. */
static void add_work(struct tap_event *event, struct input *input)
{
	static const char *const arrays[] = {"wr_id",	  "qp_id",    "generation",
					     "seq",	  "status",   "opcode",
					     "is_recv",	  "byte_len", "imm_data",
					     "length",	  "wc_flags", "src_qp",
					     "send_flags"};
	static const char *const numbers[] = {
		"qp_id",	 "srq_id",     "generation", "seq",	 "signaled_seq",
		"consuming_seq", "concurrent", "num_wr",     "num_wc",	 "type",
		"qp_num",	 "ah_id",      "rkey",	     "mr_id",	 "dest_qp_num",
		"is_global",	 "sent",       "ret",	     "signaled", "remote_qpn",
		"recv_posted",	 "attr_mask",  "addr",	     "sq_psn",	 "context_id"};
	const bool has_arrays = event->verbs == TAP_VERBS_POLL ||
				event->verbs == TAP_VERBS_POST_SEND_LIST ||
				event->verbs == TAP_VERBS_POST_RECV_LIST;
	struct tap_field *field;
	uint64_t *elements;
	size_t i, j;

	event->begin_ns = event->time_ns - take(input);
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		field = tap_fields_add(&event->fields, numbers[i], TAP_FIELD_UNSIGNED);
		if (field)
			field->value.u = take(input) % 5;
		if (field && !strcmp(numbers[i], "attr_mask"))
			field->value.u = UINT64_C(0xfffff) >> take(input) % 24;
	}
	for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
		if (!has_arrays) {
			field = tap_fields_add(&event->fields, arrays[i],
					       TAP_FIELD_UNSIGNED);
			if (field)
				field->value.u = take(input) % 4;
			continue;
		}
		field = tap_fields_add_array(&event->fields, arrays[i], take(input) % 4,
					     &elements);
		for (j = 0; field && j < field->value.data.length; j++)
			elements[j] = take(input) % 4;
	}
}

/* Launches, captured or not, and what ran for them, with few correlations. */
static void add_launch(struct tap_event *event, struct input *input)
{
	static const char *const names[] = {"correlation_id", "graph",	 "graph_node",
					    "node",	      "call_id", "original",
					    "device",	      "stream",	 "count",
					    "residual_ns"};
	static const char *const strings[][4] = {
		{"state", "taken", "refused", "released"},
		{"what", "dropped", "zero_time", "else"},
		{"text", "_Z9ncclDevKernel_AllReduce_Sum", "its own",
		 "ncclSymkDevKernel_AllReduce_LL"}};
	struct tap_field *field;
	size_t i;

	event->begin_ns = event->time_ns - take(input);
	event->end_ns = event->begin_ns + take(input) % 128 - 4;
	event->name_number = take(input) % 4;
	event->has_result = true;
	event->result = take(input) % 8 == 7;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		field = tap_fields_add(&event->fields, names[i], TAP_FIELD_UNSIGNED);
		if (field)
			field->value.u = take(input) % 4;
	}
	for (i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		const char *string = strings[i][1 + take(input) % 3];

		tap_fields_add_string(&event->fields, strings[i][0], string,
				      strlen(string));
	}
	field = tap_fields_add(&event->fields, "capture", TAP_FIELD_SIGNED);
	if (field)
		field->value.i = (int64_t) (take(input) % 8) / 5 - take(input) % 8 / 7;
	if (take(input) % 2)
		tap_fields_add_string(&event->fields, "kernel_kind", "collective", 10);
	if (take(input) % 2) {
		tap_fields_add_string(&event->fields, "known", "decoded", 7);
		tap_fields_add_string(&event->fields, "collective", "AllReduce,SendRecv",
				      take(input) % 2 ? 9 : 18);
		field = tap_fields_add(&event->fields, "device_comm", TAP_FIELD_UNSIGNED);
		if (field)
			field->value.u = take(input) % 3;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	struct tap_view *view = views[take(&input) % 5]();
	const struct tap_bounds bounds = {
		.open_calls = 1 + take(&input) % 6,
		.held_operations = 1 + take(&input) % 8,
	};
	struct tap_join *join = tap_join_create(view->consumer, view, &bounds);
	struct tap_trace *traces[2] = {tap_join_add_trace(join, "alpha", NULL, -1),
				       tap_join_add_trace(join, "beta", NULL, 9)};
	const struct tap_name *names[8], *launches[4];
	struct tap_symbols *symbols =
		take(&input) % 2 ? tap_symbols_create(NULL, NULL) : NULL;
	struct tap_event event = {0};
	struct tap_outfile output;
	int ret = tap_outfile_open(&output, "/dev/null", true);
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		names[i] = tap_join_intern(join, "nccl", 4, calls[i], strlen(calls[i]));
	for (i = 0; i < sizeof(launches) / sizeof(launches[0]); i++)
		launches[i] = tap_join_intern(join, "cuda", 4, cuda_calls[i],
					      strlen(cuda_calls[i]));
	view->context = tap_join_context(join);
	view->output = &output;
	view->symbols = symbols;
	view->settings.window = 1 + take(&input) % 5;
	view->settings.is_json = take(&input) % 2;
	while (!ret && input.left) {
		unsigned int what = take(&input), where = take(&input);

		tap_fields_clear(&event.fields);
		event.kind = what % 16 <= TAP_EVENT_STATEDUMP_STACK
				     ? (enum tap_event_kind)(what % 16)
			     : what % 2 ? TAP_EVENT_EXIT
					: TAP_EVENT_ENTRY;
		event.name = names[what / 16 % 8];
		what = take(&input);
		event.has_call_id = what % 8 != 7;
		event.is_inner = what / 8 % 8 == 7;
		event.trace = traces[where % 2];
		event.pid = (int64_t) (where / 2 % 3) - 1;
		event.tid = (int64_t) (where / 8 % 4) - 1;
		event.call_id = take(&input) % 16;
		event.parent_id = take(&input) % 16;
		event.caller_number = take(&input) % 4;
		event.caller_offset = event.call_id;
		event.stack_id = event.call_id % 4;
		what = take(&input);
		event.operation.comm_id = what % 4;
		event.operation.comm_key = what / 4 % 4;
		event.operation.number = what / 16 % 8;
		event.operation.has_count = what / 128;
		what = take(&input);
		event.operation.group_id = what % 4;
		event.operation.peer = (int64_t) (what / 4 % 4) - 1;
		event.operation.datatype = (int64_t) (what / 16) - 1;
		event.operation.count = UINT64_C(1) << what % 64;
		event.time_ns += (int64_t) take(&input) - 20;
		event.verbs = TAP_VERBS_NONE;
		event.begin_ns = 0;
		what = take(&input);
		event.gpu = TAP_GPU_NONE;
		event.has_result = false;
		if (what % 4 == 1) {
			event.kind = TAP_EVENT_GPU;
			event.gpu = (enum tap_gpu_event)(what / 4 % TAP_GPU_NONE);
			event.tid = -1;
			add_launch(&event, &input);
		} else if (what % 4 == 3) {
			event.kind = TAP_EVENT_WORK;
			event.name = launches[what / 4 % 4];
			add_launch(&event, &input);
		} else if (what % 8 == 2) {
			event.kind = TAP_EVENT_VERBS;
			event.verbs =
				(enum tap_verbs_event)(take(&input) % TAP_VERBS_NONE);
			add_work(&event, &input);
		}
		add_fields(&event.fields, &input);
		ret = tap_join_event(join, &event);
	}
	if (!ret)
		ret = tap_join_finish(join);
	view->destroy(view);
	tap_symbols_destroy(symbols);
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
