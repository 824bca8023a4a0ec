/* SPDX-License-Identifier: MIT */
/*
 * rules FILE: for each address in FILE that is read from stdin, what its unwind tables
 * say, as far as a walk of the stack follows it.
 * rules --damage FILE SEED: the same for all, with tables in which bytes were changed;
 * prints how many addresses still have a rule.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/stack/cfi.h"

struct loaded {
	const struct link_map *map;
	uintptr_t base, start, end;
	const uint8_t *header;
};

static int find(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *l = data;
	int i;

	(void) size;
	if (info->dlpi_addr != l->map->l_addr)
		return 0;
	l->base = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_GNU_EH_FRAME)
			l->header = (const uint8_t *) (l->base + p->p_vaddr);
		if (p->p_type == PT_LOAD && l->base + p->p_vaddr + p->p_memsz > l->end)
			l->end = l->base + p->p_vaddr + p->p_memsz;
	}
	l->start = l->base;
	return 1;
}

static void print_rule(uintptr_t address, struct tap_cfi_rule rule)
{
	static const char *const cfa[] = {"unknown", "sp",     "fp",
					  "at-fp",   "signal", "start"};
	static const char *const fp[] = {"same", "at-cfa", "at-fp", "same-ra-at-cfa"};

	printf("%" PRIxPTR " %s %d %s %d\n", address, cfa[rule.cfa], rule.cfa_offset,
	       fp[rule.fp], rule.fp_offset * TAP_CFI_UNIT);
}

static uint32_t next(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/*
 * The tables from the sorted one to the end of the object, in memory of their own at a
 * place where nothing lies behind them, so that a sanitizer sees what is read there.
 */
static unsigned long damage(const struct loaded *l, uint32_t seed)
{
	const size_t size = l->end - (uintptr_t) l->header > 65536
				    ? 65536
				    : l->end - (uintptr_t) l->header;
	uint8_t *copy = malloc(size);
	unsigned long found = 0;
	struct tap_cfi_tables tables = {.header = copy,
					.start = (uintptr_t) copy,
					.end = (uintptr_t) copy + size};
	unsigned i, round;

	if (!copy)
		exit(1);
	for (round = 0; round < 200; round++) {
		memcpy(copy, l->header, size);
		/* The sorted table stays in the first rounds, to get further than that.
		 */
		for (i = 0; i < 1 + round / 10; i++)
			copy[round % 2 ? next(&seed) % size : next(&seed) % 12] =
				(uint8_t) next(&seed);
		for (i = 0; i < 2000; i++)
			found += tap_cfi_find(&tables,
					      (uintptr_t) copy - (uintptr_t) l->header +
						      l->base +
						      next(&seed) %
							      ((uintptr_t) l->header -
							       l->base))
					 .cfa != TAP_CFA_UNKNOWN;
	}
	free(copy);
	return found;
}

int main(int argc, char **argv)
{
	const bool is_damage = argc == 4 && !strcmp(argv[1], "--damage");
	void *handle = argc > 1 ? dlopen(argv[is_damage ? 2 : 1], RTLD_LAZY) : NULL;
	struct loaded l = {0};
	struct tap_cfi_tables tables;
	uintptr_t address;

	if (!handle) {
		fprintf(stderr, "rules: %s\n", argc > 1 ? dlerror() : "no file");
		return 2;
	}
	if (dlinfo(handle, RTLD_DI_LINKMAP, &l.map) || !dl_iterate_phdr(find, &l) ||
	    !l.header)
		return 1;
	if (is_damage) {
		printf("%lu\n", damage(&l, (uint32_t) strtoul(argv[3], NULL, 10)));
		return 0;
	}
	tables = (struct tap_cfi_tables){.header = l.header,
					 .start = l.start,
					 .end = l.end};
	while (scanf("%" SCNxPTR, &address) == 1)
		print_rule(address, tap_cfi_find(&tables, l.base + address));
	return 0;
}
