/* SPDX-License-Identifier: MIT */
/* Rings, trees and rounds of a communicator. */
#include "topology.h"

#include "comm.h"
#include "protocol.h"
#include "settings.h"

#include <stdlib.h>

/* How many transfers a channel carries out at once. */
enum { P2P_PER_BATCH = 8 };

/* Ranks by host, hosts in the order of their first ranks. */
struct hosts {
	int count;
	/* Of each rank: its host, and which of that one's it is. */
	int *host;
	int *local;
	/* Of each host: how many ranks, and where they begin in `ranks`. */
	int *size;
	int *begin;
	int *ranks;
};

static bool hosts_create(struct hosts *hosts, int nranks)
{
	int *all = calloc((size_t) nranks * 5, sizeof(*all));

	hosts->count = 0;
	hosts->host = all;
	if (!all)
		return false;
	hosts->local = all + nranks;
	hosts->size = all + 2 * nranks;
	hosts->begin = all + 3 * nranks;
	hosts->ranks = all + 4 * nranks;
	return true;
}

static bool is_same_host(const struct ncclComm *comm, int a, int b)
{
	struct mini_place places[2] = {
		{comm->peers[a].host_hash, comm->peers[a].top_rank},
		{comm->peers[b].host_hash, comm->peers[b].top_rank},
	};

	return a == b || mini_transport_is_same_node(&places[0], &places[1]);
}

static void hosts_fill(struct hosts *hosts, const struct ncclComm *comm)
{
	int other;
	int rank;
	int i;

	for (rank = 0; rank < comm->nranks; rank++) {
		for (other = 0; !is_same_host(comm, other, rank); other++)
			;
		hosts->host[rank] = other < rank ? hosts->host[other] : hosts->count++;
		hosts->local[rank] = hosts->size[hosts->host[rank]]++;
	}
	for (i = 1; i < hosts->count; i++)
		hosts->begin[i] = hosts->begin[i - 1] + hosts->size[i - 1];
	for (rank = 0; rank < comm->nranks; rank++)
		hosts->ranks[hosts->begin[hosts->host[rank]] + hosts->local[rank]] = rank;
}

static int rank_at(const struct hosts *hosts, int host, int local)
{
	return hosts->ranks[hosts->begin[host] + local];
}

/* Along all ranks of a host, then to the next host. */
static void make_ring(struct mini_topology *topology, const struct ncclComm *comm,
		      const struct hosts *hosts)
{
	int n = comm->nranks;
	int own = 0;
	int i;

	while (hosts->ranks[own] != comm->rank)
		own++;
	for (i = 0; i < n; i++)
		topology->ring[i] = hosts->ranks[(own + i) % n];
	topology->ring_index = own;
}

/* A node of a binary tree whose root is 0 and whose odd numbers are leaves. */
struct branch {
	int up;
	int down[2];
	/* Which child of the one above it is. */
	int child;
};

static struct branch binary_tree(int n, int node)
{
	struct branch branch = {-1, {-1, -1}, 0};
	int bit = 1;
	int half;

	while (bit < n && !(bit & node))
		bit *= 2;
	half = bit / 2;
	if (node == 0) {
		branch.down[1] = n > 1 ? half : -1;
		return branch;
	}
	branch.up = (node ^ bit) | bit * 2;
	if (branch.up >= n)
		branch.up = node ^ bit;
	branch.child = node > branch.up;
	if (half == 0)
		return branch;
	branch.down[0] = node - half;
	while (half > 0 && node + half >= n)
		half /= 2;
	branch.down[1] = half > 0 ? node + half : -1;
	return branch;
}

/*
 * The second tree has the leaves of the first as nodes: mirrored where their number is
 * even, else moved on by one.
 */
static struct branch second_tree(int n, int node)
{
	struct branch branch;
	int *places[3];
	int i;

	branch = binary_tree(n, n % 2 ? (node + n - 1) % n : n - 1 - node);
	places[0] = &branch.up;
	places[1] = &branch.down[0];
	places[2] = &branch.down[1];
	for (i = 0; i < 3; i++) {
		if (*places[i] >= 0)
			*places[i] = n % 2 ? (*places[i] + 1) % n : n - 1 - *places[i];
	}
	return branch;
}

static void add_down(struct mini_tree *tree, int rank)
{
	int i = 0;

	while (tree->down[i] >= 0)
		i++;
	tree->down[i] = rank;
}

/*
 * A chain on each host, whose first rank has the way up to another host; those below are
 * reached from the first and the second rank, so that one does not do it all (NCCL's
 * balanced tree).
 */
static void make_tree(struct mini_tree *tree, const struct ncclComm *comm,
		      const struct hosts *hosts, struct branch branch)
{
	int host = hosts->host[comm->rank];
	int local = hosts->local[comm->rank];
	int size = hosts->size[host];
	/* Where children are: of the first and of the second. */
	int place[2] = {size > 1 ? 1 : 0, 0};
	int i;

	tree->up = local > 0 ? rank_at(hosts, host, local - 1) : -1;
	for (i = 0; i < MINI_TREE_ARITY; i++)
		tree->down[i] = -1;
	if (local + 1 < size)
		tree->down[0] = rank_at(hosts, host, local + 1);
	if (local == 0 && branch.up >= 0)
		tree->up = rank_at(hosts, branch.up,
				   branch.child == 0 && hosts->size[branch.up] > 1);
	for (i = 0; i < 2; i++) {
		if (branch.down[i] >= 0 && local == place[i])
			add_down(tree, rank_at(hosts, branch.down[i], 0));
	}
}

static int greatest_divisor(int a, int b)
{
	int rest;

	while (b) {
		rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

static int power_of_two(int n)
{
	int power = 1;

	while (power < n)
		power *= 2;
	return power;
}

static int group_size(const struct hosts *hosts, int most_local)
{
	int size = hosts->count > 1 ? P2P_PER_BATCH : most_local;
	int i;

	for (i = 0; i < hosts->count; i++) {
		if (hosts->size[i] % size != 0)
			size = greatest_divisor(size, hosts->size[i]);
	}
	return size;
}

/* The ranks of a group, counted over all hosts. */
static int rank_of_group(const struct hosts *hosts, int size, int group, int local)
{
	int host = 0;

	while (group >= hosts->size[host] / size)
		group -= hosts->size[host++] / size;
	return rank_at(hosts, host, group * size + local);
}

static int own_group(const struct hosts *hosts, int size, int rank)
{
	int group = hosts->local[rank] / size;
	int host;

	for (host = 0; host < hosts->host[rank]; host++)
		group += hosts->size[host] / size;
	return group;
}

/*
 * Groups of ranks take turns, by distances 0, 1, 3, 6 and so on modulo a power of two,
 * which are all there are; those that are too far are left out.
 */
static void make_rounds(struct mini_topology *topology, const struct ncclComm *comm,
			const struct hosts *hosts)
{
	int size = group_size(hosts, topology->most_local_ranks);
	int groups = comm->nranks / size;
	int power = power_of_two(groups);
	int group = own_group(hosts, size, comm->rank);
	int local = hosts->local[comm->rank] % size;
	int distance = 0;
	int round = 0;
	int i;
	int d;

	topology->round_group = size;
	for (i = 0; i < power; distance = (distance + ++i) & (power - 1)) {
		for (d = 0; d < size && distance < groups; d++, round++) {
			topology->rounds[round].send_rank =
				rank_of_group(hosts, size, (group + distance) % groups,
					      (local + d) % size);
			topology->rounds[round].recv_rank =
				rank_of_group(hosts, size,
					      (group - distance + groups) % groups,
					      (local - d + size) % size);
		}
	}
}

/*
 * Two per peer, fewer where that makes more than four transfers on each channel
 * (NCCL 2.28.9, graph/paths.cc:814-890).
 */
static void count_p2p_channels(struct mini_topology *topology,
			       const struct ncclComm *comm)
{
	int most = (int) mini_number(SET_NCCL_MAX_P2P_NCHANNELS);
	int least = (int) mini_number(SET_NCCL_MIN_P2P_NCHANNELS);
	int channels = comm->channels < most ? comm->channels : most;
	int per_peer = 2;

	if (channels < least)
		channels = least;
	if (topology->nnodes > 1)
		per_peer = (int) mini_number(SET_NCCL_NCHANNELS_PER_NET_PEER);
	while (topology->nnodes > 1 && per_peer > 1 &&
	       per_peer * comm->nranks > channels * 4)
		per_peer /= 2;
	if (per_peer > channels)
		per_peer = channels;
	topology->p2p_channels = power_of_two(channels);
	topology->p2p_channels_per_peer = power_of_two(per_peer);
}

static size_t choose_p2p_step(const struct mini_topology *topology)
{
	size_t step =
		(size_t) mini_number(topology->nnodes > 1 ? SET_NCCL_P2P_NET_CHUNKSIZE
							  : SET_NCCL_P2P_PCI_CHUNKSIZE);
	size_t most = mini_protocol_buffer(MINI_SIMPLE) / MINI_STEPS;

	return step < most ? step : most;
}

/* PXN needs NVLink to the device beside the adapter (NCCL 2.28.9, graph/search.cc:1276).
 */
static bool allows_posters(const struct hosts *hosts)
{
	return hosts->count > 1 && mini_number(SET_MININCCL_NVLINK) &&
	       !mini_number(SET_NCCL_P2P_DISABLE) && !mini_number(SET_NCCL_PXN_DISABLE) &&
	       mini_number(SET_NCCL_P2P_PXN_LEVEL) == 2;
}

/*
 * Who is beside the adapter that has the place of the peer's on its own host.  At level 1
 * it would have to be nearer than the own one, and here all are equally near.
 */
static void choose_posters(struct mini_topology *topology, const struct ncclComm *comm,
			   const struct hosts *hosts)
{
	int host = hosts->host[comm->rank];
	int peer;

	topology->local_rank = hosts->local[comm->rank];
	topology->has_posters = allows_posters(hosts) && topology->most_local_ranks > 1;
	for (peer = 0; peer < comm->nranks; peer++) {
		int local = hosts->local[peer];

		topology->posters[peer] = comm->rank;
		if (topology->has_posters && hosts->host[peer] != host &&
		    local < hosts->size[host])
			topology->posters[peer] = rank_at(hosts, host, local);
	}
}

struct mini_topology *mini_topology_create(const struct ncclComm *comm)
{
	struct mini_topology *topology = calloc(1, sizeof(*topology));
	struct hosts hosts = {.host = NULL};
	size_t n = (size_t) comm->nranks;
	int host;
	int i;

	if (topology) {
		topology->ring = calloc(n, sizeof(*topology->ring));
		topology->rounds = calloc(n, sizeof(*topology->rounds));
		topology->posters = calloc(n, sizeof(*topology->posters));
	}
	if (!topology || !topology->ring || !topology->rounds || !topology->posters ||
	    !hosts_create(&hosts, comm->nranks)) {
		mini_topology_destroy(topology);
		return NULL;
	}
	hosts_fill(&hosts, comm);
	host = hosts.host[comm->rank];
	topology->nnodes = hosts.count;
	topology->local_ranks = hosts.size[host];
	for (i = 0; i < hosts.count; i++) {
		if (hosts.size[i] > topology->most_local_ranks)
			topology->most_local_ranks = hosts.size[i];
	}
	make_ring(topology, comm, &hosts);
	make_tree(&topology->trees[0], comm, &hosts, binary_tree(hosts.count, host));
	make_tree(&topology->trees[1], comm, &hosts, second_tree(hosts.count, host));
	make_rounds(topology, comm, &hosts);
	choose_posters(topology, comm, &hosts);
	count_p2p_channels(topology, comm);
	topology->p2p_step = choose_p2p_step(topology);
	free(hosts.host);
	return topology;
}

void mini_topology_destroy(struct mini_topology *topology)
{
	if (!topology)
		return;
	free(topology->ring);
	free(topology->rounds);
	free(topology->posters);
	free(topology);
}

const struct mini_tree *mini_topology_tree(const struct ncclComm *comm, int channel)
{
	return &comm->topology->trees[channel >= (comm->channels + 1) / 2];
}

int mini_topology_round(const struct ncclComm *comm, int peer, int is_send)
{
	const struct mini_round *rounds = comm->topology->rounds;
	int round = 0;

	while (peer != (is_send ? rounds[round].send_rank : rounds[round].recv_rank))
		round++;
	return round;
}

/* NCCL 2.28.9, include/channel.h:19-31: bits turned round, so that few peers spread. */
int mini_topology_base(const struct ncclComm *comm, int round)
{
	const struct mini_topology *topology = comm->topology;
	int size = topology->round_group;
	int base = round;
	int turned = 0;
	int bit;

	if (topology->nnodes > 1)
		base = round / size * ((size + P2P_PER_BATCH - 1) / P2P_PER_BATCH) +
		       round % size / P2P_PER_BATCH;
	for (bit = 1; bit < topology->p2p_channels; bit *= 2, base /= 2)
		turned = turned * 2 + base % 2;
	return turned;
}

int mini_topology_channel(const struct ncclComm *comm, int base, int part)
{
	return (base + part) & (comm->topology->p2p_channels - 1);
}

int mini_topology_part(const struct ncclComm *comm, int base, int channel)
{
	return (channel - base) & (comm->topology->p2p_channels - 1);
}
