/* SPDX-License-Identifier: MIT */
/*
 * What the parts of softverbs share.  softverbs stands in for libibverbs and the adapters
 * below it, between the processes of one host, so that programs that talk RDMA can be
 * tested where there is no adapter.  It hides how messages travel: within a process they
 * are carried out by the thread that posts, between processes through shared memory, by
 * who polls a completion queue, or by a thread that sleeps when nothing comes.
 *
 * One lock, soft_lock, guards everything but the reading end of a completion queue;
 * functions here are called with it held where they do not say otherwise.
 */
#ifndef SOFT_H
#define SOFT_H

#include <infiniband/verbs.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define SOFT_MAX_PORTS 4
#define SOFT_GIDS 2
#define SOFT_GID_TABLE 1024
#define SOFT_MAX_SGE 32
#define SOFT_MAX_WR 16384
#define SOFT_MAX_CQE 4194303
#define SOFT_MAX_INLINE 1024
#define SOFT_MAX_DEVICES 16
#define SOFT_HOSTS 256
#define SOFT_MAX_SLOTS 256
#define SOFT_MAX_QPS 0x10000
#define SOFT_MAX_MESSAGE (1U << 30)
#define SOFT_MTU_BYTES 4096
#define SOFT_MAX_NULL (1U << 20)
#define SOFT_PSN_MASK 0xffffffU
#define SOFT_NEVER UINT64_MAX

#define soft_of(pointer, type, member) \
	((type *) ((char *) (pointer) -offsetof(type, member)))

/* What the environment asks for: README. */
struct soft_settings {
	int devices;
	unsigned int ports; /* of each */
	unsigned int host;
	bool is_infiniband;
	const char *fabric;
	const char *sysfs; /* folder of the adapters' own folders */
	/* Faults: the number of the request of each queue pair that they hit; 0: none. */
	uint32_t rnr_at;
	uint32_t retry_at;
	uint32_t flush_at;
	uint32_t fatal_at;
	uint32_t lost_at;
	uint32_t loss_every;
	/* Faults by chance: of how many of a hundred requests. */
	uint64_t seed;
	double loss_percent;
	double resend_percent;
	uint64_t resend_ns;
	double late_percent;
	uint64_t late_ns;
	/* What an adapter sends; 0: as much as it is given. */
	uint64_t bytes_per_us[SOFT_MAX_DEVICES];
	uint64_t delay_ns;
	/* More of it, towards this host. */
	unsigned int slow_host;
	uint64_t slow_ns;
};

/* Where a queue pair is: the adapter, the slot within it that its context has, and by
 * which port it is reached. */
struct soft_place {
	uint16_t host;
	uint16_t device;
	uint16_t slot;
	/* Of an address; the place of a context has none. */
	uint16_t port;
};

struct soft_wire;

struct soft_device {
	struct ibv_device base;
	int index;
};

struct soft_pd {
	struct ibv_pd base;
	int users;
};

struct soft_mr {
	struct ibv_mr base;
	uint64_t iova;
	unsigned int access;
	bool is_null;
	bool is_window;
};

/* Of type 2: bound by a request, to a part of a region. */
struct soft_mw {
	struct ibv_mw base;
	struct soft_mr window;
};

struct soft_context {
	struct verbs_context verbs;
	LIST_ENTRY(soft_context) link;
	struct soft_place place;
	int listen_fd;
	int async_write_fd;
	uint32_t next_qp;
	struct soft_qp **qps;
	struct soft_mr **mrs;
	uint32_t mr_count;
	uint32_t mr_generation;
	LIST_HEAD(, soft_cq) cqs;
	LIST_HEAD(, soft_srq) srqs;
};

struct soft_channel {
	struct ibv_comp_channel base;
	int write_fd;
};

struct soft_completion {
	struct ibv_wc wc;
	uint64_t time_ns;
};

struct soft_cq {
	/* The first fields are those of struct ibv_cq. */
	struct ibv_cq_ex ex;
	LIST_ENTRY(soft_cq) link;
	int users;
	bool has_time;
	bool is_overrun;
	enum { SOFT_UNARMED, SOFT_ARMED_SOLICITED, SOFT_ARMED } armed;
	uint32_t comp_events;
	uint32_t async_events;
	/* Readers take turns by this lock; the writer has soft_lock. */
	pthread_mutex_t read_lock;
	atomic_uint head;
	atomic_uint tail;
	uint32_t mask;
	struct soft_completion *ring;
	struct soft_completion current;
};

struct soft_recv {
	uint64_t wr_id;
	int num_sge;
};

struct soft_recv_queue {
	uint32_t head;
	uint32_t tail;
	uint32_t capacity;
	uint32_t max_sge;
	struct soft_recv *entries;
	struct ibv_sge *sges;
};

struct soft_srq {
	struct ibv_srq base;
	LIST_ENTRY(soft_srq) link;
	int users;
	uint32_t limit;
	uint32_t async_events;
	struct soft_recv_queue queue;
};

struct soft_ah {
	struct ibv_ah base;
	struct ibv_ah_attr attr;
};

struct soft_send {
	uint64_t wr_id;
	uint64_t remote_addr;
	uint64_t compare_add;
	uint64_t swap;
	/* Not before this time does it leave: an injected delay. */
	uint64_t due_ns;
	uint32_t imm_data;
	uint32_t rkey;
	uint32_t psn;
	/* Which request of the queue pair this is, counted from 1. */
	uint32_t number;
	unsigned int flags;
	enum ibv_wr_opcode opcode;
	int num_sge;
	uint32_t inline_size;
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	struct ibv_ah_attr address;
	struct ibv_mw *mw;
	struct ibv_mw_bind_info bind;
};

/* A piece of memory of this process that is read or written. */
struct soft_span {
	char *data;
	size_t size;
};

/* How a request is answered. */
enum soft_answer {
	SOFT_DONE,
	/* Not at all: nobody is there who would. */
	SOFT_SILENCE,
	SOFT_RNR_EXCEEDED,
	SOFT_INVALID_REQUEST,
	SOFT_ACCESS_ERROR,
	SOFT_OPERATION_ERROR,
};

/* What travels: this, then the payload. */
struct soft_frame {
	uint64_t size;
	uint64_t remote_addr;
	uint64_t length;
	uint64_t compare_add;
	uint64_t swap;
	uint32_t psn;
	uint32_t epoch;
	uint32_t source_qpn;
	uint32_t target_qpn;
	uint32_t imm_data;
	uint32_t rkey;
	uint32_t qkey;
	struct soft_place source;
	struct soft_place target;
	uint16_t source_lid;
	uint8_t is_answer;
	uint8_t answer;
	uint8_t opcode;
	uint8_t qp_type;
	uint8_t is_solicited;
	uint8_t rnr_retry;
	uint8_t has_grh;
	uint8_t service_level;
	union ibv_gid sgid;
	union ibv_gid dgid;
};

/* A request that waits at the target until a receive is posted. */
struct soft_parked {
	STAILQ_ENTRY(soft_parked) link;
	struct soft_frame frame;
	/* NULL: it came from this process. */
	struct soft_wire *wire;
	/* When the requester has no retry left. */
	uint64_t deadline_ns;
	char payload[];
};

struct soft_qp {
	/* The first field is a struct ibv_qp. */
	struct ibv_qp_ex ex;
	LIST_ENTRY(soft_qp) link;
	bool is_extended;
	bool sq_sig_all;
	struct ibv_qp_attr attr;
	struct soft_place remote;
	/* To there, once something went; not of datagrams. */
	struct soft_wire *wire;
	uint32_t async_events;

	/* Sends: [head, next) are on their way, [next, tail) wait to leave. */
	uint32_t head;
	uint32_t next;
	uint32_t tail;
	uint32_t mask;
	struct soft_send *sends;
	struct ibv_sge *send_sges;
	char *inline_data;
	uint32_t psn;
	uint32_t epoch;
	uint32_t requests;
	/* Of those on their way the oldest, whose answers are there but not to be seen
	 * before that time: an injected delay. */
	uint32_t answered;
	uint64_t answered_at;
	/* READs and atomics on their way; a fence waits for them. */
	uint32_t reads;
	bool is_pumping;
	uint8_t retries_left;
	uint64_t retry_at;
	uint64_t due_at;

	/* Receives. */
	struct soft_recv_queue queue;
	uint32_t expected_psn;
	bool is_serving;
	STAILQ_HEAD(, soft_parked) parked;

	/* ibv_wr_start() ... ibv_wr_complete(): the lock is held between them. */
	pthread_mutex_t build_lock;
	uint32_t built;
	int build_error;
};

static inline struct soft_context *soft_context(struct ibv_context *context)
{
	return soft_of(context, struct soft_context, verbs.context);
}

static inline struct soft_cq *soft_cq(struct ibv_cq *cq)
{
	return (struct soft_cq *) cq;
}

static inline struct soft_qp *soft_qp(struct ibv_qp *qp)
{
	return (struct soft_qp *) qp;
}

static inline struct soft_srq *soft_srq(struct ibv_srq *srq)
{
	return (struct soft_srq *) srq;
}

static inline struct soft_pd *soft_pd(struct ibv_pd *pd)
{
	return (struct soft_pd *) pd;
}

extern pthread_mutex_t soft_lock;
extern LIST_HEAD(soft_qps, soft_qp) soft_qps;

/* settings.c */
const struct soft_settings *soft_settings(void);

/* clock.c */
uint64_t soft_now(void);
uint32_t soft_pow2(uint32_t at_least);
uint32_t soft_new_handle(void);

/* address.c */
/* Of an adapter. */
uint64_t soft_guid(unsigned int host, unsigned int device);
bool soft_is_port(unsigned int port);
uint16_t soft_lid(const struct soft_place *place);
void soft_gid(const struct soft_place *place, int index, union ibv_gid *gid);
/* -1: the port has no such GID. */
int soft_gid_index(const struct soft_place *place, const union ibv_gid *gid);
/* -EINVAL: the address is none that this link layer has. */
int soft_resolve(const struct ibv_ah_attr *attr, uint32_t qpn, struct soft_place *place);
/* Whether both are of one context. */
bool soft_same_place(const struct soft_place *one, const struct soft_place *other);

/* memory.c */
struct ibv_mr *soft_alloc_null_mr(struct ibv_pd *pd);
struct ibv_mw *soft_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int soft_dealloc_mw(struct ibv_mw *mw);
/* -EINVAL: it is not bound, or may not be. */
int soft_bind(struct ibv_pd *pd, struct ibv_mw *mw, uint32_t rkey,
	      const struct ibv_mw_bind_info *bind);
int soft_invalidate(struct ibv_pd *pd, uint32_t rkey);
/* NULL: the key, the range or the access is wrong. */
char *soft_memory(struct ibv_pd *pd, uint32_t key, uint64_t address, uint64_t size,
		  unsigned int access);
/* The pieces that a list names, or -EINVAL; of the whole list or of its first bytes. */
int soft_spans(struct ibv_pd *pd, const struct ibv_sge *sges, int num_sge,
	       unsigned int access, struct soft_span *spans);
size_t soft_span_bytes(const struct soft_span *spans, int count);
void soft_copy(struct soft_span *to, int num_to, const struct soft_span *from,
	       int num_from);

/* cq.c */
void soft_complete(struct soft_cq *cq, const struct ibv_wc *wc, bool is_solicited);
int soft_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int soft_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *soft_create_cq_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *attr);
int soft_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);

/* async.c */
void soft_event_device(struct ibv_context *context, enum ibv_event_type type);
void soft_event_qp(struct soft_qp *qp, enum ibv_event_type type);
void soft_event_cq(struct soft_cq *cq, enum ibv_event_type type);
void soft_event_srq(struct soft_srq *srq, enum ibv_event_type type);
/* Takes soft_lock away while it waits until what was read was acknowledged. */
void soft_wait_acknowledged(pthread_mutex_t *mutex, pthread_cond_t *cond,
			    const uint32_t *completed, uint32_t events);

/* receive.c */
int soft_recv_queue_init(struct soft_recv_queue *queue, uint32_t max_wr,
			 uint32_t max_sge);
void soft_recv_queue_free(struct soft_recv_queue *queue);
int soft_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int soft_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad);
/* The receive that comes next, or NULL. */
struct soft_recv *soft_recv_first(struct soft_qp *qp, struct ibv_sge **sges);
void soft_recv_take(struct soft_qp *qp);
void soft_recv_flush(struct soft_qp *qp);

/* state.c */
int soft_check_transition(enum ibv_qp_type type, enum ibv_qp_state from,
			  enum ibv_qp_state to, int mask);

/* qp.c */
struct ibv_qp *soft_create_qp_ex(struct ibv_context *context,
				 struct ibv_qp_init_attr_ex *attr);
struct soft_qp *soft_qp_at(const struct soft_place *place, uint32_t qpn);
/* To the error state; everything that waits is flushed, in order. */
void soft_qp_fail(struct soft_qp *qp);
/* The adapter is gone: so do all of its queue pairs. */
void soft_device_fail(struct ibv_context *context);

/* post.c */
int soft_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
void soft_build_init(struct soft_qp *qp, uint64_t operations);

/* request.c */
/* What a request moves. */
uint32_t soft_send_bytes(struct soft_qp *qp, uint32_t position);
/* Lets leave what may. */
void soft_pump(struct soft_qp *qp);
void soft_send_flush(struct soft_qp *qp);
void soft_take_answer(const struct soft_frame *answer, struct soft_span *payload);
/* The way to that place broke. */
void soft_unreachable(const struct soft_place *place);
void soft_request_timer(struct soft_qp *qp, uint64_t now);

/* All queue pairs of the process: nobody answers what is on its way. */
void soft_unanswered(void);

/* faults.c */
/* When a request leaves that is posted now; 0: at once. */
uint64_t soft_fault_due(const struct soft_qp *qp, const struct soft_send *send,
			uint64_t bytes);
bool soft_fault_loses(const struct soft_qp *qp, const struct soft_send *send);
/* How much later than it is there its answer is seen, in nanoseconds. */
uint64_t soft_fault_late(const struct soft_qp *qp, const struct soft_send *send);
enum ibv_wc_status soft_fault_status(const struct soft_qp *qp,
				     const struct soft_send *send, bool consumes_receive);
/* Whether the adapters of this process hear and say nothing any more. */
bool soft_fault_is_silent(void);
/* Whether they begin to with this request. */
bool soft_fault_silences(const struct soft_send *send);

/* respond.c */
void soft_respond(struct soft_wire *wire, const struct soft_frame *request,
		  const struct soft_span *payload, int num_spans);
/* A receive was posted: what waited for it goes on. */
void soft_serve_parked(struct soft_qp *qp);
void soft_drop_parked(struct soft_qp *qp);
void soft_forget_wire(const struct soft_wire *wire);
void soft_respond_timer(struct soft_qp *qp, uint64_t now);

struct soft_place soft_port_of(struct ibv_context *context, unsigned int port);

/* link.c */
int soft_wire_listen(struct soft_context *context);
void soft_wire_unlisten(struct soft_context *context);
/* The context of this process that is there, or NULL. */
struct soft_context *soft_context_at(const struct soft_place *place);
/* NULL: nobody listens there. */
struct soft_wire *soft_wire_to(const struct soft_place *place);

/* wire.c */
bool soft_wire_is_full(const struct soft_wire *wire);
void soft_wire_send(struct soft_wire *wire, const struct soft_frame *frame,
		    const struct soft_span *spans, int num_spans);
/* What is sent after the first call leaves with the second. */
void soft_wire_hold(struct soft_wire *wire);
void soft_wire_release(struct soft_wire *wire);
void soft_timer(uint64_t at);
/* Does what has come in; called without soft_lock. */
void soft_progress(void);

#endif
