/* SPDX-License-Identifier: MIT */
/* A program that has as many events of LTTng's macros as we have, and uses one. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "many_tp.h"

int main(void)
{
	lttng_ust_tracepoint(nccl, bench_100, 1);
	return 0;
}
