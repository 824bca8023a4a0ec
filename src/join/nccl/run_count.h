/* SPDX-License-Identifier: MIT */
/*
 * How many messages a kernel has on one connection: from NCCL's rules (expected.h,
 * transfer.h), or from other kernels that were launched for the same.
 *
 * Hides that a rule may not hold here, and that a connection may be of the ring, of the
 * tree, or of both: which, its messages show.
 */
#ifndef TAP_JOIN_NCCL_RUN_COUNT_H
#define TAP_JOIN_NCCL_RUN_COUNT_H

#include "join/base/table.h"
#include "join/nccl/expected.h"
#include "join/nccl/net_run.h"
#include "join/nccl/transfer.h"

struct tap_comm;

enum tap_use { TAP_USE_UNKNOWN, TAP_USE_YES, TAP_USE_NO };

struct tap_run_count {
	enum tap_use *uses;	   /* of the communicator: by algorithm */
	struct tap_shapes *shapes; /* likewise */
	struct tap_ccl_work work;
	struct tap_ccl_place place;
	bool is_collective; /* no message of the run is of a send */
	bool has_rule;	    /* and nothing contradicts it */
	bool is_tried;	    /* `rule` is of an earlier release, and not proved */
	bool is_unruly;	    /* something did */
	struct tap_expected rule;
	/*
	 * Where the protocol is not known, what each would have; as TAP_CCL_NO_PROTOCOL,
	 * what other algorithms whose kernels have this name would, or a channel that
	 * is not used.  `rule` where those that are left are alike.
	 */
	struct tap_expected options[TAP_CCL_SIMPLE + 1];
	unsigned int options_left; /* bits */

	/* Where it is noted of all connections that the rule held, and did not. */
	struct tap_table *proofs;
	uint64_t proof_comm, proof_kind;

	/* Of sends and receives. */
	struct tap_sends sends;
	struct tap_sends_range range;
	uint64_t range_changes; /* of shapes, when range was found */

	/* What runs have shown. */
	bool is_irregular; /* two contradict each other */
	uint64_t least, most;
	uint64_t latest;   /* first operation of the latest run that showed its number */
	unsigned int seen; /* such runs */
};

/* Most communicators of a connection. */
#define TAP_RUN_COMMS_MAX 8

/* Of one connection; empty when all zero. */
struct tap_run_counts {
	struct tap_table by_signature;
	/* Whether the connection is of the ring, ... of a communicator. */
	enum tap_use uses[TAP_RUN_COMMS_MAX][TAP_CCL_TREE + 1];
	struct tap_shapes shapes[TAP_RUN_COMMS_MAX];
};

/* What a kernel was launched for. */
struct tap_run_about {
	size_t comm;	    /* index of the communicator */
	uint64_t signature; /* equal for the same */
	const struct tap_ccl_work *work;
	const struct tap_ccl_place *place;
	struct tap_sends sends;
	bool is_collective;	   /* no message of the run is of a send */
	struct tap_table *proofs;  /* of rules of earlier releases; the owner frees it */
	const struct tap_comm *of; /* the communicator itself */
};

/* NULL: memory is short. */
struct tap_run_count *tap_run_counts_get(struct tap_run_counts *counts,
					 const struct tap_run_about *about);

/* The least and the most messages that the run may have. */
void tap_run_count_expect(struct tap_run_count *count, struct tap_net_run *run);

/* Takes what is found of a run; returns whether that makes others narrower. */
bool tap_run_count_learn(struct tap_run_count *count, const struct tap_net_run *run);

/* Takes the protocol of a message of a run; likewise. */
bool tap_run_count_show(struct tap_run_count *count, enum tap_ccl_protocol protocol);

/*
 * Takes a run that was found from times alone, where something contradicts.  Returns
 * whether the count was to blame, and is changed.
 */
bool tap_run_count_blame(struct tap_run_count *count, const struct tap_net_run *run);

/* Takes the bytes of all messages of a run; returns whether that makes others narrower.
 */
bool tap_run_count_measure(struct tap_run_count *count, uint64_t messages,
			   uint64_t bytes);

/*
 * Takes whether a run had the messages and bytes of a rule that is tried; returns whether
 * that makes others narrower.
 */
bool tap_run_count_prove(struct tap_run_count *count, bool is_right);

/* The rule does not hold here. */
void tap_run_count_drop_rule(struct tap_run_count *count);
/* The same, if there is one that is used; returns whether there was. */
bool tap_run_count_drop_used(struct tap_run_count *count);

/* Whether the rule alone says how many messages there are. */
bool tap_run_count_is_ruled(const struct tap_run_count *count);

void tap_run_counts_free(struct tap_run_counts *counts);

#endif
