/* SPDX-License-Identifier: MIT */
/* A line has the numbers of a measure, its name and its text, apart by tabs. */
#include "join/report/measures.h"

#include "join/views/view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct tap_measure *tap_measures_find(const struct tap_measures *measures,
					    enum tap_measure_kind kind, const char *name)
{
	const struct tap_measure *measure =
		tap_rows_find(&measures->rows, tap_table_hash(name), kind);

	/* Of two names with one hash, only the latest is found. */
	return measure && !strcmp(measure->name, name) ? measure : NULL;
}

int tap_measures_add(struct tap_measures *measures, const struct tap_measure *measure)
{
	struct tap_measure *row =
		tap_rows_add(&measures->rows, tap_table_hash(measure->name),
			     measure->kind, sizeof(*row));

	if (!row)
		return -ENOMEM;
	*row = *measure;
	row->name = strdup(measure->name);
	row->text = strdup(measure->text);
	return row->name && row->text ? 0 : -ENOMEM;
}

/*
 * Adds a measure under the name in the buffer; the second of one name, of another
 * communicator, is "name (2)".  Frees the buffer.
 */
static int add(struct tap_measures *measures, struct tap_measure measure,
	       struct tap_buffer *name)
{
	const size_t used = name->used;
	unsigned int number = 1;
	int ret = -ENOMEM;

	tap_buffer_add_char(name, '\0');
	while (!name->is_short && tap_measures_find(measures, measure.kind, name->data)) {
		name->used = used;
		tap_buffer_add_string(name, " (");
		tap_buffer_add_unsigned(name, ++number);
		tap_buffer_add_string(name, ")");
		tap_buffer_add_char(name, '\0');
	}
	if (!name->is_short) {
		measure.name = name->data;
		ret = tap_measures_add(measures, &measure);
	}
	tap_buffer_free(name);
	return ret;
}

/* ---- Taking ---- */

/* "late ncclAllReduce, rank 2": communicators have other keys in another run. */
static int take_finding(struct tap_measures *measures, const struct tap_finding *finding)
{
	struct tap_buffer name = {0}, text = {0};
	struct tap_measure measure = {.kind = TAP_MEASURE_FINDING,
				      .count = -1,
				      .ns = finding->cost_ns,
				      .noise_ns = -1,
				      .percent = finding->severity,
				      .bandwidth = -1};
	size_t i;
	int ret;

	if (finding->severity == TAP_SEVERITY_NOTE)
		return 0;
	tap_buffer_add_string(&name, tap_finding_kind_name(finding->kind));
	if (finding->operation) {
		tap_buffer_add_char(&name, ' ');
		tap_buffer_add_visible(&name, finding->operation->name);
	}
	for (i = 0; i < finding->ranks.count; i++) {
		tap_buffer_add_string(&name, i ? ", " : ", rank ");
		tap_buffer_add_signed(&name, finding->ranks.items[i]);
	}
	tap_buffer_add(&text, finding->headline.data, finding->headline.used);
	tap_buffer_add_char(&text, '\0');
	measure.text = text.data;
	ret = text.is_short ? -ENOMEM : add(measures, measure, &name);
	tap_buffer_free(&text);
	return ret;
}

static int take_collective(struct tap_measures *measures,
			   const struct tap_overview_operation *row, uint64_t ranks_all)
{
	const struct tap_breakdown_operation *operation = &row->sums;
	struct tap_buffer name = {0};

	tap_buffer_add_visible(&name, operation->name->name);
	if (operation->min_bytes >= 0) {
		tap_buffer_add_char(&name, ' ');
		tap_overview_add_size(&name, row);
	}
	if (operation->comm->nranks > 0 &&
	    (uint64_t) operation->comm->nranks != ranks_all) {
		tap_buffer_add_string(&name, " of ");
		tap_buffer_add_signed(&name, operation->comm->nranks);
		tap_buffer_add_string(&name, " ranks");
	}
	return add(measures,
		   (struct tap_measure){.kind = TAP_MEASURE_COLLECTIVE,
					.text = "",
					.count = (int64_t) operation->timed,
					.ns = operation->median_ns,
					.noise_ns = operation->deviation_ns,
					.percent = operation->waiting_percent,
					.bandwidth = operation->bus_bandwidth},
		   &name);
}

static int take_rank(struct tap_measures *measures, const struct tap_overview_rank *rank)
{
	const struct tap_breakdown_rank *sums = &rank->sums;
	struct tap_buffer name = {0};

	if (sums->rank < 0 || !sums->collectives)
		return 0;
	tap_buffer_add_string(&name, "rank ");
	tap_buffer_add_signed(&name, sums->rank);
	return add(measures,
		   (struct tap_measure){.kind = TAP_MEASURE_RANK,
					.text = "",
					.count = (int64_t) sums->collectives,
					.ns = sums->waited_ns,
					.noise_ns = -1,
					.percent = (int64_t) (100 * sums->times_last /
							      sums->collectives),
					.bandwidth = -1},
		   &name);
}

static int take_connections(struct tap_measures *measures,
			    const struct tap_report_net *net)
{
	struct tap_net_latency latency;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < net->connections.count; i++) {
		struct tap_buffer name = {0};

		latency = tap_report_net_latency(net, i);
		tap_report_net_add_ends(&name, net, i);
		ret = add(measures,
			  (struct tap_measure){.kind = TAP_MEASURE_CONNECTION,
					       .text = "",
					       .count = (int64_t) latency.count,
					       .ns = latency.median_ns,
					       .noise_ns = latency.deviation_ns,
					       .percent = -1,
					       .bandwidth = -1},
			  &name);
	}
	return ret;
}

int tap_measures_take(struct tap_measures *measures, const struct tap_findings *findings,
		      const struct tap_overview *overview,
		      const struct tap_report_net *net)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < tap_findings_count(findings); i++)
		ret = take_finding(measures, tap_findings_at(findings, i));
	for (i = 0; !ret && i < overview->operations.count; i++)
		ret = take_collective(measures, overview->operations.all[i],
				      overview->ranks_all);
	for (i = 0; !ret && i < overview->ranks.count; i++)
		ret = take_rank(measures, overview->ranks.all[i]);
	return ret ? ret : take_connections(measures, net);
}

/* ---- Lines ---- */

/* Adds a string without what ends a field or a line. */
static void add_field(struct tap_buffer *text, const char *string)
{
	tap_buffer_add_char(text, '\t');
	for (; *string; string++)
		tap_buffer_add_char(text,
				    *string == '\t' || *string == '\n' ? ' ' : *string);
}

void tap_measures_write(struct tap_buffer *text, const struct tap_measures *measures)
{
	size_t i;

	for (i = 0; i < measures->rows.count; i++) {
		const struct tap_measure *measure = measures->rows.all[i];
		const int64_t numbers[] = {measure->kind,    measure->count,
					   measure->ns,	     measure->noise_ns,
					   measure->percent, measure->bandwidth};
		size_t j;

		for (j = 0; j < sizeof(numbers) / sizeof(numbers[0]); j++) {
			tap_buffer_add_signed(text, numbers[j]);
			tap_buffer_add_char(text, ' ');
		}
		add_field(text, measure->name);
		add_field(text, measure->text);
		tap_buffer_add_char(text, '\n');
	}
}

/* Returns 0, -EINVAL where the line is no measure, or -ENOMEM. */
static int read_line(struct tap_measures *measures, char *line)
{
	struct tap_measure measure = {0};
	char *name = strchr(line, '\t'), *text = name ? strchr(name + 1, '\t') : NULL;
	int kind;

	line[strcspn(line, "\n")] = '\0';
	if (!text ||
	    sscanf(line, "%d %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
		   &kind, &measure.count, &measure.ns, &measure.noise_ns,
		   &measure.percent, &measure.bandwidth) != 6 ||
	    kind < 0 || kind >= TAP_MEASURE_KINDS)
		return -EINVAL;
	*text = '\0';
	measure.kind = (enum tap_measure_kind) kind;
	measure.name = name + 1;
	measure.text = text + 1;
	return tap_measures_add(measures, &measure);
}

int tap_measures_read(struct tap_measures *measures, const char *path)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	if (!file)
		return -errno;
	while (!ret && getline(&line, &room, file) > 0)
		ret = read_line(measures, line);
	if (!ret && ferror(file))
		ret = -EIO;
	free(line);
	fclose(file);
	return ret;
}

void tap_measures_free(struct tap_measures *measures)
{
	size_t i;

	for (i = 0; i < measures->rows.count; i++) {
		struct tap_measure *measure = measures->rows.all[i];

		free((char *) measure->name);
		free((char *) measure->text);
	}
	tap_rows_free(&measures->rows);
}
