/* SPDX-License-Identifier: MIT */
/*
 * The memory that NCCL's network code sends from and receives into: of which protocol a
 * buffer is, and which of its eight slots a message has used.
 *
 * A connection of collectives has one buffer for each protocol, and its service thread
 * registers the three one after the other when it is connected (NCCL 2.28.9,
 * transport/net.cc: sendProxyConnect, recvProxyConnect).  Their order tells the protocol;
 * that all connections of the thread have the same three sizes checks it.  Sizes alone do
 * not tell it: NCCL_BUFFSIZE and others change them.
 *
 * Hides which registrations belong together, and that memory is registered again.
 */
#ifndef TAP_JOIN_NCCL_NET_REGION_H
#define TAP_JOIN_NCCL_NET_REGION_H

#include "join/base/table.h"
#include "join/model/layer.h"
#include "join/nccl/expected.h"

/* Where a message lies; always inferred. */
struct tap_net_buffer {
	enum tap_ccl_protocol protocol;
	unsigned int slot;   /* 0 to 7: the step modulo 8; if protocol is known */
	uint64_t slot_bytes; /* likewise */
	/*
	 * It is of a connection for sends and receives.  Those share a pool, which is all
	 * that is registered when the first of them is connected, unless they have
	 * buffers for LL of their own.
	 */
	bool is_of_sends;
};

struct tap_net_regions {
	struct tap_context *context; /* first: layer.h */
	struct tap_table threads;    /* by (process, tid) */
	struct tap_table processes;  /* by number */
	size_t open;		     /* threads that may register more at once */
};

extern const struct tap_layer tap_net_regions_layer;

/* The buffer that has these bytes from the beginning of a slot on. */
struct tap_net_buffer tap_net_regions_find(const struct tap_net_regions *regions,
					   const struct tap_process *process,
					   uint64_t addr, uint64_t bytes);
/*
 * The number of the socket that the service thread wrote to right after it had registered
 * the memory at this address: of whoever it did that for (net_client.h).  0: none.
 */
uint64_t tap_net_regions_answered(const struct tap_net_regions *regions,
				  const struct tap_process *process, uint64_t addr);
/*
 * The buffer of a message, from the two in which its ends lie: none, unless these are
 * alike, since both ends count the same steps.
 */
struct tap_net_buffer tap_net_buffer_common(const struct tap_net_buffer *sent_from,
					    const struct tap_net_buffer *received_in);

/* "LL", "LL128" or "SIMPLE"; NULL: unknown. */
const char *tap_net_protocol_name(enum tap_ccl_protocol protocol);

#endif
