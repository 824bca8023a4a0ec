/* SPDX-License-Identifier: MIT */
#include "join/nccl/net_guest.h"

#include <errno.h>
#include <stdlib.h>

#include "join/nccl/thread.h"

/* Where a thread has accepted first. */
struct service {
	uint64_t address;
	uint64_t accepted;
	int64_t second_ns; /* when it accepted there once more */
};

/* Whether the thread is a service thread, or may be. */
static bool may_be_service(const struct tap_net_guests *guests,
			   const struct tap_process *process, int64_t tid)
{
	const struct tap_nccl_thread *thread = tap_threads_find(
		tap_context_state(guests->context, &tap_threads_layer), process, tid);

	return thread && (thread->role == TAP_THREAD_SERVICE ||
			  thread->role == TAP_THREAD_UNKNOWN);
}

static struct service *service_of(struct tap_net_guests *guests,
				  const struct tap_process *process, uint64_t tid,
				  uint64_t address)
{
	struct service *service = tap_table_find(&guests->services, process->number, tid);

	if (service)
		return service;
	service = calloc(1, sizeof(*service));
	if (!service || tap_table_set(&guests->services, process->number, tid, service)) {
		free(service);
		return NULL;
	}
	service->address = address;
	return service;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_net_guests *guests = state;
	const char *local = tap_fields_get_string(&event->fields, "local");
	struct service *service;
	uint64_t address;

	if (event->net != TAP_NET_ACCEPT || !local || event->tid < 0)
		return 0;
	address = tap_table_hash(local);
	service = service_of(guests, process, (uint64_t) event->tid, address);
	if (!service)
		return -ENOMEM;
	if (service->address != address || ++service->accepted != 2 ||
	    !may_be_service(guests, process, event->tid))
		return 0;
	service->second_ns = event->time_ns;
	return tap_table_find(&guests->posters, process->number, 0)
		       ? 0
		       : tap_table_set(&guests->posters, process->number, 0, service);
}

bool tap_net_guests_are_there(const struct tap_net_guests *guests,
			      const struct tap_process *process, int64_t time_ns)
{
	const struct service *service =
		tap_table_find(&guests->posters, process->number, 0);

	return service && (time_ns == INT64_MIN || time_ns > service->second_ns);
}

static void free_all(void *state)
{
	struct tap_net_guests *guests = state;
	size_t i;

	for (i = 0; i < guests->services.size; i++)
		free(guests->services.slots[i].value);
	tap_table_free(&guests->services);
	tap_table_free(&guests->posters);
}

const struct tap_layer tap_net_guests_layer = {
	.name = "guests",
	.size = sizeof(struct tap_net_guests),
	.events = TAP_TAKES(TAP_EVENT_NET),
	.take = take,
	.free = free_all,
};
