/* SPDX-License-Identifier: MIT */
/* The fields of send requests, and the events that they go into. */
#include "verbs/request.h"

#include "verbs/way.h"

_Static_assert(TAP_VERBS_post_send + TAP_SEND_RDMA == TAP_VERBS_post_rdma &&
		       TAP_VERBS_post_send + TAP_SEND_DATAGRAM ==
			       TAP_VERBS_post_datagram &&
		       TAP_VERBS_post_send_list + TAP_SEND_RDMA ==
			       TAP_VERBS_post_rdma_list &&
		       TAP_VERBS_post_send_list + TAP_SEND_DATAGRAM ==
			       TAP_VERBS_post_datagram_list,
	       "the events of sends are not in the order of their kinds");

static bool has_imm(enum ibv_wr_opcode opcode)
{
	return tap_send_is(opcode,
			   1u << IBV_WR_SEND_WITH_IMM | 1u << IBV_WR_RDMA_WRITE_WITH_IMM |
				   1u << IBV_WR_SEND_WITH_INV | 1u << IBV_WR_LOCAL_INV);
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

struct tap_sends tap_sends_count(const struct tap_qp *q, const struct ibv_send_wr *wr,
				 const struct ibv_send_wr *end,
				 enum tap_send_kind *ret_kind)
{
	struct tap_sends sends = {0};

	*ret_kind = TAP_SEND_PLAIN;
	for (; wr && wr != end; wr = wr->next) {
		tap_send_count(&sends, q, wr);
		*ret_kind |= tap_send_kind(q, wr->opcode);
	}
	return sends;
}

void tap_send_fill(struct tap_send_record *record, const struct tap_qp *q,
		   enum tap_send_kind kind, const struct ibv_send_wr *wr)
{
	struct tap_verbs_post_send *send = &record->is.send;

	record->kind = kind;
	send->qp_id = q->head.id;
	send->life = tap_life_of(q);
	send->wr_id = wr->wr_id;
	send->opcode = (uint8_t) wr->opcode;
	send->send_flags = (uint8_t) wr->send_flags;
	send->num_sge = tap_small(wr->num_sge);
	send->length = tap_length_of(wr->sg_list, wr->num_sge);
	send->addr = wr->num_sge > 0 ? wr->sg_list[0].addr : 0;
	send->lkey = wr->num_sge > 0 ? wr->sg_list[0].lkey : 0;
	send->imm_data = has_imm(wr->opcode) ? wr->imm_data : 0;
	if (kind == TAP_SEND_RDMA) {
		const bool atomic = is_atomic(wr->opcode);

		record->is.rdma.remote_addr =
			atomic ? wr->wr.atomic.remote_addr : wr->wr.rdma.remote_addr;
		record->is.rdma.rkey = atomic ? wr->wr.atomic.rkey : wr->wr.rdma.rkey;
	} else if (kind == TAP_SEND_DATAGRAM) {
		record->is.datagram.remote_qpn = wr->wr.ud.remote_qpn;
		record->is.datagram.ah_id = tap_id_of(&tap_ahs, wr->wr.ud.ah);
	}
}

void tap_send_write(const struct tap_send_record *record)
{
	static const size_t lengths[] = {
		[TAP_SEND_PLAIN] = sizeof(struct tap_verbs_post_send),
		[TAP_SEND_RDMA] = sizeof(struct tap_verbs_post_rdma),
		[TAP_SEND_DATAGRAM] = sizeof(struct tap_verbs_post_datagram),
	};

	tap_verbs_write(TAP_VERBS_post_send + record->kind, &record->is,
			lengths[record->kind]);
}

/* What those of a list have besides: nothing where a request of an RDMA list is none. */
static void fill_rdma(struct tap_send_part *part, const struct ibv_send_wr *wr,
		      uint32_t nr)
{
	struct tap_verbs_post_rdma_list_arrays a;
	uint32_t i;

	part->length = tap_verbs_post_rdma_list_place(&part->room.rdma, nr, &a);
	for (i = 0; i < nr; i++, wr = wr->next) {
		if (is_atomic(wr->opcode)) {
			a.remote_addr[i].is = wr->wr.atomic.remote_addr;
			a.rkey[i].is = wr->wr.atomic.rkey;
		} else {
			const bool names_memory =
				wr->opcode == IBV_WR_RDMA_WRITE ||
				wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
				wr->opcode == IBV_WR_RDMA_READ;

			a.remote_addr[i].is = names_memory ? wr->wr.rdma.remote_addr : 0;
			a.rkey[i].is = names_memory ? wr->wr.rdma.rkey : 0;
		}
	}
}

static void fill_datagrams(struct tap_send_part *part, const struct ibv_send_wr *wr,
			   uint32_t nr)
{
	struct tap_verbs_post_datagram_list_arrays a;
	uint32_t i;

	part->length = tap_verbs_post_datagram_list_place(&part->room.datagram, nr, &a);
	for (i = 0; i < nr; i++, wr = wr->next) {
		a.remote_qpn[i].is = wr->wr.ud.remote_qpn;
		a.ah_id[i].is = tap_id_of(&tap_ahs, wr->wr.ud.ah);
	}
}

void tap_sends_fill(struct tap_send_part *part, const struct tap_qp *q,
		    enum tap_send_kind kind, const struct ibv_send_wr *wr, uint32_t limit)
{
	const uint32_t nr = limit < TAP_VERBS_LIST_MAX ? limit : TAP_VERBS_LIST_MAX;
	struct tap_verbs_post_send_list *record = &part->room.send.record;
	const struct ibv_send_wr *const first = wr;
	struct tap_verbs_post_send_list_arrays a;
	struct tap_sends all = {0};
	uint32_t i;

	part->kind = kind;
	part->lead = (struct tap_sends){0};
	part->length = tap_verbs_post_send_list_place(&part->room.send, nr, &a);
	record->qp_id = q->head.id;
	record->life = tap_life_of(q);
	record->num_wr = (uint8_t) nr;
	tap_send_count(&part->lead, q, wr);
	for (i = 0; i < nr; i++, wr = wr->next) {
		tap_send_count(&all, q, wr);
		a.wr_id[i].is = wr->wr_id;
		a.opcode[i].is = (uint8_t) wr->opcode;
		a.send_flags[i].is = (uint8_t) wr->send_flags;
		a.num_sge[i].is = tap_small(wr->num_sge);
		a.length[i].is = tap_length_of(wr->sg_list, wr->num_sge);
		a.addr[i].is = wr->num_sge > 0 ? wr->sg_list[0].addr : 0;
		a.imm_data[i].is = has_imm(wr->opcode) ? wr->imm_data : 0;
	}
	part->all = all;
	part->next = wr;
	if (kind == TAP_SEND_RDMA)
		fill_rdma(part, first, nr);
	else if (kind == TAP_SEND_DATAGRAM)
		fill_datagrams(part, first, nr);
}

void tap_sends_write(struct tap_send_part *part, const struct tap_qp *q,
		     const struct ibv_send_wr *wr, struct tap_sends first, uint32_t nr)
{
	struct tap_verbs_post_send_list *record = &part->room.send.record;

	/* Some were not accepted: what was filled in is too much. */
	if (nr && nr < record->num_wr)
		tap_sends_fill(part, q, part->kind, wr, nr);
	while (nr) {
		record->seq = first.nr + 1;
		record->signaled_seq = first.signaled + part->lead.signaled;
		record->consuming_seq = first.consuming + part->lead.consuming;
		tap_verbs_write(TAP_VERBS_post_send_list + part->kind, &part->room,
				part->length);
		first.nr += part->all.nr;
		first.signaled += part->all.signaled;
		first.consuming += part->all.consuming;
		nr -= part->all.nr;
		if (nr)
			tap_sends_fill(part, q, part->kind, part->next, nr);
	}
}
