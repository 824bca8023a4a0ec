/* SPDX-License-Identifier: MIT */
/*
 * The report as a page for a browser: one file that asks for no other.  It has the report
 * and the check as their JSON, and beside them the tables that only the page shows; a
 * template in share/ccltap/page has the rest.
 *
 * Hides how the template is put together, that no text of a trace can end the data and
 * become markup, and how much of a long trace a page has: TAP_PAGE_BYTES at most.
 */
#ifndef TAP_JOIN_REPORT_PAGE_H
#define TAP_JOIN_REPORT_PAGE_H

#include "join/report/checked.h"
#include "join/report/diff.h"
#include "join/report/page_arrivals.h"
#include "join/report/page_spans.h"
#include "join/report/screen.h"

/* What the bounds of the tables add up to, with the template. */
#define TAP_PAGE_BYTES (UINT64_C(8) << 20)

#define TAP_PAGE_FINDINGS 100
#define TAP_PAGE_COLLECTIVES 200
#define TAP_PAGE_PROCESSES 2048
#define TAP_PAGE_COMMUNICATORS 1024
#define TAP_PAGE_CHANGES 200

/* All zero, but for what is given, is empty. */
struct tap_page {
	struct tap_buffer template;
	char *title;	/* what was read; NULL: nobody says */
	char *baseline; /* what it is compared with */
	struct tap_buffer audit; /* as JSON; empty: there is none */
	/* While the trace is read. */
	struct tap_checked checked; /* gets the whole trace */
	struct tap_page_arrivals arrivals;
	struct tap_page_spans spans;
};

/* What the report has summed up. */
struct tap_page_content {
	const struct tap_screen *screen;
	const struct tap_report_net *net;
	const struct tap_process *const *processes; /* in the order of the report */
	size_t process_count;
	struct tap_diff *diff; /* NULL: nothing to compare with */
};

/* Reads the template in the folder; strings are copied.  Returns 0 or -errno. */
int tap_page_open(struct tap_page *page, const char *folder, const char *title,
		  const char *baseline);

/* Reads what the audit of the trace wrote.  Returns 0 or -errno. */
int tap_page_add_audit(struct tap_page *page, const char *path);

/* Adds the page to the text.  Returns 0 or -ENOMEM. */
int tap_page_write(struct tap_page *page, const struct tap_page_content *content,
		   struct tap_buffer *text);

void tap_page_free(struct tap_page *page);

#endif
