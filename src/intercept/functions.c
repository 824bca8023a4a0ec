/* SPDX-License-Identifier: MIT */
/* A table that is read without a lock, and the driver's answers. */
#include "intercept/functions.h"

#include <string.h>
#include <sys/mman.h>

#include "common/lock.h"
#include "intercept/libraries.h"
#include "intercept/start.h"

#define NR_PLACES 16384
#define NR_PROBES 32
#define NAME_MAX_BYTES 1024

/* function is written last; one of an earlier generation is not known any more. */
struct place {
	CUfunction function;
	uint32_t generation;
	const char *name;
};

static struct place places[NR_PLACES];
static uint32_t generation = 1;
static struct tap_lock lock; /* of whoever writes places, and of the names */

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

static bool is_current(const struct place *p)
{
	return __atomic_load_n(&p->generation, __ATOMIC_RELAXED) ==
	       __atomic_load_n(&generation, __ATOMIC_RELAXED);
}

bool tap_function_is_known(CUfunction function)
{
	struct place *p = first_place(function);
	CUfunction there;
	unsigned i;

	for (i = 0; i < NR_PROBES; i++, p = next_place(p)) {
		there = __atomic_load_n(&p->function, __ATOMIC_ACQUIRE);
		if (there == function)
			return is_current(p);
		if (!there)
			return false;
	}
	return false;
}

/* Under the lock; NULL when there is no room near enough. */
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

/* A function may be what CUDA calls a kernel, which has a question of its own. */
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
	/* In this order: a child forked in between writes over the name, not past the
	 * end. */
	names.left -= length + 1;
	names.at += length + 1;
	return kept;
}

static void note(CUfunction function, const char *name)
{
	struct place *p;

	if (!tap_lock_take(&lock))
		return;
	p = take_place(function);
	if (p) {
		if (!p->name || strncmp(p->name, name, NAME_MAX_BYTES - 1) != 0)
			__atomic_store_n(&p->name, keep(name), __ATOMIC_RELEASE);
		__atomic_store_n(&p->generation, generation, __ATOMIC_RELAXED);
		__atomic_store_n(&p->function, function, __ATOMIC_RELEASE);
	}
	tap_lock_drop(&lock);
}

void tap_function_tell(CUfunction function, enum tap_function_asked asked)
{
	const char *name = asked == TAP_FUNCTION_OF_DRIVER
				   ? ask_driver(function)
				   : ask_hip(function, asked == TAP_FUNCTION_OF_HOST);

	/* HIP knows a function of the program's by an address in its own objects. */
	if (asked == TAP_FUNCTION_OF_HOST)
		tap_library_watch(function);
	note(function, name);
	tap_events_table->cuda.function((uintptr_t) function, name, false);
}

void tap_functions_forget(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELAXED);
}

void tap_functions_write(void)
{
	unsigned i;

	if (!tap_lock_take(&lock))
		return;
	for (i = 0; i < NR_PLACES; i++)
		if (places[i].function && is_current(&places[i]))
			tap_events_table->cuda.function((uintptr_t) places[i].function,
							places[i].name, true);
	tap_lock_drop(&lock);
}

void tap_functions_fork_child(void)
{
	tap_lock_drop(&lock);
}
