/* SPDX-License-Identifier: MIT */
/* Sorts copies of pointers: a tree keeps its parts as they came. */
#include "join/views/tree_view.h"

#include "join/model/link.h"
#include "join/model/work.h"
#include "join/views/filters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_begins(const struct tap_tree_part *a, const struct tap_tree_part *b)
{
	const int64_t x = tap_tree_begin_ns(a), y = tap_tree_begin_ns(b);

	return (x > y) - (x < y);
}

static int compare_proxy_ops(const struct tap_tree_part *a, const struct tap_tree_part *b)
{
	static const char *const names[] = {"isSend", "channelId", "peer"};
	size_t i;
	int order = 0;

	for (i = 0; !order && i < sizeof(names) / sizeof(names[0]); i++)
		order = compare_numbers(tap_fields_number(&a->span->entry, names[i]),
					tap_fields_number(&b->span->entry, names[i]));
	return order;
}

static int compare(const void *left, const void *right)
{
	const struct tap_tree_part *a = *(const struct tap_tree_part *const *) left;
	const struct tap_tree_part *b = *(const struct tap_tree_part *const *) right;
	int order = compare_numbers(a->kind, b->kind);

	if (order)
		return order;
	if (a->kind == TAP_TREE_PROXY_OP)
		order = compare_proxy_ops(a, b);
	if (a->kind == TAP_TREE_STEP && a->span && b->span)
		order = compare_numbers(a->span->work.message.number,
					b->span->work.message.number);
	return order ? order : compare_begins(a, b);
}

static int compare_ranks(const void *left, const void *right)
{
	const struct tap_tree_part *a = *(const struct tap_tree_part *const *) left;
	const struct tap_tree_part *b = *(const struct tap_tree_part *const *) right;
	int order =
		compare_numbers((uint64_t) tap_tree_rank(a), (uint64_t) tap_tree_rank(b));

	if (!order)
		order = compare_numbers(a->process->number, b->process->number);
	return order ? order : compare_begins(a, b);
}

int tap_tree_below(const struct tap_tree_part *part, tap_tree_parts *to)
{
	const struct tap_tree_part *below;

	for (below = part->below.first; below; below = below->among.after)
		if (tap_vec_add(to, below))
			return -ENOMEM;
	if (to->count)
		qsort(to->items, to->count, sizeof(*to->items), compare);
	return 0;
}

/* ---- What is shown ---- */

static bool is_rank_wanted(const struct tap_tree_view *view,
			   const struct tap_tree_part *first)
{
	const struct tap_filters *filters = view->view.filters;

	return !filters || (tap_filters_pass_rank(filters, tap_tree_rank(first)) &&
			    tap_filters_pass_host(filters, first->process));
}

bool tap_tree_is_wanted(const struct tap_tree_view *view, const struct tap_tree *tree)
{
	const struct tap_filters *filters = view->view.filters;
	const struct tap_tree_operation *operation = tree->operations.items;
	size_t i;

	for (i = 0; i < tree->operations.count; i++, operation++)
		if (!filters ||
		    (tap_filters_pass_number(filters, operation->number) &&
		     (operation->comm
			      ? tap_filters_pass_communicator(filters, operation->comm)
			      : !filters->given[TAP_FILTER_COMM])))
			return true;
	return false;
}

int tap_tree_firsts(const struct tap_tree_view *view, const struct tap_tree *tree,
		    tap_tree_parts *to)
{
	const struct tap_tree_part *part;

	for (part = tree->parts; part; part = part->next)
		if (!part->parent && is_rank_wanted(view, part) && tap_vec_add(to, part))
			return -ENOMEM;
	if (to->count)
		qsort(to->items, to->count, sizeof(*to->items), compare_ranks);
	return 0;
}

int64_t tap_tree_origin_ns(const struct tap_tree *tree)
{
	const struct tap_tree_part *part;
	int64_t begin_ns = -1, ns;

	for (part = tree->parts; part; part = part->next) {
		ns = tap_tree_begin_ns(part);
		if (ns >= 0 && (begin_ns < 0 || ns < begin_ns))
			begin_ns = ns;
	}
	return begin_ns;
}

void tap_tree_add_id(struct tap_buffer *text, const struct tap_tree_part *part)
{
	switch (part->kind) {
	case TAP_TREE_GROUP:
	case TAP_TREE_COLL:
		tap_buffer_add_unsigned(text, part->process->number);
		tap_buffer_add_string(text,
				      part->kind == TAP_TREE_GROUP ? ".group" : ".coll");
		tap_buffer_add_unsigned(text, part->b & ~(UINT64_C(1) << 63));
		if (part->b >> 63)
			tap_buffer_add_char(text, 'k');
		return;
	default:
		break;
	}
	if (part->span && part->span->work.kind) {
		tap_work_add_id(text, part->process, &part->span->work);
	} else if (part->span) {
		tap_buffer_add_unsigned(text, part->process->number);
		tap_buffer_add_char(text, '.');
		tap_buffer_add_unsigned(text, part->span->call_id);
	}
}

void tap_tree_add_key(struct tap_buffer *text, const struct tap_tree_operation *operation)
{
	if (operation->sender >= 0 || operation->receiver >= 0) {
		tap_buffer_add_signed(text, operation->sender);
		tap_buffer_add_char(text, '>');
		tap_buffer_add_signed(text, operation->receiver);
	} else {
		tap_buffer_add_string(text, "all");
	}
	tap_buffer_add_char(text, '.');
	tap_buffer_add_unsigned(text, operation->number);
}
