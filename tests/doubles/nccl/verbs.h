/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the verbs transport share, which does what NET/IB of NCCL does
 * where it can be seen from outside.  "NCCL 2.28.9: 1234" in a comment is line 1234 of
 * its transport/net_ib.cc, the place of what is imitated.
 *
 * Not imitated: several devices merged to one, so that a connection has one device and,
 * with one queue pair per connection, one queue pair; enhanced connection establishment;
 * DMA-BUF; and the pool of buffers that all connections to one peer share point to point.
 */
#ifndef MINI_NCCL_VERBS_H
#define MINI_NCCL_VERBS_H

#include "transport.h"

#include <infiniband/verbs.h>
#include <pthread.h>

/* NCCL 2.28.9: 960 and 961. */
#define MINI_IB_REQUESTS 256
#define MINI_IB_MAX_DEVICES 16
/* NCCL_NET_IB: at most that many devices make one. */
#define MINI_IB_MERGED 4

/* The protocols, each of which has its own region per connection. */
enum { MINI_LL, MINI_LL128, MINI_SIMPLE, MINI_PROTOCOLS };

/* libibverbs, which NCCL opens itself (NCCL 2.28.9, misc/ibvsymbols.cc:66-152). */
struct mini_verbs {
	struct ibv_device **(*get_device_list)(int *count);
	void (*free_device_list)(struct ibv_device **list);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	int (*get_async_event)(struct ibv_context *context,
			       struct ibv_async_event *event);
	void (*ack_async_event)(struct ibv_async_event *event);
	int (*query_device)(struct ibv_context *context, struct ibv_device_attr *attr);
	int (*query_port)(struct ibv_context *context, uint8_t port,
			  struct ibv_port_attr *attr);
	int (*query_gid)(struct ibv_context *context, uint8_t port, int index,
			 union ibv_gid *gid);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			struct ibv_qp_init_attr *init);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	int (*dealloc_pd)(struct ibv_pd *pd);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *address, size_t size,
				 int access);
	/* NULL before rdma-core 28. */
	struct ibv_mr *(*reg_mr_iova2)(struct ibv_pd *pd, void *address, size_t size,
				       uint64_t iova, unsigned int access);
	int (*dereg_mr)(struct ibv_mr *mr);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int size,
				    void *cq_context, struct ibv_comp_channel *channel,
				    int vector);
	int (*destroy_cq)(struct ibv_cq *cq);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*destroy_qp)(struct ibv_qp *qp);
	int (*fork_init)(void);
	const char *(*event_type_str)(enum ibv_event_type type);
};

extern struct mini_verbs mini_verbs;

/* Whether libibverbs is there with all of that. */
bool mini_verbs_load(void);
/* A number from the environment. */
int mini_verbs_setting(const char *name, int otherwise);

/* What a queue pair or completion queue has as its context; NCCL's ncclIbStats. */
struct mini_ib_stats {
	/* Errors that only the thread for asynchronous events was told of. */
	atomic_int fatal;
};

struct mini_device {
	struct ibv_context *context;
	const char *name;
	uint8_t port;
	struct ibv_port_attr port_attr;
	bool has_adaptive_routing;
	struct mini_ib_stats stats;
	/* Guards what follows: a protection domain lasts as long as its users. */
	pthread_mutex_t lock;
	struct ibv_pd *pd;
	int pd_users;
};

/* Opens them the first time: how many there are. */
int mini_devices_open(void);
/* That of a channel. */
struct mini_device *mini_device(int channel);

/* One entry of the list in which a receiver tells a sender that it may send. */
struct mini_clear {
	uint64_t address;
	uint64_t size;
	uint32_t rkeys[MINI_IB_MERGED];
	uint32_t count;
	uint32_t tag;
	/* Counted from 1, and the last thing that the sender looks at. */
	uint64_t number;
	char padding[16];
};

/* What a wr_id counts. */
struct mini_wire_request {
	enum { MINI_WIRE_FREE, MINI_WIRE_SEND, MINI_WIRE_RECV, MINI_WIRE_FLUSH } type;
	/* Completions that are still to come. */
	int events;
	struct mini_request *request;
};

/* What the caller of isend() and irecv() holds. */
struct mini_request {
	struct mini_connection *connection;
	struct mini_wire_request *wire;
	bool is_busy;
	bool is_flushed;
	int count;
	/* Where in the connection's region; the first of them, they follow each other. */
	uint64_t step;
	/* Of a receive: which of the list, and where its data has to go. */
	int slot;
	void *data[MINI_MAX_RECEIVES];
	size_t sizes[MINI_MAX_RECEIVES];
	struct mini_way way;
};

/* What the ends tell each other about a connection. */
struct mini_metadata {
	uint32_t qp_nums[MINI_MAX_QPS];
	int32_t qp_count;
	uint32_t lid;
	uint32_t port;
	uint32_t mtu;
	uint32_t link_layer;
	union ibv_gid gid;
	/* The sender's list of clears, or the receiver's of sizes. */
	uint32_t fifo_rkey;
	uint64_t fifo_address;
};

struct mini_connection {
	/* The sender's is written by the receiver, which has a copy. */
	struct mini_clear clears[MINI_IB_REQUESTS][MINI_MAX_RECEIVES];
	/* And this the other way round. */
	int32_t sizes[MINI_IB_REQUESTS][MINI_MAX_RECEIVES];
	struct mini_ib_stats stats;
	bool is_send;
	int fd;
	int index;
	struct mini_device *device;
	int gid_index;
	union ibv_gid gid;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qps[MINI_MAX_QPS];
	int qp_count;
	int next_qp;
	struct ibv_mr *clears_mr;
	struct ibv_mr *sizes_mr;
	/* Registered by the sender in 2.28; only NCCL's device API uses it. */
	uint64_t scratchpad;
	struct ibv_mr *scratchpad_mr;
	/* Reads from itself what has arrived, so that a GPU sees it; NULL without need.
	 */
	struct ibv_qp *flush_qp;
	struct ibv_mr *flush_mr;
	int flush_byte;
	/* What the other end said, and how much of it is there. */
	struct mini_metadata remote;
	int ready;
	size_t received;

	char *buffers;
	struct ibv_mr *buffer_mrs[MINI_PROTOCOLS];
	/* Messages that were begun, and that are done: the steps of the region. */
	uint64_t begun;
	uint64_t done;
	/* Lists of clears that were written, or answered. */
	uint64_t lists;
	/* The sends that answer the list that is next. */
	struct mini_request *matched[MINI_MAX_RECEIVES];
	struct mini_wire_request wires[MINI_IB_REQUESTS];
	struct mini_request requests[MINI_STEPS];
};

/* For struct mini_transport. */
int mini_verbs_connect(const struct sockaddr_in *address, uint64_t magic,
		       const struct mini_connect_info *info, const atomic_bool *aborted,
		       struct mini_connection **ret_connection);
int mini_verbs_accept(int listen_fd, uint64_t magic, struct mini_connect_info *ret_info,
		      const atomic_bool *aborted,
		      struct mini_connection **ret_connection);
int mini_verbs_finish(struct mini_connection *connection);
void mini_verbs_close(struct mini_connection *connection);
/* The place of a step in the region of the protocol SIMPLE. */
char *mini_verbs_step(const struct mini_connection *connection, uint64_t step);

#endif
