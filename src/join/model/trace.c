/* SPDX-License-Identifier: MIT */
/* Traces in an array, with a table of those that have an identity. */
#include "join/model/trace.h"

#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

struct tap_trace *tap_traces_add(struct tap_traces *traces, const char *host,
				 const unsigned char *identity, int64_t pid)
{
	struct tap_trace *trace;
	uint64_t id[2] = {0, 0};

	if (identity) {
		memcpy(id, identity, sizeof(id));
		trace = tap_table_find(&traces->by_identity, id[0], id[1]);
		if (trace && !strcmp(trace->host, host) && trace->pid == pid)
			return trace;
	}
	if (tap_array_reserve(traces->all, traces->room, traces->count + 1))
		return NULL;
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return NULL;
	trace->host = strdup(host);
	trace->number = traces->count;
	trace->pid = pid;
	if (!trace->host ||
	    (identity && tap_table_set(&traces->by_identity, id[0], id[1], trace))) {
		free(trace->host);
		free(trace);
		return NULL;
	}
	traces->all[traces->count++] = trace;
	return trace;
}

void tap_traces_free(struct tap_traces *traces)
{
	size_t i;

	for (i = 0; i < traces->count; i++) {
		free(traces->all[i]->host);
		free(traces->all[i]);
	}
	free(traces->all);
	tap_table_free(&traces->by_identity);
	memset(traces, 0, sizeof(*traces));
}
