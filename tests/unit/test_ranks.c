/* SPDX-License-Identifier: MIT */
/* Lists of ranks, as CCLTAP_RANKS has them. */
#include "common/ranks.h"
#include "unit/tap.h"

#include <errno.h>
#include <stddef.h>

static bool has_those_named(void)
{
	bool is_passed = true;

	CHECK(tap_ranks_have("0", 0) == 1);
	CHECK(tap_ranks_have("0", 1) == 0);
	CHECK(tap_ranks_have("0,8-15", 0) == 1);
	CHECK(tap_ranks_have("0,8-15", 7) == 0);
	CHECK(tap_ranks_have("0,8-15", 8) == 1);
	CHECK(tap_ranks_have("0,8-15", 15) == 1);
	CHECK(tap_ranks_have("0,8-15", 16) == 0);
	CHECK(tap_ranks_have("15-15,3", 3) == 1);
	CHECK(tap_ranks_have("007", 7) == 1);
	CHECK(tap_ranks_have("0-2147483647", INT32_MAX) == 1);
	return is_passed;
}

static bool has_nobody_unknown(void)
{
	bool is_passed = true;

	CHECK(tap_ranks_have("0-2147483647", -1) == 0);
	return is_passed;
}

/* Wherever the rank that is asked for stands in it. */
static bool refuses_what_is_none(void)
{
	static const char *const none[] = {"",
					   ",",
					   "0,",
					   ",0",
					   "0,,1",
					   "-",
					   "1-",
					   "-1",
					   "0--1",
					   "3-1",
					   "0 1",
					   " 0",
					   "0, 1",
					   "0-1-2",
					   "all",
					   "0x10",
					   "1.5",
					   "0;1",
					   "0\n",
					   "2147483648",
					   "0-2147483648",
					   "99999999999999999999"};
	bool is_passed = true;
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		CHECK(tap_ranks_have(none[i], 0) == -EINVAL);
		if (!is_passed) {
			printf("# \"%s\"\n", none[i]);
			break;
		}
	}
	return is_passed;
}

int main(void)
{
	printf("1..3\n");
	report("a list has the ranks that it names", has_those_named);
	report("it does not have a rank that is not known", has_nobody_unknown);
	report("what is no list is refused", refuses_what_is_none);
	return 0;
}
