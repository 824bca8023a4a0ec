/* SPDX-License-Identifier: MIT */
/* Counts by what kernels were launched for. */
#include "join/nccl/run_count.h"

#include <stdlib.h>

/* Times must show so many runs' messages before others are taken to have as many. */
#define SEEN_MIN 4

#define OTHER_CHUNK_MIN 1024

void tap_run_counts_free(struct tap_run_counts *counts)
{
	size_t i;

	for (i = 0; i < counts->by_signature.size; i++)
		free(counts->by_signature.slots[i].value);
	tap_table_free(&counts->by_signature);
	counts->by_signature = (struct tap_table){0};
}

/*
 * Whether the rule for sends is that of the release, has been seen to hold, or is the
 * same in all releases of which it is known.
 */
static bool is_believed(const struct tap_run_count *count)
{
	return tap_sends_have_rule(count->sends.version) || count->shapes->is_proved ||
	       tap_sends_are_undivided(&count->sends);
}

/* Finds what the shapes that are left have for the sends. */
static void find_range(struct tap_run_count *count)
{
	if (!count->sends.count || count->is_unruly)
		return;
	count->range = tap_sends_find(count->shapes, &count->sends);
	count->range_changes = count->shapes->changes;
	count->has_rule = count->range.is_single && is_believed(count);
	count->rule = count->range.first;
}

/* Whether a shape is left, believed or not. */
static bool has_shape(struct tap_run_count *count)
{
	if (count->sends.count && count->range_changes != count->shapes->changes)
		find_range(count);
	return count->sends.count && !count->is_unruly && count->range.is_any;
}

static bool has_range(struct tap_run_count *count)
{
	return has_shape(count) && is_believed(count);
}

/* ---- Protocols that may be ---- */

static bool is_left(const struct tap_run_count *count, enum tap_ccl_protocol protocol)
{
	return count->options_left >> protocol & 1;
}

/* What holds for all options that are left. */
static struct tap_expected merge_options(const struct tap_run_count *count)
{
	enum tap_ccl_protocol protocol = __builtin_ctz(count->options_left);
	struct tap_expected all = count->options[protocol++];

	for (; protocol <= TAP_CCL_SIMPLE; protocol++)
		if (is_left(count, protocol))
			tap_expected_merge(&all, &count->options[protocol]);
	return all;
}

/* Takes the rule where all that are left have as many messages. */
static void settle(struct tap_run_count *count)
{
	struct tap_expected all;

	if (!count->options_left)
		return;
	all = merge_options(count);
	if (all.messages != all.most_messages)
		return;
	count->rule = all;
	count->has_rule = true;
	count->options_left = 0;
}

/* Whether the kernel's name may be that of other algorithms. */
static bool is_shared_name(const struct tap_ccl_work *work)
{
	return work->is_named && work->version >= 21900 &&
	       work->algorithm == TAP_CCL_RING && work->function != TAP_CCL_BROADCAST &&
	       work->function != TAP_CCL_REDUCE;
}

/*
 * What these send over a connection of the ring: nothing, but NVLS_TREE, for an
 * all-reduce, a message for each chunk (2.21.5, enqueue.cc:1754-1764), of which NCCL
 * makes none smaller unless a setting says so.
 */
static struct tap_expected find_others(const struct tap_ccl_work *work)
{
	const uint64_t bytes = work->count * work->element_bytes;
	const uint64_t most = bytes / OTHER_CHUNK_MIN + 1;

	if (!is_shared_name(work) || work->function != TAP_CCL_ALL_REDUCE)
		return (struct tap_expected){0};
	return (struct tap_expected){
		.most_messages = most < UINT32_MAX ? (uint32_t) most : UINT32_MAX,
		.most_bytes = UINT64_MAX,
		.largest_bytes = UINT64_MAX,
	};
}

static void find_options(struct tap_run_count *count)
{
	struct tap_ccl_work work = count->work;

	for (work.protocol = TAP_CCL_LL; work.protocol <= TAP_CCL_SIMPLE; work.protocol++)
		if (!tap_expected_find_range(&work, &count->place, 0,
					     &count->options[work.protocol]))
			return;
	count->options[TAP_CCL_NO_PROTOCOL] = find_others(&work);
	count->options_left = 1 << TAP_CCL_LL | 1 << TAP_CCL_LL128 | 1 << TAP_CCL_SIMPLE |
			      (is_shared_name(&work) || count->place.channel < 0)
				      << TAP_CCL_NO_PROTOCOL;
	settle(count);
}

/* What it may have over a connection that is not of its algorithm. */
static uint64_t most_of_others(const struct tap_run_count *count)
{
	return is_left(count, TAP_CCL_NO_PROTOCOL)
		       ? count->options[TAP_CCL_NO_PROTOCOL].most_messages
		       : 0;
}

/* Leaves these alone; returns whether there were others. */
static bool leave_options(struct tap_run_count *count, unsigned int options)
{
	const unsigned int before = count->options_left;

	count->options_left &= options;
	count->is_unruly |= !count->options_left;
	if (count->options_left == before)
		return false;
	settle(count);
	return true;
}

/* Drops those that a run contradicts; returns whether there were any. */
static bool drop_options(struct tap_run_count *count, uint64_t least, uint64_t most)
{
	enum tap_ccl_protocol protocol;
	unsigned int options = 0;

	for (protocol = TAP_CCL_NO_PROTOCOL; protocol <= TAP_CCL_SIMPLE; protocol++)
		if (count->options[protocol].most_messages >= least &&
		    count->options[protocol].messages <= most)
			options |= 1U << protocol;
	return leave_options(count, options);
}

bool tap_run_count_show(struct tap_run_count *count, enum tap_ccl_protocol protocol)
{
	unsigned int options = 1U << protocol;

	/* NVLS_TREE has no other one than this. */
	if (protocol == TAP_CCL_SIMPLE &&
	    count->options[TAP_CCL_NO_PROTOCOL].most_messages)
		options |= 1U << TAP_CCL_NO_PROTOCOL;
	return count->options_left && leave_options(count, options);
}

/* ---- Rules of earlier releases ---- */

/* What connections have shown of a rule, as the value of a table. */
static const char held, failed;

static const void *proof_of(const struct tap_run_count *count)
{
	return tap_table_find(count->proofs, count->proof_comm, count->proof_kind);
}

static void note_proof(struct tap_run_count *count, const char *proof)
{
	/* Without memory nothing is proved. */
	if (tap_table_set(count->proofs, count->proof_comm, count->proof_kind,
			  (void *) proof))
		count->is_tried = false;
}

/* Takes over what other connections have shown since. */
static void follow_proof(struct tap_run_count *count)
{
	const void *proof;

	if (!count->proofs || tap_expected_has_rule(count->work.version) ||
	    !(count->is_tried || count->has_rule))
		return;
	proof = proof_of(count);
	if (proof == &failed) {
		count->is_tried = false;
		tap_run_count_drop_rule(count);
	} else if (proof == &held && count->is_tried) {
		count->is_tried = false;
		count->has_rule = true;
	}
}

/* How data are divided may have changed since, which little data do not show. */
static void try_rule(struct tap_run_count *count, const struct tap_run_about *about)
{
	const struct tap_ccl_work *work = &count->work;

	count->proofs = about->proofs;
	count->proof_comm = (uintptr_t) about->of;
	count->proof_kind = (uint64_t) work->function << 16 |
			    (uint64_t) work->algorithm << 8 | (uint64_t) work->protocol;
	if (tap_expected_has_rule(work->version) || !count->has_rule)
		return;
	count->has_rule = false;
	count->is_tried = count->rule.is_small;
	follow_proof(count);
}

bool tap_run_count_prove(struct tap_run_count *count, bool is_right)
{
	if (is_right && proof_of(count) != &failed)
		note_proof(count, &held);
	else
		note_proof(count, &failed);
	follow_proof(count);
	return count->has_rule;
}

struct tap_run_count *tap_run_counts_get(struct tap_run_counts *counts,
					 const struct tap_run_about *about)
{
	struct tap_run_count *count =
		tap_table_find(&counts->by_signature, about->signature, 0);

	if (count) {
		follow_proof(count);
		return count;
	}
	count = calloc(1, sizeof(*count));
	if (!count || tap_table_set(&counts->by_signature, about->signature, 0, count)) {
		free(count);
		return NULL;
	}
	count->uses = counts->uses[about->comm];
	count->shapes = &counts->shapes[about->comm];
	count->most = TAP_RUN_UNKNOWN;
	count->work = *about->work;
	count->place = *about->place;
	count->sends = about->sends;
	count->is_collective = about->is_collective;
	if (count->sends.count)
		find_range(count);
	else if (about->work->is_named)
		find_options(count);
	else
		count->has_rule =
			tap_expected_find(about->work, about->place, 0, &count->rule);
	if (!count->sends.count && about->proofs)
		try_rule(count, about);
	/* Two ranks are neighbours in each ring and tree. */
	if (about->place->nranks == 2)
		count->uses[TAP_CCL_RING] = count->uses[TAP_CCL_TREE] = TAP_USE_YES;
	return count;
}

bool tap_run_count_is_ruled(const struct tap_run_count *count)
{
	if (count->sends.count)
		return count->has_rule && tap_sends_have_rule(count->sends.version);
	return count->has_rule && !count->work.is_named &&
	       tap_expected_has_rule(count->work.version) &&
	       (!count->rule.messages || count->uses[count->work.algorithm]);
}

void tap_run_count_expect(struct tap_run_count *count, struct tap_net_run *run)
{
	if (has_range(count)) {
		run->least = count->range.least;
		run->most = count->range.most;
		return;
	}
	if (count->has_rule || count->options_left) {
		const enum tap_use use = count->uses[count->work.algorithm];
		const struct tap_expected rule =
			count->has_rule ? count->rule : merge_options(count);

		run->least = rule.messages;
		run->most = rule.most_messages;
		if (use != TAP_USE_YES)
			run->least = 0;
		if (use == TAP_USE_NO)
			run->most = most_of_others(count);
	} else {
		run->least = 0;
		run->most = TAP_RUN_UNKNOWN;
	}
	if (count->has_rule || count->is_irregular || count->seen < SEEN_MIN)
		return;
	run->least = count->least;
	run->most = count->most;
}

/* The least and the most messages of a run between bounds. */
static uint64_t least_of(const struct tap_net_run *run)
{
	return run[1].begin_least > run->begin_most ? run[1].begin_least - run->begin_most
						    : 0;
}

static uint64_t most_of(const struct tap_net_run *run)
{
	return run[1].begin_most == TAP_RUN_UNKNOWN
		       ? TAP_RUN_UNKNOWN
		       : run[1].begin_most - run->begin_least;
}

/* Of several answers that the rule has, runs may have shown which is right. */
static void find_rule(struct tap_run_count *count)
{
	if (count->work.is_named || !tap_expected_has_rule(count->work.version) ||
	    count->is_unruly || count->is_irregular || !count->least ||
	    count->sends.count || count->least != count->most || count->most > UINT32_MAX)
		return;
	count->has_rule = tap_expected_find(&count->work, &count->place,
					    (uint32_t) count->least, &count->rule);
	if (count->has_rule && count->uses[count->work.algorithm] == TAP_USE_UNKNOWN)
		count->uses[count->work.algorithm] = TAP_USE_YES;
}

static bool learn_use(const struct tap_run_count *count, uint64_t least, uint64_t most)
{
	enum tap_use *use = &count->uses[count->work.algorithm];
	bool has_some;

	if (*use || count->sends.count)
		return false;
	if (count->has_rule)
		has_some = count->rule.messages;
	else if (count->options_left)
		has_some = merge_options(count).messages;
	else /* Whatever their number is: the kernel has no other algorithm. */
		has_some = least && count->is_collective && count->work.algorithm &&
			   !is_shared_name(&count->work);
	if (!has_some)
		return false;
	if (least)
		*use = TAP_USE_YES;
	else if (!most)
		*use = TAP_USE_NO;
	return *use;
}

bool tap_run_count_learn(struct tap_run_count *count, const struct tap_net_run *run)
{
	const uint64_t least = least_of(run), most = most_of(run);
	bool is_new = learn_use(count, least, most);

	if (has_range(count))
		return tap_shapes_drop(count->shapes, &count->sends, least, most,
				       UINT64_MAX);
	if (count->options_left &&
	    (least || count->uses[count->work.algorithm] == TAP_USE_YES))
		is_new |= drop_options(count, least, most);
	if (count->has_rule || count->is_irregular || most == TAP_RUN_UNKNOWN)
		return is_new;
	if (least == most && run->number > count->latest) {
		count->latest = run->number;
		is_new |= ++count->seen == SEEN_MIN;
	}
	if (least > count->least) {
		count->least = least;
		is_new |= count->seen >= SEEN_MIN;
	}
	if (most < count->most) {
		count->most = most;
		is_new |= count->seen >= SEEN_MIN;
	}
	count->is_irregular = count->least > count->most;
	if (is_new && count->seen >= SEEN_MIN)
		find_rule(count);
	return is_new;
}

bool tap_run_count_measure(struct tap_run_count *count, uint64_t messages, uint64_t bytes)
{
	bool is_new;

	if (!has_shape(count))
		return false;
	is_new = tap_shapes_drop(count->shapes, &count->sends, messages, messages, bytes);
	if (!bytes || is_believed(count) || !has_shape(count))
		return is_new && is_believed(count);
	count->shapes->is_proved = true;
	count->shapes->changes++;
	return true;
}

void tap_run_count_drop_rule(struct tap_run_count *count)
{
	count->has_rule = false;
	count->options_left = 0;
	count->is_unruly = true;
}

bool tap_run_count_drop_used(struct tap_run_count *count)
{
	if (!count->has_rule && !count->options_left && !has_range(count))
		return false;
	tap_run_count_drop_rule(count);
	return true;
}

bool tap_run_count_blame(struct tap_run_count *count, const struct tap_net_run *run)
{
	const uint64_t least = least_of(run), most = most_of(run);
	struct tap_net_run expected = {0};
	enum tap_use *use = &count->uses[count->work.algorithm];

	if (has_range(count))
		return tap_shapes_drop(count->shapes, &count->sends, least, most,
				       UINT64_MAX);
	tap_run_count_expect(count, &expected);
	if (expected.least <= most && least <= expected.most &&
	    !(count->has_rule && least && most < count->rule.messages))
		return false;
	if (count->options_left && *use == TAP_USE_NO &&
	    least <= merge_options(count).most_messages) {
		*use = TAP_USE_YES;
	} else if (count->options_left) {
		tap_run_count_drop_rule(count);
	} else if (!count->has_rule) {
		count->is_irregular = true;
	} else if (*use == TAP_USE_NO && least <= count->rule.messages) {
		*use = TAP_USE_YES;
	} else {
		tap_run_count_drop_rule(count);
	}
	return true;
}
