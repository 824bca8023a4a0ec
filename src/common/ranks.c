/* SPDX-License-Identifier: MIT */
/* Reads the whole list at each question: a process asks once. */
#include "common/ranks.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Moves *text past a number; returns false if there is none that is a valid rank. */
static bool take_number(const char **text, int32_t *ret_number)
{
	int64_t number = 0;

	if (**text < '0' || **text > '9')
		return false;
	for (; **text >= '0' && **text <= '9'; ++*text) {
		number = number * 10 + (**text - '0');
		if (number > INT32_MAX)
			return false;
	}
	*ret_number = (int32_t) number;
	return true;
}

int tap_ranks_have(const char *list, int32_t rank)
{
	int32_t first, last;
	int has = 0;

	for (;;) {
		if (!take_number(&list, &first))
			return -EINVAL;
		last = first;
		if (*list == '-') {
			list++;
			if (!take_number(&list, &last) || last < first)
				return -EINVAL;
		}
		if (rank >= first && rank <= last)
			has = 1;
		if (!*list)
			return has;
		if (*list++ != ',')
			return -EINVAL;
	}
}
