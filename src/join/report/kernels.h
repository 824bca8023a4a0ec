/* SPDX-License-Identifier: MIT */
/*
 * The rows of a table of kernels: one for each process and function name.
 *
 * Hides that rows are found by a hash, and that names beyond a bound have no row.
 */
#ifndef TAP_JOIN_REPORT_KERNELS_H
#define TAP_JOIN_REPORT_KERNELS_H

#include "join/report/rows.h"
#include "join/report/times.h"

struct tap_kernel_sum {
	const struct tap_process *process;
	char *name; /* or its address */
	uint64_t launches;
	uint64_t captured; /* into a graph, and not launched */
	struct tap_times times;
	struct tap_kernel_sum *next; /* with the same hash */
};

/*
 * Gets the row of a name into *ret, NULL when there are too many names.  Returns 0 or
 * -ENOMEM.
 */
int tap_kernels_get(struct tap_rows *rows, const struct tap_process *process,
		    const char *name, struct tap_kernel_sum **ret);

/* Adds the process, the first column of the text. */
void tap_kernels_add_process(struct tap_buffer *line, const void *row);

/* Adds the name as the source has it, which is cut where it is long. */
void tap_kernels_add_function(struct tap_buffer *line, const void *row);

/* Adds the first rows as text, and the number of the others. */
void tap_kernels_add_text(const struct tap_rows *rows, struct tap_buffer *line,
			  const struct tap_column *columns);

/* Frees the rows and their names. */
void tap_kernels_free(struct tap_rows *rows);

#endif
