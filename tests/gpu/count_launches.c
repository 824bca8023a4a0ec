/* SPDX-License-Identifier: MIT */
/*
 * Counts the kernels that a program launches, without CUPTI and without ccltap: it hands
 * out launching functions of its own where a program asks for the driver's, with dlsym()
 * or cuGetProcAddress().  Preloaded alone, into a run that is not recorded; what it
 *counted it appends to the file that COUNT_LAUNCHES names, at the end of each process:
 *	PID kernels N graphs N
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *dlsym_fn(void *restrict, const char *restrict);
typedef int ask_fn(const char *, void **, int, uint64_t);
typedef int ask_v2_fn(const char *, void **, int, uint64_t, int *);

/* The arguments of a launch are handed on as they are; it has eleven at most. */
typedef int launch_fn(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
		      uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static unsigned long kernels, graphs;

/* An entry for each function: NAME counts and calls the one that was asked for. */
/* clang-format off */
#define COUNTED(F) \
	F(cuLaunchKernel, kernels) F(cuLaunchKernel_ptsz, kernels) \
	F(cuLaunchKernelEx, kernels) F(cuLaunchKernelEx_ptsz, kernels) \
	F(cuLaunchCooperativeKernel, kernels) F(cuLaunchCooperativeKernel_ptsz, kernels) \
	F(cuGraphLaunch, graphs) F(cuGraphLaunch_ptsz, graphs)

#define COUNT(name, what) \
	static launch_fn *real_##name; \
	static int count_##name(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, \
				uintptr_t e, uintptr_t f, uintptr_t g, uintptr_t h, \
				uintptr_t i, uintptr_t j, uintptr_t k) \
	{ \
		const int result = real_##name(a, b, c, d, e, f, g, h, i, j, k); \
	\
		if (!result) \
			__atomic_fetch_add(&what, 1, __ATOMIC_RELAXED); \
		return result; \
	}
COUNTED(COUNT)

#define ENTRY(name, what) {#name, &real_##name, count_##name},
static const struct {
	const char *name;
	launch_fn **real;
	launch_fn *count;
} counted[] = {COUNTED(ENTRY)};
/* clang-format on */

/* What takes the place of `found`, that was asked for as `name`. */
static void *in_place_of(void *found, const char *name)
{
	size_t i;

	for (i = 0; found && i < sizeof(counted) / sizeof(counted[0]); i++)
		if (!strcmp(name, counted[i].name)) {
			*(void **) counted[i].real = found;
			return (void *) counted[i].count;
		}
	return found;
}

static void *asked(void *found, const char *name, uint64_t flags)
{
	char twin[64];

	if (flags & 2) { /* per thread: another function of that name */
		snprintf(twin, sizeof(twin), "%s_ptsz", name);
		return in_place_of(found, twin);
	}
	return in_place_of(found, name);
}

static ask_fn *real_ask;
static ask_v2_fn *real_ask_v2;
static int count_ask(const char *name, void **found, int version, uint64_t flags);

static int count_ask_v2(const char *name, void **found, int version, uint64_t flags,
			int *status)
{
	const int result = real_ask_v2(name, found, version, flags, status);

	if (result || !found || !*found)
		return result;
	if (strcmp(name, "cuGetProcAddress"))
		*found = asked(*found, name, flags);
	else if (version >= 12000)
		*found = (void *) count_ask_v2;
	else {
		*(void **) &real_ask = *found;
		*found = (void *) count_ask;
	}
	return 0;
}

static int count_ask(const char *name, void **found, int version, uint64_t flags)
{
	const int result = real_ask(name, found, version, flags);

	if (result || !found || !*found)
		return result;
	if (strcmp(name, "cuGetProcAddress"))
		*found = asked(*found, name, flags);
	else if (version < 12000)
		*found = (void *) count_ask;
	else {
		*(void **) &real_ask_v2 = *found;
		*found = (void *) count_ask_v2;
	}
	return 0;
}

static void *of_driver(void *found, const char *name)
{
	if (!found)
		return NULL;
	if (!strcmp(name, "cuGetProcAddress")) {
		*(void **) &real_ask = found;
		return (void *) count_ask;
	}
	if (!strcmp(name, "cuGetProcAddress_v2")) {
		*(void **) &real_ask_v2 = found;
		return (void *) count_ask_v2;
	}
	return in_place_of(found, name);
}

/*
 * Who asks for another name is led on by a jump, for which this has to be optimised:
 * glibc looks who called where the handle is RTLD_NEXT.
 */
void *dlsym(void *restrict handle, const char *restrict name)
{
	static dlsym_fn *next;

	if (!next)
		*(void **) &next = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (handle == RTLD_NEXT || handle == RTLD_DEFAULT ||
	    (strncmp(name, "cuL", 3) && strncmp(name, "cuG", 3)))
		return next(handle, name);
	return of_driver(next(handle, name), name);
}

static void __attribute__((destructor)) tell(void)
{
	const char *path = getenv("COUNT_LAUNCHES");
	FILE *file = path && kernels + graphs ? fopen(path, "a") : NULL;

	if (!file)
		return;
	fprintf(file, "%d kernels %lu graphs %lu\n", (int) getpid(), kernels, graphs);
	fclose(file);
}
