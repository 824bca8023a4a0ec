/* SPDX-License-Identifier: MIT */
/*
 * The page's matrix of ranks and operations: how much later than the first rank each rank
 * started each operation; and its matrix of ranks and ranks: who waited for whom.
 *
 * Hides that the number of operations has no bound and the matrix has one: where there
 * are too many, each column has two, four, eight operations, of which it has the largest
 * lateness.
 */
#ifndef TAP_JOIN_REPORT_PAGE_ARRIVALS_H
#define TAP_JOIN_REPORT_PAGE_ARRIVALS_H

#include "common/vec.h"
#include "join/base/json.h"
#include "join/findings/collective.h"
#include "join/report/overview.h"

struct tap_filters;

/* At most so many ranks are known, so many of them in the matrix, and so many columns. */
#define TAP_PAGE_RANKS 1024
#define TAP_PAGE_ARRIVAL_ROWS 256
#define TAP_PAGE_ARRIVAL_COLUMNS 512
/* Pairs of a rank that waits and one that it waits for. */
#define TAP_PAGE_WAITS 2048

struct tap_page_column {
	const struct tap_comm *comm;
	const struct tap_name *name; /* NULL: the ranks called different functions */
	uint64_t number;
	int64_t first_ns, last_ns; /* of its operations: the first rank's start */
	bool has_calls;		   /* an operation whose kernels are not all known */
};

/* All zero is empty. */
struct tap_page_arrivals {
	struct tap_rows ranks; /* by (process, device) */
	TAP_VEC(struct tap_page_column) columns;
	uint64_t in_column; /* operations in each column but the last, a power of two */
	uint64_t operations;
	uint64_t unranked;     /* arrivals of ranks beyond the bound */
	struct tap_rows pairs; /* by (who waits, for whom), indices of ranks */
	uint64_t other_waits;
};

/* Takes an operation that the filters choose, NULL: any.  Returns 0 or -ENOMEM. */
int tap_page_arrivals_add(struct tap_page_arrivals *arrivals,
			  const struct tap_context *context,
			  const struct tap_filters *filters,
			  const struct tap_collective *collective);

/* Adds the members "ranks", "arrivals" and "waits". */
void tap_page_arrivals_add_json(struct tap_json *json, struct tap_page_arrivals *arrivals,
				const struct tap_context *context,
				const struct tap_overview *overview);

void tap_page_arrivals_free(struct tap_page_arrivals *arrivals);

#endif
