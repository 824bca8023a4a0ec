/* SPDX-License-Identifier: MIT */
/*
 * How far a trace can be trusted: what is missing, what was matched and how the match is
 * known, what has no match and why, what could not be observed, and the verdict.
 *
 * Hides what makes a trace incomplete, doubtful or bad, so that check and the page of the
 * report say the same.  It has to get the whole trace, also where filters are given.
 */
#ifndef TAP_JOIN_REPORT_CHECKED_H
#define TAP_JOIN_REPORT_CHECKED_H

#include "join/findings/findings.h"
#include "join/findings/unobserved.h"
#include "join/report/check_connections.h"
#include "join/report/defect.h"
#include "join/views/view.h"

/* All zero is empty. */
struct tap_checked {
	struct tap_matches calls[TAP_LINK_SEND_RECV + 1];
	struct tap_unobserved unobserved;
	struct tap_check_connections connections;
	struct tap_defects defects;
};

/* What the join gives.  The first returns 0 or -ENOMEM. */
int tap_checked_problem(struct tap_checked *checked, const struct tap_problem *problem);
void tap_checked_connection(struct tap_checked *checked,
			    const struct tap_nccl_connection *connection);
void tap_checked_link(struct tap_checked *checked, const struct tap_link *link);
void tap_checked_defect(struct tap_checked *checked, const struct tap_loss *loss,
			const struct tap_link *link);

/*
 * Adds what `ccltap check` prints, or the members of its object, once the findings are
 * concluded.
 */
void tap_checked_add_text(struct tap_buffer *line, const struct tap_checked *checked,
			  const struct tap_view *view,
			  const struct tap_findings *findings,
			  const struct tap_loss *loss);
void tap_checked_add_json(struct tap_json *json, const struct tap_checked *checked,
			  const struct tap_view *view,
			  const struct tap_findings *findings,
			  const struct tap_loss *loss, bool has_streams);

void tap_checked_free(struct tap_checked *checked);

#endif
