/* SPDX-License-Identifier: MIT */
/* Picks the operations that matter, counts ranks, then looks at when they were late. */
#include "join/findings/lateness.h"

#include "join/findings/sample.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The numbers that the header explains. */
#define MATTERS 0.9
#define MOSTLY 0.75
#define SELDOM 0.1
#define CHANCE_OF_RANK 1e-2
#define CHANCE_OF_ALL 1e-5
#define CHANCE_ALIKE 0.35
#define CHANCE_EQUAL_DISTANCE 0.1
#define LEAST 4 /* operations */
#define STANDS_OUT 3
#define PERIOD_MAX 1024
#define PARTS_MAX 32

/* What is looked at: the series' operations in its order, and some of them. */
struct look {
	struct tap_lateness *series;
	size_t count;
	unsigned int nranks;
	/* The operations that matter, by lateness, longest first. */
	struct tap_lateness **matter;
	size_t matter_count;
	size_t *times_last; /* of them, by rank */
	int64_t *scratch;
};

/* ---- Chances ---- */

/* That k or more of n happen, each with chance p, where k is at least p * n. */
static double chance_of(size_t n, size_t k, double p)
{
	double term = 1, sum = 0;
	size_t x;

	if (p >= 1)
		return 1;
	for (x = 0; x < n; x++)
		term *= p;
	/* From all n down to k: each term follows from the one above. */
	for (x = n;; x--) {
		sum += term;
		if (x == k || !x)
			break;
		term *= (double) x / (double) (n - x + 1) * (1 - p) / p;
	}
	return sum < 1 ? sum : 1;
}

/* How many sets of k of n ranks there are. */
static double sets_of(unsigned int n, size_t k)
{
	double sets = 1;
	size_t i;

	for (i = 0; i < k; i++)
		sets *= (double) (n - i) / (double) (i + 1);
	return sets;
}

/* ---- The operations that matter ---- */

static int compare_lateness(const void *left, const void *right)
{
	const struct tap_lateness *a = *(struct tap_lateness *const *) left;
	const struct tap_lateness *b = *(struct tap_lateness *const *) right;

	if (a->lateness_ns != b->lateness_ns)
		return a->lateness_ns > b->lateness_ns ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static void pick(struct look *look)
{
	double all = 0, sum = 0;
	size_t i, kept = 0;

	for (i = 0; i < look->count; i++) {
		if (look->series[i].is_over)
			continue;
		look->matter[kept++] = &look->series[i];
		all += (double) look->series[i].lateness_ns;
	}
	if (kept)
		qsort(look->matter, kept, sizeof(struct tap_lateness *),
		      compare_lateness);
	for (i = 0; i < kept && sum < MATTERS * all; i++) {
		sum += (double) look->matter[i]->lateness_ns;
		look->times_last[look->matter[i]->last]++;
	}
	look->matter_count = i;
}

/* ---- The ranks ---- */

static bool is_among(const struct tap_late_pattern *pattern, unsigned int rank)
{
	size_t i;

	for (i = 0; i < pattern->rank_count; i++)
		if (pattern->ranks[i] == rank)
			return true;
	return false;
}

/* Adds the rank that was last most often of those that are not in the pattern. */
static size_t add_rank(const struct look *look, struct tap_late_pattern *pattern)
{
	unsigned int rank, best = 0;
	bool has_best = false;

	for (rank = 0; rank < look->nranks; rank++) {
		if (is_among(pattern, rank))
			continue;
		if (!has_best || look->times_last[rank] > look->times_last[best])
			best = rank;
		has_best = true;
	}
	pattern->ranks[pattern->rank_count++] = best;
	return look->times_last[best];
}

/* ---- How alike they are ---- */

/* Takes the operations in which one of the ranks was last out of those that matter. */
static size_t take_late(struct look *look, struct tap_late_pattern *pattern)
{
	size_t i, count = 0, alike = 0;
	int64_t center;

	for (i = 0; i < look->matter_count; i++)
		if (is_among(pattern, look->matter[i]->last))
			look->scratch[count++] = look->matter[i]->lateness_ns;
	pattern->late = count;
	center = tap_median(look->scratch, count);
	pattern->lateness_ns = center;
	for (i = 0; i < count; i++)
		alike += look->scratch[i] >= center - center / 4 &&
			 look->scratch[i] <= center + center / 4;
	pattern->deviation_ns = tap_median_deviation(look->scratch, count, center);
	return alike;
}

/* ---- Whether it stands out ---- */

/* Whether the ranks of a set come late together, and do not take turns. */
static bool are_together(struct look *look, const struct tap_late_pattern *pattern)
{
	size_t i, count = 0;

	for (i = 0; i < look->matter_count; i++)
		if (is_among(pattern, look->matter[i]->last))
			look->scratch[count++] = look->matter[i]->together;
	return tap_median(look->scratch, count) >= (int64_t) pattern->rank_count;
}

/* Whether other ranks, when they are last, are nearly as late. */
static bool is_faint(struct look *look, const struct tap_late_pattern *pattern)
{
	size_t i, clear = 0, late = 0, others = 0;

	for (i = 0; i < look->count; i++) {
		const struct tap_lateness *operation = &look->series[i];

		if (operation->is_over)
			continue;
		if (!is_among(pattern, operation->last)) {
			look->scratch[others++] = operation->lateness_ns;
		} else if (operation->lateness_ns >= pattern->lateness_ns / 2) {
			late++;
			clear += operation->is_clear;
		}
	}
	return 2 * clear < late ||
	       (others >= LEAST &&
		pattern->lateness_ns / STANDS_OUT < tap_median(look->scratch, others));
}

/* ---- In the course of time ---- */

/* Whether the operation is one of those in which the ranks were late. */
static bool is_late(const struct tap_late_pattern *pattern,
		    const struct tap_lateness *operation)
{
	return operation->lateness_ns >= pattern->lateness_ns / 2 &&
	       is_among(pattern, operation->last);
}

/*
 * Looks for the moment that parts the operations best into seldom and mostly late ones.
 * There are `late` of them in all.
 */
static bool find_change(const struct look *look, struct tap_late_pattern *pattern,
			size_t late)
{
	size_t i, before = 0, best = 0, best_before = 0;
	double gap, best_gap = 0, share_before, share_after;

	for (i = 0; i + LEAST <= look->count; i++) {
		if (i >= LEAST) {
			share_before = (double) before / (double) i;
			share_after =
				(double) (late - before) / (double) (look->count - i);
			gap = share_after - share_before;
			if (gap < 0)
				gap = -gap;
			if (gap > best_gap) {
				best_gap = gap;
				best = i;
				best_before = before;
			}
		}
		before += is_late(pattern, &look->series[i]);
	}
	if (!best)
		return false;
	share_before = (double) best_before / (double) best;
	share_after = (double) (late - best_before) / (double) (look->count - best);
	if (share_before <= SELDOM && share_after >= MOSTLY) {
		pattern->course = TAP_LATE_SINCE;
		pattern->late = late - best_before;
		pattern->of = look->count - best;
	} else if (share_after <= SELDOM && share_before >= MOSTLY) {
		pattern->course = TAP_LATE_UNTIL;
		pattern->late = best_before;
		pattern->of = best;
	} else {
		return false;
	}
	pattern->change_ns = look->series[best].time_ns;
	return true;
}

/* How many late operations, and others, have a number of this remainder. */
static bool fits_period(const struct look *look, const struct tap_late_pattern *pattern,
			size_t late, uint64_t period, uint64_t remainder)
{
	size_t i, hits = 0, on = 0;

	for (i = 0; i < look->count; i++) {
		if (look->series[i].number % period != remainder)
			continue;
		on++;
		hits += is_late(pattern, &look->series[i]);
	}
	return (double) hits >= (1 - SELDOM) * (double) late &&
	       (double) hits >= (1 - SELDOM) * (double) on;
}

/*
 * The period is a distance between two late operations that follow each other, or a part
 * of it: of a long series not all operations are here.
 */
static bool try_distance(const struct look *look, struct tap_late_pattern *pattern,
			 size_t late, uint64_t number, uint64_t distance)
{
	uint64_t part;

	for (part = 1; part <= PARTS_MAX; part++) {
		const uint64_t period = distance / part;

		if (distance % part || period < 2 || period > PERIOD_MAX ||
		    !fits_period(look, pattern, late, period, number % period))
			continue;
		pattern->course = TAP_LATE_PERIOD;
		pattern->period = period;
		return true;
	}
	return false;
}

static bool find_period(const struct look *look, struct tap_late_pattern *pattern,
			size_t late)
{
	uint64_t last = 0, distance, tried = 0;
	size_t i;

	for (i = 0; i < look->count; i++) {
		if (!is_late(pattern, &look->series[i]))
			continue;
		distance = last ? look->series[i].number - last : 0;
		if (distance && distance != tried &&
		    try_distance(look, pattern, late, last, distance))
			return true;
		tried = distance;
		last = look->series[i].number;
	}
	return false;
}

static void find_course(const struct look *look, struct tap_late_pattern *pattern)
{
	size_t i, late = 0;

	pattern->change_ns = -1;
	for (i = 0; i < look->count; i++) {
		if (!is_late(pattern, &look->series[i]))
			continue;
		if (!late++)
			pattern->change_ns = look->series[i].time_ns;
	}
	pattern->late = late;
	pattern->of = look->count;
	if ((double) late >= MOSTLY * (double) look->count) {
		pattern->course = TAP_LATE_ALWAYS;
		return;
	}
	if (find_change(look, pattern, late) ||
	    (late >= LEAST && find_period(look, pattern, late)))
		return;
	pattern->course = TAP_LATE_SOMETIMES;
}

/* How late the ranks were in the operations that the course counts. */
static void measure(struct look *look, struct tap_late_pattern *pattern)
{
	const size_t first =
		pattern->course == TAP_LATE_SINCE ? look->count - pattern->of : 0;
	size_t i, count = 0;

	for (i = first; i < first + pattern->of; i++)
		if (is_late(pattern, &look->series[i]))
			look->scratch[count++] = look->series[i].lateness_ns;
	pattern->lateness_ns = tap_median(look->scratch, count);
	pattern->deviation_ns =
		tap_median_deviation(look->scratch, count, pattern->lateness_ns);
}

/* ---- All together ---- */

/* Whether the ranks of the pattern, which were last k times, are late. */
static bool judge(struct look *look, struct tap_late_pattern *pattern, size_t k)
{
	const double sets = sets_of(look->nranks, pattern->rank_count);
	const double p = (double) pattern->rank_count / (double) look->nranks;
	double chance = chance_of(look->matter_count, k, p) * sets;
	size_t alike, late, i;

	if (chance > CHANCE_OF_RANK ||
	    (pattern->rank_count > 1 && !are_together(look, pattern)))
		return false;
	alike = take_late(look, pattern);
	late = pattern->late;
	find_course(look, pattern);
	if ((double) alike >= MOSTLY * (double) late)
		chance *= chance_of(late, alike, CHANCE_ALIKE);
	for (i = 2; pattern->course == TAP_LATE_PERIOD && i < pattern->late; i++)
		chance *= CHANCE_EQUAL_DISTANCE;
	pattern->is_faint = is_faint(look, pattern);
	if (chance > CHANCE_OF_ALL)
		return false;
	measure(look, pattern);
	return true;
}

static bool find(struct look *look, struct tap_late_pattern *pattern)
{
	size_t i, k = 0;

	pick(look);
	if (look->matter_count < LEAST)
		return false;
	while (pattern->rank_count < TAP_LATE_RANKS_MAX &&
	       2 * (pattern->rank_count + 1) <= look->nranks) {
		k += add_rank(look, pattern);
		if ((double) k < MOSTLY * (double) look->matter_count)
			continue;
		if (!judge(look, pattern, k))
			continue;
		for (i = 0; i < look->count; i++)
			look->series[i].is_over |=
				is_among(pattern, look->series[i].last);
		return true;
	}
	return false;
}

int tap_late_find(struct tap_lateness *series, size_t count, unsigned int nranks,
		  struct tap_late_pattern *pattern)
{
	struct look look = {.series = series, .count = count, .nranks = nranks};
	int ret = -ENOMEM;

	memset(pattern, 0, sizeof(*pattern));
	if (!count || nranks < 2)
		return 0;
	look.matter = calloc(count, sizeof(struct tap_lateness *));
	look.scratch = calloc(count, sizeof(int64_t));
	look.times_last = calloc(nranks, sizeof(size_t));
	if (look.matter && look.scratch && look.times_last)
		ret = find(&look, pattern);
	free(look.matter);
	free(look.scratch);
	free(look.times_last);
	return ret;
}
