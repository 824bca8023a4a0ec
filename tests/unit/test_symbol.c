/* SPDX-License-Identifier: MIT */
/* Names of places in this very program, and what is said where there is none. */
#include "join/views/symbol.h"

#include "unit/tap.h"

#include <link.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OFFSETS 20000

static char path[PATH_MAX];
/* Digits, "" where the linker writes none. */
static char build_id[64];

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void) size;
	*(uintptr_t *) base = info->dlpi_addr;
	return 1; /* the program comes first */
}

static struct tap_library library_of(const char *name, const char *id)
{
	return (struct tap_library){.path = (char *) (uintptr_t) name,
				    .base_name = name,
				    .build_id = (char *) (uintptr_t) id};
}

static bool is_other_build(void)
{
	const struct tap_library other = library_of(path, "00112233");
	struct tap_symbols *symbols = tap_symbols_create(NULL, NULL);
	const struct tap_symbol *names;
	const struct tap_module *module;
	bool is_passed = true;

	CHECK(tap_symbols_find(symbols, &other, 1, &names) == 0);
	module = tap_symbols_modules(symbols);
	CHECK(module && !module->file && module->problem);
	CHECK(module && module->problem &&
	      strstr(module->problem, " is another build: "));
	/* It tells the file's own build id, which the other cases need. */
	if (module && module->problem)
		sscanf(module->problem + strlen(path), " is another build: %63[0-9a-f] ",
		       build_id);
	tap_symbols_destroy(symbols);
	return is_passed;
}

static bool is_gone(void)
{
	const struct tap_library gone = library_of("/nowhere/at-all", "");
	struct tap_symbols *symbols = tap_symbols_create("/nowhere", NULL);
	const struct tap_symbol *names;
	const struct tap_module *module;
	bool is_passed = true;

	CHECK(tap_symbols_find(symbols, &gone, 1, &names) == 0);
	module = tap_symbols_modules(symbols);
	CHECK(module && !module->file && module->problem);
	tap_symbols_destroy(symbols);
	return is_passed;
}

static bool is_named(void)
{
	const struct tap_library library = library_of(path, build_id);
	struct tap_symbols *symbols = tap_symbols_create(NULL, NULL);
	const struct tap_symbol *names;
	const struct tap_module *module;
	bool is_passed = true;
	uintptr_t base = 0;
	int count;

	dl_iterate_phdr(find_base, &base);
	count = tap_symbols_find(symbols, &library, (uintptr_t) is_gone - base + 1,
				 &names);
	/* The compiler may have inlined another one there, which comes before it. */
	CHECK(count >= 1);
	CHECK(count >= 1 && names[count - 1].function &&
	      !strcmp(names[count - 1].function, "is_gone"));
	module = tap_symbols_modules(symbols);
	CHECK(module && !module->problem && module->file && !strcmp(module->file, path));
	tap_symbols_destroy(symbols);
	return is_passed;
}

static bool is_any_offset(void)
{
	const struct tap_library library = library_of(path, build_id);
	struct tap_symbols *symbols = tap_symbols_create(NULL, NULL);
	uint64_t state = 0x2545f4914f6cdd1du;
	const struct tap_symbol *names;
	bool is_passed = true;
	int i, count;

	for (i = 0; i < OFFSETS; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		/* Mostly in the file, some anywhere, at first none at all. */
		count = tap_symbols_find(symbols, &library,
					 !i	 ? 0
					 : i % 8 ? state % 100000
						 : state << i % 64,
					 &names);
		CHECK(count >= 0);
		while (count-- > 0)
			CHECK(names[count].function || names[count].file);
	}
	tap_symbols_destroy(symbols);
	return is_passed;
}

int main(void)
{
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return 1;
	printf("1..4\n");
	report("a file of another build is not used", is_other_build);
	report("nor one that is gone", is_gone);
	report("a function is named", is_named);
	report("any offset can be asked for", is_any_offset);
	return 0;
}
