/* SPDX-License-Identifier: MIT */
/* Instantiates the provider "nvtx". */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/nvtx_tp.h"

#include "tracepoints/providers.h"

void tap_tp_nvtx_fill(const int **ret_on)
{
	ret_on[0] = &lttng_ust_tracepoint_nvtx___range_entry.state;
	ret_on[1] = &lttng_ust_tracepoint_nvtx___range_exit.state;
	ret_on[2] = &lttng_ust_tracepoint_nvtx___mark.state;
}

void tap_tp_range_entry(const struct tap_nvtx_range *range)
{
	lttng_ust_tracepoint(nvtx, range_entry, range);
}

void tap_tp_range_exit(uint64_t call_id)
{
	lttng_ust_tracepoint(nvtx, range_exit, call_id);
}

void tap_tp_mark(const struct tap_nvtx_range *mark)
{
	lttng_ust_tracepoint(nvtx, mark, mark);
}
