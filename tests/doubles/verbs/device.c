/* SPDX-License-Identifier: MIT */
/*
 * The adapters: how many there are, how they are opened, what they say of themselves. The
 * context has the layout of <infiniband/verbs.h>, since the inline functions there call
 * through it.
 */
#include "soft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef ibv_query_port

static struct soft_device devices[SOFT_MAX_DEVICES];

static struct soft_device *device_of(struct ibv_context *context)
{
	return (struct soft_device *) context->device;
}

struct soft_place soft_port_of(struct ibv_context *context, unsigned int port)
{
	return (struct soft_place){.host = (uint16_t) soft_settings()->host,
				   .device = (uint16_t) device_of(context)->index,
				   .port = (uint16_t) port};
}

static void describe(struct soft_device *device, int index)
{
	struct ibv_device *base = &device->base;

	device->index = index;
	base->node_type = IBV_NODE_CA;
	base->transport_type = IBV_TRANSPORT_IB;
	snprintf(base->name, sizeof(base->name), "soft%d", index);
	snprintf(base->dev_name, sizeof(base->dev_name), "uverbs%d", index);
	snprintf(base->dev_path, sizeof(base->dev_path),
		 "/sys/class/infiniband_verbs/uverbs%d", index);
	snprintf(base->ibdev_path, sizeof(base->ibdev_path), "%s/soft%d",
		 soft_settings()->sysfs, index);
}

static void describe_all(void)
{
	int i;

	for (i = 0; i < SOFT_MAX_DEVICES; i++)
		describe(&devices[i], i);
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int count = soft_settings()->devices;
	struct ibv_device **list = calloc((size_t) count + 1, sizeof(*list));
	int i;

	if (!list)
		return NULL;
	pthread_once(&once, describe_all);
	for (i = 0; i < count; i++)
		list[i] = &devices[i].base;
	if (num_devices)
		*num_devices = count;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

int ibv_get_device_index(struct ibv_device *device)
{
	return ((struct soft_device *) device)->index;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(soft_guid(soft_settings()->host,
				 (unsigned int) ((struct soft_device *) device)->index));
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	*attr = (struct ibv_device_attr){
		.fw_ver = "1.0",
		.node_guid = ibv_get_device_guid(context->device),
		.sys_image_guid = ibv_get_device_guid(context->device),
		.max_mr_size = UINT64_MAX,
		.page_size_cap = 0xfffff000,
		.max_qp = SOFT_MAX_QPS,
		.max_qp_wr = SOFT_MAX_WR,
		.device_cap_flags =
			IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_RC_RNR_NAK_GEN |
			IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_MEM_WINDOW_TYPE_2B,
		.max_sge = SOFT_MAX_SGE,
		.max_sge_rd = SOFT_MAX_SGE,
		.max_cq = 1 << 20,
		.max_cqe = SOFT_MAX_CQE,
		.max_mr = 1 << 20,
		.max_mw = 1 << 20,
		.max_pd = 1 << 20,
		.max_qp_rd_atom = 128,
		.max_res_rd_atom = 128 * SOFT_MAX_QPS,
		.max_qp_init_rd_atom = 128,
		.atomic_cap = IBV_ATOMIC_HCA,
		.max_ah = 1 << 20,
		.max_srq = 1 << 16,
		.max_srq_wr = SOFT_MAX_WR,
		.max_srq_sge = SOFT_MAX_SGE,
		.max_pkeys = 1,
		.local_ca_ack_delay = 15,
		.phys_port_cnt = (uint8_t) soft_settings()->ports,
	};
	return 0;
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ibv_device_attr_ex all = {0};

	(void) input;
	if (attr_size < sizeof(all.orig_attr))
		return EINVAL;
	ibv_query_device(context, &all.orig_attr);
	/* Completion times are CLOCK_MONOTONIC, in nanoseconds. */
	all.completion_timestamp_mask = UINT64_MAX;
	all.hca_core_clock = 1000000;
	all.phys_port_cnt_ex = soft_settings()->ports;
	memset(attr, 0, attr_size);
	memcpy(attr, &all, attr_size < sizeof(all) ? attr_size : sizeof(all));
	return 0;
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
	uint64_t now = soft_now();

	(void) context;
	if (values->comp_mask & ~(uint32_t) IBV_VALUES_MASK_RAW_CLOCK)
		return EOPNOTSUPP;
	values->raw_clock.tv_sec = (time_t) (now / 1000000000);
	values->raw_clock.tv_nsec = (long) (now % 1000000000);
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port_num,
		      struct ibv_port_attr *attr, size_t attr_size)
{
	bool is_infiniband = soft_settings()->is_infiniband;
	struct soft_place place = soft_port_of(context, port_num);
	struct ibv_port_attr all = {
		.state = IBV_PORT_ACTIVE,
		.max_mtu = IBV_MTU_4096,
		.active_mtu = IBV_MTU_4096,
		.gid_tbl_len = SOFT_GID_TABLE,
		.max_msg_sz = SOFT_MAX_MESSAGE,
		.pkey_tbl_len = 1,
		.max_vl_num = 1,
		.active_width = 2,  /* 4X */
		.active_speed = 32, /* EDR */
		.phys_state = 5,    /* link up */
		.link_layer = is_infiniband ? IBV_LINK_LAYER_INFINIBAND
					    : IBV_LINK_LAYER_ETHERNET,
	};

	if (!soft_is_port(port_num))
		return EINVAL;
	if (is_infiniband) {
		all.lid = soft_lid(&place);
		all.sm_lid = 1;
	} else {
		all.flags = IBV_QPF_GRH_REQUIRED;
		all.port_cap_flags = IBV_PORT_IP_BASED_GIDS;
	}
	memset(attr, 0, attr_size);
	memcpy(attr, &all, attr_size < sizeof(all) ? attr_size : sizeof(all));
	return 0;
}

/* For callers older than the last field. */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
		   struct _compat_ibv_port_attr *attr)
{
	return query_port(context, port_num, (struct ibv_port_attr *) attr,
			  offsetof(struct ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index,
		  union ibv_gid *gid)
{
	struct soft_place place = soft_port_of(context, port_num);

	if (!soft_is_port(port_num) || index < 0 || index >= SOFT_GID_TABLE) {
		errno = EINVAL;
		return -1;
	}
	soft_gid(&place, index, gid);
	return 0;
}

static void set_entry(struct ibv_context *context, uint32_t port, uint32_t index,
		      struct ibv_gid_entry *entry)
{
	*entry = (struct ibv_gid_entry){
		.gid_index = index,
		.port_num = port,
		.gid_type = soft_settings()->is_infiniband ? IBV_GID_TYPE_IB
							   : IBV_GID_TYPE_ROCE_V2,
	};
	ibv_query_gid(context, (uint8_t) port, (int) index, &entry->gid);
}

static uint32_t gids(void)
{
	return soft_settings()->is_infiniband ? 1 : SOFT_GIDS;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
	struct ibv_gid_entry all;

	if (flags)
		return EOPNOTSUPP;
	if (!soft_is_port(port_num) || index >= SOFT_GID_TABLE)
		return EINVAL;
	/* ibv_query_gid_ex(3): an empty one. */
	if (index >= gids())
		return ENODATA;
	set_entry(context, port_num, index, &all);
	memcpy(entry, &all, entry_size < sizeof(all) ? entry_size : sizeof(all));
	return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			     size_t max_entries, uint32_t flags, size_t entry_size)
{
	uint32_t count = gids() * soft_settings()->ports;
	uint32_t i;

	if (flags)
		return -EOPNOTSUPP;
	if (entry_size < sizeof(*entries) || max_entries < count)
		return -EINVAL;
	for (i = 0; i < count; i++)
		set_entry(context, i / gids() + 1, i % gids(),
			  (struct ibv_gid_entry *) ((char *) entries + i * entry_size));
	return (ssize_t) count;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
	(void) context;
	if (!soft_is_port(port_num) || index) {
		errno = EINVAL;
		return -1;
	}
	*pkey = htobe16(0xffff);
	return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
	(void) context;
	if (!soft_is_port(port_num) || pkey != htobe16(0xffff)) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

/* What is not here stays NULL, and the inline functions say EOPNOTSUPP. */
static void set_functions(struct soft_context *context)
{
	struct verbs_context *verbs = &context->verbs;
	struct ibv_context_ops *ops = &verbs->context.ops;

	ops->poll_cq = soft_poll_cq;
	ops->req_notify_cq = soft_req_notify_cq;
	ops->post_send = soft_post_send;
	ops->post_recv = soft_post_recv;
	ops->post_srq_recv = soft_post_srq_recv;
	ops->alloc_mw = soft_alloc_mw;
	ops->dealloc_mw = soft_dealloc_mw;
	verbs->query_port = query_port;
	verbs->query_device_ex = query_device_ex;
	verbs->query_rt_values = query_rt_values;
	verbs->create_cq_ex = soft_create_cq_ex;
	verbs->create_qp_ex = soft_create_qp_ex;
	verbs->modify_cq = soft_modify_cq;
	verbs->alloc_null_mr = soft_alloc_null_mr;
	verbs->sz = sizeof(*verbs);
	verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct soft_context *context = calloc(1, sizeof(*context));
	struct ibv_context *base;
	int events[2];
	int err;

	if (!context)
		return NULL;
	base = &context->verbs.context;
	context->place.host = (uint16_t) soft_settings()->host;
	context->place.device = (uint16_t) ((struct soft_device *) device)->index;
	context->qps = calloc(SOFT_MAX_QPS, sizeof(struct soft_qp *));
	if (!context->qps || pipe2(events, O_CLOEXEC)) {
		free(context->qps);
		free(context);
		return NULL;
	}
	fcntl(events[1], F_SETFL, O_NONBLOCK);
	context->async_write_fd = events[1];
	set_functions(context);
	base->device = device;
	base->async_fd = events[0];
	base->num_comp_vectors = 1;
	pthread_mutex_init(&base->mutex, NULL);
	LIST_INIT(&context->cqs);
	LIST_INIT(&context->srqs);
	pthread_mutex_lock(&soft_lock);
	err = soft_wire_listen(context);
	pthread_mutex_unlock(&soft_lock);
	if (err) {
		close(events[0]);
		close(events[1]);
		free(context->qps);
		free(context);
		errno = err;
		return NULL;
	}
	base->cmd_fd = context->listen_fd;
	return base;
}

/* ibv_open_device(3): what was left open is not freed, but the adapter knows it no more.
 */
int ibv_close_device(struct ibv_context *base)
{
	struct soft_context *context = soft_context(base);
	uint32_t i;

	pthread_mutex_lock(&soft_lock);
	for (i = 0; i < SOFT_MAX_QPS; i++)
		if (context->qps[i])
			LIST_REMOVE(context->qps[i], link);
	soft_wire_unlisten(context);
	pthread_mutex_unlock(&soft_lock);
	close(base->async_fd);
	close(context->async_write_fd);
	free(context->qps);
	free(context->mrs);
	free(context);
	return 0;
}
