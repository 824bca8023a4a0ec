/* SPDX-License-Identifier: MIT */
/*
 * The view for engines: tables of what the join gives, as ccltap-export(1) describes.
 *
 * Rows are written when they are known, so that none is held; what can change until the
 * end, as a process and a communicator, is written then.
 */
#include "join/export/files.h"
#include "join/model/nccl_connection.h"
#include "join/report/forward.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct export
{
	struct tap_finding_view base;
	struct tap_export_files files;
	char *folder, *kept;
	uint64_t links; /* so far, with halves */
};

static int write_row(struct export *export, const struct tap_process *process,
		     enum tap_export_name table, const void *row)
{
	return tap_export_files_write(&export->files, process->host, table, row);
}

/* ---- While it is read ---- */

static int take_process(void *data, const struct tap_process *process)
{
	const int ret = tap_forward_process(data, process);
	struct export *export = data;

	return ret ? ret : tap_export_files_add_host(&export->files, process->host);
}

static enum tap_export_name table_of(const struct tap_work *work)
{
	if (tap_work_is_run(work))
		return TAP_EXPORT_KERNEL;
	if (tap_work_is_message(work))
		return TAP_EXPORT_MESSAGE;
	if (tap_work_is_proxy(work))
		return TAP_EXPORT_PROXY;
	return work->kind ? TAP_EXPORT_REQUEST : TAP_EXPORT_CALL;
}

static int take_span(void *data, struct tap_span *span)
{
	int ret = tap_forward_ended(data, span);

	if (!ret)
		ret = write_row(data, span->process, table_of(&span->work), span);
	return ret || span->work.kind || !tap_name_is_launch(span->name)
		       ? ret
		       : write_row(data, span->process, TAP_EXPORT_LAUNCH, span);
}

/* Writes the ends of a link, or of a half, which has one. */
static int write_ends(struct export *export, const struct tap_link *link,
		      const struct tap_half *half, enum tap_export_name table)
{
	struct tap_export_end end = {.number = export->links, .link = link, .half = half};
	int ret = 0;

	for (; !ret && end.place < link->count; end.place++) {
		end.end = &link->ends[end.place];
		/* The ends of a link are in one place; each call is with its host. */
		ret = write_row(
			export,
			(table == TAP_EXPORT_LINK ? link->ends : end.end)->process, table,
			&end);
	}
	return ret;
}

static bool is_of_calls(const struct tap_link *link)
{
	return link->kind == TAP_LINK_COLLECTIVE_RANKS ||
	       link->kind == TAP_LINK_SEND_RECV;
}

static int take_link(void *data, const struct tap_link *link)
{
	const int ret = tap_forward_link(data, link);
	struct export *export = data;

	if (ret || is_of_calls(link))
		return ret ? ret : write_ends(export, link, NULL, TAP_EXPORT_OPERATION);
	export->links++;
	return write_ends(export, link, NULL, TAP_EXPORT_LINK);
}

/* A call that no other rank's call is known of is no link. */
static int take_defect(void *data, const struct tap_link *link)
{
	const int ret = tap_forward_defect(data, link);

	return ret || link->count > 1
		       ? ret
		       : write_ends(data, link, NULL, TAP_EXPORT_OPERATION);
}

static int take_half(void *data, const struct tap_half *half)
{
	struct export *export = data;

	export->links++;
	return write_ends(export, &half->link, half, TAP_EXPORT_LINK);
}

static int take_sample(void *data, const struct tap_sampled *sample)
{
	struct tap_export_counter row = {.sample = sample};
	const char *names = sample->names;
	int ret = tap_forward_sample(data, sample);
	char name[256];
	size_t i, length;

	if (!ret && !sample->count)
		return write_row(data, sample->process, TAP_EXPORT_SAMPLE, &row);
	row.name = name;
	for (i = 0; !ret && i < sample->count; i++) {
		length = strcspn(names, ",");
		snprintf(name, sizeof(name), "%.*s", (int) length, names);
		names += length + (names[length] == ',');
		row.value = sample->values[i];
		row.growth = sample->growth[i];
		ret = write_row(data, sample->process, TAP_EXPORT_SAMPLE, &row);
	}
	return ret;
}

static int take_connection(void *data, const struct tap_nccl_connection *connection)
{
	const int ret = tap_forward_connection(data, connection);

	return ret ? ret
		   : write_row(data, connection->process, TAP_EXPORT_CONNECTION,
			       connection);
}

static int take_end_state(void *data, const struct tap_end_state *end_state)
{
	const struct export *export = data;
	const struct tap_export_process row = {.context = export->base.view.context,
					       .end_state = end_state};
	const int ret = tap_forward_end_state(data, end_state);

	return ret ? ret : write_row(data, end_state->process, TAP_EXPORT_PROCESS, &row);
}

/* ---- At the end ---- */

static int write_members(struct export *export)
{
	const struct tap_comms *comms = &export->base.view.context->comms;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < comms->member_count; i++)
		ret = write_row(export, comms->members[i]->process,
				TAP_EXPORT_COMMUNICATOR, comms->members[i]);
	return ret;
}

/* What is said of the whole trace stands with its first host. */
static const char *first_host(const struct export *export)
{
	const struct tap_traces *traces = &export->base.view.context->traces;

	return traces->count ? traces->all[0]->host : "";
}

static int write_item(struct export *export, struct tap_export_item *row,
		      const char *item)
{
	row->item = item;
	return tap_export_files_write(&export->files, first_host(export),
				      TAP_EXPORT_FINDING, row);
}

static int write_ranks(struct export *export, struct tap_export_item *row,
		       const char *item, const int64_t *ranks, size_t count)
{
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++) {
		row->rank = ranks[i];
		ret = write_item(export, row, item);
	}
	row->rank = -1;
	return ret;
}

/* A text of the finding, ended by 0; NULL: there is none, or no memory. */
static char *text_of(const struct tap_buffer *text)
{
	return text->used ? strndup(text->data, text->used) : NULL;
}

static int write_texts(struct export *export, struct tap_export_item *row)
{
	const struct tap_finding *finding = row->finding;
	char *texts[] = {text_of(&finding->headline), text_of(&finding->detail),
			 text_of(&finding->rules_out), text_of(&finding->next)};
	size_t i;
	int ret;

	row->headline = texts[0];
	row->detail = texts[1];
	row->rules_out = texts[2];
	row->next = texts[3];
	ret = write_item(export, row, "finding");
	row->headline = row->detail = row->rules_out = row->next = NULL;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	return ret;
}

static int write_finding(struct export *export, size_t number)
{
	const struct tap_finding *finding =
		tap_findings_at(export->base.findings, number);
	struct tap_export_item row = {.number = number, .finding = finding, .rank = -1};
	size_t i;
	int ret = write_texts(export, &row);

	if (!ret)
		ret = write_ranks(export, &row, "at-fault", finding->ranks.items,
				  finding->ranks.count);
	if (!ret)
		ret = write_ranks(export, &row, "waiting", finding->waiting.items,
				  finding->waiting.count);
	for (i = 0; !ret && i < finding->evidence.count; i++) {
		row.evidence = &finding->evidence.items[i];
		ret = write_item(export, &row, "evidence");
	}
	return ret;
}

static int write_findings(struct export *export, const struct tap_loss *loss)
{
	size_t i;
	int ret = tap_findings_conclude(export->base.findings, loss);

	for (i = 0; !ret && i < tap_findings_count(export->base.findings); i++)
		ret = write_finding(export, i);
	return ret;
}

static int write_loss(struct export *export, const char *counter, const char *stream,
		      uint64_t value)
{
	const struct tap_export_loss row = {.counter = counter,
					    .stream = stream,
					    .value = (int64_t) value};

	return tap_export_files_write(&export->files, first_host(export), TAP_EXPORT_LOSS,
				      &row);
}

static int write_losses(struct export *export, const struct tap_loss *loss)
{
	const struct {
		const char *counter;
		uint64_t value;
	} all[] = {
		{"discarded_events", loss->discarded_events},
		{"discarded_packets", loss->discarded_packets},
		{"discarded_unknown", loss->discarded_unknown},
		{"lost_exits", loss->lost_exits},
		{"lost_entries", loss->lost_entries},
		{"evicted_calls", loss->evicted_calls},
		{"malformed_events", loss->malformed_events},
		{"ignored_fields", loss->ignored_fields},
		{"damaged_streams", loss->damaged_streams},
		{"removed_chunks", loss->removed_chunks},
		{"unrecorded_processes", loss->unrecorded},
		{"mixed_clocks", loss->mixed_clocks},
		{"unmatched_operations", loss->unmatched_operations},
		{"missing_operations", loss->missing_operations},
		{"not_recorded_operations", loss->not_recorded_operations},
		{"ambiguous_operations", loss->ambiguous_operations},
		{"mismatched_operations", loss->mismatched_operations},
		{"unsure_operations", loss->unsure_operations},
		{"gpu_dropped", loss->gpu_dropped},
		{"gpu_zero_times", loss->gpu_zero_times},
		{"gpu_unknown", loss->gpu_unknown},
		{"flight_recorder", loss->is_window},
	};
	const struct tap_stream_loss *stream;
	size_t i;
	int ret = 0;

	if (loss->relay_gaps)
		ret = write_loss(export, "relay_gaps", NULL, loss->relay_gaps);
	for (i = 0; !ret && i < sizeof(all) / sizeof(all[0]); i++)
		ret = write_loss(export, all[i].counter, NULL, all[i].value);
	for (stream = loss->streams; !ret && stream; stream = stream->next) {
		ret = write_loss(export, "discarded_events", stream->name,
				 stream->discarded_events);
		if (!ret)
			ret = write_loss(export, "discarded_packets", stream->name,
					 stream->discarded_packets);
	}
	return ret;
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct export *export = data;
	int ret = write_members(export);

	if (!ret)
		ret = write_findings(export, loss);
	if (!ret)
		ret = write_losses(export, loss);
	return ret ? ret : tap_export_files_finish(&export->files);
}

static void destroy(struct tap_view *view)
{
	struct export *export = (struct export *) view;

	tap_export_files_free(&export->files);
	tap_forward_free(&export->base);
	free(export->folder);
	free(export->kept);
	free(export);
}

static const struct tap_consumer consumer = {
	.process = take_process,
	.problem = tap_forward_problem,
	.sample = take_sample,
	.thread = tap_forward_thread,
	.communicator = tap_forward_communicator,
	.nccl_thread = tap_forward_nccl_thread,
	.connection = take_connection,
	.span_ended = take_span,
	.link = take_link,
	.defect = take_defect,
	.half = take_half,
	.end_state = take_end_state,
	.finish = finish,
};

struct tap_view *tap_export_create(const char *folder, const char *kept, bool is_json)
{
	struct export *export = calloc(1, sizeof(*export));

	if (!export)
		return NULL;
	export->base.view.consumer = &consumer;
	export->base.view.all = &tap_forward_all;
	export->base.view.destroy = destroy;
	export->folder = strdup(folder);
	export->kept = kept ? strdup(kept) : NULL;
	export->files.folder = export->folder;
	export->files.kept = export->kept;
	export->files.is_json = is_json;
	export->base.findings = tap_findings_create(&export->base.view);
	if (export->folder && (export->kept || !kept) && export->base.findings)
		return &export->base.view;
	destroy(&export->base.view);
	return NULL;
}
