/* SPDX-License-Identifier: MIT */
/*
 * Reports the libraries whose calls bypass the wrappers: a tap:problem for each.
 *
 * The linker binds a name in a library opened with RTLD_DEEPBIND, or in a namespace of
 * dlmopen(), to the nearest definition: a preloaded library cannot intercept it.  This
 * module hides how it detects that: it reads the targets of the slots of a library's
 * calls (System V ABI, "Global Offset Table", with the relocations of its supplements for
 * AMD64 and AArch64), and the objects of each namespace.  It does not detect a name that was never
 * called and is not bound yet.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "intercept/dl/elf.h"
#include "intercept/dl/walk.h"
#include "intercept/entry.h"
#include "intercept/layer.h"
#include "intercept/nvtx/nvtx.h"
#include "intercept/trace.h"

/* Relocations that fill a slot with a function's address: of a call, and of a pointer. */
#if defined(__x86_64__)
enum { JUMP_SLOT = R_X86_64_JUMP_SLOT, GLOB_DAT = R_X86_64_GLOB_DAT };
#elif defined(__aarch64__)
enum { JUMP_SLOT = R_AARCH64_JUMP_SLOT, GLOB_DAT = R_AARCH64_GLOB_DAT };
#endif

/*
 * Libraries reported already, by load address.  When it is full, some are reported twice.
 */
static uintptr_t reported[32];
static unsigned next_reported;

static bool is_new(uintptr_t base)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(reported); i++)
		if (__atomic_load_n(&reported[i], __ATOMIC_RELAXED) == base)
			return false;
	i = __atomic_fetch_add(&next_reported, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&reported[i % ARRAY_SIZE(reported)], base, __ATOMIC_RELAXED);
	return true;
}

/* dlpi_adds at the last look: how many objects had ever been loaded. */
static unsigned long long last_adds;

struct found {
	uintptr_t ours, ours_end;
	unsigned nr;
	struct {
		uintptr_t base;
		const char *name, *how;
	} libraries[8]; /* reported at one look */
};

static void add(struct found *found, uintptr_t base, const char *name, const char *how)
{
	if (found->nr == ARRAY_SIZE(found->libraries))
		return;
	found->libraries[found->nr].base = base;
	found->libraries[found->nr].name = name;
	found->libraries[found->nr++].how = how;
}

struct slots {
	const ElfW(Rela) * list;
	size_t size;  /* bytes */
	size_t first; /* relocations before it have no name */
};

static const void *table(uintptr_t base, const ElfW(Dyn) * dynamic, ElfW(Sxword) tag)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == tag)
			return (const void *) (dynamic->d_un.d_ptr < base
						       ? base + dynamic->d_un.d_ptr
						       : dynamic->d_un.d_ptr);
	return NULL;
}

static size_t size_of(const ElfW(Dyn) * dynamic, ElfW(Sxword) tag)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++)
		if (dynamic->d_tag == tag)
			return dynamic->d_un.d_val;
	return 0;
}

/*
 * Whether a slot for a wrapped name leads neither to ccltap nor, as an unbound slot does,
 * into the library itself.
 */
static bool has_bypass(const struct found *found, uintptr_t base, uintptr_t end,
		       const ElfW(Dyn) * dynamic, struct slots slots)
{
	const ElfW(Sym) *symbols = table(base, dynamic, DT_SYMTAB);
	const char *strings = table(base, dynamic, DT_STRTAB);
	size_t i;

	for (i = slots.first; slots.list && i < slots.size / sizeof(*slots.list); i++) {
		const ElfW(Rela) *r = &slots.list[i];
		const unsigned type = ELF64_R_TYPE(r->r_info);
		uintptr_t to;

		if ((type != JUMP_SLOT && type != GLOB_DAT) ||
		    !tap_entry_find(strings + symbols[ELF64_R_SYM(r->r_info)].st_name))
			continue;
		to = *(const uintptr_t *) (base + r->r_offset);
		if (to && (to < found->ours || to >= found->ours_end) &&
		    (to < base || to >= end))
			return true;
	}
	return false;
}

static uintptr_t end_of(const struct dl_phdr_info *info)
{
	uintptr_t end = 0;
	unsigned i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD &&
		    info->dlpi_addr + p->p_vaddr + p->p_memsz > end)
			end = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	return end;
}

static const ElfW(Dyn) * dynamic_of(const struct dl_phdr_info *info)
{
	unsigned i;

	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			return (const ElfW(Dyn) *) (info->dlpi_addr +
						    info->dlpi_phdr[i].p_vaddr);
	return NULL;
}

/* Few libraries need NCCL; the slots of others are not read. */
static bool needs_nccl(uintptr_t base, const ElfW(Dyn) * dynamic)
{
	const char *strings = table(base, dynamic, DT_STRTAB);

	for (; strings && dynamic->d_tag != DT_NULL; dynamic++) {
		if (dynamic->d_tag == DT_NEEDED &&
		    (!strncmp(strings + dynamic->d_un.d_val, "libnccl", 7) ||
		     !strncmp(strings + dynamic->d_un.d_val, "librccl", 7)))
			return true;
	}
	return false;
}

static int read_adds(struct dl_phdr_info *info, size_t size, void *data)
{
	(void) size;
	*(unsigned long long *) data = info->dlpi_adds;
	return 1;
}

static int find_ours(struct dl_phdr_info *info, size_t size, void *data)
{
	const uintptr_t here = (uintptr_t) &read_adds;
	struct found *found = data;

	(void) size;
	if (here < info->dlpi_addr || here >= end_of(info))
		return 0;
	found->ours = info->dlpi_addr;
	found->ours_end = end_of(info);
	return 1;
}

static int look(struct dl_phdr_info *info, size_t size, void *data)
{
	const ElfW(Dyn) *dynamic = dynamic_of(info);
	const uintptr_t base = info->dlpi_addr, end = end_of(info);
	struct found *found = data;

	(void) size;
	if (!dynamic || base == found->ours || !needs_nccl(base, dynamic))
		return 0;
	if (has_bypass(found, base, end, dynamic,
		       (struct slots){table(base, dynamic, DT_JMPREL),
				      size_of(dynamic, DT_PLTRELSZ), 0}) ||
	    has_bypass(found, base, end, dynamic,
		       (struct slots){table(base, dynamic, DT_RELA),
				      size_of(dynamic, DT_RELASZ),
				      size_of(dynamic, DT_RELACOUNT)}))
		add(found, base, info->dlpi_name, "bound to NCCL, bypasses ccltap");
	return 0;
}

/* glibc 2.35 and later lists namespaces for debuggers; before, they cannot be found. */
static void look_elsewhere(struct found *found)
{
	const struct r_debug_extended *space =
		(const struct r_debug_extended *) (const void *) &_r_debug;
	const struct link_map *map;

	if (_r_debug.r_version < 2)
		return;
	while ((space = space->r_next))
		for (map = space->base.r_map; map; map = map->l_next)
			if (map->l_ld && needs_nccl(map->l_addr, map->l_ld))
				add(found, map->l_addr, map->l_name,
				    "bound to NCCL in a namespace of its own");
}

/* Reports all of them, or those not reported yet. */
static void report(bool all)
{
	const bool is_reported = tap_nvtx_sees_nccl();
	struct found found = {0};
	unsigned long long adds = 0;
	char text[512]; /* the caller's stack may be small */
	unsigned i;

	tap_walk(read_adds, &adds);
	if (__atomic_exchange_n(&last_adds, adds, __ATOMIC_RELAXED) == adds && !all)
		return;

	tap_walk(find_ours, &found);
	tap_walk(look, &found);
	look_elsewhere(&found);
	for (i = 0; i < found.nr; i++) {
		if (!is_new(found.libraries[i].base) && !all)
			continue;
		snprintf(text, sizeof(text), "calls of %s: %s%s", found.libraries[i].name,
			 found.libraries[i].how,
			 is_reported ? "; what it reports to NVTX is recorded" : "");
		tap_problem(is_reported ? "not wrapped" : "not recorded", text, 1);
	}
}

static void announce(void)
{
	report(false);
}

static void write_statedump(struct tap_state_counts *counts)
{
	(void) counts;
	report(true);
}

const struct tap_layer tap_layer_bypass = {
	.announce = announce,
	.write_statedump = write_statedump,
	.library_met = announce,
};
