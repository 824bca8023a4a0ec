/* SPDX-License-Identifier: MIT */
/* Bounds are passed on along the orders, and along each host's time, until none changes. */
#include "join/clock/solve.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* An effect is at least so much later than its cause: room for rounding to ns. */
#define ROUNDING_NS 6

/* A change that is not passed on any more. */
#define TOLERANCE_NS 0.01

/* One pair of an order, as indexes of points of two hosts. */
struct edge {
	unsigned int cause_host, effect_host;
	size_t cause, effect;
	double most; /* the unknown of the cause minus that of the effect */
};

/* A point to be sorted by time; its edge, or none, needs its index. */
struct mark {
	double time;
	struct edge *edge;
	bool is_effect;
};

struct solution {
	struct tap_solve_host *hosts;
	size_t host_count;
	unsigned int reference;
	struct edge *edges;
	size_t edge_count;
};

static bool is_used(const struct solution *solution, const struct tap_solve_order *order)
{
	return solution->hosts[order->cause].is_in && solution->hosts[order->effect].is_in;
}

static int make_edges(struct solution *solution, const struct tap_solve_order *orders,
		      size_t order_count, bool is_strict)
{
	size_t i, k, count = 0;
	struct edge *edge;

	for (i = 0; i < order_count; i++)
		if (is_used(solution, &orders[i]))
			count += orders[i].order->count;
	edge = solution->edges = calloc(count + 1, sizeof(*edge));
	if (!edge)
		return -ENOMEM;
	solution->edge_count = count;
	for (i = 0; i < order_count; i++) {
		for (k = 0; is_used(solution, &orders[i]) && k < orders[i].order->count;
		     k++, edge++) {
			edge->cause_host = orders[i].cause;
			edge->effect_host = orders[i].effect;
			if (is_strict)
				edge->most -= orders[i].order->items[k].slack_ns;
		}
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct mark *a = left, *b = right;

	return a->time < b->time ? -1 : a->time > b->time;
}

/* Marks an edge's end on a host, unless it has none there, and adds its part of `most`. */
static bool set_mark(struct edge *edge, unsigned int number,
		     const struct tap_solve_host *host, const struct tap_before *before,
		     struct mark *mark)
{
	if (edge->cause_host != number && edge->effect_host != number)
		return false;
	mark->edge = edge;
	mark->is_effect = edge->effect_host == number;
	if (mark->is_effect) {
		mark->time = (double) (before->effect_ns - host->origin_ns);
		edge->most += mark->time;
	} else {
		mark->time = (double) (before->cause_ns - host->origin_ns);
		edge->most -= mark->time + ROUNDING_NS;
	}
	return true;
}

/* Makes the points of one host: of its orders' pairs, its first and its last event. */
static int make_points(struct solution *solution, unsigned int number,
		       const struct tap_solve_order *orders, size_t order_count)
{
	struct tap_solve_host *host = &solution->hosts[number];
	struct mark *marks, *mark;
	struct edge *edge = solution->edges;
	size_t i, k;

	host->count = 2;
	for (i = 0; i < solution->edge_count; i++)
		host->count += edge[i].cause_host == number ||
			       edge[i].effect_host == number;
	free(host->points);
	host->points = malloc(host->count * sizeof(*host->points));
	mark = marks = calloc(host->count, sizeof(*marks));
	if (!host->points || !marks) {
		free(marks);
		return -ENOMEM;
	}
	mark++; /* the first is at the origin */
	mark++->time = (double) (host->last_ns - host->origin_ns);
	for (i = 0; i < order_count; i++)
		for (k = 0; is_used(solution, &orders[i]) && k < orders[i].order->count;
		     k++, edge++)
			if (set_mark(edge, number, host, &orders[i].order->items[k],
				     mark))
				mark++;
	qsort(marks, host->count, sizeof(*marks), compare);
	for (i = 0; i < host->count; i++) {
		const bool is_known = number == solution->reference;

		host->points[i] =
			(struct tap_band_point){.time = marks[i].time,
						.lower = is_known ? 0 : -INFINITY,
						.upper = is_known ? 0 : INFINITY};
		if (marks[i].edge && marks[i].is_effect)
			marks[i].edge->effect = i;
		else if (marks[i].edge)
			marks[i].edge->cause = i;
	}
	free(marks);
	return 0;
}

static bool lower_to(double *value, double least)
{
	const bool is_change = least < *value - TOLERANCE_NS;

	if (least < *value)
		*value = least;
	return is_change;
}

static bool raise_to(double *value, double most)
{
	const bool is_change = most > *value + TOLERANCE_NS;

	if (most > *value)
		*value = most;
	return is_change;
}

static bool pass_along_edges(struct solution *solution)
{
	bool is_change = false;
	size_t i;

	for (i = 0; i < solution->edge_count; i++) {
		const struct edge *edge = &solution->edges[i];
		struct tap_band_point *cause =
			&solution->hosts[edge->cause_host].points[edge->cause];
		struct tap_band_point *effect =
			&solution->hosts[edge->effect_host].points[edge->effect];

		is_change |= lower_to(&cause->upper, effect->upper + edge->most);
		is_change |= raise_to(&effect->lower, cause->lower - edge->most);
	}
	return is_change;
}

static void pass_along_time(struct tap_solve_host *host)
{
	struct tap_band_point *points = host->points;
	const struct tap_slopes *slopes = &host->slopes;
	double after;
	size_t i;

	for (i = 1; i < host->count; i++) {
		after = points[i].time - points[i - 1].time;
		lower_to(&points[i].upper, points[i - 1].upper + after * slopes->max);
		raise_to(&points[i].lower, points[i - 1].lower + after * slopes->min);
	}
	for (i = host->count - 1; i-- > 0;) {
		after = points[i + 1].time - points[i].time;
		lower_to(&points[i].upper, points[i + 1].upper - after * slopes->min);
		raise_to(&points[i].lower, points[i + 1].lower - after * slopes->max);
	}
}

static bool is_contradicted(const struct tap_solve_host *host)
{
	size_t i;

	for (i = 0; i < host->count; i++)
		if (!(host->points[i].lower <= host->points[i].upper))
			return true;
	return false;
}

static int pass_all(struct solution *solution)
{
	/* Without a contradiction, a shortest path visits each host a few times. */
	size_t i, round, rounds_max = 8 * solution->host_count + 8;
	bool is_change = true;

	for (round = 0; is_change && round < rounds_max; round++) {
		is_change = pass_along_edges(solution);
		for (i = 0; i < solution->host_count; i++) {
			struct tap_solve_host *host = &solution->hosts[i];

			if (!host->is_in)
				continue;
			if (i != solution->reference)
				pass_along_time(host);
			if (is_contradicted(host))
				return -EDOM;
		}
	}
	return is_change ? -EDOM : 0;
}

int tap_solve(struct tap_solve_host *hosts, size_t host_count, unsigned int reference,
	      const struct tap_solve_order *orders, size_t order_count, bool is_strict)
{
	struct solution solution = {.hosts = hosts,
				    .host_count = host_count,
				    .reference = reference};
	unsigned int i;
	int ret;

	ret = make_edges(&solution, orders, order_count, is_strict);
	for (i = 0; !ret && i < host_count; i++)
		if (hosts[i].is_in)
			ret = make_points(&solution, i, orders, order_count);
	if (!ret)
		ret = pass_all(&solution);
	free(solution.edges);
	return ret;
}
