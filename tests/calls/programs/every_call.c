/* SPDX-License-Identifier: MIT */
/*
 * TAP: each row, under both of its names, hands every argument, the result and
 * errno through unchanged, whatever stands between this program and the double
 * of the library; and recording it reads not a byte more than the call may read.
 *
 * Arguments are filled with bytes that all differ.  What a kind reads by address
 * ends at a page that cannot be read.
 */
#include <errno.h>
#include <stdint.h>

#include "../doubles/nccl.h"
#include "../guarded.h"
#include "../unasked_read.h"
#include "../../lib/tap.h"

#include "tracepoints/events.h"

/* The fields of kinds.h, evaluated as LTTng would, without LTTng. */
#define lttng_ust_field_integer(type, n, value) take_number((uint64_t) (type) (value));
#define lttng_ust_field_integer_hex lttng_ust_field_integer
#define lttng_ust_field_float(type, n, value) take_number((uint64_t) (type) (value));
#define lttng_ust_field_enum(provider, name, type, n, value) \
	take_number((uint64_t) (type) (value));
#define lttng_ust_field_string(n, value) take_number(strlen(value));
#define lttng_ust_field_sequence(type, n, list, length_type, length) \
	take_number(double_sum(list, sizeof(type) * (size_t) (length)));
#define lttng_ust_field_sequence_hex lttng_ust_field_sequence

static void take_number(uint64_t value)
{
	static volatile uint64_t sink;

	sink = value;
	(void) sink;
}

/*
 * FULL: every address good, lists of three, the call succeeds.  EMPTY: all zero.
 * FAILED: the call fails, and what it would have written lies nowhere.
 */
enum mode { FULL, EMPTY, FAILED, NR_MODES };
static const char *const mode_names[] = {"all good", "all zero", "call fails"};
static const int mode_results[] = {0, 0, -1};

static void point(const void *argument, const void *to)
{
	memcpy((void *) (uintptr_t) argument, &to, sizeof(to));
}

static void *versioned(size_t size, unsigned int magic, unsigned int version)
{
	struct tap_nccl_head *head = guarded(size, 'v');

	head->size = size;
	head->magic = magic;
	head->version = version;
	return head;
}

static const char **string_pointer(void)
{
	const char **pointer = guarded(sizeof(*pointer), 0);

	*pointer = guarded_string("value");
	return pointer;
}

static const struct tap_call *const call = &(const struct tap_call){.comm_id = 1};

/* clang-format off */

/* What each kind needs before a call; the rest of the argument is garbage. */
#define FILL_NOTHING(n)
#define FILL_PTR FILL_NOTHING
#define FILL_COMM FILL_NOTHING
#define FILL_U64 FILL_NOTHING
#define FILL_U32 FILL_NOTHING
#define FILL_I32 FILL_NOTHING
#define FILL_STREAM FILL_NOTHING
#define FILL_COUNT FILL_NOTHING
#define FILL_PEER FILL_NOTHING
#define FILL_ROOT FILL_NOTHING
#define FILL_RESULT FILL_NOTHING
#define FILL_DATATYPE FILL_NOTHING
#define FILL_REDOP FILL_NOTHING
#define FILL_SCALAR_RESIDENCE FILL_NOTHING
#define FILL_MEM_STAT FILL_NOTHING
#define FILL_CFT_TEAM_MODE FILL_NOTHING
#define FILL_TEAM FILL_NOTHING
#define FILL_MULTIMEM FILL_NOTHING
#define FILL_UNIQUE_ID FILL_NOTHING

#define FILL_IN(n, to) point(&a->n, to);
#define FILL_STR(n) FILL_IN(n, guarded_string("a string"))
#define FILL_UNIQUE_ID_PTR(n) FILL_IN(n, guarded(128, 0xa5))
#define FILL_UNIQUE_IDS_nId(n) FILL_IN(n, guarded(3 * 128, 0xa5)) a->nId = 3;
/* The sizes and versions of the oldest headers that have the structure. */
#define FILL_CONFIG(n) FILL_IN(n, versioned(48, TAP_NCCL_MAGIC, 21800)) \
	point((char *) a->n + offsetof(struct tap_nccl_config, netName), \
	      guarded_string("IB"));
#define FILL_COLL_CONFIG(n) FILL_IN(n, versioned(64, TAP_NCCL_MAGIC, 23100)) \
	point((const char *) a->n + offsetof(struct tap_nccl_coll_config, algSelection), \
	      guarded_string("ring"));
#define FILL_ENCRYPTION_CONFIG(n) FILL_IN(n, versioned(32, TAP_NCCL_MAGIC, 23200))
#define FILL_INTS_ndev(n) FILL_IN(n, guarded(3 * 4, 7)) a->ndev = 3;
#define FILL_INTS_excludeRanksCount(n) FILL_IN(n, guarded(3 * 4, 7)) \
	a->excludeRanksCount = 3;
#define FILL_SIGNAL_DESCS_nDesc(n) FILL_IN(n, guarded(3 * 16, 7)) a->nDesc = 3;

#define FILL_OUT(n, to) if (mode == FULL) point(&a->n, to);
#define FILL_OUT_SIM_INFO(n) FILL_OUT(n, versioned(24, TAP_NCCL_SIM_MAGIC, 22203))
#define FILL_OUT_PROPERTIES(n) FILL_OUT(n, versioned(40, TAP_NCCL_MAGIC, 22902))
#define FILL_OUT_HANDLES_ndev(n) FILL_OUT(n, guarded(3 * 8, 9))
#define FILL_OUT_PTR(n) FILL_OUT(n, guarded(8, 9))
#define FILL_OUT_HANDLE(n) FILL_OUT(n, guarded(8, 9))
#define FILL_OUT_I8(n) FILL_OUT(n, guarded(1, 9))
#define FILL_OUT_I16(n) FILL_OUT(n, guarded(2, 9))
#define FILL_OUT_I32(n) FILL_OUT(n, guarded(4, 9))
#define FILL_OUT_I64(n) FILL_OUT(n, guarded(8, 9))
#define FILL_OUT_U8(n) FILL_OUT(n, guarded(1, 9))
#define FILL_OUT_U16(n) FILL_OUT(n, guarded(2, 9))
#define FILL_OUT_U32(n) FILL_OUT(n, guarded(4, 9))
#define FILL_OUT_U64(n) FILL_OUT(n, guarded(8, 9))
#define FILL_OUT_STR(n) FILL_OUT(n, string_pointer())
#define FILL_OUT_RESULT(n) FILL_OUT(n, guarded(4, 9))
#define FILL_OUT_REDOP(n) FILL_OUT(n, guarded(4, 9))
#define FILL_OUT_UNIQUE_ID(n) FILL_OUT(n, guarded(128, 0xa5))

#define GARBAGE(t, n, k) \
	fill_differently((void *) (uintptr_t) &a->n, sizeof(a->n), &seed);
#define GARBAGE_NONE (void) seed;
#define FILL(t, n, k) FILL_##k(n)
#define FILL_NONE (void) a;
#define PASS(t, n, k) a->n
#define PASS_NONE

static void fill_differently(unsigned char *bytes, size_t size, unsigned char *seed)
{
	while (size--)
		*bytes++ = ++*seed;
}

static int report(bool passed, const char *name, enum mode mode)
{
	if (!passed)
		printf("# %s, %s: not what was expected\n", name, mode_names[mode]);
	return !passed;
}

#define THROUGH(ret_t, ret_kind, sym, fn, ...) \
	{ \
		ret_t expected = DOUBLE_RETURN_##ret_kind(double_sum(a, sizeof(*a))); \
		ret_t result; \
		memset((void *) &fn##_seen, 0xee, sizeof(fn##_seen)); \
		errno = 0; \
		result = sym(ARGS_WALK(PASS, SEP_COMMA, ##__VA_ARGS__)); \
		failed += report(errno == DOUBLE_ERRNO && \
			!memcmp(&result, &expected, sizeof(result)) && \
			!memcmp(&fn##_seen, a, sizeof(*a)), #sym, mode); \
	}
#define THROUGH_VOID(sym, fn, ...) \
	{ \
		memset((void *) &fn##_seen, 0xee, sizeof(fn##_seen)); \
		errno = 0; \
		sym(ARGS_WALK(PASS, SEP_COMMA, ##__VA_ARGS__)); \
		failed += report(errno == DOUBLE_ERRNO && \
			!memcmp(&fn##_seen, a, sizeof(*a)), #sym, mode); \
	}

#define TEST(ret_t, both, exit_fields, fn, ...) \
	extern struct fn##_args fn##_seen; \
	ret_t fn(PARAMS(__VA_ARGS__)); \
	ret_t p##fn(PARAMS(__VA_ARGS__)); \
	static int test_##fn(enum mode mode) \
	{ \
		static _Alignas(16) unsigned char room[sizeof(struct fn##_args) + 1]; \
		struct fn##_args *a = (void *) room; \
		unsigned char seed = 0; \
		int failed = 0; \
		memset(room, 0, sizeof(room)); \
		if (mode != EMPTY) { \
			ARGS_WALK(GARBAGE, SEP_NONE, ##__VA_ARGS__) \
			ARGS_WALK(FILL, SEP_NONE, ##__VA_ARGS__) \
		} \
		both \
		{ \
			ARGS_WALK(ARG_READ_ON_ENTRY, SEP_NONE, ##__VA_ARGS__) \
			ARGS_WALK(ARG_ON_ENTRY, SEP_NONE, ##__VA_ARGS__) \
		} \
		exit_fields \
		return failed; \
	}
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	TEST(ret_t, \
	     THROUGH(ret_t, ret_kind, fn, fn, ##__VA_ARGS__) \
	     THROUGH(ret_t, ret_kind, p##fn, fn, ##__VA_ARGS__), \
	     { \
		ret_t ret = DOUBLE_RETURN_##ret_kind(double_sum(a, sizeof(*a))); \
		(void) ret; \
		READ_RET_##ret_kind \
		RET_##ret_kind \
		ARGS_WALK(ARG_READ_ON_EXIT, SEP_NONE, ##__VA_ARGS__) \
		ARGS_WALK(ARG_ON_EXIT, SEP_NONE, ##__VA_ARGS__) \
	     }, fn, ##__VA_ARGS__)
#define CALL_VOID(since, class, fn, ...) \
	TEST(void, \
	     THROUGH_VOID(fn, fn, ##__VA_ARGS__) \
	     THROUGH_VOID(p##fn, fn, ##__VA_ARGS__), \
	     ARGS_WALK(ARG_ON_EXIT, SEP_NONE, ##__VA_ARGS__), fn, ##__VA_ARGS__)
#include "calls/nccl.def"
#undef CALL
#undef CALL_VOID

static const struct {
	const char *name;
	int (*test)(enum mode mode);
} tests[] = {
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) {#fn, test_##fn},
#define CALL_VOID(since, class, fn, ...) {#fn, test_##fn},
#include "calls/nccl.def"
};
/* clang-format on */

int main(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		int failed = 0, mode;

		for (mode = 0; mode < NR_MODES; mode++) {
			double_result = mode_results[mode];
			failed += tests[i].test((enum mode) mode);
		}
		ok(!failed, tests[i].name);
	}
	return tap_done();
}
