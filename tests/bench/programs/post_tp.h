/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "ccltap_bench_post": a bare event, and a pair of events with the
 * fields that ccltap records of a post, as anybody would write them.  They are the
 * yardstick, so they share nothing with src.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ccltap_bench_post
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "post_tp.h"

#if !defined(TAP_BENCH_POST_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_BENCH_POST_TP_H

#include <stdint.h>
#include <infiniband/verbs.h>
#include <lttng/tracepoint.h>

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(ccltap_bench_post, six,
	LTTNG_UST_TP_ARGS(uint64_t, a_, uint64_t, b_, uint32_t, c_, uint32_t, d_,
			  uint32_t, e_, uint32_t, f_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint64_t, a, a_)
		lttng_ust_field_integer(uint64_t, b, b_)
		lttng_ust_field_integer(uint32_t, c, c_)
		lttng_ust_field_integer(uint32_t, d, d_)
		lttng_ust_field_integer(uint32_t, e, e_)
		lttng_ust_field_integer(uint32_t, f, f_)))

LTTNG_UST_TRACEPOINT_EVENT(ccltap_bench_post, entry,
	LTTNG_UST_TP_ARGS(uint32_t, qp_id_, uint32_t, seq_,
			  const struct ibv_send_wr *, wr),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, qp_id, qp_id_)
		lttng_ust_field_integer(uint16_t, generation, 1)
		lttng_ust_field_integer(uint32_t, seq, seq_)
		lttng_ust_field_integer(uint32_t, signaled_seq, 0)
		lttng_ust_field_integer(uint32_t, consuming_seq, 0)
		lttng_ust_field_integer(uint64_t, wr_id, wr->wr_id)
		lttng_ust_field_integer(uint8_t, opcode, wr->opcode)
		lttng_ust_field_integer_hex(uint8_t, send_flags, wr->send_flags)
		lttng_ust_field_integer(uint8_t, num_sge, wr->num_sge)
		lttng_ust_field_integer(uint32_t, length, wr->sg_list[0].length)
		lttng_ust_field_integer_hex(uint64_t, addr, wr->sg_list[0].addr)
		lttng_ust_field_integer_hex(uint32_t, lkey, wr->sg_list[0].lkey)
		lttng_ust_field_integer_hex(uint64_t, remote_addr, wr->wr.rdma.remote_addr)
		lttng_ust_field_integer_hex(uint32_t, rkey, wr->wr.rdma.rkey)
		lttng_ust_field_integer_hex(uint32_t, imm_data, wr->imm_data)))

LTTNG_UST_TRACEPOINT_EVENT(ccltap_bench_post, exit,
	LTTNG_UST_TP_ARGS(uint32_t, qp_id_, uint32_t, seq_, int, ret_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, qp_id, qp_id_)
		lttng_ust_field_integer(uint32_t, seq, seq_)
		lttng_ust_field_integer(uint8_t, concurrent, 0)
		lttng_ust_field_integer(int32_t, ret, ret_)))
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
