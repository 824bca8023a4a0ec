/* SPDX-License-Identifier: MIT */
/*
 * A doubly linked list through a member of its items, with types: any item leaves it
 * at once, from wherever it stands, and nothing is allocated.
 *
 * Hides the four pointers that an insertion or a removal has to set.  Walking is open:
 * for (item = list.first; item; item = item->link.after); a loop that removes items
 * takes link.after first.
 *
 * The list does not own its items: it neither frees them nor knows whether an item is in
 * a list.  An item that is removed has no neighbours; one with two links can be in two
 * lists.  All zero is an empty list, and a list may be moved as a whole.
 *
 * doc/decisions/0014-lists-and-arrays-are-two-small-headers.md says why not sys/queue.h.
 */
#ifndef TAP_COMMON_LIST_H
#define TAP_COMMON_LIST_H

#include <stddef.h>

#define TAP_LIST(type) \
	struct { \
		type *first, *last; \
	}

/* The member of an item. */
#define TAP_LIST_LINK(type) \
	struct { \
		type *before, *after; \
	}

/* `link` names the member of the items that this list uses. */

/* Inserts behind `where`, an item of the list; NULL: at the beginning. */
#define tap_list_insert(list, where, item, link) \
	do { \
		__typeof__(list) list_ = (list); \
		__typeof__(item) item_ = (item); \
		__typeof__(item) where_ = (where); \
		__typeof__(item) *to_ = where_ ? &where_->link.after : &list_->first; \
		item_->link.before = where_; \
		item_->link.after = *to_; \
		*(*to_ ? &(*to_)->link.before : &list_->last) = item_; \
		*to_ = item_; \
	} while (0)

#define tap_list_append(list, item, link) tap_list_insert(list, (list)->last, item, link)

#define tap_list_prepend(list, item, link) tap_list_insert(list, NULL, item, link)

#define tap_list_remove(list, item, link) \
	do { \
		__typeof__(list) list_ = (list); \
		__typeof__(item) item_ = (item); \
		__typeof__(item) before_ = item_->link.before; \
		__typeof__(item) after_ = item_->link.after; \
		*(before_ ? &before_->link.after : &list_->first) = after_; \
		*(after_ ? &after_->link.before : &list_->last) = before_; \
		item_->link.before = item_->link.after = NULL; \
	} while (0)

/* Removes and returns the first item; NULL when the list is empty. */
#define tap_list_take_first(list, link) \
	({ \
		__typeof__((list)->first) taken_ = (list)->first; \
		if (taken_) \
			tap_list_remove(list, taken_, link); \
		taken_; \
	})

#endif
