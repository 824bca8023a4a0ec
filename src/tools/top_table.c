/* SPDX-License-Identifier: MIT */
/* Lines of the text become rows; the rows of the look before give rates. */
#include "tools/top_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"

/* ---- A line ---- */

struct line {
	char metric[80];
	char host[64], communicator[17], function[64];
	int rank, nranks;
	double value;
};

/* Copies LABEL's word of {LABEL="WORD",...}; "" where there is none. */
static void take_label(const char *labels, const char *end, const char *label,
		       char *ret_word, size_t size)
{
	const size_t length = strlen(label);
	size_t used = 0;

	*ret_word = '\0';
	/* No word has a quote or a comma in it. */
	for (; labels && labels < end;
	     labels = memchr(labels, ',', (size_t) (end - labels))) {
		labels++;
		if ((size_t) (end - labels) > length + 2 &&
		    !strncmp(labels, label, length) &&
		    !strncmp(labels + length, "=\"", 2))
			break;
	}
	if (!labels || labels >= end)
		return;
	for (labels += length + 2; labels < end && *labels != '"' && used < size - 1;)
		ret_word[used++] = *labels++;
	ret_word[used] = '\0';
}

static int take_number(const char *labels, const char *end, const char *label)
{
	char word[16];

	take_label(labels, end, label, word, sizeof(word));
	return *word ? atoi(word) : -1;
}

/* Returns false for a line that is of no metric. */
static bool take_line(const char *text, struct line *line)
{
	const size_t length = strcspn(text, "{ ");
	const char *labels = text + length, *end = labels;

	if (*text == '#' || !text[length] || length >= sizeof(line->metric))
		return false;
	snprintf(line->metric, sizeof(line->metric), "%.*s", (int) length, text);
	if (*labels == '{')
		end = strchr(labels, '}');
	if (!end)
		return false;
	take_label(labels, end, "host", line->host, sizeof(line->host));
	take_label(labels, end, "communicator", line->communicator,
		   sizeof(line->communicator));
	take_label(labels, end, "function", line->function, sizeof(line->function));
	line->rank = take_number(labels, end, "rank");
	line->nranks = take_number(labels, end, "nranks");
	line->value = strtod(end + (*end == '}'), NULL);
	return true;
}

/* ---- Rows ---- */

static bool is_same(const struct tap_top_row *row, const char *host,
		    const char *communicator, int rank, int nranks)
{
	return row->rank == rank && row->nranks == nranks &&
	       !strcmp(row->communicator, communicator) && !strcmp(row->host, host);
}

/* Lines of one row stand together, and rows in one order: *at is where the last was. */
static struct tap_top_row *find(const struct tap_top_table *table, size_t *at,
				const char *host, const char *communicator, int rank,
				int nranks)
{
	for (size_t i = 0; i < table->rows.count; i++, (*at)++) {
		if (*at >= table->rows.count)
			*at = 0;
		if (is_same(&table->rows.items[*at], host, communicator, rank, nranks))
			return &table->rows.items[*at];
	}
	return NULL;
}

static struct tap_top_row *get(struct tap_top_table *table, size_t *at,
			       const struct line *line)
{
	struct tap_top_row row = {.rank = line->rank, .nranks = line->nranks};
	struct tap_top_row *found =
		find(table, at, line->host, line->communicator, line->rank, line->nranks);

	if (found)
		return found;
	snprintf(row.host, sizeof(row.host), "%s", line->host);
	snprintf(row.communicator, sizeof(row.communicator), "%s", line->communicator);
	if (tap_vec_add(&table->rows, row))
		return NULL;
	*at = table->rows.count - 1;
	return &table->rows.items[*at];
}

static bool is_collective(const char *function)
{
	return strcmp(function, "ncclSend") != 0 && strcmp(function, "ncclRecv") != 0;
}

static const struct sum {
	const char *metric;
	size_t offset;
} sums[] = {
	{"ccltap_nccl_communicator_operations_total",
	 offsetof(struct tap_top_row, operations)},
	{"ccltap_nccl_communicator_operation_bytes_total",
	 offsetof(struct tap_top_row, bytes)},
	{"ccltap_nccl_communicator_bus_bytes_total",
	 offsetof(struct tap_top_row, bus_bytes)},
	{"ccltap_nccl_communicator_call_failures_total",
	 offsetof(struct tap_top_row, failures)},
	{"ccltap_nccl_communicator_dropped_operations_total",
	 offsetof(struct tap_top_row, dropped)},
};

/* What a supervisor of another version may write is no count: 0. */
static uint64_t count_of(double value)
{
	return value >= 0 && value < 0x1p63 ? (uint64_t) value : 0;
}

static void add_open(struct tap_top_row *row, const struct line *line)
{
	if (line->value <= row->open_s)
		return;
	row->open_s = line->value;
	snprintf(row->open_call, sizeof(row->open_call), "%s", line->function);
}

static int add_line(struct tap_top_table *table, size_t *at, const struct line *line)
{
	struct tap_top_row *row;
	size_t i;

	if (!strcmp(line->metric, "ccltap_processes")) {
		table->processes += (unsigned) count_of(line->value);
		return 0;
	}
	if (!strcmp(line->metric, "ccltap_nccl_call_failures_total")) {
		table->failures += count_of(line->value);
		return 0;
	}
	if (!strcmp(line->metric, "ccltap_nccl_open_call_seconds")) {
		row = get(table, at, line);
		if (row)
			add_open(row, line);
		return row ? 0 : -ENOMEM;
	}
	if (!strcmp(line->metric, "ccltap_nccl_communicator_ranks")) {
		row = get(table, at, line);
		if (row)
			row->is_live = line->value > 0;
		return row ? 0 : -ENOMEM;
	}
	for (i = 0; i < ARRAY_SIZE(sums); i++)
		if (!strcmp(line->metric, sums[i].metric))
			break;
	if (i == ARRAY_SIZE(sums))
		return 0;
	row = get(table, at, line);
	if (!row)
		return -ENOMEM;
	*(uint64_t *) ((char *) row + sums[i].offset) += count_of(line->value);
	if (sums[i].offset == offsetof(struct tap_top_row, operations) &&
	    is_collective(line->function))
		row->collectives += count_of(line->value);
	return 0;
}

static int read_text(struct tap_top_table *table, const char *text, size_t size)
{
	const char *end = text + size;
	struct line line;
	size_t at = 0;
	int ret = 0;

	while (!ret && text < end) {
		const char *next = memchr(text, '\n', (size_t) (end - text));
		const size_t length = (size_t) ((next ? next : end) - text);
		char *one = strndup(text, length); /* labels may be long */

		if (!one)
			return -ENOMEM;
		if (take_line(one, &line))
			ret = add_line(table, &at, &line);
		free(one);
		text += length + 1;
	}
	return ret;
}

/* What is gone, and has no call open, is not shown. */
static void drop_gone(struct tap_top_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->rows.count; i++)
		if (table->rows.items[i].is_live || *table->rows.items[i].open_call)
			table->rows.items[kept++] = table->rows.items[i];
	table->rows.count = kept;
}

/* ---- Who is last ---- */

static int compare_names(const struct tap_top_row *a, const struct tap_top_row *b)
{
	int ret = strcmp(a->communicator, b->communicator);

	if (!ret)
		ret = (a->nranks > b->nranks) - (a->nranks < b->nranks);
	if (!ret)
		ret = strcmp(a->host, b->host);
	return ret ? ret : (a->rank > b->rank) - (a->rank < b->rank);
}

static bool is_beside(const struct tap_top_row *a, const struct tap_top_row *b)
{
	return *a->communicator && !strcmp(a->communicator, b->communicator) &&
	       a->nranks == b->nranks;
}

/* Of the rows of one communicator, which stand together. */
static void find_last(struct tap_top_row *rows, size_t count)
{
	struct tap_top_row *last = &rows[0];
	uint64_t most = 0;
	size_t nr_last = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].collectives > most)
			most = rows[i].collectives;
	for (size_t i = 0; i < count; i++) {
		rows[i].behind = most - rows[i].collectives;
		if (rows[i].behind > last->behind)
			last = &rows[i];
	}
	for (size_t i = 0; i < count; i++)
		nr_last += rows[i].behind == last->behind;
	last->is_last = last->behind && nr_last == 1;
}

static void find_all_last(struct tap_top_table *table)
{
	struct tap_top_row *rows = table->rows.items;
	size_t count;

	tap_top_table_sort(table, TAP_TOP_BY_COMMUNICATOR, false);
	for (size_t i = 0; i < table->rows.count; i += count) {
		for (count = 1; i + count < table->rows.count &&
				is_beside(&rows[i], &rows[i + count]);)
			count++;
		if (!*rows[i].communicator)
			continue;
		table->communicators++;
		find_last(&rows[i], count);
	}
}

/* ---- What changed ---- */

static double rate(uint64_t now, uint64_t before, double seconds)
{
	return now > before ? (double) (now - before) / seconds : 0;
}

static void compare_with(struct tap_top_table *table, const struct tap_top_table *before)
{
	size_t at = 0;

	if (before->looked_ms)
		table->interval_s =
			(double) (table->looked_ms - before->looked_ms) / 1000;
	for (size_t i = 0; i < table->rows.count; i++) {
		struct tap_top_row *row = &table->rows.items[i];
		const struct tap_top_row *old =
			find(before, &at, row->host, row->communicator, row->rank,
			     row->nranks);

		if (old) {
			row->looks = old->looks;
			row->lasts = old->lasts;
		}
		row->looks++;
		row->lasts += row->is_last;
		if (!old || table->interval_s <= 0)
			continue;
		row->has_rates = true;
		row->operations_s =
			rate(row->operations, old->operations, table->interval_s);
		row->bytes_s = rate(row->bytes, old->bytes, table->interval_s);
		row->bus_bytes_s =
			rate(row->bus_bytes, old->bus_bytes, table->interval_s);
	}
}

int tap_top_table_look(struct tap_top_table *table, const char *text, size_t size,
		       int64_t looked_ms)
{
	struct tap_top_table now = {.looked_ms = looked_ms};
	int ret;

	/* Another has asked a moment ago, and this is what it was given. */
	if (looked_ms == table->looked_ms)
		return 0;
	ret = read_text(&now, text, size);
	if (ret) {
		tap_top_table_free(&now);
		return ret;
	}
	drop_gone(&now);
	find_all_last(&now);
	compare_with(&now, table);
	tap_top_table_free(table);
	*table = now;
	return 0;
}

void tap_top_table_free(struct tap_top_table *table)
{
	tap_vec_free(&table->rows);
}

/* ---- For a reader ---- */

static double value_of(const struct tap_top_row *row, enum tap_top_key key)
{
	switch (key) {
	case TAP_TOP_BY_OPERATIONS:
		return row->operations_s;
	case TAP_TOP_BY_BYTES:
		return row->bytes_s;
	case TAP_TOP_BY_BUS:
		return row->bus_bytes_s;
	case TAP_TOP_BY_BEHIND:
		return (double) row->behind;
	case TAP_TOP_BY_LAST:
		return (double) row->lasts / row->looks;
	case TAP_TOP_BY_ERRORS:
		return (double) (row->failures + row->dropped);
	case TAP_TOP_BY_OPEN:
		return row->open_s;
	default:
		return 0;
	}
}

struct order {
	enum tap_top_key key;
	bool is_reversed;
};

static int compare(const void *left, const void *right, void *data)
{
	const struct tap_top_row *a = left, *b = right;
	const struct order *order = data;
	const double of_a = value_of(a, order->key), of_b = value_of(b, order->key);
	int ret = (of_a < of_b) - (of_a > of_b);

	if (order->key == TAP_TOP_BY_RANK)
		ret = (a->rank > b->rank) - (a->rank < b->rank);
	if (!ret)
		ret = compare_names(a, b);
	return order->is_reversed ? -ret : ret;
}

void tap_top_table_sort(struct tap_top_table *table, enum tap_top_key key,
			bool is_reversed)
{
	struct order order = {.key = key, .is_reversed = is_reversed};

	if (table->rows.count)
		qsort_r(table->rows.items, table->rows.count, sizeof(*table->rows.items),
			compare, &order);
}

bool tap_top_row_is_meant(const struct tap_top_row *row, const char *filter)
{
	if (!*filter)
		return true;
	if (!filter[strspn(filter, "0123456789")])
		return row->rank == atoi(filter);
	return strcasestr(row->communicator, filter) || strcasestr(row->host, filter) ||
	       strcasestr(row->open_call, filter);
}
