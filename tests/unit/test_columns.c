/* SPDX-License-Identifier: MIT */
/* Columns: one array makes the text and the JSON of a table. */
#include "join/report/columns.h"
#include "unit/tap.h"

#include <string.h>

struct part {
	uint64_t deep;
};

struct row {
	char *name;
	uint64_t count, bytes, rate, ns, key;
	struct tap_spread spread;
	struct part part;
};

static struct tap_value rate_of(const struct tap_column *column, const void *data)
{
	const struct row *row = data;

	(void) column;
	return tap_value_not_negative(row->rate ? (int64_t) row->rate : -1);
}

static void add_label(struct tap_buffer *buffer, const void *data)
{
	const struct row *row = data;

	tap_buffer_add_string(buffer, "  no. ");
	tap_buffer_add_unsigned(buffer, row->count);
}

/* Nothing for the first row. */
static void add_note(struct tap_buffer *buffer, const void *data)
{
	const struct row *row = data;

	if (row->count > 1)
		tap_buffer_add_string(buffer, "a \"note\"");
}

static const struct tap_column part_columns[] = {
	TAP_COLUMN("deep", "deep", 6, TAP_UNIT_COUNT, struct part, deep),
	TAP_COLUMNS_END,
};

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "table", 10, add_label),
	TAP_COLUMN_NAME("name", "name", 5, struct row, name),
	TAP_COLUMN("count", "count", 7, TAP_UNIT_COUNT, struct row, count),
	TAP_COLUMN("bytes", NULL, 0, TAP_UNIT_BYTES, struct row, bytes),
	TAP_COLUMN_VALUE("rate", "MB/s", 6, TAP_UNIT_RATE, rate_of),
	TAP_COLUMN("ns", "time", 10, TAP_UNIT_DURATION, struct row, ns),
	TAP_COLUMN("key", "key", 6, TAP_UNIT_HEX, struct row, key),
	TAP_COLUMN_PERCENTILE("p50_ns", "p50", 9, 50, struct row, spread),
	TAP_COLUMN_PART("spread", tap_spread_columns, struct row, spread),
	TAP_COLUMN_PART("part", part_columns, struct row, part),
	TAP_COLUMN_PART(NULL, part_columns, struct row, part),
	TAP_COLUMN_TEXT("note", "note", 0, add_note),
	TAP_COLUMNS_END,
};

static char name_a[] = "a\n";
static struct row first = {.name = name_a, .count = 1, .bytes = 2, .ns = 1500};
static struct row second = {.count = 2, .rate = 3999999, .key = 255, .part = {.deep = 7}};

static bool is_text(struct tap_buffer *line, const char *expected)
{
	const size_t length = strlen(expected);
	const bool is_same =
		line->used == length && !memcmp(line->data, expected, length);

	if (!is_same)
		printf("# got: %.*s\n", (int) line->used, line->data);
	tap_buffer_free(line);
	return is_same;
}

static bool text(void)
{
	void *all[] = {&first, &second};
	const struct tap_rows rows = {.all = all, .count = 2};
	struct tap_buffer line = {0};
	bool is_passed = true;

	tap_columns_add_text(&line, columns, &rows);
	CHECK(is_text(
		&line,
		"table       name   count  MB/s      time   key      p50  deep  deep"
		"  note\n"
		"  no. 1     a\\x0a      1     -  1.500 us   0x0        -     0     0\n"
		"  no. 2     -          2     3      0 ns  0xff 2.000 us     7     7"
		"  a \"note\"\n"));
	return is_passed;
}

static bool json(void)
{
	void *all[] = {&first, &second};
	const struct tap_rows rows = {.all = all, .count = 2};
	struct tap_buffer line = {0};
	struct tap_json out = {0};
	bool is_passed = true;

	tap_json_open(&out, NULL, '{');
	tap_columns_add_json(&out, "rows", columns, &rows);
	tap_json_end_line(&out, &line);
	CHECK(is_text(
		&line,
		"{\"rows\":["
		"{\"name\":\"a\\n\",\"count\":1,\"bytes\":2,\"rate\":null,\"ns\":1500,"
		"\"key\":\"0x0\",\"p50_ns\":null,"
		"\"spread\":{\"p50_ns\":null,\"p99_ns\":null,\"max_ns\":null},"
		"\"part\":{\"deep\":0},\"deep\":0,\"note\":null},"
		"{\"name\":null,\"count\":2,\"bytes\":0,\"rate\":3999999,\"ns\":0,"
		"\"key\":\"0xff\",\"p50_ns\":2000,"
		"\"spread\":{\"p50_ns\":2000,\"p99_ns\":3000,\"max_ns\":3000},"
		"\"part\":{\"deep\":7},\"deep\":7,\"note\":\"a \\\"note\\\"\"}"
		"]}\n"));
	tap_json_free(&out);
	return is_passed;
}

static bool empty(void)
{
	const struct tap_rows none = {0};
	struct tap_buffer line = {0};
	struct tap_json out = {0};
	bool is_passed = true;

	tap_columns_add_text(&line, part_columns, &none);
	tap_columns_add_section(&line, part_columns, &none);
	CHECK(is_text(&line, "  deep\n"));
	tap_json_open(&out, NULL, '{');
	tap_columns_add_json(&out, "rows", part_columns, &none);
	tap_json_end_line(&out, &line);
	CHECK(is_text(&line, "{\"rows\":[]}\n"));
	tap_json_free(&out);
	return is_passed;
}

/* Cells that are too long move what follows and are not cut. */
static bool wide(void)
{
	struct row row = {.count = 123456789, .bytes = UINT64_MAX};
	struct tap_buffer line = {0};
	bool is_passed = true;

	tap_columns_add_cells(&line, columns, &row);
	CHECK(is_text(&line, "  no. 123456789  -    123456789     -      0 ns   0x0"
			     "        -     0     0  a \"note\""));
	return is_passed;
}

static bool rounded(void)
{
	static const struct tap_column medians[] = {
		TAP_COLUMN_PERCENTILE("p50_ns", "p50", 9, 50, struct row, spread),
		TAP_COLUMN_PERCENTILE("max_ns", "max", 13, 100, struct row, spread),
		TAP_COLUMNS_END,
	};
	struct tap_buffer line = {0};
	struct row row = {0};
	bool is_passed = true;
	int64_t i;

	for (i = 1; i <= 101; i++)
		tap_spread_add(&row.spread, i * 100000);
	tap_columns_add_cells(&line, medians, &row);
	CHECK(is_text(&line, "  ~5.0 ms    10.100 ms"));
	return is_passed;
}

int main(void)
{
	tap_spread_add(&second.spread, 2000);
	tap_spread_add(&second.spread, 3000);
	printf("1..5\n");
	report("a table's text has headers, cells and what is unknown", text);
	report("its JSON has the same values and those of JSON alone", json);
	report("a table may have no rows", empty);
	report("long cells are not cut", wide);
	report("a percentile says whether it is rounded", rounded);
	return 0;
}
