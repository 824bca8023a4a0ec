/* SPDX-License-Identifier: MIT */
/*
 * Who talks to whom: the ring and the double binary tree of collectives, and the order in
 * which a rank goes through its peers point to point.  All of it follows from which ranks
 * are on which host, and is the same on all ranks.
 *
 * Hides how NCCL builds them (2.28.9: graph/trees.cc, graph/connect.cc, init.cc:767-840).
 */
#ifndef MINI_NCCL_TOPOLOGY_H
#define MINI_NCCL_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>

struct ncclComm;

enum { MINI_TREE_ARITY = 3 };

struct mini_tree {
	/* Ranks; -1 where there is none, the others first. */
	int up;
	int down[MINI_TREE_ARITY];
};

struct mini_round {
	int send_rank;
	int recv_rank;
};

struct mini_topology {
	int nnodes;
	int local_ranks;
	int most_local_ranks;
	/* All ranks along the ring, from the own one. */
	int *ring;
	/* How far the own rank is from rank 0, along the ring. */
	int ring_index;
	/* Of the first half of the channels, and of the second. */
	struct mini_tree trees[2];
	/* As many as there are ranks, the own one first. */
	struct mini_round *rounds;
	int round_group;
	/* For each rank: who of the own node posts what is sent to it point to point. */
	int *posters;
	/* Whether that is another one anywhere, which all ranks agree on. */
	bool has_posters;
	/* Which of the node's ranks the own one is. */
	int local_rank;
	/* Powers of two. */
	int p2p_channels;
	int p2p_channels_per_peer;
	/* Bytes of a step of a pool. */
	size_t p2p_step;
};

/* Once the peers are known; NULL without memory. */
struct mini_topology *mini_topology_create(const struct ncclComm *comm);
void mini_topology_destroy(struct mini_topology *topology);
const struct mini_tree *mini_topology_tree(const struct ncclComm *comm, int channel);
/* In which round a peer is sent to, or received from. */
int mini_topology_round(const struct ncclComm *comm, int peer, int is_send);
/* The first channel of a round, and that of a part. */
int mini_topology_base(const struct ncclComm *comm, int round);
int mini_topology_channel(const struct ncclComm *comm, int base, int part);
/* The other way round. */
int mini_topology_part(const struct ncclComm *comm, int base, int channel);

#endif
