/* SPDX-License-Identifier: MIT */
/*
 * A subject of the audit: watches the trace for one thing that a program does with its
 * collective library, remarks on it when the trace is over, and has a table with the
 * details.  The table in audit.c has them all.
 *
 * Hides one subject from all others, and how a remark is printed.
 */
#ifndef TAP_JOIN_AUDIT_SUBJECT_H
#define TAP_JOIN_AUDIT_SUBJECT_H

#include "common/vec.h"
#include "join/base/json.h"
#include "join/findings/findings.h"
#include "join/model/link.h"
#include "join/views/view.h"

#include <stddef.h>

struct tap_column;
struct tap_rows;

/* How bad a remark is, and a subject by its worst remark. */
enum tap_audit_grade {
	TAP_AUDIT_OK,	   /* no remark */
	TAP_AUDIT_NOTE,	   /* it is so; nothing to mend */
	TAP_AUDIT_UNKNOWN, /* the trace does not tell */
	TAP_AUDIT_WARNING, /* the program loses time, or leaves something behind */
	TAP_AUDIT_ERROR,   /* the program cannot go on, or its result is wrong */
};

/* Processes, each once, in the order in which they were added. */
struct tap_audit_processes {
	TAP_VEC(const struct tap_process *) all;
	TAP_VEC(bool) is_in; /* by the number of the process */
};

struct tap_audit_remark {
	enum tap_audit_grade grade;
	const char *kind; /* a key, "wait-in-group"; not owned */
	/* How what it says is known; not where it is a TAP_AUDIT_UNKNOWN. */
	enum tap_known known;
	uint64_t count;			      /* of what it is about */
	struct tap_buffer text;		      /* a sentence without a full stop */
	struct tap_audit_processes processes; /* that it is about */
};

/* What the subjects share. */
struct tap_audit_shared {
	const struct tap_view *view;
	struct tap_findings *findings;
	const struct tap_loss *loss; /* once the trace is over */
	/* Likewise: calls may be missing from the trace without a sign of it. */
	bool may_lack_calls;
};

/* The beginning of the state of every subject.  The rest is zero at first. */
struct tap_audit_state {
	const struct tap_audit_shared *shared;
	TAP_VEC(struct tap_audit_remark) remarks;
};

/* Any function may be NULL; those that return something return 0 or -errno. */
struct tap_audit_subject {
	const char *key, *title; /* in JSON, and in the text */
	size_t size;		 /* bytes of its state */
	bool is_of_absence;	 /* that it says nothing means that there is nothing */
	/*
	 * The details, if they are rows of columns: where in its state the rows are, and
	 * their name in JSON, NULL where json() adds them between others.
	 */
	struct {
		const struct tap_column *columns;
		size_t rows; /* offset of a struct tap_rows */
		const char *key;
	} table;
	/* What the join gives, with the state as data; finish() is not called. */
	struct tap_consumer takes;
	/* The findings are concluded: adds the remarks. */
	int (*conclude)(void *state);
	/* What is so, in a few words without a newline. */
	void (*summary)(const void *state, struct tap_buffer *line);
	/* More details: lines behind the table, or members of the subject's object. */
	void (*text)(const void *state, struct tap_buffer *text);
	void (*json)(const void *state, struct tap_json *json);
	void (*free)(void *state);
};

/* ---- For subjects ---- */

/*
 * Adds a remark, to be filled in; it stays where it is until the next is added.  NULL
 * when memory is short.
 */
struct tap_audit_remark *tap_audit_add(void *state, enum tap_audit_grade grade,
				       const char *kind, enum tap_known known);

/* Adds a process unless it is there.  Returns 0 or -ENOMEM. */
int tap_audit_add_process(struct tap_audit_processes *processes,
			  const struct tap_process *process);
void tap_audit_free_processes(struct tap_audit_processes *processes);
/* "rank 3", "ranks 0-6, 8", "pid 12", "3 processes" */
void tap_audit_add_processes(struct tap_buffer *text,
			     const struct tap_audit_processes *processes);
/* Copies the processes into the remark.  Returns 0 or -ENOMEM. */
int tap_audit_remark_on(struct tap_audit_remark *remark,
			const struct tap_audit_processes *processes);

/* ", up to 7 times", behind the processes that do it so often at most. */
void tap_audit_add_most(struct tap_buffer *text, uint64_t most);
/* "1 call", "2 calls" */
void tap_audit_add_count(struct tap_buffer *text, uint64_t count, const char *what);

/* Whether the span is a call of NCCL that the program made itself. */
bool tap_audit_is_own_call(const struct tap_span *span);
/* Whether it is a call of the CUDA driver that no call of NCCL made. */
bool tap_audit_is_own_cuda(const struct tap_span *span);
/* Whether it is a call of the first sort that asks for work on a communicator. */
bool tap_audit_is_operation(const struct tap_span *span);

extern const struct tap_audit_subject tap_audit_buffers;
extern const struct tap_audit_subject tap_audit_communicators;
extern const struct tap_audit_subject tap_audit_environment;
extern const struct tap_audit_subject tap_audit_left;
extern const struct tap_audit_subject tap_audit_libraries;
extern const struct tap_audit_subject tap_audit_matching;
extern const struct tap_audit_subject tap_audit_open;
extern const struct tap_audit_subject tap_audit_polling;
extern const struct tap_audit_subject tap_audit_sites;
extern const struct tap_audit_subject tap_audit_sizes;
extern const struct tap_audit_subject tap_audit_unobserved;
extern const struct tap_audit_subject tap_audit_waits;

/* ---- For the view ---- */

/* The rows of a subject's table; NULL: it has none. */
const struct tap_rows *tap_audit_rows(const struct tap_audit_subject *subject,
				      const struct tap_audit_state *state);
const char *tap_audit_grade_name(enum tap_audit_grade grade);
/* The worst grade of the remarks. */
enum tap_audit_grade tap_audit_grade_of(const struct tap_audit_state *state);
/* Worst first; else in the order in which they were added. */
void tap_audit_sort_remarks(struct tap_audit_state *state);
/* "text (inferred)" */
void tap_audit_add_remark(struct tap_buffer *text, const struct tap_audit_remark *remark);
void tap_audit_add_remarks_json(struct tap_json *json,
				const struct tap_audit_state *state);
void tap_audit_free_remarks(struct tap_audit_state *state);

#endif
