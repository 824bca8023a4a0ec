/* SPDX-License-Identifier: MIT */
/*
 * NCCL's three protocols: how data lies in a step of a connection's buffer, and so how
 * many bytes a message has.  SIMPLE has the data as it is.  LL has 4 bytes of flag after
 * each 4 of data, and LL128 8 bytes of flag after each 120, so that a reader sees by the
 * data itself that it has arrived.
 *
 * Hides where the flags are.
 */
#ifndef MINI_NCCL_PROTOCOL_H
#define MINI_NCCL_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* With the numbers of NCCL's own. */
enum mini_protocol {
	MINI_NO_PROTOCOL = -1,
	MINI_LL = 0,
	MINI_LL128 = 1,
	MINI_SIMPLE = 2,
	MINI_PROTOCOLS = 3
};

/* NCCL_LL_BUFFSIZE, NCCL_LL128_BUFFSIZE and NCCL_BUFFSIZE, of a connection. */
size_t mini_protocol_buffer(enum mini_protocol protocol);
/* Of which a chunk has a whole number. */
size_t mini_protocol_grain(enum mini_protocol protocol);
/* How much data a step of that many bytes has room for. */
size_t mini_protocol_room(enum mini_protocol protocol, size_t step_bytes);
/* How many bytes that much data has in the buffer. */
size_t mini_protocol_wire(enum mini_protocol protocol, size_t bytes);

/* The flag tells which step of the connection it is; SIMPLE has none. */
void mini_protocol_store(enum mini_protocol protocol, char *slot, const char *data,
			 size_t bytes, uint64_t flag);
/* False when a flag is not that of the step. */
bool mini_protocol_load(enum mini_protocol protocol, char *data, const char *slot,
			size_t bytes, uint64_t flag);

#endif
