/* SPDX-License-Identifier: MIT */
/*
 * What a slice of a Perfetto trace is called.
 *
 * Hides that a call, the kernel that ran for it and its ProxyOps have the name of the
 * operation, so that a search finds all of them and they have one colour.
 */
#ifndef TAP_JOIN_VIEWS_PERFETTO_NAME_H
#define TAP_JOIN_VIEWS_PERFETTO_NAME_H

#include "join/base/buffer.h"
#include "join/model/span.h"

/* "AllReduce", "ProxyOp AllReduce", "RDMA_WRITE", or a kernel's function. */
struct tap_perfetto_subject {
	bool is_operation; /* its number, and peer, are part of the name */
	bool is_send;	   /* of one with a peer */
	bool has_bytes;	   /* its bytes are */
};
struct tap_perfetto_subject tap_perfetto_add_subject(struct tap_buffer *name,
						     const struct tap_span *span);
int64_t tap_perfetto_bytes(const struct tap_span *span);

/* "AllReduce #3 4 MiB", "RDMA_WRITE 64 KiB", "cuLaunchKernelEx" */
void tap_perfetto_add_name(struct tap_buffer *name, const struct tap_span *span);

#endif
