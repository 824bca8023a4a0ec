/* SPDX-License-Identifier: MIT */
/*
 * Send requests, as they are counted and recorded.  The tracer fills in before the post
 * all that may be gone when it writes the event.
 *
 * It hides which fields only some requests have, and which event a request belongs to.
 * The tracer never follows the addresses in a request.
 */
#ifndef TAP_VERBS_REQUEST_H
#define TAP_VERBS_REQUEST_H

#include "verbs/list.h"
#include "verbs/objects.h"

struct tap_sends {
	uint32_t nr, signaled, consuming;
};

/* The number of a kind's event is that of post_send, or post_send_list, plus the kind. */
enum tap_send_kind { TAP_SEND_PLAIN, TAP_SEND_RDMA, TAP_SEND_DATAGRAM };

static inline uint32_t tap_send_bit(enum ibv_wr_opcode opcode)
{
	return (unsigned) opcode < 32 ? 1u << opcode : 0;
}

static inline bool tap_send_is(enum ibv_wr_opcode opcode, uint32_t opcodes)
{
	return tap_send_bit(opcode) & opcodes;
}

#define TAP_SEND_CONSUMES \
	(1u << IBV_WR_SEND | 1u << IBV_WR_SEND_WITH_IMM | 1u << IBV_WR_SEND_WITH_INV | \
	 1u << IBV_WR_RDMA_WRITE_WITH_IMM)

static inline bool tap_send_is_consuming(enum ibv_wr_opcode opcode)
{
	return tap_send_is(opcode, TAP_SEND_CONSUMES);
}

/* Opcodes of the extended interface alone; not every header has them. */
#ifdef HAVE_STRUCT_IBV_QP_EX_WR_ATOMIC_WRITE
#define TAP_SEND_ATOMIC_WRITE (1u << IBV_WR_ATOMIC_WRITE)
#else
#define TAP_SEND_ATOMIC_WRITE 0
#endif
#ifdef HAVE_STRUCT_IBV_QP_EX_WR_FLUSH
#define TAP_SEND_FLUSH (1u << IBV_WR_FLUSH)
#else
#define TAP_SEND_FLUSH 0
#endif

#define TAP_SEND_NAMES_PEERS_MEMORY \
	(1u << IBV_WR_RDMA_WRITE | 1u << IBV_WR_RDMA_WRITE_WITH_IMM | \
	 1u << IBV_WR_RDMA_READ | 1u << IBV_WR_ATOMIC_CMP_AND_SWP | \
	 1u << IBV_WR_ATOMIC_FETCH_AND_ADD | TAP_SEND_ATOMIC_WRITE | TAP_SEND_FLUSH)

/*
 * opcodes has a bit for each opcode of a list; the kind is the one with the most fields.
 */
static inline enum tap_send_kind tap_send_kind_of(const struct tap_qp *q,
						  uint32_t opcodes)
{
	if (unlikely(q->is_ud))
		return TAP_SEND_DATAGRAM;
	return opcodes & TAP_SEND_NAMES_PEERS_MEMORY ? TAP_SEND_RDMA : TAP_SEND_PLAIN;
}

static inline enum tap_send_kind tap_send_kind(const struct tap_qp *q,
					       enum ibv_wr_opcode opcode)
{
	return tap_send_kind_of(q, tap_send_bit(opcode));
}

static inline void tap_sends_add(struct tap_sends *sends, const struct tap_qp *q,
				 enum ibv_wr_opcode opcode, unsigned flags)
{
	sends->nr++;
	sends->signaled += q->all_signaled || flags & IBV_SEND_SIGNALED;
	sends->consuming += tap_send_is_consuming(opcode);
}

static inline void tap_send_count(struct tap_sends *sends, const struct tap_qp *q,
				  const struct ibv_send_wr *wr)
{
	tap_sends_add(sends, q, wr->opcode, wr->send_flags);
}

/* Reads a list after tap_list_begin(); *ret_kind is the kind of the whole list. */
struct tap_sends tap_sends_read(struct tap_list *list, const struct tap_qp *q,
				const struct ibv_send_wr *wr,
				enum tap_send_kind *ret_kind) tap_hidden;

/*
 * The counts of the first nr requests of a list: of all, or of those before a marked one.
 */
struct tap_sends tap_sends_first(const struct tap_list *list, const struct tap_qp *q,
				 uint32_t nr) tap_hidden;

/* One request; `send` has the fields that all kinds share. */
struct tap_send_record {
	enum tap_send_kind kind;
	union {
		struct tap_verbs_post_send send;
		struct tap_verbs_post_rdma rdma;
		struct tap_verbs_post_datagram datagram;
	} is;
};

void tap_send_fill(struct tap_send_record *record, const struct tap_qp *q,
		   enum tap_send_kind kind, const struct ibv_send_wr *wr) tap_hidden;
void tap_send_write(const struct tap_send_record *record) tap_hidden;

/* A part of a list that is one event. */
struct tap_send_part {
	size_t length;
	struct tap_sends lead; /* of its first request */
	union {
		struct tap_verbs_post_send_list_room send;
		struct tap_verbs_post_rdma_list_room rdma;
		struct tap_verbs_post_datagram_list_room datagram;
	} room;
};

/*
 * Describes the nr requests from wr on, which one event has room for.  Returns the
 * request after them.
 */
const struct ibv_send_wr *tap_sends_fill(struct tap_send_part *part,
					 const struct tap_qp *q, enum tap_send_kind kind,
					 const struct ibv_send_wr *wr,
					 uint32_t nr) tap_hidden;
/* Writes the first nr requests of a part; `before` counts those accepted before them. */
void tap_sends_write(struct tap_send_part *part, enum tap_send_kind kind,
		     struct tap_sends before, uint32_t nr) tap_hidden;

/* The sum over all pieces, at most UINT32_MAX. */
static inline uint32_t tap_length_of(const struct ibv_sge *sge, int nr)
{
	uint64_t length = 0;
	int i;

	if (likely(nr == 1))
		return sge->length;
	for (i = 0; i < nr; i++)
		length += sge[i].length;
	return length > UINT32_MAX ? UINT32_MAX : (uint32_t) length;
}

static inline uint8_t tap_small(int n)
{
	return (uint8_t) (n > UINT8_MAX ? UINT8_MAX : n);
}

#endif
