/* SPDX-License-Identifier: MIT */
/* Looks for libcupti, opens it, and looks up its functions. */
#include "cupti/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/resolve.h"

#define SONAME "libcupti.so"

/* The newest first; open_any() skips those that are too new for the driver. */
static const struct {
	const char *soname;
	int driver; /* the driver it needs, as cuDriverGetVersion() gives it */
} releases[] = {
	{"libcupti.so.13", 13000},   {"libcupti.so.12", 12000},
	{"libcupti.so.11.8", 11080}, {"libcupti.so.11.7", 11070},
	{"libcupti.so.11.6", 11060}, {"libcupti.so.11.5", 11050},
	{"libcupti.so.11.4", 11040}, {"libcupti.so.11.3", 11030},
	{"libcupti.so.11.2", 11020}, {"libcupti.so.11.1", 11010},
	{"libcupti.so.11.0", 11000},
};

typedef int (*get_version)(int *version);

/* 0 if the driver does not tell; then open_any() tries every release. */
static int driver_version(void)
{
	char path[PATH_MAX];
	get_version ask = NULL;
	void *handle = NULL;
	int version = 0;

	if (tap_resolve_loaded("libcuda.so", path, sizeof(path)))
		handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return 0;
	ask = (get_version) tap_resolve_in(handle, "cuDriverGetVersion");
	if (!ask || ask(&version))
		version = 0;
	dlclose(handle);
	return version;
}

/* folder NULL: where the linker looks. */
static void *open_release(const char *folder, const char *soname)
{
	char path[PATH_MAX];

	if (!folder)
		return dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	if (snprintf(path, sizeof(path), "%s/%s", folder, soname) >= (int) sizeof(path))
		return NULL;
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_any(const char *folder)
{
	const int driver = driver_version();
	void *handle;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(releases); i++) {
		/*
		 * CUPTI works with any driver of its major release, and with any newer
		 * one.
		 */
		if (driver && releases[i].driver / 1000 > driver / 1000)
			continue;
		handle = open_release(folder, releases[i].soname);
		if (handle)
			return handle;
	}
	return NULL;
}

/* Opens a libcupti in the first of these folders below `top` that has one. */
static void *open_below(const char *top, const char *const *folders, unsigned nr)
{
	char folder[PATH_MAX + 64];
	void *handle = NULL;
	unsigned i;

	for (i = 0; i < nr && !handle; i++) {
		snprintf(folder, sizeof(folder), "%s%s", top, folders[i]);
		handle = open_any(folder);
	}
	return handle;
}

/*
 * In NVIDIA's Python packages the runtime is in nvidia/cuda_runtime/lib and CUPTI in
 * nvidia/cuda_cupti/lib; since 13 both are in nvidia/cu13/lib.  A toolkit has CUPTI in
 * extras.
 */
static void *open_beside(const char *soname)
{
	static const char *const suffixes[] = {"", "/../../cuda_cupti/lib",
					       "/../../cu13/lib",
					       "/../extras/CUPTI/lib64"};
	char path[PATH_MAX];
	char *slash;

	if (!tap_resolve_loaded(soname, path, sizeof(path)))
		return NULL;
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return open_below(path, suffixes, ARRAY_SIZE(suffixes));
}

/* Any release in LD_LIBRARY_PATH comes before the newest of the system. */
static void *open_in_path(void)
{
	const char *at = secure_getenv("LD_LIBRARY_PATH");
	char folder[PATH_MAX];
	void *handle = NULL;
	size_t length;

	for (; at && *at && !handle; at += length + (at[length] != '\0')) {
		length = strcspn(at, ":;");
		if (length && length < sizeof(folder)) {
			memcpy(folder, at, length);
			folder[length] = '\0';
			handle = open_any(folder);
		}
	}
	return handle;
}

static void *open_in_toolkit(void)
{
	static const char *const variables[] = {"CUDA_HOME", "CUDA_PATH", NULL};
	static const char *const suffixes[] = {"/extras/CUPTI/lib64", "/lib64"};
	const char *top;
	void *handle = NULL;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(variables) && !handle; i++) {
		top = variables[i] ? secure_getenv(variables[i]) : "/usr/local/cuda";
		if (top && *top)
			handle = open_below(top, suffixes, ARRAY_SIZE(suffixes));
	}
	return handle;
}

static void *open_library(void)
{
	char path[PATH_MAX];
	void *handle = NULL;

	if (tap_resolve_loaded(SONAME, path, sizeof(path)))
		handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		handle = open_beside("libcudart.so");
	if (!handle)
		handle = open_beside("libnccl.so");
	if (!handle)
		handle = open_in_path();
	if (!handle)
		handle = open_any(NULL);
	if (!handle)
		handle = open_in_toolkit();
	/*
	 * A library that is missing leaves an error; the second call frees libc's copy of
	 * it.
	 */
	(void) dlerror();
	(void) dlerror();
	return handle;
}

/*
 * Returns what is missing: the first function that CUPTI cannot be used without; NULL if
 * none.
 */
static const char *find_functions(struct tap_cupti_library *l, void *handle)
{
	const char *missing = NULL;

#define MAY(function, ...) \
	l->function = (int (*)(__VA_ARGS__)) tap_resolve_in(handle, "cupti" #function);
#define NEED(function, ...) \
	MAY(function, __VA_ARGS__) \
	if (!l->function && !missing) \
		missing = "it has no cupti" #function "()";
	TAP_CUPTI_FUNCTIONS(NEED, MAY)
#undef MAY
#undef NEED
	return missing;
}

int tap_cupti_open(struct tap_cupti_library *ret_library, const char **ret_why)
{
	struct tap_cupti_library *l = ret_library;
	void *handle = open_library();
	Dl_info info;

	memset(l, 0, sizeof(*l));
	*ret_why =
		"there is no libcupti.so, or none as old as the driver, beside the CUDA "
		"libraries that are loaded, where the linker looks, or in CUDA_HOME";
	if (!handle)
		return -ENOENT;
	*ret_why = find_functions(l, handle);
	if (l->GetVersion && dladdr((void *) l->GetVersion, &info))
		snprintf(l->path, sizeof(l->path), "%s", info.dli_fname);
	if (l->GetVersion && l->GetVersion(&l->version) && !*ret_why)
		*ret_why = "it does not report its version";
	if (!*ret_why && l->version < TAP_CUPTI_OLDEST)
		*ret_why = "it is older than CUDA 11.0";
	return *ret_why ? -ENOTSUP : 0;
}
