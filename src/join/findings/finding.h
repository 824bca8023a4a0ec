/* SPDX-License-Identifier: MIT */
/*
 * One finding: what is wrong with the program, which ranks it concerns, what shows it,
 * and what to look at next.
 *
 * Hides how a finding is printed, so that report, why and every other view say the same
 * words under the same keys.
 */
#ifndef TAP_JOIN_FINDINGS_FINDING_H
#define TAP_JOIN_FINDINGS_FINDING_H

#include "common/vec.h"
#include "join/base/json.h"
#include "join/model/link.h"

/* In the order in which findings of equal severity and cost are shown. */
enum tap_finding_kind {
	TAP_FINDING_MISMATCH,
	TAP_FINDING_MISSING,
	TAP_FINDING_STUCK,
	TAP_FINDING_FAILED,
	TAP_FINDING_LATE,
	TAP_FINDING_SLOW,
	TAP_FINDING_UNKNOWN, /* the trace lacks what it takes to tell */
	TAP_FINDING_CLEAR,   /* nothing is wrong, as far as the trace shows */
};

enum tap_severity {
	TAP_SEVERITY_NOTE,    /* nothing to mend */
	TAP_SEVERITY_WARNING, /* the program loses time */
	TAP_SEVERITY_ERROR,   /* the program cannot go on, or its result is wrong */
};

/*
 * Of findings of equal severity, the causes of others come first: a mismatch hangs all
 * its ranks, a missing rank those that wait for it, and their calls fail in the end.
 */
enum tap_cause {
	TAP_CAUSE_FIRST,     /* nothing else that is found explains it */
	TAP_CAUSE_OF_WAIT,   /* others wait for it */
	TAP_CAUSE_OWN,	     /* it may be a consequence of what others did */
	TAP_CAUSE_EXPLAINED, /* another finding explains it */
};

/* A number that shows the finding. */
struct tap_evidence {
	const char *name; /* a key, with its unit: "waited_ns"; not owned */
	int64_t value;
	enum tap_known known;
};

/* The call of a rank that the finding is about. */
struct tap_site {
	const struct tap_process *process;
	int64_t rank;		     /* in the communicator, -1 unknown */
	const struct tap_name *name; /* of the call */
	struct tap_call_facts facts;
};

struct tap_finding {
	enum tap_finding_kind kind;
	enum tap_severity severity;
	enum tap_cause cause;
	int64_t cost_ns; /* of all ranks together; 0 unknown */
	int64_t time_ns; /* when it began, -1 unknown */
	/*
	 * The operation; comm NULL and number 0: none.  The key is that of comm, or of a
	 * communicator that nobody has made yet, 0 unknown.
	 */
	const struct tap_comm *comm;
	uint64_t comm_key;
	const struct tap_name *operation;
	uint64_t op_number;

	TAP_VEC(int64_t) ranks;	  /* at fault, by rank; -1 unknown */
	TAP_VEC(int64_t) waiting; /* that suffer from it */
	TAP_VEC(struct tap_evidence) evidence;
	TAP_VEC(struct tap_site) sites;
	/* The processes at fault, as far as they are known: printed as ranks only. */
	TAP_VEC(const struct tap_process *) at_fault;

	/*
	 * Text without a newline at the end.  The headline is a sentence that stands
	 * alone; the others may have several lines, or none.
	 */
	struct tap_buffer headline;
	struct tap_buffer detail;
	struct tap_buffer rules_out; /* what it shows not to be the cause */
	struct tap_buffer next;	     /* what to look at next */
};

/* Each returns 0 or -ENOMEM. */
int tap_finding_add_rank(struct tap_finding *finding, int64_t rank);
int tap_finding_add_waiting(struct tap_finding *finding, int64_t rank);
int tap_finding_add_evidence(struct tap_finding *finding, const char *name, int64_t value,
			     enum tap_known known);
int tap_finding_add_site(struct tap_finding *finding, const struct tap_link_end *end);
int tap_finding_add_at_fault(struct tap_finding *finding,
			     const struct tap_process *process);

/* Whether the process has a rank in the finding's communicator, or there is none. */
bool tap_finding_concerns(const struct tap_finding *finding,
			  const struct tap_process *process);
/* Whether the process is at fault; whether the finding is about one of its calls. */
bool tap_finding_blames(const struct tap_finding *finding,
			const struct tap_process *process);
bool tap_finding_is_about(const struct tap_finding *finding,
			  const struct tap_process *process);

/* Whether the program, and not the trace, is what lacks something. */
bool tap_finding_is_of_program(const struct tap_finding *finding);

/* "mismatch", "missing", ...; "note", "warning", "error". */
const char *tap_finding_kind_name(enum tap_finding_kind kind);
const char *tap_severity_name(enum tap_severity severity);
/* "HUNG", "MISMATCH", "FAILED", "FINDING", "NOTE", "UNKNOWN" or "OK". */
const char *tap_finding_word(const struct tap_finding *finding);

/*
 * Adds the finding as text: its word and headline, the details below it, and "-> " before
 * what to look at next; all lines end with a newline. has_colour: of the word alone.
 */
void tap_finding_add_text(struct tap_buffer *text, const struct tap_finding *finding,
			  bool has_colour);
/* Adds the finding as one object of an array. */
void tap_finding_add_json(struct tap_json *json, const struct tap_finding *finding);

/* Frees what the finding points to. */
void tap_finding_free(struct tap_finding *finding);

#endif
