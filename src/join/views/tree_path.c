/* SPDX-License-Identifier: MIT */
/* From moment to moment, each time to the latest of those that it needed. */
#include "join/views/tree_path.h"

#include "join/base/time.h"
#include "join/model/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Most hops: a damaged trace ends. */
#define HOPS_MAX 65536

static bool is_arrival(const struct tap_tree_part *part)
{
	return part->kind == TAP_TREE_STEP && part->span && tap_tree_end_ns(part) >= 0 &&
	       part->span->work.kind == TAP_WORK_NET_RECEIVE;
}

static struct tap_tree_hop hop_of(enum tap_tree_moment moment,
				  const struct tap_tree_part *part)
{
	const bool is_end = moment == TAP_TREE_ENDED || moment == TAP_TREE_ARRIVED;

	return (struct tap_tree_hop){.moment = moment,
				     .part = part,
				     .time_ns = is_end ? tap_tree_end_ns(part)
						       : tap_tree_begin_ns(part)};
}

/* Takes the later one of two moments, if it is not after `until`. */
static void take_later(struct tap_tree_hop *to, enum tap_tree_moment moment,
		       const struct tap_tree_part *part, int64_t until_ns)
{
	const struct tap_tree_hop hop = hop_of(moment, part);

	if (hop.time_ns >= 0 && hop.time_ns <= until_ns &&
	    (!to->part || hop.time_ns > to->time_ns))
		*to = hop;
}

/* ---- What a rank had ---- */

/* By rank of a process, then by time. */
static int compare(const void *left, const void *right)
{
	const struct tap_tree_own *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->hop.time_ns > b->hop.time_ns) - (a->hop.time_ns < b->hop.time_ns);
}

static int add_own(struct tap_tree_path *path, const struct tap_tree_part *part,
		   enum tap_tree_moment moment)
{
	const struct tap_tree_own own = {.process = part->process->number,
					 .rank = tap_tree_rank(part),
					 .hop = hop_of(moment, part)};

	return own.hop.time_ns < 0 ? 0 : tap_vec_add(&path->own, own);
}

/*
 * Messages, kernels and, since a rank's proxy may begin before its kernel does,
 * launches.
 */
static int find_all(struct tap_tree_path *path, const struct tap_tree *tree)
{
	const struct tap_tree_part *part;
	int ret = 0;

	path->own.count = 0;
	for (part = tree->parts; !ret && part; part = part->next) {
		if (is_arrival(part))
			ret = add_own(path, part, TAP_TREE_ARRIVED);
		else if (part->kind == TAP_TREE_RUN)
			ret = add_own(path, part, TAP_TREE_BEGAN);
		else if (part->kind == TAP_TREE_LAUNCH)
			ret = add_own(path, part, TAP_TREE_LAUNCHED);
	}
	if (path->own.count)
		qsort(path->own.items, path->own.count, sizeof(*path->own.items),
		      compare);
	return ret;
}

/* Takes what the part's rank had at the latest, other than the part. */
static void find_own(struct tap_tree_hop *to, const struct tap_tree_path *path,
		     const struct tap_tree_part *of, int64_t until_ns)
{
	const struct tap_tree_own wanted = {.process = of->process->number,
					    .rank = tap_tree_rank(of),
					    .hop = {.time_ns = until_ns}};
	size_t low = 0, high = path->own.count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare(&path->own.items[middle], &wanted) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low && path->own.items[low - 1].hop.part == of)
		low--;
	if (low && path->own.items[low - 1].process == wanted.process &&
	    path->own.items[low - 1].rank == wanted.rank)
		take_later(to, path->own.items[low - 1].hop.moment,
			   path->own.items[low - 1].hop.part, until_ns);
}

/* ---- What it waited for ---- */

static struct tap_tree_hop before_end(const struct tap_tree_path *path,
				      const struct tap_tree_hop *hop)
{
	struct tap_tree_hop to = {0};

	take_later(&to, TAP_TREE_BEGAN, hop->part, hop->time_ns);
	find_own(&to, path, hop->part, hop->time_ns);
	return to;
}

/* The sender needs its receiver to be ready, and what its own rank has. */
static struct tap_tree_hop before_post(const struct tap_tree_path *path,
				       const struct tap_tree_hop *hop)
{
	const struct tap_tree_part *receive = hop->part->other;
	struct tap_tree_hop to = {0};

	find_own(&to, path, hop->part, hop->time_ns);
	/* Over sockets nothing tells the sender that the receiver is ready. */
	if (receive && receive->span &&
	    !tap_fields_find(&receive->span->entry, "transport"))
		take_later(&to, TAP_TREE_READY, receive, hop->time_ns);
	return to;
}

static struct tap_tree_hop before_begin(const struct tap_tree *tree,
					const struct tap_tree_hop *hop)
{
	const uint64_t launch =
		tap_fields_number(&hop->part->span->entry, "launch_call_id");
	const struct tap_tree_part *part;
	struct tap_tree_hop to = {0};

	for (part = tree->parts; part && launch; part = part->next)
		if (part->kind == TAP_TREE_LAUNCH &&
		    part->process == hop->part->process && part->span->call_id == launch)
			to = hop_of(TAP_TREE_LAUNCHED, part);
	return to;
}

static struct tap_tree_hop before(const struct tap_tree_path *path,
				  const struct tap_tree *tree,
				  const struct tap_tree_hop *hop)
{
	struct tap_tree_hop to = {0};

	switch (hop->moment) {
	case TAP_TREE_ENDED:
		return before_end(path, hop);
	case TAP_TREE_ARRIVED:
		if (hop->part->other && hop->part->other->span)
			to = hop_of(TAP_TREE_POSTED, hop->part->other);
		return to;
	case TAP_TREE_POSTED:
		return before_post(path, hop);
	case TAP_TREE_READY:
		find_own(&to, path, hop->part, hop->time_ns);
		return to;
	case TAP_TREE_BEGAN:
		return before_begin(tree, hop);
	case TAP_TREE_LAUNCHED:
		if (hop->part->parent)
			to = hop_of(TAP_TREE_CALLED, hop->part->parent);
		return to;
	case TAP_TREE_CALLED:
		return to;
	}
	return to;
}

/* The kernel that ended last or, without kernels, the message that arrived last. */
static struct tap_tree_hop last_of(const struct tap_tree *tree)
{
	const struct tap_tree_part *part;
	struct tap_tree_hop to = {0};

	for (part = tree->parts; part; part = part->next)
		if (part->kind == TAP_TREE_RUN)
			take_later(&to, TAP_TREE_ENDED, part, INT64_MAX);
	for (part = to.part ? NULL : tree->parts; part; part = part->next)
		if (is_arrival(part))
			take_later(&to, TAP_TREE_ARRIVED, part, INT64_MAX);
	return to;
}

int tap_tree_path_find(struct tap_tree_path *path, const struct tap_tree *tree)
{
	struct tap_tree_hop hop = last_of(tree), next;
	const int ret = find_all(path, tree);

	if (ret)
		return ret;
	path->hops.count = 0;
	path->is_cut = false;
	while (hop.part && path->hops.count < HOPS_MAX) {
		if (tap_vec_add(&path->hops, hop))
			return -ENOMEM;
		next = before(path, tree, &hop);
		if (!next.part || next.time_ns < 0)
			break;
		/* What comes later on another host's clock may have been before. */
		path->is_cut = tap_clock_uncertainty_ns(hop.part->process, hop.time_ns,
							next.part->process,
							next.time_ns) < 0;
		if (path->is_cut)
			break;
		hop = next;
	}
	return 0;
}

const char *tap_tree_moment_name(enum tap_tree_moment moment)
{
	static const char *const names[] = {
		[TAP_TREE_ENDED] = "ended",   [TAP_TREE_ARRIVED] = "arrived",
		[TAP_TREE_POSTED] = "posted", [TAP_TREE_READY] = "receiver ready",
		[TAP_TREE_BEGAN] = "began",   [TAP_TREE_LAUNCHED] = "launched",
		[TAP_TREE_CALLED] = "called",
	};

	return names[moment];
}

void tap_tree_path_free(struct tap_tree_path *path)
{
	tap_vec_free(&path->hops);
	tap_vec_free(&path->own);
}
