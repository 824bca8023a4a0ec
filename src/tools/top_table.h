/* SPDX-License-Identifier: MIT */
/*
 * What `ccltap top` shows: a row for each rank of each communicator, as of one look at
 * the counters, and what changed since the look before.
 *
 * Hides that it is made of the text for Prometheus, so that it has what the metrics have,
 * and who of a communicator is last.
 */
#ifndef TAP_TOOLS_TOP_TABLE_H
#define TAP_TOOLS_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/vec.h"

struct tap_top_row {
	char host[64];
	char communicator[17]; /* as the label has it; "": of calls on none */
	int rank, nranks;      /* -1: not known */
	/* Since the communicator was made. */
	uint64_t operations, collectives, bytes, bus_bytes;
	uint64_t failures, dropped;
	/* A call that has not returned, "": none; and for how long, at least. */
	char open_call[64];
	double open_s;
	/* By the second, since the look before. */
	bool has_rates;
	double operations_s, bytes_s, bus_bytes_s;
	uint64_t behind; /* collectives fewer than the rank here that has called most */
	bool is_last;	 /* no other rank here is as far behind */
	unsigned looks, lasts; /* how often it was seen, and was the last */
	bool is_live;
};

struct tap_top_table {
	TAP_VEC(struct tap_top_row) rows;
	unsigned processes, communicators;
	uint64_t failures; /* calls that failed, on whatever */
	int64_t looked_ms; /* of CLOCK_MONOTONIC, 0: never */
	double interval_s; /* since the look before */
};

/*
 * Replaces the table by what `text` says, as of looked_ms. Returns 0, or -ENOMEM and
 * leaves the table.
 */
int tap_top_table_look(struct tap_top_table *table, const char *text, size_t size,
		       int64_t looked_ms);
void tap_top_table_free(struct tap_top_table *table);

enum tap_top_key {
	TAP_TOP_BY_COMMUNICATOR,
	TAP_TOP_BY_RANK,
	TAP_TOP_BY_OPERATIONS,
	TAP_TOP_BY_BYTES,
	TAP_TOP_BY_BUS,
	TAP_TOP_BY_BEHIND,
	TAP_TOP_BY_LAST,
	TAP_TOP_BY_ERRORS,
	TAP_TOP_BY_OPEN,
	TAP_NR_TOP_KEYS,
};

/* Names first, by alphabet, and the most of everything else first; or the reverse. */
void tap_top_table_sort(struct tap_top_table *table, enum tap_top_key key,
			bool is_reversed);

/*
 * A number means the rows of this rank, other letters those that have them in their
 * communicator, host or open call, and "" all.
 */
bool tap_top_row_is_meant(const struct tap_top_row *row, const char *filter);

#endif
