/* SPDX-License-Identifier: MIT */
/* A libnccl.so.2 made of the rows: nothing but a mirror (fake_nccl.h). */
#include "nccl.h"

#include <errno.h>

int fake_result = -1;
const char *fake_string;
const char fake_text[64] =
	"sixty-three bytes that end where the arguments of the call say";

/* clang-format off */
#define KEEP(t, n, k) memcpy((void *) &fake_args->n, (const void *) &n, sizeof(n));
#define KEEP_NONE

/* As in the real one, ncclX is weak and the same address as pncclX. */
#define FAKE(ret_t, give, fn, ...) \
	extern struct fn##_args fn##_seen; \
	struct fn##_args fn##_seen; \
	ret_t p##fn(PARAMS(__VA_ARGS__)); \
	ret_t p##fn(PARAMS(__VA_ARGS__)) \
	{ \
		struct fn##_args *fake_args = &fn##_seen; \
		memset((void *) fake_args, 0, sizeof(*fake_args)); \
		ARGS_WALK(KEEP, SEP_NONE, ##__VA_ARGS__) \
		errno = FAKE_ERRNO; \
		give; \
	} \
	ret_t fn(PARAMS(__VA_ARGS__)) __attribute__((weak, alias("p" #fn)));
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	FAKE(ret_t, \
	     return FAKE_RETURN_##ret_kind(fake_sum(fake_args, sizeof(*fake_args))), \
	     fn, ##__VA_ARGS__)
#define CALL_VOID(since, class, fn, ...) FAKE(void, return, fn, ##__VA_ARGS__)
#include "calls/nccl.def"
