/* SPDX-License-Identifier: MIT */
/* The queues of one end of a connection: made, and brought to where they can be used. */
#include "verbs.h"

#include "release.h"
#include "settings.h"

#include <errno.h>
#include <string.h>

static struct ibv_pd *get_pd(struct mini_ib_device *device)
{
	struct ibv_pd *pd;

	pthread_mutex_lock(&device->lock);
	if (!device->pd)
		device->pd = mini_verbs.alloc_pd(device->context);
	pd = device->pd;
	device->pd_users += pd != NULL;
	pthread_mutex_unlock(&device->lock);
	return pd;
}

/* NCCL 2.30.7, connect.cc: a sender's is half; all may have to go over one device. */
static int completions(const struct mini_net_connection *connection)
{
	const struct mini_ib_rules *rules = mini_ib_rules();
	int each = (int) mini_number(SET_NCCL_IB_QPS_PER_CONNECTION);

	if (connection->is_resilient)
		each = mini_ib_pieces(connection) * connection->side_count;
	return rules->slots * each * (connection->is_send && rules->is_new ? 1 : 2);
}

/*
 * NCCL 2.28.9: 1221-1236: all queues of a connection have the same context, by which
 * they can be told to belong together.
 */
int mini_ib_create_queues(struct mini_net_connection *connection)
{
	int err = 0;
	int i;

	for (i = 0; i < connection->side_count && !err; i++) {
		struct mini_ib_side *side = &connection->sides[i];

		side->pd = get_pd(side->device);
		if (!side->pd)
			return -errno;
		side->cq = mini_verbs.create_cq(side->device->context,
						completions(connection),
						mini_ib_rules()->has_context
							? &connection->stats
							: NULL,
						NULL, 0);
		if (!side->cq)
			return -errno;
		err = mini_ib_make_probe_cq(connection, side);
		/* The sender's is asked for where it is told, behind its queue pairs. */
		if (!err && !connection->is_send)
			err = mini_ib_find_gid(side);
	}
	return err;
}

static int initialise(struct ibv_qp *qp, const struct mini_ib_device *device,
		      unsigned int access)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.pkey_index = (uint16_t) mini_number(SET_NCCL_IB_PKEY);
	attr.port_num = device->port;
	attr.qp_access_flags = access;
	return -mini_verbs.modify_qp(qp, &attr,
				     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					     IBV_QP_ACCESS_FLAGS);
}

/* NCCL 2.28.9: 1248-1272. */
int mini_ib_create_qp(struct mini_net_connection *connection, struct mini_ib_side *side,
		      struct ibv_cq *cq, const struct mini_ib_room *room,
		      struct ibv_qp **ret_qp)
{
	const struct mini_ib_rules *rules = mini_ib_rules();
	struct ibv_qp_init_attr init;

	memset(&init, 0, sizeof(init));
	if (rules->has_context)
		init.qp_context = &connection->stats;
	init.send_cq = cq;
	init.recv_cq = cq;
	init.qp_type = IBV_QPT_RC;
	init.cap.max_send_wr = (uint32_t) room->sends;
	init.cap.max_recv_wr = (uint32_t) room->receives;
	init.cap.max_send_sge = 1;
	init.cap.max_recv_sge = 1;
	init.cap.max_inline_data =
		mini_number(SET_NCCL_IB_USE_INLINE) ? (uint32_t) rules->clear_bytes : 0;
	*ret_qp = mini_verbs.create_qp(side->pd, &init);
	connection->inline_room = init.cap.max_inline_data;
	return *ret_qp ? initialise(*ret_qp, side->device, room->access) : -errno;
}

/* Where it goes: NCCL 2.28.9: 1274-1318. */
static int make_ready_to_receive(const struct mini_net_connection *connection,
				 const struct mini_ib_side *side, struct ibv_qp *qp,
				 uint32_t dest_qp_num,
				 const struct mini_ib_device_info *remote)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = side->device->attr.active_mtu;
	if (remote->mtu < (int) attr.path_mtu)
		attr.path_mtu = (enum ibv_mtu) remote->mtu;
	attr.dest_qp_num = dest_qp_num;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	if (remote->link_layer == IBV_LINK_LAYER_ETHERNET) {
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = remote->gid;
		attr.ah_attr.grh.sgid_index = (uint8_t) side->gid_index;
		attr.ah_attr.grh.hop_limit = 255;
		attr.ah_attr.grh.traffic_class =
			(uint8_t) connection->remote.traffic_class;
	} else {
		attr.ah_attr.dlid = (uint16_t) remote->lid;
	}
	attr.ah_attr.sl = (uint8_t) connection->remote.service_level;
	attr.ah_attr.port_num = remote->port;
	return -mini_verbs.modify_qp(qp, &attr,
				     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					     IBV_QP_MAX_DEST_RD_ATOMIC |
					     IBV_QP_MIN_RNR_TIMER);
}

/* NCCL 2.28.9: 1320-1331. */
static int make_ready_to_send(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = (uint8_t) mini_number_or(SET_NCCL_IB_TIMEOUT,
						mini_release() < 22300 ? 18 : 20);
	attr.retry_cnt = (uint8_t) mini_number(SET_NCCL_IB_RETRY_CNT);
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	return -mini_verbs.modify_qp(qp, &attr,
				     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					     IBV_QP_MAX_QP_RD_ATOMIC);
}

int mini_ib_ready_qp(const struct mini_net_connection *connection,
		     const struct mini_ib_side *side, struct ibv_qp *qp,
		     uint32_t dest_qp_num, const struct mini_ib_device_info *remote)
{
	int err = make_ready_to_receive(connection, side, qp, dest_qp_num, remote);

	return err ? err : make_ready_to_send(qp);
}

static int make_ready(struct mini_net_connection *connection, int q)
{
	struct mini_ib_qp *qp = &connection->qps[q];
	const struct mini_ib_metadata *remote = &connection->remote;

	if (remote->qps[q].device < 0 || remote->qps[q].device >= remote->device_count)
		return -EPROTO;
	qp->remote_device = remote->qps[q].device;
	return mini_ib_ready_qp(connection, &connection->sides[qp->device], qp->qp,
				remote->qps[q].qp_num,
				&remote->devices[qp->remote_device]);
}

/* The queue pairs take turns over the devices; what is told of each goes to the peer. */
static int create_next(struct mini_net_connection *connection,
		       const struct mini_ib_room *room)
{
	int q = connection->qp_count;
	struct mini_ib_qp *qp = &connection->qps[q];
	struct mini_ib_side *side;
	int err;

	qp->device = q % connection->side_count;
	side = &connection->sides[qp->device];
	err = mini_ib_create_qp(connection, side, side->cq, room, &qp->qp);
	connection->qp_count += qp->qp != NULL;
	if (err)
		return err;
	connection->local.qps[q].qp_num = qp->qp->qp_num;
	connection->local.qps[q].device = qp->device;
	return 0;
}

/* Enhanced connection establishment, which adapters other than NVIDIA's do not have. */
static void ask_ece(struct mini_net_connection *connection, int q)
{
	if (!mini_ib_rules()->has_ece || !mini_verbs.query_ece ||
	    !mini_number(SET_NCCL_IB_ECE_ENABLE))
		return;
	connection->local.qps[q].has_ece =
		mini_verbs.query_ece(connection->qps[q].qp,
				     &connection->local.qps[q].ece) == 0;
}

static void take_ece(struct mini_net_connection *connection, int q)
{
	if (connection->remote.qps[q].has_ece && mini_verbs.set_ece)
		connection->local.qps[q].has_ece =
			mini_verbs.set_ece(connection->qps[q].qp,
					   &connection->remote.qps[q].ece) == 0;
}

int mini_ib_create_sender_qps(struct mini_net_connection *connection)
{
	const struct mini_ib_rules *rules = mini_ib_rules();
	const struct mini_ib_room room = {2 * rules->slots,
					  rules->is_new ? 0 : rules->slots,
					  IBV_ACCESS_REMOTE_WRITE};
	int wanted = connection->qp_count;
	int err = 0;

	connection->qp_count = 0;
	while (connection->qp_count < wanted && !err) {
		err = create_next(connection, &room);
		if (!err)
			ask_ece(connection, connection->qp_count - 1);
	}
	return err ? err : mini_ib_create_probe_qps(connection);
}

int mini_ib_ready_sender_qps(struct mini_net_connection *connection)
{
	int err = 0;
	int q;

	for (q = 0; q < connection->qp_count && !err; q++) {
		take_ece(connection, q);
		err = make_ready(connection, q);
	}
	return err ? err : mini_ib_ready_probe_qps(connection);
}

int mini_ib_receives(const struct mini_net_connection *connection)
{
	return mini_ib_rules()->slots *
	       (connection->is_resilient ? mini_ib_pieces(connection) : 1);
}

int mini_ib_create_receiver_qps(struct mini_net_connection *connection)
{
	const struct mini_ib_rules *rules = mini_ib_rules();
	struct mini_ib_room room = {(connection->is_resilient ? 1 : 2) * rules->slots,
				    mini_ib_receives(connection),
				    IBV_ACCESS_REMOTE_WRITE};
	int wanted = connection->qp_count;
	int err = 0;
	int q;

	if (rules->has_atomics)
		room.access |= IBV_ACCESS_REMOTE_ATOMIC;
	if (rules->permits_reads)
		room.access |= IBV_ACCESS_REMOTE_READ;
	connection->qp_count = 0;
	while (connection->qp_count < wanted && !err) {
		q = connection->qp_count;
		err = create_next(connection, &room);
		if (!err) {
			take_ece(connection, q);
			err = make_ready(connection, q);
		}
		if (!err && connection->local.qps[q].has_ece)
			ask_ece(connection, q);
	}
	return err;
}

/* NCCL 2.28.9: 1838-1854: connected to itself. */
int mini_ib_create_flush_qp(struct mini_net_connection *connection, int s)
{
	const struct mini_ib_rules *rules = mini_ib_rules();
	struct mini_ib_side *side = &connection->sides[s];
	struct mini_ib_device_info self = {
		.lid = side->device->attr.lid,
		.port = side->device->port,
		.mtu = (int32_t) side->device->attr.active_mtu,
		.link_layer = side->device->attr.link_layer,
		.gid = side->gid,
	};
	const struct mini_ib_room room = {rules->is_new ? rules->slots : 2 * rules->slots,
					  rules->is_new ? 0 : rules->slots,
					  IBV_ACCESS_LOCAL_WRITE |
						  IBV_ACCESS_REMOTE_READ};
	int err;

	err = mini_ib_create_qp(connection, side, side->cq, &room, &side->flush_qp);
	return err ? err
		   : mini_ib_ready_qp(connection, side, side->flush_qp,
				      side->flush_qp->qp_num, &self);
}

int mini_ib_prepost(struct mini_net_connection *connection)
{
	int err = 0;
	int q;
	int i;

	for (q = 0; q < connection->qp_count; q++) {
		for (i = 0; i < mini_ib_receives(connection) && !err; i++)
			err = mini_ib_post_recv(connection->qps[q].qp, UINT64_MAX);
	}
	return err;
}
