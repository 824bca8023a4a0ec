/* SPDX-License-Identifier: MIT */
/* Instantiates the provider "tap". */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/tap_tp.h"

#include "tracepoints/providers.h"

void tap_tp_process(const struct tap_process *process)
{
	lttng_ust_tracepoint(tap, process, process);
}

void tap_tp_library(const struct tap_library *library)
{
	lttng_ust_tracepoint(tap, library, library);
}

void tap_tp_problem(const char *what, const char *detail, uint64_t count)
{
	lttng_ust_tracepoint(tap, problem, what, detail, count);
}
