/* SPDX-License-Identifier: MIT */
/*
 * Operations that the ranks asked for in ways that contradict each other.  The first of a
 * communicator is the finding: after it the ranks are out of step, and what follows from
 * that is only counted.
 */
#include "join/findings/analysis.h"
#include "join/findings/words.h"
#include "join/model/vendor.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>

#include "common/vec.h"

/* An operation with its ends, which a link has only while it is given. */
struct operation {
	struct tap_link link;
	struct tap_link_end *ends; /* owned; NULL none */
};

/* The first of a communicator, and the next one, which may have what the first lacks. */
struct first {
	struct operation first, next;
	uint64_t others;
};

/* A message that waits for its other side. */
struct half {
	const struct tap_comm *comm;
	int64_t from, to;
	uint64_t number;
};

/* More of them are not looked at. */
#define HALVES_MAX 256

/* So many communicators, and pairs of ranks that exchange messages, may be out of step.
 */
#define SERIES_MAX 1024

struct mismatch {
	struct tap_analysis_state state;
	TAP_VEC(struct first) all;
	TAP_VEC(struct half) halves;
};

static int copy(struct operation *to, const struct tap_link *link)
{
	return tap_link_copy(&to->link, &to->ends, link);
}

static bool is_earlier(const struct tap_link *link, const struct tap_link *other)
{
	return link->op_number < other->op_number;
}

static bool is_message(const struct tap_link *link)
{
	return link->kind == TAP_LINK_SEND_RECV;
}

static struct half half_of(const struct tap_link *link)
{
	const struct tap_link_end *end = &link->ends[0];
	const bool is_receive = end->name->kind == TAP_NAME_RECEIVE;

	return (struct half){.comm = link->comm,
			     .from = is_receive ? link->peer : end->rank,
			     .to = is_receive ? end->rank : link->peer,
			     .number = link->op_number};
}

static bool is_same_channel(const struct half *a, const struct half *b)
{
	return a->comm == b->comm && a->from == b->from && a->to == b->to;
}

/* Collectives of a communicator are in order, and so are the messages of two ranks. */
static bool is_same_series(const struct tap_link *a, const struct tap_link *b)
{
	struct half x, y;

	if (a->comm != b->comm || a->kind != b->kind)
		return false;
	if (!is_message(a))
		return true;
	x = half_of(a);
	y = half_of(b);
	return is_same_channel(&x, &y);
}

static int note_defect(void *data, const struct tap_link *link)
{
	struct mismatch *mismatch = data;
	struct first *first = NULL;
	size_t i;

	if (!link->mismatch)
		return is_message(link) && link->is_pending &&
				       mismatch->halves.count < HALVES_MAX
			       ? tap_vec_add(&mismatch->halves, half_of(link))
			       : 0;
	for (i = 0; !first && i < mismatch->all.count; i++)
		if (is_same_series(&mismatch->all.items[i].first.link, link))
			first = &mismatch->all.items[i];
	if (!first && mismatch->all.count >= SERIES_MAX)
		return 0;
	if (!first) {
		if (tap_vec_resize(&mismatch->all, mismatch->all.count + 1))
			return -ENOMEM;
		first = &mismatch->all.items[mismatch->all.count - 1];
		return copy(&first->first, link);
	}
	first->others++;
	if (is_earlier(link, &first->first.link)) {
		free(first->next.ends);
		first->next = first->first;
		first->first.ends = NULL;
		return copy(&first->first, link);
	}
	if (link->op_number == first->first.link.op_number + 1)
		return copy(&first->next, link);
	return 0;
}

/* ---- What differs ---- */

static bool is_same_call(const struct tap_link_end *a, const struct tap_link_end *b)
{
	const struct tap_operation *x = &a->facts.operation, *y = &b->facts.operation;

	return a->name->operation == b->name->operation && x->count == y->count &&
	       x->datatype == y->datatype && x->redop == y->redop && x->root == y->root;
}

/* Whether some ranks made the second call first. */
static bool is_exchanged(const struct first *first)
{
	const struct tap_link_end *a = first->first.ends, *b = first->next.ends;
	const size_t count = first->first.link.count;
	bool is_any = false;
	size_t i;

	if (!b || first->next.link.count != count ||
	    first->next.link.kind != first->first.link.kind ||
	    first->next.link.op_number != first->first.link.op_number + 1)
		return false;
	for (i = 1; i < count; i++) {
		if (a[i].rank != b[i].rank)
			return false;
		if (is_same_call(&a[i], &a[0]) && is_same_call(&b[i], &b[0]))
			continue;
		if (!is_same_call(&a[i], &b[0]) || !is_same_call(&b[i], &a[0]))
			return false;
		is_any = true;
	}
	return is_any;
}

/* Whether two ranks agree in what the operation's ranks differ in. */
static bool agree(enum tap_mismatch how, const struct tap_link_end *a,
		  const struct tap_link_end *b)
{
	const struct tap_operation *x = &a->facts.operation, *y = &b->facts.operation;

	switch (how) {
	case TAP_MISMATCH_FUNCTION:
		return a->name->operation == b->name->operation;
	case TAP_MISMATCH_DATATYPE:
		return x->datatype == y->datatype;
	case TAP_MISMATCH_REDOP:
		return x->redop == y->redop;
	case TAP_MISMATCH_ROOT:
		return x->root == y->root;
	default:
		return tap_operation_bytes(x) == tap_operation_bytes(y);
	}
}

/* The first end that agrees with this one stands for the group of both. */
static size_t group_of(const struct tap_link *link, size_t end)
{
	size_t i = 0;

	while (!agree(link->mismatch, &link->ends[i], &link->ends[end]))
		i++;
	return i;
}

static size_t group_size(const struct tap_link *link, size_t group)
{
	size_t i, size = 0;

	for (i = 0; i < link->count; i++)
		size += group_of(link, i) == group;
	return size;
}

/*
 * The group of most ranks, which are taken to be right; link->count where several groups
 * are as large, so that nobody can tell who is.
 */
static size_t find_majority(const struct tap_link *link)
{
	size_t i, size, best = link->count, most = 0;

	for (i = 0; i < link->count; i++) {
		if (group_of(link, i) != i)
			continue;
		size = group_size(link, i);
		if (size == most)
			best = link->count;
		if (size <= most)
			continue;
		most = size;
		best = i;
	}
	return best;
}

/* ---- Words ---- */

static void add_named(struct tap_buffer *text, const char *name, const char *what,
		      int64_t value)
{
	if (name) {
		tap_buffer_add_string(text, name);
		return;
	}
	tap_buffer_add_string(text, what);
	tap_buffer_add_char(text, ' ');
	tap_buffer_add_signed(text, value);
}

static void add_version(struct tap_buffer *text, enum tap_mismatch how,
			const struct tap_link_end *end)
{
	const struct tap_operation *operation = &end->facts.operation;

	switch (how) {
	case TAP_MISMATCH_FUNCTION:
		tap_buffer_add_visible(text, end->name->operation->name);
		return;
	case TAP_MISMATCH_DATATYPE:
		add_named(text, tap_nccl_datatype_name(operation->datatype), "type",
			  operation->datatype);
		return;
	case TAP_MISMATCH_REDOP:
		add_named(text, tap_nccl_redop_name(operation->redop), "reduction",
			  operation->redop);
		return;
	case TAP_MISMATCH_ROOT:
		add_named(text, NULL, "root", operation->root);
		return;
	default:
		tap_buffer_add_signed(text, tap_operation_bytes(operation));
		tap_buffer_add_string(text, " bytes");
	}
}

static int add_group_ranks(struct tap_buffer *text, const struct tap_link *link,
			   size_t group)
{
	TAP_VEC(int64_t) ranks = {0};
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < link->count; i++)
		if (group_of(link, i) == group)
			ret = tap_vec_add(&ranks, link->ends[i].rank);
	tap_words_add_ranks(text, ranks.items, ranks.count);
	tap_vec_free(&ranks);
	return ret;
}

/* "ranks 0, 2, 3 ncclAllReduce, rank 1 ncclBroadcast", at most so many groups. */
#define GROUPS_MAX 4

static int add_groups(struct tap_buffer *text, const struct tap_link *link)
{
	size_t i, groups = 0;
	int ret = 0;

	for (i = 0; !ret && i < link->count; i++) {
		if (group_of(link, i) != i || groups++ >= GROUPS_MAX)
			continue;
		tap_buffer_add_string(text, groups > 1 ? ", " : "");
		ret = add_group_ranks(text, link, i);
		tap_buffer_add_char(text, ' ');
		add_version(text, link->mismatch, &link->ends[i]);
	}
	if (groups > GROUPS_MAX)
		tap_buffer_add_string(text, ", ...");
	return ret;
}

/* Each version with the place in the program that asked for it. */
static int add_sites(struct tap_buffer *text, const struct tap_link *link)
{
	const struct tap_call_facts *facts;
	size_t i, groups = 0;
	int ret = 0;

	for (i = 0; !ret && i < link->count; i++) {
		facts = &link->ends[i].facts;
		if (group_of(link, i) != i || groups >= GROUPS_MAX ||
		    !facts->caller_number)
			continue;
		tap_buffer_add_string(text, groups++ ? ", " : "");
		ret = add_group_ranks(text, link, i);
		tap_buffer_add_string(text, " at ");
		tap_words_add_caller(text, facts->caller, facts->caller_number,
				     facts->caller_offset);
	}
	if (groups)
		tap_buffer_add_char(text, '\n');
	return ret;
}

static int add_headline(struct tap_buffer *text, const struct first *first, bool is_order)
{
	const struct tap_link *link = &first->first.link;

	tap_words_add_operation(text, link->operation, link->op_number, link->comm);
	if (is_order) {
		tap_buffer_add_string(text, " and #");
		tap_buffer_add_unsigned(text, link->op_number + 1);
		tap_buffer_add_string(text, " in different order");
	} else if (link->mismatch != TAP_MISMATCH_FUNCTION) {
		tap_buffer_add_string(text, " with different ");
		tap_buffer_add_string(text, tap_mismatch_name(link->mismatch));
	}
	tap_buffer_add_string(text, ": ");
	return add_groups(text, link);
}

static void add_next(struct tap_finding *finding)
{
	struct tap_buffer *text = &finding->next;

	tap_buffer_add_string(text, "compare the calls of ");
	if (finding->ranks.count == finding->sites.count) {
		tap_words_add_ranks(text, finding->ranks.items, finding->ranks.count);
	} else {
		tap_words_add_ranks(text, finding->ranks.items, finding->ranks.count);
		tap_buffer_add_string(text, " with those of ");
		tap_words_add_ranks(text, finding->waiting.items, finding->waiting.count);
	}
	tap_buffer_add_string(text, ": ccltap timeline shows what each called before");
}

static int add_sides(struct tap_finding *finding, const struct tap_link *link)
{
	const size_t majority = find_majority(link);
	const struct tap_link_end *end;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < link->count; i++) {
		end = &link->ends[i];
		ret = tap_finding_add_site(finding, end);
		if (!ret && group_of(link, i) == majority)
			ret = tap_finding_add_waiting(finding, end->rank);
		else if (!ret)
			ret = tap_finding_add_rank(finding, end->rank) ||
			      tap_finding_add_at_fault(finding, end->process);
		if (end->facts.begin_ns >= 0 &&
		    (finding->time_ns < 0 || end->facts.begin_ns < finding->time_ns))
			finding->time_ns = end->facts.begin_ns;
	}
	finding->operation =
		link->ends[majority < link->count ? majority : 0].name->operation;
	return ret ? -ENOMEM : 0;
}

static int add_finding(struct mismatch *mismatch, const struct first *first)
{
	const struct tap_link *link = &first->first.link;
	const bool is_order = is_exchanged(first);
	struct tap_finding *finding =
		tap_findings_add(mismatch->state.findings, TAP_FINDING_MISMATCH,
				 TAP_SEVERITY_ERROR);

	if (!finding)
		return -ENOMEM;
	finding->cause = TAP_CAUSE_FIRST;
	finding->comm = link->comm;
	finding->op_number = link->op_number;
	if (add_sides(finding, link) ||
	    add_headline(&finding->headline, first, is_order) ||
	    add_sites(&finding->detail, link) ||
	    tap_finding_add_evidence(finding, "mismatched_operations",
				     (int64_t) first->others + 1, link->known))
		return -ENOMEM;
	if (first->others) {
		tap_buffer_add_unsigned(&finding->detail, first->others);
		tap_buffer_add_string(&finding->detail,
				      " more of this communicator contradict each other; "
				      "they may follow from this one");
	} else if (finding->detail.used) {
		finding->detail.used--;
	}
	add_next(finding);
	return 0;
}

/*
 * Whether a side of the message was left out, so that each that follows met the next one:
 * then one is left over, which missing.c explains.
 */
static bool is_out_of_step(const struct mismatch *mismatch, const struct tap_link *link)
{
	struct half half;
	size_t i;

	if (!is_message(link))
		return false;
	half = half_of(link);
	for (i = 0; i < mismatch->halves.count; i++)
		if (is_same_channel(&mismatch->halves.items[i], &half))
			return true;
	return false;
}

static int conclude(void *data, const struct tap_loss *loss)
{
	struct mismatch *mismatch = data;
	int ret = 0;
	size_t i;

	(void) loss;
	for (i = 0; !ret && i < mismatch->all.count; i++)
		if (!is_out_of_step(mismatch, &mismatch->all.items[i].first.link))
			ret = add_finding(mismatch, &mismatch->all.items[i]);
	return ret;
}

static void free_all(void *data)
{
	struct mismatch *mismatch = data;
	size_t i;

	for (i = 0; i < mismatch->all.count; i++) {
		free(mismatch->all.items[i].first.ends);
		free(mismatch->all.items[i].next.ends);
	}
	tap_vec_free(&mismatch->all);
	tap_vec_free(&mismatch->halves);
}

const struct tap_analysis tap_mismatch_analysis = {
	.name = "mismatch",
	.size = sizeof(struct mismatch),
	.takes = {.defect = note_defect},
	.conclude = conclude,
	.free = free_all,
};
