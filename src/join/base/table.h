/* SPDX-License-Identifier: MIT */
/*
 * A hash table whose keys are pairs of numbers: (process, call), (trace, process),
 * (process, thread).
 *
 * Hides how the table is stored.
 */
#ifndef TAP_JOIN_BASE_TABLE_H
#define TAP_JOIN_BASE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct tap_table_slot {
	uint64_t a;
	uint64_t b;
	void *value; /* NULL in a free slot */
};

/* All zero is an empty table. */
struct tap_table {
	struct tap_table_slot *slots;
	size_t size; /* a power of two, or 0 */
	size_t count;
};

/* Returns the value of (a, b), or NULL. */
void *tap_table_find(const struct tap_table *table, uint64_t a, uint64_t b);

/*
 * Stores value, which is not NULL, under (a, b) in place of the value there.  The table
 * does not own its values.  Returns 0 or -ENOMEM.
 */
int tap_table_set(struct tap_table *table, uint64_t a, uint64_t b, void *value);

/* Replaces the value of (a, b), which exists, by another that is not NULL. */
void tap_table_replace(struct tap_table *table, uint64_t a, uint64_t b, void *value);

/* Removes (a, b).  Returns its value, or NULL. */
void *tap_table_remove(struct tap_table *table, uint64_t a, uint64_t b);

/* A hash of a string, as half of a key; two strings may have the same. */
uint64_t tap_table_hash(const char *string);

/* Frees the table, not the values. */
void tap_table_free(struct tap_table *table);

#endif
