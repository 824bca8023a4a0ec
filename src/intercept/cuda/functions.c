/* SPDX-License-Identifier: MIT */
/*
 * A table that is read without a lock, filled from queries to the driver or HIP.
 */
#include "intercept/cuda/functions.h"

#include <string.h>
#include <sys/mman.h>

#include "common/lock.h"
#include "common/safe_read.h"
#include "intercept/dl/libraries.h"
#include "intercept/layer.h"
#include "intercept/trace.h"

#define NR_PLACES 16384
#define NR_PROBES 32
#define NAME_MAX_BYTES 1024

/* In the last bits of a place's state, behind the generation and the kind. */
enum {
	KIND = 3, /* enum tap_function_kind */
	TOLD = 4, /* an event has given it: before, a thread writes its own one */
	FLAGS = 7,
};

/*
 * function is written last; a place of an earlier generation is unknown again.  All of
 * its state is read at once.
 */
struct place {
	CUfunction function;
	uint32_t state;
	const char *name;
};

static struct place places[NR_PLACES];
static uint32_t generation = FLAGS + 1;
static struct tap_lock lock; /* guards writes to places, and names */

static struct {
	char *at;
	size_t left;
} names;

static struct place *first_place(CUfunction function)
{
	const uint64_t hash = ((uintptr_t) function >> 4) * 0x9e3779b97f4a7c15;

	return &places[hash >> 50]; /* 14 bits */
}

static struct place *next_place(struct place *p)
{
	return p + 1 < places + NR_PLACES ? p + 1 : places;
}

static bool is_current(uint32_t state)
{
	return (state & ~(uint32_t) FLAGS) ==
	       __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

static enum tap_function_kind kind_of(const struct place *p)
{
	const uint32_t state = __atomic_load_n(&p->state, __ATOMIC_ACQUIRE);

	if (!is_current(state) || !(state & TOLD))
		return TAP_FUNCTION_UNKNOWN;
	return state & KIND;
}

enum tap_function_kind tap_function_kind(CUfunction function)
{
	struct place *p = first_place(function);
	CUfunction there;
	unsigned i;

	for (i = 0; i < NR_PROBES; i++, p = next_place(p)) {
		there = __atomic_load_n(&p->function, __ATOMIC_ACQUIRE);
		if (there == function)
			return kind_of(p);
		if (!there)
			break;
	}
	return TAP_FUNCTION_UNKNOWN;
}

/* Under the lock; NULL when none of the NR_PROBES places is free. */
static struct place *take_place(CUfunction function)
{
	struct place *p = first_place(function);
	unsigned i;

	for (i = 0; i < NR_PROBES; i++, p = next_place(p))
		if (!p->function || p->function == function)
			return p;
	return NULL;
}

typedef CUresult (*get_name)(const char **name, CUfunction function);

/* The handle may be of what CUDA calls a kernel, which has its own query. */
static const char *ask_driver(CUfunction function)
{
	static const char *const questions[] = {"cuFuncGetName", "cuKernelGetName"};
	void *found[ARRAY_SIZE(questions)];
	const char *name = NULL;
	unsigned i;

	tap_library_functions(NULL, "libcuda.so", questions, found, ARRAY_SIZE(found));
	for (i = 0; i < ARRAY_SIZE(found); i++)
		if (found[i] && !((get_name) found[i])(&name, function) && name)
			return name;
	return "";
}

typedef const char *(*get_module_name)(CUfunction function);
typedef const char *(*get_host_name)(const void *function, CUstream stream);

static const char *ask_hip(CUfunction function, bool is_host)
{
	const char *question = is_host ? "hipKernelNameRefByPtr" : "hipKernelNameRef";
	const char *name = NULL;
	void *found;

	tap_library_functions(NULL, "libamdhip64.so", &question, &found, 1);
	if (found)
		name = is_host ? ((get_host_name) found)(function, NULL)
			       : ((get_module_name) found)(function);
	return name ? name : "";
}

/* Under the lock.  "" when there is no memory. */
static const char *keep(const char *name)
{
	const size_t length = strnlen(name, NAME_MAX_BYTES - 1);
	char *kept;

	if (names.left < length + 1) {
		const size_t size = 256 * 1024;
		void *more = mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (more == MAP_FAILED)
			return "";
		names.at = more;
		names.left = size;
	}
	kept = names.at;
	memcpy(kept, name, length);
	kept[length] = 0;
	/*
	 * In this order: a child forked in between overwrites the name, but not past the
	 * end.
	 */
	names.left -= length + 1;
	names.at += length + 1;
	return kept;
}

static bool begins_with(const char *name, const char *begin)
{
	return !strncmp(name, begin, strlen(begin));
}

/*
 * The name may be mangled: _Z, its length, itself, the types of its parameters.  Those of
 * 2.18 to 2.21 (2.18.3, src/collectives/device/common.h) are looked for, since parameters
 * are read without a size.
 */
static enum tap_function_kind kind_of_name(const char *name)
{
	static const char types[] = "P11ncclDevCommmP8ncclWork";
	const size_t length = strlen(name), types_length = sizeof(types) - 1;
	const bool is_old =
		length > types_length && !strcmp(name + length - types_length, types);

	if (begins_with(name, "_Z"))
		name += 2 + strspn(name + 2, "0123456789");
	if (is_old &&
	    (begins_with(name, "ncclKernel_") || begins_with(name, "ncclDevKernel_")))
		return TAP_FUNCTION_NCCL_OLD;
	return begins_with(name, "ncclDevKernel_") ? TAP_FUNCTION_NCCL
						   : TAP_FUNCTION_OTHER;
}

static void note(CUfunction function, const char *name, uint32_t state)
{
	struct place *p;

	if (!tap_lock_take(&lock))
		return;
	p = take_place(function);
	if (p) {
		if (!p->name || strncmp(p->name, name, NAME_MAX_BYTES - 1) != 0)
			__atomic_store_n(&p->name, keep(name), __ATOMIC_RELEASE);
		__atomic_store_n(&p->state, state, __ATOMIC_RELEASE);
		__atomic_store_n(&p->function, function, __ATOMIC_RELEASE);
	}
	tap_lock_drop(&lock);
}

enum tap_function_kind tap_function_emit(CUfunction function,
					 enum tap_function_asked asked)
{
	/* From here on the address may come to belong to another function. */
	const uint32_t current = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	char copy[NAME_MAX_BYTES];
	const char *name =
		tap_safe_read_string(copy, sizeof(copy),
				     asked == TAP_FUNCTION_OF_DRIVER
					     ? ask_driver(function)
					     : ask_hip(function,
						       asked == TAP_FUNCTION_OF_HOST));
	/* RCCL's kernels have the same names, but other arguments. */
	const enum tap_function_kind kind =
		asked == TAP_FUNCTION_OF_DRIVER ? kind_of_name(name) : TAP_FUNCTION_OTHER;
	const uint32_t state = current | kind;

	/*
	 * HIP identifies a function of the program by an address in the program's
	 * objects.
	 */
	if (asked == TAP_FUNCTION_OF_HOST)
		tap_library_watch(function);
	/*
	 * A recording that begins before the event has the name from its state dump, and
	 * no thread takes it for told before the event is written: then a launch would
	 * come before its name.
	 */
	note(function, name, state);
	tap_events_table->cuda.function((uintptr_t) function, name, false);
	note(function, name, state | TOLD);
	return kind;
}

void tap_functions_forget(void)
{
	__atomic_fetch_add(&generation, FLAGS + 1, __ATOMIC_RELAXED);
}

/* tap:statedump_function for each that is known. */
static void write_statedump(struct tap_state_counts *counts)
{
	unsigned i;

	(void) counts;
	if (!tap_lock_take(&lock))
		return;
	for (i = 0; i < NR_PLACES; i++)
		if (places[i].function && is_current(places[i].state))
			tap_events_table->cuda.function((uintptr_t) places[i].function,
							places[i].name, true);
	tap_lock_drop(&lock);
}

const struct tap_layer tap_layer_functions = {
	.write_statedump = write_statedump,
	.expire = tap_functions_forget,
	.lock = &lock,
};
