/* SPDX-License-Identifier: MIT */
/*
 * In converted times each effect is later than its cause, by more than it really took on one
 * way as it is by less on the way back.  So the least of these times, summed over the shortest
 * way to a host and back, is twice what the host is known to when pairs are many.
 */
#include "join/clock/central.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Another host is the reference only where it is nearer to the others by so much. */
#define NEARER 0.9

/* The converted time; each time of a pair has a point. */
static double convert(const struct tap_solve_host *host, int64_t host_ns)
{
	const double time = (double) (host_ns - host->origin_ns);
	size_t low = 0, high = host->count, middle;

	while (high - low > 1) {
		middle = low + (high - low) / 2;
		if (host->points[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	return time + (host->points[low].lower + host->points[low].upper) / 2;
}

static double find_least(const struct tap_solve_host *hosts,
			 const struct tap_solve_order *order)
{
	double least = INFINITY, took;
	size_t i;

	for (i = 0; i < order->order->count; i++) {
		const struct tap_before *before = &order->order->items[i];

		took = convert(&hosts[order->effect], before->effect_ns) -
		       convert(&hosts[order->cause], before->cause_ns);
		least = took < least ? took : least;
	}
	return least;
}

/* Distances over other hosts, too: Floyd and Warshall. */
static void shorten(double *far, size_t count)
{
	size_t over, from, to;

	for (over = 0; over < count; over++) {
		for (from = 0; from < count; from++) {
			const double first = far[from * count + over];

			for (to = 0; first < INFINITY && to < count; to++)
				if (first + far[over * count + to] < far[from * count + to])
					far[from * count + to] =
						first + far[over * count + to];
		}
	}
}

/* To all hosts and back. */
static double sum_up(const struct tap_solve_host *hosts, const double *far, size_t count,
		     size_t host)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (hosts[i].is_in)
			sum += far[host * count + i] + far[i * count + host];
	return sum;
}

int tap_central_find(const struct tap_solve_host *hosts, size_t host_count,
		     unsigned int reference, const struct tap_solve_order *orders,
		     size_t order_count, unsigned int *ret_central)
{
	double *far = malloc(host_count * host_count * sizeof(*far)), sum, least;
	unsigned int host;
	size_t i;

	if (!far)
		return -ENOMEM;
	for (i = 0; i < host_count * host_count; i++)
		far[i] = i % (host_count + 1) ? INFINITY : 0;
	for (i = 0; i < order_count; i++)
		if (hosts[orders[i].cause].is_in && hosts[orders[i].effect].is_in)
			far[orders[i].cause * host_count + orders[i].effect] =
				find_least(hosts, &orders[i]);
	shorten(far, host_count);
	*ret_central = reference;
	least = NEARER * sum_up(hosts, far, host_count, reference);
	for (host = 0; host < host_count; host++) {
		sum = hosts[host].is_in ? sum_up(hosts, far, host_count, host) : INFINITY;
		if (sum >= least)
			continue;
		least = sum;
		*ret_central = host;
	}
	free(far);
	return 0;
}
