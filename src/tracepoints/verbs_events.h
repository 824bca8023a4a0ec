/* SPDX-License-Identifier: MIT */
/*
 * What the events of the provider "verbs" have: a record for each hot event, made from
 * one row, and plain structures for the others.
 *
 * A row is X_ROW(INT, SEQ): INT(type, name, base of the number when shown) for a field,
 * SEQ(type, name, name of the field with its length, base) for an array.  The record has
 * the fields of the row, packed, in its order; the description for LTTng is made from the
 * same row (packed.h).  A released row may gain fields, never lose or rename one.
 *
 * It hides how a record and its arrays are laid out.
 */
#ifndef TAP_TRACEPOINTS_VERBS_EVENTS_H
#define TAP_TRACEPOINTS_VERBS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* clang-format off */
/*
 * The fields that all requests share; those of its kind follow.  Most requests that NCCL
 * posts name memory of the peer, few are datagrams.  generation is 0 for the newest one
 * if its number does not fit into 16 bits.
 */
#define TAP_VERBS_POSTED(INT) \
	INT(uint64_t, begin_ns, 10) \
	INT(uint32_t, qp_id, 10) \
	INT(uint16_t, generation, 10) \
	INT(uint32_t, seq, 10) \
	INT(uint32_t, signaled_seq, 10) \
	INT(uint32_t, consuming_seq, 10) \
	INT(uint8_t, concurrent, 10)

#define TAP_VERBS_POST_SEND_ROW(INT, SEQ) \
	TAP_VERBS_POSTED(INT) \
	INT(uint64_t, wr_id, 10) \
	INT(uint8_t, opcode, 10) \
	INT(uint8_t, send_flags, 16) \
	INT(uint8_t, num_sge, 10) \
	INT(uint32_t, length, 10) \
	INT(uint64_t, addr, 16) \
	INT(uint32_t, lkey, 16) \
	INT(uint32_t, imm_data, 16)

#define TAP_VERBS_POST_RDMA_ROW(INT, SEQ) \
	TAP_VERBS_POST_SEND_ROW(INT, SEQ) \
	INT(uint64_t, remote_addr, 16) \
	INT(uint32_t, rkey, 16)

#define TAP_VERBS_POST_DATAGRAM_ROW(INT, SEQ) \
	TAP_VERBS_POST_SEND_ROW(INT, SEQ) \
	INT(uint32_t, remote_qpn, 10) \
	INT(uint32_t, ah_id, 10)

#define TAP_VERBS_POST_SEND_LIST_ROW(INT, SEQ) \
	TAP_VERBS_POSTED(INT) \
	INT(uint8_t, num_wr, 10) \
	SEQ(uint64_t, wr_id, num_wr, 10) \
	SEQ(uint8_t, opcode, num_wr, 10) \
	SEQ(uint8_t, send_flags, num_wr, 16) \
	SEQ(uint8_t, num_sge, num_wr, 10) \
	SEQ(uint32_t, length, num_wr, 10) \
	SEQ(uint64_t, addr, num_wr, 16) \
	SEQ(uint32_t, imm_data, num_wr, 16)

#define TAP_VERBS_POST_RDMA_LIST_ROW(INT, SEQ) \
	TAP_VERBS_POST_SEND_LIST_ROW(INT, SEQ) \
	SEQ(uint64_t, remote_addr, num_wr, 16) \
	SEQ(uint32_t, rkey, num_wr, 16)

#define TAP_VERBS_POST_DATAGRAM_LIST_ROW(INT, SEQ) \
	TAP_VERBS_POST_SEND_LIST_ROW(INT, SEQ) \
	SEQ(uint32_t, remote_qpn, num_wr, 10) \
	SEQ(uint32_t, ah_id, num_wr, 10)

#define TAP_VERBS_POST_RECV_ROW(INT, SEQ) \
	INT(uint64_t, begin_ns, 10) \
	INT(uint32_t, qp_id, 10) \
	INT(uint32_t, srq_id, 10) \
	INT(uint16_t, generation, 10) \
	INT(uint32_t, seq, 10) \
	INT(uint8_t, concurrent, 10) \
	INT(uint64_t, wr_id, 10) \
	INT(uint8_t, num_sge, 10) \
	INT(uint32_t, length, 10) \
	INT(uint64_t, addr, 16)

#define TAP_VERBS_POST_RECV_LIST_ROW(INT, SEQ) \
	INT(uint64_t, begin_ns, 10) \
	INT(uint32_t, qp_id, 10) \
	INT(uint32_t, srq_id, 10) \
	INT(uint16_t, generation, 10) \
	INT(uint32_t, seq, 10) \
	INT(uint8_t, concurrent, 10) \
	INT(uint8_t, num_wr, 10) \
	SEQ(uint64_t, wr_id, num_wr, 10) \
	SEQ(uint8_t, num_sge, num_wr, 10) \
	SEQ(uint32_t, length, num_wr, 10) \
	SEQ(uint64_t, addr, num_wr, 16)

#define TAP_VERBS_POST_FAILED_ROW(INT, SEQ) \
	INT(uint32_t, qp_id, 10) \
	INT(uint32_t, srq_id, 10) \
	INT(uint8_t, is_recv, 10) \
	INT(int32_t, ret, 10) \
	INT(uint32_t, accepted, 10) \
	INT(uint64_t, wr_id, 10)

/* What all polls begin with. */
#define TAP_VERBS_POLLED(INT) \
	INT(uint32_t, cq_id, 10) \
	INT(uint64_t, first_seq, 10) \
	INT(uint32_t, empty_polls, 10) \
	INT(uint8_t, concurrent, 10)

#define TAP_VERBS_POLL_ROW(INT, SEQ) \
	TAP_VERBS_POLLED(INT) \
	INT(uint8_t, num_wc, 10) \
	SEQ(uint64_t, wr_id, num_wc, 10) \
	SEQ(uint32_t, qp_id, num_wc, 10) \
	SEQ(uint16_t, generation, num_wc, 10) \
	SEQ(uint32_t, seq, num_wc, 10) \
	SEQ(uint8_t, status, num_wc, 10) \
	SEQ(uint8_t, opcode, num_wc, 10) \
	SEQ(uint8_t, is_recv, num_wc, 10) \
	SEQ(uint32_t, byte_len, num_wc, 10) \
	SEQ(uint32_t, imm_data, num_wc, 16) \
	SEQ(uint8_t, wc_flags, num_wc, 16)

/*
 * For a poll with a failed completion, a datagram, or a completion of an unknown queue
 * pair.
 */
#define TAP_VERBS_POLL_DETAILED_ROW(INT, SEQ) \
	TAP_VERBS_POLL_ROW(INT, SEQ) \
	SEQ(uint32_t, src_qp, num_wc, 10) \
	SEQ(uint32_t, vendor_err, num_wc, 10)

/*
 * For sends and writes of one queue pair that all succeeded: of such a completion verbs
 * define no byte_len and no imm_data (ibv_poll_cq(3)).  seq is that of the first one; the
 * others follow.
 */
#define TAP_VERBS_POLL_SENT_ROW(INT, SEQ) \
	TAP_VERBS_POLLED(INT) \
	INT(uint32_t, qp_id, 10) \
	INT(uint16_t, generation, 10) \
	INT(uint32_t, seq, 10) \
	INT(uint8_t, opcode, 10) \
	INT(uint8_t, is_recv, 10) \
	INT(uint8_t, num_wc, 10) \
	SEQ(uint64_t, wr_id, num_wc, 10)

/*
 * A bit of wc_flags that the header leaves free: the program did not ask for all of
 * byte_len, imm_data and src_qp; a field that it did not ask for is 0.
 */
#define TAP_VERBS_WC_UNREAD 0x80

/* X(name of the event, its row); those of sends in the order of enum tap_send_kind. */
#define TAP_VERBS_HOT(X) \
	X(post_send, TAP_VERBS_POST_SEND_ROW) \
	X(post_rdma, TAP_VERBS_POST_RDMA_ROW) \
	X(post_datagram, TAP_VERBS_POST_DATAGRAM_ROW) \
	X(post_send_list, TAP_VERBS_POST_SEND_LIST_ROW) \
	X(post_rdma_list, TAP_VERBS_POST_RDMA_LIST_ROW) \
	X(post_datagram_list, TAP_VERBS_POST_DATAGRAM_LIST_ROW) \
	X(post_recv, TAP_VERBS_POST_RECV_ROW) \
	X(post_recv_list, TAP_VERBS_POST_RECV_LIST_ROW) \
	X(post_failed, TAP_VERBS_POST_FAILED_ROW) \
	X(poll, TAP_VERBS_POLL_ROW) \
	X(poll_detailed, TAP_VERBS_POLL_DETAILED_ROW) \
	X(poll_sent, TAP_VERBS_POLL_SENT_ROW)

#define TAP_VERBS_HOT_NUMBER(name, ROW) TAP_VERBS_##name,
enum tap_verbs_hot { TAP_VERBS_HOT(TAP_VERBS_HOT_NUMBER) TAP_VERBS_HOT_NR };
#undef TAP_VERBS_HOT_NUMBER

/* The fields of a row, and its arrays, which all have the same number of elements. */
#define TAP_ROW_MEMBER(type, name, base) type name;
#define TAP_ROW_ARRAY(type, name, of, base) \
	struct { \
		type is; \
	} __attribute__((packed)) *name;
#define TAP_ROW_PLACE(type, name, of, base) \
	ret_arrays->name = (void *) at; \
	at += nr * sizeof(type);
#define TAP_ROW_MOVE(type, name, of, base) memmove(to.name, from.name, nr * sizeof(type));
#define TAP_ROW_NO_INT(type, name, base)
#define TAP_ROW_NO_SEQ(type, name, of, base)
#define TAP_ROW_SIZE(type, name, of, base) + sizeof(type)

#define TAP_VERBS_HOT_RECORD(name, ROW) \
	struct tap_verbs_##name { \
		ROW(TAP_ROW_MEMBER, TAP_ROW_NO_SEQ) \
	} __attribute__((packed));
TAP_VERBS_HOT(TAP_VERBS_HOT_RECORD)
#undef TAP_VERBS_HOT_RECORD
struct tap_verbs_polled {
	TAP_VERBS_POLLED(TAP_ROW_MEMBER)
} __attribute__((packed));

/*
 * For an event with arrays: _room holds it, _place() sets the addresses of the arrays for
 * nr elements and returns the length of the event, _shorten() leaves only the first nr
 * elements.
 */
#define TAP_VERBS_LIST(name, ROW) \
	struct tap_verbs_##name##_room { \
		struct tap_verbs_##name record; \
		char arrays[TAP_VERBS_LIST_MAX * (0 ROW(TAP_ROW_NO_INT, TAP_ROW_SIZE))]; \
	} __attribute__((packed)); \
	struct tap_verbs_##name##_arrays { \
		ROW(TAP_ROW_NO_INT, TAP_ROW_ARRAY) \
	}; \
	static inline size_t tap_verbs_##name##_place( \
		struct tap_verbs_##name##_room *room, size_t nr, \
		struct tap_verbs_##name##_arrays *ret_arrays) \
	{ \
		char *at = room->arrays; \
		ROW(TAP_ROW_NO_INT, TAP_ROW_PLACE) \
		return (size_t) (at - (char *) room); \
	} \
	static inline size_t tap_verbs_##name##_shorten( \
		struct tap_verbs_##name##_room *room, size_t before, size_t nr) \
	{ \
		struct tap_verbs_##name##_arrays from, to; \
		const size_t length = tap_verbs_##name##_place(room, nr, &to); \
		(void) tap_verbs_##name##_place(room, before, &from); \
		ROW(TAP_ROW_NO_INT, TAP_ROW_MOVE) \
		return length; \
	}
/* The most requests or completions of one event. */
#define TAP_VERBS_LIST_MAX 32
TAP_VERBS_LIST(post_send_list, TAP_VERBS_POST_SEND_LIST_ROW)
TAP_VERBS_LIST(post_rdma_list, TAP_VERBS_POST_RDMA_LIST_ROW)
TAP_VERBS_LIST(post_datagram_list, TAP_VERBS_POST_DATAGRAM_LIST_ROW)
TAP_VERBS_LIST(post_recv_list, TAP_VERBS_POST_RECV_LIST_ROW)
TAP_VERBS_LIST(poll, TAP_VERBS_POLL_ROW)
TAP_VERBS_LIST(poll_detailed, TAP_VERBS_POLL_DETAILED_ROW)
TAP_VERBS_LIST(poll_sent, TAP_VERBS_POLL_SENT_ROW)
/* clang-format on */

/* ---- Set-up.  Strings are never NULL, an unknown number is 0. ---- */

struct tap_verbs_context {
	uint32_t context_id;
	const char *device;
	uint64_t node_guid;
	uint32_t num_ports;
	int32_t transport;
	uint32_t vendor_id, vendor_part_id;
	const char *provider; /* the file that contains the context's post_send */
	bool extended, observed;
};

struct tap_verbs_port {
	uint32_t context_id;
	uint8_t port_num;
	int32_t state;
	uint8_t link_layer;
	int32_t active_mtu;
	uint32_t lid;
	uint32_t active_speed, active_width;
};

struct tap_verbs_gid {
	uint64_t hi, lo; /* the bytes of the GID in their order */
};

struct tap_verbs_port_gid {
	uint32_t context_id;
	uint8_t port_num;
	uint32_t index;
	struct tap_verbs_gid gid;
};

struct tap_verbs_pd {
	uint32_t pd_id, context_id;
};

enum tap_verbs_mr_kind { TAP_MR_PLAIN, TAP_MR_IOVA, TAP_MR_DMABUF, TAP_MR_NULL };

struct tap_verbs_mr {
	uint32_t mr_id, context_id;
	uint64_t addr, length;
	uint32_t lkey, rkey, access;
	enum tap_verbs_mr_kind kind;
};

struct tap_verbs_cq {
	uint32_t cq_id, context_id;
	int32_t cqe;
	uint64_t cq_context;
	uint32_t channel_id;
	bool extended;
};

struct tap_verbs_srq {
	uint32_t srq_id, context_id, max_wr;
};

struct tap_verbs_qp {
	uint32_t qp_id, context_id, qp_num;
	int32_t type;
	uint32_t send_cq_id, recv_cq_id, srq_id;
	uint64_t qp_context;
	uint32_t max_send_wr, max_recv_wr, max_inline_data;
	bool sq_sig_all, extended;
};

/*
 * What a modification and earlier ones of the generation set, 0 for the rest, and its
 * result.
 */
struct tap_verbs_qp_modify {
	uint32_t qp_id, generation;
	uint32_t attr_mask;
	int32_t state; /* -1: not set */
	uint32_t dest_qp_num;
	struct tap_verbs_gid dgid, sgid;
	uint32_t dlid, slid;
	uint8_t port_num;
	bool is_global;
	uint32_t sq_psn, rq_psn;
	int32_t path_mtu;
	uint8_t timeout, retry_cnt, rnr_retry;
	int32_t ret;
};

struct tap_verbs_qp_counts {
	uint32_t sent, signaled, consuming, recv_posted, send_completed, recv_completed;
};

struct tap_verbs_ah {
	uint32_t ah_id, context_id;
	struct tap_verbs_gid dgid;
	uint32_t dlid;
	bool is_global;
};

struct tap_verbs_async {
	uint32_t context_id;
	int32_t event;
	uint32_t qp_id, cq_id, srq_id;
	uint32_t port_num;
};

/* The kinds of objects whose end is an event. */
enum tap_verbs_gone {
	TAP_GONE_CONTEXT,
	TAP_GONE_PD,
	TAP_GONE_MR,
	TAP_GONE_CQ,
	TAP_GONE_SRQ,
	TAP_GONE_QP,
	TAP_GONE_AH,
};

struct tap_verbs_events {
	/* The switches and events of the rows, by enum tap_verbs_hot. */
	const int *on[TAP_VERBS_HOT_NR];
	void (*write[TAP_VERBS_HOT_NR])(const void *record, size_t length);

	void (*context)(const struct tap_verbs_context *context, bool is_statedump);
	void (*port)(const struct tap_verbs_port *port, bool is_statedump);
	void (*gid)(const struct tap_verbs_port_gid *gid, bool is_statedump);
	void (*pd)(const struct tap_verbs_pd *pd);
	void (*mr)(const struct tap_verbs_mr *mr, bool is_statedump);
	void (*cq)(const struct tap_verbs_cq *cq, bool is_statedump);
	void (*srq)(const struct tap_verbs_srq *srq, bool is_statedump);
	void (*qp)(const struct tap_verbs_qp *qp);
	void (*statedump_qp)(const struct tap_verbs_qp *qp,
			     const struct tap_verbs_qp_modify *modify,
			     const struct tap_verbs_qp_counts *counts);
	void (*qp_modify)(const struct tap_verbs_qp_modify *modify);
	void (*ah)(const struct tap_verbs_ah *ah, bool is_statedump);
	void (*gone)(enum tap_verbs_gone what, uint32_t id);
	void (*async_event)(const struct tap_verbs_async *async);
	void (*comp_event_entry)(uint32_t channel_id);
	void (*comp_event_exit)(uint32_t channel_id, uint32_t cq_id, int ret);
	void (*unobserved)(uint32_t context_id, const char *what, const char *why);
	void (*polling)(uint32_t cq_id, uint64_t empty_polls, uint64_t since_ns);
};

#endif
