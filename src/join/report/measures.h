/* SPDX-License-Identifier: MIT */
/*
 * What of a run can be compared with another run: collectives, ranks, connections and
 * findings, each with a name that is the same in both.
 *
 * Hides how such a name is made, where numbers of communicators and processes differ from
 * run to run, and the lines in which the measures of the first run wait in a file while
 * the second one is read: the second reading has all that prints them, and no library for
 * JSON is needed.
 */
#ifndef TAP_JOIN_REPORT_MEASURES_H
#define TAP_JOIN_REPORT_MEASURES_H

#include "join/report/overview.h"
#include "join/report/report_net.h"

enum tap_measure_kind {
	TAP_MEASURE_FINDING,
	TAP_MEASURE_COLLECTIVE, /* the median from the first start to the end */
	TAP_MEASURE_RANK,	/* the time that it waited for others */
	TAP_MEASURE_CONNECTION, /* the median latency of messages */
	TAP_MEASURE_KINDS
};

/* A number that is not known, or that the kind does not have, is -1. */
struct tap_measure {
	enum tap_measure_kind kind;
	const char *name; /* "ncclAllReduce 256 KiB" */
	const char *text; /* of a finding: its headline; else "" */
	int64_t count;	  /* how many values the next one is of */
	int64_t ns;	  /* of a finding: what it costs */
	int64_t noise_ns; /* the median of the distances from the median */
	/*
	 * Per cent: of a collective the part that was waiting, of a rank the collectives
	 * in which it was last; of a finding its severity.
	 */
	int64_t percent;
	int64_t bandwidth; /* bytes in a second, of a collective */
};

/* All zero is empty. */
struct tap_measures {
	struct tap_rows rows; /* of struct tap_measure; by (hash of the name, kind) */
};

/* The measure with this kind and name, or NULL. */
const struct tap_measure *tap_measures_find(const struct tap_measures *measures,
					    enum tap_measure_kind kind, const char *name);

/* Adds a measure, whose strings are copied.  Returns 0 or -ENOMEM. */
int tap_measures_add(struct tap_measures *measures, const struct tap_measure *measure);

/* Adds the measures of a reading that is over.  Returns 0 or -ENOMEM. */
int tap_measures_take(struct tap_measures *measures, const struct tap_findings *findings,
		      const struct tap_overview *overview,
		      const struct tap_report_net *net);

/* Adds a line for each, and reads such lines.  Reading returns 0 or -errno. */
void tap_measures_write(struct tap_buffer *text, const struct tap_measures *measures);
int tap_measures_read(struct tap_measures *measures, const char *path);

void tap_measures_free(struct tap_measures *measures);

#endif
