/* SPDX-License-Identifier: MIT */
/* A libibverbs.so.1 made of the rows: nothing but a mirror (fake_verbs.h). */
#include "verbs.h"

#include <errno.h>

int fake_fails;
struct ibv_device fake_device;
union fake_object fake_context = {.first = &fake_device};

/* clang-format off */
#define KEEP(t, n, k) memcpy((void *) &fake_args->n, (const void *) &n, sizeof(n));

/* The one that opens a device gives the context that all others are in. */
#define OBJECT(fn) (!strcmp(#fn, "ibv_open_device") ? &fake_context : &fn##_object)

#define CALL(version, ret_t, absent, fn, ...) \
	struct fn##_args fn##_seen; \
	union fake_object fn##_object; \
	ret_t fake_##fn(PARAMS(__VA_ARGS__)); \
	ret_t fake_##fn(PARAMS(__VA_ARGS__)) \
	{ \
		struct fn##_args *fake_args = &fn##_seen; \
		union fake_object *object = OBJECT(fn); \
		memset((void *) fake_args, 0, sizeof(*fake_args)); \
		ARGS_WALK(KEEP, SEP_NONE, ##__VA_ARGS__) \
		errno = FAKE_ERRNO; \
		object->first = object == &fake_context || \
				!strcmp(#fn, "ibv_import_device") \
					? (void *) &fake_device : (void *) &fake_context; \
		return FAKE_IS_POINTER(ret_t) \
			       ? (ret_t) (uintptr_t) (fake_fails ? NULL : object) \
			       : (ret_t) (uintptr_t) (fake_fails ? FAKE_FAILURE : 0); \
	} \
	__asm__(".symver fake_" #fn ", " #fn "@@" version);
#include "calls/verbs.def"
