/* SPDX-License-Identifier: MIT */
/* Building a finding, and printing it. */
#include "join/findings/finding.h"

#include "join/views/view.h"

#include <errno.h>
#include <string.h>

int tap_finding_add_rank(struct tap_finding *finding, int64_t rank)
{
	return tap_vec_add(&finding->ranks, rank);
}

int tap_finding_add_waiting(struct tap_finding *finding, int64_t rank)
{
	return tap_vec_add(&finding->waiting, rank);
}

int tap_finding_add_evidence(struct tap_finding *finding, const char *name, int64_t value,
			     enum tap_known known)
{
	const struct tap_evidence evidence = {.name = name,
					      .value = value,
					      .known = known};

	return tap_vec_add(&finding->evidence, evidence);
}

int tap_finding_add_site(struct tap_finding *finding, const struct tap_link_end *end)
{
	const struct tap_site site = {.process = end->process,
				      .rank = end->rank,
				      .name = end->name,
				      .facts = end->facts};

	return tap_vec_add(&finding->sites, site);
}

int tap_finding_add_at_fault(struct tap_finding *finding,
			     const struct tap_process *process)
{
	return process && !tap_finding_blames(finding, process)
		       ? tap_vec_add(&finding->at_fault, process)
		       : 0;
}

bool tap_finding_is_of_program(const struct tap_finding *finding)
{
	return finding->severity == TAP_SEVERITY_ERROR &&
	       (finding->kind == TAP_FINDING_MISSING ||
		finding->kind == TAP_FINDING_MISMATCH ||
		finding->kind == TAP_FINDING_STUCK);
}

bool tap_finding_concerns(const struct tap_finding *finding,
			  const struct tap_process *process)
{
	const struct tap_member *member;

	if (!finding->comm)
		return true;
	for (member = finding->comm->members; member; member = member->next)
		if (member->process == process)
			return true;
	return false;
}

bool tap_finding_blames(const struct tap_finding *finding,
			const struct tap_process *process)
{
	size_t i;

	for (i = 0; i < finding->at_fault.count; i++)
		if (finding->at_fault.items[i] == process)
			return true;
	return false;
}

bool tap_finding_is_about(const struct tap_finding *finding,
			  const struct tap_process *process)
{
	size_t i;

	for (i = 0; i < finding->sites.count; i++)
		if (finding->sites.items[i].process == process)
			return true;
	return tap_finding_blames(finding, process);
}

const char *tap_finding_kind_name(enum tap_finding_kind kind)
{
	static const char *const names[] = {
		[TAP_FINDING_MISMATCH] = "mismatch", [TAP_FINDING_MISSING] = "missing",
		[TAP_FINDING_STUCK] = "stuck",	     [TAP_FINDING_FAILED] = "failed",
		[TAP_FINDING_LATE] = "late",	     [TAP_FINDING_SLOW] = "slow",
		[TAP_FINDING_UNKNOWN] = "unknown",   [TAP_FINDING_CLEAR] = "clear",
	};

	return names[kind];
}

const char *tap_severity_name(enum tap_severity severity)
{
	static const char *const names[] = {[TAP_SEVERITY_NOTE] = "note",
					    [TAP_SEVERITY_WARNING] = "warning",
					    [TAP_SEVERITY_ERROR] = "error"};

	return names[severity];
}

const char *tap_finding_word(const struct tap_finding *finding)
{
	switch (finding->kind) {
	case TAP_FINDING_CLEAR:
		return "OK";
	case TAP_FINDING_UNKNOWN:
		return "UNKNOWN";
	default:
		break;
	}
	if (finding->severity == TAP_SEVERITY_NOTE)
		return "NOTE";
	switch (finding->kind) {
	case TAP_FINDING_MISMATCH:
		return "MISMATCH";
	case TAP_FINDING_MISSING:
	case TAP_FINDING_STUCK:
		return "HUNG";
	case TAP_FINDING_FAILED:
		return "FAILED";
	default:
		return "FINDING";
	}
}

/* ---- Text ---- */

/* The column in which the text of a finding begins. */
#define INDENT 9

/* Adds text, each of whose lines after the first is indented. */
static void add_lines(struct tap_buffer *text, const struct tap_buffer *lines)
{
	size_t i, start;

	for (i = 0; i < lines->used; i++) {
		tap_buffer_add_char(text, lines->data[i]);
		if (lines->data[i] != '\n')
			continue;
		start = text->used;
		tap_buffer_fill(text, start, INDENT, ' ');
	}
	tap_buffer_add_char(text, '\n');
	text->is_short |= lines->is_short;
}

static void add_part(struct tap_buffer *text, const char *before,
		     const struct tap_buffer *lines)
{
	const size_t start = text->used;

	if (!lines->used)
		return;
	tap_buffer_fill(text, start, INDENT, ' ');
	tap_buffer_add_string(text, before);
	add_lines(text, lines);
}

static enum tap_view_colour colour_of(const struct tap_finding *finding)
{
	if (finding->kind == TAP_FINDING_CLEAR)
		return TAP_VIEW_GREEN;
	if (finding->severity == TAP_SEVERITY_ERROR)
		return TAP_VIEW_RED;
	return finding->severity == TAP_SEVERITY_WARNING ||
			       finding->kind == TAP_FINDING_UNKNOWN
		       ? TAP_VIEW_YELLOW
		       : TAP_VIEW_PLAIN;
}

void tap_finding_add_text(struct tap_buffer *text, const struct tap_finding *finding,
			  bool has_colour)
{
	const char *word = tap_finding_word(finding);
	size_t start;

	tap_view_add_word(text, word, colour_of(finding), has_colour);
	start = text->used;
	tap_buffer_add_char(text, ' ');
	if (strlen(word) < INDENT)
		tap_buffer_fill(text, start, INDENT - strlen(word), ' ');
	add_lines(text, &finding->headline);
	add_part(text, "", &finding->detail);
	add_part(text, "", &finding->rules_out);
	add_part(text, "-> ", &finding->next);
}

/* ---- JSON ---- */

static void add_ranks(struct tap_json *json, const char *name, const int64_t *ranks,
		      size_t count)
{
	size_t i;

	tap_json_open(json, name, '[');
	for (i = 0; i < count; i++)
		tap_json_not_negative(json, NULL, ranks[i]);
	tap_json_close(json);
}

static void add_text_json(struct tap_json *json, const char *name,
			  const struct tap_buffer *text)
{
	if (!text->used) {
		tap_json_null(json, name);
		return;
	}
	tap_buffer_add(&json->text, text->data, text->used);
	json->text.is_short |= text->is_short;
	tap_json_text(json, name);
}

static void add_site_json(struct tap_json *json, const struct tap_site *site)
{
	const struct tap_operation *operation = &site->facts.operation;

	tap_json_open(json, NULL, '{');
	tap_json_not_negative(json, "rank", site->rank);
	tap_json_unsigned(json, "process", site->process->number);
	tap_json_string(json, "host", site->process->host);
	tap_json_not_negative(json, "pid", site->process->pid);
	tap_json_string(json, "call", site->name ? site->name->name : NULL);
	tap_json_not_negative(json, "begin_ns", site->facts.begin_ns);
	tap_json_not_negative(json, "end_ns", site->facts.end_ns);
	tap_json_not_negative(json, "bytes", tap_operation_bytes(operation));
	tap_json_not_negative(json, "datatype", operation->datatype);
	tap_json_not_negative(json, "redop", operation->redop);
	tap_json_not_negative(json, "root", operation->root);
	tap_json_not_negative(json, "peer", operation->peer);
	if (site->facts.caller_number) {
		tap_view_add_caller(&json->text, site->facts.caller,
				    site->facts.caller_number, site->facts.caller_offset);
		tap_json_text(json, "caller");
	} else {
		tap_json_null(json, "caller");
	}
	tap_json_close(json);
}

void tap_finding_add_json(struct tap_json *json, const struct tap_finding *finding)
{
	size_t i;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "kind", tap_finding_kind_name(finding->kind));
	tap_json_string(json, "severity", tap_severity_name(finding->severity));
	add_text_json(json, "headline", &finding->headline);
	add_text_json(json, "detail", &finding->detail);
	add_text_json(json, "rules_out", &finding->rules_out);
	add_text_json(json, "next", &finding->next);
	add_ranks(json, "ranks", finding->ranks.items, finding->ranks.count);
	add_ranks(json, "waiting_ranks", finding->waiting.items, finding->waiting.count);
	tap_json_key(json, "comm_key",
		     finding->comm ? finding->comm->key : finding->comm_key);
	tap_json_string(json, "operation",
			finding->operation ? finding->operation->name : NULL);
	if (finding->op_number)
		tap_json_unsigned(json, "op_number", finding->op_number);
	else
		tap_json_null(json, "op_number");
	tap_json_not_negative(json, "time_ns", finding->time_ns);
	tap_json_signed(json, "cost_ns", finding->cost_ns);
	tap_json_open(json, "evidence", '[');
	for (i = 0; i < finding->evidence.count; i++) {
		const struct tap_evidence *evidence = &finding->evidence.items[i];

		tap_json_open(json, NULL, '{');
		tap_json_string(json, "name", evidence->name);
		tap_json_signed(json, "value", evidence->value);
		tap_json_string(json, "known", tap_known_name(evidence->known));
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_open(json, "call_sites", '[');
	for (i = 0; i < finding->sites.count; i++)
		add_site_json(json, &finding->sites.items[i]);
	tap_json_close(json);
	tap_json_close(json);
}

void tap_finding_free(struct tap_finding *finding)
{
	tap_vec_free(&finding->ranks);
	tap_vec_free(&finding->waiting);
	tap_vec_free(&finding->evidence);
	tap_vec_free(&finding->sites);
	tap_vec_free(&finding->at_fault);
	tap_buffer_free(&finding->headline);
	tap_buffer_free(&finding->detail);
	tap_buffer_free(&finding->rules_out);
	tap_buffer_free(&finding->next);
}
