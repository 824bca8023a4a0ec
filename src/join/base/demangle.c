/* SPDX-License-Identifier: MIT */
/* libstdc++'s __cxa_demangle(), behind bounds. */
#include "join/base/demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The longest name: the demangler recurses on the stack. */
#define LENGTH_MAX 1024

/*
 * The most references of a name to its own parts.  Each may double the length of the
 * result: with 3 in a row for each of k / 3 parts it grows to 3^(k / 3) times, so to some
 * megabytes.
 */
#define REFERENCES_MAX 24

typedef char *demangler_t(const char *name, char *buffer, size_t *size, int *status);

/* Opened once; a library is never closed again. */
static demangler_t *find_demangler(void)
{
	static demangler_t *found;
	static bool has_looked;
	void *library;

	if (has_looked)
		return found;
	has_looked = true;
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		found = (demangler_t *) dlsym(library, "__cxa_demangle");
	return found;
}

/* Counts "S_", "S1_", "T_", "T1_", ...; and some letters of identifiers, which is safe.
 */
static size_t count_references(const char *name)
{
	size_t count = 0;

	for (; *name; name++) {
		if (*name != 'S' && *name != 'T')
			continue;
		count += name[1 + strspn(name + 1,
					 "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")] == '_';
	}
	return count;
}

char *tap_demangle(const char *name)
{
	demangler_t *demangle;
	int status;

	if (strncmp(name, "_Z", 2) || strnlen(name, LENGTH_MAX + 1) > LENGTH_MAX ||
	    count_references(name) > REFERENCES_MAX)
		return NULL;
	demangle = find_demangler();
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}
