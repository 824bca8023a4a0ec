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

/* The arguments without their brackets. */
#define ARGUMENTS(...) __VA_ARGS__
#define WRITE(name, params, args) \
	void tap_tp_##name params \
	{ \
		lttng_ust_tracepoint(tap, name, ARGUMENTS args); \
	}
TAP_EVENTS_OF_PROCESS(WRITE)

const int *tap_tp_open_call_on(void)
{
	return &lttng_ust_tracepoint_tap___open_call.state;
}

const int *tap_tp_sample_on(void)
{
	return &lttng_ust_tracepoint_tap___sample.state;
}

void tap_tp_statedump_function(uint64_t function, const char *name)
{
	lttng_ust_tracepoint(tap, statedump_function, function, name);
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

void tap_tp_statedump_socket(const struct tap_net_socket_event *socket)
{
	lttng_ust_tracepoint(tap, statedump_socket, socket);
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
