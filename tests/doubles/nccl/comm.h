/* SPDX-License-Identifier: MIT */
/*
 * The communicator, from its allocation to its end.  `*newcomm` is set before
 * the ranks have met, as NCCL does it, so that a communicator that hangs in its
 * initialisation can be aborted.
 */
#ifndef MINI_NCCL_COMM_H
#define MINI_NCCL_COMM_H

#include "bootstrap.h"
#include "driver.h"
#include "proxy.h"

#define MINI_COMM_MAGIC 0x6d696e696e63636cULL

struct mini_peer {
	struct sockaddr_in address;
	uint64_t host_hash;
	int device;
};

struct ncclComm {
	uint64_t magic;
	int rank;
	int nranks;
	int device;
	CUcontext context;
	CUmodule module;
	CUfunction kernel;
	/* Equal on all ranks, and the magic number of all its connections. */
	uint64_t hash;
	bool is_nonblocking;
	bool is_finalized;
	/* How often it was split, for the hash of the next child. */
	unsigned int split_count;
	struct mini_bootstrap bootstrap;
	struct mini_peer *peers;
	struct mini_proxy proxy;
	/* Ends every wait; set once, by ncclCommAbort(). */
	atomic_bool aborted;
	/* What ncclCommGetAsyncError() returns: an ncclResult_t. */
	atomic_int async_result;

	/* Guards `jobs`: how many threads work on the communicator in the background. */
	pthread_mutex_t lock;
	pthread_cond_t idle;
	unsigned int jobs;
};

/* How a communicator comes to be: an argument of its initialisation. */
struct mini_comm_request {
	struct ncclComm *comm;
	ncclUniqueId id;
	/* Set for a split, which has no id. */
	struct ncclComm *parent;
	ncclComm_t *newcomm;
	/* Takes part in a split without becoming a member of any child. */
	bool is_outside;
	int color;
	int key;
};

/* ncclInvalidArgument for what is no communicator. */
ncclResult_t mini_comm_check(const struct ncclComm *comm, const char *function);
/* Also fails while a background job of a nonblocking communicator is running. */
ncclResult_t mini_comm_ensure_ready(struct ncclComm *comm, const char *function);
/* What is wrong with a configuration, which may be NULL. */
ncclResult_t mini_config_check(const ncclConfig_t *config);

/* On the current device.  Rank and size are known later for a split: 0. */
ncclResult_t mini_comm_create(struct ncclComm **ret_comm, int nranks, int rank,
			      const ncclConfig_t *config);
/*
 * Waits for all ranks.  `argument` is a struct mini_comm_request, freed here.  Of
 * a nonblocking communicator a job was begun before, which ends here.
 */
ncclResult_t mini_comm_init(void *argument);
/* Instead of the above, when the ranks are not to meet after all. */
void mini_comm_cancel(void *argument);
/* Waits until all work is done.  `argument` is the communicator. */
ncclResult_t mini_comm_finish(void *argument);
/* Waits for background jobs and kernels, then gives everything back. */
void mini_comm_destroy(struct ncclComm *comm);
void mini_comm_abort(struct ncclComm *comm);

void mini_comm_begin_job(struct ncclComm *comm);
void mini_comm_end_job(struct ncclComm *comm, ncclResult_t result);

#endif
