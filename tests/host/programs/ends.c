/* SPDX-License-Identifier: MIT */
/* Calls before main() and after it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "moment.h"

/* Before all constructors; the linker has just bound everything. */
static void before_all(int argc, char **argv, char **envp)
{
	(void) envp;
	if (argc > 1 && !strcmp(argv[1], "before-all"))
		call("before all");
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const first)(int, char **, char **) = before_all;

static void call_at_exit(void)
{
	call("atexit");
}

static void call_on_exit(int status, void *unused)
{
	(void) unused;
	printf("status %d\n", status);
	call("on_exit");
}

static void handlers(void)
{
	atexit(call_at_exit);
	on_exit(call_on_exit, NULL);
	call("main");
	exit(7);
}

static void handlers_only(void)
{
	atexit(call_at_exit);
}

static void quick(void)
{
	at_quick_exit(call_at_exit);
	call("main");
	quick_exit(8);
}

static void abrupt(void)
{
	call("main");
	_exit(9);
}

static void nothing(void)
{
}

static void aborts(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	call("main");
	abort();
}

int main(int argc, char **argv)
{
	static const struct moment moments[] = {
		{"before-all", handlers},
		{"handlers", handlers},
		{"handlers-only", handlers_only},
		{"quick", quick},
		{"abrupt", abrupt},
		{"nothing", nothing},
		{"aborts", aborts},
	};

	return RUN_MOMENT(argc, argv);
}
