/* SPDX-License-Identifier: MIT */
/* Lists: the order of their items after each change, forwards and backwards. */
#include "common/list.h"
#include "unit/tap.h"

#include <string.h>

struct item {
	char name;
	TAP_LIST_LINK(struct item) all;
	TAP_LIST_LINK(struct item) some;
};

struct list {
	TAP_LIST(struct item) items;
};

static struct item a, b, c, d;

static void begin(void)
{
	a = (struct item){.name = 'a'};
	b = (struct item){.name = 'b'};
	c = (struct item){.name = 'c'};
	d = (struct item){.name = 'd'};
}

/* Whether the list has the items of these names, in both directions. */
static bool has(const struct list *list, const char *names)
{
	const struct item *item, *last = NULL;
	const size_t count = strlen(names);
	size_t i = 0;

	for (item = list->items.first; item && i < count; item = item->all.after, i++) {
		if (item->name != names[i] || item->all.before != last)
			return false;
		last = item;
	}
	return i == count && !item && list->items.last == last;
}

static bool empty(void)
{
	struct list list = {0};
	bool is_passed = true;

	CHECK(has(&list, ""));
	CHECK(!tap_list_take_first(&list.items, all));
	return is_passed;
}

static bool insertions(void)
{
	struct list list = {0};
	bool is_passed = true;

	begin();
	tap_list_append(&list.items, &b, all);
	CHECK(has(&list, "b"));
	tap_list_append(&list.items, &d, all);
	CHECK(has(&list, "bd"));
	tap_list_prepend(&list.items, &a, all);
	CHECK(has(&list, "abd"));
	tap_list_insert(&list.items, &b, &c, all);
	CHECK(has(&list, "abcd"));
	tap_list_remove(&list.items, &d, all);
	tap_list_insert(&list.items, &c, &d, all);
	CHECK(has(&list, "abcd"));
	return is_passed;
}

static bool removals(void)
{
	struct list list = {0};
	bool is_passed = true;

	begin();
	tap_list_append(&list.items, &a, all);
	tap_list_append(&list.items, &b, all);
	tap_list_append(&list.items, &c, all);
	tap_list_append(&list.items, &d, all);
	tap_list_remove(&list.items, &b, all);
	CHECK(has(&list, "acd"));
	CHECK(!b.all.before && !b.all.after);
	tap_list_remove(&list.items, &d, all);
	CHECK(has(&list, "ac"));
	tap_list_remove(&list.items, &a, all);
	CHECK(has(&list, "c"));
	tap_list_remove(&list.items, &c, all);
	CHECK(has(&list, ""));
	tap_list_append(&list.items, &b, all);
	CHECK(has(&list, "b"));
	return is_passed;
}

static bool first_first(void)
{
	struct list list = {0};
	bool is_passed = true;

	begin();
	tap_list_append(&list.items, &a, all);
	tap_list_append(&list.items, &b, all);
	CHECK(tap_list_take_first(&list.items, all) == &a);
	CHECK(has(&list, "b"));
	CHECK(tap_list_take_first(&list.items, all) == &b);
	CHECK(!tap_list_take_first(&list.items, all));
	CHECK(has(&list, ""));
	return is_passed;
}

static bool two_lists(void)
{
	struct list all = {0};
	TAP_LIST(struct item) some = {0};
	bool is_passed = true;

	begin();
	tap_list_append(&all.items, &a, all);
	tap_list_append(&all.items, &b, all);
	tap_list_append(&some, &b, some);
	tap_list_append(&some, &a, some);
	tap_list_remove(&all.items, &a, all);
	CHECK(has(&all, "b"));
	CHECK(some.first == &b && b.some.after == &a && some.last == &a);
	return is_passed;
}

static bool moved(void)
{
	struct list list = {0}, other;
	bool is_passed = true;

	begin();
	tap_list_append(&list.items, &a, all);
	tap_list_append(&list.items, &b, all);
	other = list;
	tap_list_remove(&other.items, &a, all);
	tap_list_append(&other.items, &c, all);
	CHECK(has(&other, "bc"));
	return is_passed;
}

int main(void)
{
	puts("1..6");
	report("a list that is all zero is empty", empty);
	report("items are inserted at the end, the beginning and between", insertions);
	report("items leave from the middle, the end and the beginning", removals);
	report("the first is taken first", first_first);
	report("an item with two links is in two lists", two_lists);
	report("a list goes on where it was moved to", moved);
	return 0;
}
