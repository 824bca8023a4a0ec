/* SPDX-License-Identifier: MIT */
/*
 * Reads the symbol tables of loaded objects: System V ABI ("Dynamic Linking")
 * for the tables, and the GNU hash section as glibc's dl-lookup.c reads it.
 */
#include "intercept/dl/elf.h"

#include <stddef.h>

#include "common/names.h"

struct tables {
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Versym) *versions;
	const uint32_t *gnu_hash;
	const uint32_t *hash;
};

/*
 * The linker writes addresses into most dynamic sections; a read-only one (the vDSO's)
 * still holds offsets.
 */
static const void *in_memory(uintptr_t base, ElfW(Addr) value)
{
	return (const void *) (value < base ? base + value : value);
}

static struct tables read_tables(uintptr_t base, const ElfW(Dyn) *dynamic)
{
	struct tables t = {0};

	for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
		const void *there = in_memory(base, dynamic->d_un.d_ptr);

		if (dynamic->d_tag == DT_SYMTAB)
			t.symbols = there;
		else if (dynamic->d_tag == DT_STRTAB)
			t.strings = there;
		else if (dynamic->d_tag == DT_VERSYM)
			t.versions = there;
		else if (dynamic->d_tag == DT_GNU_HASH)
			t.gnu_hash = there;
		else if (dynamic->d_tag == DT_HASH)
			t.hash = there;
	}
	return t;
}

/* Bit 15 of a version number marks a version that is not the default. */
static void *address_of(uintptr_t base, const struct tables *t, uint32_t i, const char *name)
{
	const ElfW(Sym) *sym = &t->symbols[i];
	const unsigned type = sym->st_info & 0xf;

	if (sym->st_shndx == SHN_UNDEF || (type != STT_FUNC && type != STT_NOTYPE))
		return NULL;
	if (t->versions && (t->versions[i] & 0x8000))
		return NULL;
	return tap_same_name(t->strings + sym->st_name, name) ?
		       (void *) (base + sym->st_value) : NULL;
}

static void *find_by_gnu_hash(uintptr_t base, const struct tables *t, const char *name)
{
	const uint32_t nr_buckets = t->gnu_hash[0], first = t->gnu_hash[1];
	const uint32_t nr_words = t->gnu_hash[2];
	const ElfW(Addr) *bloom = (const ElfW(Addr) *) &t->gnu_hash[4];
	const uint32_t *buckets = (const uint32_t *) &bloom[nr_words];
	const uint32_t *chains = &buckets[nr_buckets];
	uint32_t hash = 5381, i;
	const char *c;
	void *found;

	for (c = name; *c; c++)
		hash = hash * 33 + (unsigned char) *c;
	i = nr_buckets ? buckets[hash % nr_buckets] : 0;
	if (i < first)
		return NULL;
	for (;; i++) {
		const uint32_t h = chains[i - first];

		if ((h | 1) == (hash | 1)) {
			found = address_of(base, t, i, name);
			if (found)
				return found;
		}
		if (h & 1)
			return NULL;
	}
}

static void *find_by_hash(uintptr_t base, const struct tables *t, const char *name)
{
	const uint32_t nr_symbols = t->hash[1];
	uint32_t i;
	void *found;

	for (i = 1; i < nr_symbols; i++) {
		found = address_of(base, t, i, name);
		if (found)
			return found;
	}
	return NULL;
}

void *tap_elf_find(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name)
{
	const struct tables t = read_tables(base, dynamic);

	if (!t.symbols || !t.strings)
		return NULL;
	if (t.gnu_hash)
		return find_by_gnu_hash(base, &t, name);
	return t.hash ? find_by_hash(base, &t, name) : NULL;
}

bool tap_elf_needs(uintptr_t base, const ElfW(Dyn) *dynamic, const char *soname)
{
	const struct tables t = read_tables(base, dynamic);

	for (; t.strings && dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == DT_NEEDED &&
		    tap_same_name(t.strings + dynamic->d_un.d_val, soname))
			return true;
	return false;
}

const char *tap_elf_soname(uintptr_t base, const ElfW(Dyn) *dynamic)
{
	const struct tables t = read_tables(base, dynamic);

	for (; t.strings && dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == DT_SONAME)
			return t.strings + dynamic->d_un.d_val;
	return NULL;
}
