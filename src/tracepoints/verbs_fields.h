/* SPDX-License-Identifier: MIT */
/* The fields that an event of "verbs" shares with a state dump event of "tap". */
#ifndef TAP_TRACEPOINTS_VERBS_FIELDS_H
#define TAP_TRACEPOINTS_VERBS_FIELDS_H

#include "tracepoints/verbs_events.h"

/* clang-format off */
#define TAP_VERBS_CONTEXT_FIELDS \
	lttng_ust_field_integer(uint32_t, context_id, c->context_id) \
	lttng_ust_field_string(device, c->device) \
	lttng_ust_field_integer_hex(uint64_t, node_guid, c->node_guid) \
	lttng_ust_field_integer(uint32_t, num_ports, c->num_ports) \
	lttng_ust_field_integer(int32_t, transport, c->transport) \
	lttng_ust_field_integer_hex(uint32_t, vendor_id, c->vendor_id) \
	lttng_ust_field_integer(uint32_t, vendor_part_id, c->vendor_part_id) \
	lttng_ust_field_string(provider, c->provider) \
	lttng_ust_field_integer(uint8_t, extended, c->extended) \
	lttng_ust_field_integer(uint8_t, observed, c->observed)

#define TAP_VERBS_PORT_FIELDS \
	lttng_ust_field_integer(uint32_t, context_id, p->context_id) \
	lttng_ust_field_integer(uint8_t, port_num, p->port_num) \
	lttng_ust_field_integer(int32_t, state, p->state) \
	lttng_ust_field_integer(uint8_t, link_layer, p->link_layer) \
	lttng_ust_field_integer(int32_t, active_mtu, p->active_mtu) \
	lttng_ust_field_integer(uint32_t, lid, p->lid) \
	lttng_ust_field_integer(uint32_t, active_speed, p->active_speed) \
	lttng_ust_field_integer(uint32_t, active_width, p->active_width)

#define TAP_VERBS_GID_FIELDS \
	lttng_ust_field_integer(uint32_t, context_id, g->context_id) \
	lttng_ust_field_integer(uint8_t, port_num, g->port_num) \
	lttng_ust_field_integer(uint32_t, index, g->index) \
	lttng_ust_field_integer_hex(uint64_t, gid_hi, g->gid.hi) \
	lttng_ust_field_integer_hex(uint64_t, gid_lo, g->gid.lo)

#define TAP_VERBS_MR_FIELDS \
	lttng_ust_field_integer(uint32_t, mr_id, m->mr_id) \
	lttng_ust_field_integer(uint32_t, context_id, m->context_id) \
	lttng_ust_field_integer_hex(uint64_t, addr, m->addr) \
	lttng_ust_field_integer(uint64_t, length, m->length) \
	lttng_ust_field_integer_hex(uint32_t, lkey, m->lkey) \
	lttng_ust_field_integer_hex(uint32_t, rkey, m->rkey) \
	lttng_ust_field_integer_hex(uint32_t, access, m->access) \
	lttng_ust_field_integer(uint8_t, kind, m->kind)

#define TAP_VERBS_CQ_FIELDS \
	lttng_ust_field_integer(uint32_t, cq_id, c->cq_id) \
	lttng_ust_field_integer(uint32_t, context_id, c->context_id) \
	lttng_ust_field_integer(int32_t, cqe, c->cqe) \
	lttng_ust_field_integer_hex(uint64_t, cq_context, c->cq_context) \
	lttng_ust_field_integer(uint32_t, channel_id, c->channel_id) \
	lttng_ust_field_integer(uint8_t, extended, c->extended)

#define TAP_VERBS_SRQ_FIELDS \
	lttng_ust_field_integer(uint32_t, srq_id, s->srq_id) \
	lttng_ust_field_integer(uint32_t, context_id, s->context_id) \
	lttng_ust_field_integer(uint32_t, max_wr, s->max_wr)

#define TAP_VERBS_AH_FIELDS \
	lttng_ust_field_integer(uint32_t, ah_id, a->ah_id) \
	lttng_ust_field_integer(uint32_t, context_id, a->context_id) \
	lttng_ust_field_integer_hex(uint64_t, dgid_hi, a->dgid.hi) \
	lttng_ust_field_integer_hex(uint64_t, dgid_lo, a->dgid.lo) \
	lttng_ust_field_integer(uint32_t, dlid, a->dlid) \
	lttng_ust_field_integer(uint8_t, is_global, a->is_global)

#define TAP_VERBS_QP_FIELDS \
	lttng_ust_field_integer(uint32_t, qp_id, q->qp_id) \
	lttng_ust_field_integer(uint32_t, context_id, q->context_id) \
	lttng_ust_field_integer(uint32_t, qp_num, q->qp_num) \
	lttng_ust_field_integer(int32_t, type, q->type) \
	lttng_ust_field_integer(uint32_t, send_cq_id, q->send_cq_id) \
	lttng_ust_field_integer(uint32_t, recv_cq_id, q->recv_cq_id) \
	lttng_ust_field_integer(uint32_t, srq_id, q->srq_id) \
	lttng_ust_field_integer_hex(uint64_t, qp_context, q->qp_context) \
	lttng_ust_field_integer(uint32_t, max_send_wr, q->max_send_wr) \
	lttng_ust_field_integer(uint32_t, max_recv_wr, q->max_recv_wr) \
	lttng_ust_field_integer(uint32_t, max_inline_data, q->max_inline_data) \
	lttng_ust_field_integer(uint8_t, sq_sig_all, q->sq_sig_all) \
	lttng_ust_field_integer(uint8_t, extended, q->extended)

#define TAP_VERBS_MODIFY_FIELDS \
	lttng_ust_field_integer(uint32_t, generation, m->generation) \
	lttng_ust_field_integer_hex(uint32_t, attr_mask, m->attr_mask) \
	lttng_ust_field_integer(int32_t, state, m->state) \
	lttng_ust_field_integer(uint32_t, dest_qp_num, m->dest_qp_num) \
	lttng_ust_field_integer_hex(uint64_t, dgid_hi, m->dgid.hi) \
	lttng_ust_field_integer_hex(uint64_t, dgid_lo, m->dgid.lo) \
	lttng_ust_field_integer(uint32_t, dlid, m->dlid) \
	lttng_ust_field_integer_hex(uint64_t, sgid_hi, m->sgid.hi) \
	lttng_ust_field_integer_hex(uint64_t, sgid_lo, m->sgid.lo) \
	lttng_ust_field_integer(uint32_t, slid, m->slid) \
	lttng_ust_field_integer(uint8_t, port_num, m->port_num) \
	lttng_ust_field_integer(uint8_t, is_global, m->is_global) \
	lttng_ust_field_integer(uint32_t, sq_psn, m->sq_psn) \
	lttng_ust_field_integer(uint32_t, rq_psn, m->rq_psn) \
	lttng_ust_field_integer(int32_t, path_mtu, m->path_mtu) \
	lttng_ust_field_integer(uint8_t, timeout, m->timeout) \
	lttng_ust_field_integer(uint8_t, retry_cnt, m->retry_cnt) \
	lttng_ust_field_integer(uint8_t, rnr_retry, m->rnr_retry)
/* clang-format on */

#endif
