/* SPDX-License-Identifier: MIT */
/* The fields of send requests, and the events that they go into. */
#include "verbs/request.h"

#include "verbs/entry_point.h"

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

/*
 * The tally of a list is one word with three sums: how many requests are signalled by a
 * flag, consume a receive, and name memory of the peer.  So each request costs one
 * addition for its opcode and one for its flags.
 */
#define TALLY_BITS 21
#define TALLY_MASK ((1u << TALLY_BITS) - 1)
#define SIGNALED UINT64_C(1)
#define CONSUMING (UINT64_C(1) << TALLY_BITS)
#define NAMES_MEMORY (UINT64_C(1) << 2 * TALLY_BITS)

_Static_assert(TAP_LIST_DEPTH <= TALLY_MASK, "a list may be longer than can be added up");
_Static_assert(IBV_SEND_SIGNALED == 2, "the flag is at another place");

/* clang-format off */
#define TALLY_OF(i) \
	((TAP_SEND_CONSUMES >> (i) & 1 ? CONSUMING : 0) + \
	 (TAP_SEND_NAMES_PEERS_MEMORY >> (i) & 1 ? NAMES_MEMORY : 0))
#define TALLY_OF_4(i) TALLY_OF(i), TALLY_OF(i + 1), TALLY_OF(i + 2), TALLY_OF(i + 3)
static const uint64_t tally_of[32] = {
	TALLY_OF_4(0), TALLY_OF_4(4), TALLY_OF_4(8), TALLY_OF_4(12),
	TALLY_OF_4(16), TALLY_OF_4(20), TALLY_OF_4(24), TALLY_OF_4(28),
};
/* clang-format on */

static struct tap_sends sends_of(const struct tap_qp *q, uint32_t nr, uint64_t tally)
{
	return (struct tap_sends){
		.nr = nr,
		.signaled = q->all_signaled ? nr : tally & TALLY_MASK,
		.consuming = tally / CONSUMING & TALLY_MASK,
	};
}

/* Reads requests until the list has `end` of them. */
tap_within static inline const struct ibv_send_wr *
read_up_to(struct tap_list *list, const struct ibv_send_wr *wr, uint32_t end,
	   bool has_marks)
{
	struct tap_mark *const marks = list->marks;
	uint64_t tally = list->tally;
	uint32_t nr = list->nr;

	for (; wr && nr < end; wr = wr->next, nr++) {
		if (has_marks)
			marks[nr] = (struct tap_mark){wr, tally};
		if (likely((unsigned) wr->opcode < ARRAY_SIZE(tally_of)))
			tally += tally_of[wr->opcode];
		tally += wr->send_flags / IBV_SEND_SIGNALED & SIGNALED;
	}
	list->nr = nr;
	list->tally = tally;
	return wr;
}

tap_hot struct tap_sends tap_sends_read(struct tap_list *list, const struct tap_qp *q,
					const struct ibv_send_wr *wr,
					enum tap_send_kind *ret_kind)
{
	const uint32_t limit = tap_list_limit(list->depth);

	list->nr = 0;
	list->tally = 0;
	wr = read_up_to(list, wr, limit < list->nr_marks ? limit : list->nr_marks, true);
	if (unlikely(wr))
		wr = read_up_to(list, wr, limit, false);
	list->rest = wr;
	*ret_kind = tap_send_kind_of(q, list->tally >= NAMES_MEMORY
						? TAP_SEND_NAMES_PEERS_MEMORY
						: 0);
	return sends_of(q, list->nr, list->tally);
}

struct tap_sends tap_sends_first(const struct tap_list *list, const struct tap_qp *q,
				 uint32_t nr)
{
	return sends_of(q, nr, nr == list->nr ? list->tally : list->marks[nr].tally);
}

void tap_send_fill(struct tap_send_record *record, const struct tap_qp *q,
		   enum tap_send_kind kind, const struct ibv_send_wr *wr)
{
	struct tap_verbs_post_send *send = &record->is.send;

	record->kind = kind;
	send->qp_id = q->head.id;
	send->generation = tap_generation_of(q);
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

/* The peer's address in a request of an RDMA list; 0 if its opcode has none. */
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

/* Inlined once for each kind.  Returns the request after the last one. */
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
	record->generation = tap_generation_of(q);
	record->num_wr = (uint8_t) nr;
	if (likely(kind == TAP_SEND_RDMA))
		return fill_list(part, TAP_SEND_RDMA, wr, nr);
	if (kind == TAP_SEND_PLAIN)
		return fill_list(part, TAP_SEND_PLAIN, wr, nr);
	return fill_list(part, TAP_SEND_DATAGRAM, wr, nr);
}

/* Shortens an event whose requests were accepted only in part. */
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
