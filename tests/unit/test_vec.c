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

int main(void)
{
	puts("1..5");
	report("an array that is all zero is empty and has no memory", empty);
	report("a thousand items are kept in order", additions);
	report("room is a power of two and grows only when it must", room);
	report("items that a larger size makes are zero", sizes);
	report("a size that overflows is refused, and the array is as it was", overflows);
	return 0;
}
