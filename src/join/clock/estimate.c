/* SPDX-License-Identifier: MIT */
/*
 * The hosts that have a way to the reference and back are bounded twice: with the widest
 * slopes, and then with those of the lines that fit, if any do.
 */
#include "join/clock/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"
#include "join/clock/central.h"
#include "join/clock/solve.h"

/* An order keeps at least so many pairs. */
#define PAIRS_MIN 64

/* Slopes are narrowed so often, while each time leaves less than so much. */
#define NARROW_MAX 8
#define GAIN 0.9

struct host {
	bool is_seen;
	int64_t first_ns, last_ns;
};

struct tap_clock_estimate {
	size_t pairs_max;
	TAP_VEC(struct host) hosts;
	struct tap_order *orders; /* cause * host_room + effect */
	size_t order_hosts;
	size_t order_count; /* of those that have pairs */
};

struct tap_clock_estimate *tap_clock_estimate_create(size_t pairs_max)
{
	struct tap_clock_estimate *estimate = calloc(1, sizeof(*estimate));

	if (estimate)
		estimate->pairs_max = pairs_max;
	return estimate;
}

static void free_orders(struct tap_order *orders, size_t hosts)
{
	size_t i;

	for (i = 0; i < hosts * hosts; i++)
		tap_vec_free(&orders[i]);
	free(orders);
}

void tap_clock_estimate_destroy(struct tap_clock_estimate *estimate)
{
	if (!estimate)
		return;
	free_orders(estimate->orders, estimate->order_hosts);
	tap_vec_free(&estimate->hosts);
	free(estimate);
}

/* ---- What is known ---- */

static int make_hosts(struct tap_clock_estimate *estimate, unsigned int host)
{
	return host < estimate->hosts.count
		       ? 0
		       : tap_vec_resize(&estimate->hosts, (size_t) host + 1);
}

int tap_clock_estimate_see(struct tap_clock_estimate *estimate, unsigned int number,
			   int64_t host_ns)
{
	struct host *host;

	if (make_hosts(estimate, number))
		return -ENOMEM;
	host = &estimate->hosts.items[number];
	if (!host->is_seen) {
		host->is_seen = true;
		host->first_ns = host->last_ns = host_ns;
	}
	if (host_ns < host->first_ns)
		host->first_ns = host_ns;
	if (host_ns > host->last_ns)
		host->last_ns = host_ns;
	return 0;
}

static struct tap_order *order_of(const struct tap_clock_estimate *estimate, size_t cause,
				  size_t effect)
{
	return &estimate->orders[cause * estimate->order_hosts + effect];
}

static int make_orders(struct tap_clock_estimate *estimate)
{
	const size_t before = estimate->order_hosts, hosts = estimate->hosts.count;
	struct tap_order *orders;
	size_t i, k;

	if (hosts <= before)
		return 0;
	orders = calloc(hosts * hosts, sizeof(*orders));
	if (!orders)
		return -ENOMEM;
	for (i = 0; i < before; i++)
		for (k = 0; k < before; k++)
			orders[i * hosts + k] = *order_of(estimate, i, k);
	free(estimate->orders);
	estimate->orders = orders;
	estimate->order_hosts = hosts;
	return 0;
}

/* How many pairs each order may keep. */
static size_t share_of(const struct tap_clock_estimate *estimate)
{
	const size_t share =
		estimate->pairs_max / (estimate->order_count ? estimate->order_count : 1);

	return share > PAIRS_MIN ? share : PAIRS_MIN;
}

int tap_clock_estimate_add(struct tap_clock_estimate *estimate, unsigned int cause_host,
			   int64_t cause_ns, unsigned int effect_host, int64_t effect_ns,
			   bool is_message)
{
	const struct tap_before before = {.cause_ns = cause_ns, .effect_ns = effect_ns};
	struct tap_order *order;
	int ret;

	if (cause_host == effect_host)
		return 0;
	ret = tap_clock_estimate_see(estimate, cause_host, cause_ns);
	if (!ret)
		ret = tap_clock_estimate_see(estimate, effect_host, effect_ns);
	if (!ret)
		ret = make_orders(estimate);
	if (ret)
		return ret;
	order = order_of(estimate, cause_host, effect_host);
	if (!order->count)
		estimate->order_count++;
	if (tap_vec_add(order, before))
		return -ENOMEM;
	order->has_message |= is_message;
	if (order->count < share_of(estimate))
		return 0;
	return tap_order_thin(order, order_of(estimate, effect_host, cause_host),
			      order->count / 2);
}

/* ---- The solution ---- */

struct work {
	struct tap_clock_estimate *estimate;
	struct tap_clocks *clocks;
	struct tap_solve_host *hosts;
	struct tap_solve_order *orders;
	size_t count, order_count;
	bool *is_done; /* hosts that another one bounds, or that are contradicted */
};

static bool leads(const struct work *work, size_t cause, size_t effect,
		  bool has_message)
{
	const struct tap_order *order = order_of(work->estimate, cause, effect);

	return has_message ? order->has_message : order->count > 0;
}

/* Marks the hosts to which causes lead from this one; or, backwards, those from which. */
static int mark_reached(const struct work *work, size_t from, bool is_backward,
			bool has_message, bool *is_reached)
{
	size_t *todo = malloc((work->count + 1) * sizeof(*todo)), count = 0, i;

	if (!todo)
		return -ENOMEM;
	memset(is_reached, 0, work->count * sizeof(*is_reached));
	is_reached[from] = true;
	todo[count++] = from;
	while (count) {
		const size_t at = todo[--count];

		for (i = 0; i < work->count; i++) {
			if (is_reached[i] || work->is_done[i] ||
			    !leads(work, is_backward ? i : at, is_backward ? at : i,
				   has_message))
				continue;
			is_reached[i] = true;
			todo[count++] = i;
		}
	}
	free(todo);
	return 0;
}

/* Marks the hosts that are bounded both ways by this one, itself among them. */
static int mark_connected(const struct work *work, size_t from, bool has_message,
			  bool *is_connected)
{
	bool *is_back = calloc(work->count + 1, sizeof(*is_back));
	int ret = is_back ? mark_reached(work, from, false, has_message, is_connected)
			  : -ENOMEM;
	size_t i;

	if (!ret)
		ret = mark_reached(work, from, true, has_message, is_back);
	for (i = 0; !ret && i < work->count; i++)
		is_connected[i] &= is_back[i];
	free(is_back);
	return ret;
}

static void set_slopes(struct work *work, struct tap_slopes slopes)
{
	size_t i;

	for (i = 0; i < work->count; i++)
		work->hosts[i].slopes = slopes;
}

/* Pairs that say too much may contradict others; then the truth among them has to do. */
static int solve(struct work *work, unsigned int reference)
{
	int ret = tap_solve(work->hosts, work->count, reference, work->orders,
			    work->order_count, true);

	return ret != -EDOM ? ret
			    : tap_solve(work->hosts, work->count, reference, work->orders,
					work->order_count, false);
}

/* Narrows the slopes of each host to the lines that fit; returns whether any does. */
static bool narrow(struct work *work, unsigned int reference)
{
	bool is_narrow = false;
	size_t i;

	for (i = 0; i < work->count; i++) {
		struct tap_solve_host *host = &work->hosts[i];
		struct tap_slopes slopes = host->slopes;

		if (!host->is_in || i == reference ||
		    !tap_band_fit(host->points, host->count, &slopes))
			continue;
		slopes.min -= TAP_CLOCK_WANDER_MAX;
		slopes.max += TAP_CLOCK_WANDER_MAX;
		if (slopes.max - slopes.min > GAIN * (host->slopes.max - host->slopes.min))
			continue;
		is_narrow = true;
		host->slopes = slopes;
	}
	return is_narrow;
}

/*
 * Narrower slopes of one host make narrower bounds of the others, so it is done several
 * times.  Returns 0, -EDOM when the orders contradict each other, or -ENOMEM.
 */
static int bound(struct work *work, unsigned int reference)
{
	static const struct tap_slopes widest = {-TAP_CLOCK_DRIFT_MAX,
						 TAP_CLOCK_DRIFT_MAX};
	unsigned int i;
	int ret;

	set_slopes(work, widest);
	ret = solve(work, reference);
	for (i = 0; !ret && i < NARROW_MAX && narrow(work, reference); i++)
		ret = solve(work, reference);
	if (ret != -EDOM || !i)
		return ret;
	set_slopes(work, widest);
	return solve(work, reference);
}

static double middle_of(const struct tap_band_point *point)
{
	return (point->lower + point->upper) / 2;
}

static double half_of(const struct tap_band_point *point)
{
	return (point->upper - point->lower) / 2;
}

/*
 * The most by which the middle of the bounds may be wrong from this point to the next, or at
 * the last point: between two points the bounds open by their slopes, and close again.
 */
static double uncertainty_from(const struct tap_solve_host *host, size_t i)
{
	const struct tap_band_point *point = &host->points[i], *next = point + 1;
	const double fan = host->slopes.max - host->slopes.min;
	double most = half_of(point), half;

	if (i + 1 == host->count)
		return most;
	half = half_of(next);
	most = half > most ? half : most;
	half = (half + half_of(point) + fan * (next->time - point->time) / 2) / 2;
	return half > most ? half : most;
}

static double find_uncertainty(const struct tap_solve_host *host)
{
	double most = 0, from;
	size_t i;

	for (i = 0; i < host->count; i++) {
		from = uncertainty_from(host, i);
		most = from > most ? from : most;
	}
	return most;
}

/* What thinning has taken from all orders that bound the hosts. */
static double find_lost(const struct work *work)
{
	double lost = 0;
	size_t i;

	for (i = 0; i < work->order_count; i++)
		lost += work->orders[i].order->lost_ns;
	return lost;
}

static int64_t whole(double value)
{
	return (int64_t) (value < 0 ? value - 0.5 : value + 0.5);
}

/* With what rounding adds. */
static int64_t whole_uncertainty(double uncertainty, double lost)
{
	return whole(uncertainty + lost + 0.5) + 1;
}

/* Of points at one time, the first says what to add, and the least certain how certain. */
static int fill_points(struct tap_clock *clock, const struct tap_solve_host *host,
		       int64_t shift_ns, double lost)
{
	struct tap_clock_point *points = malloc(host->count * sizeof(*points));
	size_t i, count = 0;

	if (!points)
		return -ENOMEM;
	for (i = 0; i < host->count; i++) {
		const int64_t host_ns = host->origin_ns + (int64_t) host->points[i].time;
		const double middle = middle_of(&host->points[i]);
		const int64_t uncertainty_ns =
			whole_uncertainty(uncertainty_from(host, i), lost);

		if (count && points[count - 1].host_ns == host_ns) {
			if (uncertainty_ns > points[count - 1].uncertainty_ns)
				points[count - 1].uncertainty_ns = uncertainty_ns;
			continue;
		}
		points[count++] = (struct tap_clock_point){
			host_ns, shift_ns + whole(middle), uncertainty_ns};
	}
	free(clock->points);
	clock->points = points;
	clock->count = count;
	clock->latest = 0;
	return 0;
}

static int fill_clock(const struct work *work, unsigned int number,
		      unsigned int reference, bool is_message)
{
	const struct tap_solve_host *host = &work->hosts[number];
	struct tap_clock *clock = work->clocks->all[number];
	const struct tap_band_point *last = &host->points[host->count - 1];
	const int64_t shift_ns = work->hosts[reference].origin_ns - host->origin_ns;

	clock->how = is_message ? TAP_CLOCK_MESSAGES : TAP_CLOCK_COLLECTIVES;
	clock->reference = work->clocks->all[reference];
	clock->offset_ns = -(shift_ns + whole(middle_of(&host->points[0])));
	if (last->time > 0)
		clock->drift_ppb = -whole((middle_of(last) - middle_of(host->points)) /
					  last->time * 1e9);
	clock->uncertainty_ns =
		whole_uncertainty(find_uncertainty(host), find_lost(work));
	return fill_points(clock, host, shift_ns, find_lost(work));
}

/* Where the host's times are compared with others'; before and after, it is less certain. */
static double mean_uncertainty(const struct tap_solve_host *host)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < host->count; i++)
		sum += half_of(&host->points[i]);
	return host->count ? sum / (double) host->count : 0;
}

/* Of all hosts but the reference, whose bounds are its own clock. */
static double sum_uncertainties(const struct work *work, unsigned int reference)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < work->count; i++)
		if (work->hosts[i].is_in && i != reference)
			sum += mean_uncertainty(&work->hosts[i]);
	return sum;
}

/*
 * Bounds the hosts by the first of them, or by the central one, which shows only then, if
 * all are better known so.  Returns what bound() does.
 */
static int bound_by_best(struct work *work, unsigned int *reference)
{
	const unsigned int first = *reference;
	int ret = bound(work, first);
	double sum;

	if (!ret)
		ret = tap_central_find(work->hosts, work->count, first, work->orders,
				       work->order_count, reference);
	if (ret || *reference == first)
		return ret;
	sum = sum_uncertainties(work, first);
	ret = bound(work, *reference);
	if (!ret && sum_uncertainties(work, *reference) < sum)
		return 0;
	/* Seen from another clock, rates may be out of their bounds, too. */
	if (ret && ret != -EDOM)
		return ret;
	*reference = first;
	return bound(work, first);
}

/* Solves for the hosts that this one bounds; they are taken out of the rest. */
static int solve_around(struct work *work, unsigned int first)
{
	unsigned int reference = first;
	bool *is_connected = calloc(work->count + 1, sizeof(*is_connected));
	bool *has_message = calloc(work->count + 1, sizeof(*has_message));
	int ret = is_connected && has_message ? 0 : -ENOMEM;
	unsigned int i;

	if (!ret)
		ret = mark_connected(work, first, false, is_connected);
	for (i = 0; !ret && i < work->count; i++)
		work->hosts[i].is_in = is_connected[i];
	if (!ret)
		ret = bound_by_best(work, &reference);
	if (!ret)
		ret = mark_connected(work, reference, true, has_message);
	for (i = 0; !ret && i < work->count; i++) {
		if (!work->hosts[i].is_in)
			continue;
		work->is_done[i] = true;
		if (i != reference)
			ret = fill_clock(work, i, reference, has_message[i]);
	}
	/* Contradicted: the host remains a reference of its own. */
	if (ret == -EDOM) {
		work->clocks->all[first]->is_contradicted = true;
		work->is_done[first] = true;
		ret = 0;
	}
	free(is_connected);
	free(has_message);
	return ret;
}

/* The reference of the most hosts is the one that others are apart from. */
static void name_reference(struct tap_clocks *clocks)
{
	size_t i, k, size, most = 0;
	struct tap_clock *reference = NULL;

	for (i = 0; i < clocks->count; i++) {
		for (size = k = 0; k < clocks->count; k++)
			size += clocks->all[k]->reference == clocks->all[i];
		if (size <= most)
			continue;
		most = size;
		reference = clocks->all[i];
	}
	if (reference)
		reference->how = TAP_CLOCK_REFERENCE;
}

static int prepare(struct work *work)
{
	struct tap_clock_estimate *estimate = work->estimate;
	size_t i, k;
	int ret;

	ret = make_hosts(estimate, (unsigned int) work->count - 1);
	if (!ret)
		ret = make_orders(estimate);
	if (ret)
		return ret;
	work->hosts = calloc(work->count, sizeof(*work->hosts));
	work->orders = calloc(work->count * work->count, sizeof(*work->orders));
	work->is_done = calloc(work->count, sizeof(*work->is_done));
	if (!work->hosts || !work->orders || !work->is_done)
		return -ENOMEM;
	for (i = 0; i < work->count; i++) {
		work->hosts[i].origin_ns = estimate->hosts.items[i].first_ns;
		work->hosts[i].last_ns = estimate->hosts.items[i].last_ns;
		for (k = 0; k < work->count; k++)
			if (order_of(estimate, i, k)->count)
				work->orders[work->order_count++] =
					(struct tap_solve_order){
						(unsigned int) i, (unsigned int) k,
						order_of(estimate, i, k)};
	}
	return 0;
}

/* Drops what is implied: the points of a host are fewer, and each costs in the solution. */
static int thin_all(struct work *work)
{
	size_t i, k;
	int ret = 0;

	for (i = 0; i < work->count; i++)
		for (k = 0; !ret && k < work->count; k++)
			ret = tap_order_thin(order_of(work->estimate, i, k),
					     order_of(work->estimate, k, i),
					     share_of(work->estimate));
	return ret;
}

int tap_clock_estimate_solve(struct tap_clock_estimate *estimate,
			     struct tap_clocks *clocks)
{
	struct work work = {.estimate = estimate,
			    .clocks = clocks,
			    .count = clocks->count};
	unsigned int i;
	int ret = 0;

	if (work.count > 1)
		ret = prepare(&work);
	if (!ret && work.count > 1)
		ret = thin_all(&work);
	for (i = 0; !ret && work.count > 1 && i < work.count; i++)
		if (!work.is_done[i])
			ret = solve_around(&work, i);
	if (!ret)
		name_reference(clocks);
	for (i = 0; work.hosts && i < work.count; i++)
		free(work.hosts[i].points);
	free(work.hosts);
	free(work.orders);
	free(work.is_done);
	return ret;
}
