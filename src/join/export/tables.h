/* SPDX-License-Identifier: MIT */
/*
 * The tables of an export and the rows that they are made of: ccltap-export(1) describes
 * each column.  A released column is never renamed, removed or given another meaning.
 */
#ifndef TAP_JOIN_EXPORT_TABLES_H
#define TAP_JOIN_EXPORT_TABLES_H

#include "join/export/column.h"
#include "join/findings/finding.h"
#include "join/model/context.h"
#include "join/model/link.h"

enum tap_export_name {
	TAP_EXPORT_PROCESS,	 /* struct tap_export_process */
	TAP_EXPORT_COMMUNICATOR, /* struct tap_member */
	TAP_EXPORT_CONNECTION,	 /* struct tap_nccl_connection */
	TAP_EXPORT_OPERATION,	 /* struct tap_export_end */
	/* struct tap_span */
	TAP_EXPORT_CALL,
	TAP_EXPORT_LAUNCH,
	TAP_EXPORT_KERNEL,
	TAP_EXPORT_MESSAGE,
	TAP_EXPORT_REQUEST,
	TAP_EXPORT_PROXY,
	TAP_EXPORT_LINK,    /* struct tap_export_end */
	TAP_EXPORT_SAMPLE,  /* struct tap_export_counter */
	TAP_EXPORT_FINDING, /* struct tap_export_item */
	TAP_EXPORT_LOSS,    /* struct tap_export_loss */
	TAP_EXPORT_TABLES,
};

extern const struct tap_export_table tap_export_tables[TAP_EXPORT_TABLES];
/* Those of spans, of span_tables.c. */
extern const struct tap_export_column tap_export_call[], tap_export_launch[],
	tap_export_kernel[], tap_export_message[], tap_export_request[],
	tap_export_proxy[];

/* How a process stood at the end. */
struct tap_export_process {
	const struct tap_context *context;
	const struct tap_end_state *end_state;
};

/* One end of a link; or of a half link, which has no other end in this trace. */
struct tap_export_end {
	uint64_t number; /* of the link */
	uint64_t place;	 /* of the end, from 0 */
	const struct tap_link *link;
	const struct tap_link_end *end;
	const struct tap_half *half; /* NULL: of a link */
};

/* One counter of a sample. */
struct tap_export_counter {
	const struct tap_sampled *sample;
	const char *name; /* NULL: the sample has none */
	uint64_t value, growth;
};

/* One thing that a finding says. */
struct tap_export_item {
	uint64_t number; /* of the finding, from 0 */
	const struct tap_finding *finding;
	const char *item; /* "finding", "at-fault", "waiting" or "evidence" */
	int64_t rank;	  /* of a rank, else -1 */
	const struct tap_evidence *evidence;		  /* or NULL */
	const char *headline, *detail, *rules_out, *next; /* NULL but in "finding" */
};

struct tap_export_loss {
	const char *counter;
	const char *stream; /* NULL: of all */
	int64_t value;
};

/* "send": which kind of work an end or a span is, NULL for a call. */
const char *tap_export_work_kind(const struct tap_work *work);
/* The number of its queue or connection; its number among all of that. */
struct tap_export_value tap_export_work_queue(const struct tap_work *work);
uint64_t tap_export_work_number(const struct tap_work *work);

/* The operation's kind, and the ranks between which a message goes; -1 unknown. */
const char *tap_export_op_kind(const struct tap_name *name, uint64_t number);
int64_t tap_export_sender(const struct tap_name *name, int64_t rank, int64_t peer);
int64_t tap_export_receiver(const struct tap_name *name, int64_t rank, int64_t peer);

#endif
