/* SPDX-License-Identifier: MIT */
/*
 * Traces by the host that they were recorded on, for who reads each host by itself. Hides
 * how the host of a trace is found before it is read, and how far a reading of all is.
 */
#ifndef TAP_TOOLS_BY_HOST_H
#define TAP_TOOLS_BY_HOST_H

#include <stdint.h>

#include "common/vec.h"
#include "tools/traces.h"

struct tap_host_traces {
	char *name; /* "" where no trace says it */
	struct tap_traces
		traces; /* with a watch, which a reader in another process shares */
	uint64_t size;	/* bytes */
};

/* All zero is none. */
struct tap_by_host {
	TAP_VEC(struct tap_host_traces) hosts; /* in order of names */
};

/* Returns 0, or an exit status after a message. */
int tap_by_host_sort(struct tap_by_host *by_host, const struct tap_traces *traces);

/* Bytes that are read, in whichever processes, and of how many. */
void tap_by_host_measure(const struct tap_by_host *by_host, uint64_t *done,
			 uint64_t *all);

void tap_by_host_free(struct tap_by_host *by_host);

#endif
