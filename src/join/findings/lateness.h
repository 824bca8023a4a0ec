/* SPDX-License-Identifier: MIT */
/*
 * Whether a rank is late: statistics of who was the last to start each operation of a
 * series, and by how much.
 *
 * Hides how a rank that is late is told apart from ranks that come at random times:
 *
 * - Only operations that matter are looked at: the fewest that together have nine tenths
 * of all the lateness.  In a run where one rank sleeps these are the ones it sleeps
 * before.
 * - Of these the same rank, or few ranks, must have been the last in three quarters, and
 * so often that ranks which come at random would show it in less than 1 of 100 series
 *   (the binomial distribution, times the number of sets of so many ranks).
 * - Where there are few operations, that does not suffice: by how much the rank was late
 * must be alike each time, or it must have been late at equal distances.  Random times
 * would show all of it in less than 1 of 100,000 series.  Random times are taken to be
 * alike (within a quarter of their median) with a probability of 0.35, which is cautious:
 * it is 0.17 where they are distributed exponentially, and 0.21 where normally.
 * - Ranks that take turns at being late are few ranks only if they come late together.
 * - It stands out, or else it is faint: it is mostly clear (see below), and three times
 * what it is when another rank is the last.
 * - Nothing is a mean: one long pause changes no result.
 *
 * So 4 ranks need 6 operations, 2 ranks 8, if the rank is as late each time.
 */
#ifndef TAP_JOIN_FINDINGS_LATENESS_H
#define TAP_JOIN_FINDINGS_LATENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An operation of the series: by number, or time. */
struct tap_lateness {
	uint64_t number;
	int64_t time_ns;     /* when the last rank started */
	int64_t lateness_ns; /* by so much later than the median of the others; at least 0
			      */
	unsigned int last;   /* an index of ranks */
	/*
	 * So many ranks started nearer to the last one than to the median of the others;
	 * and those that did not started all within half the lateness.
	 */
	unsigned int together;
	bool is_clear;
	bool is_over; /* explained by a pattern that was found already */
};

/* In the course of time. */
enum tap_late_course {
	TAP_LATE_ALWAYS,
	TAP_LATE_SINCE, /* a sudden change */
	TAP_LATE_UNTIL,
	TAP_LATE_PERIOD, /* each so many operations */
	TAP_LATE_SOMETIMES,
};

#define TAP_LATE_RANKS_MAX 8

struct tap_late_pattern {
	enum tap_late_course course;
	unsigned int ranks[TAP_LATE_RANKS_MAX]; /* most often last first */
	size_t rank_count;
	/* In how many operations of how many they were late; since or until the change.
	 */
	size_t late, of;
	int64_t lateness_ns;  /* the median */
	int64_t deviation_ns; /* the median deviation from it */
	bool is_faint;	      /* it does not stand out */
	uint64_t period;      /* of TAP_LATE_PERIOD */
	int64_t change_ns;    /* of a sudden change, or the first that was late */
};

/*
 * Looks for a pattern in the operations that are not over; those that it explains are
 * over then.  Returns 1 if there is one, 0 if not, or -ENOMEM.
 */
int tap_late_find(struct tap_lateness *series, size_t count, unsigned int nranks,
		  struct tap_late_pattern *pattern);

#endif
