/* SPDX-License-Identifier: MIT */
/* Subscribes to CUPTI, has its records handed over, and unsubscribes. */
#include "cupti/client.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/helper.h"
#include "common/thread.h"
#include "cupti/buffers.h"
#include "cupti/callback.h"
#include "cupti/clock.h"
#include "cupti/library.h"
#include "cupti/names.h"
#include "cupti/owner.h"
#include "cupti/records.h"
#include "intercept/resolve.h"

/* CUPTI, the dynamic linker and LTTng need this much. */
#define STACK_BYTES (1 << 20)

#define FLUSH_NS (TAP_SECOND_NS / 5)
/*
 * A thread that waits for the keeper goes on after PATIENCE_S; after LINKER_MS if the
 * keeper has not got the linker's lock, since the waiting thread may hold it.
 */
#define PATIENCE_S 3
#define LINKER_MS 200

enum wish { WISH_UNKNOWN, WISH_OFF, WISH_KERNELS, WISH_ALL };

static struct tap_cupti_library library;

/*
 * Held while a thread takes CUPTI, lets it go or has records handed over.  The holder
 * makes no call of the program's, and none of CUPTI's that waits for one.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_taken, is_exiting, has_exit_handler; /* under the lock */
static void *subscriber;
static bool records_calls;

/* CUPTI was tried and is not tried again, unless the program lets it go. */
static int is_over;
/*
 * The program has let CUPTI go once, after which the tracer took it again; the tracer
 * does so only once.
 */
static int has_retaken;
static int is_due_again;
static int cuda_has_begun, keeper_runs;
/* Whether the program has CUPTI, and which of its libraries took it. */
static int program_has;
static char program_library[PATH_MAX];

static bool take_lock(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	return !pthread_mutex_clocklock(&lock, CLOCK_MONOTONIC, &until);
}

static enum wish wish(void)
{
	static const char *const names[] = {"off", "kernels", "all"};
	static enum wish known;
	const char *text;
	unsigned i;

	if (known)
		return known;
	text = getenv("CCLTAP_GPU");
	for (i = 0; text && *text && i < ARRAY_SIZE(names); i++)
		if (!strcmp(text, names[i]))
			return known = (enum wish)(WISH_OFF + i);
	known = WISH_KERNELS;
	if (text && *text)
		tap_problem("gpu", "CCLTAP_GPU is not off, kernels or all", 1);
	return known;
}

/* Whether a recording wants what runs on the GPU. */
static bool is_wanted(void)
{
	const struct tap_gpu_events *events;

	if (!tap_has_events() || wish() == WISH_OFF)
		return false;
	events = &tap_events_table->gpu;
	return *events->on[TAP_GPU_kernel] || *events->on[TAP_GPU_memcpy] ||
	       *events->on[TAP_GPU_memcpy_p2p] || *events->on[TAP_GPU_memset];
}

static void emit_owner(const char *state, const char *holder, const char *detail)
{
	const struct tap_gpu_owner owner = {
		.state = state,
		.holder = holder,
		.library = library.path,
		.version = library.version,
		.detail = detail,
	};

	tap_cupti_owner_emit(&owner);
}

/* ---- Functions that CUPTI calls ---- */

static void on_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = tap_cupti_buffer_take();
	*size = *buffer ? TAP_CUPTI_BUFFER_BYTES : 0;
	*max_records = 0;
}

static void on_buffer_completed(void *context, uint32_t stream, uint8_t *buffer,
				size_t size, size_t valid)
{
	const struct tap_guard guard = tap_guard_set();

	(void) context;
	(void) stream;
	(void) size;
	if (buffer && valid && __atomic_load_n(&tap_cupti_is_reporting, __ATOMIC_ACQUIRE))
		tap_cupti_records(&library, buffer, valid);
	tap_cupti_buffer_drop(buffer);
	tap_guard_clear(guard);
}

/* The clock that CUPTI itself uses, for the client that takes CUPTI next. */
static uint64_t time_of_day(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t) ts.tv_sec * 1000000000 + (uint64_t) ts.tv_nsec;
}

/* ---- Under the lock ---- */

static const int kinds[] = {TAP_CUPTI_CONCURRENT_KERNEL, TAP_CUPTI_MEMCPY,
			    TAP_CUPTI_MEMCPY_P2P,	 TAP_CUPTI_MEMSET,
			    TAP_CUPTI_OVERHEAD,		 TAP_CUPTI_SYNCHRONIZATION};
/* The last two have many records, and few recordings want them. */
#define NR_KINDS_OF_WORK 4

static void disable_kinds(void)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (i < NR_KINDS_OF_WORK || wish() == WISH_ALL)
			(void) library.ActivityDisable(kinds[i]);
	if (records_calls)
		(void) tap_cupti_calls_enable(&library, false);
	records_calls = false;
}

/* Fails without records of kernels; reports another kind that cannot be enabled. */
static int enable_kinds(void)
{
	unsigned i;
	int error;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (i >= NR_KINDS_OF_WORK && wish() != WISH_ALL)
			break;
		error = library.ActivityEnable(kinds[i]);
		if (error && !i)
			return error;
		if (error)
			tap_problem("not recorded", "a kind of CUPTI's records", 1);
	}
	if (wish() == WISH_ALL) {
		records_calls = !tap_cupti_calls_enable(&library, true);
		if (!records_calls)
			tap_problem("not recorded", "CUPTI's records of calls", 1);
	}
	return 0;
}

static void report_once(bool *has_reported, const char *detail)
{
	if (!*has_reported)
		tap_problem("not recorded", detail, 1);
	*has_reported = true;
}

static void hand_over(uint32_t flag)
{
	static bool has_reported_records, has_reported_dropped;
	size_t dropped = 0;

	tap_cupti_clock_look(&library);
	if (library.ActivityFlushAll(flag))
		report_once(&has_reported_records,
			    "CUPTI does not hand its records over");
	if (!library.ActivityGetNumDroppedRecords ||
	    library.ActivityGetNumDroppedRecords(NULL, 0, &dropped)) {
		report_once(&has_reported_dropped, "how many records CUPTI dropped");
		dropped = 0;
	}
	tap_cupti_records_emit_lost(dropped);
}

static void let_go(const char *state, const char *holder, const char *detail)
{
	disable_kinds();
	hand_over(TAP_CUPTI_FLUSH_FORCED);
	if (library.ActivityRegisterTimestampCallback)
		(void) library.ActivityRegisterTimestampCallback(time_of_day);
	(void) library.Unsubscribe(subscriber);
	__atomic_store_n(&tap_cupti_is_reporting, 0, __ATOMIC_RELEASE);
	is_taken = false;
	emit_owner(state, holder, detail);
}

static void fail(const char *state, const char *holder, const char *detail)
{
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	emit_owner(state, holder, detail);
}

static void fail_by(const char *function, int error)
{
	char detail[128];

	snprintf(detail, sizeof(detail), "%s: error %d of CUPTI's", function, error);
	fail("failed", "", detail);
}

/* The likely holder when CUPTI does not name it. */
static const char *likely_holder(void)
{
	const char *injected = getenv("CUDA_INJECTION64_PATH");

	if (__atomic_load_n(&program_has, __ATOMIC_ACQUIRE))
		return program_library;
	return injected ? injected : "";
}

static int subscribe(void)
{
	char name[TAP_CUPTI_OLD_NAME_SIZE] = "";
	struct tap_cupti_subscriber_params params = {
		.size = sizeof(params),
		.name = "ccltap",
		.old_name = name,
		.old_size = sizeof(name),
	};
	int error;

	if (library.Subscribe_v2)
		error = library.Subscribe_v2(&subscriber, tap_cupti_callback, &library,
					     &params);
	else
		error = library.Subscribe(&subscriber, tap_cupti_callback, &library);
	name[sizeof(name) - 1] = '\0';
	if (error == TAP_CUPTI_HAS_SUBSCRIBER || error == TAP_CUPTI_MAX_LIMIT)
		fail("refused", *name ? name : likely_holder(),
		     "CUPTI has a subscriber, and takes no second");
	else if (error)
		fail_by("cuptiSubscribe", error);
	return error;
}

static int set_up(void)
{
	int error;

	tap_cupti_clock_begin(&library);
	error = library.ActivityRegisterCallbacks(on_buffer_requested,
						  on_buffer_completed);
	if (error) {
		fail_by("cuptiActivityRegisterCallbacks", error);
		return error;
	}
	error = tap_cupti_callbacks_enable(&library, subscriber);
	if (error)
		tap_problem("gpu", "CUPTI does not report which call a kernel belongs to", 1);
	__atomic_store_n(&tap_cupti_is_reporting, 1, __ATOMIC_RELEASE);
	error = enable_kinds();
	if (error) {
		__atomic_store_n(&tap_cupti_is_reporting, 0, __ATOMIC_RELEASE);
		fail_by("cuptiActivityEnable", error);
	}
	return error;
}

static void take(void)
{
	const char *why;
	int error;

	if (is_taken || is_exiting || __atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		return;
	if (getauxval(AT_SECURE)) {
		fail("failed", "", "the program has more rights than its user");
		return;
	}
	if (__atomic_load_n(&program_has, __ATOMIC_ACQUIRE)) {
		fail("refused", program_library, "the program uses CUPTI itself");
		return;
	}
	error = tap_cupti_open(&library, &why);
	if (!error && tap_cupti_buffers_make()) {
		error = -ENOMEM;
		why = "there is no memory for its records";
	}
	if (error) {
		fail(error == -ENOENT ? "absent" : "failed", "", why);
		return;
	}
	if (subscribe())
		return;
	if (set_up()) {
		disable_kinds();
		(void) library.Unsubscribe(subscriber);
		return;
	}
	is_taken = true;
	emit_owner("taken", "", wish() == WISH_ALL ? "all" : "kernels");
	tap_cupti_clock_emit();
}

/* ---- The end of the process ---- */

static void at_exit(void)
{
	const struct tap_guard guard = tap_guard_set();

	if (take_lock()) {
		if (is_taken && !is_exiting)
			hand_over(TAP_CUPTI_FLUSH_FORCED);
		is_exiting = true;
		pthread_mutex_unlock(&lock);
	}
	tap_guard_clear(guard);
}

/* ---- The keeper: the thread that keeps CUPTI ---- */

/* Whether the keeper takes CUPTI first, or finds it taken. */
enum task { TAKE, KEEP };

/*
 * 1 when the new keeper has tried to take CUPTI, and when it has seen that no thread
 * holds the linker's lock.
 */
static int has_answered, linker_is_free;

static void answer(void)
{
	__atomic_store_n(&has_answered, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &has_answered, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void wait_for_answer(void)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
	const uint64_t begin = tap_cupti_now();
	uint64_t waited_ms = 0;

	/* This thread may hold the linker's lock itself, in a constructor. */
	while (!__atomic_load_n(&has_answered, __ATOMIC_ACQUIRE) &&
	       waited_ms < PATIENCE_S * 1000 &&
	       (waited_ms < LINKER_MS ||
		__atomic_load_n(&linker_is_free, __ATOMIC_ACQUIRE))) {
		syscall(SYS_futex, &has_answered, FUTEX_WAIT_PRIVATE, 0, &pause, NULL, 0);
		waited_ms = (tap_cupti_now() - begin) / 1000000;
	}
}

/* Returns false when there is nothing left to keep. */
static bool look_after(void)
{
	bool goes_on;

	if (!take_lock())
		return true;
	if (is_taken && !is_exiting) {
		if (is_wanted())
			hand_over(0);
		else
			let_go("given_back", "", "nobody records what runs on the GPU");
	}
	goes_on = is_taken && !is_exiting;
	pthread_mutex_unlock(&lock);
	return goes_on;
}

static void take_and_answer(void)
{
	/* Waits for the linker's lock. */
	if (dlopen(NULL, RTLD_LAZY))
		__atomic_store_n(&linker_is_free, 1, __ATOMIC_RELEASE);
	if (take_lock()) {
		take();
		if (is_taken && !has_exit_handler)
			has_exit_handler = !atexit(at_exit);
		pthread_mutex_unlock(&lock);
	}
	answer();
}

/* The program let CUPTI go a moment ago, so what it does then is over. */
static bool take_again(void)
{
	if (!__atomic_exchange_n(&is_due_again, 0, __ATOMIC_ACQ_REL) || !is_wanted())
		return false;
	take_and_answer();
	return true;
}

static bool make_keeper(enum task task);

static void *keep(void *data)
{
	const enum task task = (enum task)(uintptr_t) data;

	prctl(PR_SET_NAME, "ccltap-gpu");
	tap_announce();
	if (task == TAKE)
		take_and_answer();
	do
		tap_helper_rest(FLUSH_NS);
	while (look_after() || take_again());
	__atomic_store_n(&keeper_runs, 0, __ATOMIC_RELEASE);
	/* The thread that set is_due_again found this keeper still running. */
	if (__atomic_load_n(&is_due_again, __ATOMIC_ACQUIRE))
		(void) make_keeper(KEEP);
	return NULL;
}

/* Returns whether it made a keeper. */
static bool make_keeper(enum task task)
{
	if (__atomic_exchange_n(&keeper_runs, 1, __ATOMIC_ACQ_REL))
		return false;
	__atomic_store_n(&has_answered, 0, __ATOMIC_RELEASE);
	if (!tap_helper_make(keep, (void *) (uintptr_t) task, STACK_BYTES))
		return true;
	__atomic_store_n(&keeper_runs, 0, __ATOMIC_RELEASE);
	tap_problem("not recorded",
		    "CUPTI thread failed: what runs on the GPU is not reported", 1);
	return false;
}

/* ---- When CUPTI is taken ---- */

/*
 * libcuda calls InitializeInjection() while it holds a lock that CUPTI takes when it is
 * initialised: so the tracer takes CUPTI in this very thread, as NVIDIA's own tools do.
 */
static void take_inside(void)
{
	if (!take_lock())
		return;
	take();
	if (is_taken && !has_exit_handler)
		has_exit_handler = !atexit(at_exit);
	pthread_mutex_unlock(&lock);
	(void) make_keeper(KEEP);
}

void tap_cupti_begin(bool is_inside)
{
	struct tap_guard guard;
	bool is_waiting = false;

	if (__atomic_exchange_n(&cuda_has_begun, 1, __ATOMIC_ACQ_REL))
		return;
	guard = tap_guard_set();
	if (!guard.was_inside && wish() != WISH_OFF && tap_start(&guard) == TAP_STARTED &&
	    is_wanted()) {
		tap_announce();
		if (is_inside)
			take_inside();
		else
			is_waiting = make_keeper(TAKE);
	}
	tap_guard_clear(guard);
	/* Not under the guard, since a signal handler may jump out of it. */
	if (is_waiting)
		wait_for_answer();
}

/*
 * at_exit() does nothing the second time; this one runs before the handlers that cuInit()
 * registered.
 */
void tap_cupti_has_begun(void)
{
	static int is_registered;
	const struct tap_guard guard = tap_guard_set();

	if (__atomic_load_n(&tap_cupti_is_reporting, __ATOMIC_ACQUIRE) &&
	    !__atomic_exchange_n(&is_registered, 1, __ATOMIC_ACQ_REL))
		(void) atexit(at_exit);
	tap_guard_clear(guard);
}

static void note_program(const void *caller)
{
	Dl_info info;

	if (!dladdr(caller, &info) || !info.dli_fname)
		info.dli_fname = "";
	snprintf(program_library, sizeof(program_library), "%s", info.dli_fname);
	__atomic_store_n(&program_has, 1, __ATOMIC_RELEASE);
}

bool tap_cupti_program_takes(const char *function, const void *caller)
{
	const struct tap_guard guard = tap_guard_set();
	const bool had_it = __atomic_load_n(&program_has, __ATOMIC_ACQUIRE);

	if (take_lock()) {
		note_program(caller);
		if (is_taken)
			let_go("released", program_library, function);
		pthread_mutex_unlock(&lock);
	}
	tap_guard_clear(guard);
	return had_it;
}

void tap_cupti_program_left(void)
{
	const struct tap_guard guard = tap_guard_set();

	if (__atomic_exchange_n(&program_has, 0, __ATOMIC_ACQ_REL) &&
	    __atomic_load_n(&cuda_has_begun, __ATOMIC_ACQUIRE) && is_wanted() &&
	    !__atomic_exchange_n(&has_retaken, 1, __ATOMIC_ACQ_REL)) {
		__atomic_store_n(&is_over, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&is_due_again, 1, __ATOMIC_RELEASE);
		(void) make_keeper(KEEP);
	}
	tap_guard_clear(guard);
}

void tap_cupti_write_statedump(struct tap_state_counts *counts)
{
	(void) counts;
	tap_cupti_owner_write();
	if (__atomic_load_n(&tap_cupti_is_reporting, __ATOMIC_ACQUIRE))
		tap_cupti_clock_emit();
	else if (__atomic_load_n(&cuda_has_begun, __ATOMIC_ACQUIRE) &&
		 !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE) && is_wanted())
		(void) make_keeper(TAKE);
	tap_cupti_names_write();
}

/*
 * If CUDA had begun before the fork, it does not work in the child; nor does CUPTI, whose
 * threads are missing there.
 */
void tap_cupti_fork_child(void)
{
	if (__atomic_load_n(&cuda_has_begun, __ATOMIC_ACQUIRE))
		is_over = has_retaken = 1;
	pthread_mutex_init(&lock, NULL);
	is_taken = is_exiting = false;
	tap_cupti_is_reporting = keeper_runs = is_due_again = 0;
	tap_cupti_names_fork_child();
	tap_cupti_owner_fork_child();
}
