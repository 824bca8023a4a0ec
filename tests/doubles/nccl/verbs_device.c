/* SPDX-License-Identifier: MIT */
/*
 * The adapters that may be used, opened once per process and never closed, each with a
 * thread that waits for its asynchronous events.
 */
#include "verbs.h"

#include "thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct mini_device devices[MINI_IB_MAX_DEVICES];
static int count;

/* NCCL 2.28.9: 205-255: what is fatal is told to the connection that it is of. */
static void *async_main(void *arg)
{
	struct mini_device *device = arg;
	struct ibv_async_event event;
	struct mini_ib_stats *stats = NULL;

	while (!mini_verbs.get_async_event(device->context, &event)) {
		switch (event.event_type) {
		case IBV_EVENT_DEVICE_FATAL:
			stats = &device->stats;
			break;
		case IBV_EVENT_CQ_ERR:
			stats = event.element.cq->cq_context;
			break;
		case IBV_EVENT_QP_FATAL:
		case IBV_EVENT_QP_REQ_ERR:
		case IBV_EVENT_QP_ACCESS_ERR:
			stats = event.element.qp->qp_context;
			break;
		default:
			stats = NULL;
			break;
		}
		if (stats)
			atomic_fetch_add(&stats->fatal, 1);
		mini_verbs.ack_async_event(&event);
	}
	return NULL;
}

/*
 * NCCL_IB_HCA=[^][=]NAME[:PORT],...: names that begin so, or that are so with "=", or
 * all others with "^" (NCCL 2.28.9: 704-712 and 750).
 */
static bool is_wanted(const char *name, int port)
{
	const char *next = getenv("NCCL_IB_HCA");
	bool is_not = next && *next == '^';
	bool is_exact;
	bool is_listed = false;

	if (!next || !*next)
		return true;
	next += is_not;
	is_exact = *next == '=';
	next += is_exact;
	while (*next) {
		size_t size = strcspn(next, ",");
		size_t length = strcspn(next, ":,");

		if (strncmp(name, next, length) == 0 && (!is_exact || !name[length]) &&
		    (length == size || atoi(next + length + 1) == port))
			is_listed = true;
		next += size + (next[size] == ',');
	}
	return is_listed != is_not;
}

/* NCCL 2.28.9: 744-822: one per port that is up; a merged one would be made of these. */
static bool add_port(struct ibv_context *context, const char *name, uint8_t port)
{
	struct mini_device *device = &devices[count];
	struct ibv_port_attr attr;
	pthread_t thread;

	memset(&attr, 0, sizeof(attr));
	if (count == MINI_IB_MAX_DEVICES || mini_verbs.query_port(context, port, &attr) ||
	    attr.state != IBV_PORT_ACTIVE || !is_wanted(name, port))
		return false;
	if (attr.link_layer != IBV_LINK_LAYER_INFINIBAND &&
	    attr.link_layer != IBV_LINK_LAYER_ETHERNET)
		return false;
	device->context = context;
	device->name = name;
	device->port = port;
	device->port_attr = attr;
	device->has_adaptive_routing =
		mini_verbs_setting("NCCL_IB_ADAPTIVE_ROUTING",
				   attr.link_layer == IBV_LINK_LAYER_INFINIBAND);
	pthread_mutex_init(&device->lock, NULL);
	if (pthread_create(&thread, NULL, async_main, device))
		return false;
	mini_thread_set_name(thread, "NCCL IbAsync %2d", count);
	pthread_detach(thread);
	count++;
	return true;
}

static void open_device(struct ibv_device *device)
{
	struct ibv_context *context = mini_verbs.open_device(device);
	struct ibv_device_attr attr;
	bool is_used = false;
	int port;

	if (!context)
		return;
	memset(&attr, 0, sizeof(attr));
	if (!mini_verbs.query_device(context, &attr)) {
		for (port = 1; port <= attr.phys_port_cnt; port++)
			is_used |= add_port(context, mini_verbs.get_device_name(device),
					    (uint8_t) port);
	}
	if (!is_used)
		mini_verbs.close_device(context);
}

static void open_all(void)
{
	struct ibv_device **list;
	int listed = 0;
	int i;

	/* NCCL 2.28.9: 679-690. */
	if (mini_verbs_setting("NCCL_IB_DISABLE", 0) || !mini_verbs_load())
		return;
	mini_verbs.fork_init();
	list = mini_verbs.get_device_list(&listed);
	for (i = 0; list && i < listed; i++)
		open_device(list[i]);
	if (list)
		mini_verbs.free_device_list(list);
}

int mini_devices_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_all);
	return count;
}

struct mini_device *mini_device(int channel)
{
	return &devices[channel % count];
}
