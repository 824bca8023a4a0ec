/* SPDX-License-Identifier: MIT */
/*
 * The audit as text: one screen, or with all remarks and tables.
 *
 * Hides how the lines of a screen are shared out among the subjects.
 */
#ifndef TAP_JOIN_AUDIT_PAGE_H
#define TAP_JOIN_AUDIT_PAGE_H

#include "join/audit/subject.h"

/* A subject with its state. */
struct tap_audit_section {
	const struct tap_audit_subject *subject;
	struct tap_audit_state *state;
	enum tap_audit_grade grade;
};

/*
 * Adds the sections in their order; is_full: all of each, else what fits on the screen
 * that the settings of the view say.
 */
void tap_audit_add_page(struct tap_buffer *text, const struct tap_audit_shared *shared,
			const struct tap_audit_section *sections, size_t count,
			bool is_full);

/*
 * Adds the members of an object with what the text says, for the page of a report: words,
 * titles and remarks, without tables, and of each subject's remarks the worst.
 */
void tap_audit_add_brief_json(struct tap_json *json,
			      const struct tap_audit_shared *shared,
			      const struct tap_audit_section *sections, size_t count);

#endif
