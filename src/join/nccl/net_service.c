/* SPDX-License-Identifier: MIT */
/* A service is looked for by the number of its thread, and told apart by when that began.
 */
#include "join/nccl/net_service.h"

#include <errno.h>
#include <stdlib.h>

#include "join/model/process.h"
#include "join/nccl/thread.h"

static const struct tap_nccl_thread *now(const struct tap_net_service *service)
{
	return tap_threads_find(tap_context_state(service->services->context,
						  &tap_threads_layer),
				service->process, service->tid);
}

/* Takes over what is known of the thread by now.  false: it is another one's. */
static bool look_at(struct tap_net_service *service, const struct tap_nccl_thread *thread)
{
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

const struct tap_nccl_thread *tap_net_service_thread(struct tap_net_service *service)
{
	const struct tap_nccl_thread *thread = now(service);

	return look_at(service, thread) ? thread : NULL;
}

/* Whether the thread is a service thread, or may be. */
static bool may_be_service(struct tap_net_service *service)
{
	const struct tap_nccl_thread *thread = tap_net_service_thread(service);

	return thread &&
	       (thread->role == TAP_THREAD_SERVICE || thread->role == TAP_THREAD_UNKNOWN);
}

struct tap_net_service *tap_net_service_find(const struct tap_net_services *services,
					     const struct tap_process *process,
					     int64_t tid)
{
	return tid < 0 ? NULL
		       : tap_table_find(&services->by_thread, process->number,
					(uint64_t) tid);
}

static struct tap_net_service *service_of(struct tap_net_services *services,
					  const struct tap_process *process, int64_t tid,
					  uint64_t address)
{
	struct tap_net_service *service = tap_net_service_find(services, process, tid);

	if (service && look_at(service, now(service)))
		return service;
	service = calloc(1, sizeof(*service));
	if (!service || tap_table_set(&services->by_thread, process->number,
				      (uint64_t) tid, service)) {
		free(service);
		return NULL;
	}
	service->services = services;
	service->process = process;
	service->tid = tid;
	service->address = address;
	service->next = services->all;
	services->all = service;
	look_at(service, now(service));
	return service;
}

static int take(void *state, struct tap_process *process, struct tap_event *event)
{
	struct tap_net_services *services = state;
	const char *local = tap_fields_get_string(&event->fields, "local");
	struct tap_net_service *service;
	uint64_t address;

	if (event->net != TAP_NET_ACCEPT || !local || event->tid < 0)
		return 0;
	address = tap_table_hash(local);
	service = service_of(services, process, event->tid, address);
	if (!service)
		return -ENOMEM;
	if (service->address != address || ++service->accepted != 2)
		return 0;
	service->second_ns = event->time_ns;
	return !may_be_service(service) ||
			       tap_table_find(&services->posters, process->number, 0)
		       ? 0
		       : tap_table_set(&services->posters, process->number, 0, service);
}

/* The service that may have let another rank have a connection; NULL: there is none. */
static const struct tap_net_service *host_of(const struct tap_net_services *services,
					     const struct tap_net_maker *maker)
{
	const uint64_t process = maker->process->number;
	struct tap_net_service *service =
		tap_net_service_find(services, maker->process, maker->tid);

	if (!service || !look_at(service, now(service)) || !service->is_sure ||
	    service->begin_ns > maker->made_ns)
		return tap_table_find(&services->posters, process, 0);
	return service->accepted > 1 ? service : NULL;
}

bool tap_net_services_may_own(const struct tap_net_services *services,
			      const struct tap_net_maker *maker)
{
	const struct tap_net_service *host = host_of(services, maker);

	return host && (maker->made_ns == INT64_MIN || maker->made_ns > host->second_ns);
}

bool tap_net_services_may_share(const struct tap_net_services *services,
				const struct tap_net_maker *maker)
{
	return host_of(services, maker);
}

static void free_all(void *state)
{
	struct tap_net_services *services = state;
	struct tap_net_service *service;

	while ((service = services->all)) {
		services->all = service->next;
		free(service);
	}
	tap_table_free(&services->by_thread);
	tap_table_free(&services->posters);
}

const struct tap_layer tap_net_services_layer = {
	.name = "services",
	.size = sizeof(struct tap_net_services),
	.events = TAP_TAKES(TAP_EVENT_NET),
	.take = take,
	.free = free_all,
};
