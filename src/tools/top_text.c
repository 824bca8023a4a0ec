/* SPDX-License-Identifier: MIT */
/* A column is a name, a width and a function that writes a cell. */
#include "tools/top_text.h"

#include <inttypes.h>
#include <string.h>

#include "common/compiler.h"

#define CELL 80

/* Where a screen is narrower, a communicator is half of its name. */
#define WIDE 88

static const char *const keys[] = {
	[TAP_TOP_BY_COMMUNICATOR] = "communicator",
	[TAP_TOP_BY_RANK] = "rank",
	[TAP_TOP_BY_OPERATIONS] = "operations",
	[TAP_TOP_BY_BYTES] = "bytes",
	[TAP_TOP_BY_BUS] = "busbw",
	[TAP_TOP_BY_BEHIND] = "behind",
	[TAP_TOP_BY_LAST] = "last",
	[TAP_TOP_BY_ERRORS] = "errors",
	[TAP_TOP_BY_OPEN] = "open",
};

bool tap_top_key_parse(const char *word, enum tap_top_key *ret_key)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (strcmp(word, keys[i]) != 0)
			continue;
		*ret_key = (enum tap_top_key) i;
		return true;
	}
	return false;
}

const char *tap_top_key_name(enum tap_top_key key)
{
	return keys[key];
}

/* ---- Cells ---- */

/* Three digits, and the letter of a power of 1000. */
static void write_number(double number, char cell[CELL])
{
	static const char letters[] = {'\0', 'k', 'M', 'G', 'T', 'P', 'E'};
	size_t power = 0;
	int decimals;

	/* 999.5 would be written as 1000. */
	while (number >= 999.5 && power < sizeof(letters) - 1) {
		number /= 1000;
		power++;
	}
	if (number >= 99.95 || (!power && number == (double) (unsigned) number))
		decimals = 0;
	else
		decimals = number >= 9.995 ? 1 : 2;
	snprintf(cell, CELL, "%.*f%c", decimals, number, letters[power]);
}

static void write_rate(const struct tap_top_row *row, double rate, char cell[CELL])
{
	if (row->has_rates)
		write_number(rate, cell);
	else
		strcpy(cell, "-");
}

static void write_communicator(const struct tap_top_row *row, char cell[CELL])
{
	strcpy(cell, *row->communicator ? row->communicator : "-");
}

static void write_host(const struct tap_top_row *row, char cell[CELL])
{
	strcpy(cell, row->host);
}

static void write_rank(const struct tap_top_row *row, char cell[CELL])
{
	if (row->rank < 0)
		strcpy(cell, "-");
	else if (row->nranks < 0)
		snprintf(cell, CELL, "%d", row->rank);
	else
		snprintf(cell, CELL, "%d/%d", row->rank, row->nranks);
}

static void write_operations(const struct tap_top_row *row, char cell[CELL])
{
	write_rate(row, row->operations_s, cell);
}

static void write_bytes(const struct tap_top_row *row, char cell[CELL])
{
	write_rate(row, row->bytes_s, cell);
}

static void write_bus(const struct tap_top_row *row, char cell[CELL])
{
	write_rate(row, row->bus_bytes_s, cell);
}

static void write_behind(const struct tap_top_row *row, char cell[CELL])
{
	write_number((double) row->behind, cell);
}

static unsigned last_percent(const struct tap_top_row *row)
{
	return row->looks ? (100 * row->lasts + row->looks / 2) / row->looks : 0;
}

static void write_last(const struct tap_top_row *row, char cell[CELL])
{
	snprintf(cell, CELL, "%u%%", last_percent(row));
}

static void write_errors(const struct tap_top_row *row, char cell[CELL])
{
	write_number((double) (row->failures + row->dropped), cell);
}

static void write_open(const struct tap_top_row *row, char cell[CELL])
{
	const char *name = row->open_call;
	const unsigned seconds = row->open_s < 1e6 ? (unsigned) row->open_s : 1000000;
	char time[32];

	if (!*name) {
		strcpy(cell, "-");
		return;
	}
	if (seconds < 60)
		snprintf(time, sizeof(time), "%us", seconds);
	else if (seconds < 3600)
		snprintf(time, sizeof(time), "%um%02us", seconds / 60, seconds % 60);
	else
		snprintf(time, sizeof(time), "%uh%02um", seconds / 3600,
			 seconds / 60 % 60);
	if (!strncmp(name, "nccl", strlen("nccl")))
		name += strlen("nccl");
	snprintf(cell, CELL, "%s %.40s", time, name);
}

/* ---- Lines ---- */

static const struct column {
	const char *name;
	int width; /* less than 0: it stands at the left */
	void (*write)(const struct tap_top_row *row, char cell[CELL]);
} columns[] = {
	{"COMM", -16, write_communicator}, {"RANK", 9, write_rank},
	{"OPS/S", 7, write_operations},	   {"BYTES/S", 7, write_bytes},
	{"BUSBW", 7, write_bus},	   {"BEHIND", 6, write_behind},
	{"LAST", 4, write_last},	   {"ERRORS", 6, write_errors},
	{"OPEN CALL", -20, write_open},	   {"HOST", -12, write_host},
};

void tap_top_text_title(const struct tap_top_table *table, const char *session,
			char line[TAP_TOP_LINE])
{
	snprintf(line, TAP_TOP_LINE,
		 "%.100s: %u process%s, %u communicator%s, %" PRIu64 " failed call%s",
		 session, table->processes, table->processes == 1 ? "" : "es",
		 table->communicators, table->communicators == 1 ? "" : "s",
		 table->failures, table->failures == 1 ? "" : "s");
}

void tap_top_text_line(const struct tap_top_row *row, unsigned room,
		       char line[TAP_TOP_LINE])
{
	size_t used = 0;
	char cell[CELL];

	*line = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		int width = columns[i].width;

		if (!i && room < WIDE)
			width /= 2;
		if (row)
			columns[i].write(row, cell);
		else
			strcpy(cell, columns[i].name);
		/* All of a name that stands at the end. */
		used += (size_t) snprintf(
			line + used, TAP_TOP_LINE - used, "%s%*.*s", i ? " " : "", width,
			i + 1 < ARRAY_SIZE(columns) && width < 0 ? -width : CELL, cell);
		if (used >= TAP_TOP_LINE)
			used = TAP_TOP_LINE - 1;
	}
	if (used > room)
		used = room < TAP_TOP_LINE ? room : TAP_TOP_LINE - 1;
	while (used && line[used - 1] == ' ')
		used--;
	line[used] = '\0';
}

void tap_top_text_write(FILE *out, const struct tap_top_table *table, const char *session,
			const char *filter, unsigned room)
{
	char line[TAP_TOP_LINE];

	tap_top_text_title(table, session, line);
	fprintf(out, "%s\n", line);
	tap_top_text_line(NULL, room, line);
	fprintf(out, "%s\n", line);
	for (size_t i = 0; i < table->rows.count; i++) {
		const struct tap_top_row *row = &table->rows.items[i];

		if (!tap_top_row_is_meant(row, filter))
			continue;
		tap_top_text_line(row, room, line);
		fprintf(out, "%s\n", line);
	}
}

/* ---- JSON ---- */

/* No word has a character that JSON would have escaped: they are labels. */
static void write_number_or_null(FILE *out, const char *name, bool is_known, double value)
{
	if (is_known)
		fprintf(out, ",\"%s\":%.3f", name, value);
	else
		fprintf(out, ",\"%s\":null", name);
}

static void write_row_json(FILE *out, const struct tap_top_row *row)
{
	fprintf(out, "{\"host\":\"%s\"", row->host);
	if (*row->communicator)
		fprintf(out, ",\"communicator\":\"%s\"", row->communicator);
	else
		fputs(",\"communicator\":null", out);
	if (row->rank >= 0)
		fprintf(out, ",\"rank\":%d", row->rank);
	else
		fputs(",\"rank\":null", out);
	if (row->nranks >= 0)
		fprintf(out, ",\"nranks\":%d", row->nranks);
	else
		fputs(",\"nranks\":null", out);
	fprintf(out,
		",\"operations\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"bus_bytes\":%" PRIu64
		",\"failures\":%" PRIu64 ",\"dropped\":%" PRIu64,
		row->operations, row->bytes, row->bus_bytes, row->failures, row->dropped);
	write_number_or_null(out, "operations_per_s", row->has_rates, row->operations_s);
	write_number_or_null(out, "bytes_per_s", row->has_rates, row->bytes_s);
	write_number_or_null(out, "bus_bytes_per_s", row->has_rates, row->bus_bytes_s);
	fprintf(out, ",\"behind\":%" PRIu64 ",\"is_last\":%s,\"last_percent\":%u",
		row->behind, row->is_last ? "true" : "false", last_percent(row));
	if (*row->open_call)
		fprintf(out, ",\"open_call\":\"%s\"", row->open_call);
	else
		fputs(",\"open_call\":null", out);
	write_number_or_null(out, "open_s", *row->open_call, row->open_s);
	fputc('}', out);
}

void tap_top_text_write_json(FILE *out, const struct tap_top_table *table,
			     const char *session, const char *filter)
{
	bool is_first = true;

	fprintf(out,
		"{\"session\":\"%s\",\"interval_s\":%.3f,\"processes\":%u,"
		"\"communicators\":%u,\"failures\":%" PRIu64 ",\"rows\":[",
		session, table->interval_s, table->processes, table->communicators,
		table->failures);
	for (size_t i = 0; i < table->rows.count; i++) {
		if (!tap_top_row_is_meant(&table->rows.items[i], filter))
			continue;
		fputs(is_first ? "\n" : ",\n", out);
		write_row_json(out, &table->rows.items[i]);
		is_first = false;
	}
	fputs("]}\n", out);
}
