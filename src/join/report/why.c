/* SPDX-License-Identifier: MIT */
/* The view of the findings alone. */
#include "join/report/focus.h"
#include "join/report/forward.h"
#include "join/views/filtered.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct why {
	struct tap_finding_view base;
	FILE *verdict; /* NULL: nobody asked */
	FILE *focus;   /* likewise */
	size_t number; /* of the finding that it is about, from 1 */
};

static const char *const verdicts[] = {[TAP_VERDICT_CLEAR] = "clear",
				       [TAP_VERDICT_FOUND] = "found",
				       [TAP_VERDICT_UNKNOWN] = "unknown"};

static void write_text(struct tap_finding_view *why)
{
	size_t i;

	tap_filtered_add_filters(&why->view.line, &why->view);
	for (i = 0; i < tap_findings_count(why->findings); i++)
		tap_finding_add_text(&why->view.line, tap_findings_at(why->findings, i),
				     why->view.settings.has_colour);
}

static void write_json(struct tap_finding_view *why)
{
	struct tap_json *json = &why->json;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "why");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_json_string(json, "verdict", verdicts[tap_findings_verdict(why->findings)]);
	if (why->view.filters)
		tap_filters_add_json(json, why->view.filters);
	tap_forward_add_json(why);
	tap_json_end_line(json, &why->view.line);
}

/* Returns 0 or -errno. */
static int write_verdict(struct why *why)
{
	if (!why->verdict)
		return 0;
	fprintf(why->verdict, "%s\n", verdicts[tap_findings_verdict(why->base.findings)]);
	return fflush(why->verdict) ? -errno : 0;
}

/* Returns 0 or -errno. */
static int write_focus(struct why *why)
{
	struct tap_buffer *text = &why->base.view.line;
	int ret;

	if (!why->focus || why->number > tap_findings_count(why->base.findings))
		return 0;
	text->used = 0;
	ret = tap_focus_add(text, tap_findings_at(why->base.findings, why->number - 1),
			    why->base.view.context);
	if (ret)
		return ret;
	fwrite(text->data, 1, text->used, why->focus);
	return fflush(why->focus) ? -errno : 0;
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct tap_finding_view *why = data;
	int ret = tap_findings_conclude(why->findings, loss);

	if (ret)
		return ret;
	if (why->view.settings.is_json)
		write_json(why);
	else
		write_text(why);
	ret = tap_outfile_finish(why->view.output, &why->view.line);
	if (!ret)
		ret = write_verdict(data);
	return ret ? ret : write_focus(data);
}

static void destroy(struct tap_view *view)
{
	struct why *why = (struct why *) view;

	if (why->verdict)
		fclose(why->verdict);
	if (why->focus)
		fclose(why->focus);
	tap_forward_free(&why->base);
	free(why);
}

static const struct tap_consumer consumer = {
	.process = tap_forward_process,
	.problem = tap_forward_problem,
	.sample = tap_forward_sample,
	.thread = tap_forward_thread,
	.communicator = tap_forward_communicator,
	.nccl_thread = tap_forward_nccl_thread,
	.connection = tap_forward_connection,
	.span_ended = tap_forward_ended,
	.link = tap_forward_link,
	.defect = tap_forward_defect,
	.end_state = tap_forward_end_state,
	.finish = finish,
};

struct tap_view *tap_why_create(void)
{
	struct why *why = calloc(1, sizeof(*why));

	if (!why)
		return NULL;
	why->base.view.consumer = &consumer;
	why->base.view.all = &tap_forward_all;
	why->base.view.destroy = destroy;
	why->base.findings = tap_findings_create(&why->base.view);
	if (why->base.findings)
		return &why->base.view;
	free(why);
	return NULL;
}

int tap_why_tell_verdict(struct tap_view *view, const char *path)
{
	struct why *why = (struct why *) view;

	why->verdict = fopen(path, "we");
	return why->verdict ? 0 : -errno;
}

int tap_why_tell_finding(struct tap_view *view, size_t number, const char *path)
{
	struct why *why = (struct why *) view;

	why->number = number;
	why->focus = fopen(path, "we");
	return why->focus ? 0 : -errno;
}
