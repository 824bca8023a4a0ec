/* SPDX-License-Identifier: MIT */
/*
 * The spans and arrows of the page's timeline: of each row the longest, and whatever did
 * not return or failed.
 *
 * Hides how few of millions are kept while the trace is read, which rows are drawn where
 * there are too many, and the counts that stand for the spans that are left out.
 */
#ifndef TAP_JOIN_REPORT_PAGE_SPANS_H
#define TAP_JOIN_REPORT_PAGE_SPANS_H

#include "common/vec.h"
#include "join/base/json.h"
#include "join/findings/findings.h"
#include "join/model/link.h"
#include "join/views/known.h"

/* What the page has at most. */
#define TAP_PAGE_SPANS 20000
#define TAP_PAGE_ROWS 400
#define TAP_PAGE_ARROWS 20000
#define TAP_PAGE_NAMES 4096
/* Bytes of a name: a kernel's may be a page long. */
#define TAP_PAGE_NAME 160

struct tap_page_arrow {
	struct tap_known_id from, to;
	unsigned char kind, known;
};

/* All zero is empty. */
struct tap_page_spans {
	struct tap_table by_key; /* rows */
	TAP_VEC(struct tap_page_row *) rows;
	size_t row_max;		/* spans in a row, while the trace is read; 0: unset */
	size_t kept;		/* in all rows */
	uint64_t count, beyond; /* all; and of them, those of rows beyond a bound */
	struct tap_table by_id; /* spans that are kept */
	TAP_VEC(struct tap_page_arrow) arrows;
	uint64_t other_arrows;
	struct tap_table by_name; /* indices + 1, by hash */
	TAP_VEC(char *) names;
	struct tap_buffer name; /* being made */
};

/* What the join gives, of what is to be drawn.  Each returns 0 or -ENOMEM. */
int tap_page_spans_end(struct tap_page_spans *spans, const struct tap_context *context,
		       const struct tap_span *span);
int tap_page_spans_link(struct tap_page_spans *spans, const struct tap_link *link);
void tap_page_spans_thread(struct tap_page_spans *spans,
			   const struct tap_nccl_thread *thread);
void tap_page_spans_connection(struct tap_page_spans *spans,
			       const struct tap_nccl_connection *connection);

/* Adds the member "timeline"; rows of processes at fault go first where not all have
 * room. */
void tap_page_spans_add_json(struct tap_json *json, struct tap_page_spans *spans,
			     const struct tap_context *context,
			     const struct tap_findings *findings);

void tap_page_spans_free(struct tap_page_spans *spans);

#endif
