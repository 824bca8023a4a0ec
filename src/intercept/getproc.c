/* SPDX-License-Identifier: MIT */
/* Both forms of cuGetProcAddress(), linked and handed out. */
#include "intercept/getproc.h"

#include "intercept/cuda.h"
#include "intercept/elf.h"
#include "intercept/entry.h"
#include "intercept/wrap.h"

/* The bits of flags, as cuda.h numbers them. */
enum { LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 };

typedef CUresult (*get_v1)(const char *symbol, void **pfn, int version, cuuint64_t flags);
typedef CUresult (*get_v2)(const char *symbol, void **pfn, int version, cuuint64_t flags,
			   CUdriverProcAddressQueryResult *status);

/* One way into one form.  Entries without events: only where they lead counts. */
struct way {
	struct tap_cuda_entry entry;
	bool is_v2;
	void *learnt_from; /* the real function that was asked for all forms */
};

static CUresult ask(const struct way *way, void *real, const char *symbol, void **pfn,
		    int version, cuuint64_t flags)
{
	return way->is_v2 ? ((get_v2) real)(symbol, pfn, version, flags, NULL)
			  : ((get_v1) real)(symbol, pfn, version, flags);
}

/* The wrapper that leads to found, among the first nr names; NULL when none does. */
static void *wrapper_of(const struct tap_cuda_name *names, size_t nr, const void *found)
{
	size_t i, k;

	for (i = 0; i < nr; i++)
		for (k = 0; k < TAP_CUDA_COPIES; k++)
			if (names[i].handed_out[k].entry->real == found)
				return names[i].handed_out[k].wrapper;
	return NULL;
}

/*
 * Where the wrappers of these names lead that this driver has functions for.  An older
 * driver may give an older form for a later one.  The forms for the thread's own stream
 * came with CUDA 7.
 */
static void learn(const struct way *way, void *real, const struct tap_cuda_name *names,
		  size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct tap_cuda_name *name = &names[i];
		const int version =
			name->per_thread && name->since < 7000 ? 7000 : name->since;
		void *found = NULL;

		if (!ask(way, real, name->bare, &found, version,
			 name->per_thread ? PER_THREAD_STREAM : LEGACY_STREAM) &&
		    found && !wrapper_of(names, i, found))
			tap_cuda_lead(name, found);
	}
}

static void replace(struct way *way, void *real, void **pfn);

/* clang-format off */
#define WAY(linkage, by, sym, is_second, is_linked, params, args) \
	static struct way sym##_##by = { \
		.entry = {.name = #sym, .library = &tap_cuda_driver, .linked = is_linked}, \
		.is_v2 = is_second, \
	}; \
	linkage CUresult tap_##by##_##sym params; \
	linkage CUresult tap_##by##_##sym params \
	{ \
		void *real = tap_cuda_real(&sym##_##by.entry); \
		CUresult result; \
		if (unlikely(!real)) \
			return tap_cuda_driver.missing; \
		result = ((sym##_function) real) args; \
		if (!result && pfn && *pfn) \
			replace(&sym##_##by, real, pfn); \
		return result; \
	}
#define WAYS(sym, is_second, params, args) \
	typedef CUresult (*sym##_function) params; \
	WAY(tap_exported, linked, sym, is_second, true, params, args) \
	WAY(static, copy1, sym, is_second, false, params, args) \
	WAY(static, copy2, sym, is_second, false, params, args) \
	TAP_EXPORT(sym)

WAYS(cuGetProcAddress, false,
	(const char *symbol, void **pfn, int version, cuuint64_t flags),
	(symbol, pfn, version, flags))
WAYS(cuGetProcAddress_v2, true,
	(const char *symbol, void **pfn, int version, cuuint64_t flags,
	 CUdriverProcAddressQueryResult *status),
	(symbol, pfn, version, flags, status))

#define COPY(sym, by) {&sym##_##by.entry, (void *) tap_##by##_##sym}
static const struct tap_cuda_name forms[] = {
	{"cuGetProcAddress", "cuGetProcAddress", 11030, false, &cuGetProcAddress_linked.entry,
	 {COPY(cuGetProcAddress, copy1), COPY(cuGetProcAddress, copy2)}},
	{"cuGetProcAddress_v2", "cuGetProcAddress", 12000, false, &cuGetProcAddress_v2_linked.entry,
	 {COPY(cuGetProcAddress_v2, copy1), COPY(cuGetProcAddress_v2, copy2)}},
};
/* clang-format on */

/* What the program is given in place of *pfn. */
static void replace(struct way *way, void *real, void **pfn)
{
	const struct tap_guard guard = tap_guard_set();
	void *wrapper;

	if (!guard.was_inside) {
		if (__atomic_load_n(&way->learnt_from, __ATOMIC_ACQUIRE) != real) {
			learn(way, real, forms, ARRAY_SIZE(forms));
			learn(way, real, tap_cuda_names, tap_cuda_nr_names);
			__atomic_store_n(&way->learnt_from, real, __ATOMIC_RELEASE);
		}
		wrapper = wrapper_of(tap_cuda_names, tap_cuda_nr_names, *pfn);
		if (!wrapper)
			wrapper = wrapper_of(forms, ARRAY_SIZE(forms), *pfn);
		if (wrapper)
			*pfn = wrapper;
	}
	tap_guard_clear(guard);
}

const struct tap_cuda_name *tap_getproc_find(const char *name)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		if (tap_elf_same(forms[i].name, name))
			return &forms[i];
	return NULL;
}
