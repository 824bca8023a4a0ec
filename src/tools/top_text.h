/* SPDX-License-Identifier: MIT */
/*
 * The table of `ccltap top` as lines of text, for a screen and for a pipe, and as JSON.
 * Hides its columns: their names, their order, and which are left out where there is
 * little room.
 */
#ifndef TAP_TOOLS_TOP_TEXT_H
#define TAP_TOOLS_TOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tools/top_table.h"

#define TAP_TOP_LINE 256

/* What is sorted by, as a user writes it. Returns false: it is nothing of the kind. */
bool tap_top_key_parse(const char *word, enum tap_top_key *ret_key);
const char *tap_top_key_name(enum tap_top_key key);

/* What stands above the table: how much there is of what. */
void tap_top_text_title(const struct tap_top_table *table, const char *session,
			char line[TAP_TOP_LINE]);

/*
 * The line of a row, or that of the columns' names, NULL: of what fits in so many
 * columns.
 */
void tap_top_text_line(const struct tap_top_row *row, unsigned columns,
		       char line[TAP_TOP_LINE]);

/* The table without what `filter` leaves out, in so many columns. */
void tap_top_text_write(FILE *out, const struct tap_top_table *table, const char *session,
			const char *filter, unsigned columns);
void tap_top_text_write_json(FILE *out, const struct tap_top_table *table,
			     const char *session, const char *filter);

#endif
