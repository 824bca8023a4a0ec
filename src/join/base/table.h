/* SPDX-License-Identifier: MIT */
/*
 * The join looks things up by a pair of numbers: (process, call), (trace,
 * process), (process, thread).  This hides how such a table is kept.
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

/* Returns what is kept under (a, b), or NULL. */
void *tap_table_find(const struct tap_table *table, uint64_t a, uint64_t b);

/*
 * Keeps value, which is not NULL, under (a, b) in place of what was there.
 * The table does not own its values.  Returns 0 or -ENOMEM.
 */
int tap_table_set(struct tap_table *table, uint64_t a, uint64_t b, void *value);

/* Keeps value, which is not NULL, in place of what is under (a, b): something is. */
void tap_table_replace(struct tap_table *table, uint64_t a, uint64_t b, void *value);

/* Returns what was kept under (a, b), which is no longer there, or NULL. */
void *tap_table_remove(struct tap_table *table, uint64_t a, uint64_t b);

/* A number for a string that is half of a pair; two may have the same. */
uint64_t tap_table_hash(const char *string);

/* Frees the table, not the values. */
void tap_table_free(struct tap_table *table);

#endif
