/* SPDX-License-Identifier: MIT */
/*
 * What differs between the releases: from the source of each up to 2.30.7, and of 2.31
 * and 2.32, whose source is not public, from what they post
 * (tests/doubles_tests/test_netib.sh).
 */
#include "verbs.h"

#include "release.h"

#include <string.h>

#define T true
#define F false

static const struct mini_ib_rules all[] = {
	/* clang-format off: a table */
	/* since slots clear record merged splits context tells ece atomics big new turns
	   reads late */
	{21700, 64, 32, 0, 1, T, F, F, F, F, F, F, F, F, F},
	{21900, 256, 32, 0, 1, T, F, F, T, F, F, F, F, F, F},
	{22000, 256, 64, 32, 2, F, F, F, T, F, F, F, F, F, F},
	{22300, 256, 64, 32, 2, F, T, F, T, F, F, F, F, F, F},
	{22400, 256, 64, 32, 4, F, T, T, T, F, F, F, F, F, F},
	{22807, 256, 64, 32, 4, F, T, T, T, T, F, F, F, F, F},
	{22902, 256, 64, 32, 4, F, T, T, T, T, T, F, T, F, F},
	{22907, 256, 64, 160, 4, F, T, T, T, T, T, T, T, F, F},
	{23003, 256, 64, 160, 4, F, T, T, T, T, T, T, T, T, F},
	{23007, 256, 64, 160, 4, F, T, T, T, T, T, T, F, T, F},
	{23100, 256, 64, 160, 4, F, T, T, T, T, T, T, F, T, T},
	/* clang-format on */
};

#undef T
#undef F

const struct mini_ib_rules *mini_ib_rules(void)
{
	const struct mini_ib_rules *rules = all;
	size_t i;

	for (i = 1; i < sizeof(all) / sizeof(*all); i++) {
		if (mini_release() >= all[i].since)
			rules = &all[i];
	}
	return rules;
}

/* The entry of up to 2.19; from 2.20 on with two keys, from 2.24 on with four. */
struct clear_18 {
	uint64_t address;
	int32_t size;
	uint32_t rkey;
	uint32_t count;
	uint32_t tag;
	uint64_t number;
};

struct clear_20 {
	uint64_t address;
	int32_t size;
	uint32_t rkeys[2];
	uint32_t count;
	uint32_t tag;
	uint64_t number;
	char padding[24];
};

struct clear_24 {
	uint64_t address;
	uint64_t size;
	uint32_t rkeys[4];
	uint32_t count;
	uint32_t tag;
	uint64_t number;
	char padding[16];
};

void mini_clear_write(unsigned char *entry, const struct mini_clear *clear)
{
	if (mini_release() < 22000) {
		struct clear_18 old = {
			clear->address,
			clear->size > INT32_MAX ? INT32_MAX : (int32_t) clear->size,
			clear->rkeys[0],
			clear->count,
			clear->tag,
			clear->number};

		memcpy(entry, &old, sizeof(old));
	} else if (mini_release() < 22400) {
		struct clear_20 old = {.address = clear->address,
				       .size = (int32_t) clear->size,
				       .rkeys = {clear->rkeys[0], clear->rkeys[1]},
				       .count = clear->count,
				       .tag = clear->tag,
				       .number = clear->number};

		memcpy(entry, &old, sizeof(old));
	} else {
		struct clear_24 own = {.address = clear->address,
				       .size = clear->size,
				       .count = clear->count,
				       .tag = clear->tag,
				       .number = clear->number};

		memcpy(own.rkeys, clear->rkeys, sizeof(own.rkeys));
		memcpy(entry, &own, sizeof(own));
	}
}

uint64_t mini_clear_number(const unsigned char *entry)
{
	size_t place = offsetof(struct clear_24, number);

	if (mini_release() < 22000)
		place = offsetof(struct clear_18, number);
	else if (mini_release() < 22400)
		place = offsetof(struct clear_20, number);
	/* Written by an adapter: no lock can guard it. */
	return __atomic_load_n((const uint64_t *) (const void *) (entry + place),
			       __ATOMIC_ACQUIRE);
}

void mini_clear_read(const unsigned char *entry, struct mini_clear *ret_clear)
{
	*ret_clear = (struct mini_clear){.number = mini_clear_number(entry)};
	if (mini_release() < 22000) {
		struct clear_18 old;

		memcpy(&old, entry, sizeof(old));
		ret_clear->address = old.address;
		ret_clear->size = (uint64_t) old.size;
		ret_clear->rkeys[0] = old.rkey;
		ret_clear->count = old.count;
		ret_clear->tag = old.tag;
	} else if (mini_release() < 22400) {
		struct clear_20 old;

		memcpy(&old, entry, sizeof(old));
		ret_clear->address = old.address;
		ret_clear->size = (uint64_t) old.size;
		memcpy(ret_clear->rkeys, old.rkeys, sizeof(old.rkeys));
		ret_clear->count = old.count;
		ret_clear->tag = old.tag;
	} else {
		struct clear_24 own;

		memcpy(&own, entry, sizeof(own));
		ret_clear->address = own.address;
		ret_clear->size = own.size;
		memcpy(ret_clear->rkeys, own.rkeys, sizeof(own.rkeys));
		ret_clear->count = own.count;
		ret_clear->tag = own.tag;
	}
}
