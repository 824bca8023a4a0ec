/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs, who is connected with whom, and what else of the verbs set-up that needs:
 * shared receive queues, address handles, ports.
 *
 * A queue pair is (process, number of the tracer's); its qp_num is no identity: two
 * devices have equal ones, and a device gives one out again.  It has generations: a reset
 * begins a new one.  Hides how two generations find each other across processes and
 * hosts, without any time, and how sure that is.
 */
#ifndef TAP_JOIN_RDMA_QP_H
#define TAP_JOIN_RDMA_QP_H

#include "join/base/table.h"
#include "join/model/wire.h"
#include "join/rdma/queue.h"
#include "join/rdma/side.h"

struct tap_event;
struct tap_process;

enum tap_qp_type { TAP_QP_RC = 2, TAP_QP_UC = 3, TAP_QP_UD = 4 };

struct tap_address {
	uint64_t gid_hi, gid_lo;
	uint64_t lid;
};

/* One generation of a queue pair. */
struct tap_generation {
	struct tap_qp *qp;
	uint64_t number; /* from 1 */
	struct tap_generation *older;
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
	bool is_from_statedump; /* it was connected before recording began */
	uint64_t ordinal;      /* among those that had these addresses, 0: not filed */
	struct tap_generation *next; /* of the same addresses */
	struct tap_generation *peer; /* NULL unknown */
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
	struct tap_generation *generations; /* newest first */
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

/* Of a process: what of its set-up is in the trace. */
struct tap_rdma_process {
	uint64_t first_qp; /* the first number that was seen made */
	uint64_t last_qp;
	uint64_t qps;  /* that were seen made */
	bool has_hole; /* something of a connection is missing */
	struct tap_port *ports;
	struct tap_rdma_process *next;
};

/* All zero is none. */
struct tap_qps {
	struct tap_table by_id;	      /* (process, number) */
	struct tap_table srqs;	      /* the same */
	struct tap_table processes;   /* by number */
	struct tap_table connections; /* generations, by (local, remote) */
	struct tap_table handles;     /* by (process, number) */
	struct tap_table datagrams;   /* queue pairs by qp_num */
	struct tap_qp *all;
	struct tap_srq *all_srqs;
	uint64_t srq_count;
	struct tap_rdma_process *all_processes;
};

/* What an event has changed, of which others have to know, in this order; NULL none. */
struct tap_qp_change {
	struct tap_qp *destroyed;
	struct tap_generation *ended; /* nothing completes in its queues any more */
	struct tap_generation *met;   /* that has found its peer */
};

/* NULL when memory is short. */
struct tap_qp *tap_qp_get(struct tap_qps *qps, const struct tap_process *process,
			  uint64_t id);
struct tap_generation *tap_qp_generation(struct tap_qp *qp, uint64_t number);
struct tap_srq *tap_srq_get(struct tap_qps *qps, const struct tap_process *process,
			    uint64_t id);

/* NULL: it has none of this number, or of this process there is none. */
struct tap_generation *tap_qp_find_generation(const struct tap_qp *qp, uint64_t number);
struct tap_srq *tap_srq_find(const struct tap_qps *qps, const struct tap_process *process,
			     uint64_t id);

/* A receive that its peer has filled has completed, the one of this ordinal. */
static inline void tap_generation_count_receive(struct tap_generation *generation,
						uint64_t ordinal)
{
	if (ordinal != generation->received + 1)
		generation->has_missed_receive = true;
	generation->received = ordinal;
}

/* The request of this number in one of the queues of a generation. */
struct tap_work tap_generation_work(const struct tap_generation *generation,
				    enum tap_work_kind kind, uint64_t seq);

/* Of a process of which anything is in the trace, holes are noted.  0 or -ENOMEM. */
int tap_qps_add_process(struct tap_qps *qps, const struct tap_process *process);

/* Each takes an event of its kind; a change is all NULL at first.  Returns 0 or -errno.
 */
int tap_qp_made(struct tap_qps *qps, const struct tap_process *process,
		const struct tap_event *event, bool is_statedump,
		struct tap_qp_change *change);
int tap_qp_modified(struct tap_qps *qps, const struct tap_process *process,
		    const struct tap_event *event, struct tap_qp_change *change);
void tap_qp_destroyed(struct tap_qps *qps, const struct tap_process *process,
		      const struct tap_event *event, struct tap_qp_change *change);
int tap_qp_port(struct tap_qps *qps, const struct tap_process *process,
		const struct tap_event *event);
int tap_qp_handle(struct tap_qps *qps, const struct tap_process *process,
		  const struct tap_event *event, bool is_made);

/* A request on a generation that nothing is known of: its connection was missed. */
void tap_qp_note_missed(struct tap_qps *qps, const struct tap_generation *generation);

/* Whether the ordinals of two generations that are each other's peers can be trusted. */
bool tap_generation_is_sure(const struct tap_qps *qps,
			    const struct tap_generation *generation);

/* Whether no other queue pair, and no generation before, has used its shared receive
 * queue. */
bool tap_generation_is_alone(const struct tap_qps *qps,
			     const struct tap_generation *generation);

/*
 * The datagram queue pair that a handle leads to, or NULL: none, or not one alone.  A
 * guess by its number, where its addresses are not known.
 */
struct tap_generation *tap_qp_find_datagram(const struct tap_qps *qps,
					    const struct tap_process *process,
					    uint64_t ah_id, uint64_t qp_num,
					    bool *is_guess);

void tap_qps_free(struct tap_qps *qps);

#endif
