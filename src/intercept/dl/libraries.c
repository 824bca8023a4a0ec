/* SPDX-License-Identifier: MIT */
/* Objects by address and by symbol. */
#include "intercept/dl/libraries.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/lock.h"
#include "common/log.h"
#include "intercept/dl/elf.h"
#include "intercept/dl/real.h"
#include "intercept/dl/walk.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/trace.h"

#define NR_LIBRARIES 512

/*
 * Entry i has the number i + 1.  Appended under the lock, read without: start and end are
 * written last, and end = 0 marks an unloaded object.
 */
static struct library {
	uintptr_t start, end, base;
	uintptr_t code_start, code_end; /* its executable part */
	const uint8_t *unwind;		/* .eh_frame_hdr, NULL none */
	char *path;
	char build_id[41]; /* 20 bytes in hexadecimal, or "" */
	char layer[8];
	enum tap_library_nccl nccl;
} libraries[NR_LIBRARIES];
static unsigned nr_libraries;
/*
 * Guards appending.  The holder calls only the walk of the objects and LTTng, and neither
 * calls back.  A lookup that cannot take it soon gets no number.
 */
static struct tap_lock lock;
/* dlpi_subs at the last look: how often objects were unloaded. */
static unsigned long long last_unloads;
uint32_t tap_library_unloads;
uint32_t tap_any_unloads;

static struct tap_library describe(unsigned i)
{
	return (struct tap_library){
		.library_id = i + 1,
		.base = libraries[i].base,
		.path = libraries[i].path ? libraries[i].path : "",
		.build_id = libraries[i].build_id,
		.layer = libraries[i].layer,
	};
}

static void announce(unsigned i)
{
	const struct tap_library l = describe(i);

	if (tap_has_events())
		tap_events_table->library(&l);
}

/* An object as dl_iterate_phdr() describes it. */
struct object {
	uintptr_t base, start, end, code_start, code_end;
	const ElfW(Dyn) * dynamic;
	const uint8_t *unwind;
	const char *name;
	const struct dl_phdr_info *info;
};

static struct object object_of(const struct dl_phdr_info *info)
{
	struct object o = {.base = info->dlpi_addr,
			   .start = UINTPTR_MAX,
			   .code_start = UINTPTR_MAX,
			   .name = info->dlpi_name,
			   .info = info};
	unsigned i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			o.dynamic = (const ElfW(Dyn) *) start;
		if (p->p_type == PT_GNU_EH_FRAME)
			o.unwind = (const uint8_t *) start;
		if (p->p_type != PT_LOAD)
			continue;
		if (p->p_flags & PF_X && start < o.code_start)
			o.code_start = start;
		if (p->p_flags & PF_X && start + p->p_memsz > o.code_end)
			o.code_end = start + p->p_memsz;
		if (start < o.start)
			o.start = start;
		if (start + p->p_memsz > o.end)
			o.end = start + p->p_memsz;
	}
	return o;
}

static bool holds(const struct object *o, uintptr_t address)
{
	return address >= o->start && address < o->end;
}

/*
 * Finds an object in a namespace made by dlmopen(), which dl_iterate_phdr() does not
 * walk.  Its ELF header, in its first page, leads to its program headers.
 */
static bool find_elsewhere(uintptr_t address, struct dl_phdr_info *ret_info)
{
	const struct link_map *map = NULL;
	const ElfW(Ehdr) * header;
	Dl_info found;

	if (!dladdr1((const void *) address, &found, (void **) (void *) &map,
		     RTLD_DL_LINKMAP) ||
	    !map)
		return false;
	header = found.dli_fbase;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_phentsize != sizeof(ElfW(Phdr)))
		return false;
	memset(ret_info, 0, sizeof(*ret_info));
	ret_info->dlpi_addr = map->l_addr;
	ret_info->dlpi_name = map->l_name;
	ret_info->dlpi_phdr = (const ElfW(Phdr) *) (const void *) ((const char *) header +
								   header->e_phoff);
	ret_info->dlpi_phnum = header->e_phnum;
	return true;
}

/* Calls each for the object that holds address; returns whether there is one. */
static bool visit(uintptr_t address,
		  int (*each)(struct dl_phdr_info *info, size_t size, void *data),
		  void *data)
{
	struct dl_phdr_info info;

	if (tap_walk(each, data))
		return true;
	return find_elsewhere(address, &info) && each(&info, sizeof(info), data);
}

/* ELF notes: name and descriptor are each padded to 4 bytes. */
static void read_build_id(const struct object *o, char *ret_hex, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	unsigned i;

	ret_hex[0] = '\0';
	for (i = 0; i < o->info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &o->info->dlpi_phdr[i];
		const char *at = (const char *) (o->base + p->p_vaddr);
		const char *end = at + p->p_memsz;

		if (p->p_type != PT_NOTE)
			continue;
		while (end - at >= (ptrdiff_t) sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *note = (const ElfW(Nhdr) *) at;
			const char *name = at + sizeof(*note);
			const unsigned char *desc = (const unsigned char *) name +
						    ((note->n_namesz + 3) & ~3u);
			unsigned k;

			if ((const char *) desc + note->n_descsz > end)
				break;
			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
			    !memcmp(name, "GNU", 4)) {
				for (k = 0; k < note->n_descsz && 2 * k + 2 < size; k++) {
					ret_hex[2 * k] = digits[desc[k] >> 4];
					ret_hex[2 * k + 1] = digits[desc[k] & 15];
					ret_hex[2 * k + 2] = '\0';
				}
				return;
			}
			at = (const char *) desc + ((note->n_descsz + 3) & ~3u);
		}
	}
}

/* Under the lock, which guards the static buffer: the caller's stack may be small. */
static char *path_of(const struct object *o)
{
	static char path[PATH_MAX];
	ssize_t len;

	if (o->name[0])
		return strchr(o->name, '/') ? realpath(o->name, NULL) : strdup(o->name);
	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (len < 0)
		return NULL;
	path[len] = '\0';
	return strdup(path);
}

/*
 * Distinguishes NCCL from a library that interposes its calls: the latter does not define
 * the profiling names.
 */
static enum tap_library_nccl nccl_in(const struct object *o)
{
	const char *soname;

	if (!o->dynamic || !tap_elf_find(o->base, o->dynamic, "ncclCommInitRank") ||
	    !tap_elf_find(o->base, o->dynamic, "pncclCommInitRank"))
		return TAP_NO_NCCL;
	soname = tap_elf_soname(o->base, o->dynamic);
	if (soname && (!strncmp(soname, "libnccl", 7) || !strncmp(soname, "librccl", 7)))
		return TAP_IS_NCCL;
	return TAP_HAS_NCCL;
}

struct append {
	uintptr_t address;
	uintptr_t start, end; /* of the object; 0 when there is none */
};

static int append_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct object o = object_of(info);
	struct append *want = data;
	struct library *l;

	(void) size;
	if (!holds(&o, want->address))
		return 0;
	l = &libraries[nr_libraries];
	l->base = o.base;
	l->code_start = o.code_start;
	l->code_end = o.code_end;
	l->unwind = o.unwind;
	l->path = path_of(&o);
	read_build_id(&o, l->build_id, sizeof(l->build_id));
	l->nccl = nccl_in(&o);
	want->start = o.start;
	want->end = o.end;
	return 1;
}

static int find(uintptr_t address)
{
	const unsigned nr = __atomic_load_n(&nr_libraries, __ATOMIC_ACQUIRE);
	unsigned i;

	for (i = 0; i < nr; i++)
		if (address < __atomic_load_n(&libraries[i].end, __ATOMIC_ACQUIRE) &&
		    address >= __atomic_load_n(&libraries[i].start, __ATOMIC_RELAXED))
			return (int) i;
	return -1;
}

/* Under the lock.  Writes the event before any thread can use the number. */
static int append(uintptr_t address, const char *layer)
{
	struct append want = {.address = address};
	const unsigned i = nr_libraries;

	if (i == NR_LIBRARIES || !visit(address, append_object, &want))
		return -1;
	snprintf(libraries[i].layer, sizeof(libraries[i].layer), "%s", layer);
	announce(i);
	__atomic_store_n(&libraries[i].start, want.start, __ATOMIC_RELAXED);
	__atomic_store_n(&libraries[i].end, want.end, __ATOMIC_RELEASE);
	__atomic_store_n(&nr_libraries, i + 1, __ATOMIC_RELEASE);
	return (int) i;
}

static int find_or_append(uintptr_t address, const char *layer)
{
	int i = find(address);

	if (i >= 0 && (!layer[0] || libraries[i].layer[0]))
		return i;
	if (!tap_lock_take(&lock))
		return i;
	i = find(address); /* Another thread may have been here first. */
	if (i < 0) {
		i = append(address, layer);
	} else if (layer[0] && !libraries[i].layer[0]) {
		snprintf(libraries[i].layer, sizeof(libraries[i].layer), "%s", layer);
		announce((unsigned) i);
	}
	tap_lock_drop(&lock);
	return i;
}

static uint32_t number_of(const void *address, uint64_t *ret_offset, const char *layer)
{
	const int i = find_or_append((uintptr_t) address, layer);

	*ret_offset = (uintptr_t) address - (i < 0 ? 0 : libraries[i].base);
	return (uint32_t) (i + 1);
}

uint32_t tap_library_of(const void *address, uint64_t *ret_offset)
{
	return number_of(address, ret_offset, "");
}

uint32_t tap_library_traced(const void *address, const char *layer)
{
	uint64_t offset;

	return number_of(address, &offset, layer);
}

bool tap_library_has_code(uint32_t library_id, uintptr_t address)
{
	const struct library *l = &libraries[library_id - 1];

	return __atomic_load_n(&l->end, __ATOMIC_ACQUIRE) && address >= l->code_start &&
	       address < l->code_end;
}

struct tap_cfi_tables tap_library_unwind(uint32_t library_id)
{
	const struct library *l = &libraries[library_id - 1];

	return (struct tap_cfi_tables){.header = l->unwind,
				       .start = l->start,
				       .end = __atomic_load_n(&l->end, __ATOMIC_ACQUIRE)};
}

uintptr_t tap_library_address(uint32_t library_id)
{
	return libraries[library_id - 1].base;
}

bool tap_library_calls_itself(uint32_t library_id, bool inside_call)
{
	if (!library_id || libraries[library_id - 1].nccl == TAP_NO_NCCL)
		return false;
	return inside_call || libraries[library_id - 1].nccl == TAP_IS_NCCL;
}

/* tap:library for every object numbered so far. */
static void announce_all(void)
{
	const unsigned nr = __atomic_load_n(&nr_libraries, __ATOMIC_ACQUIRE);
	unsigned i;

	for (i = 0; i < nr; i++)
		if (libraries[i].end)
			announce(i);
}

/* tap:statedump_library for each numbered object that is loaded. */
static void write_statedump(struct tap_state_counts *counts)
{
	const unsigned nr = __atomic_load_n(&nr_libraries, __ATOMIC_ACQUIRE);
	unsigned i;

	for (i = 0; i < nr; i++) {
		const struct tap_library l = describe(i);

		if (!__atomic_load_n(&libraries[i].end, __ATOMIC_ACQUIRE))
			continue;
		tap_events_table->statedump_library(&l);
		counts->libraries++;
	}
}

const struct tap_layer tap_layer_libraries = {
	.announce = announce_all,
	.write_statedump = write_statedump,
	.lock = &lock,
};

/* Watched objects; without room for another, every unloading counts. */
static struct watched {
	uintptr_t start, end, base;
	bool is_loaded; /* used by the walk alone */
} watched[64];
static unsigned nr_watched;
static bool is_watching_all;

static int find_object(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct object o = object_of(info);
	struct watched *w = data;

	(void) size;
	if (!holds(&o, w->start))
		return 0;
	*w = (struct watched){.start = o.start, .end = o.end, .base = o.base};
	return 1;
}

static bool is_watched(uintptr_t address)
{
	const unsigned nr = __atomic_load_n(&nr_watched, __ATOMIC_ACQUIRE);
	unsigned i;

	for (i = 0; i < nr; i++)
		if (address < __atomic_load_n(&watched[i].end, __ATOMIC_ACQUIRE) &&
		    address >= watched[i].start)
			return true;
	return false;
}

/* Under the lock: a free or new place, NULL when there is none. */
static struct watched *free_place(void)
{
	unsigned i;

	for (i = 0; i < nr_watched; i++)
		if (!watched[i].end)
			return &watched[i];
	if (nr_watched == ARRAY_SIZE(watched))
		return NULL;
	__atomic_store_n(&nr_watched, nr_watched + 1, __ATOMIC_RELEASE);
	return &watched[i];
}

void tap_library_watch(const void *address)
{
	struct watched w = {.start = (uintptr_t) address}, *place;

	if (is_watched(w.start) || !visit(w.start, find_object, &w))
		return;
	if (!tap_lock_take(&lock)) {
		is_watching_all = true;
		return;
	}
	place = is_watched(w.start) ? NULL : free_place();
	if (place) {
		place->start = w.start;
		place->base = w.base;
		__atomic_store_n(&place->end, w.end, __ATOMIC_RELEASE);
	} else if (!is_watched(w.start)) {
		is_watching_all = true;
	}
	tap_lock_drop(&lock);
}

/* Called for every loaded object: marks it if it is numbered or watched. */
static int mark_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct object o = object_of(info);
	bool *loaded = data;
	int i = find(o.start);
	unsigned k;

	(void) size;
	if (i >= 0 && libraries[i].base == o.base)
		loaded[i] = true;
	for (k = 0; k < nr_watched; k++)
		if (watched[k].start == o.start && watched[k].base == o.base)
			watched[k].is_loaded = true;
	return 0;
}

/* Under the lock: drops unloaded objects; returns whether there were any. */
static bool drop_gone(void)
{
	struct dl_phdr_info info;
	bool is_gone = false;
	unsigned i;

	for (i = 0; i < nr_watched; i++) {
		struct watched *w = &watched[i];

		if (!w->end || w->is_loaded || find_elsewhere(w->start, &info)) {
			w->is_loaded = false;
			continue;
		}
		__atomic_store_n(&w->end, 0, __ATOMIC_RELEASE);
		is_gone = true;
	}
	return is_gone;
}

static int read_unloads(struct dl_phdr_info *info, size_t size, void *data)
{
	(void) size;
	*(unsigned long long *) data = info->dlpi_subs;
	return 1;
}

bool tap_libraries_unloaded(void)
{
	bool loaded[NR_LIBRARIES] = {false}, is_gone;
	unsigned long long unloads = 0;
	struct dl_phdr_info info;
	unsigned i;

	tap_walk(read_unloads, &unloads);
	if (__atomic_exchange_n(&last_unloads, unloads, __ATOMIC_RELAXED) == unloads)
		return false;
	__atomic_fetch_add(&tap_any_unloads, 1, __ATOMIC_RELEASE);
	if (!tap_lock_take(&lock)) {
		__atomic_fetch_add(&tap_library_unloads, 1, __ATOMIC_RELEASE);
		return true;
	}
	tap_walk(mark_loaded, loaded);
	for (i = 0; i < nr_libraries; i++)
		if (!loaded[i] && libraries[i].end &&
		    !find_elsewhere(libraries[i].start, &info)) {
			__atomic_store_n(&libraries[i].end, 0, __ATOMIC_RELEASE);
			__atomic_fetch_add(&tap_library_unloads, 1, __ATOMIC_RELEASE);
		}
	is_gone = drop_gone() || is_watching_all;
	tap_lock_drop(&lock);
	return is_gone;
}

struct search {
	const char *name;
	uintptr_t ours, caller;
	struct object caller_object;
	/* The caller's definition; that of a library it needs; the first loaded. */
	void *own, *needed, *first;
	unsigned nr;
	/* The first one after the caller among those loaded with the program. */
	void *next;
	unsigned index, caller_index; /* from 1, 0: not found yet */
};

/*
 * Objects loaded with the program, before any of its code ran: they are never unloaded.
 */
static unsigned nr_initial;

static int count_object(struct dl_phdr_info *info, size_t size, void *data)
{
	(void) info;
	(void) size;
	++*(unsigned *) data;
	return 0;
}

__attribute__((constructor)) static void count_initial(void)
{
	unsigned nr = 0;

	tap_walk(count_object, &nr);
	nr_initial = nr;
}

static int find_caller(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *d = data;
	const struct object o = object_of(info);

	(void) size;
	if (!holds(&o, d->caller))
		return 0;
	d->caller_object = o;
	return 1;
}

static int find_definition(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct object o = object_of(info);
	struct search *d = data;
	const unsigned index = ++d->index;
	const bool is_caller = holds(&o, d->caller);
	const char *soname;
	void *found;

	(void) size;
	if (is_caller)
		d->caller_index = index;
	if (!o.dynamic || holds(&o, d->ours))
		return 0;
	found = tap_elf_find(o.base, o.dynamic, d->name);
	if (!found)
		return 0;
	d->nr++;
	if (!d->first)
		d->first = found;
	if (is_caller)
		d->own = found;
	else if (d->caller_index && index <= nr_initial && !d->next)
		d->next = found;
	soname = tap_elf_soname(o.base, o.dynamic);
	if (!d->needed && soname && d->caller_object.dynamic &&
	    tap_elf_needs(d->caller_object.base, d->caller_object.dynamic, soname))
		d->needed = found;
	return 0;
}

static struct search define(const char *name, const void *caller)
{
	struct search d = {.name = name,
			       .ours = (uintptr_t) &tap_library_definition,
			       .caller = (uintptr_t) caller};

	tap_walk(find_caller, &d);
	tap_walk(find_definition, &d);
	return d;
}

/*
 * The linker searches the global scope first, then the caller's own, which begins with
 * the caller or with the object that loaded it.  With one definition in the process both
 * find the same, and no dlsym() is needed that could fail and leave an error for
 * dlerror().
 */
struct tap_definition tap_library_definition(const char *name, const void *caller)
{
	const struct search d = define(name, caller);
	struct tap_definition found = {.function = d.first,
				       .nr = d.nr,
				       .caller_start = d.caller_object.start,
				       .caller_end = d.caller_object.end};
	void *global;

	if (d.nr < 2)
		return found;
	global = tap_real_dlsym(RTLD_NEXT, name);
	if (global) {
		found.function = global;
		found.nr = 1;
		return found;
	}
	dlerror();
	if (d.own)
		found.function = d.own;
	else if (d.needed)
		found.function = d.needed;
	return found;
}

void *tap_library_needed(const char *name, const void *caller)
{
	return define(name, caller).needed;
}

void *tap_library_next(const char *name, const void *caller)
{
	const struct search d = define(name, caller);

	if (!d.caller_index)
		return NULL;
	/* Objects loaded with the program are in one scope, in the order of loading. */
	if (d.caller_index <= nr_initial)
		return d.next;
	/*
	 * Of other scopes only DT_NEEDED is known, so only a single candidate is certain.
	 */
	return d.nr == (d.own ? 2 : 1) ? d.needed : NULL;
}

bool tap_library_loaded(const void *address)
{
	struct search d = {.caller = (uintptr_t) address};

	return visit((uintptr_t) address, find_caller, &d);
}

/*
 * libstdc++ exports the function behind the constructor of std::thread (since GCC 6).  An
 * object with NCCL may have libstdc++ linked in, out of sight, unless it needs the library.
 */
static bool starts_threads(const struct object *o, enum tap_library_nccl nccl)
{
	if (!o->dynamic)
		return false;
	if (nccl != TAP_NO_NCCL)
		return !tap_elf_needs(o->base, o->dynamic, "libstdc++.so.6");
	return tap_elf_find(o->base, o->dynamic,
			    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14"
			    "default_deleteIS1_EEPFvvE");
}

static int find_range(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct object o = object_of(info);
	struct tap_library_range *range = data;

	(void) size;
	if (!holds(&o, range->start))
		return 0;
	*range = (struct tap_library_range){.start = o.start,
					    .end = o.end,
					    .code_start = o.code_start,
					    .code_end = o.code_end,
					    .nccl = nccl_in(&o)};
	range->starts_std_threads = starts_threads(&o, range->nccl);
	return 1;
}

struct tap_library_range tap_library_range(const void *address)
{
	struct tap_library_range range = {.start = (uintptr_t) address};

	if (!visit(range.start, find_range, &range))
		range.start = 0;
	return range;
}

static struct base {
	uintptr_t function, base;
	uint32_t epoch;
} bases[16];
static unsigned next_base;

/*
 * Entries are written under the lock, function cleared first and written last: a reader
 * that finds it unchanged has read one entry.
 */
uintptr_t tap_library_base(const void *function)
{
	struct search d = {.caller = (uintptr_t) function};
	struct tap_guard guard;
	struct base *b;
	uintptr_t base;
	uint32_t epoch;
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(bases); i++) {
		b = &bases[i];
		if (__atomic_load_n(&b->function, __ATOMIC_ACQUIRE) != d.caller)
			continue;
		base = __atomic_load_n(&b->base, __ATOMIC_RELAXED);
		epoch = __atomic_load_n(&b->epoch, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&b->function, __ATOMIC_RELAXED) == d.caller &&
		    epoch == tap_epoch)
			return base;
	}
	guard = tap_guard_set();
	if (visit(d.caller, find_caller, &d) && tap_lock_take(&lock)) {
		b = &bases[next_base++ % ARRAY_SIZE(bases)];
		__atomic_store_n(&b->function, 0, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		__atomic_store_n(&b->base, d.caller_object.base, __ATOMIC_RELAXED);
		__atomic_store_n(&b->epoch, tap_epoch, __ATOMIC_RELAXED);
		__atomic_store_n(&b->function, d.caller, __ATOMIC_RELEASE);
		tap_lock_drop(&lock);
	}
	tap_guard_clear(guard);
	return d.caller_object.base;
}

struct functions {
	uintptr_t address;
	const char *soname;
	const char *const *names;
	void **found;
	unsigned nr;
};

static int find_functions(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct object o = object_of(info);
	const struct functions *want = data;
	const char *soname;
	unsigned i;

	(void) size;
	if (!o.dynamic)
		return 0;
	if (want->soname) {
		soname = tap_elf_soname(o.base, o.dynamic);
		if (!soname || strncmp(soname, want->soname, strlen(want->soname)) != 0)
			return 0;
	} else if (!holds(&o, want->address)) {
		return 0;
	}
	for (i = 0; i < want->nr; i++)
		want->found[i] = tap_elf_find(o.base, o.dynamic, want->names[i]);
	return 1;
}

void tap_library_functions(const void *address, const char *soname,
			   const char *const *names, void **ret_functions, unsigned nr)
{
	struct functions want = {.address = (uintptr_t) address,
				 .soname = soname,
				 .names = names,
				 .found = ret_functions,
				 .nr = nr};

	if (soname)
		tap_walk(find_functions, &want);
	else
		visit((uintptr_t) address, find_functions, &want);
}

struct beside {
	uintptr_t ours;
	const char *file;
	char *path;
	size_t size;
	int result;
};

static int own_path(struct dl_phdr_info *info, size_t size, void *data)
{
	const struct object o = object_of(info);
	struct beside *b = data;
	const char *slash;
	int len;

	(void) size;
	if (!holds(&o, b->ours))
		return 0;
	slash = strrchr(o.name, '/');
	len = snprintf(b->path, b->size, "%.*s%s", slash ? (int) (slash - o.name + 1) : 0,
		       o.name, b->file);
	b->result = len < (int) b->size ? 0 : -ENAMETOOLONG;
	return 1;
}

int tap_library_beside(const char *file, char *ret_path, size_t size)
{
	struct beside b = {.ours = (uintptr_t) &tap_library_beside,
			   .file = file,
			   .path = ret_path,
			   .size = size,
			   .result = -ENOENT};

	tap_walk(own_path, &b);
	return b.result;
}
