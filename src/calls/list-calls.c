/* SPDX-License-Identifier: MIT */
/*
 * Prints the rows of nccl.def, cuda.def, cudart.def, hip.def and verbs.def for those who
 * are not C: the export lists of the library, the reference table doc/calls.md, and the
 * lists of the coverage test.
 */
#include <stdio.h>
#include <string.h>

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

/* Each exported name, the row that it is of, its class, and HIP's version of it. */
static const struct gpu {
	const char *name, *row, *class, *version;
} cuda[] = {
	{"cuGetProcAddress", "-", "-", NULL},
	{"cuGetProcAddress_v2", "-", "-", NULL},
#define CALL_ALONE(since, class, bare, name, ...) {#name, #name, #class, NULL},
#define CALL(since, class, bare, name, twin, ...) \
	{#name, #name, #class, NULL}, {#twin, #name, #class, NULL},
#include "calls/cuda.def"
#undef CALL
#undef CALL_ALONE
}, hip[] = {
#define CALL_ALONE(version, class, none, name, ...) {#name, #name, #class, version},
#define CALL(version, class, twin_version, name, twin, ...) \
	{#name, #name, #class, version}, {#twin, #name, #class, twin_version},
#include "calls/hip.def"
#undef CALL
#undef CALL_ALONE
};

/* Each name of the runtime, under the version of each library that has it. */
#define SINCE_13(number, sym) {#sym, "libcudart.so.13", number},
#define SINCE_12(number, sym) {#sym, "libcudart.so.12", number}, SINCE_13(number, sym)
#define SINCE_11(number, sym) {#sym, "libcudart.so.11.0", number}, SINCE_12(number, sym)
#define CALL_ALONE(number, since, name, ...) SINCE_##since(number, name)
#define CALL(number, since, name, twin, ...) \
	SINCE_##since(number, name) SINCE_##since(number, twin)
static const struct {
	const char *name, *version;
	int number;
} runtime[] = {
#include "calls/cudart.def"
};
#undef CALL
#undef CALL_ALONE
/* clang-format on */

static const char markdown_head[] =
	"# Calls that are recorded\n"
	"\n"
	"Made by `list-calls --markdown` from the rows of `src/calls/nccl.def` and\n"
	"`src/calls/verbs.def`; do not edit.\n"
	"\n"
	"Each call is two events, `nccl:<call>_entry` and `nccl:<call>_exit`, also when\n"
	"the program used its name with `p` in front. *Since* is the first release\n"
	"whose library exports it (`2.18`: that or an older one, `rccl`: RCCL alone).\n"
	"*Class* decides the channel: `HOT` calls cannot push `SETUP` calls out of the\n"
	"buffers. The *hook* says what the call means for communicators and their order,\n"
	"also while nobody records. Behind each argument stands its kind, which says how it is recorded:\n"
	"`OUT_` kinds after the call, the others before it, `PTR` the address alone.\n"
	"`src/calls/kinds.h` has them all.\n"
	"\n"
	"| call | since | class | hook | arguments | result |\n"
	"|---|---|---|---|---|---|\n";

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

/* They are no symbols, so no row makes them. */
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

static int print_cuda(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cuda); i++)
		printf("%s %s %s\n", cuda[i].name, cuda[i].row, cuda[i].class);
	return fflush(stdout) || ferror(stdout);
}

static int print_hip(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hip); i++)
		printf("%s %s %s %s\n", hip[i].name, hip[i].version, hip[i].row,
		       hip[i].class);
	return fflush(stdout) || ferror(stdout);
}

static int print_runtime(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(runtime); i++)
		printf("%s %s %d\n", runtime[i].name, runtime[i].version,
		       runtime[i].number);
	return fflush(stdout) || ferror(stdout);
}

static int print_versions(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(versioned); i++)
		printf("%s %s\n", versioned[i].name, versioned[i].version);
	return fflush(stdout) || ferror(stdout);
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
	for (f = 0; argc == 2 && f < ARRAY_SIZE(forms); f++) {
		if (strcmp(argv[1], forms[f].option))
			continue;
		fputs(forms[f].head, stdout);
		for (i = 0; i < ARRAY_SIZE(rows); i++)
			forms[f].print(&rows[i]);
		if (forms[f].print == print_markdown)
			print_verbs();
		if (fflush(stdout) || ferror(stdout)) {
			fputs("list-calls: cannot write: is the disk full?\n", stderr);
			return 1;
		}
		return 0;
	}
	fputs("list-calls: give one of --exports, --cuda, --hip, --runtime, --versions, --names, "
	      "--markdown\n",
	      stderr);
	return 2;
}
