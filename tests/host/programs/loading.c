/* SPDX-License-Identifier: MIT */
/* Libraries that are opened by names which only the caller's own folder makes sense of.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "moment.h"

static void try_open(const char *what, const char *name, int flags)
{
	void *handle = dlopen(name, flags);
	int (*version)(int *), got = -1;

	version = handle ? (int (*)(int *)) dlsym(handle, "ncclGetVersion") : NULL;
	if (version)
		version(&got);
	printf("%s: %s, version %d\n", what, handle ? "opened" : "none", got);
	if (!handle)
		dlerror();
}

/* The program's own RUNPATH and $ORIGIN, whoever stands between it and the linker. */
static void by_runpath(void)
{
	call("before");
	try_open("in the RUNPATH", "copy1.so", RTLD_NOW);
	try_open("beside the program", "$ORIGIN/../link/copy3.so",
		 RTLD_NOW | RTLD_GLOBAL);
	try_open("nowhere", "copy8.so", RTLD_NOW);
	call("after");
}

static void no_load(void)
{
	try_open("not there", "copy1.so", RTLD_NOW | RTLD_NOLOAD);
	call("before");
	try_open("there", "copy2.so", RTLD_NOW | RTLD_NOLOAD);
	try_open("not there", "copy1.so", RTLD_NOW | RTLD_NOLOAD);
	try_open("the program", NULL, RTLD_NOW | RTLD_NOLOAD);
}

static void deep(void)
{
	call("before");
	try_open("deeply bound", "copy1.so", RTLD_NOW | RTLD_DEEPBIND);
	call("after");
}

/* Memory from everywhere, given back there. */
static void memory(void)
{
	char *resolved = realpath("/proc/self/exe", NULL), *copy = strdup("copy");
	void *aligned = NULL;
	int failed = 0, i;

	for (i = 0; i < 1000; i++) {
		void *p = malloc((size_t) i);

		failed += outcome();
		p = realloc(p, (size_t) i * 2 + 1);
		failed += !p;
		free(p);
	}
	failed += posix_memalign(&aligned, 4096, 100);
	free(aligned);
	free(resolved);
	free(copy);
	printf("failed %d\n", failed);
}

static void symbols(void)
{
	int (*version)(int *) = (int (*)(int *)) dlsym(RTLD_DEFAULT, "ncclGetVersion");
	int got = -1;

	if (version)
		version(&got);
	printf("asked: %d\n", got);
	printf("none: %d\n", dlsym(RTLD_DEFAULT, "ncclNoSuchThing") != NULL);
	printf("withheld: %d\n", dlsym(RTLD_DEFAULT, "cuGetProcAddress") != NULL);
	call("linked");
}

int main(int argc, char **argv)
{
	static const struct moment moments[] = {
		{"runpath", by_runpath}, {"no-load", no_load}, {"deep", deep},
		{"memory", memory},	 {"symbols", symbols},
	};

	return RUN_MOMENT(argc, argv);
}
