/* SPDX-License-Identifier: MIT */
/* A process to start: it makes one call, or, built with CALLS 0, none. */
#include "../doubles/nccl.h"

int main(void)
{
	return CALLS ? ncclAllReduce(BENCH_ARGUMENTS(1)) : 0;
}
