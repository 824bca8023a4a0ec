/* SPDX-License-Identifier: MIT */
/*
 * Makes as many calls as a line of its input says, and answers each line; "die" ends it
 * by a signal.
 *
 * usage: obey LIBRARY
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*call)(int *) =
		library ? (int (*)(int *)) dlsym(library, "ncclGetVersion") : NULL;
	char line[64];
	int version, i;

	if (!call)
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		if (!strncmp(line, "die", 3))
			raise(SIGSEGV);
		for (i = 0; i < atoi(line); i++)
			call(&version);
		puts("done");
	}
	return 0;
}
