/* SPDX-License-Identifier: MIT */
/* A libibverbs.so.1 made of the rows: nothing but a mirror (double_verbs.h). */
#include "verbs.h"

#include <errno.h>

int double_fails;
struct ibv_device double_device;
union double_object double_context = {.first = &double_device};

/* clang-format off */
#define KEEP(t, n, k) memcpy((void *) &double_args->n, (const void *) &n, sizeof(n));

/* The one that opens a device gives the context that all others are in. */
#define OBJECT(fn) (!strcmp(#fn, "ibv_open_device") ? &double_context : &fn##_object)

#define CALL(version, ret_t, absent, fn, ...) \
	struct fn##_args fn##_seen; \
	union double_object fn##_object; \
	ret_t double_##fn(PARAMS(__VA_ARGS__)); \
	ret_t double_##fn(PARAMS(__VA_ARGS__)) \
	{ \
		struct fn##_args *double_args = &fn##_seen; \
		union double_object *object = OBJECT(fn); \
		memset((void *) double_args, 0, sizeof(*double_args)); \
		ARGS_WALK(KEEP, SEP_NONE, ##__VA_ARGS__) \
		errno = DOUBLE_ERRNO; \
		object->first = object == &double_context || \
				!strcmp(#fn, "ibv_import_device") \
					? (void *) &double_device : (void *) &double_context; \
		return DOUBLE_IS_POINTER(ret_t) \
			       ? (ret_t) (uintptr_t) (double_fails ? NULL : object) \
			       : (ret_t) (uintptr_t) (double_fails ? DOUBLE_FAILURE : 0); \
	} \
	__asm__(".symver double_" #fn ", " #fn "@@" version);
#include "calls/verbs.def"
