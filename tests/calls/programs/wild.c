/* SPDX-License-Identifier: MIT */
/*
 * Calls each row with arguments that no library could use, against one that looks at none
 * of them: rows of NCCL, with TAP_CUDA of the driver, with TAP_HIP too of HIP, with
 * TAP_VERBS of libibverbs, whose arguments all have to be there.
 *
 * usage: wild HOW		# all that may not die, whatever they are given
 *        wild HOW NAME		# one
 *        wild --readable	# the names of those whose arguments have to be there
 *        wild --beat		# calls one row until its standard input ends; how often
 *
 * HOW is one of the names below.  What a call returned is told, a line for each.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef TAP_CUDA
#include "../doubles/cuda.h"
#elif defined TAP_VERBS
#include "../doubles/verbs.h"
#else
#define TAP_NCCL
#include "../doubles/nccl.h"
#endif
#include "../guarded.h"

#include "calls/kinds.h"

#define WILD ((void *) (uintptr_t) 0xdead000)

/* ---- Where pointers lead ---- */

static void *wild(void)
{
	return WILD;
}

static void *zeros(void)
{
	static uint64_t bytes[4096];

	return bytes;
}

/* What is longer than this many bytes is not all there; and no string ends. */
static void *unterminated(void)
{
	static void *bytes;

	if (!bytes)
		bytes = guarded(8, 'x');
	return bytes;
}

#define HEAD \
	{ \
		.size = 4096, .magic = magic, .version = 99999 \
	}
static unsigned int magic = 0xcafebeef;

/* As NCCL's structures begin, and then nothing. */
static void *cut(void)
{
	static struct tap_nccl_head *head;

	if (!head)
		head = guarded(sizeof(*head), 0);
	*head = (struct tap_nccl_head) HEAD;
	return head;
}

/* As they begin, and all that they point to is nowhere. */
static void *lost(void)
{
	static struct {
		struct tap_nccl_head head;
		void *words[1024];
	} bytes;
	size_t i;

	bytes.head = (struct tap_nccl_head) HEAD;
	for (i = 0; i < 1024; i++)
		bytes.words[i] = WILD;
	return &bytes;
}

static void *null(void)
{
	return NULL;
}

static const struct {
	const char *name;
	void *(*pointer)(void);
	int number;
} ways[] = {
	{"null", null, 0},    {"wild", wild, 3},
	{"zero", zeros, 3},   {"unterminated", unterminated, 3},
	{"many", wild, 4000}, {"cut", cut, 3},
	{"lost", lost, 3},
};
static unsigned int way;

/* A pointer, a number, or a structure by value. */
static void fill(void *argument, size_t size, bool is_pointer)
{
	void *pointer = ways[way].pointer();
	const int number = ways[way].number;

	memset(argument, 0, size);
	if (is_pointer)
		memcpy(argument, &pointer, sizeof(pointer));
	else
		memcpy(argument, &number, size < sizeof(number) ? size : sizeof(number));
}

/* clang-format off */

#define ARGUMENT(t, n, k) \
	t n; \
	fill((void *) (uintptr_t) &n, sizeof(n), TAP_IS_POINTER(t));
#define ARGUMENT_NONE
#define FILL_AND_CALL(tell, sym, ...) \
	static void call_##sym(void) \
	{ \
		ARGS_WALK(ARGUMENT, SEP_NONE, ##__VA_ARGS__) \
		tell(sym, sym(NAMES(__VA_ARGS__))); \
	}
#define TELL_NUMBER(sym, result) printf(#sym " %" PRId64 "\n", (int64_t) (result))
#define TELL_RESULT TELL_NUMBER
#define TELL_STR(sym, result) printf(#sym " %p\n", (const void *) (result))
/* What the double makes of addresses differs from run to run. */
#define TELL_I32 TELL_VOID
#define TELL_SKIP TELL_VOID
#define TELL_VOID(sym, call) (void) (call), puts(#sym)

/* Work of a GPU is recorded too often to ask the kernel about its arguments. */
#define READABLE(t, n, k) || READABLE_##k
#define READABLE_NONE
#define READABLE_SKIP 0
#define READABLE_PTR 0
#define READABLE_DPTR 0
#define READABLE_U64 0
#define READABLE_U32 0
#define READABLE_U16 0
#define READABLE_U8 0
#define READABLE_I32 0
#define READABLE_DIM3 0
#define READABLE_PITCHED 0
#define READABLE_EXTENT 0
#define READABLE_FUNCTION 0
#define READABLE_MODULE_FUNCTION 0
#define READABLE_HOST_FUNCTION 0
#define READABLE_PARAMETERS 0
#define READABLE_EXTRA 0
#define READABLE_STREAM 0
#define READABLE_BYTES 0
#define READABLE_GRAPH_EXEC 0
#define READABLE_GRID 0
#define READABLE_GRID3 0
#define READABLE_LAUNCH_CONFIG 1
#define READABLE_HIP_CONFIG 1
#define READABLE_HIP_DRIVER_CONFIG 1
#define READABLE_COPY2D 1
#define READABLE_COPY3D 1
#define READABLE_SIZES_count 1
#define READABLE_WORK(...) (0 ARGS_WALK(READABLE, SEP_NONE, ##__VA_ARGS__))
#define READABLE_WAIT(...) 0
#define READABLE_SETUP(...) 0
#define READABLE_CAPTURE(...) 0
#define READABLE_CAPTURED(...) 0
#define READABLE_UNLOAD(...) 0

#ifdef TAP_CUDA
#define DECLARE(sym, ...) CUresult sym(PARAMS(__VA_ARGS__));
#define TEST(sym, ...) \
	DECLARE(sym, ##__VA_ARGS__) \
	FILL_AND_CALL(TELL_NUMBER, sym, ##__VA_ARGS__)
#define CALL_ALONE(since, class, does, api, fn, ...) TEST(fn, ##__VA_ARGS__)
#define CALL(since, class, does, api, fn, variant, ...) \
	TEST(fn, ##__VA_ARGS__) TEST(variant, ##__VA_ARGS__)
#include ROWS
#undef CALL
#undef CALL_ALONE
#elif defined TAP_VERBS
#define CALL(version, ret_t, absent, fn, ...) \
	FILL_AND_CALL(TELL_VOID, fn, ##__VA_ARGS__)
#include "calls/verbs.def"
#undef CALL
#else
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	ret_t fn(PARAMS(__VA_ARGS__)); \
	FILL_AND_CALL(TELL_##ret_kind, fn, ##__VA_ARGS__)
#define CALL_VOID(since, class, fn, ...) \
	void fn(PARAMS(__VA_ARGS__)); \
	FILL_AND_CALL(TELL_VOID, fn, ##__VA_ARGS__)
#include "calls/nccl.def"
#undef CALL
#undef CALL_VOID
#endif

static const struct {
	const char *name;
	void (*call)(void);
	bool is_readable;
} rows[] = {
#ifdef TAP_CUDA
#define CALL_ALONE(since, class, does, api, fn, ...) \
	{#fn, call_##fn, READABLE_##class(__VA_ARGS__)},
#define CALL(since, class, does, api, fn, variant, ...) \
	{#fn, call_##fn, READABLE_##class(__VA_ARGS__)}, \
	{#variant, call_##variant, READABLE_##class(__VA_ARGS__)},
#include ROWS
#elif defined TAP_VERBS
#define CALL(version, ret_t, absent, fn, ...) {#fn, call_##fn, true},
#include "calls/verbs.def"
#else
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) {#fn, call_##fn, false},
#define CALL_VOID(since, class, fn, ...) {#fn, call_##fn, false},
#include "calls/nccl.def"
#endif
};
/* clang-format on */
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static int tell_readable(void)
{
	size_t i;

	for (i = 0; i < NR_ROWS; i++)
		if (rows[i].is_readable)
			puts(rows[i].name);
	return 0;
}

/* A call that waits or asks, so that it is two events. */
static void call_one(void)
{
#ifdef TAP_HIP
	hipStreamSynchronize(NULL);
#elif defined TAP_CUDA
	cuStreamSynchronize(NULL);
#elif defined TAP_NCCL
	ncclGetVersion(NULL);
#endif
}

static int beat(void)
{
	struct pollfd end = {.fd = 0, .events = POLLIN};
	unsigned long nr = 0;

	do {
		call_one();
		nr++;
	} while (!poll(&end, 1, 1));
	printf("%lu\n", nr);
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	size_t i, nr = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
#ifdef TAP_CUDA
	double_cuda_result = 0;
#elif defined TAP_NCCL
	double_result = 0;
	double_string = WILD;
#endif
	if (!strcmp(how, "--readable"))
		return tell_readable();
	if (!strcmp(how, "--beat"))
		return beat();
	while (way < sizeof(ways) / sizeof(ways[0]) && strcmp(ways[way].name, how))
		way++;
	if (way == sizeof(ways) / sizeof(ways[0]))
		return 2;
	for (i = 0; i < NR_ROWS; i++)
		if (argc > 2 ? !strcmp(argv[2], rows[i].name) : !rows[i].is_readable) {
			rows[i].call();
			nr++;
		}
#ifdef TAP_NCCL
	/* The other structures that begin so. */
	magic = TAP_NCCL_SIM_MAGIC;
	if (argc == 2)
		call_ncclGroupSimulateEnd();
#endif
	return !nr;
}
