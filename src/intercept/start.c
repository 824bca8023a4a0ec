/* SPDX-License-Identifier: MIT */
/*
 * Loads the libraries that use LTTng, once in a process, and keeps LTTng usable across
 * forks.
 */
#include "intercept/start.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/gate.h"
#include "common/helper.h"
#include "common/launcher.h"
#include "common/log.h"
#include "common/ranks.h"
#include "common/thread.h"
#include "intercept/decode.h"
#include "intercept/dl/libraries.h"
#include "intercept/dl/real.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/metrics.h"
#include "intercept/recorder.h"
#include "intercept/statedump.h"
#include "intercept/trace.h"

#define EVENTS_FILE "libccltap-events.so"
#define HIP_FILE "libccltap-events-hip.so"
#define STARTER_STACK_BYTES (1 << 20)
/*
 * How long a late start waits for a recording's events once LTTng is there: with what
 * that took, less than `ccltap start` waits (LOADING_MS in tools/requests.c).
 */
#define LATE_REACH_MS 2000
#define LATE_PAUSE_MS 10
#define UNWISHED_PAUSE_MS 200

/*
 * NOT_STARTED, the id of the process that is starting, ON or OFF.  The thread whose
 * exchange succeeds creates the starter, which stores ON or OFF, for good.  A child
 * forked meanwhile is OFF.
 *
 * COUNTS: not started, since counters alone are wanted; LATE: starting after that, which
 * no thread waits for but one that forks, and ends as ON or OFF, too.
 */
enum { NOT_STARTED = 0, ON = -1, OFF = -2, COUNTS = -3, LATE = -4 };
static pid_t state;
/* The same for HIP's events, which are loaded after the others. */
static pid_t hip_state;
/* Set by the starter once it has taken the linker's lock. */
static int linker_is_free;
/* Set when waiting took too long: then no thread waits again. */
static int gave_up;
/* Calls that were not recorded because LTTng had not started yet. */
static uint64_t nr_passed;
/*
 * False in a new process, including a child of fork(); set by the thread that announces.
 */
static int announced;

bool tap_has_started_late;
/* A late start has loaded LTTng, and has not told yet whether a recording reaches it. */
static bool awaits_events;

/*
 * Once LTTng has started, all events that a session enables are enabled; every recording
 * enables tap:open_call.
 */
static bool is_reached(void)
{
	return *tap_events_table->open_call_on;
}

/* Set by the constructor of libccltap.so. */
static bool is_constructed;

/* Kept between the handlers of one fork, which run in the forking thread. */
static __thread struct {
	bool is_prepared;
	bool has_late; /* the handlers that are registered late do the work */
	struct tap_guard guard;
	sigset_t mask;
} forking __attribute__((tls_model("initial-exec")));

/*
 * Set while the starter registers handlers of fork().  glibc 2.34 and 2.35 hold the lock
 * that this needs while they run such handlers: one that waited for the starter would
 * wait for itself.
 */
static int is_registering;

static pid_t wait_for_starter(const pid_t *at, pid_t starting, bool is_fork);

/*
 * Registered first, so it runs last: the program's own handlers may wait for something
 * that needs LTTng.
 */
static void fork_prepare(void)
{
	const struct tap_guard guard = tap_guard_set();
	const pid_t seen = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	/* The starter itself forks when LTTng creates a user's first file in /dev/shm. */
	if ((seen == getpid() || seen == LATE) && !guard.was_inside)
		wait_for_starter(&state, seen, true);
	if (!forking.has_late && !guard.was_inside)
		tap_helpers_settle();
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == ON) {
		tap_events_table->fork_before(&forking.mask);
		forking.is_prepared = true;
	}
	tap_layers_fork_prepare();
	forking.guard = guard;
}

/*
 * These three are registered when LTTng starts, so the first runs first and the other two
 * last: LTTng and the tracer's threads allocate memory, and the program's allocator has
 * handlers of its own.  A fork that begins before LTTng has started has no work for them;
 * has_late distinguishes the two cases.
 */
static void fork_prepare_late(void)
{
	const struct tap_guard guard = tap_guard_set();

	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == ON) {
		if (!guard.was_inside)
			tap_helpers_settle();
		forking.has_late = true;
	}
	tap_guard_clear(guard);
}

static void fork_parent(void)
{
	if (forking.is_prepared)
		tap_events_table->fork_parent(&forking.mask);
	forking.is_prepared = forking.has_late = false;
}

static void fork_child(void)
{
	if (forking.is_prepared) {
		tap_events_table->fork_child(&forking.mask);
		__atomic_store_n(&announced, 0, __ATOMIC_RELAXED);
		/* The helper that was to tell it is the parent's. */
		if (awaits_events)
			tap_metrics_tell(is_reached() ? TAP_METRICS_ATTACHED
						      : TAP_METRICS_UNABLE);
		awaits_events = false;
	}
	forking.is_prepared = forking.has_late = false;
}

/* The counterparts of fork_prepare(). */
static void fork_parent_early(void)
{
	tap_layers_fork_parent();
	if (!forking.has_late)
		fork_parent();
	tap_guard_clear(forking.guard);
}

/*
 * The starter is the parent's, and LTTng was not told of this fork: what it has loaded so
 * far cannot be used here.  The child's page says so once it is there.
 */
static void forget_start(void)
{
	state = OFF;
	tap_events_table = NULL;
	announced = 0;
	if (tap_has_started_late)
		tap_metrics_tell(TAP_METRICS_UNABLE);
}

static void fork_child_early(void)
{
	tap_gate_fork_child();
	tap_helpers_fork_child();
	tap_layers_fork_child();
	if (state == LATE || state > 0)
		forget_start();
	if (!forking.has_late)
		fork_child();
	tap_guard_clear(forking.guard);
}

__attribute__((constructor)) static void register_early(void)
{
	is_constructed = true;
	if (pthread_atfork(fork_prepare, fork_parent_early, fork_child_early))
		tap_log("start: Cannot follow forks: out of memory");
}

/* Reports to the log and to the recorder, since there is no trace. */
static void fail(const char *why)
{
	tap_log("start: %s", why);
	tap_recorder_notify(why);
}

/* The symbol that the file exports; NULL, and *ret_why, on failure. */
static const void *load(const char *file, const char *symbol, const char **ret_why)
{
	char path[PATH_MAX];
	void *handle;

	if (tap_library_beside(file, path, sizeof(path))) {
		*ret_why = "the path of libccltap.so cannot be found";
		return NULL;
	}
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		*ret_why = dlerror();
		return NULL;
	}
	*ret_why = "its events are of another version than libccltap.so";
	return tap_real_dlsym(handle, symbol);
}

static const struct tap_events *load_events(void)
{
	const char *why;
	const struct tap_events *events = load(EVENTS_FILE, TAP_EVENTS_SYMBOL, &why);

	if (events && events->version == TAP_EVENTS_VERSION)
		return events;
	fail(why);
	return NULL;
}

/* Fills in HIP's rows, which no thread reads before hip_state is ON. */
static pid_t start_hip(void)
{
	const char *why;
	const struct tap_hip_events *events = load(HIP_FILE, TAP_HIP_EVENTS_SYMBOL, &why);

	if (events && events->version == TAP_EVENTS_VERSION) {
		events->fill(tap_events_table->cuda.rows, &tap_gate);
		return ON;
	}
	tap_log("start: %s", why);
	tap_problem("not recorded", "HIP's calls: " HIP_FILE " cannot be used", 1);
	return OFF;
}

static bool has_hip(void)
{
	static const char *const name = "hipGetDeviceCount";
	void *found = NULL;

	tap_library_functions(NULL, "libamdhip64.so", &name, &found, 1);
	return found;
}

/* Yields the processor a few times, since sleeping and waking takes longer. */
static void *wait_at(void *gate)
{
	while (!__atomic_load_n((const int *) gate, __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

static void *end_at_once(void *unused)
{
	return unused;
}

/*
 * LTTng creates two threads.  If it cannot, it goes on, and the program crashes when it
 * exits.  So this function first tries whether two threads can exist at once.
 */
static bool threads_can_be_made(void)
{
	pthread_t first, second;
	bool has_second;
	int gate = 0;

	if (pthread_create(&first, NULL, wait_at, &gate))
		return false;
	has_second = !pthread_create(&second, NULL, end_at_once, NULL);
	__atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
	pthread_join(first, NULL);
	if (has_second)
		pthread_join(second, NULL);
	return has_second;
}

/*
 * LTTng maps sparse files in /dev/shm: if no page is left, the first access to one kills
 * the program.
 */
static bool shared_memory_has_room(void)
{
	struct statvfs fs;

	return statvfs("/dev/shm", &fs) || !fs.f_blocks || fs.f_bavail >= 4;
}

/* A process that does not run this was killed, or ended with _exit(). */
static void at_exit(void)
{
	const struct tap_guard guard = tap_guard_set();

	if (__atomic_load_n(&announced, __ATOMIC_ACQUIRE))
		tap_events_table->process_end();
	tap_guard_clear(guard);
}

/*
 * Whether CCLTAP_RANKS lists this rank; -EINVAL when it is malformed, 1 when it is not
 * set or the rank is unknown.
 */
static int is_rank_wanted(void)
{
	const char *ranks = getenv("CCLTAP_RANKS");
	int32_t rank;
	int has;

	if (!ranks || !*ranks)
		return 1;
	rank = tap_launcher_ask().rank;
	has = tap_ranks_have(ranks, rank);
	return !has && rank < 0 ? 1 : has;
}

/* Before the libraries are loaded, which takes long: a fork may wait for that. */
static bool follow_forks(void)
{
	int error;

	__atomic_store_n(&is_registering, 1, __ATOMIC_RELEASE);
	error = pthread_atfork(fork_prepare_late, fork_parent, fork_child);
	__atomic_store_n(&is_registering, 0, __ATOMIC_RELEASE);
	return !error;
}

static pid_t start(void)
{
	const char *objection = tap_recorder_objection();
	const int is_wanted = is_rank_wanted();
	const struct tap_events *events;

	if (!is_wanted)
		return OFF;
	if (objection) {
		fail(objection);
		return OFF;
	}
	if (!shared_memory_has_room()) {
		fail("/dev/shm is full");
		return OFF;
	}
	if (!threads_can_be_made()) {
		fail("it cannot make threads for LTTng");
		return OFF;
	}
	if (!follow_forks()) {
		fail("it cannot follow forks");
		return OFF;
	}
	events = load_events();
	if (!events)
		return OFF;
	/* If atexit() fails, the trace shows the process as killed. */
	(void) atexit(at_exit);
	tap_gate_prepare();
	events->prepare(&tap_gate);
	__atomic_store_n(&tap_events_table, events, __ATOMIC_RELEASE);
	if (has_hip())
		__atomic_store_n(&hip_state, start_hip(), __ATOMIC_RELEASE);
	if (is_wanted < 0)
		tap_problem("recorded", "CCLTAP_RANKS is no list such as 0,8-15", 1);
	tap_decode_prepare();
	tap_recorder_prepare();
	TAP_LAYERS_CALL(prepare);
	tap_statedump_prepare();
	if (!tap_has_started_late && !is_reached())
		tap_recorder_notify_unreached();
	return ON;
}

/* Stores the result and wakes the waiting threads. */
static void *settle(pid_t *at, pid_t result)
{
	/*
	 * LTTng looks up names that do not exist.  The second call frees libc's copy of
	 * the error: otherwise a sanitizer reports a leak in a program that ends at once.
	 */
	dlerror();
	dlerror();
	__atomic_store_n(at, result, __ATOMIC_RELEASE);
	syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	return NULL;
}

/*
 * A separate thread starts LTTng: its stack is large enough, no thread cancels it, it has
 * its own dlerror() state, and other threads can stop waiting for it.
 */
static void *run_starter(void *unused)
{
	pid_t result;

	/*
	 * Waits for the linker's lock, which a thread in a library's constructor holds.
	 */
	if (dlopen(NULL, RTLD_LAZY))
		__atomic_store_n(&linker_is_free, 1, __ATOMIC_RELEASE);
	result = start();
	settle(&state, result);
	/* The state dump describes what calls made that did not wait for LTTng. */
	if (result == ON && __atomic_load_n(&nr_passed, __ATOMIC_RELAXED))
		tap_statedump_write();
	return unused;
}

/*
 * What was counted until now is recorded from now on.  Without calls the state dump is
 * all that the trace has of this process; LTTng's own request came before it could be
 * heard.
 */
static void record_from_now_on(void)
{
	TAP_LAYERS_CALL(reconsider);
	tap_statedump_write();
}

/*
 * A recording that is started while LTTng is being loaded enables its events some time
 * after it wishes them; one that was stopped meanwhile says nothing until the next.  For
 * a helper thread alone, which no fork waits for meanwhile.
 */
static bool is_reached_soon(void)
{
	int64_t begin_ms = tap_now_ms();

	while (!is_reached() && tap_now_ms() - begin_ms <= LATE_REACH_MS) {
		const bool is_wished = tap_metrics_is_wished();
		const int64_t pause_ms = is_wished ? LATE_PAUSE_MS : UNWISHED_PAUSE_MS;

		if (!is_wished)
			begin_ms = tap_now_ms();
		tap_helper_rest(pause_ms * (TAP_SECOND_NS / 1000));
	}
	return is_reached();
}

/* The same, and no call waits for it. */
static void *run_late_starter(void *unused)
{
	bool is_there;
	pid_t result;

	if (dlopen(NULL, RTLD_LAZY))
		__atomic_store_n(&linker_is_free, 1, __ATOMIC_RELEASE);
	result = start();
	/* Here, and not in the first wrapper that has an event: that may be a proxy's. */
	if (result == ON)
		tap_announce();
	__atomic_store_n(&awaits_events, result == ON, __ATOMIC_RELAXED);
	settle(&state, result);
	if (result == ON)
		record_from_now_on();
	is_there = result == ON && is_reached_soon();
	if (result == ON && !is_there)
		tap_recorder_notify_unreached();
	tap_metrics_tell(is_there ? TAP_METRICS_ATTACHED : TAP_METRICS_UNABLE);
	__atomic_store_n(&awaits_events, false, __ATOMIC_RELAXED);
	return unused;
}

/* A separate thread for the same reasons. */
static void *run_hip_starter(void *unused)
{
	(void) unused;
	return settle(&hip_state, start_hip());
}

/* Reports a process that ended while LTTng was starting, since it is in no trace. */
__attribute__((destructor)) static void report_ended_early(void)
{
	const struct tap_guard guard = tap_guard_set();
	const pid_t seen = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	if (seen == LATE ||
	    (seen == ON && __atomic_load_n(&awaits_events, __ATOMIC_RELAXED) &&
	     tap_metrics_is_wished() && !is_reached()) ||
	    (seen == getpid() && __atomic_load_n(&nr_passed, __ATOMIC_RELAXED)))
		tap_recorder_notify("it ended before LTTng was there");
	tap_guard_clear(guard);
}

/*
 * LTTng's own limit, in milliseconds, for a session daemon that does not answer: 3 s
 * unless the user sets LTTng's variable; -1 there means no limit.
 */
static int64_t limit_ms(void)
{
	const char *text = getenv("LTTNG_UST_REGISTER_TIMEOUT");
	char *end;
	long limit;

	if (!text || !*text)
		return 3000;
	limit = strtol(text, &end, 10);
	if (*end)
		return 3000;
	return limit < 0 ? INT64_MAX : limit;
}

/*
 * Waits up to limit_ms(), but only 0.2 s while the linker's lock is taken: this thread
 * may hold it itself, in a constructor, or the thread that holds it may wait for this
 * one.  The starter wakes this thread, which checks the other conditions every 10 ms.
 * starting: what *at is until it is decided.  A fork stops waiting when the starter waits
 * for it: then the child is not recorded.
 */
static pid_t wait_for_starter(const pid_t *at, pid_t starting, bool is_fork)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
	const int64_t limit = limit_ms();
	const int64_t begin_ns = tap_now_ns();
	bool was_registering = false;
	pid_t seen;

	for (;;) {
		const bool registers =
			is_fork && __atomic_load_n(&is_registering, __ATOMIC_ACQUIRE);
		int64_t waited_ms;

		seen = __atomic_load_n(at, __ATOMIC_ACQUIRE);
		if (seen != starting || (registers && was_registering) ||
		    __atomic_load_n(&gave_up, __ATOMIC_RELAXED))
			return seen;
		was_registering = registers;
		waited_ms = (tap_now_ns() - begin_ns) / 1000000;
		if (waited_ms > limit ||
		    (waited_ms > 200 &&
		     !__atomic_load_n(&linker_is_free, __ATOMIC_ACQUIRE)))
			__atomic_store_n(&gave_up, 1, __ATOMIC_RELAXED);
		syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, starting, &pause, NULL, 0);
	}
}

/*
 * Clears the guard meanwhile: a signal handler may jump out of so long a wait, and would
 * leave the guard set.
 */
static pid_t wait_unguarded(const pid_t *at, struct tap_guard *guard)
{
	const int saved = guard->saved_errno;
	pid_t seen;

	tap_guard_clear(*guard);
	seen = wait_for_starter(at, getpid(), false);
	*guard = tap_guard_set();
	guard->saved_errno = saved;
	return seen;
}

/*
 * Whether the linker has run no constructor yet: it then crashes on dlopen() with
 * RTLD_GLOBAL, which LTTng uses.  libc's constructor is the first and sets the program's
 * name.
 */
static bool is_too_early(void)
{
	return !is_constructed && !program_invocation_name[0];
}

static enum tap_started bring(pid_t *at, void *(*run)(void *), struct tap_guard *guard)
{
	pid_t seen = __atomic_load_n(at, __ATOMIC_ACQUIRE);
	pid_t self;

	if (likely(seen == ON))
		return TAP_STARTED;
	self = getpid();
	if (seen == NOT_STARTED && !is_too_early() &&
	    __atomic_compare_exchange_n(at, &seen, self, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE)) {
		seen = self;
		if (tap_helper_make(run, NULL, STARTER_STACK_BYTES)) {
			seen = OFF;
			__atomic_store_n(at, OFF, __ATOMIC_RELEASE);
		}
	}
	if (seen == self)
		seen = wait_unguarded(at, guard);
	if (seen == self || seen == NOT_STARTED)
		return TAP_STARTING;
	return seen == ON ? TAP_STARTED : TAP_FAILED;
}

enum tap_started tap_start(struct tap_guard *guard)
{
	enum tap_started started;
	pid_t seen = NOT_STARTED;

	if (unlikely(__atomic_load_n(&state, __ATOMIC_RELAXED) == NOT_STARTED) &&
	    tap_metrics_are_alone())
		__atomic_compare_exchange_n(&state, &seen, COUNTS, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	started = bring(&state, run_starter, guard);
	if (started == TAP_STARTING)
		__atomic_fetch_add(&nr_passed, 1, __ATOMIC_RELAXED);
	return started;
}

bool tap_has_started(void)
{
	return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == ON;
}

void tap_start_if_wished(void)
{
	pid_t seen = COUNTS;

	if (!tap_metrics_is_wished() ||
	    !__atomic_compare_exchange_n(&state, &seen, LATE, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		return;
	tap_metrics_tell(TAP_METRICS_BEGUN);
	tap_has_started_late = true;
	if (!tap_helper_make(run_late_starter, NULL, STARTER_STACK_BYTES))
		return;
	__atomic_store_n(&state, OFF, __ATOMIC_RELEASE);
	fail("it cannot make threads for LTTng");
	tap_metrics_tell(TAP_METRICS_UNABLE);
}

enum tap_started tap_start_hip(struct tap_guard *guard)
{
	enum tap_started started = tap_start(guard);

	if (started != TAP_STARTED)
		return started;
	started = bring(&hip_state, run_hip_starter, guard);
	if (started == TAP_STARTING)
		tap_problem("not recorded", "calls made before HIP's events were there",
			    1);
	return started;
}

void tap_announce(void)
{
	uint64_t passed;

	if (likely(__atomic_load_n(&announced, __ATOMIC_ACQUIRE)))
		return;
	if (__atomic_exchange_n(&announced, 1, __ATOMIC_ACQ_REL))
		return;
	TAP_LAYERS_CALL_BACK(announce);
	passed = __atomic_exchange_n(&nr_passed, 0, __ATOMIC_RELAXED);
	if (passed)
		tap_problem("not recorded", "calls made before LTTng was there", passed);
}
