/* SPDX-License-Identifier: MIT */
/*
 * The spans as events of a few kinds, as ccltap-trace(5) describes: beginnings and ends
 * of spans, and links.  A viewer that knows these needs to know no call, no layer and no
 * rule of the join.  The events come in order of time, each when it happens, so that only
 * open spans, and what waits to be known, are held.
 *
 * Hides which row and lane a span is drawn in, how a process is named, and what of other
 * spans tells about this one.
 */
#ifndef TAP_JOIN_VIEWS_DERIVED_H
#define TAP_JOIN_VIEWS_DERIVED_H

#include "join/views/derived_mark.h"
#include "join/views/view.h"

/* The kind of a span, for colours; a number never gets another meaning. */
enum tap_span_kind {
	TAP_SPAN_CALL = 1,
	TAP_SPAN_COLLECTIVE,
	TAP_SPAN_SEND,
	TAP_SPAN_RECEIVE,
	TAP_SPAN_GROUP,
	TAP_SPAN_RANGE,	    /* a range of the program */
	TAP_SPAN_WORK_SEND, /* a work request of any opcode */
	TAP_SPAN_WORK_RECEIVE,
	TAP_SPAN_NET_SEND, /* a message of NCCL's network code */
	TAP_SPAN_NET_RECEIVE,
	TAP_SPAN_LAUNCH, /* in the CUDA driver: of a kernel, a graph, a host function */
	TAP_SPAN_COPY,	 /* or memory set */
	TAP_SPAN_WAIT,	 /* until work on a stream is done */
	TAP_SPAN_KERNEL, /* on a GPU, not NCCL's */
	TAP_SPAN_KERNEL_NCCL, /* of several functions, or of an unknown one */
	TAP_SPAN_KERNEL_ALL_REDUCE,
	TAP_SPAN_KERNEL_ALL_GATHER,
	TAP_SPAN_KERNEL_REDUCE_SCATTER,
	TAP_SPAN_KERNEL_BROADCAST,
	TAP_SPAN_KERNEL_REDUCE,
	TAP_SPAN_KERNEL_SEND_RECV,
	TAP_SPAN_GPU_COPY,
	TAP_SPAN_GPU_SET,
	TAP_SPAN_PROXY_OP,
	TAP_SPAN_PROXY_CTRL, /* of a progress thread */
};
enum tap_span_kind tap_span_kind(const struct tap_span *span);
const char *tap_span_kind_name(enum tap_span_kind kind);

/* NULL when memory is short.  Without has_links no links are given. */
struct tap_view *tap_derived_create(const struct tap_mark_taker *taker, bool has_links);

#endif
