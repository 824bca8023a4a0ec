/* SPDX-License-Identifier: MIT */
/* Memory for tests that ends at a page which cannot be read. */
#ifndef TAP_TESTS_GUARDED_H
#define TAP_TESTS_GUARDED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* size bytes, at most a page, filled with fill; never freed. */
static inline void *guarded(size_t size, int fill)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || size > page ||
	    mprotect(pages + page, page, PROT_NONE)) {
		puts("Bail out! no memory");
		exit(1);
	}
	return memset(pages + page - size, fill, size);
}

static inline char *guarded_string(const char *string)
{
	return memcpy(guarded(strlen(string) + 1, 0), string, strlen(string) + 1);
}

#endif
