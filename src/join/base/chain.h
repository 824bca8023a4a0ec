/* SPDX-License-Identifier: MIT */
/*
 * Several items under one key of a table: the table holds the first item, each item
 * points to the next.
 *
 * Hides that removing the first item makes the table hold the next one, which cannot
 * fail.  Neither the table nor the chain owns the items.  Callers walk a chain
 * themselves: for (item = tap_table_find(table, a, b); item; item = item->next).
 */
#ifndef TAP_JOIN_BASE_CHAIN_H
#define TAP_JOIN_BASE_CHAIN_H

#include "join/base/table.h"

/* In all macros, `next` is the member of the item that links the chain. */

/* Puts the item before all others of its key.  Returns 0 or -ENOMEM. */
#define tap_chain_push(table, a, b, item, next) \
	((item)->next = tap_table_find(table, a, b), tap_table_set(table, a, b, item))

/* Puts the item behind all others of its key.  Returns 0 or -ENOMEM. */
#define tap_chain_append(table, a, b, item, next) \
	({ \
		__typeof__(item) last_ = tap_table_find(table, a, b); \
		(item)->next = NULL; \
		while (last_ && last_->next) \
			last_ = last_->next; \
		if (last_) \
			last_->next = (item); \
		last_ ? 0 : tap_table_set(table, a, b, item); \
	})

/* Takes the item, which is in the chain of this key, out. */
#define tap_chain_remove(table, a, b, item, next) \
	do { \
		__typeof__(item) other_ = tap_table_find(table, a, b); \
		if (other_ != (item)) { \
			while (other_->next != (item)) \
				other_ = other_->next; \
			other_->next = (item)->next; \
		} else if ((item)->next) { \
			/* In the place of the first: that needs no memory. */ \
			tap_table_replace(table, a, b, (item)->next); \
		} else { \
			tap_table_remove(table, a, b); \
		} \
		(item)->next = NULL; \
	} while (0)

#endif
