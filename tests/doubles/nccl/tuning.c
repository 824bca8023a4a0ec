/* SPDX-License-Identifier: MIT */
/*
 * NCCL's model (2.28.9, graph/tuning.cc): a latency that counts steps, and a bandwidth.
 * Its factors were found by measuring, here they are facts.
 */
#include "tuning.h"

#include "comm.h"

/* GB/s of the network, which all channels share. */
#define NETWORK_BANDWIDTH 12.0
/* And of a channel, at most. */
#define TREE_LL128_BANDWIDTH 20.0

enum { WAYS = 2, BATCH_COLLS = 10, SIZES = 23 };

/* us: tree and ring, of each protocol. */
static const double base_latency[WAYS][MINI_PROTOCOLS] = {
	[MINI_TREE] = {6.8, 14.0, 8.4},
	[MINI_RING] = {6.6, 14.0, 8.4},
};
static const double pci_latency[WAYS][MINI_PROTOCOLS] = {
	[MINI_TREE] = {1.0, 1.9, 4.0},
	[MINI_RING] = {1.0, 2.5, 5.7},
};
static const double net_latency[WAYS][MINI_PROTOCOLS] = {
	[MINI_TREE] = {5.0, 8.5, 14.0},
	[MINI_RING] = {2.7, 4.0, 14.0},
};

/* Of trees, for powers of two from 64 bytes. */
static const double tree_correction[MINI_PROTOCOLS][SIZES] = {
	{1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7, .7, .7, .6, .5,
	 .4,  .4,  .5,	.6,  .7, .8, .9, 1., 1., 1., 1.},
	{1.0, 1.0, 1.0, 1.0, 1., .9, .8, .8, .8, .7, .6, .6,
	 .6,  .6,  .6,	.6,  .8, .9, .9, .9, .9, 1., 1.},
	{.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
	 .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9},
};

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static int log2_of(size_t n)
{
	int log = 0;

	while (n >>= 1)
		log++;
	return log;
}

static int step_count(const struct ncclComm *comm, enum mini_function function)
{
	int n = comm->nranks;

	if (function == MINI_ALL_REDUCE)
		return 2 * (n - 1);
	return function == MINI_REDUCE_SCATTER || function == MINI_ALL_GATHER ? n - 1 : n;
}

/* GB/s of the collective's data. */
static double bandwidth(const struct ncclComm *comm, enum mini_function function,
			enum mini_algorithm algorithm, enum mini_protocol protocol)
{
	double channels = comm->channels;
	/* Of LL, with two hosts and with more. */
	double most_ll = comm->topology->nnodes <= 2 ? 39.0 : 20.4;
	double bus = NETWORK_BANDWIDTH;

	if (algorithm == MINI_TREE) {
		bus *= .92;
		if (protocol == MINI_LL)
			bus = smaller(bus / 3.8, most_ll);
		else if (protocol == MINI_LL128)
			bus = smaller(bus * 120.0 / 128.0,
				      channels * TREE_LL128_BANDWIDTH);
		return bus * .5;
	}
	if (protocol == MINI_LL)
		bus = smaller(bus * .5, most_ll);
	else if (protocol == MINI_LL128)
		bus *= .92;
	return bus * comm->nranks / step_count(comm, function);
}

static double ring_latency(const struct ncclComm *comm, enum mini_function function,
			   enum mini_protocol protocol, double inside, double between)
{
	int nodes = comm->topology->nnodes;
	int steps = step_count(comm, function);
	/* What posting costs. */
	double overhead = protocol == MINI_SIMPLE ? 3 : 1;
	int far = 0;

	if (function == MINI_REDUCE || function == MINI_BROADCAST)
		return nodes > 1 ? net_latency[MINI_RING][protocol]
				 : pci_latency[MINI_RING][protocol];
	if (nodes > 1) {
		far = (function == MINI_ALL_REDUCE ? 2 : 1) * (nodes - 1);
		inside = inside > overhead ? inside : overhead;
	}
	return (steps - far) * inside + far * between;
}

/* us */
static double latency(const struct ncclComm *comm, enum mini_function function,
		      enum mini_algorithm algorithm, enum mini_protocol protocol)
{
	int nodes = comm->topology->nnodes;
	int local = comm->nranks / nodes;
	double inside = pci_latency[algorithm][protocol];
	/* With one rank on each host nothing hides it. */
	double between = net_latency[local == 1 ? MINI_TREE : algorithm][protocol];
	double all = base_latency[algorithm][protocol];

	if (algorithm == MINI_TREE)
		return all +
		       2 * ((local - 1) * inside + log2_of((size_t) nodes) * between);
	return all + ring_latency(comm, function, protocol, inside, between);
}

double mini_tuning_time(const struct ncclComm *comm, enum mini_function function,
			enum mini_algorithm algorithm, enum mini_protocol protocol,
			size_t bytes, int operations)
{
	double speed = bandwidth(comm, function, algorithm, protocol);
	double wait = latency(comm, function, algorithm, protocol);
	int log = log2_of(bytes / 64);

	if (algorithm == MINI_TREE) {
		if (log < SIZES)
			speed *= tree_correction[protocol][log];
		operations = (operations + BATCH_COLLS - 1) / BATCH_COLLS;
	} else if (protocol == MINI_SIMPLE && comm->topology->nnodes > 1 &&
		   function == MINI_ALL_REDUCE &&
		   bytes / (size_t) (comm->channels * comm->nranks) >= 64) {
		wait *= 1.4;
	}
	return wait * operations + (double) bytes / (1000 * speed);
}
