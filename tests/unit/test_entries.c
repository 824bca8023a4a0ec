/* SPDX-License-Identifier: MIT */
/*
 * Ways into calls that lead elsewhere while threads go by them.  Built with the thread
 * sanitizer too (test_races.sh).
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "intercept/cuda/capture.h"
#include "intercept/cuda/cuda.h"
#include "intercept/cuda/functions.h"
#include "intercept/cuda/nccl_args.h"
#include "intercept/decode.h"
#include "intercept/dl/libraries.h"
#include "intercept/dl/nccl_version.h"
#include "intercept/entry.h"
#include "intercept/layer.h"
#include "intercept/nccl/nccl_wrap.h"
#include "intercept/recorder.h"
#include "intercept/stack/stack.h"
#include "intercept/start.h"
#include "intercept/threads.h"
#include "unit/tap.h"

#define CHANGES 500
#define NR_CALLERS 3

/* ---- What entry.c and cuda_call.c need ---- */

static const int on = 1;
static struct tap_cuda_row rows[TAP_CUDA_NR];
static struct tap_events events = {.cuda = {.rows = rows, .nccl_args_on = &on}};
const struct tap_events *tap_events_table = &events;
unsigned tap_stack_depth;
bool tap_is_decoding = true;
struct tap_comm tap_no_comm;

static int copies[2], calls;
static char object[4096]; /* who calls lies in its first or its second half */
static unsigned nr_copies = 1;

static ncclResult_t one(int *version)
{
	(void) version;
	__atomic_fetch_add(&copies[0], 1, __ATOMIC_RELAXED);
	return ncclSuccess;
}

static ncclResult_t other(int *version)
{
	(void) version;
	__atomic_fetch_add(&copies[1], 1, __ATOMIC_RELAXED);
	return ncclSuccess;
}

void tap_recorder_notify(const char *why)
{
	(void) why;
}

bool tap_recorder_send_page(int page_fd)
{
	(void) page_fd;
	return true;
}

struct tap_definition tap_library_definition(const char *name, const void *caller)
{
	const unsigned nr = __atomic_load_n(&nr_copies, __ATOMIC_RELAXED);
	const bool is_second = (const char *) caller >= object + sizeof(object) / 2;
	const uintptr_t start = (uintptr_t) object + is_second * sizeof(object) / 2;

	(void) name;
	return (struct tap_definition){
		.function = (void *) (is_second && nr > 1 ? other : one),
		.nr = nr,
		.caller_start = start,
		.caller_end = start + sizeof(object) / 2,
	};
}

void tap_library_functions(const void *address, const char *soname,
			   const char *const *names, void **ret_functions, unsigned nr)
{
	(void) address, (void) soname, (void) names;
	memset(ret_functions, 0, nr * sizeof(*ret_functions));
}

uint32_t tap_library_of(const void *address, uint64_t *ret_offset)
{
	(void) address;
	*ret_offset = 0;
	return 1;
}

uint32_t tap_library_traced(const void *address, const char *layer)
{
	(void) layer;
	return address == (const void *) one ? 1 : 2;
}

bool tap_library_calls_itself(uint32_t library_id, bool inside_call)
{
	(void) library_id, (void) inside_call;
	return false;
}

bool tap_library_loaded(const void *address)
{
	(void) address;
	return true;
}

void tap_library_watch(const void *address)
{
	(void) address;
}

/* False: the process only counts. */
static bool has_started = true;
/* True: LTTng comes right after a thread was told that it has not. */
static bool starts_now;
static bool has_hip = true;
static unsigned wishes_seen, recorded;

enum tap_started tap_start(struct tap_guard *guard)
{
	const enum tap_started started = has_started ? TAP_STARTED : TAP_FAILED;

	(void) guard;
	if (starts_now)
		has_started = true;
	return started;
}

bool tap_has_started(void)
{
	return has_started;
}

void tap_start_if_wished(void)
{
	wishes_seen += tap_metrics_is_wished();
}

enum tap_started tap_start_hip(struct tap_guard *guard)
{
	return has_hip ? tap_start(guard) : TAP_FAILED;
}

void tap_thread_know(void)
{
	tap_thread.tid = 1;
}

uint32_t tap_stack_of(const void *caller)
{
	(void) caller;
	return 0;
}

enum tap_function_kind tap_function_kind(CUfunction function)
{
	(void) function;
	return TAP_FUNCTION_OTHER;
}

enum tap_function_kind tap_function_emit(CUfunction function,
					 enum tap_function_asked asked)
{
	(void) asked;
	return tap_function_kind(function);
}

uint32_t tap_nccl_version_at(const void *address)
{
	(void) address;
	return 0;
}

bool tap_nccl_args_known(uint32_t version)
{
	return version;
}

const void *tap_nccl_args_buffer(void *const *extra, size_t *ret_size)
{
	*ret_size = 0;
	return extra;
}

size_t tap_nccl_args_read_parameters(struct tap_nccl_args_event *ret_event,
				     void *const *parameters, uint32_t version)
{
	(void) ret_event, (void) parameters;
	return version;
}

size_t tap_nccl_args_read(struct tap_nccl_args_event *ret_event, const void *buffer,
			  size_t size, uint32_t version)
{
	(void) ret_event, (void) buffer, (void) version;
	return size;
}

int tap_stream_capture(cudaStream_t stream)
{
	(void) stream;
	return 0;
}

void tap_announce(void)
{
}

void tap_capture_find(void)
{
}

extern const struct tap_layer tap_layer_entry;
const struct tap_layer *const tap_layers[] = {&tap_layer_entry};
const unsigned tap_nr_layers = 1;

void tap_problem(const char *what, const char *detail, uint64_t count)
{
	printf("# %s: %s, %d\n", what, detail, (int) count);
}

/* ---- Ways into NCCL ---- */

typedef ncclResult_t (*ncclGetVersion_function)(int *version);

static ncclResult_t missing(int *version)
{
	(void) version;
	return ncclInternalError;
}

#define WAY(is_linked) \
	{ \
		.entry_on = &tap_not_ready, .exit_on = &tap_not_ready, \
		.name = "ncclGetVersion", .missing = (void *) missing, \
		.row = TAP_ncclGetVersion, .linked = (is_linked) \
	}
static struct tap_entry linked = WAY(true), looked_up = WAY(false);

void tap_entries_each(void (*each)(struct tap_entry *e))
{
	each(&linked);
	each(&looked_up);
}

/* As a wrapper does (nccl_wrap.h). */
static ncclResult_t call(struct tap_entry *e, const void *caller)
{
	ncclGetVersion_function real;
	struct tap_guard guard;
	struct tap_call known;
	ncclResult_t result;

	if (!TAP_SWITCHES(*e))
		return TAP_REAL(ncclGetVersion, *e)(NULL);
	real = (ncclGetVersion_function) tap_call_enter(&known, &guard, e, caller);
	if (!known.call_id)
		return real(NULL);
	__atomic_fetch_add(&recorded, 1, __ATOMIC_RELAXED);
	tap_guard_clear(guard);
	result = real(NULL);
	guard = tap_guard_set();
	tap_call_leave(&known);
	tap_guard_clear(guard);
	return result;
}

/* ---- Ways into the driver ---- */

static struct tap_cuda_entry launch = {
	.on = {&tap_not_ready, &tap_not_ready},
	.name = "cuLaunchKernel",
	.library = &tap_cuda_driver,
	.row = TAP_cuLaunchKernel,
};

static void write_nothing(const void *record, size_t length)
{
	(void) record, (void) length;
}

static struct tap_cuda_entry hip_launch = {
	.on = {&tap_not_ready, &tap_not_ready},
	.name = "hipModuleLaunchKernel",
	.library = &tap_cuda_hip,
	.row = TAP_cuLaunchKernel,
};

static void call_by(struct tap_cuda_entry *e)
{
	struct tap_cuda_common record;

	if (!tap_cuda_enter(e, &record))
		return;
	tap_cuda_begin(e, &record, &(struct tap_cuda_what){0});
	tap_cuda_wrote(e, &record, sizeof(record));
}

static void call_driver(void)
{
	call_by(&launch);
}

/* ---- All at once ---- */

static unsigned changes;

static void *make_calls(void *number)
{
	const char *caller = object + (*(const int *) number & 1) * sizeof(object) / 2;
	unsigned long failed = 0;

	while (__atomic_load_n(&changes, __ATOMIC_ACQUIRE) < CHANGES) {
		failed += call(&linked, caller) != ncclSuccess;
		failed += call(&looked_up, caller) != ncclSuccess;
		call_driver();
		__atomic_fetch_add(&calls, 2, __ATOMIC_RELAXED);
	}
	return (void *) failed;
}

/* A library comes or goes. */
static void *change(void *unused)
{
	unsigned i;

	(void) unused;
	for (i = 0; i < CHANGES; i++) {
		__atomic_store_n(&nr_copies, 1 + i % 2, __ATOMIC_RELAXED);
		TAP_LAYERS_CALL_BACK(expire);
		__atomic_store_n(&launch.on[0], &tap_not_ready, __ATOMIC_RELEASE);
		__atomic_store_n(&launch.on[1], &tap_not_ready, __ATOMIC_RELEASE);
		sched_yield();
		__atomic_fetch_add(&changes, 1, __ATOMIC_ACQ_REL);
	}
	return NULL;
}

static bool test_change(void)
{
	static const int numbers[NR_CALLERS] = {0, 1, 2};
	pthread_t callers[NR_CALLERS], changer;
	bool is_passed = true;
	void *failed;
	int i;

	tap_entry_set(&looked_up, (void *) one);
	pthread_create(&changer, NULL, change, NULL);
	for (i = 0; i < NR_CALLERS; i++)
		pthread_create(&callers[i], NULL, make_calls, (void *) &numbers[i]);
	for (i = 0; i < NR_CALLERS; i++) {
		pthread_join(callers[i], &failed);
		CHECK(!failed);
	}
	pthread_join(changer, NULL);
	CHECK(copies[0] + copies[1] == calls);
	return is_passed;
}

/*
 * A process that only counts looks whether it is to be recorded at each call, with no
 * test of its own, and is recorded from when LTTng is there.
 */
static bool test_wish(void)
{
	static struct tap_metrics_page page;
	bool is_passed = true;

	has_started = false;
	/* The first one asks the environment for a page, and may not have been made yet:
	 * the threads above may have come too late. */
	tap_metrics_begin();
	tap_metrics_page = &page;
	TAP_LAYERS_CALL_BACK(expire);
	launch.on[0] = launch.on[1] = &tap_not_ready;
	tap_entry_set(&looked_up, (void *) one);
	recorded = 0;
	call(&looked_up, object);
	call_driver();
	CHECK(!TAP_SWITCHES(looked_up) && !(*launch.on[0] | *launch.on[1]));
	page.wish = TAP_METRICS_WISH;
	CHECK(TAP_SWITCHES(looked_up) && *launch.on[0] | *launch.on[1]);
	CHECK(!wishes_seen);
	call(&looked_up, object);
	call_driver();
	CHECK(wishes_seen == 2 && !recorded);
	page.wish = 1;
	call(&looked_up, object);
	CHECK(wishes_seen == 2 && !recorded);
	page.wish = TAP_METRICS_WISH;
	/* A thread has pointed the switches before LTTng was there, and no layer after
	 * it. */
	has_started = true;
	call(&looked_up, object);
	CHECK(recorded == 1 && looked_up.entry_on == &on);
	call_driver();
	CHECK(launch.on[0] == &on);
	TAP_LAYERS_CALL(reconsider);
	CHECK(looked_up.entry_on == &tap_not_ready);
	page.wish = TAP_METRICS_NO_WISH;
	call(&looked_up, object);
	CHECK(recorded == 2);
	tap_metrics_page = NULL;
	return is_passed;
}

/* LTTng comes while a call is told that nobody records it. */
static bool test_late(void)
{
	static struct tap_metrics_page page;
	bool is_passed = true;

	tap_metrics_page = &page;
	has_started = false;
	starts_now = true;
	tap_cuda_expire(&launch);
	call_driver();
	starts_now = false;
	CHECK(has_started && launch.on[0] == &tap_not_ready);
	call_driver();
	CHECK(launch.on[0] == &on);
	/* HIP's events are not there: its calls do not look at the wish. */
	page.wish = TAP_METRICS_WISH;
	has_hip = false;
	call_by(&hip_launch);
	CHECK(!(*hip_launch.on[0] | *hip_launch.on[1]));
	tap_metrics_page = NULL;
	return is_passed;
}

int main(void)
{
	events.nccl[TAP_ncclGetVersion].entry_on = &on;
	events.nccl[TAP_ncclGetVersion].exit_on = &on;
	rows[TAP_cuLaunchKernel] = (struct tap_cuda_row){
		.on = {&on, &on},
		.write = write_nothing,
	};
	report("calls go on while what they lead to changes", test_change);
	report("a process that counts is recorded when it is wished", test_wish);
	report("what was decided as LTTng came is decided again", test_late);
	printf("1..%u\n", tap_number);
	return 0;
}
