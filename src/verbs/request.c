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

static bool names_range(enum ibv_wr_opcode opcode)
{
	return tap_send_is(opcode, 1u << IBV_WR_RDMA_WRITE |
					   1u << IBV_WR_RDMA_WRITE_WITH_IMM |
					   1u << IBV_WR_RDMA_READ);
}

tap_hot struct tap_sends tap_sends_read(struct tap_list *list, const struct tap_qp *q,
					const struct ibv_send_wr *wr,
					enum tap_send_kind *ret_kind)
{
	const uint32_t depth = tap_list_depth(q->about.max_send_wr);
	struct tap_sends sends = {0};
	uint32_t opcodes = 0;

	for (; wr && sends.nr < depth; wr = wr->next) {
		if (likely(sends.nr < list->nr_marks))
			list->marks[sends.nr] =
				(struct tap_mark){wr, wr->wr_id, sends.signaled,
						  sends.consuming};
		tap_send_count(&sends, q, wr);
		opcodes |= tap_send_bit(wr->opcode);
	}
	list->nr = sends.nr;
	list->rest = wr;
	*ret_kind = tap_send_kind_of(q, opcodes);
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

/* What a request of an RDMA list has: nothing where it is none. */
static inline uint64_t peers_address(const struct ibv_send_wr *wr)
{
	if (unlikely(is_atomic(wr->opcode)))
		return wr->wr.atomic.remote_addr;
	return names_range(wr->opcode) ? wr->wr.rdma.remote_addr : 0;
}

static inline uint32_t peers_key(const struct ibv_send_wr *wr)
{
	if (unlikely(is_atomic(wr->opcode)))
		return wr->wr.atomic.rkey;
	return names_range(wr->opcode) ? wr->wr.rdma.rkey : 0;
}

/* Within its caller, once for each kind.  The request after them. */
tap_within static inline const struct ibv_send_wr *fill_list(struct tap_send_part *part,
							     enum tap_send_kind kind,
							     const struct ibv_send_wr *wr,
							     uint32_t nr)
{
	struct tap_verbs_post_datagram_list_arrays datagram;
	struct tap_verbs_post_rdma_list_arrays rdma;
	struct tap_verbs_post_send_list_arrays a;
	uint32_t i;

	part->length = tap_verbs_post_send_list_place(&part->room.send, nr, &a);
	if (kind == TAP_SEND_RDMA)
		part->length =
			tap_verbs_post_rdma_list_place(&part->room.rdma, nr, &rdma);
	else if (kind == TAP_SEND_DATAGRAM)
		part->length = tap_verbs_post_datagram_list_place(&part->room.datagram,
								  nr, &datagram);
	for (i = 0; i < nr; i++, wr = wr->next) {
		a.wr_id[i].is = wr->wr_id;
		a.opcode[i].is = (uint8_t) wr->opcode;
		a.send_flags[i].is = (uint8_t) wr->send_flags;
		a.num_sge[i].is = tap_small(wr->num_sge);
		a.length[i].is = tap_length_of(wr->sg_list, wr->num_sge);
		a.addr[i].is = wr->num_sge > 0 ? wr->sg_list[0].addr : 0;
		a.imm_data[i].is = has_imm(wr->opcode) ? wr->imm_data : 0;
		if (kind == TAP_SEND_RDMA) {
			rdma.remote_addr[i].is = peers_address(wr);
			rdma.rkey[i].is = peers_key(wr);
		} else if (kind == TAP_SEND_DATAGRAM) {
			datagram.remote_qpn[i].is = wr->wr.ud.remote_qpn;
			datagram.ah_id[i].is = tap_id_of(&tap_ahs, wr->wr.ud.ah);
		}
	}
	return wr;
}

const struct ibv_send_wr *tap_sends_fill(struct tap_send_part *part,
					 const struct tap_qp *q, enum tap_send_kind kind,
					 const struct ibv_send_wr *wr, uint32_t nr)
{
	struct tap_verbs_post_send_list *record = &part->room.send.record;

	part->lead = (struct tap_sends){0};
	tap_send_count(&part->lead, q, wr);
	record->qp_id = q->head.id;
	record->life = tap_life_of(q);
	record->num_wr = (uint8_t) nr;
	if (likely(kind == TAP_SEND_RDMA))
		return fill_list(part, TAP_SEND_RDMA, wr, nr);
	if (kind == TAP_SEND_PLAIN)
		return fill_list(part, TAP_SEND_PLAIN, wr, nr);
	return fill_list(part, TAP_SEND_DATAGRAM, wr, nr);
}

/* Only some were accepted: what was filled in is too much. */
tap_cold static void shorten(struct tap_send_part *part, enum tap_send_kind kind,
			     uint32_t nr)
{
	const uint32_t before = part->room.send.record.num_wr;

	if (kind == TAP_SEND_RDMA)
		part->length =
			tap_verbs_post_rdma_list_shorten(&part->room.rdma, before, nr);
	else if (kind == TAP_SEND_PLAIN)
		part->length =
			tap_verbs_post_send_list_shorten(&part->room.send, before, nr);
	else
		part->length = tap_verbs_post_datagram_list_shorten(&part->room.datagram,
								    before, nr);
	part->room.send.record.num_wr = (uint8_t) nr;
}

void tap_sends_write(struct tap_send_part *part, enum tap_send_kind kind,
		     struct tap_sends before, uint32_t nr)
{
	struct tap_verbs_post_send_list *record = &part->room.send.record;

	if (unlikely(nr < record->num_wr))
		shorten(part, kind, nr);
	record->seq = before.nr + 1;
	record->signaled_seq = before.signaled + part->lead.signaled;
	record->consuming_seq = before.consuming + part->lead.consuming;
	tap_verbs_write(TAP_VERBS_post_send_list + kind, &part->room, part->length);
}
