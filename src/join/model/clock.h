/* SPDX-License-Identifier: MIT */
/*
 * The clocks of the hosts whose traces are read together.  Two hosts never show the same
 * time, so each host's times are converted to the clock of one of them, the reference,
 * before anything compares them, and the conversion is known to within an uncertainty.
 *
 * Hides the conversion, and which traces are of one host: everything after decoding sees
 * times of one clock.
 */
#ifndef TAP_JOIN_MODEL_CLOCK_H
#define TAP_JOIN_MODEL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tap_context;
struct tap_process;

/* How the conversion to the reference host's clock is known. */
enum tap_clock_how {
	/* Nothing connects the host to the reference; it may be one for others. */
	TAP_CLOCK_APART,
	TAP_CLOCK_REFERENCE,
	TAP_CLOCK_MESSAGES,
	TAP_CLOCK_COLLECTIVES, /* of which messages alone do not reach the reference */
};

/*
 * At this time of the host's clock, what to add to get the reference's, and the most by
 * which a time from here to the next point may be wrong then.
 */
struct tap_clock_point {
	int64_t host_ns;
	int64_t add_ns;
	int64_t uncertainty_ns;
};

/* The clock of one host.  It belongs to the context. */
struct tap_clock {
	unsigned int number; /* from 0 */
	char *host;
	unsigned char boot[16]; /* of the kernel, where known */
	bool has_boot;

	enum tap_clock_how how;
	bool is_contradicted; /* what was found about it cannot all be true */
	const struct tap_clock *reference; /* of a reference, or without any: itself */
	/*
	 * How far it is ahead of the reference at its first event, how much faster it
	 * runs (in 10^-9), and the most by which any converted time may be wrong.
	 */
	int64_t offset_ns, drift_ppb, uncertainty_ns;

	struct tap_clock_point *points; /* by host_ns; none: times stay */
	size_t count;
	size_t latest; /* where the last time was found */
};

/* All zero is no clock. */
struct tap_clocks {
	struct tap_clock **all;
	size_t count;
	size_t room;
};

/*
 * The clock of the host of this name, made when new.  Two machines may have one name:
 * they have different boots (16 bytes, NULL unknown).  NULL when memory is short.
 */
struct tap_clock *tap_clocks_get(struct tap_clocks *clocks, const char *host,
				 const unsigned char *boot);

void tap_clocks_free(struct tap_clocks *clocks);

/* Converts a time of the host, also when it is NULL; never makes time run backwards. */
int64_t tap_clock_convert(struct tap_clock *clock, int64_t host_ns);

/* The time of the host that is converted to this one, to within 2 ns. */
int64_t tap_clock_invert(const struct tap_clock *clock, int64_t time_ns);

/* The most by which this converted time of the host may be wrong; -1: one at any time. */
int64_t tap_clock_uncertainty_at(const struct tap_clock *clock, int64_t time_ns);

/*
 * The most by which the difference of these converted times of two processes may be wrong
 * (-1: of any times of theirs): 0 on one host, -1 where nothing connects the two hosts and
 * their times may not be compared.
 */
int64_t tap_clock_uncertainty_ns(const struct tap_process *a, int64_t a_ns,
				 const struct tap_process *b, int64_t b_ns);

/* "apart", "reference", "messages", "collectives". */
const char *tap_clock_how_name(enum tap_clock_how how);

#endif
