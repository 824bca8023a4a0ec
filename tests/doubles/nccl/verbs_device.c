/* SPDX-License-Identifier: MIT */
/*
 * The adapters that may be used, opened once per process and never closed, each with a
 * thread that waits for its asynchronous events.
 */
#include "verbs.h"

#include "settings.h"

#include "thread.h"
#include "truth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct mini_ib_device devices[MINI_IB_MAX_DEVICES];
static int count;
static struct mini_ib_nic nics[MINI_IB_MAX_NICS];
static int nic_count;
/* Of those, that were made of several at the start. */
static int merged_count;

/* NCCL 2.28.9: 205-255: what is fatal is told to the connection that it is of. */
static void *async_main(void *arg)
{
	struct mini_ib_device *device = arg;
	struct ibv_async_event event;
	struct mini_ib_stats *stats = NULL;

	mini_truth_thread(MINI_THREAD_IB_ASYNC, NULL);
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

/* NCCL 2.28.9: 744-822: one per port that is up, each of which is an adapter too. */
static bool add_port(struct ibv_context *context, const char *name, uint8_t port)
{
	struct mini_ib_device *device = &devices[count];
	struct ibv_port_attr attr;
	struct mini_thread thread;
	int nic;

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
	device->attr = attr;
	device->has_adaptive_routing =
		mini_number_or(SET_NCCL_IB_ADAPTIVE_ROUTING,
			       attr.link_layer == IBV_LINK_LAYER_INFINIBAND);
	pthread_mutex_init(&device->lock, NULL);
	if (mini_thread_start(&thread, MINI_ARGUMENT_ADAPTER, async_main, device))
		return false;
	mini_thread_name(&thread, "NCCL IbAsync %2d", count);
	mini_thread_detach(&thread);
	count++;
	return mini_ib_merge(&(int){count - 1}, 1, &nic) == 0;
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

static int find_device(const char *name, size_t length)
{
	int i;

	for (i = 0; i < count; i++) {
		if (strlen(devices[i].name) == length &&
		    strncmp(devices[i].name, name, length) == 0)
			return i;
	}
	return -1;
}

/* NCCL 2.28.9, graph/topo.cc:1196: NAME,NAME;NAME,NAME. */
static void merge_wanted(void)
{
	const char *next = mini_text(SET_NCCL_NET_FORCE_MERGE);

	while (next && *next) {
		int wanted[MINI_IB_MERGED];
		int wanted_count = 0;
		int nic;

		while (*next && *next != ';') {
			size_t length = strcspn(next, ",;");
			int device = find_device(next, length);

			if (device >= 0 && wanted_count < MINI_IB_MERGED)
				wanted[wanted_count++] = device;
			next += length + (next[length] == ',');
		}
		next += *next == ';';
		if (wanted_count > 1)
			mini_ib_merge(wanted, wanted_count, &nic);
	}
}

static void open_all(void)
{
	struct ibv_device **list;
	int listed = 0;
	int i;

	/* NCCL 2.28.9: 679-690. */
	if (mini_number(SET_NCCL_IB_DISABLE) || !mini_verbs_load())
		return;
	mini_verbs.fork_init();
	list = mini_verbs.get_device_list(&listed);
	for (i = 0; list && i < listed; i++)
		open_device(list[i]);
	if (list)
		mini_verbs.free_device_list(list);
	merge_wanted();
	merged_count = nic_count - count;
}

int mini_ib_nic_of(int channel)
{
	return merged_count > 0 ? count + channel % merged_count : channel % count;
}

int mini_ib_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_all);
	return count;
}

int mini_ib_nics(void)
{
	return nic_count;
}

struct mini_ib_nic *mini_ib_nic(int nic)
{
	return &nics[nic];
}

struct mini_ib_device *mini_ib_device(int device)
{
	return &devices[device];
}

/* NCCL 2.28.9: 598-651. */
int mini_ib_merge(const int *wanted, int wanted_count, int *ret_nic)
{
	struct mini_ib_nic *nic = &nics[nic_count];
	size_t length = 0;
	int i;

	if (wanted_count < 1 || wanted_count > mini_ib_rules()->merged ||
	    nic_count == MINI_IB_MAX_NICS ||
	    (wanted_count > 1 && !mini_number(SET_NCCL_IB_MERGE_NICS)))
		return -EINVAL;
	for (i = 0; i < wanted_count; i++) {
		if (wanted[i] < 0 || wanted[i] >= count ||
		    devices[wanted[i]].attr.link_layer !=
			    devices[wanted[0]].attr.link_layer)
			return -EINVAL;
		nic->devices[i] = wanted[i];
		length +=
			(size_t) snprintf(nic->name + length, sizeof(nic->name) - length,
					  "%s%s", i ? "+" : "", devices[wanted[i]].name);
	}
	nic->count = wanted_count;
	*ret_nic = nic_count++;
	return 0;
}

static bool is_there(const char *path)
{
	return access(path, R_OK) == 0;
}

/*
 * NCCL 2.28.9: 864-930: with the driver's module, or where the kernel has DMA-BUF, which
 * it is asked for once per adapter.
 */
bool mini_ib_flushes(struct mini_ib_nic *nic)
{
	struct ibv_pd *pd;

	if (mini_number(SET_NCCL_GDR_FLUSH_DISABLE))
		return false;
	if (mini_number(SET_MININCCL_FLUSH) ||
	    is_there("/sys/kernel/mm/memory_peers/nv_mem/version") ||
	    is_there("/sys/kernel/mm/memory_peers/nv_mem_nc/version") ||
	    is_there("/sys/module/nvidia_peermem/version"))
		return true;
	if (nic->is_asked || !mini_verbs.reg_dmabuf_mr)
		return false;
	nic->is_asked = true;
	pd = mini_verbs.alloc_pd(devices[nic->devices[0]].context);
	if (pd) {
		mini_verbs.reg_dmabuf_mr(pd, 0, 0, 0, -1, 0);
		mini_verbs.dealloc_pd(pd);
	}
	return false;
}
