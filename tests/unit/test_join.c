/* SPDX-License-Identifier: MIT */
/* The parts of the join by themselves, and its bounds, without babeltrace2. */
#include "join/base/heap.h"
#include "join/join.h"
#include "join/base/json.h"
#include "join/views/order.h"
#include "unit/draw.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>

static bool test_heap(void)
{
	struct tap_heap heap = {0};
	struct tap_heap_item item = {0}, last = {.time_ns = INT64_MIN};
	bool is_passed = true;
	unsigned int i, taken = 0;

	for (i = 0; i < 1000; i++) {
		item.time_ns = (int64_t) (draw_bits() % 50) - 25;
		item.order = i;
		CHECK(!tap_heap_push(&heap, &item));
	}
	for (i = 0; i < 500; i++) {
		item = *tap_heap_first(&heap);
		item.time_ns += 10;
		tap_heap_replace_first(&heap, &item);
	}
	while (tap_heap_first(&heap)) {
		item = *tap_heap_first(&heap);
		CHECK(item.time_ns > last.time_ns ||
		      (item.time_ns == last.time_ns && item.order > last.order));
		last = item;
		tap_heap_pop(&heap);
		taken++;
	}
	CHECK(taken == 1000);
	tap_heap_free(&heap);
	return is_passed;
}

static bool test_table(void)
{
	static char values[512];
	struct tap_table table = {0};
	bool is_kept[512] = {false}, is_passed = true;
	unsigned int i, count = 0;

	CHECK(!tap_table_find(&table, 1, 2));
	CHECK(!tap_table_remove(&table, 1, 2));
	for (i = 0; i < 100000; i++) {
		unsigned int key = (unsigned int) (draw_bits() % 512);

		if (draw_bits() % 2) {
			CHECK(!tap_table_set(&table, key % 16, key / 16, &values[key]));
			count += !is_kept[key];
			is_kept[key] = true;
		} else {
			CHECK(tap_table_remove(&table, key % 16, key / 16) ==
			      (is_kept[key] ? &values[key] : NULL));
			count -= is_kept[key];
			is_kept[key] = false;
		}
		key = (unsigned int) (draw_bits() % 512);
		CHECK(tap_table_find(&table, key % 16, key / 16) ==
		      (is_kept[key] ? &values[key] : NULL));
	}
	CHECK(table.count == count);
	CHECK(table.size <= 2048);
	tap_table_free(&table);
	return is_passed;
}

static bool test_fields(void)
{
	struct tap_fields fields = {0}, other = {0};
	char *large = calloc(1, TAP_FIELD_STRING_MAX * 2);
	const struct tap_field *found;
	uint64_t *elements, value;
	int64_t number;
	bool is_passed = true;
	unsigned int i;

	if (!large)
		return false;
	memset(large, 'x', TAP_FIELD_STRING_MAX * 2 - 1);
	tap_fields_add(&fields, "small", TAP_FIELD_UNSIGNED)->value.u = 5;
	tap_fields_add(&fields, "negative", TAP_FIELD_SIGNED)->value.i = -1;
	tap_fields_add(&fields, "huge", TAP_FIELD_UNSIGNED)->value.u = UINT64_MAX;
	CHECK(tap_fields_add_string(&fields, "text", "abc", 3));
	CHECK(tap_fields_add_string(&fields, "large", large, strlen(large)));
	CHECK(tap_fields_add_array(&fields, "array", 1u << 30, &elements));
	elements[TAP_FIELD_ARRAY_MAX - 1] = 7;

	CHECK(!tap_fields_get_unsigned(&fields, "small", &value) && value == 5);
	CHECK(!tap_fields_get_signed(&fields, "small", &number) && number == 5);
	CHECK(tap_fields_get_unsigned(&fields, "negative", &value) < 0);
	CHECK(tap_fields_get_signed(&fields, "huge", &number) < 0);
	CHECK(tap_fields_get_signed(&fields, "text", &number) < 0);
	CHECK(tap_fields_get_signed(&fields, "absent", &number) < 0);
	CHECK(!strcmp(tap_fields_get_string(&fields, "text"), "abc"));
	CHECK(!tap_fields_get_string(&fields, "small"));
	found = tap_fields_find(&fields, "large");
	CHECK(found->is_cut && found->value.data.length == TAP_FIELD_STRING_MAX);
	found = tap_fields_find(&fields, "array");
	CHECK(found->is_cut && found->value.data.length == TAP_FIELD_ARRAY_MAX);
	CHECK(tap_fields_array(&fields, found)[TAP_FIELD_ARRAY_MAX - 1] == 7);

	CHECK(tap_fields_are_equal(&fields, &fields));
	CHECK(!tap_fields_are_equal(&fields, &other));
	tap_fields_swap(&fields, &other);
	CHECK(!fields.count && other.count == 6);
	for (i = 0; i < TAP_FIELD_COUNT_MAX; i++)
		CHECK(tap_fields_add(&fields, "many", TAP_FIELD_REAL));
	CHECK(!tap_fields_add(&fields, "many", TAP_FIELD_REAL));
	CHECK(!tap_fields_add_string(&fields, "many", "", 0));
	tap_fields_free(&fields);
	tap_fields_free(&other);
	free(large);
	return is_passed;
}

static bool test_json(void)
{
	static const char expected[] =
		"{\"\":\"\",\"quotes\":\"\\\"\\\\/\","
		"\"control\":\"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\","
		"\"a\xef\xbf\xbd\":\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd.\xef\xbf\xbd\","
		"\"none\":null,\"unknown\":null,\"known\":0,\"is\":true,"
		"\"list\":[null,-9223372036854775808,18446744073709551615,\"0xff\",{},[]],"
		"\"text\":\"a\\\"b\"}\n[]\n";
	/* A name of a trace: constants are not looked at. */
	const char *volatile damaged = "a\xff";
	struct tap_buffer line = {0};
	struct tap_json json = {0};
	bool is_passed = true;

	tap_json_open(&json, NULL, '{');
	tap_json_string(&json, "", "");
	tap_json_string(&json, "quotes", "\"\\/");
	tap_json_string(&json, "control", "\b\f\n\r\t\x01\x1f\x7f");
	tap_json_string(&json, damaged, "\xc3\xa9\xed\xa0\x80.\xc3");
	tap_json_string(&json, "none", NULL);
	tap_json_not_negative(&json, "unknown", -1);
	tap_json_not_negative(&json, "known", 0);
	tap_json_bool(&json, "is", true);
	tap_json_open(&json, "list", '[');
	tap_json_null(&json, NULL);
	tap_json_signed(&json, NULL, INT64_MIN);
	tap_json_unsigned(&json, NULL, UINT64_MAX);
	tap_json_hex(&json, NULL, 255);
	tap_json_open(&json, NULL, '{');
	tap_json_close(&json);
	tap_json_open(&json, NULL, '[');
	tap_json_close(&json);
	tap_json_close(&json);
	tap_buffer_add_string(&json.text, "a\"b");
	tap_json_text(&json, "text");
	tap_json_end_line(&json, &line);
	tap_json_open(&json, NULL, '[');
	tap_json_end_line(&json, &line);
	tap_buffer_add_char(&line, '\0');
	CHECK(!strcmp(line.data, expected));
	tap_json_free(&json);
	tap_buffer_free(&line);
	return is_passed;
}

static bool test_visible(void)
{
	struct tap_buffer buffer = {0};
	bool is_passed = true;

	tap_buffer_add_visible(&buffer, "a\x1b[1m\xc3\xa9\xc2\x85\xff\x7f");
	tap_buffer_add_char(&buffer, '\0');
	CHECK(!strcmp(buffer.data, "a\\x1b[1m\xc3\xa9\\xc2\\x85\\xff\\x7f"));
	tap_buffer_free(&buffer);
	return is_passed;
}

/* ---- The join: what a consumer gets ---- */

struct counts {
	unsigned int begun;
	unsigned int ended[TAP_SPAN_BEGIN_LOST + 1];
	unsigned int late;
	struct tap_order order;
	int64_t last_ns;
	bool is_ordered;
};

static int count_begun(void *data, struct tap_span *span)
{
	struct counts *counts = data;

	counts->begun++;
	return counts->order.ring ? tap_order_begun(&counts->order, span) : 0;
}

static int count_ended(void *data, struct tap_span *span)
{
	struct counts *counts = data;

	counts->ended[span->state]++;
	return counts->order.ring ? tap_order_ended(&counts->order, span) : 0;
}

static int take_ordered(void *data, struct tap_span *span)
{
	struct counts *counts = data;

	counts->late += span->is_late;
	if (!span->is_late && span->begin_ns < counts->last_ns)
		counts->is_ordered = false;
	if (!span->is_late)
		counts->last_ns = span->begin_ns;
	return 0;
}

static const struct tap_consumer counter = {
	.span_begun = count_begun,
	.span_ended = count_ended,
};

static int put(struct tap_join *join, struct tap_trace *trace, enum tap_event_kind kind,
	       int64_t time_ns, int64_t tid, uint64_t call_id, uint64_t parent_id)
{
	static struct tap_event event;

	event.kind = kind;
	event.trace = trace;
	event.name = tap_join_intern(join, "nccl", 4, "ncclSend", 8);
	event.time_ns = time_ns;
	event.pid = 10;
	event.tid = tid;
	event.has_call_id = true;
	event.call_id = call_id;
	event.parent_id = parent_id;
	return tap_join_event(join, &event);
}

/* A million calls of which all exits are lost, on one thread and without threads. */
static bool test_bounds(void)
{
	struct counts counts = {.is_ordered = true};
	struct tap_join *join =
		tap_join_create(&counter, &counts, &(struct tap_bounds){1000, 10});
	struct tap_trace *trace = tap_join_add_trace(join, "alpha", NULL, -1);
	bool is_passed = true;
	uint64_t i;

	for (i = 1; i <= 500000; i++)
		CHECK(!put(join, trace, TAP_EVENT_ENTRY, (int64_t) i, -1, i, 0));
	CHECK(counts.begun == 500000);
	CHECK(counts.ended[TAP_SPAN_END_LOST] == 499000);
	CHECK(tap_join_loss(join)->evicted_calls == 499000);
	for (; i <= 1000000; i++)
		CHECK(!put(join, trace, TAP_EVENT_ENTRY, (int64_t) i, 11, i, 0));
	CHECK(!tap_join_finish(join));
	CHECK(counts.begun == 1000000);
	/* The first thousand are pushed out by the others, each of which ends the next.
	 */
	CHECK(counts.ended[TAP_SPAN_END_LOST] + counts.ended[TAP_SPAN_OPEN] == 1000000);
	CHECK(tap_join_loss(join)->lost_exits == counts.ended[TAP_SPAN_END_LOST]);
	tap_join_destroy(join);
	return is_passed;
}

/* Random nesting on many threads with no loss: everything is complete, in order. */
static bool test_threads(void)
{
	enum { THREADS = 200, DEPTH = 5 };
	struct counts counts = {.is_ordered = true};
	struct tap_join *join =
		tap_join_create(&counter, &counts, &(struct tap_bounds){100000, 10});
	struct tap_trace *trace = tap_join_add_trace(join, "alpha", NULL, -1);
	uint64_t stacks[THREADS][DEPTH], next = 1;
	unsigned int depths[THREADS] = {0}, i;
	bool is_passed = true;
	int64_t now = 0;

	CHECK(!tap_order_init(&counts.order, 100000, tap_join_context(join), take_ordered,
			      &counts));
	for (i = 0; i < 200000; i++) {
		unsigned int t = (unsigned int) (draw_bits() % THREADS);
		uint64_t *stack = stacks[t];

		if (depths[t] < DEPTH && draw_bits() % 2) {
			CHECK(!put(join, trace, TAP_EVENT_ENTRY, now++, t, next,
				   depths[t] ? stack[depths[t] - 1] : 0));
			stack[depths[t]++] = next++;
		} else if (depths[t]) {
			CHECK(!put(join, trace, TAP_EVENT_EXIT, now++, t,
				   stack[--depths[t]], 0));
		}
	}
	for (i = 0; i < THREADS; i++)
		while (depths[i])
			CHECK(!put(join, trace, TAP_EVENT_EXIT, now++, i,
				   stacks[i][--depths[i]], 0));
	CHECK(!tap_join_finish(join));
	CHECK(counts.ended[TAP_SPAN_COMPLETE] == counts.begun &&
	      counts.begun == next - 1);
	CHECK(counts.is_ordered && !counts.late);
	tap_order_free(&counts.order);
	tap_join_destroy(join);
	return is_passed;
}

/* Parts of one trace share their processes; two hosts do not. */
static bool test_traces(void)
{
	static const unsigned char identity[16] = "0123456789abcde";
	struct counts counts = {0};
	struct tap_join *join =
		tap_join_create(&counter, &counts, &(struct tap_bounds){10, 10});
	struct tap_trace *first = tap_join_add_trace(join, "alpha", identity, -1);
	struct tap_trace *again = tap_join_add_trace(join, "alpha", identity, -1);
	struct tap_trace *other = tap_join_add_trace(join, "beta", identity, -1);
	bool is_passed = true;

	CHECK(first == again);
	CHECK(first != other);
	CHECK(!put(join, first, TAP_EVENT_ENTRY, 1, 11, 1, 0));
	CHECK(!put(join, other, TAP_EVENT_EXIT, 2, 11, 1, 0));
	CHECK(!put(join, again, TAP_EVENT_EXIT, 3, 11, 1, 0));
	CHECK(counts.ended[TAP_SPAN_COMPLETE] == 1);
	CHECK(counts.ended[TAP_SPAN_BEGIN_LOST] == 1);
	tap_join_destroy(join);
	return is_passed;
}

/* An entry without its exit is found out at once, whatever else is open. */
static bool test_lost_exit(void)
{
	struct counts counts = {0};
	struct tap_join *join =
		tap_join_create(&counter, &counts, &(struct tap_bounds){10, 10});
	struct tap_trace *trace = tap_join_add_trace(join, "alpha", NULL, -1);
	bool is_passed = true;

	CHECK(!put(join, trace, TAP_EVENT_ENTRY, 1, 11, 1, 0));
	CHECK(!put(join, trace, TAP_EVENT_ENTRY, 2, 11, 2, 1));
	CHECK(!put(join, trace, TAP_EVENT_ENTRY, 3, 12, 3, 0));
	CHECK(!put(join, trace, TAP_EVENT_ENTRY, 4, 11, 4, 1));
	CHECK(counts.ended[TAP_SPAN_END_LOST] == 1);
	CHECK(!put(join, trace, TAP_EVENT_EXIT, 5, 11, 1, 0));
	CHECK(counts.ended[TAP_SPAN_END_LOST] == 2);
	CHECK(counts.ended[TAP_SPAN_COMPLETE] == 1);
	CHECK(!tap_join_finish(join));
	CHECK(counts.ended[TAP_SPAN_OPEN] == 1);
	tap_join_destroy(join);
	return is_passed;
}

int main(void)
{
	printf("1..9\n");
	report("a heap gives its items in order", test_heap);
	report("a table keeps what was not removed", test_table);
	report("a list of fields is typed and bounded", test_fields);
	report("what must be escaped or mended in JSON is", test_json);
	report("text for a person cannot steer the terminal", test_visible);
	report("the calls that are kept open are bounded", test_bounds);
	report("calls of many threads pair and keep their order", test_threads);
	report("a trace in parts is one, two hosts are two", test_traces);
	report("a lost exit is found out by the next event", test_lost_exit);
	return 0;
}
