/* SPDX-License-Identifier: MIT */
/* Hosts are told apart by their names. */
#include "join/model/clock.h"

#include <string.h>

#include "join/model/span.h"

int64_t tap_clock_uncertainty_ns(const struct tap_context *context,
				 const struct tap_process *a, const struct tap_process *b)
{
	(void) context;
	return a->trace == b->trace || !strcmp(a->host, b->host) ? 0 : -1;
}
