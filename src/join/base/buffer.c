/* SPDX-License-Identifier: MIT */
/* A growing array of bytes, and numbers written into it. */
#include "join/base/buffer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

#define ROOM_MIN 4096

static const char hex_digits[] = "0123456789abcdef";

char *tap_buffer_grow(struct tap_buffer *buffer, size_t length)
{
	const size_t wanted = buffer->used + length;

	if (tap_array_reserve(buffer->data, buffer->room,
			      wanted > ROOM_MIN ? wanted : ROOM_MIN)) {
		buffer->is_short = true;
		return NULL;
	}
	return buffer->data + buffer->used;
}

void tap_buffer_add(struct tap_buffer *buffer, const char *bytes, size_t length)
{
	char *at;

	/* An empty part of an empty buffer is a null pointer, which C adds nothing to. */
	if (!length)
		return;
	at = tap_buffer_reserve(buffer, length);
	if (!at)
		return;
	memcpy(at, bytes, length);
	buffer->used += length;
}

void tap_buffer_add_string(struct tap_buffer *buffer, const char *string)
{
	tap_buffer_add(buffer, string, strlen(string));
}

void tap_buffer_add_padded(struct tap_buffer *buffer, uint64_t value, unsigned int width)
{
	char digits[24];
	unsigned int i = sizeof(digits);

	do {
		digits[--i] = (char) ('0' + value % 10);
		value /= 10;
	} while (value || (sizeof(digits) - i < width && i));
	tap_buffer_add(buffer, digits + i, sizeof(digits) - i);
}

static unsigned int bits_of(uint64_t value)
{
	return 64 - (unsigned int) __builtin_clzll(value | 1);
}

static unsigned int digits_of(uint64_t value)
{
	static const uint64_t powers[] = {
		0,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		UINT64_C(10000000000000000000),
	};
	/* 1233 / 4096 is log10(2), as near as it takes. */
	const unsigned int about = bits_of(value) * 1233 >> 12;

	return about + (value >= powers[about]);
}

/* Half of a line is numbers: they are written where they stay, two digits at a time. */
void tap_buffer_add_unsigned(struct tap_buffer *buffer, uint64_t value)
{
	const unsigned int count = digits_of(value);
	char *at = tap_buffer_reserve(buffer, count), *end;

	if (!at)
		return;
	for (end = at + count; end > at + 1; value /= 100) {
		const unsigned int two = (unsigned int) (value % 100);

		*--end = (char) ('0' + two % 10);
		*--end = (char) ('0' + two / 10);
	}
	if (end > at)
		*at = (char) ('0' + value);
	buffer->used += count;
}

void tap_buffer_add_signed(struct tap_buffer *buffer, int64_t value)
{
	if (value < 0)
		tap_buffer_add_char(buffer, '-');
	tap_buffer_add_unsigned(buffer, value < 0 ? -(uint64_t) value : (uint64_t) value);
}

void tap_buffer_add_hex(struct tap_buffer *buffer, uint64_t value)
{
	const unsigned int count = 2 + (bits_of(value) + 3) / 4;
	char *at = tap_buffer_reserve(buffer, count);
	unsigned int i;

	if (!at)
		return;
	at[0] = '0';
	at[1] = 'x';
	for (i = count; i > 2; value >>= 4)
		at[--i] = hex_digits[value & 15];
	buffer->used += count;
}

void tap_buffer_add_real(struct tap_buffer *buffer, double value)
{
	char text[40], *comma;

	snprintf(text, sizeof(text), "%.17g", value);
	/* The program that loads the plugin may have set a locale. */
	comma = strchr(text, ',');
	if (comma)
		*comma = '.';
	tap_buffer_add_string(buffer, text);
	/* A reader of JSON must not take the value for an integer. */
	if (isfinite(value) && !strpbrk(text, ".e"))
		tap_buffer_add_string(buffer, ".0");
}

void tap_buffer_fill(struct tap_buffer *buffer, size_t start, size_t width, char c)
{
	while (buffer->used - start < width && !buffer->is_short)
		tap_buffer_add_char(buffer, c);
}

void tap_buffer_align_right(struct tap_buffer *buffer, size_t start, size_t width)
{
	size_t length = buffer->used - start;

	if (length >= width || !tap_buffer_reserve(buffer, width - length))
		return;
	memmove(buffer->data + start + width - length, buffer->data + start, length);
	memset(buffer->data + start, ' ', width - length);
	buffer->used += width - length;
}

size_t tap_buffer_character_length(const unsigned char *s)
{
	unsigned int least, i, length, value;

	if (s[0] < 0xc2 || s[0] > 0xf4)
		return s[0] < 0x80;
	length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	least = length == 2 ? 0x80 : length == 3 ? 0x800 : 0x10000;
	value = s[0] & (0xff >> (length + 1));
	for (i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (s[i] & 0x3f);
	}
	if (value < least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	return length;
}

/* Whether the character is a control character: of one byte, or of two in UTF-8. */
static bool is_control(const unsigned char *s)
{
	return *s < ' ' || *s == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

/* Adds the character at s, or its first byte as \xHH.  Returns the bytes it took. */
static size_t add_special(struct tap_buffer *buffer, const unsigned char *s)
{
	const char code[4] = {'\\', 'x', hex_digits[*s >> 4], hex_digits[*s & 15]};
	const size_t length = tap_buffer_character_length(s);

	if (!length || is_control(s)) {
		tap_buffer_add(buffer, code, sizeof(code));
		return 1;
	}
	tap_buffer_add(buffer, (const char *) s, length);
	return length;
}

void tap_buffer_add_visible(struct tap_buffer *buffer, const char *string)
{
	const unsigned char *s = (const unsigned char *) string, *plain;

	while (*s) {
		/* Nearly all text is ASCII. */
		for (plain = s; *s >= ' ' && *s < 0x7f; s++)
			;
		tap_buffer_add(buffer, (const char *) plain, (size_t) (s - plain));
		if (*s)
			s += add_special(buffer, s);
	}
}

void tap_buffer_free(struct tap_buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}
