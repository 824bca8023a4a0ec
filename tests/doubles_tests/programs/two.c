/* SPDX-License-Identifier: MIT */
/* Two runtimes in one process: that of a library that is linked, that of one opened. */
#include "program.h"

#include <dlfcn.h>

int main(int argc, char **argv)
{
	long sums[2] = {0, 0};
	long (*run)(int count);
	void *library;
	int i;

	for (i = 0; i < 2 && i + 1 < argc; i++) {
		library = dlopen(argv[i + 1], RTLD_NOW | RTLD_LOCAL);
		if (!library) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		*(void **) &run = dlsym(library, "program_run");
		must(!run);
		sums[i] = run(2);
	}
	return done("two", 2 * 2 * (4 + 5 * 2), sums[0] + sums[1]);
}
