/* SPDX-License-Identifier: MIT */
/*
 * The report's part about messages of NCCL's network code: sums for each connection at
 * its sender, with the time that the sender may have waited for the receiver.
 *
 * Hides how spans and links become these sums.
 */
#ifndef TAP_JOIN_REPORT_REPORT_NET_H
#define TAP_JOIN_REPORT_REPORT_NET_H

#include "join/base/json.h"
#include "join/base/spread.h"
#include "join/model/link.h"
#include "join/report/rows.h"

struct tap_findings;

/* All zero is empty. */
struct tap_report_net {
	struct tap_rows connections; /* by (process, connection) */
};

/* Each returns 0 or -ENOMEM, and ignores other spans and links. */
int tap_report_net_end(struct tap_report_net *report, const struct tap_span *span);
int tap_report_net_link(struct tap_report_net *report, const struct tap_link *link);

/*
 * Takes how far the messages of each connection have come, at the end.  With filters, of
 * those that have a span alone.
 */
int tap_report_net_take(struct tap_report_net *report,
			const struct tap_findings *findings);

/* What went over a connection; NULL: the peer is not known. */
struct tap_net_traffic {
	const struct tap_process *from, *to;
	uint64_t messages, bytes;
	bool is_inferred;
	const struct tap_spread *latency; /* from the posts until they are received */
};
struct tap_net_traffic tap_report_net_traffic(const struct tap_report_net *report,
					      size_t at);

/* From the posts of a connection's messages until they are received. */
struct tap_net_latency {
	uint64_t count;
	int64_t median_ns, deviation_ns; /* -1: there is none */
};
struct tap_net_latency tap_report_net_latency(const struct tap_report_net *report,
					      size_t at);
/* Adds "rank 0 net 1, rank 1 net 2": the ends of the connection at this index. */
void tap_report_net_add_ends(struct tap_buffer *line, const struct tap_report_net *report,
			     size_t at);

/* Sorts the table, once, before it is written. */
void tap_report_net_sort(struct tap_report_net *report);
void tap_report_net_text(const struct tap_report_net *report, struct tap_buffer *line);
/* "connections":[...] */
void tap_report_net_json(const struct tap_report_net *report, struct tap_json *json);

void tap_report_net_free(struct tap_report_net *report);

#endif
