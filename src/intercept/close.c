/* SPDX-License-Identifier: MIT */
/*
 * dlclose(): unloading a library removes its functions, so names resolved to them must be
 * resolved again.
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
