/* SPDX-License-Identifier: MIT */
/* A thread's number may come again: then it is another service. */
#include "join/nccl/net_guest.h"

#include <errno.h>
#include <stdlib.h>

#include "join/model/process.h"
#include "join/nccl/thread.h"

/* A thread that accepts. */
struct tap_net_guest_service {
	const struct tap_process *process;
	int64_t tid;
	uint64_t address; /* where it has accepted first */
	uint64_t accepted;
	int64_t second_ns; /* when it accepted there once more; valid if accepted > 1 */
	int64_t begin_ns;  /* when its thread began; valid if has_begin */
	bool has_begin;
	bool is_sure; /* a service thread whose beginning was recorded */
	struct tap_net_guest_service *next; /* of all */
};

/* The thread that has the service's number now; NULL: unknown, or it has ended. */
static const struct tap_nccl_thread *
thread_of(const struct tap_net_guests *guests,
	  const struct tap_net_guest_service *service)
{
	return tap_threads_find(tap_context_state(guests->context, &tap_threads_layer),
				service->process, service->tid);
}

/* Takes over what is known of the thread by now.  false: it is another one's. */
static bool look_at_thread(const struct tap_net_guests *guests,
			   struct tap_net_guest_service *service)
{
	const struct tap_nccl_thread *thread = thread_of(guests, service);

	if (!thread)
		return true;
	if (!service->has_begin)
		service->begin_ns = thread->begin_ns;
	service->has_begin = true;
	if (service->begin_ns != thread->begin_ns)
		return false;
	service->is_sure = thread->role == TAP_THREAD_SERVICE && !thread->is_late;
	return true;
}

/* Whether the thread is a service thread, or may be. */
static bool may_be_service(const struct tap_net_guests *guests,
			   const struct tap_net_guest_service *service)
{
	const struct tap_nccl_thread *thread = thread_of(guests, service);

	return thread &&
	       (thread->role == TAP_THREAD_SERVICE || thread->role == TAP_THREAD_UNKNOWN);
}

static struct tap_net_guest_service *service_of(struct tap_net_guests *guests,
						const struct tap_process *process,
						int64_t tid, uint64_t address)
{
	struct tap_net_guest_service *service =
		tap_table_find(&guests->services, process->number, (uint64_t) tid);

	if (service && look_at_thread(guests, service))
		return service;
	service = calloc(1, sizeof(*service));
	if (!service ||
	    tap_table_set(&guests->services, process->number, (uint64_t) tid, service)) {
		free(service);
		return NULL;
	}
	service->process = process;
	service->tid = tid;
	service->address = address;
	service->next = guests->all;
	guests->all = service;
	look_at_thread(guests, service);
	return service;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_net_guests *guests = state;
	const char *local = tap_fields_get_string(&event->fields, "local");
	struct tap_net_guest_service *service;
	uint64_t address;

	if (event->net != TAP_NET_ACCEPT || !local || event->tid < 0)
		return 0;
	address = tap_table_hash(local);
	service = service_of(guests, process, event->tid, address);
	if (!service)
		return -ENOMEM;
	if (service->address != address || ++service->accepted != 2)
		return 0;
	service->second_ns = event->time_ns;
	return !may_be_service(guests, service) ||
			       tap_table_find(&guests->posters, process->number, 0)
		       ? 0
		       : tap_table_set(&guests->posters, process->number, 0, service);
}

/* The service that may have let another rank have a connection; NULL: there is none. */
static const struct tap_net_guest_service *host_of(const struct tap_net_guests *guests,
						   const struct tap_net_maker *maker)
{
	const uint64_t process = maker->process->number;
	struct tap_net_guest_service *service =
		maker->tid < 0 ? NULL
			       : tap_table_find(&guests->services, process,
						(uint64_t) maker->tid);

	if (!service || !look_at_thread(guests, service) || !service->is_sure ||
	    service->begin_ns > maker->made_ns)
		return tap_table_find(&guests->posters, process, 0);
	return service->accepted > 1 ? service : NULL;
}

bool tap_net_guests_may_own(struct tap_net_guests *guests,
			    const struct tap_net_maker *maker)
{
	const struct tap_net_guest_service *host = host_of(guests, maker);

	return host && (maker->made_ns == INT64_MIN || maker->made_ns > host->second_ns);
}

bool tap_net_guests_may_share(struct tap_net_guests *guests,
			      const struct tap_net_maker *maker)
{
	return host_of(guests, maker);
}

static void free_all(void *state)
{
	struct tap_net_guests *guests = state;
	struct tap_net_guest_service *service;

	while ((service = guests->all)) {
		guests->all = service->next;
		free(service);
	}
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
