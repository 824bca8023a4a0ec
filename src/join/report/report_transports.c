/* SPDX-License-Identifier: MIT */
/* Sums by process and transport. */
#include "join/report/report_transports.h"

#include "join/model/process.h"
#include "join/report/columns.h"
#include "join/views/view.h"

#include <errno.h>
#include <string.h>

struct transport_sum {
	const struct tap_process *process;
	char *name;
	enum tap_nccl_transport transport;
	uint64_t sends, receives;
	uint64_t messages;
	uint64_t decoded, inferred, unknown; /* channels */
};

/* A library that NCCL has asked for a network. */
struct plugin {
	const struct tap_process *process;
	char *path;
};

int tap_report_transports_add(struct tap_report_transports *report,
			      const struct tap_nccl_connection *connection)
{
	struct transport_sum *sum =
		tap_rows_get(&report->transports, connection->process->number,
			     connection->transport, sizeof(*sum));

	if (!sum)
		return -ENOMEM;
	sum->process = connection->process;
	sum->transport = connection->transport;
	sum->name = (char *) tap_nccl_transport_name(connection->transport);
	*(connection->is_send ? &sum->sends : &sum->receives) += 1;
	sum->messages += connection->messages;
	if (connection->channel < 0)
		sum->unknown++;
	else
		*(connection->known == TAP_KNOWN_DECODED ? &sum->decoded
							 : &sum->inferred) += 1;
	return 0;
}

int tap_report_transports_library(struct tap_report_transports *report,
				  const struct tap_process *process,
				  const struct tap_library *library)
{
	struct plugin *plugin;

	if (strcmp(library->layer, "net"))
		return 0;
	plugin = tap_rows_get(&report->plugins, process->number, library->number,
			      sizeof(*plugin));
	if (!plugin)
		return -ENOMEM;
	plugin->process = process;
	plugin->path = library->path;
	return 0;
}

static int compare_sums(const void *left, const void *right)
{
	const struct transport_sum *a = *(const struct transport_sum *const *) left;
	const struct transport_sum *b = *(const struct transport_sum *const *) right;
	const int order = tap_rows_compare(a->process->number, b->process->number);

	return order ? order : tap_rows_compare(a->transport, b->transport);
}

static int compare_plugins(const void *left, const void *right)
{
	const struct plugin *a = *(const struct plugin *const *) left;
	const struct plugin *b = *(const struct plugin *const *) right;
	const int order = tap_rows_compare(a->process->number, b->process->number);

	return order ? order : strcmp(a->path, b->path);
}

void tap_report_transports_sort(struct tap_report_transports *report)
{
	tap_rows_sort(&report->transports, compare_sums);
	tap_rows_sort(&report->plugins, compare_plugins);
}

/* ---- Columns ---- */

static void add_title(struct tap_buffer *line, const void *row)
{
	const struct transport_sum *sum = row;

	tap_buffer_add_string(line, "  ");
	tap_view_add_process(line, sum->process);
	tap_buffer_add_char(line, ' ');
	tap_buffer_add_string(line, sum->name);
}

static void add_seen(struct tap_buffer *line, const void *row)
{
	const struct transport_sum *sum = row;

	tap_buffer_add_string(line, tap_nccl_transport_is_seen(sum->transport)
					    ? "seen"
					    : "not seen");
}

/* Of what cannot be seen there is no number. */
static struct tap_value messages(const struct tap_column *column, const void *row)
{
	const struct transport_sum *sum = row;

	(void) column;
	return (struct tap_value){.is_unknown =
					  !tap_nccl_transport_is_seen(sum->transport),
				  .number = sum->messages};
}

#define COLUMN(key, header, width, member) \
	TAP_COLUMN(key, header, width, TAP_UNIT_COUNT, struct transport_sum, member)

static const struct tap_column columns[] = {
	TAP_COLUMN_TEXT(NULL, "NCCL's connections", 30, add_title),
	TAP_COLUMN_PROCESS("process", struct transport_sum, process),
	TAP_COLUMN_NAME("transport", NULL, 0, struct transport_sum, name),
	TAP_COLUMN_TEXT("traffic", "traffic", 10, add_seen),
	COLUMN("sends", "sends", 8, sends),
	COLUMN("receives", "receives", 10, receives),
	TAP_COLUMN_VALUE("messages", "messages", 11, TAP_UNIT_COUNT, messages),
	COLUMN("channels_decoded", "decoded", 9, decoded),
	COLUMN("channels_inferred", "inferred", 10, inferred),
	COLUMN("channels_unknown", "unknown", 9, unknown),
	TAP_COLUMNS_END,
};

static void add_owner(struct tap_buffer *line, const void *row)
{
	const struct plugin *plugin = row;

	tap_buffer_add_string(line, "  ");
	tap_view_add_process(line, plugin->process);
}

static void add_path(struct tap_buffer *line, const void *row)
{
	const struct plugin *plugin = row;

	tap_buffer_add_visible(line, plugin->path);
}

static const struct tap_column plugin_columns[] = {
	TAP_COLUMN_TEXT(NULL, "NCCL's network plugins", 30, add_owner),
	TAP_COLUMN_TEXT(NULL, "library", 0, add_path),
	TAP_COLUMN_PROCESS("process", struct plugin, process),
	TAP_COLUMN_NAME("library", NULL, 0, struct plugin, path),
	TAP_COLUMNS_END,
};

void tap_report_transports_text(const struct tap_report_transports *report,
				struct tap_buffer *line)
{
	tap_columns_add_section(line, columns, &report->transports);
	tap_columns_add_section(line, plugin_columns, &report->plugins);
}

void tap_report_transports_json(const struct tap_report_transports *report,
				struct tap_json *json)
{
	if (report->transports.count)
		tap_columns_add_json(json, "transports", columns, &report->transports);
	if (report->plugins.count)
		tap_columns_add_json(json, "network_plugins", plugin_columns,
				     &report->plugins);
}

void tap_report_transports_free(struct tap_report_transports *report)
{
	tap_rows_free(&report->transports);
	tap_rows_free(&report->plugins);
}
