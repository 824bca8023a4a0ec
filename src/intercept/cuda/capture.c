/* SPDX-License-Identifier: MIT */
/*
 * cuStreamIsCapturing(), or HIP's, which has the same arguments and results.
 */
#include "intercept/cuda/capture.h"

#include <stddef.h>

#include "intercept/dl/libraries.h"
#include "intercept/layer.h"

typedef int (*stream_is_capturing)(cudaStream_t stream, int *status);

static stream_is_capturing is_capturing;

void tap_capture_find(void)
{
	static const struct {
		const char *soname, *name;
	} drivers[] = {{"libcuda.so", "cuStreamIsCapturing"},
		       {"libamdhip64.so", "hipStreamIsCapturing"}};
	void *function = NULL;
	unsigned i;

	if (__atomic_load_n(&is_capturing, __ATOMIC_RELAXED))
		return;
	for (i = 0; i < ARRAY_SIZE(drivers) && !function; i++)
		tap_library_functions(NULL, drivers[i].soname, &drivers[i].name,
				      &function, 1);
	if (function)
		tap_library_watch(function);
	__atomic_store_n(&is_capturing, (stream_is_capturing) function, __ATOMIC_RELEASE);
}

/* The unloaded library may be the driver. */
static void expire(void)
{
	const stream_is_capturing function =
		__atomic_load_n(&is_capturing, __ATOMIC_RELAXED);

	if (function && !tap_library_loaded((const void *) function))
		__atomic_store_n(&is_capturing, NULL, __ATOMIC_RELEASE);
}

int tap_stream_capture(cudaStream_t stream)
{
	const stream_is_capturing ask = __atomic_load_n(&is_capturing, __ATOMIC_ACQUIRE);
	int status = 0;

	return ask && !ask(stream, &status) ? status : -1;
}

const struct tap_layer tap_layer_capture = {
	.expire = expire,
};
