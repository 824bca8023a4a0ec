/* SPDX-License-Identifier: MIT */
/* A message is among those that are not ascribed until its link says what it was for. */
#include "join/report/report_ascribed.h"

#include <errno.h>

#include "join/report/columns.h"
#include "join/views/view.h"

/* The row of messages that are ascribed to nothing; no communicator has this number. */
#define NONE UINT64_MAX

struct ascribed_sum {
	const struct tap_comm *comm; /* NULL: of those that are not ascribed */
	const struct tap_name *function;
	uint64_t messages, bytes;
};

static int add_known(struct tap_report_ascribed *report, const struct tap_link *link)
{
	struct ascribed_sum *sum =
		tap_rows_get(&report->functions, NONE, 0, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	sum->messages++;
	sum->bytes += link->bytes;
	return 0;
}

static int add_ascribed(struct tap_report_ascribed *report, const struct tap_link *link)
{
	struct ascribed_sum *none = tap_rows_find(&report->functions, NONE, 0), *sum;
	const struct tap_comm *comm = tap_member_comm(link->ends[0].member);

	sum = tap_rows_get(&report->functions, comm->number, link->operation->number,
			   sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	sum->comm = comm;
	sum->function = link->operation;
	sum->messages++;
	sum->bytes += link->bytes;
	if (none && none->messages) {
		none->messages--;
		none->bytes -= link->bytes;
	}
	return 0;
}

int tap_report_ascribed_link(struct tap_report_ascribed *report,
			     const struct tap_link *link)
{
	switch (link->kind) {
	case TAP_LINK_CTS_MESSAGE:
	case TAP_LINK_SOCKET_MESSAGE:
		return add_known(report, link);
	case TAP_LINK_MESSAGE_KERNEL:
		return add_ascribed(report, link);
	default:
		return 0;
	}
}

/* Those that are not ascribed last. */
static int compare_sums(const void *left, const void *right)
{
	const struct ascribed_sum *a = *(const struct ascribed_sum *const *) left;
	const struct ascribed_sum *b = *(const struct ascribed_sum *const *) right;
	int order = tap_rows_compare(!a->comm, !b->comm);

	if (!order)
		order = tap_rows_compare(b->bytes, a->bytes);
	if (!order && a->comm)
		order = tap_rows_compare(a->comm->number, b->comm->number);
	return order || !a->comm
		       ? order
		       : tap_rows_compare(a->function->number, b->function->number);
}

static bool has_messages(const void *row, const void *data)
{
	(void) data;
	return ((const struct ascribed_sum *) row)->messages;
}

void tap_report_ascribed_sort(struct tap_report_ascribed *report)
{
	tap_rows_keep(&report->functions, has_messages, NULL);
	tap_rows_sort(&report->functions, compare_sums);
}

/* ---- Columns ---- */

static void add_title(struct tap_buffer *line, const void *row)
{
	const struct ascribed_sum *sum = row;

	tap_buffer_add_string(line, "  ");
	if (!sum->comm) {
		tap_buffer_add_string(line, "not ascribed");
		return;
	}
	tap_view_add_key(line, sum->comm->key);
	tap_buffer_add_char(line, ' ');
	/* Of several functions, what ran. */
	tap_buffer_add_string(line, sum->function->name);
}

static struct tap_value comm_key(const struct tap_column *column, const void *row)
{
	const struct ascribed_sum *sum = row;

	(void) column;
	return (struct tap_value){.is_unknown = !sum->comm || !sum->comm->key,
				  .number = sum->comm ? sum->comm->key : 0};
}

static struct tap_value function(const struct tap_column *column, const void *row)
{
	const struct ascribed_sum *sum = row;

	(void) column;
	return (struct tap_value){.string = sum->function ? sum->function->name : NULL};
}

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "NCCL messages of", 34, add_title),
	TAP_COLUMN_VALUE("comm_key", NULL, 0, TAP_UNIT_HEX, comm_key),
	TAP_COLUMN_VALUE("name", NULL, 0, TAP_UNIT_NAME, function),
	TAP_COLUMN("messages", "messages", 11, TAP_UNIT_COUNT, struct ascribed_sum,
		   messages),
	TAP_COLUMN("bytes", "bytes", 14, TAP_UNIT_BYTES, struct ascribed_sum, bytes),
	TAP_COLUMNS_END,
};

void tap_report_ascribed_text(const struct tap_report_ascribed *report,
			      struct tap_buffer *line)
{
	tap_columns_add_section(line, columns, &report->functions);
}

void tap_report_ascribed_json(const struct tap_report_ascribed *report,
			      struct tap_json *json)
{
	tap_columns_add_json(json, "ascribed", columns, &report->functions);
}

void tap_report_ascribed_free(struct tap_report_ascribed *report)
{
	tap_rows_free(&report->functions);
}
