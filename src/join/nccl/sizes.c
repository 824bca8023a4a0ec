/* SPDX-License-Identifier: MIT */
/* The latest value of a variable counts. */
#include "join/nccl/sizes.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "join/model/process.h"

/* With less NCCL does not work, and a damaged trace would make numbers overflow. */
#define BYTES_MAX (UINT64_C(1) << 30)
#define SIMPLE_MIN 32768
#define OTHERS_MIN 4096

static const struct variable {
	const char *name;
	size_t place; /* in struct tap_ccl_sizes */
	uint64_t least;
} variables[] = {
	{"NCCL_BUFFSIZE", offsetof(struct tap_ccl_sizes, buffers[TAP_CCL_SIMPLE]),
	 SIMPLE_MIN},
	{"NCCL_LL_BUFFSIZE", offsetof(struct tap_ccl_sizes, buffers[TAP_CCL_LL]),
	 OTHERS_MIN},
	{"NCCL_LL128_BUFFSIZE", offsetof(struct tap_ccl_sizes, buffers[TAP_CCL_LL128]),
	 OTHERS_MIN},
	{"NCCL_P2P_NET_CHUNKSIZE", offsetof(struct tap_ccl_sizes, chunks[TAP_CCL_NET]),
	 OTHERS_MIN},
	{"NCCL_P2P_PCI_CHUNKSIZE", offsetof(struct tap_ccl_sizes, chunks[TAP_CCL_PCI]),
	 OTHERS_MIN},
	{"NCCL_P2P_NVL_CHUNKSIZE", offsetof(struct tap_ccl_sizes, chunks[TAP_CCL_NVLINK]),
	 OTHERS_MIN},
};

static const struct variable *find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (!strcmp(name, variables[i].name))
			return &variables[i];
	return NULL;
}

/* TAP_CCL_UNKNOWN unless it is a number that NCCL takes as it is. */
static uint64_t read_bytes(const struct tap_fields *fields, uint64_t least)
{
	const char *value = tap_fields_get_string(fields, "value");
	unsigned long long bytes;
	char *end;

	if (!value || tap_fields_number(fields, "cut") ||
	    tap_fields_number(fields, "withheld"))
		return TAP_CCL_UNKNOWN;
	if (!*value)
		return 0;
	if (*value < '0' || *value > '9')
		return TAP_CCL_UNKNOWN;
	errno = 0;
	bytes = strtoull(value, &end, 0);
	return !errno && !*end && bytes >= least && bytes <= BYTES_MAX ? bytes
								       : TAP_CCL_UNKNOWN;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_sizes *sizes = state;
	const char *name = tap_fields_get_string(&event->fields, "name");
	const struct variable *variable = name ? find(name) : NULL;
	struct tap_ccl_sizes *own;

	if (!variable)
		return 0;
	own = tap_table_find(&sizes->by_process, process->number, 0);
	if (!own) {
		own = calloc(1, sizeof(*own));
		if (!own || tap_table_set(&sizes->by_process, process->number, 0, own)) {
			free(own);
			return -ENOMEM;
		}
	}
	*(uint64_t *) ((char *) own + variable->place) =
		read_bytes(&event->fields, variable->least);
	return 0;
}

struct tap_ccl_sizes tap_sizes_of(const struct tap_sizes *sizes,
				  const struct tap_process *process)
{
	const struct tap_ccl_sizes *own =
		tap_table_find(&sizes->by_process, process->number, 0);

	return own ? *own : (struct tap_ccl_sizes){0};
}

static void free_all(void *state)
{
	struct tap_sizes *sizes = state;
	size_t i;

	for (i = 0; i < sizes->by_process.size; i++)
		free(sizes->by_process.slots[i].value);
	tap_table_free(&sizes->by_process);
}

const struct tap_layer tap_sizes_layer = {
	.name = "sizes",
	.size = sizeof(struct tap_sizes),
	.events = TAP_TAKES(TAP_EVENT_ENVIRONMENT) |
		  TAP_TAKES(TAP_EVENT_STATEDUMP_ENVIRONMENT),
	.is_of_views = true,
	.take = take,
	.free = free_all,
};
