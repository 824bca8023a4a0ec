/* SPDX-License-Identifier: MIT */
/* Sizes and flags of NCCL's protocols (NCCL 2.28.9, include/device.h, device/prims_*.h).
 */
#include "protocol.h"

#include "settings.h"

#include <string.h>

enum {
	LL_DATA = 8,
	LL_LINE = 16,
	LL128_DATA = 120,
	LL128_LINE = 128,
	/* A warp's share, of which only whole ones are sent. */
	LL128_WARP_LINES = 16
};

size_t mini_protocol_buffer(enum mini_protocol protocol)
{
	/* NCCL 2.28.9, init.cc:693-716. */
	static const enum mini_setting sizes[MINI_PROTOCOLS] = {
		[MINI_LL] = SET_NCCL_LL_BUFFSIZE,
		[MINI_LL128] = SET_NCCL_LL128_BUFFSIZE,
		[MINI_SIMPLE] = SET_NCCL_BUFFSIZE,
	};

	return (size_t) mini_number(sizes[protocol]);
}

size_t mini_protocol_grain(enum mini_protocol protocol)
{
	if (protocol == MINI_SIMPLE)
		return 512;
	return protocol == MINI_LL ? LL_LINE : LL128_WARP_LINES * LL128_DATA;
}

size_t mini_protocol_room(enum mini_protocol protocol, size_t step_bytes)
{
	if (protocol == MINI_SIMPLE)
		return step_bytes;
	return protocol == MINI_LL ? step_bytes / 2
				   : step_bytes / LL128_LINE * LL128_DATA;
}

size_t mini_protocol_wire(enum mini_protocol protocol, size_t bytes)
{
	size_t share = (size_t) LL128_WARP_LINES * LL128_DATA;

	if (protocol == MINI_SIMPLE)
		return bytes;
	if (protocol == MINI_LL)
		return (bytes + LL_DATA - 1) / LL_DATA * LL_LINE;
	return (bytes + share - 1) / share * LL128_WARP_LINES * LL128_LINE;
}

/* What is left of a line's data. */
static size_t part(size_t bytes, size_t line, size_t data)
{
	return bytes - line * data < data ? bytes - line * data : data;
}

static void store_ll(char *slot, const char *data, size_t bytes, uint32_t flag)
{
	size_t lines = mini_protocol_wire(MINI_LL, bytes) / LL_LINE;
	uint32_t words[2];
	size_t i;

	for (i = 0; i < lines; i++) {
		uint32_t line[4];

		memset(words, 0, sizeof(words));
		memcpy(words, data + i * LL_DATA, part(bytes, i, LL_DATA));
		line[0] = words[0];
		line[1] = flag;
		line[2] = words[1];
		line[3] = flag;
		memcpy(slot + i * LL_LINE, line, sizeof(line));
	}
}

static bool load_ll(char *data, const char *slot, size_t bytes, uint32_t flag)
{
	size_t lines = mini_protocol_wire(MINI_LL, bytes) / LL_LINE;
	uint32_t words[2];
	uint32_t line[4];
	size_t i;

	for (i = 0; i < lines; i++) {
		memcpy(line, slot + i * LL_LINE, sizeof(line));
		if (line[1] != flag || line[3] != flag)
			return false;
		words[0] = line[0];
		words[1] = line[2];
		memcpy(data + i * LL_DATA, words, part(bytes, i, LL_DATA));
	}
	return true;
}

static void store_ll128(char *slot, const char *data, size_t bytes, uint64_t flag)
{
	size_t lines = mini_protocol_wire(MINI_LL128, bytes) / LL128_LINE;
	size_t i;

	for (i = 0; i < lines; i++) {
		char *line = slot + i * LL128_LINE;

		/* A warp stores all its lines, with what it has behind the data. */
		if (i * LL128_DATA < bytes)
			memcpy(line, data + i * LL128_DATA, part(bytes, i, LL128_DATA));
		memcpy(line + LL128_DATA, &flag, sizeof(flag));
	}
}

static bool load_ll128(char *data, const char *slot, size_t bytes, uint64_t flag)
{
	size_t lines = mini_protocol_wire(MINI_LL128, bytes) / LL128_LINE;
	size_t i;

	for (i = 0; i < lines; i++) {
		const char *line = slot + i * LL128_LINE;

		if (memcmp(line + LL128_DATA, &flag, sizeof(flag)) != 0)
			return false;
		if (i * LL128_DATA < bytes)
			memcpy(data + i * LL128_DATA, line, part(bytes, i, LL128_DATA));
	}
	return true;
}

void mini_protocol_store(enum mini_protocol protocol, char *slot, const char *data,
			 size_t bytes, uint64_t flag)
{
	if (protocol == MINI_LL)
		store_ll(slot, data, bytes, (uint32_t) flag);
	else if (protocol == MINI_LL128)
		store_ll128(slot, data, bytes, flag);
	else
		memcpy(slot, data, bytes);
}

bool mini_protocol_load(enum mini_protocol protocol, char *data, const char *slot,
			size_t bytes, uint64_t flag)
{
	if (protocol == MINI_LL)
		return load_ll(data, slot, bytes, (uint32_t) flag);
	if (protocol == MINI_LL128)
		return load_ll128(data, slot, bytes, flag);
	memcpy(data, slot, bytes);
	return true;
}
