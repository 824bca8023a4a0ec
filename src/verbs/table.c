/* SPDX-License-Identifier: MIT */
/* Objects by address, in mapped memory that only grows. */
#include "verbs/table.h"

#include <string.h>
#include <sys/mman.h>

#include "common/lock.h"

#define CHUNK_BYTES (1 << 16)
/*
 * A thread may walk a bucket while an object is removed from it: the object is not used
 * again until this many others have been freed too.
 */
#define NR_RESTING 64

static struct tap_lock lock;

bool tap_tables_lock(void)
{
	return tap_lock_take(&lock);
}

void tap_tables_unlock(void)
{
	tap_lock_drop(&lock);
}

void *tap_table_find(struct tap_table *table, const void *address)
{
	void *found;

	if (!tap_tables_lock())
		return NULL;
	found = tap_table_look(table, address);
	tap_tables_unlock();
	return found;
}

static struct tap_object *take(struct tap_table *table)
{
	struct tap_object *o = table->unused;
	void *memory;

	if (table->nr_unused > NR_RESTING) {
		table->unused = o->next;
		table->nr_unused--;
		return o;
	}
	if (table->chunk_left < table->size) {
		memory = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (memory == MAP_FAILED)
			return NULL;
		table->chunk = memory;
		table->chunk_left = CHUNK_BYTES;
	}
	o = (struct tap_object *) (void *) table->chunk;
	table->chunk += table->size;
	table->chunk_left -= table->size;
	return o;
}

void *tap_table_make(struct tap_table *table)
{
	struct tap_object *o, *old_next;

	if (!tap_tables_lock())
		return NULL;
	o = take(table);
	if (o) {
		/* A thread may still follow this pointer to the next object. */
		old_next = o->hash_next;
		memset(o, 0, table->size);
		__atomic_store_n(&o->hash_next, old_next, __ATOMIC_RELEASE);
		o->id = ++table->last_id;
	}
	tap_tables_unlock();
	return o;
}

/* Under the lock. */
static void hash_remove(struct tap_table *table, struct tap_object *o)
{
	struct tap_object **at = &table->buckets[tap_table_bucket(o->address)];

	while (*at && *at != o)
		at = &(*at)->hash_next;
	if (*at)
		__atomic_store_n(at, o->hash_next, __ATOMIC_RELEASE);
	__atomic_store_n(&o->address, NULL, __ATOMIC_RELEASE);
	*o->at = o->next;
	if (o->next)
		o->next->at = o->at;
}

static void put_unused(struct tap_table *table, struct tap_object *o)
{
	if (!table->nr_unused)
		table->last_unused = &table->unused;
	o->next = NULL;
	*table->last_unused = o;
	table->last_unused = &o->next;
	table->nr_unused++;
}

void tap_table_show(struct tap_table *table, void *object, const void *address)
{
	struct tap_object **bucket = &table->buckets[tap_table_bucket(address)];
	struct tap_object *o = object, *before;

	if (!tap_tables_lock())
		return;
	before = tap_table_look(table, address);
	if (before) {
		hash_remove(table, before);
		put_unused(table, before);
	}
	__atomic_store_n(&o->hash_next, *bucket, __ATOMIC_RELAXED);
	__atomic_store_n(&o->address, address, __ATOMIC_RELEASE);
	__atomic_store_n(bucket, o, __ATOMIC_RELEASE);
	o->next = table->all;
	o->at = &table->all;
	if (o->next)
		o->next->at = &o->next;
	table->all = o;
	tap_tables_unlock();
}

void *tap_table_hide(struct tap_table *table, const void *address)
{
	struct tap_object *o;

	if (!address || !tap_tables_lock())
		return NULL;
	o = tap_table_look(table, address);
	if (o)
		hash_remove(table, o);
	tap_tables_unlock();
	return o;
}

void tap_table_free(struct tap_table *table, void *object)
{
	if (!object || !tap_tables_lock())
		return;
	put_unused(table, object);
	tap_tables_unlock();
}

void tap_table_drop(struct tap_table *table, void *object)
{
	struct tap_object *o = object;

	if (!o || !tap_tables_lock())
		return;
	if (o->address) {
		hash_remove(table, o);
		put_unused(table, o);
	}
	tap_tables_unlock();
}
