/* SPDX-License-Identifier: MIT */
/*
 * The value counts that a variable has when the process's first communicator has been
 * made: the recorder looks once more right after that (intercept/environment.c), and NCCL
 * reads no variable twice.  What comes after another communicator was set too late, or
 * was not seen in time.
 */
#include "join/nccl/sizes.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "join/model/process.h"

/* A damaged trace would make numbers overflow. */
#define BYTES_MAX (UINT64_C(1) << 30)
/* With less NCCL does not work. */
#define SIMPLE_MIN 32768
#define OTHERS_MIN 4096

/* Unset, or another number than 0: sends share a pool. */
#define POOLED "NCCL_NET_SHARED_BUFFERS"

/* With these NCCL has other sizes, whatever the other variables say. */
static const char *const others[] = {"NCCL_CHUNK_SIZE", "NCCL_ENV_PLUGIN"};

/* What is known of a process. */
struct own {
	struct tap_ccl_sizes sizes;
	uint64_t first_comm;
	bool has_comm, has_several; /* has made a communicator, several */
	bool is_other;		    /* one of the other variables is set */
	bool is_unpooled;	    /* sends may have buffers of their own */
};

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
	{"NCCL_ALLOC_P2P_NET_LL_BUFFERS", offsetof(struct tap_ccl_sizes, has_ll_sends),
	 0},
	{"NCCL_P2P_LL_THRESHOLD", offsetof(struct tap_ccl_sizes, ll_threshold), 1},
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

static bool is_other(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return true;
	return false;
}

static struct own *own_of(struct tap_sizes *sizes, const struct tap_process *process)
{
	struct own *own = tap_table_find(&sizes->by_process, process->number, 0);

	if (own)
		return own;
	own = calloc(1, sizeof(*own));
	if (!own || tap_table_set(&sizes->by_process, process->number, 0, own)) {
		free(own);
		return NULL;
	}
	return own;
}

static int take_variable(struct tap_sizes *sizes, const struct tap_process *process,
			 const struct tap_event *event)
{
	const char *name = tap_fields_get_string(&event->fields, "name");
	const struct variable *variable = name ? find(name) : NULL;
	struct own *own;
	uint64_t bytes, *place;

	if (!name || !(variable || is_other(name) || !strcmp(name, POOLED)))
		return 0;
	own = own_of(sizes, process);
	if (!own)
		return -ENOMEM;
	bytes = read_bytes(&event->fields, variable ? variable->least : 1);
	if (!strcmp(name, POOLED)) {
		own->is_unpooled |= bytes == TAP_CCL_UNKNOWN;
		return 0;
	}
	if (!variable) {
		own->is_other |= bytes != 0;
		return 0;
	}
	place = (uint64_t *) ((char *) &own->sizes + variable->place);
	/* A recording that begins late has its values in a state dump alone. */
	if (own->has_several && *place != bytes &&
	    (*place || event->kind != TAP_EVENT_STATEDUMP_ENVIRONMENT))
		bytes = TAP_CCL_UNKNOWN;
	*place = bytes;
	return 0;
}

static int take_comm(struct tap_sizes *sizes, const struct tap_process *process,
		     const struct tap_event *event)
{
	const uint64_t comm = tap_fields_number(&event->fields, "comm_id");
	struct own *own = comm ? own_of(sizes, process) : NULL;

	if (!own)
		return comm ? -ENOMEM : 0;
	own->has_several |= own->has_comm && own->first_comm != comm;
	own->has_comm = true;
	own->first_comm = own->has_several ? own->first_comm : comm;
	return 0;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	return event->kind == TAP_EVENT_COMM ? take_comm(state, process, event)
					     : take_variable(state, process, event);
}

struct tap_ccl_sizes tap_sizes_of(const struct tap_sizes *sizes,
				  const struct tap_process *process)
{
	const struct own *own = tap_table_find(&sizes->by_process, process->number, 0);
	struct tap_ccl_sizes unknown;

	/* Each byte of TAP_CCL_UNKNOWN is the same. */
	memset(&unknown, 0xff, sizeof(unknown));
	if (own && own->is_other)
		return unknown;
	return own ? own->sizes : (struct tap_ccl_sizes){0};
}

bool tap_sizes_have_pool(const struct tap_sizes *sizes, const struct tap_process *process)
{
	const struct own *own = tap_table_find(&sizes->by_process, process->number, 0);

	return !own || !own->is_unpooled;
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
	.events = TAP_TAKES(TAP_EVENT_ENVIRONMENT) | TAP_TAKES(TAP_EVENT_COMM) |
		  TAP_TAKES(TAP_EVENT_STATEDUMP_ENVIRONMENT),
	.is_of_views = true,
	.take = take,
	.free = free_all,
};
