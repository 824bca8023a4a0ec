/* SPDX-License-Identifier: MIT */
/*
 * What the tracer knows of each object of libibverbs, by address.
 *
 * It hides memory that only grows, and a hash table that is read without a lock: posts
 * and polls look their queue up here.  Each table numbers its objects from 1 and never
 * uses a number again, so a new object at an old address has another number.
 */
#ifndef TAP_VERBS_TABLE_H
#define TAP_VERBS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/* The head of each structure that a table keeps. */
struct tap_object {
	const void *address; /* NULL: it is not in the table */
	struct tap_object *hash_next;
	struct tap_object *next, **at; /* of all objects, under the lock */
	uint32_t id;
};

#define TAP_TABLE_BITS 10
#define TAP_TABLE_BUCKETS (1 << TAP_TABLE_BITS)

struct tap_table {
	struct tap_object *buckets[TAP_TABLE_BUCKETS];
	size_t size; /* of one object */
	struct tap_object *all;
	struct tap_object *unused, **last_unused; /* oldest first */
	unsigned nr_unused;
	char *chunk;
	size_t chunk_left;
	uint32_t last_id;
};

/* Multiplicative hashing by the highest bits (Knuth, TAOCP 3, 6.4). */
static inline size_t tap_table_bucket(const void *address)
{
	return (uintptr_t) address * UINT64_C(0x9e3779b97f4a7c15) >>
	       (64 - TAP_TABLE_BITS);
}

/*
 * The object at this address, or NULL.  The walk may miss an object if another one on its
 * way is removed and used anew meanwhile, so a caller that finds none asks
 * tap_table_find().
 */
static inline void *tap_table_look(const struct tap_table *table, const void *address)
{
	struct tap_object *o = __atomic_load_n(&table->buckets[tap_table_bucket(address)],
					       __ATOMIC_ACQUIRE);

	while (o && __atomic_load_n(&o->address, __ATOMIC_RELAXED) != address)
		o = __atomic_load_n(&o->hash_next, __ATOMIC_ACQUIRE);
	return o;
}

/* The same under the lock, which it takes: it misses none. */
void *tap_table_find(struct tap_table *table, const void *address) tap_hidden;

/*
 * tap_table_make() returns a new object, all zero but for its head, or NULL when there is
 * no memory.  tap_table_show() puts it into the table at address, in place of an object
 * that was there.
 */
void *tap_table_make(struct tap_table *table) tap_hidden;
void tap_table_show(struct tap_table *table, void *object,
		    const void *address) tap_hidden;

/*
 * tap_table_hide() removes the object from the table; then tap_table_show() puts it back
 * or tap_table_free() frees it.
 */
void *tap_table_hide(struct tap_table *table, const void *address) tap_hidden;
void tap_table_free(struct tap_table *table, void *object) tap_hidden;

/* Removes and frees an object, unless another one has replaced it at its address. */
void tap_table_drop(struct tap_table *table, void *object) tap_hidden;

/* The lock of all tables; false if it cannot be taken.  tap_table_each() needs it. */
bool tap_tables_lock(void) tap_hidden;
void tap_tables_unlock(void) tap_hidden;

#define tap_table_each(table, o) \
	for (o = (void *) (table)->all; o; o = (void *) ((struct tap_object *) o)->next)

#endif
