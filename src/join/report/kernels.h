/* SPDX-License-Identifier: MIT */
/*
 * The rows of a table of kernels: one for each process and name of a function.
 *
 * Hides that they are found by a hash, and what becomes of very many names.
 */
#ifndef TAP_JOIN_REPORT_KERNELS_H
#define TAP_JOIN_REPORT_KERNELS_H

#include "join/report/rows.h"
#include "join/report/times.h"

struct tap_kernel_sum {
	const struct tap_process *process;
	char *name; /* or its address */
	uint64_t launches;
	uint64_t captured; /* into a graph: not launched */
	struct tap_times times;
	struct tap_kernel_sum *next; /* with the same hash */
};

/* The row of a name, NULL where there are too many.  Returns 0 or -ENOMEM. */
int tap_kernels_get(struct tap_rows *rows, const struct tap_process *process,
		    const char *name, struct tap_kernel_sum **ret);

/* The process, as the first column of the text. */
void tap_kernels_add_process(struct tap_buffer *line, const void *row);

/* The first rows as text, and how many more there are. */
void tap_kernels_add_text(const struct tap_rows *rows, struct tap_buffer *line,
			  const struct tap_column *columns);

/* Frees the rows and their names. */
void tap_kernels_free(struct tap_rows *rows);

#endif
