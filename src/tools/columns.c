/* SPDX-License-Identifier: MIT */
/* A line of the file is a column. */
#include "tools/columns.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

/* Words alone: what is anything else is not from an export. */
static bool is_word(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
					   "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

static bool take_line(struct tap_column *column, const char *line)
{
	return sscanf(line, "%31[^,],%63[^,],%15[^,\r\n]", column->table, column->name,
		      column->type) == 3 &&
	       is_word(column->table) && is_word(column->name) && is_word(column->type);
}

int tap_columns_read(struct tap_columns *columns, const char *folder)
{
	char path[PATH_MAX], line[256];
	FILE *file;
	int ret = 0;

	if (snprintf(path, sizeof(path), "%s/" TAP_COLUMNS_FILE, folder) >=
	    (int) sizeof(path))
		return ENAMETOOLONG;
	file = fopen(path, "re");
	if (!file)
		return errno;
	/* The first line names the three. */
	if (!fgets(line, sizeof(line), file))
		ret = EINVAL;
	while (!ret && fgets(line, sizeof(line), file)) {
		if (tap_array_reserve(columns->all, columns->room, columns->count + 1))
			ret = ENOMEM;
		else if (!take_line(&columns->all[columns->count], line))
			ret = EINVAL;
		else
			columns->count++;
	}
	fclose(file);
	return ret || columns->count ? ret : EINVAL;
}

void tap_columns_free(struct tap_columns *columns)
{
	free(columns->all);
	*columns = (struct tap_columns){0};
}

static bool is_of(const struct tap_columns *columns, const struct tap_column *column,
		  const struct tap_column *table)
{
	return column < columns->all + columns->count &&
	       !strcmp(column->table, table->table);
}

const struct tap_column *tap_columns_next(const struct tap_columns *columns,
					  const struct tap_column *table)
{
	const struct tap_column *next = table ? table : columns->all;

	while (table && is_of(columns, next, table))
		next++;
	return next < columns->all + columns->count ? next : NULL;
}

void tap_columns_add_names(FILE *statements, const struct tap_columns *columns,
			   const struct tap_column *table)
{
	const struct tap_column *column;

	for (column = table; is_of(columns, column, table); column++)
		fprintf(statements, "\"%s\", ", column->name);
}

void tap_columns_add_types(FILE *statements, const struct tap_columns *columns,
			   const struct tap_column *table)
{
	const struct tap_column *column;

	putc('{', statements);
	for (column = table; is_of(columns, column, table); column++)
		fprintf(statements, "%s'%s': '%s'", column == table ? "" : ", ",
			column->name, column->type);
	putc('}', statements);
}

void tap_columns_add_csv(FILE *statements, const struct tap_columns *columns,
			 const struct tap_column *table)
{
	fputs(", auto_detect=false, header=true, delim=',', quote='\"', escape='\"', "
	      "nullstr='', columns=",
	      statements);
	tap_columns_add_types(statements, columns, table);
}
