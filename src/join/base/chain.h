/* SPDX-License-Identifier: MIT */
/*
 * Several items under one key of a table: the table has the first, each item the next.
 *
 * Hides that the first may leave, too, when the table has to get another, and that this
 * cannot fail.  Neither the table nor the chain owns the items.  Walking is open:
 * for (item = tap_table_find(table, a, b); item; item = item->next).
 */
#ifndef TAP_JOIN_BASE_CHAIN_H
#define TAP_JOIN_BASE_CHAIN_H

#include "join/base/table.h"

/* `next` is the member of the item that the chain goes through. */

/* Before all others of this key.  Returns 0 or -ENOMEM. */
#define tap_chain_push(table, a, b, item, next) \
	((item)->next = tap_table_find(table, a, b), tap_table_set(table, a, b, item))

/* Behind all others of this key.  Returns 0 or -ENOMEM. */
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

/* The item has this key. */
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
