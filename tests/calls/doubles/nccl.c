/* SPDX-License-Identifier: MIT */
/* A libnccl.so.2 made of the rows: nothing but a mirror (double_nccl.h). */
#include "nccl.h"

#include <errno.h>

int double_result = -1;
const char *double_string;
const char double_text[64] =
	"sixty-three bytes that end where the arguments of the call say";

/* clang-format off */
#define KEEP(t, n, k) memcpy((void *) &double_args->n, (const void *) &n, sizeof(n));
#define KEEP_NONE

/* As in the real one, ncclX is weak and the same address as pncclX. */
#define DOUBLE(ret_t, give, fn, ...) \
	extern struct fn##_args fn##_seen; \
	struct fn##_args fn##_seen; \
	ret_t p##fn(PARAMS(__VA_ARGS__)); \
	ret_t p##fn(PARAMS(__VA_ARGS__)) \
	{ \
		struct fn##_args *double_args = &fn##_seen; \
		memset((void *) double_args, 0, sizeof(*double_args)); \
		ARGS_WALK(KEEP, SEP_NONE, ##__VA_ARGS__) \
		errno = DOUBLE_ERRNO; \
		give; \
	} \
	ret_t fn(PARAMS(__VA_ARGS__)) __attribute__((weak, alias("p" #fn)));
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	DOUBLE(ret_t, \
	     return DOUBLE_RETURN_##ret_kind(double_sum(double_args, sizeof(*double_args))), \
	     fn, ##__VA_ARGS__)
#define CALL_VOID(since, class, fn, ...) DOUBLE(void, return, fn, ##__VA_ARGS__)
#include "calls/nccl.def"
