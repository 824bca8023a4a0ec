/* SPDX-License-Identifier: MIT */
/* Messages are divided among operations by their bytes, and never wrongly. */
#include "join/nccl/net_fit.h"
#include "unit/draw.h"
#include "unit/tap.h"

#include <string.h>

#define OPS 6
#define LANES 3
#define MESSAGES (OPS * LANES * 16)

static struct tap_fit_op ops[OPS];
static struct tap_fit_message messages[MESSAGES];
static size_t truths[MESSAGES];
static size_t count;

static void begin(const uint64_t *bytes, size_t op_count)
{
	size_t i;

	memset(ops, 0, sizeof(ops));
	for (i = 0; i < op_count; i++)
		ops[i].bytes = bytes[i];
	count = 0;
}

static void add(size_t lane, uint64_t bytes, size_t least, size_t most)
{
	messages[count++] = (struct tap_fit_message){.lane = lane,
						     .bytes = bytes,
						     .least = least,
						     .most = most};
}

static void certain(size_t op, size_t lane, uint64_t bytes)
{
	tap_fit_add(&ops[op].certain, bytes);
	ops[op].has_data[lane] |= bytes != 0;
}

static bool is_found(const size_t *expected)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (messages[i].op != expected[i])
			return false;
	return true;
}

static bool one_cut(void)
{
	bool is_passed = true;

	begin((uint64_t[]){300, 50}, 2);
	certain(0, 0, 200);
	certain(1, 0, 50);
	add(0, 100, 0, 1);
	CHECK(tap_fit_find(ops, 2, messages, count) == TAP_FIT_YES);
	CHECK(is_found((size_t[]){0}));
	return is_passed;
}

static bool several_lanes(void)
{
	bool is_passed = true;

	begin((uint64_t[]){500, 350}, 2);
	add(0, 200, 0, 1);
	add(0, 100, 0, 1);
	add(1, 300, 0, 1);
	add(1, 250, 0, 1);
	CHECK(tap_fit_find(ops, 2, messages, count) == TAP_FIT_YES);
	CHECK(is_found((size_t[]){0, 1, 0, 1}));
	return is_passed;
}

static bool two_cuts(void)
{
	bool is_passed = true;

	/* Either has the second one, if it is by LL. */
	begin((uint64_t[]){160, 160}, 2);
	add(0, 160, 0, 0);
	add(0, 160, 0, 1);
	add(0, 160, 1, 1);
	CHECK(tap_fit_find(ops, 2, messages, count) == TAP_FIT_YES);
	CHECK(is_found((size_t[]){0, TAP_FIT_NONE, 1}));
	return is_passed;
}

static bool protocols(void)
{
	bool is_passed = true;

	/* By LL, SIMPLE and LL128. */
	begin((uint64_t[]){33, 100, 3000}, 3);
	add(0, 48, 0, 2);
	add(0, 32, 0, 2);
	add(0, 100, 0, 2);
	add(0, 2048, 0, 2);
	add(0, 2048, 0, 2);
	CHECK(tap_fit_find(ops, 3, messages, count) == TAP_FIT_YES);
	CHECK(is_found((size_t[]){0, 0, 1, 2, 2}));
	return is_passed;
}

static bool silent(void)
{
	bool is_passed = true;

	begin((uint64_t[]){100, 0, 100}, 3);
	add(0, 100, 0, 1);
	add(0, 100, 1, 2);
	CHECK(tap_fit_find(ops, 3, messages, count) == TAP_FIT_YES);
	CHECK(is_found((size_t[]){0, 2}));
	begin((uint64_t[]){0}, 1);
	certain(0, 0, 4);
	CHECK(tap_fit_find(ops, 1, messages, 0) == TAP_FIT_NO);
	return is_passed;
}

static bool empty(void)
{
	bool is_passed = true;

	/* The empty one is the last of the first operation, since more follows. */
	begin((uint64_t[]){56, 70}, 2);
	certain(0, 0, 56);
	add(0, 0, 0, 1);
	add(0, 70, 1, 1);
	CHECK(tap_fit_find(ops, 2, messages, count) == TAP_FIT_YES);
	CHECK(is_found((size_t[]){0, 1}));
	begin((uint64_t[]){56, 70}, 2);
	certain(0, 0, 56);
	certain(1, 0, 70);
	add(0, 0, 0, 1);
	CHECK(tap_fit_find(ops, 2, messages, count) == TAP_FIT_YES);
	CHECK(is_found((size_t[]){0}));
	/* On another connection it may be all that either has there. */
	begin((uint64_t[]){56, 70}, 2);
	certain(0, 0, 56);
	certain(1, 0, 70);
	add(1, 0, 0, 1);
	CHECK(tap_fit_find(ops, 2, messages, count) == TAP_FIT_YES);
	CHECK(is_found((size_t[]){TAP_FIT_NONE}));
	return is_passed;
}

static bool open_sums(void)
{
	bool is_passed = true;

	/* What is left of the second one's bytes is of the others. */
	begin((uint64_t[]){0, 50, 0}, 3);
	ops[0].is_open = ops[2].is_open = true;
	add(0, 100, 0, 1);
	add(0, 50, 1, 1);
	add(0, 70, 1, 2);
	CHECK(tap_fit_find(ops, 3, messages, count) == TAP_FIT_YES);
	CHECK(is_found((size_t[]){0, 1, 2}));
	/* It may begin with what is empty, which the other one may end with. */
	begin((uint64_t[]){50, 0}, 2);
	ops[1].is_open = true;
	certain(0, 0, 50);
	add(0, 0, 0, 1);
	add(0, 70, 1, 1);
	CHECK(tap_fit_find(ops, 2, messages, count) == TAP_FIT_YES);
	CHECK(is_found((size_t[]){TAP_FIT_NONE, 1}));
	return is_passed;
}

static bool unfit(void)
{
	bool is_passed = true;

	begin((uint64_t[]){100, 100}, 2);
	add(0, 90, 0, 1);
	add(0, 100, 0, 1);
	CHECK(tap_fit_find(ops, 2, messages, count) == TAP_FIT_NO);
	return is_passed;
}

static bool too_many(void)
{
	bool is_passed = true;
	size_t i;

	begin((uint64_t[]){1000, 1000, 1000}, 3);
	for (i = 0; i < 60 * LANES; i++)
		add(i / 60, i % 60 + 1, 0, 2);
	CHECK(tap_fit_find(ops, 3, messages, count) == TAP_FIT_TOO_MANY);
	return is_passed;
}

/* What a chunk of data has on the wire. */
static uint64_t wrap(uint64_t protocol, uint64_t bytes)
{
	return protocol == 0   ? bytes
	       : protocol == 1 ? (bytes + 7) / 8 * 16
			       : (bytes + 1919) / 1920 * 2048;
}

/* Of one operation over one lane; a message is certain, or may be of others, too. */
static void send(size_t op, size_t lane, uint64_t protocol, uint64_t bytes)
{
	const uint64_t chunk = (bytes + 3) / (1 + draw(4));
	uint64_t done, size;
	size_t least, most;

	for (done = 0; done < bytes; done += size) {
		size = chunk < bytes - done ? chunk : bytes - done;
		least = op - draw(op + 1) % 3;
		most = op + draw(OPS - op) % 3;
		truths[count] = op;
		add(lane, wrap(protocol, size), least > OPS ? 0 : least, most);
		if (!draw(4)) {
			truths[count] = op;
			add(lane, 0, op, most);
		}
	}
}

/* Messages keep their order. */
static void align(void)
{
	size_t i;

	for (i = 1; i < count; i++)
		if (messages[i].lane == messages[i - 1].lane &&
		    messages[i].least < messages[i - 1].least)
			messages[i].least = messages[i - 1].least;
	for (i = count; i-- > 1;)
		if (messages[i].lane == messages[i - 1].lane &&
		    messages[i - 1].most > messages[i].most)
			messages[i - 1].most = messages[i].most;
}

static bool chance(void)
{
	static uint64_t parts[OPS][LANES];
	uint64_t bytes[OPS] = {0}, protocol[OPS], found = 0;
	bool is_passed = true;
	size_t round, op, lane, i;
	enum tap_fit fit;

	for (round = 0; round < 2000; round++) {
		for (op = 0; op < OPS; op++) {
			protocol[op] = draw(3);
			bytes[op] = 0;
			for (lane = 0; lane < LANES; lane++) {
				parts[op][lane] =
					lane && draw(2) ? 0 : 1 + draw(1U << draw(13));
				bytes[op] += parts[op][lane];
			}
		}
		begin(bytes, OPS);
		for (lane = 0; lane < LANES; lane++)
			for (op = 0; op < OPS; op++)
				if (parts[op][lane])
					send(op, lane, protocol[op], parts[op][lane]);
		align();
		if (draw(2))
			ops[draw(OPS)].is_open = true;
		fit = tap_fit_find(ops, OPS, messages, count);
		CHECK(fit != TAP_FIT_NO);
		for (i = 0; fit == TAP_FIT_YES && i < count; i++) {
			CHECK(messages[i].op == TAP_FIT_NONE ||
			      messages[i].op == truths[i]);
			found += messages[i].op != TAP_FIT_NONE &&
				 messages[i].least < messages[i].most;
		}
	}
	printf("# %llu found\n", (unsigned long long) found);
	CHECK(found > 1000);
	return is_passed;
}

int main(void)
{
	printf("1..10\n");
	report("one cut gives each operation its bytes", one_cut);
	report("connections are cut together", several_lanes);
	report("where two cuts fit, what differs is not known", two_cuts);
	report("each protocol carries bytes in its own way", protocols);
	report("an operation that sends nothing has no messages", silent);
	report("no operation begins with an empty message that others follow", empty);
	report("of what is not known of its bytes other sums tell", open_sums);
	report("where no cut fits nothing is found", unfit);
	report("too many cuts are not tried", too_many);
	report("of operations by chance, all that is found is true", chance);
	return 0;
}
