/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer's way into the reader: texts of events, changed where that reaches code that none
 * has reached before, through each view.  For clang alone; scripts/fuzz runs it.
 */
#include "golden/views.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);

static struct test_plugins plugins;

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
	(void) count;
	(void) arguments;
	if (!test_plugins_load(&plugins))
		exit(2);
	return 0;
}

/* One view each time, always the same for the same text: all would take as long as all. */
static size_t choose_view(const uint8_t *data, size_t size)
{
	uint32_t hash = 2166136261u;
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ data[i]) * 16777619u;
	return hash % test_view_count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int file = memfd_create("events", 0);
	const char *every = getenv("FUZZ_EVERY_VIEW");
	char path[64];

	if (file < 0 || write(file, data, size) != (ssize_t) size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	if (every && *every)
		test_views_run(&plugins, path, false);
	else
		test_view_run(&plugins, path, false, choose_view(data, size));
	close(file);
	return 0;
}

/* ---- Changes that leave lines and fields in their shape ---- */

struct piece {
	size_t at, size;
};

/* One that ends with the letter, or the text; none of an empty text. */
static struct piece draw_piece(const uint8_t *data, size_t size, int end,
			       unsigned int *seed)
{
	struct piece piece = {.at = size ? (size_t) rand_r(seed) % size : 0};
	const uint8_t *next;

	while (piece.at && data[piece.at - 1] != end)
		piece.at--;
	next = size ? memchr(data + piece.at, end, size - piece.at) : NULL;
	piece.size = next ? (size_t) (next - data) + 1 - piece.at : size - piece.at;
	return piece;
}

/* Puts a copy of one piece in the place of another. */
static size_t replace(uint8_t *data, size_t size, size_t max_size, struct piece from,
		      struct piece to)
{
	uint8_t *copy;

	if (size - to.size + from.size > max_size || !from.size)
		return size;
	copy = malloc(from.size);
	if (!copy)
		return size;
	memcpy(copy, data + from.at, from.size);
	memmove(data + to.at + from.size, data + to.at + to.size,
		size - to.at - to.size);
	memcpy(data + to.at, copy, from.size);
	free(copy);
	return size - to.size + from.size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	const unsigned int way = (unsigned int) rand_r(&seed) % 6;
	const int end = way < 3 ? '\n' : ' ';
	struct piece from = draw_piece(data, size, end, &seed);
	struct piece to = draw_piece(data, size, end, &seed);

	switch (way) {
	case 0: /* a line once more, elsewhere */
		to.size = 0;
		return replace(data, size, max_size, from, to);
	case 1: /* a line less */
		if (to.size == size)
			break;
		memmove(data + to.at, data + to.at + to.size, size - to.at - to.size);
		return size - to.size;
	case 2:
	case 3: /* a line, or a field, like another */
		return replace(data, size, max_size, from, to);
	default:
		break;
	}
	return LLVMFuzzerMutate(data, size, max_size);
}
