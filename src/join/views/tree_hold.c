/* SPDX-License-Identifier: MIT */
/*
 * One table of all parts that are held, a list of trees and one of parts that wait.
 */
#include "join/views/tree_hold.h"

#include "join/base/time.h"
#include "join/views/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most parts that are held: about 200 MB. */
#define PARTS_MAX 131072

/* So long a tree waits for more: CUPTI reports what ran once in a few seconds. */
#define WAIT_NS INT64_C(10000000000)

/* ---- Parts ---- */

struct tap_tree_part *tap_trees_find(const struct tap_trees *trees, uint64_t a,
				     uint64_t b)
{
	return tap_table_find(&trees->parts, a, b);
}

struct tap_tree_part *tap_trees_find_end(const struct tap_trees *trees,
					 const struct tap_link_end *end)
{
	const struct tap_known_id id =
		tap_known_span(end->process, &end->work, end->call_id);

	return tap_trees_find(trees, id.process, id.number);
}

struct tap_tree_part *tap_trees_find_call(const struct tap_trees *trees,
					  const struct tap_process *process,
					  uint64_t call_id)
{
	return call_id ? tap_trees_find(trees, process->number, call_id) : NULL;
}

struct tap_tree_part *tap_trees_make(struct tap_trees *trees, enum tap_tree_kind kind,
				     const struct tap_process *process,
				     struct tap_span *span, uint64_t a, uint64_t b)
{
	struct tap_tree_part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->kind = kind;
	part->process = process;
	part->a = a;
	part->b = b;
	if (tap_table_set(&trees->parts, a, b, part)) {
		free(part);
		return NULL;
	}
	part->span = span ? tap_span_get(span) : NULL;
	tap_list_append(&trees->waiting, part, among);
	trees->count++;
	return part;
}

struct tap_tree_part *tap_trees_make_span(struct tap_trees *trees,
					  enum tap_tree_kind kind, struct tap_span *span)
{
	const struct tap_known_id id =
		tap_known_span(span->process, &span->work, span->call_id);

	return tap_trees_make(trees, kind, span->process, span, id.process, id.number);
}

void tap_trees_drop_second(struct tap_trees *trees, struct tap_tree_part *part)
{
	const struct tap_span *second = part->second;

	if (!second)
		return;
	if (tap_trees_find_call(trees, second->process, second->call_id) == part)
		tap_table_remove(&trees->parts, second->process->number, second->call_id);
	tap_span_put(part->second);
	part->second = NULL;
}

static void free_part(struct tap_trees *trees, struct tap_tree_part *part)
{
	if (tap_trees_find(trees, part->a, part->b) == part)
		tap_table_remove(&trees->parts, part->a, part->b);
	if (part->span)
		tap_span_put(part->span);
	tap_trees_drop_second(trees, part);
	if (part->other)
		part->other->other = NULL;
	trees->count--;
	free(part);
}

/* ---- Trees ---- */

static struct tap_tree *make_tree(struct tap_trees *trees)
{
	struct tap_tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->number = ++trees->numbers;
	tree->last = &tree->parts;
	tree->touched_ns = trees->context->last_ns;
	tap_list_append(&trees->all, tree, all);
	return tree;
}

/* Takes a part that waits, and all that is below it, into a tree. */
static void join_tree(struct tap_tree *tree, struct tap_tree_part *part)
{
	struct tap_tree_part *below;

	part->tree = tree;
	*tree->last = part;
	tree->last = &part->next;
	for (below = part->below.first; below; below = below->among.after)
		join_tree(tree, below);
}

void tap_trees_put_below(struct tap_trees *trees, struct tap_tree_part *parent,
			 struct tap_tree_part *part, enum tap_known known)
{
	if (part->parent || part->tree)
		return;
	tap_list_remove(&trees->waiting, part, among);
	part->parent = parent;
	part->known = known;
	part->place = parent->count++;
	tap_list_append(&parent->below, part, among);
	if (!parent->tree)
		return;
	join_tree(parent->tree, part);
	parent->tree->touched_ns = trees->context->last_ns;
}

int tap_trees_put_first(struct tap_trees *trees, struct tap_tree_part *part)
{
	struct tap_tree *tree = make_tree(trees);

	if (!tree)
		return -ENOMEM;
	tap_list_remove(&trees->waiting, part, among);
	join_tree(tree, part);
	return 0;
}

static void free_tree(struct tap_trees *trees, struct tap_tree *tree)
{
	struct tap_tree_part *part, *next;

	for (part = tree->parts; part; part = next) {
		next = part->next;
		free_part(trees, part);
	}
	tap_vec_free(&tree->operations);
	tap_list_remove(&trees->all, tree, all);
	free(tree);
}

struct tap_tree *tap_trees_unite(struct tap_trees *trees, struct tap_tree *a,
				 struct tap_tree *b)
{
	struct tap_tree *to = a->number < b->number ? a : b, *from = to == a ? b : a;
	struct tap_tree_part *part;
	size_t i;

	if (a == b)
		return a;
	for (part = from->parts; part; part = part->next)
		part->tree = to;
	*to->last = from->parts;
	if (from->parts)
		to->last = from->last;
	for (i = 0; i < from->operations.count; i++)
		if (tap_vec_add(&to->operations, from->operations.items[i]))
			return NULL;
	from->parts = NULL;
	free_tree(trees, from);
	return to;
}

static int compare(const void *left, const void *right)
{
	const struct tap_tree_operation *a = left, *b = right;
	const int64_t x[] = {a->sender, a->receiver}, y[] = {b->sender, b->receiver};
	const uint64_t key = a->comm ? a->comm->key : 0,
		       other = b->comm ? b->comm->key : 0;
	size_t i;

	if (key != other)
		return key < other ? -1 : 1;
	for (i = 0; i < 2; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int give(struct tap_trees *trees, struct tap_tree *tree)
{
	int ret;

	if (tree->operations.count)
		qsort(tree->operations.items, tree->operations.count,
		      sizeof(*tree->operations.items), compare);
	ret = trees->take(trees->data, tree);

	free_tree(trees, tree);
	return ret;
}

/* Drops the part that has waited longest, with what is below it. */
static void drop_waiting(struct tap_trees *trees)
{
	struct tap_tree_part *part = trees->waiting.first, *below;

	tap_list_remove(&trees->waiting, part, among);
	while ((below = tap_list_take_first(&part->below, among))) {
		below->parent = NULL;
		tap_list_prepend(&trees->waiting, below, among);
	}
	trees->left_out += part->kind == TAP_TREE_STEP;
	free_part(trees, part);
}

int tap_trees_make_room(struct tap_trees *trees)
{
	int ret = 0;

	while (!ret && trees->all.first &&
	       tap_since_ns(trees->context->last_ns, trees->all.first->touched_ns) >
		       WAIT_NS)
		ret = give(trees, trees->all.first);
	while (!ret && trees->count > PARTS_MAX) {
		if (trees->waiting.first)
			drop_waiting(trees);
		else
			ret = give(trees, trees->all.first);
	}
	return ret;
}

/* ---- The end ---- */

int tap_trees_finish(struct tap_trees *trees)
{
	int ret = 0;

	while (trees->waiting.first)
		drop_waiting(trees);
	while (!ret && trees->all.first)
		ret = give(trees, trees->all.first);
	return ret;
}

void tap_trees_free(struct tap_trees *trees)
{
	while (trees->waiting.first)
		drop_waiting(trees);
	while (trees->all.first)
		free_tree(trees, trees->all.first);
	tap_table_free(&trees->parts);
}

/* ---- What a part is ---- */

int64_t tap_tree_rank(const struct tap_tree_part *part)
{
	const struct tap_tree_part *at;

	for (at = part; at; at = at->parent)
		if (at->span && at->span->member && at->span->member->rank >= 0)
			return at->span->member->rank;
	for (at = part->below.first; at; at = at->among.after)
		if (at->span && at->span->member && at->span->member->rank >= 0)
			return at->span->member->rank;
	return tap_process_rank(part->process);
}

static bool has_end(const struct tap_span *span)
{
	return span->state == TAP_SPAN_COMPLETE || span->state == TAP_SPAN_BEGIN_LOST;
}

/* From the first to the last of what is below. */
static int64_t bound_of(const struct tap_tree_part *part, bool is_end)
{
	const struct tap_tree_part *below;
	int64_t bound_ns = -1, ns;

	for (below = part->below.first; below; below = below->among.after) {
		ns = is_end ? tap_tree_end_ns(below) : tap_tree_begin_ns(below);
		if (ns >= 0 && (bound_ns < 0 || (is_end ? ns > bound_ns : ns < bound_ns)))
			bound_ns = ns;
	}
	return bound_ns;
}

int64_t tap_tree_begin_ns(const struct tap_tree_part *part)
{
	if (part->kind == TAP_TREE_COLL)
		return bound_of(part, false);
	return part->span && part->span->state != TAP_SPAN_BEGIN_LOST
		       ? part->span->begin_ns
		       : -1;
}

int64_t tap_tree_end_ns(const struct tap_tree_part *part)
{
	const struct tap_span *span =
		part->kind == TAP_TREE_GROUP ? part->second : part->span;

	if (part->kind == TAP_TREE_COLL)
		return bound_of(part, true);
	return span && has_end(span) ? span->end_ns : -1;
}
