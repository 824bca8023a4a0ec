/* SPDX-License-Identifier: MIT */
/*
 * Clocks of hosts: of random hosts with known clocks, every estimate is as right as it
 * says, and no effect comes before its cause.  CLOCK_SEED and CLOCK_RUNS choose others.
 */
#include "join/clock/estimate.h"
#include "unit/draw.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>

#define HOSTS_MAX 4
#define MESSAGES_MAX 40000
#define SECOND INT64_C(1000000000)
#define START (INT64_C(1700000000) * SECOND)

struct message {
	unsigned int from, to;
	int64_t sent_ns, received_ns; /* true times */
};

/* A world: how its clocks really run, and what was sent in it. */
static struct world {
	unsigned int hosts;
	int64_t length_ns;
	int64_t offset_ns[HOSTS_MAX];
	double rate[HOSTS_MAX], turn[HOSTS_MAX]; /* from the middle on, turn more */
	struct message messages[MESSAGES_MAX];
	size_t count;
	size_t pairs_max;
} world;

static double draw_part(void)
{
	return (double) draw(1000000) / 1e6;
}

static int64_t draw_between(int64_t least, int64_t most)
{
	return least + (int64_t) draw((uint64_t) (most - least + 1));
}

/* What the clock of a host shows at a true time. */
static int64_t show(unsigned int host, int64_t time_ns)
{
	const double since = (double) (time_ns - START);
	const double half = since - (double) world.length_ns / 2;
	double gained = since * world.rate[host];

	if (half > 0)
		gained += half * world.turn[host];
	return time_ns + world.offset_ns[host] + (int64_t) gained;
}

static void make_world(unsigned int hosts, int64_t length_ns)
{
	unsigned int i;

	memset(&world, 0, sizeof(world));
	world.hosts = hosts;
	world.length_ns = length_ns;
	world.pairs_max = 1 << 16;
	for (i = 0; i < hosts; i++) {
		world.offset_ns[i] = draw_between(-1000 * SECOND, 1000 * SECOND);
		world.rate[i] = (draw_part() * 2 - 1) * 100e-6;
	}
}

static void send_at(unsigned int from, unsigned int to, int64_t time_ns, int64_t least_ns,
		    int64_t jitter_ns)
{
	struct message *message = &world.messages[world.count++];
	const double part = draw_part();

	message->from = from;
	message->to = to;
	message->sent_ns = time_ns;
	message->received_ns =
		time_ns + least_ns + (int64_t) (part * part * part * (double) jitter_ns);
}

static int compare_messages(const void *left, const void *right)
{
	const struct message *a = left, *b = right;

	return a->received_ns < b->received_ns ? -1 : a->received_ns > b->received_ns;
}

/* Sends `count` messages at random times; a ring, a star, or between all. */
static void send_many(size_t count)
{
	const unsigned int pattern = (unsigned int) draw(3);
	const int64_t least_ns = draw_between(1500, 60000);
	const int64_t jitter_ns = draw_between(least_ns, 20 * least_ns);
	const bool is_one_way = draw(2);
	unsigned int from, to;
	int64_t at;
	size_t i;

	for (i = 0; i < count; i++) {
		from = (unsigned int) draw(world.hosts);
		to = (from + 1) % world.hosts;
		if (pattern == 1)
			to = from ? 0 : 1 + (unsigned int) draw(world.hosts - 1);
		else if (pattern == 2)
			to = (from + 1 + (unsigned int) draw(world.hosts - 1)) %
			     world.hosts;
		at = START + (int64_t) (draw_part() * (double) world.length_ns);
		/* The receiver says that it is ready; then the data comes. */
		send_at(to, from, at, least_ns, jitter_ns);
		send_at(from, to, world.messages[world.count - 1].received_ns, least_ns,
			jitter_ns);
		if (!is_one_way && i % 2)
			send_at(to, from, at + jitter_ns, least_ns, jitter_ns);
	}
	qsort(world.messages, world.count, sizeof(world.messages[0]), compare_messages);
}

static int compare_times(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *) left, b = *(const int64_t *) right;

	return a < b ? -1 : a > b;
}

static int64_t median(int64_t *times, size_t count)
{
	qsort(times, count, sizeof(*times), compare_times);
	return times[count / 2];
}

static int64_t median_one_way(void)
{
	static int64_t times[MESSAGES_MAX];
	size_t i;

	for (i = 0; i < world.count; i++)
		times[i] = world.messages[i].received_ns - world.messages[i].sent_ns;
	return median(times, world.count);
}

/* Makes a clock for each host, and fills them in; the caller frees them. */
static struct tap_clocks estimate(bool is_message)
{
	struct tap_clock_estimate *made = tap_clock_estimate_create(world.pairs_max);
	struct tap_clocks clocks = {0};
	char name[8];
	unsigned int i;
	size_t k;

	for (i = 0; i < world.hosts; i++) {
		snprintf(name, sizeof(name), "%u", i);
		if (!tap_clocks_get(&clocks, name, NULL))
			abort();
		tap_clock_estimate_see(made, i, show(i, START));
		tap_clock_estimate_see(made, i, show(i, START + world.length_ns));
	}
	for (k = 0; k < world.count; k++) {
		const struct message *m = &world.messages[k];

		if (tap_clock_estimate_add(made, m->from, show(m->from, m->sent_ns),
					   m->to, show(m->to, m->received_ns),
					   is_message))
			abort();
	}
	if (tap_clock_estimate_solve(made, &clocks))
		abort();
	tap_clock_estimate_destroy(made);
	return clocks;
}

/* How wrong a host's clock is converted at a true time. */
static int64_t error_at(const struct tap_clocks *clocks, unsigned int host, int64_t time_ns)
{
	const struct tap_clock *reference = clocks->all[host]->reference;
	const int64_t wrong = tap_clock_convert(clocks->all[host], show(host, time_ns)) -
			      show(reference->number, time_ns);

	return wrong < 0 ? -wrong : wrong;
}

static int64_t worst_error(const struct tap_clocks *clocks, unsigned int host)
{
	int64_t worst = 0, error;
	unsigned int i;

	for (i = 0; i <= 2000; i++) {
		error = error_at(clocks, host, START + world.length_ns / 2000 * i);
		worst = error > worst ? error : worst;
	}
	return worst;
}

static bool is_causal(const struct tap_clocks *clocks)
{
	size_t i;

	for (i = 0; i < world.count; i++) {
		const struct message *m = &world.messages[i];
		const int64_t sent = tap_clock_convert(clocks->all[m->from],
						       show(m->from, m->sent_ns));
		const int64_t received = tap_clock_convert(clocks->all[m->to],
							   show(m->to, m->received_ns));

		if (received < sent) {
			printf("# message %zu from %u to %u: received %lld ns before it was sent\n",
			       i, m->from, m->to, (long long) (sent - received));
			return false;
		}
	}
	return true;
}

static bool is_monotone(const struct tap_clocks *clocks)
{
	unsigned int host, i;
	int64_t at, converted, last;

	for (host = 0; host < clocks->count; host++) {
		last = INT64_MIN;
		for (i = 0; i < 20000; i++) {
			at = show(host, START) + (i < 10000 ? i : world.length_ns / 10000 * (i - 10000));
			if (i == 10000)
				last = INT64_MIN;
			converted = tap_clock_convert(clocks->all[host], at);
			if (converted < last)
				return false;
			last = converted;
		}
	}
	return true;
}

/* Whether each time is as right as is said of that time. */
static bool has_right_errors_at(const struct tap_clocks *clocks, unsigned int host)
{
	struct tap_clock *clock = clocks->all[host];
	int64_t at_ns, said_ns, error_ns;
	unsigned int i;

	for (i = 0; i <= 2000; i++) {
		at_ns = START + world.length_ns / 2000 * i;
		error_ns = error_at(clocks, host, at_ns);
		said_ns = tap_clock_uncertainty_at(
			clock, tap_clock_convert(clock, show(host, at_ns)));
		if (error_ns <= said_ns && said_ns <= clock->uncertainty_ns)
			continue;
		printf("# host %u of %u: wrong by %lld ns at part %u, says %lld then, "
		       "%lld at most\n", host, world.hosts, (long long) error_ns, i,
		       (long long) said_ns, (long long) clock->uncertainty_ns);
		return false;
	}
	return true;
}

static bool has_right_errors(const struct tap_clocks *clocks)
{
	unsigned int i;
	bool is_passed = true;

	for (i = 0; i < world.hosts; i++) {
		const struct tap_clock *clock = clocks->all[i];
		const int64_t worst = worst_error(clocks, i);

		is_passed &= has_right_errors_at(clocks, i);
		if (worst <= clock->uncertainty_ns)
			continue;
		printf("# host %u of %u: wrong by %lld ns, says %lld\n", i, world.hosts,
		       (long long) worst, (long long) clock->uncertainty_ns);
		is_passed = false;
	}
	return is_passed;
}

static bool has_all_right(const struct tap_clocks *clocks)
{
	return has_right_errors(clocks) && is_causal(clocks) && is_monotone(clocks);
}

/* ---- Cases ---- */

static unsigned int setting(const char *name, unsigned int otherwise)
{
	const char *value = getenv(name);

	return value && *value ? (unsigned int) strtoul(value, NULL, 10) : otherwise;
}

static bool knows_random_hosts(void)
{
	const unsigned int runs = setting("CLOCK_RUNS", 200);
	int64_t *uncertainties = calloc(runs + 1, sizeof(*uncertainties));
	int64_t *one_ways = calloc(runs + 1, sizeof(*one_ways));
	unsigned int i, k;
	bool is_passed = true;

	for (i = 0; i < runs; i++) {
		struct tap_clocks clocks;

		make_world(2 + (unsigned int) draw(3), draw_between(1, 30) * SECOND);
		send_many((size_t) draw_between(300, 6000));
		clocks = estimate(true);
		for (k = 0; k < world.hosts; k++) {
			CHECK(clocks.all[k]->how ==
			      (clocks.all[k] == clocks.all[0]->reference
				       ? TAP_CLOCK_REFERENCE
				       : TAP_CLOCK_MESSAGES));
			if (clocks.all[k]->uncertainty_ns > uncertainties[i])
				uncertainties[i] = clocks.all[k]->uncertainty_ns;
		}
		CHECK(has_all_right(&clocks));
		one_ways[i] = median_one_way();
		tap_clocks_free(&clocks);
	}
	printf("# %u runs: the median of the largest uncertainties is %lld ns, of the median one-way "
	       "times %lld ns\n", runs, (long long) median(uncertainties, runs),
	       (long long) median(one_ways, runs));
	CHECK(median(uncertainties, runs) <= median(one_ways, runs));
	free(uncertainties);
	free(one_ways);
	return is_passed;
}

/* With very few pairs a message may seem to arrive early, but by less than is said. */
static bool is_right_when_thinned(void)
{
	unsigned int i;
	bool is_passed = true;

	for (i = 0; i < 20; i++) {
		struct tap_clocks clocks;

		make_world(2 + (unsigned int) draw(2), 120 * SECOND);
		world.pairs_max = i % 2 ? 2000 : 16000;
		send_many(10000);
		clocks = estimate(true);
		CHECK(has_right_errors(&clocks) && is_monotone(&clocks));
		CHECK(i % 2 || is_causal(&clocks));
		CHECK(clocks.all[1]->uncertainty_ns < SECOND / 100);
		tap_clocks_free(&clocks);
	}
	return is_passed;
}

static bool is_right_when_rates_change(void)
{
	unsigned int i;
	bool is_passed = true;

	for (i = 0; i < 20; i++) {
		struct tap_clocks clocks;

		make_world(2, 10 * SECOND);
		/* Too much for one line; NTP turns a clock by 500 ppm at most. */
		world.turn[1] = i % 2 ? 400e-6 : 5e-6;
		send_many(5000);
		clocks = estimate(true);
		CHECK(clocks.all[1]->how == TAP_CLOCK_MESSAGES);
		CHECK(has_all_right(&clocks));
		tap_clocks_free(&clocks);
	}
	return is_passed;
}

static bool says_what_is_apart(void)
{
	struct tap_clocks clocks;
	bool is_passed = true;
	unsigned int i;

	make_world(4, SECOND);
	for (i = 0; i < 100; i++) {
		send_at(0, 1, START + i * 1000000, 5000, 5000);
		send_at(2, 3, START + i * 1000000, 5000, 5000);
		send_at(3, 2, START + i * 1000000, 5000, 5000);
	}
	clocks = estimate(true);
	CHECK(clocks.all[0]->how == TAP_CLOCK_APART);
	CHECK(clocks.all[1]->how == TAP_CLOCK_APART);
	CHECK(clocks.all[2]->how == TAP_CLOCK_REFERENCE);
	CHECK(clocks.all[3]->how == TAP_CLOCK_MESSAGES);
	CHECK(clocks.all[3]->reference == clocks.all[2]);
	CHECK(!clocks.all[1]->count);
	tap_clocks_free(&clocks);
	return is_passed;
}

/* All others are one message away from it, and two from each other. */
static bool prefers_the_host_in_the_middle(void)
{
	const unsigned int middle = 2;
	struct tap_clocks clocks;
	bool is_passed = true;
	unsigned int i, k;

	make_world(4, 2 * SECOND);
	for (i = 0; i < 2000; i++) {
		for (k = 0; k < world.hosts; k++) {
			if (k == middle)
				continue;
			send_at(k, middle, START + i * (SECOND / 1000), 20000, 4000);
			send_at(middle, k, START + i * (SECOND / 1000), 20000, 4000);
		}
	}
	clocks = estimate(true);
	for (i = 0; i < world.hosts; i++) {
		CHECK(clocks.all[i]->reference == clocks.all[middle]);
		CHECK(clocks.all[i]->uncertainty_ns < 30000);
	}
	CHECK(clocks.all[middle]->how == TAP_CLOCK_REFERENCE);
	CHECK(!clocks.all[middle]->count);
	CHECK(has_all_right(&clocks));
	tap_clocks_free(&clocks);
	return is_passed;
}

static bool knows_drift_and_offset(void)
{
	struct tap_clocks clocks;
	bool is_passed = true;

	make_world(2, 20 * SECOND);
	world.offset_ns[0] = 0;
	world.offset_ns[1] = 3 * SECOND;
	world.rate[0] = 0;
	world.rate[1] = 50e-6;
	send_many(5000);
	clocks = estimate(false);
	CHECK(clocks.all[1]->how == TAP_CLOCK_COLLECTIVES);
	CHECK(llabs(clocks.all[1]->offset_ns - 3 * SECOND) <=
	      clocks.all[1]->uncertainty_ns);
	CHECK(llabs(clocks.all[1]->drift_ppb - 50000) < 10000);
	CHECK(has_all_right(&clocks));
	tap_clocks_free(&clocks);
	return is_passed;
}

static bool notices_contradictions(void)
{
	struct tap_clocks clocks;
	bool is_passed = true;
	unsigned int i;

	make_world(2, SECOND);
	for (i = 0; i < 100; i++) {
		send_at(0, 1, START + i * 1000000, 5000, 5000);
		send_at(1, 0, START + i * 1000000, 5000, 5000);
	}
	/* It claims to arrive long before it is sent. */
	world.messages[100].received_ns -= SECOND;
	clocks = estimate(true);
	CHECK(clocks.all[0]->is_contradicted);
	CHECK(clocks.all[1]->how != TAP_CLOCK_MESSAGES);
	CHECK(!clocks.all[0]->count && !clocks.all[1]->count);
	tap_clocks_free(&clocks);
	return is_passed;
}

int main(void)
{
	const unsigned int seed = setting("CLOCK_SEED", 1);
	unsigned int i;

	printf("# CLOCK_SEED=%u\n", seed);
	draw_state ^= seed * UINT64_C(0x9e3779b97f4a7c15);
	for (i = 0; i < 8; i++)
		draw_bits();
	report("each estimate of random hosts is as right as it says", knows_random_hosts);
	report("so it is when few pairs are kept", is_right_when_thinned);
	report("so it is when rates change", is_right_when_rates_change);
	report("offset and drift are those of the clock", knows_drift_and_offset);
	report("the reference is the host in the middle", prefers_the_host_in_the_middle);
	report("hosts without a way to and fro are apart", says_what_is_apart);
	report("what contradicts itself is not believed", notices_contradictions);
	return tap_done();
}
