/* SPDX-License-Identifier: MIT */
/*
 * How the ranks of a new communicator find each other: a root thread behind the
 * unique id tells each rank its successor, and from then on they talk in a ring.
 */
#ifndef MINI_NCCL_BOOTSTRAP_H
#define MINI_NCCL_BOOTSTRAP_H

#include "socket.h"

#include <nccl.h>

struct mini_bootstrap {
	uint64_t magic;
	int rank;
	int nranks;
	int listen_fd;
	struct sockaddr_in address;
	int next_fd;
	int previous_fd;
	const atomic_bool *aborted;
};

/* Starts a root and writes the id that leads to it.  0 or -errno. */
int mini_bootstrap_create_root(ncclUniqueId *ret_id);
/* Equal for equal ids and, in practice, for no others. */
uint64_t mini_bootstrap_hash(const void *data, size_t size);

/* First of all: listens, so that others can be told the address.  0 or -errno. */
int mini_bootstrap_open(struct mini_bootstrap *bootstrap, uint64_t magic, int rank,
			int nranks, const atomic_bool *aborted);
/* Waits until all ranks have checked in at the root.  0 or -errno. */
int mini_bootstrap_meet(struct mini_bootstrap *bootstrap, const ncclUniqueId *id);
/* The same where the successor is already known.  0 or -errno. */
int mini_bootstrap_join(struct mini_bootstrap *bootstrap, const struct sockaddr_in *next);
/* `all` holds nranks parts of `size` bytes; the own one is filled in.  0 or -errno. */
int mini_bootstrap_allgather(struct mini_bootstrap *bootstrap, void *all, size_t size);
void mini_bootstrap_close(struct mini_bootstrap *bootstrap);

#endif
