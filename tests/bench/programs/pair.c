/* SPDX-License-Identifier: MIT */
/*
 * The bare pair of events around the same call: pair BURSTS TURNS PAUSE-US.  What a
 * program would pay that had LTTng's macros in its own source.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "pair_tp.h"

#include "bursts.h"
#include "../doubles/nccl.h"

static int reduce(uint64_t call, const void *sendbuff, void *recvbuff, size_t count,
		  int datatype, int op, void *comm, void *stream)
{
	const struct bench_operation operation = {.datatype = datatype,
						  .op = op,
						  .capture = 0,
						  .comm_id = 1,
						  .comm_key = 0x5eed,
						  .op_number = call + 1};
	int result;

	lttng_ust_tracepoint(ccltap_bench, entry, call, 0, 0x1234, sendbuff, recvbuff,
			     count, &operation, comm, stream);
	result = ncclAllReduce(sendbuff, recvbuff, count, datatype, op, comm, stream);
	lttng_ust_tracepoint(ccltap_bench, exit, call, result);
	return result;
}

static void pairs(long turns)
{
	long i;

	for (i = 0; i < turns; i++)
		reduce((uint64_t) i, BENCH_ARGUMENTS(i));
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	return bursts_print(pairs, strtol(argv[1], NULL, 10), strtol(argv[2], NULL, 10),
			    strtol(argv[3], NULL, 10));
}
