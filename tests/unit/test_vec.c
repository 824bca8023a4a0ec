/* SPDX-License-Identifier: MIT */
/* Arrays that grow: their items, their room, and sizes that no memory has. */
#include "common/vec.h"
#include "unit/tap.h"

struct vec {
	TAP_VEC(uint32_t) numbers;
};

static bool empty(void)
{
	struct vec vec = {0};
	bool is_passed = true;

	CHECK(!tap_vec_reserve(&vec.numbers, 0));
	CHECK(!vec.numbers.items && !vec.numbers.room);
	tap_vec_free(&vec.numbers);
	return is_passed;
}

static bool additions(void)
{
	struct vec vec = {0};
	bool is_passed = true;
	uint32_t i;

	for (i = 0; i < 1000; i++)
		CHECK(!tap_vec_add(&vec.numbers, i * 3));
	CHECK(vec.numbers.count == 1000);
	CHECK(vec.numbers.room == 1024);
	for (i = 0; i < 1000; i++)
		CHECK(vec.numbers.items[i] == i * 3);
	tap_vec_free(&vec.numbers);
	CHECK(!vec.numbers.items && !vec.numbers.count && !vec.numbers.room);
	return is_passed;
}

static bool room(void)
{
	struct vec vec = {0};
	bool is_passed = true;
	uint32_t *items;

	CHECK(!tap_vec_add(&vec.numbers, 7));
	CHECK(vec.numbers.room == 8);
	CHECK(!tap_vec_reserve(&vec.numbers, 9));
	CHECK(vec.numbers.room == 16);
	CHECK(!tap_vec_reserve(&vec.numbers, 100));
	CHECK(vec.numbers.room == 128);
	CHECK(vec.numbers.count == 1 && vec.numbers.items[0] == 7);
	items = vec.numbers.items;
	CHECK(!tap_vec_reserve(&vec.numbers, 128));
	CHECK(vec.numbers.items == items && vec.numbers.room == 128);
	tap_vec_free(&vec.numbers);
	return is_passed;
}

static bool sizes(void)
{
	struct vec vec = {0};
	bool is_passed = true;

	CHECK(!tap_vec_add(&vec.numbers, 1));
	CHECK(!tap_vec_add(&vec.numbers, 2));
	CHECK(!tap_vec_resize(&vec.numbers, 20));
	CHECK(vec.numbers.count == 20);
	CHECK(vec.numbers.items[1] == 2 && !vec.numbers.items[2] &&
	      !vec.numbers.items[19]);
	vec.numbers.items[19] = 5;
	CHECK(!tap_vec_resize(&vec.numbers, 1));
	CHECK(vec.numbers.count == 1);
	CHECK(!tap_vec_resize(&vec.numbers, 20));
	CHECK(vec.numbers.items[0] == 1 && !vec.numbers.items[1] &&
	      !vec.numbers.items[19]);
	tap_vec_free(&vec.numbers);
	return is_passed;
}

static bool overflows(void)
{
	struct vec vec = {0};
	bool is_passed = true;
	uint32_t *items;

	CHECK(!tap_vec_add(&vec.numbers, 7));
	items = vec.numbers.items;
	CHECK(tap_vec_reserve(&vec.numbers, SIZE_MAX) == -ENOMEM);
	CHECK(tap_vec_reserve(&vec.numbers, SIZE_MAX / 2) == -ENOMEM);
	CHECK(tap_vec_reserve(&vec.numbers, SIZE_MAX / 4 + 1) == -ENOMEM);
	CHECK(tap_vec_resize(&vec.numbers, SIZE_MAX / 4 + 1) == -ENOMEM);
	CHECK(vec.numbers.items == items && items[0] == 7);
	CHECK(vec.numbers.count == 1 && vec.numbers.room == 8);
	tap_vec_free(&vec.numbers);
	return is_passed;
}

struct placed {
	char other[24];
	uint64_t place;
};

struct places {
	TAP_VEC(struct placed) all;
};

/* The index that a search by looking at each finds. */
static size_t find_slowly(const struct places *places, size_t from, uint64_t wanted)
{
	while (from < places->all.count && places->all.items[from].place < wanted)
		from++;
	return from;
}

/* Whether both searches agree, from each of some items on, about all places nearby. */
static bool agree(const struct places *places)
{
	bool is_passed = true;
	size_t from, i;
	int by;

	for (from = 0; from <= places->all.count; from += 1 + places->all.count / 7) {
		CHECK(tap_vec_search_even(&places->all, from, place, 0) == from);
		CHECK(tap_vec_search_even(&places->all, from, place, UINT64_MAX) ==
		      find_slowly(places, from, UINT64_MAX));
		for (i = 0; i < places->all.count; i++)
			for (by = -1; by <= 1; by++) {
				const uint64_t wanted =
					places->all.items[i].place + (uint64_t) by;

				CHECK(tap_vec_search_even(&places->all, from, place,
							  wanted) ==
				      find_slowly(places, from, wanted));
			}
	}
	return is_passed;
}

static bool even_searches(void)
{
	/* By how much each place is above the one before, in turn. */
	static const uint64_t steps[][4] = {
		{1, 1, 1, 1}, {1, 1, 1, 9},	  {0, 0, 0, 2},
		{0, 0, 0, 0}, {1, 1000000, 1, 1}, {1, UINT64_C(1) << 55, 0, 1}};
	bool is_passed = true;
	size_t i, j;

	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct places places = {0};
		uint64_t place = 1;

		CHECK(tap_vec_search_even(&places.all, 0, place, 5) == 0);
		for (j = 0; j < 300; j++) {
			CHECK(!tap_vec_add(&places.all, (struct placed){.place = place}));
			place += steps[i][j % 4];
			if (j == 1 || j == 2 || j == 299)
				is_passed &= agree(&places);
		}
		tap_vec_free(&places.all);
	}
	return is_passed;
}

/* Places that double, of which a guess is far off. */
static bool uneven_search(void)
{
	struct places places = {0};
	bool is_passed = true;
	uint64_t place;

	for (place = 1; place; place *= 2)
		CHECK(!tap_vec_add(&places.all, (struct placed){.place = place}));
	is_passed &= agree(&places);
	tap_vec_free(&places.all);
	return is_passed;
}

int main(void)
{
	puts("1..7");
	report("an array that is all zero is empty and has no memory", empty);
	report("a thousand items are kept in order", additions);
	report("room is a power of two and grows only when it must", room);
	report("items that a larger size makes are zero", sizes);
	report("a size that overflows is refused, and the array is as it was", overflows);
	report("a search that guesses finds what looking at each finds", even_searches);
	report("so it does among places that double", uneven_search);
	return 0;
}
