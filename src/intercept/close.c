/* SPDX-License-Identifier: MIT */
/*
 * dlclose(): a library that is unloaded takes its functions with it, and what
 * was found in it must be found again.
 */
#include <dlfcn.h>

#include "common/compiler.h"
#include "intercept/dl/libraries.h"
#include "intercept/dl/real.h"
#include "intercept/guard.h"
#include "intercept/layer.h"

tap_exported int dlclose(void *handle)
{
	static int (*real)(void *);
	struct tap_guard guard;
	int result;

	if (!real)
		real = (int (*)(void *)) tap_real_dlsym(RTLD_NEXT, "dlclose");
	if (!real)
		return -1;
	result = real(handle);
	guard = tap_guard_set();
	if (tap_libraries_unloaded())
		TAP_LAYERS_CALL_BACK(expire);
	tap_guard_clear(guard);
	return result;
}
