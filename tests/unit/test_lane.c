/* SPDX-License-Identifier: MIT */
/* Lanes: what lies above what, and what gets a lane of its own. */
#include "join/views/lane.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>

static char nccl_layer[] = "nccl", nvtx_layer[] = "nvtx", any_name[] = "name";
static const struct tap_name nccl = {.layer = nccl_layer, .name = any_name};
static const struct tap_name nvtx = {.layer = nvtx_layer, .name = any_name};
static struct tap_process process = {.number = 3};

static struct tap_span make_call(int64_t tid, bool is_on_stack)
{
	struct tap_span span = {.process = &process, .name = &nccl, .tid = tid};

	/* It is only looked whether there is one. */
	if (is_on_stack)
		span.thread = (struct tap_thread *) &process;
	return span;
}

static struct tap_span make_range(int64_t tid, const char *scope, const char *domain)
{
	struct tap_span span = {.process = &process, .name = &nvtx, .tid = tid};
	struct tap_field *field = tap_fields_add(&span.entry, "scope", TAP_FIELD_SIGNED);

	field->label = scope;
	tap_fields_add_string(&span.entry, "domain", domain, strlen(domain));
	return span;
}

static bool lies_at(const struct tap_span *span, unsigned int lane, unsigned int depth)
{
	if (span->place.lane == lane && span->place.depth == depth)
		return true;
	printf("# lane %u, depth %u\n", span->place.lane, span->place.depth);
	return false;
}

static bool test_calls(void)
{
	struct tap_lanes lanes = {0};
	struct tap_span outer = make_call(7, true), inner = outer, other = outer;
	struct tap_span elsewhere = make_call(8, true);
	bool is_passed = true;

	CHECK(!tap_lanes_begin(&lanes, &outer) && lies_at(&outer, 0, 1));
	CHECK(!tap_lanes_begin(&lanes, &inner) && lies_at(&inner, 0, 2));
	CHECK(!tap_lanes_begin(&lanes, &elsewhere) && lies_at(&elsewhere, 0, 1));
	tap_lanes_end(&lanes, &inner);
	CHECK(lies_at(&inner, 0, 2));
	CHECK(!tap_lanes_begin(&lanes, &other) && lies_at(&other, 0, 2));
	tap_lanes_end(&lanes, &other);
	tap_lanes_end(&lanes, &outer);
	CHECK(lanes.by_thread.count == 1);
	tap_lanes_end(&lanes, &elsewhere);
	CHECK(lanes.by_thread.count == 0);
	tap_lanes_free(&lanes);
	return is_passed;
}

/* Of a thread that is not known any call may end first. */
static bool test_unknown_thread(void)
{
	struct tap_lanes lanes = {0};
	struct tap_span spans[4];
	bool is_passed = true;
	unsigned int i;

	for (i = 0; i < 4; i++)
		spans[i] = make_call(-1, false);
	for (i = 0; i < 3; i++)
		CHECK(!tap_lanes_begin(&lanes, &spans[i]) && lies_at(&spans[i], i, 1));
	tap_lanes_end(&lanes, &spans[1]);
	CHECK(!tap_lanes_begin(&lanes, &spans[3]) && lies_at(&spans[3], 1, 1));
	tap_lanes_free(&lanes);
	return is_passed;
}

static bool test_ranges(void)
{
	struct tap_lanes lanes = {0};
	struct tap_span epoch = make_range(7, "process", "");
	struct tap_span step = make_range(7, "thread", "");
	struct tap_span layer = make_range(7, "thread", "");
	struct tap_span other = make_range(7, "thread", "other");
	struct tap_span mark = make_range(7, "mark", "other");
	struct tap_span *all[] = {&epoch, &step, &layer, &other, &mark};
	bool is_passed = true;
	size_t i;

	CHECK(!tap_lanes_begin(&lanes, &epoch) && lies_at(&epoch, 0, 1));
	CHECK(!tap_lanes_begin(&lanes, &step) && lies_at(&step, 1, 1));
	CHECK(!tap_lanes_begin(&lanes, &other) && lies_at(&other, 2, 1));
	CHECK(!tap_lanes_begin(&lanes, &layer) && lies_at(&layer, 1, 2));
	CHECK(!tap_lanes_begin(&lanes, &mark) && lies_at(&mark, 0, 2));
	tap_lanes_end(&lanes, &mark);
	/* In any order but that of one domain. */
	tap_lanes_end(&lanes, &epoch);
	tap_lanes_end(&lanes, &layer);
	tap_lanes_end(&lanes, &other);
	tap_lanes_end(&lanes, &step);
	CHECK(lanes.by_thread.count == 0);
	tap_lanes_free(&lanes);
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		tap_fields_free(&all[i]->entry);
	return is_passed;
}

/* Calls and ranges of one thread have rows of their own. */
static bool test_layers(void)
{
	struct tap_lanes lanes = {0};
	struct tap_span call = make_call(7, true), again = call;
	struct tap_span range = make_range(7, "thread", "");
	struct tap_span second = make_range(7, "thread", "");
	bool is_passed = true;

	CHECK(!tap_lanes_begin(&lanes, &range) && lies_at(&range, 0, 1));
	CHECK(!tap_lanes_begin(&lanes, &call) && lies_at(&call, 0, 1));
	CHECK(!tap_lanes_begin(&lanes, &second) && lies_at(&second, 0, 2));
	/* The row that was there first goes first. */
	tap_lanes_end(&lanes, &second);
	tap_lanes_end(&lanes, &range);
	CHECK(!tap_lanes_begin(&lanes, &again) && lies_at(&again, 0, 2));
	tap_lanes_end(&lanes, &again);
	tap_lanes_end(&lanes, &call);
	CHECK(lanes.by_thread.count == 0);
	tap_lanes_free(&lanes);
	tap_fields_free(&range.entry);
	tap_fields_free(&second.entry);
	return is_passed;
}

/* Only where something was lost does one end below another. */
static bool test_end_below(void)
{
	struct tap_lanes lanes = {0};
	struct tap_span outer = make_call(7, true), inner = outer, next = outer;
	bool is_passed = true;

	CHECK(!tap_lanes_begin(&lanes, &outer) && lies_at(&outer, 0, 1));
	CHECK(!tap_lanes_begin(&lanes, &inner) && lies_at(&inner, 0, 2));
	tap_lanes_end(&lanes, &outer);
	CHECK(!tap_lanes_begin(&lanes, &next) && lies_at(&next, 0, 3));
	tap_lanes_end(&lanes, &next);
	tap_lanes_end(&lanes, &inner);
	tap_lanes_end(&lanes, &inner);
	CHECK(lanes.by_thread.count == 0);
	tap_lanes_free(&lanes);
	return is_passed;
}

/* Never do two that are open share a place. */
static bool test_random(void)
{
	enum { SPANS = 64, ROUNDS = 20000 };
	static const char *const scopes[] = {"thread", "process", "mark"};
	static const char *const domains[] = {"", "a", "b"};
	struct tap_lanes lanes = {0};
	static struct tap_span spans[SPANS];
	static bool is_open[SPANS];
	uint64_t state = 88172645463325252u;
	bool is_passed = true;
	unsigned int i, j;

	for (i = 0; i < SPANS; i++)
		spans[i] =
			i % 2 ? make_call((int64_t) (i % 3) - 1, i % 3)
			      : make_range(i % 3, scopes[i % 7 % 3], domains[i % 5 % 3]);
	for (i = 0; i < ROUNDS; i++) {
		struct tap_span *span;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		j = (unsigned int) (state >> 32) % SPANS;
		span = &spans[j];
		is_open[j] = !is_open[j];
		if (!is_open[j]) {
			tap_lanes_end(&lanes, span);
			continue;
		}
		CHECK(!tap_lanes_begin(&lanes, span));
		for (j = 0; j < SPANS; j++)
			CHECK(&spans[j] == span || !is_open[j] ||
			      spans[j].place.row != span->place.row ||
			      spans[j].place.lane != span->place.lane ||
			      spans[j].place.depth != span->place.depth);
	}
	tap_lanes_free(&lanes);
	for (i = 0; i < SPANS; i++)
		tap_fields_free(&spans[i].entry);
	return is_passed;
}

int main(void)
{
	printf("1..6\n");
	report("calls of one thread lie above each other", test_calls);
	report("calls of a thread that is not known have lanes", test_unknown_thread);
	report("ranges lie above each other where they are popped in order", test_ranges);
	report("layers have rows of their own", test_layers);
	report("what ends below another leaves it where it is", test_end_below);
	report("no two open spans share a place", test_random);
	return 0;
}
