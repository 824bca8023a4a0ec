/* SPDX-License-Identifier: MIT */
/*
 * What works for communicators: threads, the socket to the first of them, and connections
 * to other ranks.  A child that shares its parent's resources uses all that is the
 * parent's, so a thread may work for several communicators; ranks are counted there as in
 * the communicator that all of it was made for, the top parent.
 *
 * Hides the service thread from the API's threads, and from communicators whether they
 * share.
 */
#ifndef MINI_NCCL_PROXY_H
#define MINI_NCCL_PROXY_H

#include "flow.h"
#include "service_call.h"
#include "shared_memory.h"
#include "thread.h"

/* What a connection is for. */
struct mini_end {
	int peer;
	int channel;
	/* 0 for collectives, 1 for point to point, as NCCL's connIndex. */
	int index;
	bool is_send;
};

/* A connection that is there; the peer is a rank of the top parent. */
struct mini_link {
	struct mini_link *next;
	struct mini_end end;
	struct mini_flow flow;
	/* Of one that another rank posts for. */
	struct mini_shared front;
};

struct mini_guest;
struct mini_inbox;

/*
 * NCCL's ncclProxyState.  All threads are created with the same argument, which is this
 * structure, and the progress thread is created by the service thread: so a tracer can
 * tell whose thread is whose.
 */
struct mini_proxy_state {
	/* Of the top parent: its rank and size, and what its connections begin with. */
	int rank;
	int nranks;
	int device;
	/* Which of its node's ranks it is, of how many, and whether these post for each
	 * other. */
	int local_rank;
	int local_ranks;
	bool has_posters;
	uint64_t hash;
	/* The top parent while it lives, for the truth. */
	struct ncclComm *_Atomic top;
	/* What the profiler calls it, even when it lives no more. */
	void *profiler_context;
	/* Where the services of all its ranks are. */
	struct sockaddr_in *addresses;
	int listen_fd;
	struct sockaddr_in address;
	int uds_fd;
	struct mini_caller caller;
	struct mini_thread service;
	struct mini_thread uds;
	struct mini_thread progress;
	/* Ends all waits of the service thread. */
	atomic_bool is_aborted;
	/* Ends the UDS thread. */
	atomic_bool is_over;
	/* What the progress thread met: an ncclResult_t. */
	atomic_int error;

	/* Where both of the next are, with what others want posted. */
	struct mini_shared inbox_memory;
	struct mini_inbox *inbox;
	/* Guards all below, and the inbox; `changed` tells of any change. */
	pthread_mutex_t *lock;
	pthread_cond_t *changed;
	struct mini_proxy *sharers;
	/* Those, and who has left but has not gone yet. */
	int references;
	struct mini_link *links;
	struct mini_plan *first;
	struct mini_plan **last;
	/* To receive point to point, and to send. */
	struct mini_pool pools[2];
	/* Who posts for this one. */
	struct mini_poster *posters;
	bool has_progress;
	bool is_closed;
	/* No more of other ranks' can come. */
	bool is_served;

	/* The service thread's: whom it posts for, and what they share. */
	struct mini_guest *guests;
	struct mini_shares shares;

	/* Among those of the process that end together, under the lock of proxy_end.c. */
	struct mini_proxy_state *next_of_crew;
	bool has_left;
	bool is_joined;
	bool is_orphan;
};

/* A communicator's share of that. */
struct mini_proxy {
	struct ncclComm *comm;
	struct mini_proxy_state *state;
	struct mini_proxy *next_sharer;
	/* Under the lock of the state: plans whose kernel or progress is not over. */
	unsigned int kernels;
};

/* Listens, so that peers can be told the address.  0 or -errno. */
int mini_proxy_open(struct mini_proxy *proxy, struct ncclComm *comm);
/* Instead of that: uses all of another communicator's. */
void mini_proxy_share(struct mini_proxy *proxy, struct ncclComm *comm,
		      struct mini_proxy *with);
/* The communicator's rank in the top parent. */
int mini_proxy_rank(const struct mini_proxy *proxy);
/* Starts the service threads, once all peers are known.  0 or -errno. */
int mini_proxy_start(struct mini_proxy *proxy);
/* What the threads of it met, which is no communicator's alone. */
ncclResult_t mini_proxy_error(const struct mini_proxy *proxy);

/* Whether the connection is there already; the progress thread may not be. */
bool mini_proxy_is_connected(struct mini_proxy *proxy, const struct mini_end *end);
bool mini_proxy_has_progress(struct mini_proxy *proxy);
/*
 * Returns once all of these are there; the peers have to ask for their ends, too, and for
 * as many at once.  0 or -errno.
 */
int mini_proxy_connect(struct mini_proxy *proxy, const struct mini_end *ends, int count);
/* Has the service thread start the progress thread.  0 or -errno. */
int mini_proxy_need_progress(struct mini_proxy *proxy);
/* The buffers of a connection that is there: one for all communicators that share it. */
struct mini_flow *mini_proxy_flow(struct mini_proxy *proxy, const struct mini_end *end);

/* Announces a kernel before it is launched, and takes that back if it was not. */
void mini_proxy_expect(struct mini_proxy *proxy);
void mini_proxy_forget(struct mini_proxy *proxy);
/* After the launch, from the launching thread. */
void mini_proxy_append(struct mini_proxy *proxy, struct mini_plan *plan);
/* What the kernel does: lets the device begin, and waits for it. */
void mini_proxy_kernel(struct mini_plan *plan);
/* Waits until no kernel of the communicator is left. */
void mini_proxy_drain(struct mini_proxy *proxy);
/* Marks all that share it as aborted and wakes all that wait, or takes the mark back. */
void mini_proxy_mark(struct mini_proxy *proxy, bool is_aborted);
/* Ends the threads unless others share them.  No kernel may be left. */
void mini_proxy_stop(struct mini_proxy *proxy);
/* Does that as well, and closes everything. */
void mini_proxy_close(struct mini_proxy *proxy);

/* Gives everything back: no thread uses it any more. */
void mini_link_close(struct mini_link *link);
void mini_proxy_state_free(struct mini_proxy_state *state);
/*
 * Where ranks post for each other, those of one process end together: each may wait for
 * what another one has to say (NCCL's commReclaim()).  Until then what one has is kept.
 */
void mini_crew_join(struct mini_proxy_state *state);
void mini_crew_end(struct mini_proxy_state *state);
/* True where the state is given back only later. */
bool mini_crew_keeps(struct mini_proxy_state *state);

/* The end as the state counts ranks. */
struct mini_end mini_proxy_end(const struct mini_proxy *proxy,
			       const struct mini_end *end);

/* The service thread; the argument is the state. */
void *mini_service_main(void *argument);
/* Called by the service thread: a connection that is there from now on. */
void mini_proxy_add_link(struct mini_proxy_state *state, struct mini_link *link);
/* Likewise: starts the progress thread once.  0 or -errno. */
int mini_proxy_start_progress(struct mini_proxy_state *state);

#endif
