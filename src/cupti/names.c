/* SPDX-License-Identifier: MIT */
/* A table that is read without a lock, with copies of the names. */
#include "cupti/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "common/lock.h"
#include "intercept/resolve.h"

#define NR_PLACES 16384
#define NR_PROBES 32
#define NAME_MAX_BYTES 4096

/* A place is for one address and one name there; add() writes the copy last. */
struct place {
	const char *address;
	uint64_t number;
	const char *copy; /* NULL: the place is free */
};

static struct place places[NR_PLACES];
static uint64_t last_number;
static struct tap_lock lock; /* held to add a name */
static int has_reported_full;

static struct {
	char *at;
	size_t left;
} copies;

static unsigned first_place(const char *address)
{
	return (unsigned) (((uintptr_t) address >> 3) * 0x9e3779b97f4a7c15 >> 50);
}

/* Returns the place of the name, or a free place, or NULL. */
static struct place *find(const char *name)
{
	const unsigned first = first_place(name);
	unsigned i;

	for (i = 0; i < NR_PROBES; i++) {
		struct place *p = &places[(first + i) % NR_PLACES];
		const char *copy = __atomic_load_n(&p->copy, __ATOMIC_ACQUIRE);

		if (!copy ||
		    (p->address == name && !strncmp(copy, name, NAME_MAX_BYTES - 1)))
			return p;
	}
	return NULL;
}

/* Under the lock.  Returns NULL when there is no memory. */
static const char *keep(const char *name)
{
	const size_t length = strnlen(name, NAME_MAX_BYTES - 1);
	char *kept;

	if (copies.left < length + 1) {
		const size_t size = 256 * 1024;
		void *more = mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (more == MAP_FAILED)
			return NULL;
		copies.at = more;
		copies.left = size;
	}
	kept = copies.at;
	memcpy(kept, name, length);
	kept[length] = 0;
	copies.left -= length + 1;
	copies.at += length + 1;
	return kept;
}

/* Under the lock. */
static uint64_t add(const char *name)
{
	struct place *p = find(name);
	const char *copy;

	if (p && p->copy)
		return p->number;
	copy = p ? keep(name) : NULL;
	if (!copy)
		return 0;
	p->address = name;
	p->number = ++last_number;
	__atomic_store_n(&p->copy, copy, __ATOMIC_RELEASE);
	tap_events_table->gpu.name(p->number, copy, false);
	return p->number;
}

uint64_t tap_cupti_name(const char *name)
{
	const struct place *p;
	uint64_t number = 0;

	if (!name)
		return 0;
	p = find(name);
	if (likely(p && p->copy))
		return p->number;
	if (tap_lock_take(&lock)) {
		number = add(name);
		tap_lock_drop(&lock);
	}
	if (!number && !__atomic_exchange_n(&has_reported_full, 1, __ATOMIC_RELAXED))
		tap_problem("not recorded", "names of kernels: there are too many", 1);
	return number;
}

void tap_cupti_names_write(void)
{
	unsigned i;

	for (i = 0; i < NR_PLACES; i++) {
		const char *copy = __atomic_load_n(&places[i].copy, __ATOMIC_ACQUIRE);

		if (copy)
			tap_events_table->gpu.name(places[i].number, copy, true);
	}
}

void tap_cupti_names_fork_child(void)
{
	tap_lock_drop(&lock);
}
