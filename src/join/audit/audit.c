/* SPDX-License-Identifier: MIT */
/*
 * The view of what a program really does with its collective library: a table of
 * subjects, each of which gets everything and remarks on it at the end.
 */
#include "join/audit/page.h"
#include "join/audit/subject.h"
#include "join/findings/analysis.h"
#include "join/report/columns.h"
#include "join/report/forward.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* In the order in which those of the same grade are shown. */
static const struct tap_audit_subject *const subjects[] = {
	&tap_audit_matching,	  &tap_audit_open,	  &tap_audit_left,
	&tap_audit_waits,	  &tap_audit_polling,	  &tap_audit_sizes,
	&tap_audit_buffers,	  &tap_audit_environment, &tap_audit_libraries,
	&tap_audit_communicators, &tap_audit_sites,	  &tap_audit_unobserved,
};

#define SUBJECTS ARRAY_SIZE(subjects)

struct audit {
	struct tap_finding_view base;
	struct tap_audit_shared shared;
	struct tap_audit_state *states[SUBJECTS];
	FILE *verdict; /* NULL: nobody asked */
};

/* ---- What the join gives ---- */

/* FEED makes a function that gives something to the findings and to each subject. */
#define FEED(member, forward, type) \
	static int take_##member(void *data, type value) \
	{ \
		struct audit *audit = data; \
		int ret = forward(data, value); \
		size_t i; \
\
		for (i = 0; !ret && i < SUBJECTS; i++) \
			if (subjects[i]->takes.member) \
				ret = subjects[i]->takes.member(audit->states[i], \
								value); \
		return ret; \
	}
FEED(problem, tap_forward_problem, const struct tap_problem *)
FEED(span_ended, tap_forward_ended, struct tap_span *)
FEED(link, tap_forward_link, const struct tap_link *)
FEED(nccl_thread, tap_forward_nccl_thread, const struct tap_nccl_thread *)
FEED(end_state, tap_forward_end_state, const struct tap_end_state *)

static int take_variable(void *data, const struct tap_variable *variable)
{
	const struct audit *audit = data;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < SUBJECTS; i++)
		if (subjects[i]->takes.variable)
			ret = subjects[i]->takes.variable(audit->states[i], variable);
	return ret;
}

/* ---- At the end ---- */

static const char *verdict_of(const struct tap_audit_section *sections)
{
	if (sections[0].grade >= TAP_AUDIT_WARNING)
		return "found";
	return sections[0].grade == TAP_AUDIT_UNKNOWN ? "unknown" : "clear";
}

/* Worst first; else as in the table. */
static void sort_sections(struct tap_audit_section *sections)
{
	size_t i, j;

	for (i = 1; i < SUBJECTS; i++)
		for (j = i; j > 0 && sections[j].grade > sections[j - 1].grade; j--) {
			const struct tap_audit_section section = sections[j];

			sections[j] = sections[j - 1];
			sections[j - 1] = section;
		}
}

static void add_subject_json(struct tap_json *json,
			     const struct tap_audit_section *section)
{
	tap_json_open(json, section->subject->key, '{');
	tap_json_string(json, "grade", tap_audit_grade_name(section->grade));
	if (section->subject->summary)
		section->subject->summary(section->state, &json->text);
	tap_json_text(json, "summary");
	tap_audit_add_remarks_json(json, section->state);
	if (section->subject->table.key)
		tap_columns_add_json(json, section->subject->table.key,
				     section->subject->table.columns,
				     tap_audit_rows(section->subject, section->state));
	if (section->subject->json)
		section->subject->json(section->state, json);
	tap_json_close(json);
}

static void add_processes_json(struct tap_json *json, const struct tap_context *context)
{
	size_t i;

	tap_json_open(json, "processes", '[');
	for (i = 0; i < context->processes.count; i++) {
		const struct tap_process *process = context->processes.all[i];

		if (!process->is_reported || process->is_foreign)
			continue;
		tap_json_open(json, NULL, '{');
		tap_json_unsigned(json, "process", process->number);
		tap_json_string(json, "host", process->host);
		tap_json_not_negative(json, "pid", process->pid);
		tap_json_not_negative(json, "rank", tap_process_rank(process));
		tap_json_string(json, "command", tap_view_command(process));
		tap_json_close(json);
	}
	tap_json_close(json);
}

static void write_json(struct audit *audit, const struct tap_audit_section *sections)
{
	struct tap_json *json = &audit->base.json;
	size_t i;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "audit");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_json_string(json, "verdict", verdict_of(sections));
	if (audit->base.view.settings.is_brief) {
		tap_audit_add_brief_json(json, &audit->shared, sections, SUBJECTS);
		tap_json_end_line(json, &audit->base.view.line);
		return;
	}
	tap_view_add_hosts_json(json, audit->base.view.context);
	tap_view_add_snapshots_json(json, audit->base.view.context);
	add_processes_json(json, audit->base.view.context);
	tap_json_open(json, "subjects", '{');
	for (i = 0; i < SUBJECTS; i++)
		add_subject_json(json, &sections[i]);
	tap_json_close(json);
	tap_view_add_loss_json(json, audit->shared.loss, true);
	tap_json_end_line(json, &audit->base.view.line);
}

/* Where calls are lost, nobody can tell that there were none. */
static int doubt(const struct audit *audit, size_t at)
{
	struct tap_audit_remark *remark;

	if (!audit->shared.may_lack_calls || !subjects[at]->is_of_absence ||
	    tap_audit_grade_of(audit->states[at]) >= TAP_AUDIT_UNKNOWN)
		return 0;
	remark = tap_audit_add(audit->states[at], TAP_AUDIT_UNKNOWN, "lost",
			       TAP_KNOWN_EXACT);
	if (!remark)
		return -ENOMEM;
	remark->count = 0;
	tap_buffer_add_string(&remark->text, "events are lost: there may be more");
	return 0;
}

static int conclude(struct audit *audit, struct tap_audit_section *sections)
{
	size_t i;
	int ret = tap_findings_conclude(audit->base.findings, audit->shared.loss);

	for (i = 0; !ret && i < SUBJECTS; i++) {
		if (subjects[i]->conclude)
			ret = subjects[i]->conclude(audit->states[i]);
		if (!ret)
			ret = doubt(audit, i);
		tap_audit_sort_remarks(audit->states[i]);
		sections[i].subject = subjects[i];
		sections[i].state = audit->states[i];
		sections[i].grade = tap_audit_grade_of(audit->states[i]);
	}
	return ret;
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct audit *audit = data;
	struct tap_view *view = &audit->base.view;
	struct tap_audit_section sections[SUBJECTS];
	int ret;

	audit->shared.loss = loss;
	audit->shared.may_lack_calls = tap_findings_may_lack_calls(loss);
	ret = conclude(audit, sections);
	if (ret)
		return ret;
	sort_sections(sections);
	if (view->settings.is_json)
		write_json(audit, sections);
	else
		tap_audit_add_page(&view->line, &audit->shared, sections, SUBJECTS,
				   view->settings.tables);
	ret = tap_outfile_finish(view->output, &view->line);
	if (ret || !audit->verdict)
		return ret;
	fprintf(audit->verdict, "%s\n", verdict_of(sections));
	return fflush(audit->verdict) ? -errno : 0;
}

/* ---- The view ---- */

static void destroy(struct tap_view *view)
{
	struct audit *audit = (struct audit *) view;
	size_t i;

	for (i = 0; i < SUBJECTS && audit->states[i]; i++) {
		if (subjects[i]->free)
			subjects[i]->free(audit->states[i]);
		tap_audit_free_remarks(audit->states[i]);
		free(audit->states[i]);
	}
	if (audit->verdict)
		fclose(audit->verdict);
	tap_forward_free(&audit->base);
	free(audit);
}

static const struct tap_consumer consumer = {
	.process = tap_forward_process,
	.variable = take_variable,
	.problem = take_problem,
	.sample = tap_forward_sample,
	.thread = tap_forward_thread,
	.communicator = tap_forward_communicator,
	.nccl_thread = take_nccl_thread,
	.connection = tap_forward_connection,
	.span_ended = take_span_ended,
	.link = take_link,
	.defect = tap_forward_defect,
	.end_state = take_end_state,
	.finish = finish,
};

static bool make_states(struct audit *audit)
{
	size_t i;

	for (i = 0; i < SUBJECTS; i++) {
		audit->states[i] = calloc(1, subjects[i]->size);
		if (!audit->states[i])
			return false;
		audit->states[i]->shared = &audit->shared;
	}
	return true;
}

struct tap_view *tap_audit_create(void)
{
	struct audit *audit = calloc(1, sizeof(*audit));

	if (!audit)
		return NULL;
	audit->base.view.consumer = &consumer;
	audit->base.view.destroy = destroy;
	audit->base.findings = tap_findings_create(&audit->base.view);
	audit->shared.view = &audit->base.view;
	audit->shared.findings = audit->base.findings;
	if (audit->base.findings && make_states(audit))
		return &audit->base.view;
	destroy(&audit->base.view);
	return NULL;
}

int tap_audit_tell_verdict(struct tap_view *view, const char *path)
{
	struct audit *audit = (struct audit *) view;

	audit->verdict = fopen(path, "we");
	return audit->verdict ? 0 : -errno;
}
