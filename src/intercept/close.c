/* SPDX-License-Identifier: MIT */
/*
 * dlclose(): a library that is unloaded takes its functions with it, and what
 * was found in it must be found again.
 */
#include <dlfcn.h>

#include "common/compiler.h"
#include "intercept/cuda/capture.h"
#include "intercept/cuda/cuda.h"
#include "intercept/cuda/functions.h"
#include "intercept/dl/libraries.h"
#include "intercept/entry.h"
#include "intercept/guard.h"
#include "intercept/lookup.h"
#include "intercept/nccl/comm.h"

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
	if (tap_libraries_unloaded()) {
		tap_entries_expire();
		tap_cuda_expire();
		tap_comms_expire();
		tap_capture_expire();
		tap_functions_forget();
	}
	tap_guard_clear(guard);
	return result;
}
