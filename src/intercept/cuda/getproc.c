/* SPDX-License-Identifier: MIT */
/*
 * Both versions of cuGetProcAddress(), and HIP's four functions, linked and looked up;
 * and cuInit(), before and after which layers have hooks.
 */
#include "intercept/cuda/getproc.h"

#include <string.h>

#include "common/names.h"
#include "common/safe_read.h"
#include "intercept/cuda/cuda.h"
#include "intercept/dl/libraries.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/wrap.h"

/* The bits of flags, as cuda.h numbers them. */
enum { LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 };

typedef CUresult (*get_v1)(const char *symbol, void **pfn, int version, cuuint64_t flags);
typedef CUresult (*get_v2)(const char *symbol, void **pfn, int version, cuuint64_t flags,
			   CUdriverProcAddressQueryResult *status);

/* One binding of one version.  The entries have no events, only a real function. */
struct binding {
	struct tap_cuda_entry entry;
	bool is_v2;
	void *learnt_from; /* the real function that learn() has queried */
};

static CUresult ask(const struct binding *binding, void *real, const char *symbol,
		    void **pfn, int version, cuuint64_t flags)
{
	return binding->is_v2 ? ((get_v2) real)(symbol, pfn, version, flags, NULL)
			      : ((get_v1) real)(symbol, pfn, version, flags);
}

/*
 * The wrapper whose real function is found, of the first nr names; NULL when there is
 * none.
 */
static void *wrapper_of(const struct tap_cuda_name *names, size_t nr, const void *found)
{
	size_t i, k;

	for (i = 0; i < nr; i++)
		for (k = 0; k < TAP_CUDA_COPIES; k++)
			if (TAP_READ(names[i].looked_up[k].entry->real) == found)
				return names[i].looked_up[k].wrapper;
	return NULL;
}

/*
 * Binds the wrappers of the names that this driver has functions for.  An older driver
 * may return an older version for a later one.  The per-thread-stream variants came with
 * CUDA 7.
 */
static void learn(const struct binding *binding, void *real,
		  const struct tap_cuda_name *names, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		const struct tap_cuda_name *name = &names[i];
		const int version =
			name->per_thread && name->since < 7000 ? 7000 : name->since;
		void *found = NULL;

		if (!ask(binding, real, name->base_name, &found, version,
			 name->per_thread ? PER_THREAD_STREAM : LEGACY_STREAM) &&
		    found && !wrapper_of(names, i, found))
			tap_cuda_bind(name, found);
	}
}

static void replace(struct binding *binding, void *real, const char *symbol, void **pfn);
static void replace_hip(struct binding *binding, void *real, const char *symbol,
			void **pfn);

/* clang-format off */
#define BINDING(linkage, by, sym, from, is_second, is_linked, replaced, params, args) \
	static struct binding sym##_##by = { \
		.entry = {.name = #sym, .library = &from, .linked = is_linked}, \
		.is_v2 = is_second, \
	}; \
	linkage CUresult tap_##by##_##sym params; \
	linkage CUresult tap_##by##_##sym params \
	{ \
		void *real = tap_cuda_real(&sym##_##by.entry); \
		CUresult result; \
		if (unlikely(!real)) \
			return from.missing; \
		result = ((sym##_function) real) args; \
		if (!result && tap_safe_pointer(pfn)) \
			replaced(&sym##_##by, real, symbol, pfn); \
		return result; \
	}
#define BINDINGS(sym, node, from, is_second, replaced, params, args) \
	typedef CUresult (*sym##_function) params; \
	BINDING(tap_exported, linked, sym, from, is_second, true, replaced, params, args) \
	BINDING(static, copy1, sym, from, is_second, false, replaced, params, args) \
	BINDING(static, copy2, sym, from, is_second, false, replaced, params, args) \
	__asm__(".symver tap_linked_" #sym ", " #sym "@" node);

#define CUDA(sym, is_second, params, args) \
	BINDINGS(sym, TAP_VERSION_NODE, tap_cuda_driver, is_second, replace, params, args)
CUDA(cuGetProcAddress, false,
	(const char *symbol, void **pfn, int version, cuuint64_t flags),
	(symbol, pfn, version, flags))
CUDA(cuGetProcAddress_v2, true,
	(const char *symbol, void **pfn, int version, cuuint64_t flags,
	 CUdriverProcAddressQueryResult *status),
	(symbol, pfn, version, flags, status))

/* status points to an enumeration. */
#define HIP(sym, node, params, args) BINDINGS(sym, node, tap_cuda_hip, false, replace_hip, params, args)
#define PROC_ADDRESS(sym, node) \
	HIP(sym, node, (const char *symbol, void **pfn, int version, uint64_t flags, void *status), \
		(symbol, pfn, version, flags, status))
#define ENTRY_POINT(sym, node) \
	HIP(sym, node, (const char *symbol, void **pfn, unsigned long long flags, void *status), \
		(symbol, pfn, flags, status))
PROC_ADDRESS(hipGetProcAddress, "hip_6.1")
PROC_ADDRESS(hipGetProcAddress_spt, "hip_7.2")
ENTRY_POINT(hipGetDriverEntryPoint, "hip_7.1")
ENTRY_POINT(hipGetDriverEntryPoint_spt, "hip_7.1")

typedef CUresult (*cuInit_function)(unsigned int flags);
#define INIT_BINDING(linkage, by, is_linked) \
	static struct tap_cuda_entry cuInit_##by = { \
		.name = "cuInit", .library = &tap_cuda_driver, .linked = is_linked, \
	}; \
	linkage CUresult tap_##by##_cuInit(unsigned int flags); \
	linkage CUresult tap_##by##_cuInit(unsigned int flags) \
	{ \
		void *real = tap_cuda_real(&cuInit_##by); \
		CUresult result; \
		if (unlikely(!real)) \
			return tap_cuda_driver.missing; \
		if (tap_thread.in_tracer) \
			return ((cuInit_function) real)(flags); \
		TAP_LAYERS_CALL(cuda_begins); \
		result = ((cuInit_function) real)(flags); \
		TAP_LAYERS_CALL(cuda_has_begun); \
		return result; \
	}
INIT_BINDING(tap_exported, linked, true)
INIT_BINDING(static, copy1, false)
INIT_BINDING(static, copy2, false)
TAP_EXPORT(cuInit)

#define COPY(sym, by) {&sym##_##by.entry, (void *) tap_##by##_##sym}
#define NAME(sym, base_name, since) \
	{#sym, base_name, since, false, &sym##_linked.entry, {COPY(sym, copy1), COPY(sym, copy2)}}
static const struct tap_cuda_name forms[] = {
	NAME(cuGetProcAddress, "cuGetProcAddress", 11030),
	NAME(cuGetProcAddress_v2, "cuGetProcAddress", 12000),
	{"cuInit", "cuInit", 2000, false, &cuInit_linked,
	 {{&cuInit_copy1, (void *) tap_copy1_cuInit}, {&cuInit_copy2, (void *) tap_copy2_cuInit}}},
}, hip_forms[] = {
	NAME(hipGetProcAddress, "", 0),
	NAME(hipGetProcAddress_spt, "", 0),
	NAME(hipGetDriverEntryPoint, "", 0),
	NAME(hipGetDriverEntryPoint_spt, "", 0),
};
/* clang-format on */

/* Replaces *pfn by its wrapper, if it has one. */
static void replace(struct binding *binding, void *real, const char *symbol, void **pfn)
{
	const struct tap_guard guard = tap_guard_set();
	void *wrapper;

	(void) symbol;
	if (!guard.was_inside) {
		if (__atomic_load_n(&binding->learnt_from, __ATOMIC_ACQUIRE) != real) {
			learn(binding, real, forms, ARRAY_SIZE(forms));
			learn(binding, real, tap_cuda_names, tap_cuda_nr_names);
			__atomic_store_n(&binding->learnt_from, real, __ATOMIC_RELEASE);
		}
		wrapper = wrapper_of(tap_cuda_names, tap_cuda_nr_names, *pfn);
		if (!wrapper)
			wrapper = wrapper_of(forms, ARRAY_SIZE(forms), *pfn);
		if (wrapper)
			*pfn = wrapper;
	}
	tap_guard_clear(guard);
}

/*
 * Whether symbol is the name of found and has a wrapper; then sets *pfn to the wrapper.
 */
static bool is_named(const char *symbol, void *found, void **pfn)
{
	const struct tap_cuda_name *name = tap_cuda_find(symbol);
	void *wrapper, *own = NULL;

	if (!name)
		return false;
	tap_library_functions(found, NULL, &name->name, &own, 1);
	wrapper = own == found ? tap_cuda_bind(name, found) : NULL;
	if (wrapper)
		*pfn = wrapper;
	return wrapper;
}

/*
 * A name means one function, or its per-thread-stream variant, whose name ends in _spt:
 * the library's symbols show which one *pfn is.  A HIP that uses dlsym() itself gets the
 * wrapper there.
 */
static void replace_hip(struct binding *binding, void *real, const char *symbol,
			void **pfn)
{
	static const char end[] = "_spt";
	const struct tap_guard guard = tap_guard_set();
	char name[64]; /* longer than any wrapped name */
	size_t length;

	(void) binding, (void) real;
	tap_safe_read_string(name, sizeof(name), symbol);
	length = strlen(name);
	if (length && !guard.was_inside && !is_named(name, *pfn, pfn) &&
	    length + sizeof(end) <= sizeof(name)) {
		memcpy(name + length, end, sizeof(end));
		is_named(name, *pfn, pfn);
	}
	tap_guard_clear(guard);
}

static const struct tap_cuda_name *find(const struct tap_cuda_name *names, size_t nr,
					const char *name)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (tap_same_name(names[i].name, name))
			return &names[i];
	return NULL;
}

static const struct tap_cuda_name *find_hip(const char *name)
{
	const struct tap_cuda_name *found;

	if (name[1] != 'i' || name[2] != 'p')
		return NULL;
	found = find(tap_hip_names, tap_hip_nr_names, name);
	return found ? found : find(hip_forms, ARRAY_SIZE(hip_forms), name);
}

/* Every dlsym() of the program calls this; names of the runtime begin with "cuda". */
const struct tap_cuda_name *tap_cuda_find(const char *name)
{
	const struct tap_cuda_name *found;

	if (name[0] == 'h')
		return find_hip(name);
	if (name[0] != 'c' || name[1] != 'u' || name[2] < 'A' || name[2] > 'Z')
		return NULL;
	found = find(tap_cuda_names, tap_cuda_nr_names, name);
	return found ? found : find(forms, ARRAY_SIZE(forms), name);
}
