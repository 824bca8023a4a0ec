/* SPDX-License-Identifier: MIT */
/*
 * What the tracer does around a driver's function, and the resolution of each binding.
 */
#include <errno.h>

#include "common/clock.h"
#include "intercept/cuda/capture.h"
#include "intercept/cuda/cuda.h"
#include "intercept/cuda/functions.h"
#include "intercept/cuda/nccl_args.h"
#include "intercept/decode.h"
#include "intercept/dl/libraries.h"
#include "intercept/dl/nccl_version.h"
#include "intercept/entry.h"
#include "intercept/guard.h"
#include "intercept/metrics.h"
#include "intercept/start.h"
#include "intercept/threads.h"
#include "intercept/trace.h"

#define PER_THREAD ((CUstream) 2) /* CU_STREAM_PER_THREAD */

struct tap_cuda_library tap_cuda_driver = {
	.soname = "libcuda.so",
	.missing = 34, /* CUDA_ERROR_STUB_LIBRARY */
	.get_current = "cuCtxGetCurrent",
	.start = tap_start,
};
struct tap_cuda_library tap_cuda_hip = {
	.soname = "libamdhip64.so",
	.missing = 303, /* hipErrorSharedObjectInitFailed */
	.get_current = "hipCtxGetCurrent",
	.start = tap_start_hip,
};

static const int never;
static int open_captures;

/* ---- Resolution of bindings ---- */

static void set_switches(struct tap_cuda_entry *e, const int *const *on)
{
	__atomic_store_n(&e->on[1], on[1], __ATOMIC_RELEASE);
	__atomic_store_n(&e->on[0], on[0], __ATOMIC_RELEASE);
}

void tap_cuda_expire(struct tap_cuda_entry *e)
{
	__atomic_store_n(&e->on[0], &tap_not_ready, __ATOMIC_RELEASE);
	__atomic_store_n(&e->on[1], &tap_not_ready, __ATOMIC_RELEASE);
}

/* Other threads may redirect the switch meanwhile. */
static const int *switch_of(const struct tap_cuda_entry *e, unsigned i)
{
	return __atomic_load_n(&e->on[i], __ATOMIC_ACQUIRE);
}

void *tap_cuda_real(struct tap_cuda_entry *e)
{
	const uint32_t epoch = __atomic_load_n(&tap_epoch, __ATOMIC_ACQUIRE);
	void *real = __atomic_load_n(&e->real, __ATOMIC_ACQUIRE);
	struct tap_guard guard;

	if (!e->linked ||
	    likely(real && __atomic_load_n(&e->epoch, __ATOMIC_ACQUIRE) == epoch))
		return real;
	guard = tap_guard_set();
	real = NULL;
	tap_library_functions(NULL, e->library->soname, &e->name, &real, 1);
	/* If nothing is found, real stays: another thread may be about to call it. */
	if (real) {
		tap_library_watch(real);
		__atomic_store_n(&e->real, real, __ATOMIC_RELEASE);
		__atomic_store_n(&e->epoch, epoch, __ATOMIC_RELEASE);
	}
	tap_guard_clear(guard);
	return real;
}

/* Makes the entry of a copy ready, as tap_entry_prepare() does. */
static void prepare(struct tap_cuda_entry *copy, const struct tap_cuda_entry *linked)
{
	if (__atomic_load_n(&copy->name, __ATOMIC_ACQUIRE))
		return;
	__atomic_store_n(&copy->library, linked->library, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->row, linked->row, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->cbid, linked->cbid, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->per_thread, linked->per_thread, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->on[1], &tap_not_ready, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->on[0], &tap_not_ready, __ATOMIC_RELAXED);
	__atomic_store_n(&copy->name, linked->name, __ATOMIC_RELEASE);
}

/* The real function of an unloaded driver may be replaced. */
static bool binds_to(struct tap_cuda_entry *e, void *found)
{
	void *before = __atomic_load_n(&e->real, __ATOMIC_ACQUIRE);

	if (before == found)
		return true;
	if (before && tap_library_loaded(before))
		return false;
	return __atomic_compare_exchange_n(&e->real, &before, found, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
	       before == found;
}

static bool is_ours(const struct tap_cuda_name *name, const void *found)
{
	unsigned i;

	for (i = 0; i < TAP_CUDA_COPIES; i++)
		if (name->looked_up[i].wrapper == found)
			return true;
	return false;
}

void *tap_cuda_bind(const struct tap_cuda_name *name, void *found)
{
	struct tap_guard guard;
	unsigned i;

	/* A driver or tool may have looked up its own function and got the wrapper. */
	if (is_ours(name, found))
		return found;
	guard = tap_guard_set();
	for (i = 0; i < TAP_CUDA_COPIES; i++) {
		prepare(name->looked_up[i].entry, name->linked);
		if (binds_to(name->looked_up[i].entry, found))
			break;
	}
	if (i == TAP_CUDA_COPIES && !guard.was_inside)
		tap_problem("not recorded", "one CUDA driver too many was looked up", 1);
	tap_guard_clear(guard);
	return i < TAP_CUDA_COPIES ? name->looked_up[i].wrapper : NULL;
}

/* ---- Around a call ---- */

/* Whether events may be written. */
static bool make_ready(struct tap_cuda_entry *e)
{
	struct tap_guard guard = tap_guard_set();
	const bool has_started = tap_has_started();
	const int *const nobody[2] = {&never, has_started ? &never : tap_metrics_wish()};
	bool is_wanted = false;

	if (switch_of(e, 0) == &never && !has_started) {
		tap_start_if_wished();
		tap_guard_clear(guard);
		return false;
	}
	if (switch_of(e, 0) == &tap_not_ready || switch_of(e, 0) == &never) {
		switch (e->library->start(&guard)) {
		case TAP_STARTED:
			tap_capture_find();
			set_switches(e, tap_events_table->cuda.rows[e->row].on);
			break;
		case TAP_FAILED:
			set_switches(e, nobody);
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			/* reconsider() may have been here since the answer. */
			if (!has_started && tap_has_started())
				tap_cuda_expire(e);
			tap_guard_clear(guard);
			return false;
		case TAP_STARTING:
			tap_guard_clear(guard);
			return false;
		}
	}
	is_wanted = *switch_of(e, 0) || *switch_of(e, 1);
	if (is_wanted && !tap_thread.tid)
		tap_thread_know();
	tap_guard_clear(guard);
	return is_wanted;
}

bool tap_cuda_enter(struct tap_cuda_entry *e, struct tap_cuda_common *ret_common)
{
	const int *on = switch_of(e, 0);

	/* The driver's own calls belong to the program's call that they are inside of. */
	if (tap_thread.in_tracer || tap_thread.in_cuda)
		return false;
	if (unlikely(on == &tap_not_ready || on == &never || !tap_thread.tid)) {
		if (!make_ready(e))
			return false;
	} else if (!*on && !*switch_of(e, 1)) {
		return false;
	}
	ret_common->call_id = tap_call_number();
	ret_common->parent_id = tap_thread.call_id;
	ret_common->per_thread = e->per_thread;
	ret_common->runtime = tap_thread.runtime;
	tap_thread.call_id = ret_common->call_id;
	tap_thread.in_cuda = true;
	tap_call_show(ret_common->call_id, e->name, 0, 0, 0);
	return true;
}

typedef CUresult (*get_current)(CUcontext *context);

static uint64_t current_context(struct tap_cuda_library *library)
{
	const uint32_t epoch = __atomic_load_n(&tap_epoch, __ATOMIC_ACQUIRE);
	CUcontext context = NULL;
	void *found = __atomic_load_n(&library->ask, __ATOMIC_ACQUIRE);

	if (unlikely(__atomic_load_n(&library->epoch, __ATOMIC_ACQUIRE) != epoch)) {
		const struct tap_guard guard = tap_guard_set();

		tap_library_functions(NULL, library->soname, &library->get_current,
				      &found, 1);
		if (found)
			tap_library_watch(found);
		__atomic_store_n(&library->ask, found, __ATOMIC_RELEASE);
		__atomic_store_n(&library->epoch, epoch, __ATOMIC_RELEASE);
		tap_guard_clear(guard);
	}
	if (!found || ((get_current) found)(&context))
		return 0;
	return (uintptr_t) context;
}

/*
 * The legacy default stream is never captured; a query during a capture would be an
 * error.
 */
static int8_t capture_of(const struct tap_cuda_common *common,
			 const struct tap_cuda_what *what)
{
	CUstream stream = what->stream;

	if (likely(!__atomic_load_n(&open_captures, __ATOMIC_RELAXED)) ||
	    !what->has_stream)
		return 0;
	if (!stream && common->per_thread)
		stream = PER_THREAD;
	return stream ? (int8_t) tap_stream_capture(stream) : 0;
}

void tap_cuda_capture(int more)
{
	int open = __atomic_load_n(&open_captures, __ATOMIC_RELAXED);

	/* Never below 0: a capture may begin without a wrapper, or end twice. */
	while ((open || more > 0) &&
	       !__atomic_compare_exchange_n(&open_captures, &open, open + more, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static enum tap_function_kind know_function(const struct tap_cuda_what *what)
{
	enum tap_function_kind kind = tap_function_kind(what->function);

	if (unlikely(kind == TAP_FUNCTION_UNKNOWN)) {
		const struct tap_guard guard = tap_guard_set();

		tap_announce();
		kind = tap_function_emit(what->function, what->asked);
		tap_guard_clear(guard);
	}
	return kind;
}

/* Of a kernel of NCCL's.  Returns the event's size in bytes, 0 for nothing. */
static size_t read_nccl_args(struct tap_nccl_args_event *ret_event,
			     const struct tap_cuda_what *what,
			     enum tap_function_kind kind, uint32_t version)
{
	const void *buffer;
	size_t size;

	if (kind == TAP_FUNCTION_NCCL_OLD)
		return what->parameters
			       ? tap_nccl_args_read_parameters(ret_event,
							       what->parameters, version)
			       : 0;
	buffer = tap_nccl_args_buffer(what->extra, &size);
	return buffer ? tap_nccl_args_read(ret_event, buffer, size, version) : 0;
}

/* NCCL launches its kernels itself, so the caller's library is the NCCL. */
static void emit_nccl_args(const struct tap_cuda_common *common,
			   const struct tap_cuda_what *what, enum tap_function_kind kind)
{
	const struct tap_cuda_events *events = &tap_events_table->cuda;
	const uint32_t version = tap_nccl_version_at(what->caller);
	struct tap_nccl_args_event event;
	struct tap_guard guard;
	size_t length;

	if (!*events->nccl_args_on || !tap_is_decoding || !tap_nccl_args_known(version))
		return;
	length = read_nccl_args(&event, what, kind, version);
	if (!length)
		return;
	event.record.call_id = common->call_id;
	guard = tap_guard_set();
	tap_announce();
	events->nccl_args(&event, length);
	tap_guard_clear(guard);
}

void tap_cuda_begin(const struct tap_cuda_entry *e, struct tap_cuda_common *common,
		    const struct tap_cuda_what *what)
{
	const int saved_errno = errno;
	enum tap_function_kind kind;

	common->context = current_context(e->library);
	common->capture = capture_of(common, what);
	kind = what->function ? know_function(what) : TAP_FUNCTION_OTHER;
	if (kind == TAP_FUNCTION_NCCL || kind == TAP_FUNCTION_NCCL_OLD)
		emit_nccl_args(common, what, kind);
	errno = saved_errno;
	tap_thread.correlation_id = 0;
	tap_thread.cbid = e->cbid;
	common->begin_ns = (uint64_t) tap_now_ns();
}

void tap_cuda_wrote(const struct tap_cuda_entry *e, struct tap_cuda_common *record,
		    size_t length)
{
	const struct tap_guard guard = tap_guard_set();

	record->correlation_id = tap_thread.correlation_id;
	tap_thread.cbid = 0;
	tap_announce();
	tap_events_table->cuda.rows[e->row].write(record, length);
	tap_cuda_leave(record);
	tap_guard_clear(guard);
}

void tap_cuda_leave(const struct tap_cuda_common *common)
{
	tap_call_hide(common->call_id);
	tap_thread.call_id = common->parent_id;
	tap_thread.in_cuda = false;
}
