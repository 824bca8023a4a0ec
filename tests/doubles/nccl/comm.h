/* SPDX-License-Identifier: MIT */
/*
 * The communicator, from its allocation to its end.  As in NCCL, `*newcomm` is
 * set before the ranks have met, so that a communicator that hangs in its
 * initialisation can be aborted, but for a child only once it is there.
 */
#ifndef MINI_NCCL_COMM_H
#define MINI_NCCL_COMM_H

#include "bootstrap.h"
#include "copy_engines.h"
#include "driver.h"
#include "profiler.h"
#include "proxy.h"
#include "redop.h"
#include "topology.h"
#include "window.h"

#define MINI_COMM_MAGIC 0x6d696e696e63636cULL

struct mini_peer {
	/* Of its service thread. */
	struct sockaddr_in address;
	/* Where mini_bootstrap_send() reaches it. */
	struct sockaddr_in bootstrap;
	/* Of the RAS thread of its process; zeros: none. */
	struct sockaddr_in ras;
	uint64_t host_hash;
	int device;
	int pid;
	/* Its rank in the communicator whose proxy it uses. */
	int top_rank;
};

struct ncclComm {
	uint64_t magic;
	int rank;
	int nranks;
	int device;
	CUcontext context;
	/* What its kernels are told of it. */
	struct mini_device_comm *device_comm;
	/* Bytes of its ring, or works until 2.21. */
	uint32_t fifo_produced;
	/* Equal on all ranks, and the magic number of all its connections. */
	uint64_t hash;
	/* Among which a collective is divided; the same on all ranks. */
	int channels;
	/* Operators that the program has made. */
	struct mini_redops redops;
	/* How many operations were called. */
	uint64_t op_count;
	bool is_nonblocking;
	/* Whether children by a split or a shrink use its proxy. */
	bool shares_splits;
	bool shares_shrinks;
	bool is_finalized;
	bool is_revoked;
	bool is_suspended;
	/* Set by the calls that take it away, before they do so. */
	bool is_destroyed;
	/* What its initialisation ended with; not to be used unless ncclSuccess. */
	ncclResult_t init_result;
	/* How many children it had, for the hash of the next one. */
	unsigned int child_count;
	/* Being made from this one, and aborted with it; under lock. */
	struct ncclComm *child;
	struct mini_bootstrap bootstrap;
	struct mini_peer *peers;
	struct mini_topology *topology;
	/* The progress thread's: kernels that are not over, and who else has some. */
	struct mini_plan *kernels;
	struct mini_plan *last_kernel;
	struct ncclComm *next_busy;
	/* Its device's room for chunks without flags; NULL until it is needed. */
	char *scratch;
	/* NCCL_CTA_POLICY_...: how much of the GPU collectives may have. */
	int cta_policy;
	struct mini_windows windows;
	struct mini_copy_engines copy_engines;
	struct mini_proxy proxy;
	struct mini_comm_profile profile;
	/* Ends every wait while it is set. */
	atomic_bool aborted;
	/* The result of what runs in the background: an ncclResult_t. */
	atomic_int async_result;

	/* Guards `jobs`: how many threads work on the communicator in the background. */
	pthread_mutex_t lock;
	pthread_cond_t idle;
	unsigned int jobs;

	/* Where this is no communicator any more. */
	struct ncclComm *next_spare;
};

/* How a communicator comes to be: an argument of its initialisation. */
struct mini_comm_request {
	/* NULL where the rank takes part in a split without becoming a member. */
	struct ncclComm *comm;
	/* Owned; a child has a parent instead. */
	ncclUniqueId *ids;
	int id_count;
	struct ncclComm *parent;
	/* Ranks there will be, of the parent's and new ones, which have no parent. */
	int growth;
	uint64_t growth_magic;
	ncclComm_t *newcomm;
	/* A failure takes the communicator away again. */
	bool is_undone;
	int color;
	int key;
	/* Of the parent, sorted and owned; a split excludes none. */
	int *excluded;
	int excluded_count;
	bool is_after_abort;
};

/* Empty; NULL without memory. */
struct mini_comm_request *mini_comm_request(void);
/* Gives it a copy of the ids. */
ncclResult_t mini_comm_request_ids(struct mini_comm_request *request,
				   const ncclUniqueId *ids, int id_count);
void mini_comm_request_free(struct mini_comm_request *request);

/* ncclInvalidArgument for what is no communicator. */
ncclResult_t mini_comm_check(const struct ncclComm *comm, const char *function);
/* What ncclCommGetAsyncError() says. */
ncclResult_t mini_comm_state(const struct ncclComm *comm);
/* Fails with that, or while a background job is running. */
ncclResult_t mini_comm_ensure_ready(struct ncclComm *comm, const char *function);
/* What is wrong with a configuration, which may be NULL. */
ncclResult_t mini_config_check(const ncclConfig_t *config);

/* Equal on all ranks of a child that is the `count`-th of its parent. */
uint64_t mini_comm_child_hash(const struct ncclComm *parent, unsigned int count,
			      int color);
/*
 * On the current device.  Rank and size are known later for a split: 0.  With one whose
 * proxy it uses, unless NULL.
 */
ncclResult_t mini_comm_create(struct ncclComm **ret_comm, int nranks, int rank,
			      const ncclConfig_t *config, struct ncclComm *with);
/* Waits for all ranks.  `argument` is a struct mini_comm_request, freed here. */
ncclResult_t mini_comm_init(void *argument);
/* Instead of the above, when the ranks are not to meet after all. */
void mini_comm_cancel(void *argument);
/* The last part of every initialisation, once the ring of the ranks is closed. */
ncclResult_t mini_comm_meet_peers(struct ncclComm *comm);
/*
 * An id for new ranks, of which the first and the last rank are told; and what
 * these two replace *id by, waiting for it.  0 or -errno.
 */
int mini_comm_invite(struct ncclComm *comm, ncclUniqueId *ret_id);
int mini_comm_wait_for_invitation(struct ncclComm *comm, ncclUniqueId *ret_id,
				  const ncclUniqueId **id);
/* Of the growth that a communicator counts last: equal on all its ranks. */
uint64_t mini_comm_growth_magic(const struct ncclComm *comm);
/* The initialisation of a communicator that has grown. */
ncclResult_t mini_comm_init_grown(const struct mini_comm_request *request);
/* All that collectives may use, before any of them.  0 or -errno. */
int mini_comm_connect_all(struct ncclComm *comm);
/* Waits for all ranks. */
ncclResult_t mini_comm_barrier(struct ncclComm *comm);
/* Waits until all work is done.  `argument` is the communicator. */
ncclResult_t mini_comm_finish(void *argument);
/* After mini_comm_stop(): waits for what that ended, so that one can go on. */
void mini_comm_restart(struct ncclComm *comm);
/* The same, and takes the threads away.  `argument` is the communicator. */
ncclResult_t mini_comm_quiesce(void *argument);
/* Waits for background jobs and kernels, then gives everything back.  Likewise. */
ncclResult_t mini_comm_destroy(void *argument);
/* Ends every wait for the communicator and for the child that it is getting. */
void mini_comm_stop(struct ncclComm *comm);

void mini_comm_begin_job(struct ncclComm *comm);
void mini_comm_end_job(struct ncclComm *comm, ncclResult_t result);

#endif
