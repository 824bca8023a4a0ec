/* SPDX-License-Identifier: MIT */
/* A process to start: it makes one call, or, built with CALLS 0, none. */
#include "fake.h"

int main(void)
{
	return CALLS ? ncclAllReduce(BENCH_ARGUMENTS(1)) : 0;
}
