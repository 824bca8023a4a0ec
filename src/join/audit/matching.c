/* SPDX-License-Identifier: MIT */
/*
 * Whether the ranks call the same operations in the same order, with arguments that fit:
 * what `ccltap why` finds of it.
 */
#include "join/audit/subject.h"

#include <errno.h>

struct matching {
	struct tap_audit_state state;
	uint64_t operations; /* of which several ranks are in the trace */
};

static int count_link(void *data, const struct tap_link *link)
{
	struct matching *matching = data;

	matching->operations += link->kind == TAP_LINK_COLLECTIVE_RANKS ||
				link->kind == TAP_LINK_SEND_RECV;
	return 0;
}

/* That ranks are late or messages slow is no misuse of the library. */
static bool is_ours(const struct tap_finding *finding)
{
	return finding->kind == TAP_FINDING_MISMATCH ||
	       finding->kind == TAP_FINDING_MISSING ||
	       finding->kind == TAP_FINDING_STUCK ||
	       finding->kind == TAP_FINDING_FAILED ||
	       finding->kind == TAP_FINDING_UNKNOWN;
}

static enum tap_audit_grade grade_of(const struct tap_finding *finding)
{
	if (finding->kind == TAP_FINDING_UNKNOWN)
		return TAP_AUDIT_UNKNOWN;
	switch (finding->severity) {
	case TAP_SEVERITY_ERROR:
		return TAP_AUDIT_ERROR;
	case TAP_SEVERITY_WARNING:
		return TAP_AUDIT_WARNING;
	default:
		return TAP_AUDIT_NOTE;
	}
}

static enum tap_known known_of(const struct tap_finding *finding)
{
	enum tap_known worst = TAP_KNOWN_EXACT;
	size_t i;

	for (i = 0; i < finding->evidence.count; i++)
		if (finding->evidence.items[i].known > worst)
			worst = finding->evidence.items[i].known;
	return worst;
}

static int take(struct matching *matching, const struct tap_finding *finding)
{
	struct tap_audit_remark *remark =
		tap_audit_add(matching, grade_of(finding),
			      tap_finding_kind_name(finding->kind), known_of(finding));
	size_t i;

	if (!remark)
		return -ENOMEM;
	tap_buffer_add(&remark->text, finding->headline.data, finding->headline.used);
	for (i = 0; i < finding->at_fault.count; i++)
		if (tap_audit_add_process(&remark->processes, finding->at_fault.items[i]))
			return -ENOMEM;
	return 0;
}

static int conclude(void *data)
{
	struct matching *matching = data;
	const struct tap_findings *findings = matching->state.shared->findings;
	size_t i;

	for (i = 0; i < tap_findings_count(findings); i++)
		if (is_ours(tap_findings_at(findings, i)) &&
		    take(matching, tap_findings_at(findings, i)))
			return -ENOMEM;
	return 0;
}

static void summary(const void *data, struct tap_buffer *line)
{
	const struct matching *matching = data;

	tap_audit_add_count(line, matching->operations, "operation");
	tap_buffer_add_string(line, " of several ranks compared");
}

static void json(const void *data, struct tap_json *json)
{
	const struct matching *matching = data;

	tap_json_unsigned(json, "operations", matching->operations);
}

const struct tap_audit_subject tap_audit_matching = {
	.key = "matching",
	.title = "order and arguments",
	.size = sizeof(struct matching),
	.takes = {.link = count_link},
	.conclude = conclude,
	.summary = summary,
	.json = json,
};
