/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs, who is connected with whom, and what else of the verbs set-up a match
 * needs: shared receive queues, memory regions, address handles, ports.
 *
 * A queue pair is (process, number of the tracer's); its qp_num is no identity: two
 * devices have equal ones, and a device gives one out again.  It has lives: a reset
 * begins a new one.  Hides how two lives find each other across processes and hosts,
 * without any time, and how sure that is.
 */
#ifndef TAP_JOIN_RDMA_QP_H
#define TAP_JOIN_RDMA_QP_H

#include "join/rdma/flow.h"
#include "join/rdma/wr.h"

struct tap_event;
struct tap_verbs;

enum tap_qp_type { TAP_QP_RC = 2, TAP_QP_UC = 3, TAP_QP_UD = 4 };

struct tap_address {
	uint64_t gid_hi, gid_lo;
	uint64_t lid;
};

/* One life of a queue pair. */
struct tap_life {
	struct tap_qp *qp;
	uint64_t number; /* from 1 */
	struct tap_life *older;
	struct tap_work_queue sends;
	struct tap_work_queue receives;
	uint64_t refused;  /* posts that failed */
	uint64_t received; /* ordinal of the latest receive */
	bool has_missed_receive;

	/* Who it says to talk to. */
	struct tap_address local, remote;
	uint64_t dest_qp_num;
	uint64_t sq_psn, rq_psn;
	bool is_global;
	bool has_remote, has_sq_psn, has_rq_psn;
	bool is_from_state;    /* it was connected before recording began */
	uint64_t ordinal;      /* among those that had these addresses, 0: not filed */
	struct tap_life *next; /* of the same addresses */
	struct tap_life *peer; /* NULL unknown */
	bool is_doubtful;      /* the two do not quite agree */
	struct tap_flow_side out, in;
};

struct tap_qp {
	const struct tap_process *process;
	uint64_t id;
	uint64_t context_id;
	uint64_t qp_num;
	uint64_t type;
	uint64_t srq_id;
	uint64_t send_cq_id;
	uint64_t qp_context;
	void *observed; /* of the observer alone */
	bool is_sig_all;
	bool is_known; /* its making, or its state, is in the trace */
	bool is_over;
	struct tap_life *lives;	    /* newest first */
	struct tap_qp *next;	    /* of all */
	struct tap_qp *same_number; /* of the datagram kind, with equal qp_num */
};

struct tap_srq {
	uint64_t number; /* of all */
	uint64_t qps;	 /* that were seen to use it */
	bool has_same;	 /* two of equal wr_id waited at once */
	struct tap_work_queue receives;
	struct tap_srq *next;
};

struct tap_mr {
	uint64_t id;
	uint64_t context_id; /* keys are its own */
	uint64_t addr, length, rkey;
	struct tap_mr *older; /* with the same key */
};

/* What a process has told of itself. */
struct tap_verbs_process {
	uint64_t first_qp; /* the first number that was seen made */
	uint64_t last_qp;
	uint64_t qps;  /* that were seen made */
	bool has_hole; /* something of a connection is missing */
	struct tap_port *ports;
	struct tap_verbs_process *next;
};

/* NULL when memory is short. */
struct tap_qp *tap_qp_get(struct tap_verbs *verbs, const struct tap_process *process,
			  uint64_t id);
struct tap_life *tap_qp_life(struct tap_verbs *verbs, struct tap_qp *qp, uint64_t number);
struct tap_srq *tap_srq_get(struct tap_verbs *verbs, const struct tap_process *process,
			    uint64_t id);

/* The request of this number in one of the queues of a life. */
struct tap_work tap_life_work(const struct tap_life *life, enum tap_work_kind kind,
			      uint64_t seq);

/* Each takes an event of its kind, and returns 0 or -errno. */
int tap_qp_made(struct tap_verbs *verbs, const struct tap_process *process,
		const struct tap_event *event, bool is_state);
int tap_qp_modified(struct tap_verbs *verbs, const struct tap_process *process,
		    const struct tap_event *event);
int tap_qp_destroyed(struct tap_verbs *verbs, const struct tap_process *process,
		     const struct tap_event *event);
int tap_qp_port(struct tap_verbs *verbs, const struct tap_process *process,
		const struct tap_event *event);
int tap_qp_handle(struct tap_verbs *verbs, const struct tap_process *process,
		  const struct tap_event *event, bool is_made);
int tap_qp_memory(struct tap_verbs *verbs, const struct tap_process *process,
		  const struct tap_event *event, bool is_made);

/* A request on a life that nothing is known of: its connection was missed. */
void tap_qp_note_missed(struct tap_verbs *verbs, const struct tap_life *life);

/* Whether the ordinals of two lives that are each other's peers can be trusted. */
bool tap_life_is_sure(struct tap_verbs *verbs, const struct tap_life *life);

/* Whether no other queue pair, and no life before, has used its shared receive queue. */
bool tap_life_is_alone(struct tap_verbs *verbs, const struct tap_life *life);

/* The memory region that has these bytes now for those who talk to qp, or NULL. */
const struct tap_mr *tap_qp_find_memory(const struct tap_verbs *verbs,
					const struct tap_qp *qp, uint64_t rkey,
					uint64_t addr, uint64_t length);

/* Whether there is a memory region of just these bytes. */
bool tap_qp_has_region(const struct tap_verbs *verbs, const struct tap_process *process,
		       uint64_t addr, uint64_t length);

/*
 * The datagram queue pair that a handle leads to, or NULL: none, or not one alone.  A
 * guess by its number, where its addresses are not known.
 */
struct tap_life *tap_qp_find_datagram(struct tap_verbs *verbs,
				      const struct tap_process *process, uint64_t ah_id,
				      uint64_t qp_num, bool *is_guess);

void tap_qps_free(struct tap_verbs *verbs);

#endif
