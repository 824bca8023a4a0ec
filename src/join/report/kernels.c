/* SPDX-License-Identifier: MIT */
/* Rows with the same hash form a list, with the newest first. */
#include "join/report/kernels.h"

#include "join/base/demangle.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most kernels with rows of their own; launches of others are counted together. */
#define KERNELS_MAX 65536

/* The most bytes of a name in the text; JSON has the name as it was recorded. */
#define FUNCTION_BYTES 120

/* The most lines of the text; JSON has all. */
#define KERNEL_LINES 40

int tap_kernels_get(struct tap_rows *rows, const struct tap_process *process,
		    const char *name, struct tap_kernel_sum **ret)
{
	const uint64_t hash = tap_table_hash(name);
	struct tap_kernel_sum *first = tap_rows_find(rows, process->number, hash);
	struct tap_kernel_sum *sum = first;
	char *copy;

	while (sum && strcmp(sum->name, name))
		sum = sum->next;
	*ret = sum;
	if (sum || rows->count == KERNELS_MAX)
		return 0;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	sum = tap_rows_add(rows, process->number, hash, sizeof(*sum));
	if (!sum) {
		free(copy);
		return -ENOMEM;
	}
	sum->process = process;
	sum->name = copy;
	sum->next = first;
	*ret = sum;
	return 0;
}

void tap_kernels_add_text(const struct tap_rows *rows, struct tap_buffer *line,
			  const struct tap_column *columns)
{
	struct tap_rows shown = *rows;

	if (!rows->count)
		return;
	if (shown.count > KERNEL_LINES)
		shown.count = KERNEL_LINES;
	tap_columns_add_text(line, columns, &shown);
	if (shown.count < rows->count) {
		tap_buffer_add_string(line, "  and ");
		tap_buffer_add_unsigned(line, rows->count - shown.count);
		tap_buffer_add_string(line, " more kernels\n");
	}
	tap_buffer_add_char(line, '\n');
}

void tap_kernels_add_process(struct tap_buffer *line, const void *row)
{
	const struct tap_kernel_sum *sum = row;

	tap_buffer_add_string(line, "  ");
	tap_view_add_process(line, sum->process);
}

void tap_kernels_add_function(struct tap_buffer *line, const void *row)
{
	const struct tap_kernel_sum *sum = row;
	char *demangled = tap_demangle(sum->name);
	const char *name = demangled ? demangled : sum->name;
	char cut[FUNCTION_BYTES + 1];
	size_t length = strnlen(name, FUNCTION_BYTES);

	/* A character of several bytes is cut as a whole. */
	while (name[length] && length && (name[length] & 0xc0) == 0x80)
		length--;
	memcpy(cut, name, length);
	cut[length] = '\0';
	tap_buffer_add_visible(line, cut);
	if (name[length])
		tap_buffer_add_string(line, "...");
	free(demangled);
}

void tap_kernels_free(struct tap_rows *rows)
{
	size_t i;

	for (i = 0; i < rows->count; i++)
		free(((struct tap_kernel_sum *) rows->all[i])->name);
	tap_rows_free(rows);
}
