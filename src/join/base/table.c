/* SPDX-License-Identifier: MIT */
/* A hash table with linear probing; a removal closes the gap it leaves. */
#include "join/base/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"

#define SMALLEST 16

static size_t place(const struct tap_table *table, uint64_t a, uint64_t b)
{
	uint64_t h = (a + 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;

	h = (h ^ (h >> 31) ^ b) * 0x94d049bb133111ebu;
	return (h ^ (h >> 29)) & (table->size - 1);
}

/* The slot of (a, b), or the free slot where it belongs. */
static inline tap_within struct tap_table_slot *probe(const struct tap_table *table,
						      uint64_t a, uint64_t b)
{
	size_t i = place(table, a, b);

	while (table->slots[i].value &&
	       (table->slots[i].a != a || table->slots[i].b != b))
		i = (i + 1) & (table->size - 1);
	return &table->slots[i];
}

void *tap_table_find(const struct tap_table *table, uint64_t a, uint64_t b)
{
	return table->count ? probe(table, a, b)->value : NULL;
}

static int grow(struct tap_table *table)
{
	struct tap_table larger = {.size = table->size ? table->size * 2 : SMALLEST};
	size_t i;

	larger.slots = calloc(larger.size, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (i = 0; i < table->size; i++) {
		struct tap_table_slot *from = &table->slots[i];

		if (from->value)
			*probe(&larger, from->a, from->b) = *from;
	}
	larger.count = table->count;
	free(table->slots);
	*table = larger;
	return 0;
}

int tap_table_set(struct tap_table *table, uint64_t a, uint64_t b, void *value)
{
	struct tap_table_slot *slot;

	if ((table->count + 1) * 2 > table->size && grow(table))
		return -ENOMEM;
	slot = probe(table, a, b);
	if (!slot->value)
		table->count++;
	slot->a = a;
	slot->b = b;
	slot->value = value;
	return 0;
}

void tap_table_replace(struct tap_table *table, uint64_t a, uint64_t b, void *value)
{
	probe(table, a, b)->value = value;
}

void *tap_table_remove(struct tap_table *table, uint64_t a, uint64_t b)
{
	struct tap_table_slot *slot;
	size_t hole, i, mask = table->size - 1;
	void *value;

	if (!table->count)
		return NULL;
	slot = probe(table, a, b);
	value = slot->value;
	if (!value)
		return NULL;
	table->count--;
	/* A later slot of the same run moves back when its search passes the hole. */
	hole = slot - table->slots;
	for (i = (hole + 1) & mask; table->slots[i].value; i = (i + 1) & mask) {
		size_t home = place(table, table->slots[i].a, table->slots[i].b);

		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		table->slots[hole] = table->slots[i];
		hole = i;
	}
	memset(&table->slots[hole], 0, sizeof(table->slots[hole]));
	return value;
}

uint64_t tap_table_hash(const char *string)
{
	uint64_t hash = 0xcbf29ce484222325u;

	while (*string)
		hash = (hash ^ (unsigned char) *string++) * 0x100000001b3u;
	return hash;
}

void tap_table_free(struct tap_table *table)
{
	free(table->slots);
	memset(table, 0, sizeof(*table));
}
