/* SPDX-License-Identifier: MIT */
/*
 * How the ranks of a new communicator find each other: a root thread behind each
 * unique id tells its ranks their successors, and from then on they talk in a
 * ring, or one to one.
 */
#ifndef MINI_NCCL_BOOTSTRAP_H
#define MINI_NCCL_BOOTSTRAP_H

#include "socket.h"

#include <nccl.h>
#include <pthread.h>

struct mini_parcel;

struct mini_bootstrap {
	uint64_t magic;
	int rank;
	int nranks;
	int listen_fd;
	struct sockaddr_in address;
	int next_fd;
	int previous_fd;
	const atomic_bool *aborted;

	/* Guards what arrived at listen_fd before somebody waited for it. */
	pthread_mutex_t lock;
	struct mini_parcel *parcels;
};

/*
 * Starts a root and writes the id that leads to it, with a magic number of its
 * own or, for ranks that join `nranks` others, one that these know.  0 or -errno.
 */
int mini_bootstrap_create_root(ncclUniqueId *ret_id);
int mini_bootstrap_create_join_root(ncclUniqueId *ret_id, uint64_t magic, int nranks);
/*
 * NCCL_COMM_ID=IPV4:PORT gives all ids of a job, which then are the same one, an
 * address; whoever is rank 0 has the root there.  Does nothing for other ids.
 */
int mini_bootstrap_serve(const ncclUniqueId *id);
/* What an id was made with. */
uint64_t mini_bootstrap_magic(const ncclUniqueId *id);
int mini_bootstrap_joined(const ncclUniqueId *id);
/* Equal for equal ids and, in practice, for no others. */
uint64_t mini_bootstrap_hash(const void *data, size_t size);

/* Before all else; nothing is open yet. */
void mini_bootstrap_prepare(struct mini_bootstrap *bootstrap);
/* Listens, so that others can be told the address.  0 or -errno. */
int mini_bootstrap_open(struct mini_bootstrap *bootstrap, uint64_t magic, int rank,
			int nranks, const atomic_bool *aborted);
/*
 * Waits until all ranks have checked in at their roots, one per id; all ranks
 * have the same list.  0 or -errno.
 */
int mini_bootstrap_meet(struct mini_bootstrap *bootstrap, const ncclUniqueId *ids,
			int id_count);
/*
 * The same for a piece of a ring, as its rank number `position` of `count`; number
 * `count` is the one after it, which passes NULL.  0 or -errno.
 */
int mini_bootstrap_check_in(const struct mini_bootstrap *bootstrap,
			    const ncclUniqueId *id, int position, int count,
			    struct sockaddr_in *ret_next);
/* Closes the ring where the successor is known.  0 or -errno. */
int mini_bootstrap_join(struct mini_bootstrap *bootstrap, const struct sockaddr_in *next);
/* `all` holds nranks parts of `size` bytes; the own one is filled in.  0 or -errno. */
int mini_bootstrap_allgather(struct mini_bootstrap *bootstrap, void *all, size_t size);
/*
 * Between two ranks of one ring, of which the sender knows the other's address.
 * What is received was sent by `from`, or by anyone if that is -1, under the same
 * tag, and has the same size.  Sending does not wait.  0 or -errno.
 */
int mini_bootstrap_send(const struct mini_bootstrap *bootstrap,
			const struct sockaddr_in *to, uint64_t tag, const void *data,
			size_t size);
int mini_bootstrap_receive(struct mini_bootstrap *bootstrap, int from, uint64_t tag,
			   void *data, size_t size);
void mini_bootstrap_close(struct mini_bootstrap *bootstrap);

#endif
