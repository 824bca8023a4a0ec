/* SPDX-License-Identifier: MIT */
/* Instantiates the provider "tap". */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/tap_tp.h"

#include <unistd.h>

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

void tap_tp_comm(const struct tap_comm_state *comm)
{
	lttng_ust_tracepoint(tap, comm, comm);
}

void tap_tp_stack(const struct tap_stack *stack)
{
	lttng_ust_tracepoint(tap, stack, stack);
}

void tap_tp_process_end(void)
{
	lttng_ust_tracepoint(tap, process_end, getpid());
}

const int *tap_tp_open_call_on(void)
{
	return &lttng_ust_tracepoint_tap___open_call.state;
}

void tap_tp_open_call(const struct tap_thread_state *thread)
{
	lttng_ust_tracepoint(tap, open_call, thread);
}

void tap_tp_statedump_process(const struct tap_process *process)
{
	lttng_ust_tracepoint(tap, statedump_process, process);
}

void tap_tp_statedump_library(const struct tap_library *library)
{
	lttng_ust_tracepoint(tap, statedump_library, library);
}

void tap_tp_statedump_comm(const struct tap_comm_state *comm)
{
	lttng_ust_tracepoint(tap, statedump_comm, comm);
}

void tap_tp_statedump_thread(const struct tap_thread_state *thread)
{
	lttng_ust_tracepoint(tap, statedump_thread, thread);
}

void tap_tp_statedump_function(uint64_t function, const char *name)
{
	lttng_ust_tracepoint(tap, statedump_function, function, name);
}

void tap_tp_statedump_stack(const struct tap_stack *stack)
{
	lttng_ust_tracepoint(tap, statedump_stack, stack);
}

void tap_tp_statedump_end(uint32_t libraries, uint32_t comms, uint32_t threads,
			  uint32_t stacks, bool all_threads)
{
	lttng_ust_tracepoint(tap, statedump_end, libraries, comms, threads, stacks,
			     all_threads);
}

void tap_tp_statedump_context(const struct tap_verbs_context *context)
{
	lttng_ust_tracepoint(tap, statedump_context, context);
}

void tap_tp_statedump_port(const struct tap_verbs_port *port)
{
	lttng_ust_tracepoint(tap, statedump_port, port);
}

void tap_tp_statedump_gid(const struct tap_verbs_port_gid *gid)
{
	lttng_ust_tracepoint(tap, statedump_gid, gid);
}

void tap_tp_statedump_mr(const struct tap_verbs_mr *mr)
{
	lttng_ust_tracepoint(tap, statedump_mr, mr);
}

void tap_tp_statedump_cq(const struct tap_verbs_cq *cq)
{
	lttng_ust_tracepoint(tap, statedump_cq, cq);
}

void tap_tp_statedump_srq(const struct tap_verbs_srq *srq)
{
	lttng_ust_tracepoint(tap, statedump_srq, srq);
}

void tap_tp_statedump_ah(const struct tap_verbs_ah *ah)
{
	lttng_ust_tracepoint(tap, statedump_ah, ah);
}

void tap_tp_statedump_qp(const struct tap_verbs_qp *qp,
			 const struct tap_verbs_qp_modify *modify,
			 const struct tap_verbs_qp_counts *counts)
{
	lttng_ust_tracepoint(tap, statedump_qp, qp, modify, counts);
}

void tap_tp_polling(uint32_t cq_id, uint64_t empty_polls, uint64_t since_ns)
{
	lttng_ust_tracepoint(tap, polling, cq_id, empty_polls, since_ns);
}
