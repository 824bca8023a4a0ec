/* SPDX-License-Identifier: MIT */
/* Lists that end at their first -1. */
#include "join/report/ranks.h"

static bool is_rank(const int64_t *ranks, uint64_t i)
{
	return i < TAP_RANKS_MAX && ranks[i] >= 0;
}

void tap_ranks_add_one(struct tap_buffer *line, int64_t rank)
{
	tap_buffer_add_string(line, "rank ");
	if (rank < 0)
		tap_buffer_add_char(line, '?');
	else
		tap_buffer_add_signed(line, rank);
}

void tap_ranks_add_text(struct tap_buffer *line, const int64_t *ranks, uint64_t total)
{
	uint64_t i;

	for (i = 0; is_rank(ranks, i); i++) {
		tap_buffer_add_string(line, i ? ", " : " ");
		tap_buffer_add_signed(line, ranks[i]);
	}
	if (total <= i)
		return;
	tap_buffer_add_string(line, i ? " and " : ": ");
	tap_buffer_add_unsigned(line, total - i);
	if (i)
		tap_buffer_add_string(line, " more");
}

void tap_ranks_add_json(struct tap_json *json, const char *name, const int64_t *ranks)
{
	uint64_t i;

	tap_json_open(json, name, '[');
	for (i = 0; is_rank(ranks, i); i++)
		tap_json_signed(json, NULL, ranks[i]);
	tap_json_close(json);
}
