/* SPDX-License-Identifier: MIT */
/*
 * The views: consumers of the join that write a file for a person or for a program.
 *
 * Hides what they have in common, so that all views use the same names and formats.
 */
#ifndef TAP_JOIN_VIEWS_VIEW_H
#define TAP_JOIN_VIEWS_VIEW_H

#include "join/base/buffer.h"
#include "join/base/json.h"
#include "join/base/outfile.h"
#include "join/model/context.h"
#include "join/views/symbol.h"

/* The version of the machine-readable formats; additions do not change it. */
#define TAP_VIEW_SCHEMA 1

/* The tables of the report; none: the first screen. */
enum tap_tables {
	TAP_TABLES_CALLS = 1,
	TAP_TABLES_COMM = 2,
	TAP_TABLES_NET = 4,
	TAP_TABLES_GPU = 8,
	TAP_TABLES_ALL = 15,
};

struct tap_view_settings {
	bool is_absolute;    /* text: times of day, else since the first event */
	bool is_json;	     /* report, check, why, audit, tree */
	size_t window;	     /* text: how many spans are held to order them */
	bool is_unfolded;    /* text: each polling call has a line of its own */
	unsigned int tables; /* report: a set of enum tap_tables */
	bool has_colour;     /* text: who reads it sees colours */
	/* text: of the terminal, or what a person is assumed to have */
	size_t columns, lines;
	bool is_gzip;	  /* trace events: the file is compressed */
	bool is_brief;	  /* audit: what the page of a report shows of it */
	bool is_baseline; /* report: write what another run is compared with */
};

struct tap_filters;
struct tap_filtered;

struct tap_view {
	const struct tap_consumer *consumer;	/* called with the view */
	/*
	 * Where filters are given, these are called instead: `all` gets everything, and
	 * then `passed` what passes.  Both NULL: `passed` is the consumer.
	 */
	const struct tap_consumer *all, *passed;
	void (*destroy)(struct tap_view *view); /* before the join is destroyed */
	const struct tap_context *context;	/* set by the owner of the join */
	struct tap_outfile *output;		/* not owned */
	struct tap_symbols *symbols;		/* not owned; NULL: show no stacks */
	const struct tap_filters *filters;	/* not owned; NULL: none */
	const struct tap_filtered *filtered;	/* what they left out; NULL: nothing */
	struct tap_view_settings settings;
	struct tap_buffer line;
};

/* Each returns NULL when memory is short. */
struct tap_view *tap_text_create(void);
struct tap_view *tap_jsonl_create(void);
struct tap_view *tap_perfetto_create(void);
/* The same as JSON, for chrome://tracing; is_gzip. */
struct tap_view *tap_trace_events_create(void);
/*
 * Merges the file of a profiler into what tap_trace_events_create() writes.  Returns 0, or
 * -errno with the error written.
 */
struct tap_event_file_error;
int tap_trace_events_merge(struct tap_view *view, const char *path,
			   struct tap_event_file_error *error);
struct tap_view *tap_tree_create(void); /* operations as trees; is_json */
struct tap_view *tap_report_create(void);
/*
 * Makes a report tell what changed since the run whose measures are in the file.  Returns
 * 0 or -errno.
 */
int tap_report_compare(struct tap_view *view, const char *path);
/*
 * Has a report write a page for a browser, of the template in this folder. The title names
 * what is read, the baseline what it is compared with; each may be NULL.  Returns 0 or
 * -errno.
 */
int tap_report_make_page(struct tap_view *view, const char *folder, const char *title,
			 const char *baseline);
/* Adds to the page what the audit, with is_brief, wrote to this file.  Likewise. */
int tap_report_add_audit(struct tap_view *view, const char *path);
/*
 * Tables in a folder that exists, as JSON lines or CSV.  A host that the folder `kept` has
 * already is an error, -EEXIST; NULL: none is.
 */
struct tap_view *tap_export_create(const char *folder, const char *kept, bool is_json);
struct tap_view *tap_check_create(void);
struct tap_view *tap_complete_create(void);
/* What the program does with its collective library; tables: all of it. */
struct tap_view *tap_audit_create(void);
/* As tap_why_tell_verdict(), of the audit. */
int tap_audit_tell_verdict(struct tap_view *view, const char *path);
struct tap_view *tap_why_create(void);
/*
 * Has the view of tap_why_create() write its verdict alone, one word, to this file of its
 * own, once its output is complete.  Returns 0 or -errno.
 */
int tap_why_tell_verdict(struct tap_view *view, const char *path);
/*
 * Likewise has it write what `timeline --finding` shows of a finding, the first being 1: as
 * values of the filters rank, begin and end, a line each.  The file stays empty where there
 * are not so many findings.
 */
int tap_why_tell_finding(struct tap_view *view, size_t number, const char *path);

/* "hosts":[{"name":...}] of all traces, each once; of several, with their clocks. */
void tap_view_add_hosts_json(struct tap_json *json, const struct tap_context *context);
/* Of several hosts, a line for each whose clock is not the reference. */
void tap_view_add_clocks_text(struct tap_buffer *buffer,
			      const struct tap_context *context);
/* "snapshots":[{"name":...,"of":4}], only of flight recorders. */
void tap_view_add_snapshots_json(struct tap_json *json,
				 const struct tap_context *context);
/* Likewise as text, a line for each. */
void tap_view_add_snapshots_text(struct tap_buffer *buffer,
				 const struct tap_context *context);
/* How many hosts the traces name. */
size_t tap_view_host_count(const struct tap_context *context);
/* "loss":{...}; without the streams in a line whose length is bounded. */
void tap_view_add_loss_json(struct tap_json *json, const struct tap_loss *loss,
			    bool has_streams);
/* Adds " discarded events 12, ..." to a text that ends with ':'; nothing if all is there.
 */
void tap_view_add_lost(struct tap_buffer *buffer, const struct tap_loss *loss);
/* Lines that begin with "loss:". */
void tap_view_add_loss_text(struct tap_buffer *buffer, const struct tap_loss *loss);
/*
 * "library.so+0x12", or "library 3+0x12" when the library is unknown; the number is not
 * 0.
 */
void tap_view_add_caller(struct tap_buffer *buffer, const struct tap_library *library,
			 uint64_t number, uint64_t offset);
/* A duration with three decimals in the largest unit that fits. */
void tap_view_add_duration(struct tap_buffer *buffer, int64_t duration_ns);
/* A number, aligned right in a column. */
void tap_view_add_cell(struct tap_buffer *line, uint64_t value, size_t width);
/* The colour of a word that a person is to see first. */
enum tap_view_colour {
	TAP_VIEW_PLAIN,
	TAP_VIEW_GREEN, /* all is well */
	TAP_VIEW_YELLOW,
	TAP_VIEW_RED, /* look at this first */
};
/* A word in its colour, in bold; the same bytes as tap_buffer_add_string() without. */
void tap_view_add_word(struct tap_buffer *buffer, const char *word,
		       enum tap_view_colour colour, bool has_colour);
/* The value of a field, for a person. */
void tap_view_add_value(struct tap_buffer *buffer, const struct tap_fields *fields,
			const struct tap_field *field);
/* The beginning of a communicator's key, short enough for a person to compare, or "?". */
void tap_view_add_key(struct tap_buffer *buffer, uint64_t key);
/* "rank 3", or "pid 1234" where the rank is unknown. */
void tap_view_add_process(struct tap_buffer *buffer, const struct tap_process *process);
/* "pid 1234 on host"; "pid ?" without a host where it is unknown. */
void tap_view_add_pid(struct tap_buffer *buffer, const struct tap_process *process);
/* The command of a process, or its executable, or "". */
const char *tap_view_command(const struct tap_process *process);

#endif
