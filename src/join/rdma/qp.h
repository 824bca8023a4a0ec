/* SPDX-License-Identifier: MIT */
/*
 * Queue pairs and their connections, with the verbs objects that connections depend on:
 * shared receive queues, address handles, ports.
 *
 * The reader identifies a queue pair by (process, the tracer's number), not by qp_num:
 * two devices may use the same qp_num, and a device reuses it.  A reset begins a new
 * generation of the queue pair.  Hides how peer generations are matched across processes
 * and hosts without comparing times, and how certain a match is.
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

	/* The connection, as the program set it up. */
	struct tap_address local, remote;
	uint64_t dest_qp_num;
	uint64_t sq_psn, rq_psn;
	bool is_global;
	bool has_remote, has_sq_psn, has_rq_psn;
	bool is_from_statedump; /* connected before recording began */
	uint64_t ordinal;	/* among generations with these addresses, 0: not filed */
	struct tap_generation *next; /* with the same addresses */
	struct tap_generation *peer; /* NULL unknown */
	bool is_doubtful;	     /* the PSNs of the two disagree */
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
	int64_t tid; /* of the thread that made it, -1 unknown */
	int64_t made_ns; /* when that was; INT64_MIN unknown */
	void *observed; /* data of the observer */
	bool is_sig_all;
	bool is_known; /* its creation or state dump is in the trace */
	bool is_over;
	struct tap_generation *generations; /* newest first */
	struct tap_qp *next;		    /* of all */
	struct tap_qp *same_number;	    /* datagram queue pairs of equal qp_num */
};

struct tap_srq {
	uint64_t number; /* ordinal among all */
	uint64_t qps;	 /* queue pairs seen to use it */
	bool has_same;	 /* two open receives had equal wr_id */
	struct tap_work_queue receives;
	struct tap_srq *next;
};

/* How much of a process's verbs set-up is in the trace. */
struct tap_rdma_process {
	uint64_t first_qp; /* lowest number seen created */
	uint64_t last_qp;
	uint64_t qps;  /* queue pairs seen created */
	bool has_hole; /* events of a connection are missing */
	struct tap_port *ports;
	struct tap_rdma_process *next;
};

/* Empty when all zero. */
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

/* What an event changed; the caller handles the changes in this order.  NULL: none. */
struct tap_qp_change {
	struct tap_qp *destroyed;
	struct tap_generation *ended; /* no more requests complete in its queues */
	struct tap_generation *met;   /* now has a peer */
};

/* Each finds or makes its object; NULL when memory is short. */
struct tap_qp *tap_qp_get(struct tap_qps *qps, const struct tap_process *process,
			  uint64_t id);
struct tap_generation *tap_qp_generation(struct tap_qp *qp, uint64_t number);
struct tap_srq *tap_srq_get(struct tap_qps *qps, const struct tap_process *process,
			    uint64_t id);

/* Each returns NULL where there is no such object. */
struct tap_generation *tap_qp_find_generation(const struct tap_qp *qp, uint64_t number);
struct tap_srq *tap_srq_find(const struct tap_qps *qps, const struct tap_process *process,
			     uint64_t id);

/* Counts the completed receive `ordinal`. */
static inline void tap_generation_count_receive(struct tap_generation *generation,
						uint64_t ordinal)
{
	if (ordinal != generation->received + 1)
		generation->has_missed_receive = true;
	generation->received = ordinal;
}

/* Names request `seq` in one of the generation's queues. */
struct tap_work tap_generation_work(const struct tap_generation *generation,
				    enum tap_work_kind kind, uint64_t seq);

/* Makes the record of a process, in which holes are noted.  Returns 0 or -ENOMEM. */
int tap_qps_add_process(struct tap_qps *qps, const struct tap_process *process);

/*
 * Each takes an event of its kind; the caller passes a change of all NULL.  Returns 0 or
 * -errno.
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

/* Notes a hole when a request is posted to a generation whose connection was missed. */
void tap_qp_note_missed(struct tap_qps *qps, const struct tap_generation *generation);

/* Whether the ordinals of a generation and its peer can be trusted. */
bool tap_generation_is_sure(const struct tap_qps *qps,
			    const struct tap_generation *generation);

/* Whether this end's can be, whatever is known of the peer. */
bool tap_generation_is_sure_here(const struct tap_qps *qps,
				 const struct tap_generation *generation);

/*
 * Whether no other queue pair and no earlier generation has used its shared receive
 * queue.
 */
bool tap_generation_is_alone(const struct tap_qps *qps,
			     const struct tap_generation *generation);

/*
 * The datagram queue pair that an address handle and a qp_num lead to; NULL where there
 * is none, or several.  *is_guess: only qp_num matches, the queue pair's addresses are
 * not known.
 */
struct tap_generation *tap_qp_find_datagram(const struct tap_qps *qps,
					    const struct tap_process *process,
					    uint64_t ah_id, uint64_t qp_num,
					    bool *is_guess);

void tap_qps_free(struct tap_qps *qps);

#endif
