/* SPDX-License-Identifier: MIT */
/*
 * dlclose(): a library that is unloaded takes its functions with it, and what
 * was found in it must be found again.
 */
#include <dlfcn.h>
#include <errno.h>

#include "common/compiler.h"
#include "common/thread.h"
#include "intercept/entry.h"
#include "intercept/libraries.h"
#include "intercept/lookup.h"

tap_exported int dlclose(void *handle)
{
	static int (*real)(void *);
	int result, saved;

	if (!real)
		real = (int (*)(void *)) tap_real_dlsym(RTLD_NEXT, "dlclose");
	if (!real)
		return -1;
	result = real(handle);
	saved = errno;
	if (tap_libraries_unloaded())
		tap_entries_expire();
	errno = saved;
	return result;
}
