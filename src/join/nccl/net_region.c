/* SPDX-License-Identifier: MIT */
/* Registrations of one thread, with nothing between them that it does, are a run. */
#include "join/nccl/net_region.h"

#include "common/vec.h"
#include "join/model/process.h"
#include "join/nccl/net_service.h"
#include "join/nccl/sizes.h"
#include "join/nccl/thread.h"

#include <errno.h>
#include <stdlib.h>

#define SLOTS 8	    /* NCCL_STEPS */
#define PROTOCOLS 3 /* NCCL_NUM_PROTOCOLS */

/* Most regions of a process: a damaged trace ends. */
#define REGIONS_MAX 65536

struct run {
	struct service *service;
	unsigned int count;
	bool is_of_connection;	     /* for which it was registered */
	uint64_t lengths[PROTOCOLS]; /* of the first regions */
	uint64_t latest;	     /* address of the latest one */
	uint64_t answered; /* the socket that the thread wrote to next; 0: none */
	struct run *next;  /* of the thread */
};

/* A thread that registers memory. */
struct service {
	bool is_open; /* the latest run may go on */
	struct run *runs;
	uint64_t lengths[PROTOCOLS]; /* of all connections; 0: none is known */
};

struct region {
	uint64_t addr, length;
	const struct run *run;
	unsigned int place; /* in the run, from 0 */
};

/* Regions by address; none overlaps another. */
struct process {
	TAP_VEC(struct region) regions;
};

const char *tap_net_protocol_name(enum tap_ccl_protocol protocol)
{
	static const char *const names[] = {[TAP_CCL_LL] = "LL",
					    [TAP_CCL_LL128] = "LL128",
					    [TAP_CCL_SIMPLE] = "SIMPLE"};

	return names[protocol];
}

/* ---- Runs ---- */

/* The value of (a, b), made with all zero when there is none.  NULL: memory is short. */
static void *get(struct tap_table *table, uint64_t a, uint64_t b, size_t size)
{
	void *value = tap_table_find(table, a, b);

	if (value)
		return value;
	value = calloc(1, size);
	if (value && tap_table_set(table, a, b, value)) {
		free(value);
		value = NULL;
	}
	return value;
}

static void close_run(struct tap_net_regions *regions, struct service *service)
{
	regions->open -= service->is_open;
	service->is_open = false;
}

static struct run *open_run(struct tap_net_regions *regions, struct service *service)
{
	struct run *run;

	if (service->is_open)
		return service->runs;
	run = calloc(1, sizeof(*run));
	if (!run)
		return NULL;
	run->service = service;
	run->next = service->runs;
	service->runs = run;
	service->is_open = true;
	regions->open++;
	return run;
}

/* ---- Regions ---- */

/* The index of the first region that ends behind addr. */
static size_t find_place(const struct process *process, uint64_t addr)
{
	return tap_vec_search(&process->regions, 0, region,
			      region->addr + region->length > addr);
}

/* Adds a region in place of those that it overlaps: that memory was freed. */
static int add(struct process *process, const struct region *region)
{
	const size_t first = find_place(process, region->addr);
	const size_t count = process->regions.count;
	const uint64_t end = region->addr + region->length;
	size_t last = first;

	while (last < count && process->regions.items[last].addr < end)
		last++;
	if (first == last && count >= REGIONS_MAX)
		return 0;
	if (first == last && tap_vec_resize(&process->regions, count + 1))
		return -ENOMEM;
	memmove(process->regions.items + first + 1, process->regions.items + last,
		(count - last) * sizeof(*region));
	process->regions.items[first] = *region;
	process->regions.count = first + 1 + (count - last);
	return 0;
}

static int take_region(struct tap_net_regions *regions, const struct tap_process *process,
		       const struct tap_event *event)
{
	const uint64_t addr = tap_fields_number(&event->fields, "addr");
	const uint64_t length = tap_fields_number(&event->fields, "length");
	struct service *service;
	struct process *own;
	struct run *run;

	/* Others may register as they like; a state dump's regions have no order. */
	if (!length || addr + length < addr ||
	    !tap_threads_find(tap_context_state(regions->context, &tap_threads_layer),
			      process, event->tid))
		return 0;
	service = get(&regions->threads, process->number, (uint64_t) event->tid,
		      sizeof(*service));
	own = get(&regions->processes, process->number, 0, sizeof(*own));
	run = service && own ? open_run(regions, service) : NULL;
	if (!run)
		return -ENOMEM;
	/* A connection of several adapters registers each buffer with each. */
	if (run->count && run->latest == addr)
		return 0;
	if (run->count < PROTOCOLS)
		run->lengths[run->count] = length;
	run->latest = addr;
	return add(own, &(struct region){.addr = addr,
					 .length = length,
					 .run = run,
					 .place = run->count++});
}

/* ---- What a run shows ---- */

/* Whether a run has the buffers of a connection, one for each protocol. */
static bool is_connection(const struct run *run)
{
	struct service *service = run->service;
	unsigned int i;

	if (run->count != PROTOCOLS)
		return false;
	for (i = 0; i < PROTOCOLS; i++)
		if (run->lengths[i] % SLOTS ||
		    (service->lengths[i] && service->lengths[i] != run->lengths[i]))
			return false;
	memcpy(service->lengths, run->lengths, sizeof(service->lengths));
	return true;
}

/*
 * Whether a run is of a connection for sends and receives: the pool, a buffer for LL
 * (NCCL_ALLOC_P2P_NET_LL_BUFFERS), or both in the other order.  Only the first connection
 * registers the pool.  Of a run that is not whole nothing follows.
 */
static bool is_of_sends(const struct tap_net_regions *regions, const struct run *run)
{
	return run->is_of_connection && run->count < PROTOCOLS &&
	       tap_loss_is_none(&regions->context->loss);
}

/* Whether buffers tell what a connection is for. */
static bool are_telling(const struct tap_net_regions *regions,
			const struct tap_process *process)
{
	const struct tap_sizes *sizes =
		tap_context_state(regions->context, &tap_sizes_layer);

	return !sizes || tap_sizes_have_pool(sizes, process);
}

struct tap_net_buffer tap_net_regions_find(const struct tap_net_regions *regions,
					   const struct tap_process *process,
					   uint64_t addr, uint64_t bytes)
{
	const struct process *own =
		tap_table_find(&regions->processes, process->number, 0);
	const size_t at = own ? find_place(own, addr) : 0;
	const struct region *region;
	uint64_t slot_bytes;

	if (!own || at == own->regions.count || !are_telling(regions, process))
		return (struct tap_net_buffer){0};
	region = &own->regions.items[at];
	slot_bytes = region->length / SLOTS;
	if (addr < region->addr || bytes > region->addr + region->length - addr)
		return (struct tap_net_buffer){0};
	if (is_of_sends(regions, region->run))
		return (struct tap_net_buffer){.is_of_sends = true};
	if (!is_connection(region->run) || (addr - region->addr) % slot_bytes)
		return (struct tap_net_buffer){0};
	return (struct tap_net_buffer){.protocol = TAP_CCL_LL + region->place,
				       .slot = (unsigned int) ((addr - region->addr) /
							       slot_bytes),
				       .slot_bytes = slot_bytes};
}

uint64_t tap_net_regions_answered(const struct tap_net_regions *regions,
				  const struct tap_process *process, uint64_t addr)
{
	const struct process *own =
		tap_table_find(&regions->processes, process->number, 0);
	const size_t at = own ? find_place(own, addr) : 0;

	return own && at < own->regions.count && addr >= own->regions.items[at].addr
		       ? own->regions.items[at].run->answered
		       : 0;
}

struct tap_net_buffer tap_net_buffer_common(const struct tap_net_buffer *sent_from,
					    const struct tap_net_buffer *received_in)
{
	const bool are_alike = sent_from->protocol == received_in->protocol &&
			       sent_from->slot == received_in->slot &&
			       sent_from->is_of_sends == received_in->is_of_sends;

	return are_alike ? *sent_from : (struct tap_net_buffer){0};
}

/* ---- The layer ---- */

/*
 * What the thread registers right before it answers whoever asked for a connection is the
 * connection's.  What the network plug-in registers for itself is followed by what it
 * tells the other end, and a buffer of the user's by an answer alone.
 */
static void take_sent(const struct tap_net_regions *regions, struct service *service,
		      const struct tap_process *process, const struct tap_event *event)
{
	const struct tap_net_service *answering =
		tap_net_service_find(tap_context_state(regions->context,
						       &tap_net_services_layer),
				     process, event->tid);

	service->runs->answered = tap_fields_number(&event->fields, "socket_id");
	service->runs->is_of_connection = answering && answering->made;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_net_regions *regions = state;
	struct service *service;

	if (event->kind == TAP_EVENT_VERBS && event->verbs == TAP_VERBS_MR)
		return take_region(regions, process, event);
	if (!regions->open || event->tid < 0)
		return 0;
	service =
		tap_table_find(&regions->threads, process->number, (uint64_t) event->tid);
	if (!service || !service->is_open)
		return 0;
	if (event->kind == TAP_EVENT_NET &&
	    (event->net == TAP_NET_SEND || event->net == TAP_NET_SERVICE_RESPONSE))
		take_sent(regions, service, process, event);
	close_run(regions, service);
	return 0;
}

static void free_all(void *state)
{
	struct tap_net_regions *regions = state;
	size_t i;

	for (i = 0; i < regions->threads.size; i++) {
		struct service *service = regions->threads.slots[i].value;
		struct run *run;

		while (service && (run = service->runs)) {
			service->runs = run->next;
			free(run);
		}
		free(service);
	}
	for (i = 0; i < regions->processes.size; i++) {
		struct process *process = regions->processes.slots[i].value;

		if (process)
			tap_vec_free(&process->regions);
		free(process);
	}
	tap_table_free(&regions->threads);
	tap_table_free(&regions->processes);
}

const struct tap_layer tap_net_regions_layer = {
	.name = "regions",
	.size = sizeof(struct tap_net_regions),
	.events = TAP_TAKES(TAP_EVENT_VERBS) | TAP_TAKES(TAP_EVENT_NET),
	.take = take,
	.free = free_all,
};
