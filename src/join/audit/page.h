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

#endif
