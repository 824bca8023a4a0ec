/* SPDX-License-Identifier: MIT */
/*
 * The host is in the block env, which LTTng writes before any event is described: so only
 * the beginning of the metadata is read.
 */
#include "tools/metadata.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/compiler.h"

/* As far as env is looked for. */
#define BEGINNING_SIZE 65536

/* CTF 1.8, 7.1: the header of a packet of text; sizes are in bits, with the header. */
#define MAGIC UINT32_C(0x75d11d57)
#define CONTENT_AT 24
#define PACKET_AT 28
#define HEADER_SIZE 37

static uint32_t number_at(const char *bytes, bool is_swapped)
{
	uint32_t number;

	memcpy(&number, bytes, sizeof(number));
	return is_swapped ? __builtin_bswap32(number) : number;
}

/* Takes the headers out, in place; returns the length of the text. */
static size_t unpack(char *bytes, size_t length)
{
	size_t from = 0, to = 0, content, packet;
	bool is_swapped;

	while (length - from >= HEADER_SIZE) {
		is_swapped = number_at(bytes + from, false) != MAGIC;
		if (number_at(bytes + from, is_swapped) != MAGIC)
			break;
		content = number_at(bytes + from + CONTENT_AT, is_swapped) / CHAR_BIT;
		packet = number_at(bytes + from + PACKET_AT, is_swapped) / CHAR_BIT;
		if (content < HEADER_SIZE || packet < content)
			break;
		if (content > length - from)
			content = length - from;
		memmove(bytes + to, bytes + from + HEADER_SIZE, content - HEADER_SIZE);
		to += content - HEADER_SIZE;
		if (packet > length - from)
			break;
		from += packet;
	}
	/* Without packets, all of it is text. */
	return from || to ? to : length;
}

static size_t read_beginning(const char *trace, char *bytes, size_t size)
{
	char path[PATH_MAX];
	size_t used = 0;
	ssize_t length;
	int fd;

	if (snprintf(path, sizeof(path), "%s/metadata", trace) >= (int) sizeof(path))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (used < size && (length = read(fd, bytes + used, size - used)) > 0)
		used += (size_t) length;
	close(fd);
	return used;
}

void tap_metadata_find_host(const char *trace, char *host, size_t size)
{
	/* Of CTF 1.8, and of CTF 2 as LTTng writes it. */
	static const char *const keys[] = {"hostname = \"", "\"hostname\": \""};
	char *bytes = malloc(BEGINNING_SIZE + 1), *at = NULL, *end;
	size_t length;

	*host = '\0';
	if (!bytes)
		return;
	length = unpack(bytes, read_beginning(trace, bytes, BEGINNING_SIZE));
	bytes[length] = '\0';
	for (size_t i = 0; !at && i < ARRAY_SIZE(keys); i++) {
		at = memmem(bytes, length, keys[i], strlen(keys[i]));
		at = at ? at + strlen(keys[i]) : NULL;
	}
	end = at ? strpbrk(at, "\"\n") : NULL;
	if (end && *end == '"') {
		*end = '\0';
		snprintf(host, size, "%s", at);
	}
	free(bytes);
}
