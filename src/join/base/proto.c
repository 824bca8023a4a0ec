/* SPDX-License-Identifier: MIT */
/* Tags, varints, and what has a length. */
#include "join/base/proto.h"

#include <endian.h>
#include <string.h>

/* The low three bits of a tag. */
enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LENGTH = 2 };

#define VARINT_MAX 10

static const char replacement[] = "\357\277\275"; /* U+FFFD */

static void add_varint(struct tap_buffer *to, uint64_t value)
{
	char *at = tap_buffer_reserve(to, VARINT_MAX);

	if (!at)
		return;
	for (; value >= 0x80; value >>= 7)
		*at++ = (char) (value | 0x80);
	*at++ = (char) value;
	to->used = (size_t) (at - to->data);
}

static void add_tag(struct tap_buffer *to, unsigned int field, unsigned int wire)
{
	add_varint(to, (uint64_t) field << 3 | wire);
}

void tap_proto_unsigned(struct tap_buffer *to, unsigned int field, uint64_t value)
{
	add_tag(to, field, WIRE_VARINT);
	add_varint(to, value);
}

void tap_proto_signed(struct tap_buffer *to, unsigned int field, int64_t value)
{
	tap_proto_unsigned(to, field, (uint64_t) value);
}

void tap_proto_fixed64(struct tap_buffer *to, unsigned int field, uint64_t value)
{
	const uint64_t little = htole64(value);

	add_tag(to, field, WIRE_FIXED64);
	tap_buffer_add(to, (const char *) &little, sizeof(little));
}

void tap_proto_double(struct tap_buffer *to, unsigned int field, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	tap_proto_fixed64(to, field, bits);
}

void tap_proto_open(struct tap_buffer *to, unsigned int field, size_t length)
{
	add_tag(to, field, WIRE_LENGTH);
	add_varint(to, length);
}

void tap_proto_bytes(struct tap_buffer *to, unsigned int field, const char *bytes,
		     size_t length)
{
	tap_proto_open(to, field, length);
	tap_buffer_add(to, bytes, length);
}

void tap_proto_message(struct tap_buffer *to, unsigned int field,
		       const struct tap_buffer *message)
{
	tap_proto_bytes(to, field, message->data, message->used);
	to->is_short |= message->is_short;
}

/* How many bytes from here on are characters; the length of the text, mostly. */
static size_t good_length(const char *text)
{
	const unsigned char *at = (const unsigned char *) text;
	size_t length;

	while (*at) {
		length = *at < 0x80 ? 1 : tap_buffer_character_length(at);
		if (!length)
			break;
		at += length;
	}
	return (size_t) ((const char *) at - text);
}

void tap_proto_string(struct tap_buffer *to, unsigned int field, const char *text)
{
	size_t length = good_length(text), all = 0;
	const char *at;

	if (!text[length]) {
		tap_proto_bytes(to, field, text, length);
		return;
	}
	for (at = text; *at; at += length + !!at[length]) {
		length = good_length(at);
		all += length + (at[length] ? strlen(replacement) : 0);
	}
	tap_proto_open(to, field, all);
	for (at = text; *at; at += length + !!at[length]) {
		length = good_length(at);
		tap_buffer_add(to, at, length);
		if (at[length])
			tap_buffer_add_string(to, replacement);
	}
}
