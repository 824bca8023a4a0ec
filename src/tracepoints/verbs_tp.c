/* SPDX-License-Identifier: MIT */
/* Instantiates the provider "verbs", but for its hot events. */
#include "tracepoints/guest.h"

#define LTTNG_UST_TRACEPOINT_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_PROVIDER_HIDDEN_DEFINITION
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tracepoints/verbs_tp.h"

#include "tracepoints/providers.h"

static void context(const struct tap_verbs_context *c, bool is_statedump)
{
	if (is_statedump)
		tap_tp_statedump_context(c);
	else
		lttng_ust_tracepoint(verbs, context, c);
}

static void port(const struct tap_verbs_port *p, bool is_statedump)
{
	if (is_statedump)
		tap_tp_statedump_port(p);
	else
		lttng_ust_tracepoint(verbs, port, p);
}

static void gid(const struct tap_verbs_port_gid *g, bool is_statedump)
{
	if (is_statedump)
		tap_tp_statedump_gid(g);
	else
		lttng_ust_tracepoint(verbs, gid, g);
}

static void pd(const struct tap_verbs_pd *p)
{
	lttng_ust_tracepoint(verbs, pd, p);
}

static void mr(const struct tap_verbs_mr *m, bool is_statedump)
{
	if (is_statedump)
		tap_tp_statedump_mr(m);
	else
		lttng_ust_tracepoint(verbs, mr, m);
}

static void cq(const struct tap_verbs_cq *c, bool is_statedump)
{
	if (is_statedump)
		tap_tp_statedump_cq(c);
	else
		lttng_ust_tracepoint(verbs, cq, c);
}

static void srq(const struct tap_verbs_srq *s, bool is_statedump)
{
	if (is_statedump)
		tap_tp_statedump_srq(s);
	else
		lttng_ust_tracepoint(verbs, srq, s);
}

static void qp(const struct tap_verbs_qp *q)
{
	lttng_ust_tracepoint(verbs, qp, q);
}

static void qp_modify(const struct tap_verbs_qp_modify *m)
{
	lttng_ust_tracepoint(verbs, qp_modify, m);
}

static void ah(const struct tap_verbs_ah *a, bool is_statedump)
{
	if (is_statedump)
		tap_tp_statedump_ah(a);
	else
		lttng_ust_tracepoint(verbs, ah, a);
}

static void gone(enum tap_verbs_gone what, uint32_t id)
{
	switch (what) {
	case TAP_GONE_CONTEXT:
		lttng_ust_tracepoint(verbs, context_close, id);
		break;
	case TAP_GONE_PD:
		lttng_ust_tracepoint(verbs, pd_free, id);
		break;
	case TAP_GONE_MR:
		lttng_ust_tracepoint(verbs, mr_free, id);
		break;
	case TAP_GONE_CQ:
		lttng_ust_tracepoint(verbs, cq_destroy, id);
		break;
	case TAP_GONE_SRQ:
		lttng_ust_tracepoint(verbs, srq_destroy, id);
		break;
	case TAP_GONE_QP:
		lttng_ust_tracepoint(verbs, qp_destroy, id);
		break;
	case TAP_GONE_AH:
		lttng_ust_tracepoint(verbs, ah_destroy, id);
		break;
	}
}

static void async_event(const struct tap_verbs_async *a)
{
	lttng_ust_tracepoint(verbs, async_event, a);
}

static void comp_event_entry(uint32_t channel_id)
{
	lttng_ust_tracepoint(verbs, comp_event_entry, channel_id);
}

static void comp_event_exit(uint32_t channel_id, uint32_t cq_id, int ret)
{
	lttng_ust_tracepoint(verbs, comp_event_exit, channel_id, cq_id, ret);
}

static void unobserved(uint32_t context_id, const char *what, const char *why)
{
	lttng_ust_tracepoint(verbs, unobserved, context_id, what, why);
}

void tap_tp_verbs_fill(struct tap_verbs_events *ret_events)
{
	*ret_events = (struct tap_verbs_events){
		.context = context,
		.port = port,
		.gid = gid,
		.pd = pd,
		.mr = mr,
		.cq = cq,
		.srq = srq,
		.qp = qp,
		.statedump_qp = tap_tp_statedump_qp,
		.qp_modify = qp_modify,
		.ah = ah,
		.gone = gone,
		.async_event = async_event,
		.comp_event_entry = comp_event_entry,
		.comp_event_exit = comp_event_exit,
		.unobserved = unobserved,
		.polling = tap_tp_polling,
	};
	tap_tp_verbs_hot_fill(ret_events);
}
