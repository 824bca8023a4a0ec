/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "verbs": what is set up and torn down, at level INFO.  The hot
 * events are in verbs_hot_tp.c.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER verbs
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/verbs_tp.h"

#if !defined(TAP_TRACEPOINTS_VERBS_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_VERBS_TP_H

#include <lttng/tracepoint.h>

#include "tracepoints/verbs_fields.h"

/* clang-format off */
#define TAP_VERBS_EVENT(name, args, ...) \
	LTTNG_UST_TRACEPOINT_EVENT(verbs, name, LTTNG_UST_TP_ARGS args, \
		LTTNG_UST_TP_FIELDS(__VA_ARGS__)) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(verbs, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

TAP_VERBS_EVENT(context, (const struct tap_verbs_context *, c), TAP_VERBS_CONTEXT_FIELDS)
TAP_VERBS_EVENT(port, (const struct tap_verbs_port *, p), TAP_VERBS_PORT_FIELDS)
TAP_VERBS_EVENT(gid, (const struct tap_verbs_port_gid *, g), TAP_VERBS_GID_FIELDS)
TAP_VERBS_EVENT(pd, (const struct tap_verbs_pd *, p),
	lttng_ust_field_integer(uint32_t, pd_id, p->pd_id)
	lttng_ust_field_integer(uint32_t, context_id, p->context_id))
TAP_VERBS_EVENT(mr, (const struct tap_verbs_mr *, m), TAP_VERBS_MR_FIELDS)
TAP_VERBS_EVENT(cq, (const struct tap_verbs_cq *, c), TAP_VERBS_CQ_FIELDS)
TAP_VERBS_EVENT(srq, (const struct tap_verbs_srq *, s), TAP_VERBS_SRQ_FIELDS)
TAP_VERBS_EVENT(qp, (const struct tap_verbs_qp *, q), TAP_VERBS_QP_FIELDS)
TAP_VERBS_EVENT(qp_modify, (const struct tap_verbs_qp_modify *, m),
	lttng_ust_field_integer(uint32_t, qp_id, m->qp_id)
	TAP_VERBS_MODIFY_FIELDS
	lttng_ust_field_integer(int32_t, ret, m->ret))
TAP_VERBS_EVENT(ah, (const struct tap_verbs_ah *, a), TAP_VERBS_AH_FIELDS)

#define TAP_VERBS_GONE_EVENT(name, id) \
	TAP_VERBS_EVENT(name, (uint32_t, id_), lttng_ust_field_integer(uint32_t, id, id_))
TAP_VERBS_GONE_EVENT(context_close, context_id)
TAP_VERBS_GONE_EVENT(pd_free, pd_id)
TAP_VERBS_GONE_EVENT(mr_free, mr_id)
TAP_VERBS_GONE_EVENT(cq_destroy, cq_id)
TAP_VERBS_GONE_EVENT(srq_destroy, srq_id)
TAP_VERBS_GONE_EVENT(qp_destroy, qp_id)
TAP_VERBS_GONE_EVENT(ah_destroy, ah_id)

TAP_VERBS_EVENT(async_event, (const struct tap_verbs_async *, a),
	lttng_ust_field_integer(uint32_t, context_id, a->context_id)
	lttng_ust_field_integer(int32_t, event, a->event)
	lttng_ust_field_integer(uint32_t, qp_id, a->qp_id)
	lttng_ust_field_integer(uint32_t, cq_id, a->cq_id)
	lttng_ust_field_integer(uint32_t, srq_id, a->srq_id)
	lttng_ust_field_integer(uint32_t, port_num, a->port_num))
TAP_VERBS_EVENT(comp_event_entry, (uint32_t, channel),
	lttng_ust_field_integer(uint32_t, channel_id, channel))
TAP_VERBS_EVENT(comp_event_exit, (uint32_t, channel, uint32_t, cq, int, result),
	lttng_ust_field_integer(uint32_t, channel_id, channel)
	lttng_ust_field_integer(uint32_t, cq_id, cq)
	lttng_ust_field_integer(int32_t, ret, result))
TAP_VERBS_EVENT(unobserved, (uint32_t, id, const char *, what_, const char *, why_),
	lttng_ust_field_integer(uint32_t, context_id, id)
	lttng_ust_field_string(what, what_)
	lttng_ust_field_string(why, why_))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
