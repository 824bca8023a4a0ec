/* SPDX-License-Identifier: MIT */
/*
 * TAP: each row of verbs.def hands every argument, the result and errno through
 * unchanged, whatever stands between this program and the library double, and whether the
 * call fails or not.  Objects that were made are given to the calls that take such, so
 * that those are known to whoever stands between.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "../doubles/verbs.h"
#include "../guarded.h"
#include "../../lib/tap.h"

/* The newest object of each type, by the type's name. */
static struct {
	const char *type;
	void *object;
} made[32];

static void **newest(const char *type)
{
	unsigned i;

	for (i = 0; made[i].type && strcmp(made[i].type, type) != 0; i++)
		;
	made[i].type = type;
	return &made[i].object;
}

/* Something that may be read as whatever it is. */
static void *something(const char *type)
{
	void **known = newest(type);

	if (!*known)
		*known = guarded(1024, 0);
	return *known;
}

static void fill_differently(void *to, size_t size, unsigned char *seed)
{
	unsigned char *byte = to;

	while (size--)
		*byte++ = ++*seed;
}

/* clang-format off */
#define FILL(t, n, k) \
	if (DOUBLE_IS_POINTER(t)) { \
		void *to = something(#t); \
		memcpy((void *) &a->n, &to, sizeof(to) < sizeof(a->n) ? sizeof(to) : sizeof(a->n)); \
	} else { \
		fill_differently((void *) &a->n, sizeof(a->n), &seed); \
	}
#define PASS(t, n, k) a->n

#define CALL(version, ret_t, absent, fn, ...) \
	static bool through_##fn(bool fails) \
	{ \
		static struct fn##_args args; \
		struct fn##_args *a = &args; \
		unsigned char seed = 0; \
		uintptr_t wanted; \
		ret_t result; \
		int left; \
\
		memset(a, 0, sizeof(*a)); \
		ARGS_WALK(FILL, SEP_NONE, ##__VA_ARGS__) \
		(void) seed; \
		memset(&fn##_seen, 0xee, sizeof(fn##_seen)); \
		double_fails = fails; \
		errno = 0; \
		result = fn(ARGS_WALK(PASS, SEP_COMMA, ##__VA_ARGS__)); \
		left = errno; \
		wanted = !DOUBLE_IS_POINTER(ret_t) ? (fails ? DOUBLE_FAILURE : 0) \
			 : fails ? 0 \
			 : !strcmp(#fn, "ibv_open_device") ? (uintptr_t) &double_context \
							   : (uintptr_t) &fn##_object; \
		if (DOUBLE_IS_POINTER(ret_t) && !fails) \
			*newest(#ret_t) = (void *) (uintptr_t) result; \
		return (uintptr_t) result == wanted && left == DOUBLE_ERRNO && \
		       !memcmp(&fn##_seen, a, sizeof(*a)); \
	}
#include "calls/verbs.def"
#undef CALL

#define CALL(version, ret_t, absent, fn, ...) {#fn, through_##fn},
static const struct {
	const char *name;
	bool (*through)(bool fails);
} rows[] = {
#include "calls/verbs.def"
};
#undef CALL
/* clang-format on */

int main(void)
{
	const unsigned nr = sizeof(rows) / sizeof(rows[0]);
	unsigned i;

	for (i = 0; i < nr; i++) {
		/* What could not be destroyed is known still. */
		const bool failed = rows[i].through(true);
		const bool succeeded = rows[i].through(false);

		ok(failed && succeeded, rows[i].name);
	}
	return tap_done();
}
