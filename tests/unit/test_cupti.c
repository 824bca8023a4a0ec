/* SPDX-License-Identifier: MIT */
/* What is made of CUPTI's records and callbacks, with a CUPTI that is a few lines. */
#include <string.h>
#include <time.h>

#include "common/thread.h"
#include "cupti/buffers.h"
#include "cupti/callback.h"
#include "cupti/clock.h"
#include "cupti/names.h"
#include "cupti/records.h"
#include "intercept/nccl/comm.h"
#include "intercept/resolve.h"
#include "unit/tap.h"

/* ---- The rest of the tracer ---- */

struct tap_comm tap_no_comm;
static struct tap_events events;
const struct tap_events *tap_events_table = &events;
static unsigned nr_problems;
struct tap_metrics_page *tap_metrics_page;
static uint64_t nccl_kernels, nccl_ns;

void tap_metrics_count_kernel(uint64_t ns)
{
	nccl_kernels++;
	nccl_ns += ns;
}

void tap_problem(const char *what, const char *detail, uint64_t count)
{
	(void) what;
	(void) detail;
	(void) count;
	nr_problems++;
}

/* ---- What was written ---- */

static const int on = 1;
static union {
	struct tap_gpu_kernel kernel;
	struct tap_gpu_memcpy memcpy;
	struct tap_gpu_api api;
	struct tap_gpu_graph_node graph_node;
} last;
static unsigned nr_written, nr_names, nr_clocks;
static uint64_t nr_zero_time, nr_other_clock, nr_unknown, nr_dropped;
static struct tap_gpu_clock last_clock;

static void write_record(const void *record, size_t length)
{
	nr_written++;
	memcpy(&last, record, length < sizeof(last) ? length : sizeof(last));
}

static void write_name(uint64_t name, const char *text, bool is_statedump)
{
	(void) name;
	(void) text;
	nr_names += !is_statedump;
}

static void write_clock(const struct tap_gpu_clock *clock)
{
	nr_clocks++;
	last_clock = *clock;
}

static void write_lost(const char *what, uint64_t count)
{
	if (!strcmp(what, "zero_time"))
		nr_zero_time += count;
	else if (!strcmp(what, "other_clock"))
		nr_other_clock += count;
	else if (!strcmp(what, "unknown_record"))
		nr_unknown += count;
	else if (!strcmp(what, "dropped"))
		nr_dropped += count;
}

/* ---- A CUPTI ---- */

#define RECORD_BYTES 256

static int next_record(uint8_t *buffer, size_t valid, struct tap_cupti_record **record)
{
	uint8_t *at = *record ? (uint8_t *) *record + RECORD_BYTES : buffer;

	if (at + RECORD_BYTES > buffer + valid)
		return TAP_CUPTI_MAX_LIMIT;
	*record = (struct tap_cupti_record *) at;
	return 0;
}

static int refuse_clock(uint64_t (*function)(void))
{
	(void) function;
	return 11;
}

static int64_t clock_ahead_ns;
static int get_timestamp(uint64_t *timestamp)
{
	*timestamp = tap_cupti_now() + (uint64_t) clock_ahead_ns;
	return 0;
}

static int graph_id(void *graph, uint32_t *id)
{
	*id = (uint32_t) (uintptr_t) graph;
	return 0;
}

static int node_id(void *node, uint64_t *id)
{
	*id = (uintptr_t) node;
	return 0;
}

static struct tap_cupti_library library = {
	.ActivityGetNextRecord = next_record,
	.ActivityRegisterTimestampCallback = refuse_clock,
	.GetTimestamp = get_timestamp,
	.GetGraphId = graph_id,
	.GetGraphNodeId = node_id,
	.version = 18,
};

static uint8_t room[4 * RECORD_BYTES] __attribute__((aligned(8)));

static void hand_over(const void *record, size_t size)
{
	memset(room, 0, sizeof(room));
	memcpy(room, record, size);
	tap_cupti_records(&library, room, RECORD_BYTES);
}

static struct tap_cupti_kernel a_kernel(void)
{
	const uint64_t now = tap_cupti_now();
	struct tap_cupti_kernel k = {
		.kind = TAP_CUPTI_CONCURRENT_KERNEL,
		.start = now - 2000,
		.end = now - 1000,
		.stream = 7,
		.correlation_id = 42,
		.name = "add",
		.graph_node = 5,
		.graph = 6,
		.channel = 8,
		.cluster = {1, 2, 3},
	};

	return k;
}

static bool reads_kernels(void)
{
	const struct tap_cupti_kernel k = a_kernel();
	bool is_passed = true;

	library.version = 18;
	hand_over(&k, sizeof(k));
	CHECK(last.kernel.start_ns == k.start && last.kernel.end_ns == k.end);
	CHECK(last.kernel.correlation_id == 42 && last.kernel.stream == 7);
	CHECK(last.kernel.graph == 6 && last.kernel.graph_node == 5);
	CHECK(last.kernel.channel == 8 && last.kernel.clusterZ == 3);
	CHECK(last.kernel.name);
	/* What lies there is the next record's. */
	library.version = 13;
	hand_over(&k, sizeof(k));
	CHECK(!last.kernel.channel && !last.kernel.clusterZ && last.kernel.graph == 6);
	library.version = 17;
	hand_over(&k, sizeof(k));
	CHECK(last.kernel.channel == 8 && !last.kernel.clusterZ);
	library.version = 18;
	return is_passed;
}

static bool counts_nccls_kernels(void)
{
	static struct tap_metrics_page page;
	struct tap_cupti_kernel k = a_kernel();
	bool is_passed = true;

	k.name = "_Z32ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorage";
	hand_over(&k, sizeof(k));
	CHECK(!nccl_kernels);
	tap_metrics_page = &page;
	hand_over(&k, sizeof(k));
	k.name = "ncclKernel_Broadcast_RING_LL_Sum_int8_t";
	hand_over(&k, sizeof(k));
	k.name = "add";
	hand_over(&k, sizeof(k));
	k.name = NULL;
	hand_over(&k, sizeof(k));
	CHECK(nccl_kernels == 2 && nccl_ns == 2000);
	tap_metrics_page = NULL;
	return is_passed;
}

static bool reads_copies(void)
{
	struct tap_cupti_memcpy m = {.kind = TAP_CUPTI_MEMCPY, .bytes = 9, .graph = 3};
	bool is_passed = true;

	m.start = m.end = tap_cupti_now();
	hand_over(&m, sizeof(m));
	CHECK(last.memcpy.bytes == 9 && last.memcpy.graph == 3);
	library.version = 13;
	hand_over(&m, sizeof(m));
	CHECK(last.memcpy.bytes == 9 && !last.memcpy.graph);
	library.version = 18;
	return is_passed;
}

static bool leaves_other_calls_out(void)
{
	struct tap_cupti_api a = {.kind = TAP_CUPTI_DRIVER, .cbid = 307, .result = 2};
	const unsigned before = nr_written;
	bool is_passed = true;

	a.start = a.end = tap_cupti_now();
	hand_over(&a, sizeof(a));
	CHECK(nr_written == before + 1 && last.api.cbid == 307 && last.api.domain == 1);
	a.cbid = 1;
	hand_over(&a, sizeof(a));
	CHECK(nr_written == before + 1);
	return is_passed;
}

static bool counts_what_it_cannot_tell(void)
{
	struct tap_cupti_kernel k = a_kernel();
	const unsigned before = nr_written;
	bool is_passed = true;

	k.start = 0;
	hand_over(&k, sizeof(k));
	hand_over(&k, sizeof(k));
	k = a_kernel();
	k.end += UINT64_C(86400) * 1000000000 * 365;
	hand_over(&k, sizeof(k));
	k = a_kernel();
	k.kind = 4711;
	hand_over(&k, sizeof(k));
	CHECK(nr_written == before);
	tap_cupti_records_emit_lost(3);
	CHECK(nr_zero_time == 2 && nr_other_clock == 1 && nr_unknown == 1);
	CHECK(nr_dropped == 3);
	tap_cupti_records_emit_lost(0);
	CHECK(nr_zero_time == 2 && nr_other_clock == 1 && nr_unknown == 1);
	CHECK(nr_dropped == 3);
	return is_passed;
}

static bool walks_all_records(void)
{
	const struct tap_cupti_kernel k = a_kernel();
	const unsigned before = nr_written;
	bool is_passed = true;
	int i;

	for (i = 0; i < 4; i++)
		memcpy(room + i * RECORD_BYTES, &k, sizeof(k));
	tap_cupti_records(&library, room, sizeof(room));
	CHECK(nr_written == before + 4);
	/* Half a record is none. */
	tap_cupti_records(&library, room, sizeof(room) - 1);
	CHECK(nr_written == before + 7);
	return is_passed;
}

static bool numbers_names(void)
{
	static char first[] = "first", second[] = "second";
	const unsigned before = nr_names;
	bool is_passed = true;
	uint64_t number;

	number = tap_cupti_name(first);
	CHECK(number && tap_cupti_name(first) == number);
	CHECK(tap_cupti_name(second) != number);
	CHECK(nr_names == before + 2);
	/* A module went, and another has its name there. */
	strcpy(first, "third");
	CHECK(tap_cupti_name(first) != number && nr_names == before + 3);
	strcpy(first, "first");
	CHECK(tap_cupti_name(first) == number && nr_names == before + 3);
	CHECK(!tap_cupti_name(NULL) && !nr_problems);
	return is_passed;
}

static bool has_few_buffers(void)
{
	uint8_t *buffers[TAP_CUPTI_NR_BUFFERS];
	bool is_passed = true;
	unsigned i, k;

	CHECK(!tap_cupti_buffer_take());
	CHECK(!tap_cupti_buffers_make());
	for (i = 0; i < TAP_CUPTI_NR_BUFFERS; i++) {
		buffers[i] = tap_cupti_buffer_take();
		CHECK(buffers[i] && !((uintptr_t) buffers[i] % 8));
		buffers[i][0] = buffers[i][TAP_CUPTI_BUFFER_BYTES - 1] = 1;
		for (k = 0; k < i; k++)
			CHECK(buffers[k] != buffers[i]);
	}
	CHECK(!tap_cupti_buffer_take());
	tap_cupti_buffer_drop((uint8_t *) &last);
	CHECK(!tap_cupti_buffer_take());
	tap_cupti_buffer_drop(buffers[3]);
	CHECK(tap_cupti_buffer_take() == buffers[3]);
	return is_passed;
}

static bool compares_clocks(void)
{
	bool is_passed = true;
	int64_t off;

	clock_ahead_ns = INT64_C(5000000000);
	tap_cupti_clock_begin(&library);
	tap_cupti_clock_emit();
	off = last_clock.offset_ns + clock_ahead_ns;
	CHECK(last_clock.kind == TAP_GPU_CLOCK_PAIRS);
	CHECK(off <= (int64_t) last_clock.residual_ns &&
	      -off <= (int64_t) last_clock.residual_ns);
	/* Somebody sets it. */
	clock_ahead_ns -= 1000000000;
	tap_cupti_clock_look(&library);
	off = last_clock.offset_ns + clock_ahead_ns;
	CHECK(nr_clocks == 2 && off <= (int64_t) last_clock.residual_ns);
	tap_cupti_offset_ns = 0;
	return is_passed;
}

static void emit_call(uint32_t cbid, uint32_t site, uint32_t correlation_id)
{
	const struct tap_cupti_callback call = {.site = site,
						.correlation_id = correlation_id};

	tap_cupti_callback(&library, TAP_CUPTI_DOMAIN_DRIVER, cbid, &call);
}

static bool keeps_the_calls_own_number(void)
{
	bool is_passed = true;

	emit_call(307, TAP_CUPTI_ENTER, 1);
	CHECK(!tap_thread.correlation_id);
	tap_thread.cbid = 307;
	emit_call(306, TAP_CUPTI_ENTER, 2);
	emit_call(307, 1, 3);
	CHECK(!tap_thread.correlation_id);
	emit_call(307, TAP_CUPTI_ENTER, 4);
	emit_call(307, TAP_CUPTI_ENTER, 5);
	CHECK(tap_thread.correlation_id == 4);
	return is_passed;
}

static void emit_node(uint32_t what, uintptr_t node, uintptr_t original)
{
	const struct tap_cupti_graph graph = {
		.graph = (void *) 11,
		.node = (void *) node,
		.original_node = (void *) original,
	};
	const struct tap_cupti_resource resource = {.descriptor = &graph};

	tap_cupti_callback(&library, TAP_CUPTI_DOMAIN_RESOURCE, what, &resource);
}

/* After the case before: the thread is in a launch whose number is 4. */
static bool reports_nodes(void)
{
	const unsigned before = nr_written;
	bool is_passed = true;

	tap_thread.call_id = 99;
	emit_node(TAP_CUPTI_GRAPHNODE_CREATED, 21, 0);
	CHECK(nr_written == before);
	tap_cupti_is_reporting = 1;
	emit_node(TAP_CUPTI_GRAPHNODE_CREATED, 21, 20);
	CHECK(nr_written == before + 1 && last.graph_node.graph == 11);
	CHECK(last.graph_node.node == 21 && !last.graph_node.original);
	CHECK(last.graph_node.call_id == 99 && last.graph_node.correlation_id == 4);
	/* The launch is over, its number is still there. */
	tap_thread.cbid = 0;
	emit_node(TAP_CUPTI_GRAPHNODE_CLONED, 31, 21);
	CHECK(last.graph_node.node == 31 && last.graph_node.original == 21);
	CHECK(!last.graph_node.correlation_id);
	emit_node(14, 41, 0);
	CHECK(nr_written == before + 2);
	return is_passed;
}

int main(void)
{
	unsigned i;

	for (i = 0; i < TAP_GPU_HOT_NR; i++) {
		events.gpu.on[i] = &on;
		events.gpu.write[i] = write_record;
	}
	events.gpu.name = write_name;
	events.gpu.clock = write_clock;
	events.gpu.lost = write_lost;

	printf("1..11\n");
	report("a kernel's record is read as far as its release goes", reads_kernels);
	report("so is a copy's", reads_copies);
	report("calls that put nothing on a GPU are left out", leaves_other_calls_out);
	report("what cannot be told is counted, once", counts_what_it_cannot_tell);
	report("all records of a buffer are read", walks_all_records);
	report("a name has a number as long as it is there", numbers_names);
	report("there are eight buffers, and no ninth", has_few_buffers);
	report("without a callback both clocks are read", compares_clocks);
	report("a call's number is the first of its own", keeps_the_calls_own_number);
	report("NCCL's kernels count for --metrics, where they are counted",
	       counts_nccls_kernels);
	report("a node is of the call that it is made in", reports_nodes);
	return 0;
}
