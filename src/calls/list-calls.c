/* SPDX-License-Identifier: MIT */
/*
 * Prints the rows of nccl.def, cuda.def, cudart.def, cupti.def, hip.def and verbs.def for
 * users other than C: the export lists of the library, the reference table doc/calls.md,
 * and the lists of the coverage test.
 */
#include <stdio.h>
#include <string.h>

#include "calls/cuda_api.h"
#include "calls/cupti_calls.h"
#include "common/args.h"
#include "common/compiler.h"

/* clang-format off */
#define ARG_DOC(t, n, k) {#n, #k},
#define ARG_DOC_NONE
static const struct row {
	const char *name, *since, *class, *hook, *result;
	struct {
		const char *name, *kind;
	} args[16];
} rows[] = {
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) \
	{#fn, since, #class, #hook, #ret_kind, {ARGS_WALK(ARG_DOC, SEP_NONE, ##__VA_ARGS__)}},
#define CALL_VOID(since, class, fn, ...) \
	{#fn, since, #class, "PLAIN", "none", {ARGS_WALK(ARG_DOC, SEP_NONE, ##__VA_ARGS__)}},
#include "calls/nccl.def"
};
#undef CALL
#undef CALL_VOID
/* clang-format on */

/* clang-format off */
#define CALL(version, ret_t, absent, fn, ...) \
	{#fn, version, #ret_t, {ARGS_WALK(ARG_DOC, SEP_NONE, ##__VA_ARGS__)}},
static const struct {
	const char *name, *version, *result;
	struct {
		const char *name, *kind;
	} args[16];
} versioned[] = {
#include "calls/verbs.def"
};
#undef CALL

/* since: CUDA's release; HIP's rows have none, since HIP's names have versions. */
static const struct gpu {
	const char *name, *variant, *class, *does, *version, *variant_version;
	unsigned int since;
	struct {
		const char *name, *kind;
	} args[16];
} cuda[] = {
#define CALL_ALONE(since, class, does, api, fn, ...) \
	{#fn, NULL, #class, #does, NULL, NULL, since, {ARGS_WALK(ARG_DOC, SEP_NONE, ##__VA_ARGS__)}},
#define CALL(since, class, does, api, fn, variant, ...) \
	{#fn, #variant, #class, #does, NULL, NULL, since, \
	 {ARGS_WALK(ARG_DOC, SEP_NONE, ##__VA_ARGS__)}},
#include "calls/cuda.def"
#undef CALL
#undef CALL_ALONE
}, hip[] = {
#define CALL_ALONE(version, class, does, none, fn, ...) \
	{#fn, NULL, #class, #does, version, NULL, 0, \
	 {ARGS_WALK(ARG_DOC, SEP_NONE, ##__VA_ARGS__)}},
#define CALL(version, class, does, variant_version, fn, variant, ...) \
	{#fn, #variant, #class, #does, version, variant_version, 0, \
	 {ARGS_WALK(ARG_DOC, SEP_NONE, ##__VA_ARGS__)}},
#include "calls/hip.def"
#undef CALL
#undef CALL_ALONE
};

#define CBID(name, number) {#name, number},
#define CALL_ALONE(since, class, does, api, fn, ...) TAP_CBID_##class(CBID, fn, api)
#define CALL(since, class, does, api, fn, variant, ...) TAP_CBIDS_##class(CBID, fn, variant, api)
static const struct {
	const char *name;
	unsigned int number;
} cbids[] = {
#include "calls/cuda.def"
};
#undef CALL
#undef CALL_ALONE
#undef CBID

/* The libraries of CUDA's releases from `since` on have the call. */
#define CALL_ALONE(number, since, fn, ...) {#fn, NULL, number, since},
#define CALL(number, since, fn, variant, ...) {#fn, #variant, number, since},
static const struct runtime {
	const char *name, *variant;
	unsigned int number, since;
} runtime[] = {
#include "calls/cudart.def"
};
#undef CALL
#undef CALL_ALONE
static const struct {
	unsigned int release;
	const char *version;
} runtimes[] = {{11, "libcudart.so.11.0"}, {12, "libcudart.so.12"}, {13, "libcudart.so.13"}};

/* Each function of CUPTI that has a wrapper, under each version. */
#define VERSIONED(binding, version, name) {#name, version},
#define CALL(since, class, name, ...) TAP_CUPTI_SINCE_##since(VERSIONED, name)
static const struct {
	const char *name, *version;
} cupti[] = {
#include "calls/cupti.def"
};
#undef CALL
#undef VERSIONED
/* clang-format on */

static const char markdown_head[] =
	"# Calls that are recorded\n"
	"\n"
	"Made by `list-calls --markdown` from the rows in `src/calls`; do not edit. Here are\n"
	"NCCL and RCCL, below the [CUDA driver](#cuda), the [CUDA runtime](#cuda-runtime),\n"
	"[HIP](#hip) and [libibverbs](#libibverbs).\n"
	"\n"
	"Each call is two events, `nccl:<call>_entry` and `nccl:<call>_exit`, also when\n"
	"the program used its name with `p` in front. *Since* is the first release\n"
	"whose library exports it (`2.18`: that or an older one, `rccl`: RCCL alone).\n"
	"*Class* decides the channel: `HOT` calls cannot push `SETUP` calls out of the\n"
	"buffers. The *hook* says what the call means for communicators and their order,\n"
	"also while nobody records. Behind each argument stands its kind, which says how it is recorded:\n"
	"`OUT_` kinds after the call, the others before it, `PTR` the address alone.\n"
	"`src/calls/kinds.h` has them all. Of a long list the first 256 numbers, 128 handles or\n"
	"64 descriptors are recorded, of a string 255 bytes, of one that is a result 1023; the\n"
	"list's own length is another argument. What cannot be read is 0 or empty.\n"
	"\n"
	"| call | since | class | hook | arguments | result |\n"
	"|---|---|---|---|---|---|\n";

static const char cuda_markdown[] =
	"\n"
	"## CUDA\n"
	"\n"
	"From the rows of `src/calls/cuda.def`: the driver's functions, however a program comes by\n"
	"them; `cuGetProcAddress`, which hands them out, makes no event. *Per-thread variant* is the name of the\n"
	"form for which no stream is the thread's own; its events are the same, with `per_thread` 1.\n"
	"*Since* is the CUDA version by which `cuGetProcAddress` gives this form: of some functions\n"
	"there are several. A call of the *class* `WORK` puts something on a stream and is one event\n"
	"after the call, `cuda:<call>`. The others are two, `cuda:<call>_entry` and\n"
	"`cuda:<call>_exit`: `WAIT` waits, the rest is rare, of which `CAPTURE` begins and\n"
	"`CAPTURED` ends a capture, and `UNLOAD` takes functions away. *Does* is what the views\n"
	"count it as. Behind each argument stands its kind, which says how it is recorded and what\n"
	"it is to the call: `src/calls/cuda_kinds.h` has them, `ccltap-events(7)` the fields.\n"
	"\n"
	"| call | per-thread variant | since | class | does | events | arguments |\n"
	"|---|---|---|---|---|---|---|\n";

static const char runtime_markdown[] =
	"\n"
	"## CUDA runtime\n"
	"\n"
	"From the rows of `src/calls/cudart.def`. These calls of a shared runtime library make no\n"
	"events: the driver's events say in `runtime` by which of them they were made, as a\n"
	"*number*. Each is stood in for under the version of every library *since* that one.\n"
	"\n"
	"| call | per-thread variant | since | number |\n"
	"|---|---|---|---|\n";

static const char hip_markdown[] =
	"\n"
	"## HIP\n"
	"\n"
	"From the rows of `src/calls/hip.def`; all is as with CUDA, and the\n"
	"provider is `cuda` too. Each name has the *version* that programs reference it by. What\n"
	"`hipGetProcAddress` and `hipGetDriverEntryPoint` hand out is recorded, they are not.\n"
	"\n"
	"| call | version | per-thread variant | its version | class | does | events | arguments |\n"
	"|---|---|---|---|---|---|---|---|\n";

static const char verbs_markdown[] =
	"\n"
	"## libibverbs\n"
	"\n"
	"From the rows of `src/calls/verbs.def`. Each function has the *version* that programs\n"
	"reference it by. What it makes, changes or takes away is one event after the call\n"
	"(`verbs:qp`, `verbs:qp_modify`, `verbs:qp_destroy`); `ccltap-events(7)` has them.\n"
	"\n"
	"| call | version | arguments | result |\n"
	"|---|---|---|---|\n";

/* Functions without a symbol, so without a row. */
static const char verbs_pointers[] =
	"\n"
	"Inline functions of the header call what is in a table or in an object. These are replaced\n"
	"there, when a device is opened or an object made:\n"
	"\n"
	"| call | where | event |\n"
	"|---|---|---|\n"
	"| `ibv_post_send`, `ibv_post_recv`, `ibv_post_srq_recv` | context | a post, one request or a "
	"list, or `post_failed` |\n"
	"| `ibv_poll_cq` | context | a poll, when it finds something |\n"
	"| `ibv_wr_start`, `ibv_wr_complete`, `ibv_wr_abort`, and every `ibv_wr_...` that builds a "
	"request or sets a part of one | queue pair | the same, at `ibv_wr_complete` |\n"
	"| `ibv_start_poll`, `ibv_next_poll`, `ibv_end_poll` | completion queue | the same, "
	"at `ibv_end_poll` |\n"
	"| `ibv_create_qp_ex`, `ibv_open_qp` | extended context | `qp` |\n"
	"| `ibv_create_cq_ex` | extended context | `cq` |\n"
	"| `ibv_create_srq_ex` | extended context | `srq` |\n"
	"| `ibv_alloc_null_mr` | extended context | `mr` |\n";

static void print_exports(const struct row *row)
{
	printf("%s\np%s\n", row->name, row->name);
}

static void print_names(const struct row *row)
{
	printf("%s %s %s\n", row->name, row->since, row->class);
}

static void print_markdown(const struct row *row)
{
	unsigned int i;

	printf("| `%s` | %s | %s | %s |", row->name, row->since, row->class, row->hook);
	for (i = 0; i < ARRAY_SIZE(row->args) && row->args[i].name; i++)
		printf("%s `%s` %s", i ? "," : "", row->args[i].name, row->args[i].kind);
	printf(" | %s |\n", row->result);
}

static const struct form {
	const char *option, *head;
	void (*print)(const struct row *row);
} forms[] = {
	{"--exports", "", print_exports},
	{"--names", "", print_names},
	{"--markdown", markdown_head, print_markdown},
};

/* Each exported name, its row and its class. */
static int print_cuda(void)
{
	const struct gpu *g;

	puts("cuGetProcAddress - -\ncuGetProcAddress_v2 - -\ncuInit - -");
	for (g = cuda; g < cuda + ARRAY_SIZE(cuda); g++) {
		printf("%s %s %s\n", g->name, g->name, g->class);
		if (g->variant)
			printf("%s %s %s\n", g->variant, g->name, g->class);
	}
	return fflush(stdout) || ferror(stdout);
}

/* The same with the version of each name. */
static int print_hip(void)
{
	const struct gpu *g;

	puts("hipGetProcAddress hip_6.1 - -\nhipGetProcAddress_spt hip_7.2 - -\n"
	     "hipGetDriverEntryPoint hip_7.1 - -\nhipGetDriverEntryPoint_spt hip_7.1 - -");
	for (g = hip; g < hip + ARRAY_SIZE(hip); g++) {
		printf("%s %s %s %s\n", g->name, g->version, g->name, g->class);
		if (g->variant)
			printf("%s %s %s %s\n", g->variant, g->variant_version, g->name,
			       g->class);
	}
	return fflush(stdout) || ferror(stdout);
}

/* Each name under the version of each library that has it. */
static int print_runtime(void)
{
	const struct runtime *r;
	unsigned int i;

	for (r = runtime; r < runtime + ARRAY_SIZE(runtime); r++) {
		for (i = 0; i < ARRAY_SIZE(runtimes); i++) {
			if (runtimes[i].release < r->since)
				continue;
			printf("%s %s %u\n", r->name, runtimes[i].version, r->number);
			if (r->variant)
				printf("%s %s %u\n", r->variant, runtimes[i].version,
				       r->number);
		}
	}
	return fflush(stdout) || ferror(stdout);
}

static int print_cupti(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cupti); i++)
		printf("%s %s\n", cupti[i].name, cupti[i].version);
	return fflush(stdout) || ferror(stdout);
}

/* The numbers by which CUPTI's callbacks name functions of the driver. */
static int print_cbids(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cbids); i++)
		if (cbids[i].number)
			printf("%s %u\n", cbids[i].name, cbids[i].number);
	return fflush(stdout) || ferror(stdout);
}

static int print_versions(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(versioned); i++)
		printf("%s %s\n", versioned[i].name, versioned[i].version);
	return fflush(stdout) || ferror(stdout);
}

static void print_name(const char *name)
{
	if (name)
		printf(" `%s` |", name);
	else
		printf(" |");
}

/* The table that CUDA and HIP share. */
static void print_gpu(const struct gpu *g)
{
	const unsigned int nr_args = ARRAY_SIZE(g->args);
	unsigned int i;

	printf(" %s | %s | %s |", g->class, g->does, strcmp(g->class, "WORK") ? "2" : "1");
	for (i = 0; i < nr_args && g->args[i].name; i++)
		printf("%s `%s` %s", i ? "," : "", g->args[i].name, g->args[i].kind);
	puts(" |");
}

static void print_gpus(void)
{
	const struct runtime *r;
	const struct gpu *g;

	fputs(cuda_markdown, stdout);
	for (g = cuda; g < cuda + ARRAY_SIZE(cuda); g++) {
		printf("| `%s` |", g->name);
		print_name(g->variant);
		printf(" %u.%u |", g->since / 1000, g->since % 1000 / 10);
		print_gpu(g);
	}
	fputs(runtime_markdown, stdout);
	for (r = runtime; r < runtime + ARRAY_SIZE(runtime); r++) {
		printf("| `%s` |", r->name);
		print_name(r->variant);
		printf(" %u | %u |\n", r->since, r->number);
	}
	fputs(hip_markdown, stdout);
	for (g = hip; g < hip + ARRAY_SIZE(hip); g++) {
		printf("| `%s` | %s |", g->name, g->version);
		print_name(g->variant);
		printf(" %s |", g->variant_version ? g->variant_version : "");
		print_gpu(g);
	}
}

static void print_verbs(void)
{
	unsigned int i, k;

	fputs(verbs_markdown, stdout);
	for (i = 0; i < ARRAY_SIZE(versioned); i++) {
		printf("| `%s` | %s |", versioned[i].name, versioned[i].version);
		for (k = 0;
		     k < ARRAY_SIZE(versioned[i].args) && versioned[i].args[k].name; k++)
			printf("%s `%s`%s", k ? "," : "", versioned[i].args[k].name,
			       strcmp(versioned[i].args[k].kind, "OUT")
				       ? ""
				       : " (given back)");
		printf(" | `%s` |\n", versioned[i].result);
	}
	fputs(verbs_pointers, stdout);
}

int main(int argc, char **argv)
{
	unsigned int f, i;

	if (argc == 2 && !strcmp(argv[1], "--versions"))
		return print_versions();
	if (argc == 2 && !strcmp(argv[1], "--cuda"))
		return print_cuda();
	if (argc == 2 && !strcmp(argv[1], "--hip"))
		return print_hip();
	if (argc == 2 && !strcmp(argv[1], "--runtime"))
		return print_runtime();
	if (argc == 2 && !strcmp(argv[1], "--cupti"))
		return print_cupti();
	if (argc == 2 && !strcmp(argv[1], "--cbids"))
		return print_cbids();
	for (f = 0; argc == 2 && f < ARRAY_SIZE(forms); f++) {
		if (strcmp(argv[1], forms[f].option))
			continue;
		fputs(forms[f].head, stdout);
		for (i = 0; i < ARRAY_SIZE(rows); i++)
			forms[f].print(&rows[i]);
		if (forms[f].print == print_markdown) {
			print_gpus();
			print_verbs();
		}
		if (fflush(stdout) || ferror(stdout)) {
			fputs("list-calls: cannot write: is the disk full?\n", stderr);
			return 1;
		}
		return 0;
	}
	fputs("list-calls: give one of --exports, --cuda, --cupti, --cbids, --hip, --runtime, --versions, "
	      "--names, --markdown\n",
	      stderr);
	return 2;
}
