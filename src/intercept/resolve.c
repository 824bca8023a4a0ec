/* SPDX-License-Identifier: MIT */
/*
 * Looks real functions up in the program's scope, then in a library opened with
 * RTLD_LOCAL.
 */
#include "intercept/resolve.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "intercept/dl/elf.h"
#include "intercept/dl/libraries.h"
#include "intercept/dl/real.h"
#include "intercept/dl/walk.h"
#include "intercept/guard.h"
#include "intercept/recorder.h"

void tap_resolve_ask_snapshot(const char *why)
{
	tap_recorder_ask_snapshot(why);
}

struct search {
	const char *soname;
	char path[PATH_MAX];
};

static int find_soname(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	const ElfW(Dyn) *dynamic = NULL;
	const char *soname;
	unsigned i;

	(void) size;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *) (info->dlpi_addr +
						  info->dlpi_phdr[i].p_vaddr);
	soname = dynamic ? tap_elf_soname(info->dlpi_addr, dynamic) : NULL;
	if (!soname || strncmp(soname, search->soname, strlen(search->soname)) != 0)
		return 0;
	snprintf(search->path, sizeof(search->path), "%s", info->dlpi_name);
	return 1;
}

bool tap_resolve_loaded(const char *soname, char *ret_path, size_t size)
{
	struct search search = {.soname = soname};

	if (!tap_walk(find_soname, &search) || !search.path[0])
		return false;
	return snprintf(ret_path, size, "%s", search.path) < (int) size;
}

void *tap_resolve_in(void *handle, const char *name)
{
	return tap_real_dlsym(handle, name);
}

/*
 * A library opened with RTLD_LOCAL is in its opener's scope alone, so it is opened again.
 */
static void *find_in_library(const char *soname, const char *name, const char *version)
{
	struct search search = {.soname = soname};
	void *handle, *found;

	if (!tap_walk(find_soname, &search) || !search.path[0])
		return NULL;
	handle = dlopen(search.path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	found = tap_real_dlvsym_at(handle, name, version);
	dlclose(handle);
	return found;
}

void *tap_resolve_version(const char *soname, const char *name, const char *version)
{
	/*
	 * Called once, so that the error of a failed lookup does not remain for the
	 * program.
	 */
	void *found = NULL;

	(void) tap_real_dlsym(RTLD_DEFAULT, "dlvsym");
	if (!tap_real_dlvsym_at)
		return NULL;
	found = tap_real_dlvsym_at(RTLD_NEXT, name, version);
	if (!found)
		found = find_in_library(soname, name, version);
	if (found)
		tap_library_watch(found);
	else
		(void) dlerror();
	return found;
}

tap_cold void *tap_resolve_anew(struct tap_resolved *r, uint32_t epoch)
{
	const struct tap_guard guard = tap_guard_set();
	void *real = tap_resolve_version(r->soname, r->name, r->version);

	tap_guard_clear(guard);
	__atomic_store_n(&r->real, real, __ATOMIC_RELEASE);
	/* A function that is missing now may be loaded later. */
	__atomic_store_n(&r->epoch, real ? epoch : 0, __ATOMIC_RELEASE);
	return real;
}
