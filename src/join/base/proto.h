/* SPDX-License-Identifier: MIT */
/*
 * The wire format of Protocol Buffers
 * (https://protobuf.dev/programming-guides/encoding/), as far as a writer needs it.
 *
 * Hides how a number, a text and a message within a message are encoded, and which bytes of
 * a damaged trace are replaced in texts.  Decision 18 says why no library does this.
 */
#ifndef TAP_JOIN_BASE_PROTO_H
#define TAP_JOIN_BASE_PROTO_H

#include "join/base/buffer.h"

/* Each adds one field: its number, and the value. */
void tap_proto_unsigned(struct tap_buffer *to, unsigned int field, uint64_t value);
/* Of a type int64 or int32, which has ten bytes for a negative value. */
void tap_proto_signed(struct tap_buffer *to, unsigned int field, int64_t value);
void tap_proto_fixed64(struct tap_buffer *to, unsigned int field, uint64_t value);
void tap_proto_double(struct tap_buffer *to, unsigned int field, double value);
void tap_proto_bytes(struct tap_buffer *to, unsigned int field, const char *bytes,
		     size_t length);
/* Text, in which U+FFFD replaces bytes that are not UTF-8. */
void tap_proto_string(struct tap_buffer *to, unsigned int field, const char *text);
/* What is in the buffer, as a message. */
void tap_proto_message(struct tap_buffer *to, unsigned int field,
		       const struct tap_buffer *message);
/* The beginning of a message of so many bytes, which the caller adds. */
void tap_proto_open(struct tap_buffer *to, unsigned int field, size_t length);

#endif
