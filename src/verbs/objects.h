/* SPDX-License-Identifier: MIT */
/*
 * The live objects of libibverbs, with what a post or a poll needs of each: the
 * provider's function, the owner-biased counter and the ordinals.
 *
 * It hides how objects refer to one another.  Each object keeps the provider's functions
 * itself, since the program may close a context and open another one at its address while
 * the tracer looks.
 */
#ifndef TAP_VERBS_OBJECTS_H
#define TAP_VERBS_OBJECTS_H

#include "calls/verbs_calls.h"
#include "intercept/resolve.h"
#include "tracepoints/verbs_events.h"
#include "verbs/table.h"
#include "verbs/owner_counter.h"

typedef int (*tap_post_send)(struct ibv_qp *, struct ibv_send_wr *,
			     struct ibv_send_wr **);
typedef int (*tap_post_recv)(struct ibv_qp *, struct ibv_recv_wr *,
			     struct ibv_recv_wr **);
typedef int (*tap_post_srq_recv)(struct ibv_srq *, struct ibv_recv_wr *,
				 struct ibv_recv_wr **);
typedef int (*tap_poll_cq)(struct ibv_cq *, int, struct ibv_wc *);

/* The functions that the provider put into a context's table. */
struct tap_real_ops {
	tap_post_send post_send;
	tap_post_recv post_recv;
	tap_post_srq_recv post_srq_recv;
	tap_poll_cq poll_cq;
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *,
				       struct ibv_qp_init_attr_ex *);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *,
					  struct ibv_cq_init_attr_ex *);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *,
					 struct ibv_srq_init_attr_ex *);
	struct ibv_qp *(*open_qp)(struct ibv_context *, struct ibv_qp_open_attr *);
	struct ibv_mr *(*alloc_null_mr)(struct ibv_pd *);
};

struct tap_context {
	struct tap_object head;
	struct tap_real_ops real;
	struct tap_verbs_context about;
	bool is_put_back; /* the provider restored its table; reported once */
	char device[64], provider[256];
	char path[256]; /* in sysfs, "": unknown */
};

struct tap_pd {
	struct tap_object head;
	struct tap_verbs_pd about;
};

struct tap_mr {
	struct tap_object head;
	struct tap_verbs_mr about;
};

struct tap_ah {
	struct tap_object head;
	struct tap_verbs_ah about;
};

struct tap_channel {
	struct tap_object head;
};

struct tap_cq {
	struct tap_object head;
	tap_poll_cq poll;
	struct tap_owner_counter counter;
	struct tap_qp *last; /* the queue pair of the last completion; threads may
			      * share it */
	uint64_t completions;
	/*
	 * Polls that found nothing, reported or not.  Each owner of the counter
	 * increments its own element; all other threads share other_empty_polls.
	 */
	uint32_t empty_polls[TAP_OWNER_COUNTER_OWNERS_MAX], other_empty_polls;
	uint64_t reported_empty_polls; /* by events of completions */
	struct tap_verbs_cq about;
	bool is_metered; /* its completions count for --metrics */
	/* What the watchdog saw last (statedump.c). */
	uint64_t seen_completions, seen_polls;
	int64_t idle_since_ns, due_ns;
	bool is_stuck;
};

/* Empty polls that no event has reported; the caller read `reported` before. */
static inline uint32_t tap_cq_unreported_polls(const struct tap_cq *c, uint64_t reported)
{
	uint32_t polls = __atomic_load_n(&c->other_empty_polls, __ATOMIC_RELAXED);
	int i;

	for (i = 0; i < TAP_OWNER_COUNTER_OWNERS_MAX; i++)
		polls += __atomic_load_n(&c->empty_polls[i], __ATOMIC_RELAXED);
	return polls - (uint32_t) reported;
}

/* Counts an empty poll of the owner with this stage; NULL: of any other thread. */
static inline void tap_cq_count_empty(struct tap_cq *c, uint32_t *stage)
{
	/*
	 * The count lies at a fixed distance from the stage: no index has to be computed.
	 */
	const size_t distance = offsetof(struct tap_cq, empty_polls) -
				offsetof(struct tap_cq, counter.stage);
	uint32_t *count;

	if (unlikely(!stage)) {
		__atomic_fetch_add(&c->other_empty_polls, 1, __ATOMIC_RELAXED);
		return;
	}
	count = (void *) ((char *) stage + distance);
	__atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) + 1,
			 __ATOMIC_RELAXED);
}

struct tap_srq {
	struct tap_object head;
	tap_post_srq_recv post;
	struct tap_owner_counter counter;
	uint32_t posted;
	struct tap_verbs_srq about;
	struct tap_metrics_room room;
};

struct tap_qp {
	struct tap_object head;
	tap_post_send post_send;
	tap_post_recv post_recv;
	bool all_signaled, is_ud;
	uint32_t generation;
	struct tap_owner_counter send_counter, recv_counter;
	struct tap_verbs_qp_counts counts; /* completions: under the counter of their
					    * queue */
	const void *send_cq, *recv_cq;
	/* For --metrics (metered.h). */
	struct tap_metrics_room room;
	struct {
		uint32_t seq;	  /* the signalled request that is being timed, 0: none */
		uint32_t next;	  /* the one that is to be timed next */
		int64_t begin_ns; /* valid while seq is not 0 */
	} timed;
	struct tap_verbs_qp about;
	struct tap_verbs_qp_modify modify;
};

extern struct tap_table tap_contexts tap_hidden, tap_pds tap_hidden, tap_mrs tap_hidden,
	tap_ahs tap_hidden, tap_channels tap_hidden, tap_cqs tap_hidden,
	tap_srqs tap_hidden, tap_qps tap_hidden;

static inline void *tap_find(struct tap_table *table, const void *address)
{
	void *found = tap_table_look(table, address);

	return likely(found) ? found : tap_table_find(table, address);
}

/* For the hot events, whose field has 16 bits: 0 if the generation does not fit. */
static inline uint16_t tap_generation_of(const struct tap_qp *q)
{
	return q->generation > UINT16_MAX ? 0 : (uint16_t) q->generation;
}

/* The number of the object at address; 0 for NULL and for an unknown object. */
uint32_t tap_id_of(struct tap_table *table, const void *address) tap_hidden;

/* Queue pairs are also looked up by number, which is unique within a context. */
void tap_qp_show(struct tap_qp *qp, const struct ibv_qp *at) tap_hidden;
struct tap_qp *tap_qp_hide(const struct ibv_qp *at) tap_hidden;
void tap_qp_free(struct tap_qp *qp) tap_hidden;
struct tap_qp *tap_qp_numbered(uint32_t context_id, uint32_t qp_num) tap_hidden;

/* The functions that the tracer puts into a table. */
int tap_on_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		     struct ibv_send_wr **bad) tap_hidden;
int tap_on_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad) tap_hidden;
int tap_on_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			 struct ibv_recv_wr **bad) tap_hidden;
int tap_on_poll_cq(struct ibv_cq *cq, int nr, struct ibv_wc *wc) tap_hidden;

/*
 * The same where --metrics counts: the functions above have no test for it in the common
 * case, a single request or completion that the queue's owner posts or finds.
 */
int tap_on_post_send_metered(struct ibv_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad) tap_hidden;
int tap_on_post_recv_metered(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			     struct ibv_recv_wr **bad) tap_hidden;
int tap_on_poll_cq_metered(struct ibv_cq *cq, int nr, struct ibv_wc *wc) tap_hidden;

/* Each keeps what is known of an object that was just made, and emits its event. */
void tap_cq_made(struct ibv_cq *cq, struct ibv_comp_channel *channel,
		 bool extended) tap_hidden;
void tap_qp_made(struct ibv_qp *qp, const struct ibv_qp_cap *cap, bool all_signaled,
		 bool extended) tap_hidden;
void tap_srq_made(struct ibv_srq *srq, uint32_t max_wr) tap_hidden;
void tap_mr_made(struct ibv_mr *mr, struct ibv_pd *pd, uint64_t addr, uint64_t length,
		 uint32_t access, enum tap_verbs_mr_kind kind) tap_hidden;

#endif
