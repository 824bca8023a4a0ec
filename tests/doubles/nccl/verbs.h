/* SPDX-License-Identifier: MIT */
/*
 * Why: NET/IB of NCCL is what a tracer sees most of; here is what it does, by release.
 * Hides from the files of this network what libibverbs is, and what differs between the
 * releases.  "NCCL 2.28.9: 1234" in a comment is line 1234 of its transport/net_ib.cc,
 * "NCCL 2.30.7, p2p.cc: 123" of its transport/net_ib/p2p.cc: the place of what is
 * imitated.
 *
 * Not imitated: DMA-BUF, what NCCL_IB_RESILIENCY_PORT_FAILOVER does once a port has
 * failed, receive queues that are out of order, and what the device API does.
 */
#ifndef MINI_NCCL_VERBS_H
#define MINI_NCCL_VERBS_H

#include "net.h"
#include "stream.h"

#include <infiniband/verbs.h>
#include <pthread.h>

/* NCCL 2.28.9: 971 and 102. */
#define MINI_IB_MAX_SLOTS 256
#define MINI_IB_MAX_DEVICES 32
#define MINI_IB_MAX_NICS 256
/* At most that many devices make one. */
#define MINI_IB_MERGED 4
/* NCCL 2.30.7, p2p.h: what the wr_id of a flush is counted from. */
#define MINI_IB_FLUSH_ID 0x1000

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
	/* These four are NULL where rdma-core is older than they. */
	struct ibv_mr *(*reg_mr_iova2)(struct ibv_pd *pd, void *address, size_t size,
				       uint64_t iova, unsigned int access);
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t size,
					uint64_t iova, int fd, int access);
	int (*query_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
	int (*set_ece)(struct ibv_qp *qp, struct ibv_ece *ece);
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

/* What differs between releases, that of the process. */
struct mini_ib_rules {
	/* The first that has it so. */
	int since;
	/* Entries of the list of clears, and bytes of one. */
	int slots;
	size_t clear_bytes;
	/* Bytes of a row of sizes at the receiver; 0: there are none. */
	size_t record_bytes;
	int merged;
	/* Whether NCCL_IB_SPLIT_DATA_ON_QPS is set where it is not said. */
	bool splits;
	/* All queues of a connection have the same context. */
	bool has_context;
	/* The ends tell each other first what their adapters are. */
	bool tells_devices;
	bool has_ece;
	/* The sender registers a place for atomic operations, and receivers permit them.
	 */
	bool has_atomics;
	bool is_big_endian;
	/* wr_id is the slot, receives may be posted beforehand, queues have other
	 * lengths. */
	bool is_new;
	/* The queue pairs that carry a list begin one after those of the last list. */
	bool turns_by_list;
	/* The receiver's queue pairs may be read from. */
	bool permits_reads;
	/* The queue pairs of flushes are made with the first flush. */
	bool flushes_late;
};

const struct mini_ib_rules *mini_ib_rules(void);

/* What a queue pair or completion queue has as its context; NCCL's ncclIbStats. */
struct mini_ib_stats {
	/* Errors that only the thread for asynchronous events was told of. */
	atomic_int fatal;
};

/* NCCL keeps regions by page, to give one out again (verbs_memory.c says which). */
struct mini_ib_cached {
	uintptr_t address;
	size_t pages;
	int users;
	struct ibv_mr *mr;
};

struct mini_ib_device {
	struct ibv_context *context;
	const char *name;
	uint8_t port;
	struct ibv_port_attr attr;
	bool has_adaptive_routing;
	struct mini_ib_stats stats;
	/* Guards what follows: a protection domain lasts as long as its users. */
	pthread_mutex_t lock;
	struct ibv_pd *pd;
	int pd_users;
	struct mini_ib_cached *cache;
	int cached;
};

/* One adapter, or several that are used as one. */
struct mini_ib_nic {
	int count;
	int devices[MINI_IB_MERGED];
	char name[128];
	/* Whether the kernel was asked for DMA-BUF with it. */
	bool is_asked;
};

/* Opens them the first time: how many there are. */
int mini_ib_open(void);
/* How many there are with those that were merged; the adapters come first. */
int mini_ib_nics(void);
struct mini_ib_nic *mini_ib_nic(int nic);
struct mini_ib_device *mini_ib_device(int device);
/* -EINVAL where they cannot be one. */
int mini_ib_merge(const int *devices, int count, int *ret_nic);
/* That of a channel: one that NCCL_NET_FORCE_MERGE makes, or an adapter. */
int mini_ib_nic_of(int channel);
/* Whether a GPU's memory is received into, so that what came must be flushed. */
bool mini_ib_flushes(struct mini_ib_nic *nic);

/* What the receiver tells in an entry of the list. */
struct mini_clear {
	uint64_t address;
	uint64_t size;
	uint32_t rkeys[MINI_IB_MERGED];
	uint32_t count;
	uint32_t tag;
	/* Counted from 1. */
	uint64_t number;
};

/* The entry in the form of the release. */
void mini_clear_write(unsigned char *entry, const struct mini_clear *clear);
/* Its number alone, which comes last; then all of it. */
uint64_t mini_clear_number(const unsigned char *entry);
void mini_clear_read(const unsigned char *entry, struct mini_clear *ret_clear);

struct mini_net_region {
	/* One per device. */
	struct ibv_mr *mrs[MINI_IB_MERGED];
};

struct mini_net_request {
	enum { MINI_IB_FREE, MINI_IB_SEND, MINI_IB_RECV, MINI_IB_FLUSH } type;
	struct mini_net_connection *connection;
	/* Completions that are still to come, of each device. */
	int events[MINI_IB_MERGED];
	/* How many messages share the list that it is in. */
	int count;
	/* Which list of the connection it is. */
	uint64_t id;
	uint64_t data;
	uint32_t size;
	uint32_t lkeys[MINI_IB_MERGED];
	/* What pieces had, where nothing else tells the size. */
	uint32_t arrived;
	struct mini_way way;
};

struct mini_ib_qp {
	struct ibv_qp *qp;
	int device;
	int remote_device;
};

/* What a connection has on each of its devices. */
struct mini_ib_side {
	struct mini_ib_device *device;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	int gid_index;
	union ibv_gid gid;
	struct ibv_mr *scratchpad_mr;
	struct ibv_mr *clears_mr;
	struct ibv_mr *sizes_mr;
	/* By which a sender would ask what arrived before a port failed; NULL without. */
	struct ibv_mr *probe_mr;
	struct ibv_cq *probe_cq;
	struct ibv_qp *probe_qp;
	/* Reads from itself what has arrived; NULL without need. */
	struct ibv_qp *flush_qp;
	struct ibv_mr *flush_mr;
};

/* What the ends tell each other of a device; NCCL's ncclIbDevInfo. */
struct mini_ib_device_info {
	uint32_t lid;
	uint8_t port;
	int32_t mtu;
	uint8_t link_layer;
	union ibv_gid gid;
	/* The sender's of its list of clears, or the receiver's of its sizes. */
	uint32_t rkey;
	union ibv_gid unused;
};

/* NCCL's ncclIbConnectionMetadata. */
struct mini_ib_metadata {
	struct {
		uint32_t qp_num;
		struct ibv_ece ece;
		int32_t has_ece;
		int32_t device;
	} qps[MINI_MAX_QPS];
	/* From 2.29.7 on: of the probes. */
	uint32_t probes[MINI_IB_MERGED];
	struct mini_ib_device_info devices[MINI_IB_MERGED];
	char name[336];
	uint64_t address;
	int32_t device_count;
	int32_t traffic_class;
	int32_t service_level;
};

struct mini_net_connection {
	/* The sender's is written by the receiver, which has a copy. */
	unsigned char clears[MINI_IB_MAX_SLOTS * MINI_MAX_RECEIVES * 64];
	/* The receiver's, in rows of the release's length, and the sender's copy. */
	unsigned char records[MINI_IB_MAX_SLOTS * 160];
	int32_t sizes[MINI_IB_MAX_SLOTS][MINI_MAX_RECEIVES];
	/* Only NCCL's device API uses it. */
	uint64_t scratchpad;
	int32_t flush_word;
	/* What the answers to probes would be written to. */
	unsigned char probed[MINI_IB_MAX_SLOTS * 128];
	struct mini_ib_stats stats;
	bool is_send;
	bool is_split;
	bool is_by_id;
	bool is_preposted;
	/* Prepared for the failure of a port. */
	bool is_resilient;
	bool has_adaptive_routing;
	bool flushes;
	/* What the queue pairs have room for inline. */
	uint32_t inline_room;
	struct mini_stream stream;
	struct mini_ib_nic *nic;
	struct mini_ib_side sides[MINI_IB_MERGED];
	int side_count;
	struct mini_ib_qp qps[MINI_MAX_QPS];
	int qp_count;
	int data_qps;
	struct mini_ib_metadata local;
	struct mini_ib_metadata remote;
	int32_t ready;
	/* Lists that were written, or answered. */
	uint64_t lists;
	/* Up to 2.28: the queue pair, and the device of the next list of clears. */
	int next_qp;
	int next_device;
	/* The sends that answer a list, and of how many of them have not been told. */
	struct mini_net_request *matched[MINI_IB_MAX_SLOTS][MINI_MAX_RECEIVES];
	int matches[MINI_IB_MAX_SLOTS];
	/* The receives by slot. */
	struct mini_net_request *receives[MINI_IB_MAX_SLOTS];
	struct mini_net_request requests[MINI_IB_MAX_SLOTS];
};

/* verbs_connect.c */
int mini_ib_listen(int nic, void *handle, struct mini_net_listener **ret_listener);
int mini_ib_connect(int nic, void *handle, struct mini_net_connection **ret_connection);
int mini_ib_accept(struct mini_net_listener *listener,
		   struct mini_net_connection **ret_connection);
void mini_ib_close(struct mini_net_connection *connection);
void mini_ib_close_listener(struct mini_net_listener *listener);

struct mini_ib_room {
	int sends;
	int receives;
	unsigned int access;
};

/* verbs_qp.c: queues of one end. */
int mini_ib_create_queues(struct mini_net_connection *connection);
int mini_ib_create_sender_qps(struct mini_net_connection *connection);
int mini_ib_create_receiver_qps(struct mini_net_connection *connection);
int mini_ib_create_flush_qp(struct mini_net_connection *connection, int side);
int mini_ib_ready_sender_qps(struct mini_net_connection *connection);
/* Sends, receives: what a queue pair has room for, and what it may be asked for. */
int mini_ib_create_qp(struct mini_net_connection *connection, struct mini_ib_side *side,
		      struct ibv_cq *cq, const struct mini_ib_room *room,
		      struct ibv_qp **ret_qp);
int mini_ib_ready_qp(const struct mini_net_connection *connection,
		     const struct mini_ib_side *side, struct ibv_qp *qp,
		     uint32_t dest_qp_num, const struct mini_ib_device_info *remote);
/* How many receives each queue pair of data has room for. */
int mini_ib_receives(const struct mini_net_connection *connection);
/* As many receives as fit, on each. */
int mini_ib_prepost(struct mini_net_connection *connection);

/* verbs_probe.c: queues for probes, in the order in which they are made. */
int mini_ib_make_probe_cq(struct mini_net_connection *connection,
			  struct mini_ib_side *side);
int mini_ib_create_probe_qps(struct mini_net_connection *connection);
int mini_ib_ready_probe_qps(struct mini_net_connection *connection);
void mini_ib_close_probe(struct mini_ib_side *side);

/* verbs_memory.c */
int mini_ib_find_gid(struct mini_ib_side *side);
int mini_ib_reg(struct mini_net_connection *connection, void *data, size_t size,
		struct mini_net_region **ret_region);
int mini_ib_dereg(struct mini_net_connection *connection, struct mini_net_region *region);
/* What a flush reads into; once. */
int mini_ib_reg_flush(struct mini_net_connection *connection, int side);
/* A region that no cache has. */
int mini_ib_reg_own(const struct mini_ib_side *side, void *data, size_t size,
		    unsigned int access, struct ibv_mr **ret_mr);

#define MINI_IB_OF_PEERS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

/* verbs_request.c: what sends and receives share. */
bool mini_ib_is_broken(const struct mini_net_connection *connection);
struct mini_net_request *mini_ib_new_request(struct mini_net_connection *connection,
					     int type);
/* Its number in the connection. */
uint64_t mini_ib_number(const struct mini_net_request *request);
int mini_ib_slot(uint64_t id);
/* How many queue pairs carry a piece of each message, and the i-th that is used for it.
 */
int mini_ib_pieces(const struct mini_net_connection *connection);
struct mini_ib_qp *mini_ib_piece_qp(struct mini_net_connection *connection, uint64_t id,
				    int piece);
unsigned char *mini_ib_clear(struct mini_net_connection *connection, int slot, int entry);
/* The sizes that a sender of several messages writes. */
int32_t *mini_ib_record(struct mini_net_connection *connection, int slot);
int mini_ib_post_send(struct ibv_qp *qp, struct ibv_send_wr *list);
int mini_ib_post_recv(struct ibv_qp *qp, uint64_t wr_id);
int mini_ib_test(struct mini_net_request *request, bool *ret_is_done, size_t *ret_sizes,
		 struct mini_way *ret_way);

/* verbs_send.c and verbs_receive.c */
int mini_ib_isend(struct mini_net_connection *connection, const void *data, size_t size,
		  int tag, struct mini_net_region *region,
		  struct mini_net_request **ret_request);
int mini_ib_irecv(struct mini_net_connection *connection, int count, void *const *data,
		  const size_t *sizes, const int *tags,
		  struct mini_net_region *const *regions,
		  struct mini_net_request **ret_request);
int mini_ib_iflush(struct mini_net_connection *connection, int count, void *const *data,
		   const size_t *sizes, struct mini_net_region *const *regions,
		   struct mini_net_request **ret_request);

#endif
