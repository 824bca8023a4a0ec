/* SPDX-License-Identifier: MIT */
/*
 * A growing array of bytes in which a view builds a line of output: a call of printf()
 * for each of a million lines would cost too much.
 *
 * Hides how the array grows, and remembers that memory was short, so that the caller
 * checks once per line.
 */
#ifndef TAP_JOIN_BASE_BUFFER_H
#define TAP_JOIN_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero is empty. */
struct tap_buffer {
	char *data; /* not ended by 0 */
	size_t used;
	size_t room;
	bool is_short; /* memory was short: the content is not complete */
};

/* The slow half of tap_buffer_reserve(). */
char *tap_buffer_grow(struct tap_buffer *buffer, size_t length);

/*
 * Reserves room for length bytes at the end, not counted as used yet.  Returns it, or
 * NULL.
 */
static inline char *tap_buffer_reserve(struct tap_buffer *buffer, size_t length)
{
	if (length <= buffer->room - buffer->used)
		return buffer->data + buffer->used;
	return tap_buffer_grow(buffer, length);
}

void tap_buffer_add(struct tap_buffer *buffer, const char *bytes, size_t length);
void tap_buffer_add_string(struct tap_buffer *buffer, const char *string);

/* Inline, since half of the additions to a line are single characters. */
static inline void tap_buffer_add_char(struct tap_buffer *buffer, char c)
{
	if (buffer->used < buffer->room)
		buffer->data[buffer->used++] = c;
	else
		tap_buffer_add(buffer, &c, 1);
}

void tap_buffer_add_unsigned(struct tap_buffer *buffer, uint64_t value);
void tap_buffer_add_signed(struct tap_buffer *buffer, int64_t value);
/* Adds the number with "0x". */
void tap_buffer_add_hex(struct tap_buffer *buffer, uint64_t value);
/* Adds at least width digits, filled with 0 on the left. */
void tap_buffer_add_padded(struct tap_buffer *buffer, uint64_t value, unsigned int width);
void tap_buffer_add_real(struct tap_buffer *buffer, double value);
/* Adds c until the text from the byte at start is width bytes long. */
void tap_buffer_fill(struct tap_buffer *buffer, size_t start, size_t width, char c);
/* Moves the text from the byte at start to the right end of a column of that width. */
void tap_buffer_align_right(struct tap_buffer *buffer, size_t start, size_t width);
/* Adds text of a trace for a person: bytes that could control a terminal become \xHH. */
void tap_buffer_add_visible(struct tap_buffer *buffer, const char *string);

/*
 * Length in bytes of the UTF-8 character at s, 0 where there is none: overlong forms,
 * surrogates and values beyond Unicode are not characters.
 */
size_t tap_buffer_character_length(const unsigned char *s);

void tap_buffer_free(struct tap_buffer *buffer);

#endif
