/* SPDX-License-Identifier: MIT */
/*
 * A typed array that grows.
 *
 * It hides how much room there is, by how much it grows (to twice as much, so that the
 * cost of adding an item does not depend on the size), and that a size may overflow.
 * Growing fails with -ENOMEM and then leaves the array as it was.
 *
 * The array owns its items' memory, and nothing that they point to.  Pointers into it
 * become invalid when it grows.  All zero is an empty array.
 *
 * It allocates: code that runs inside the traced program must not use it.
 */
#ifndef TAP_COMMON_VEC_H
#define TAP_COMMON_VEC_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"

#define TAP_VEC(type) \
	struct { \
		type *items; \
		size_t count, room; \
	}

/* Makes room for this many items in all.  Returns 0 or -ENOMEM. */
#define tap_vec_reserve(vec, wanted) \
	tap_vec_reserve_bytes(&(vec)->items, &(vec)->room, wanted, sizeof(*(vec)->items))

/* The same for an array whose pointer and room have other names. */
#define tap_array_reserve(items, room, wanted) \
	tap_vec_reserve_bytes(&(items), &(room), wanted, sizeof(*(items)))

/* Adds an item of this value.  Returns 0 or -ENOMEM. */
#define tap_vec_add(vec, item) \
	(tap_vec_reserve(vec, (vec)->count + 1) \
		 ? -ENOMEM \
		 : ((vec)->items[(vec)->count++] = (item), 0))

/* Sets the number of items; new items are all zero.  Returns 0 or -ENOMEM. */
#define tap_vec_resize(vec, wanted) \
	tap_vec_resize_bytes(&(vec)->items, &(vec)->count, &(vec)->room, wanted, \
			     sizeof(*(vec)->items))

/*
 * The index of the first item, from index `from` on, for which the condition holds; it
 * holds for all behind that one, too.  The count of items: it holds for none.  `item` is
 * what the condition calls a pointer to an item.
 */
#define tap_vec_search(vec, from, item, condition) \
	({ \
		size_t tap_low = (from), tap_high = (vec)->count; \
\
		while (tap_low < tap_high) { \
			const size_t tap_middle = tap_low + (tap_high - tap_low) / 2; \
			const __typeof__((vec)->items[0]) *item = \
				&(vec)->items[tap_middle]; \
\
			if (condition) \
				tap_high = tap_middle; \
			else \
				tap_low = tap_middle + 1; \
		} \
		tap_low; \
	})

/*
 * The index of the first item, from index `from` on, whose `member` is not below
 * `wanted`; both are unsigned, and no item's is below that of one before.  The count of
 * items: all are below.  Faster than a search by halves where the members grow evenly,
 * since it looks first where the item would be if they did.
 */
#define tap_vec_search_even(vec, from, member, wanted) \
	({ \
		const uint64_t tap_wanted = (wanted); \
		size_t tap_low = (from), tap_high = (vec)->count; \
		unsigned int tap_looks = 0; \
\
		while (tap_low < tap_high) { \
			const size_t tap_at = \
				tap_vec_guess(tap_low, tap_high, tap_looks++, \
					      (vec)->items[tap_low].member, \
					      (vec)->items[tap_high - 1].member, \
					      tap_wanted); \
\
			if ((vec)->items[tap_at].member < tap_wanted) \
				tap_low = tap_at + 1; \
			else if (tap_at > tap_low && \
				 (vec)->items[tap_at - 1].member >= tap_wanted) \
				tap_high = tap_at; \
			else \
				tap_low = tap_high = tap_at; \
		} \
		tap_low; \
	})

/* Frees the items' memory; then the array is empty. */
#define tap_vec_free(vec) \
	do { \
		free((vec)->items); \
		(vec)->items = NULL; \
		(vec)->count = (vec)->room = 0; \
	} while (0)

/* Used by the macros above. */

/* `items` is the address of a pointer of any type, hence the copies. */
static tap_cold tap_maybe_unused int tap_vec_grow_bytes(void *items, size_t *room,
							size_t wanted, size_t size)
{
	/* Fewer items are not worth an allocation. */
	size_t larger = *room ? *room : 8, bytes;
	void *memory;

	while (larger < wanted)
		if (__builtin_mul_overflow(larger, 2, &larger))
			return -ENOMEM;
	if (__builtin_mul_overflow(larger, size, &bytes))
		return -ENOMEM;
	memcpy(&memory, items, sizeof(memory));
	memory = realloc(memory, bytes);
	if (!memory)
		return -ENOMEM;
	memcpy(items, &memory, sizeof(memory));
	*room = larger;
	return 0;
}

static inline int tap_vec_reserve_bytes(void *items, size_t *room, size_t wanted,
					size_t size)
{
	return likely(wanted <= *room) ? 0
				       : tap_vec_grow_bytes(items, room, wanted, size);
}

/* So often a search looks where the item would be; after that it goes by halves. */
#define TAP_VEC_GUESSES 4

/*
 * Where to look next, from low to high - 1, of which these are the first and last
 * members.
 */
static inline size_t tap_vec_guess(size_t low, size_t high, unsigned int looks,
				   uint64_t first, uint64_t last, uint64_t wanted)
{
	if (looks >= TAP_VEC_GUESSES)
		return low + (high - low) / 2;
	if (wanted <= first)
		return low;
	if (wanted >= last)
		return high - 1;
	return low + (size_t) ((double) (wanted - first) / (double) (last - first) *
			       (double) (high - 1 - low));
}

static inline int tap_vec_resize_bytes(void *items, size_t *count, size_t *room,
				       size_t wanted, size_t size)
{
	char *memory;

	if (tap_vec_reserve_bytes(items, room, wanted, size))
		return -ENOMEM;
	if (wanted > *count) {
		memcpy(&memory, items, sizeof(memory));
		memset(memory + *count * size, 0, (wanted - *count) * size);
	}
	*count = wanted;
	return 0;
}

#endif
