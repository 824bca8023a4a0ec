/* SPDX-License-Identifier: MIT */
/*
 * Reads libc's symbol table.  Calls no function of libc, as in lookup.c (local.mk sets
 * the compiler flags that this needs).
 */
#include "intercept/dl/real.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/names.h"
#include "intercept/dl/elf.h"

void *(*tap_real_dlsym_at)(void *, const char *);
void *(*tap_real_dlvsym_at)(void *, const char *, const char *);

static bool is_libc(const char *path)
{
	static const char name[] = "libc.so.6";
	const char *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return tap_same_name(base, name);
}

/* libc is loaded with the program, so the front of the list never changes. */
void tap_real_find(void)
{
	const struct link_map *map;

	for (map = _r_debug.r_map; map; map = map->l_next) {
		if (!map->l_name || !is_libc(map->l_name))
			continue;
		tap_real_dlvsym_at = tap_elf_find(map->l_addr, map->l_ld, "dlvsym");
		tap_real_dlsym_at = tap_elf_find(map->l_addr, map->l_ld, "dlsym");
		return;
	}
}

void *tap_real_dlsym(void *handle, const char *name)
{
	if (!tap_real_dlsym_at)
		tap_real_find();
	return tap_real_dlsym_at ? tap_real_dlsym_at(handle, name) : NULL;
}
