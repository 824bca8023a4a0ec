/* SPDX-License-Identifier: MIT */
/*
 * Making and unmaking a connection: both ends tell each other over a socket where their
 * queues and lists are (NCCL 2.28.9: 1354 and 1661).  The sender connects.  No step
 * waits: each is gone on with when it is asked about again.
 */
#include "verbs.h"

#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* NCCL's ncclNetVDeviceProps_t. */
struct devices {
	int32_t count;
	int32_t devices[MINI_IB_MERGED];
};

/* With what 2.30 tells behind it: whether its receive queues are out of order. */
struct devices_message {
	struct devices devices;
	bool is_unordered;
};

enum state {
	START,
	GREET,
	SEND_DEVICES,
	RECEIVE_DEVICES,
	SET_UP,
	SEND,
	RECEIVE,
	FINISH,
	SEND_READY,
	RECEIVE_READY,
	DONE
};

struct stage {
	enum state state;
	/* Of the message that is under way. */
	size_t moved;
	struct devices_message devices;
	struct mini_net_connection *connection;
};

/* What listen() fills in and connect() goes on with; NCCL's ncclIbHandle. */
struct handle {
	struct sockaddr_in address;
	/* NCCL's address has room for one of IPv6. */
	char room[12];
	uint64_t magic;
	struct stage stage;
};

_Static_assert(sizeof(struct handle) <= MINI_NET_HANDLE_BYTES, "too large");

struct mini_net_listener {
	int fd;
	int nic;
	struct stage stage;
};

int mini_ib_listen(int nic, void *handle, struct mini_net_listener **ret_listener)
{
	struct mini_net_listener *listener = calloc(1, sizeof(*listener));
	struct handle own = {.magic = MINI_STREAM_MAGIC};

	if (!listener)
		return -ENOMEM;
	listener->nic = nic;
	listener->fd = mini_stream_listen(&own.address);
	if (listener->fd < 0) {
		int err = listener->fd;

		free(listener);
		return err;
	}
	memset(handle, 0, MINI_NET_HANDLE_BYTES);
	memcpy(handle, &own, sizeof(own));
	*ret_listener = listener;
	return 0;
}

static struct mini_net_connection *new_connection(int nic, bool is_send)
{
	struct mini_net_connection *connection;
	void *memory;
	int i;

	if (posix_memalign(&memory, 4096, sizeof(*connection)))
		return NULL;
	memset(memory, 0, sizeof(*connection));
	connection = memory;
	connection->is_send = is_send;
	connection->stream.fd = -1;
	connection->nic = mini_ib_nic(nic);
	connection->side_count = connection->nic->count;
	connection->has_adaptive_routing = true;
	for (i = 0; i < connection->side_count; i++) {
		struct mini_ib_device *device =
			mini_ib_device(connection->nic->devices[i]);

		connection->sides[i].device = device;
		if (!device->has_adaptive_routing)
			connection->has_adaptive_routing = false;
	}
	connection->is_split =
		mini_number_or(SET_NCCL_IB_SPLIT_DATA_ON_QPS, mini_ib_rules()->splits);
	if (!mini_ib_rules()->is_new)
		return connection;
	connection->is_by_id =
		mini_number(SET_NCCL_IB_RECEIVER_SIDE_MATCHING_SCHEME) == 1;
	connection->is_preposted =
		!is_send && mini_number(SET_NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS) == 1;
	connection->is_resilient = mini_number(SET_NCCL_IB_RESILIENCY_PORT_FAILOVER) == 1;
	if (connection->is_resilient) {
		connection->is_by_id = true;
		connection->is_preposted = !is_send;
	}
	return connection;
}

/* NCCL 2.28.9: 1420-1423: both have as many queue pairs as the one with more devices. */
static void choose_qps(struct mini_net_connection *connection, int remote_count)
{
	int qps = mini_number(SET_NCCL_IB_QPS_PER_CONNECTION);
	int most = connection->side_count;

	if (remote_count > most)
		most = remote_count;
	if (qps < 1 || qps * most > MINI_MAX_QPS)
		qps = 1;
	connection->qp_count = qps * most;
	connection->data_qps = most;
	/* Before there were several devices a message was on one queue pair. */
	if (!mini_ib_rules()->tells_devices && mini_ib_rules()->merged == 1)
		connection->data_qps = 1;
}

static struct devices_message own_devices(const struct mini_net_connection *connection)
{
	struct devices_message message = {.devices = {.count = connection->side_count}};

	memcpy(message.devices.devices, connection->nic->devices,
	       sizeof(message.devices.devices));
	return message;
}

static size_t devices_size(void)
{
	return mini_ib_rules()->permits_reads ? sizeof(struct devices_message)
					      : sizeof(struct devices);
}

static void describe_device(struct mini_net_connection *connection, int s)
{
	const struct mini_ib_side *side = &connection->sides[s];
	struct mini_ib_device_info *info = &connection->local.devices[s];

	info->lid = side->device->attr.lid;
	info->port = side->device->port;
	info->mtu = (int32_t) side->device->attr.active_mtu;
	info->link_layer = side->device->attr.link_layer;
	info->gid = side->gid;
	info->rkey = connection->is_send ? side->clears_mr->rkey : 0;
	if (!connection->is_send && side->sizes_mr)
		info->rkey = side->sizes_mr->rkey;
}

static void describe(struct mini_net_connection *connection)
{
	struct mini_ib_metadata *local = &connection->local;
	int i;

	for (i = 0; i < connection->side_count; i++)
		describe_device(connection, i);
	memcpy(local->name, connection->nic->name, sizeof(connection->nic->name));
	local->device_count = connection->side_count;
	local->address = connection->is_send ? (uintptr_t) connection->clears
					     : (uintptr_t) connection->records;
	if (connection->is_send) {
		local->service_level = mini_number(SET_NCCL_IB_SL);
		local->traffic_class = mini_number(SET_NCCL_IB_TC);
	} else {
		local->service_level = connection->remote.service_level;
		local->traffic_class = connection->remote.traffic_class;
	}
}

static size_t clears_size(void)
{
	return (size_t) mini_ib_rules()->slots * MINI_MAX_RECEIVES *
	       mini_ib_rules()->clear_bytes;
}

static int set_up_sender(struct mini_net_connection *connection)
{
	int err = mini_ib_create_queues(connection);
	int i;

	if (!err)
		err = mini_ib_create_sender_qps(connection);
	for (i = 0; i < connection->side_count && !err; i++) {
		struct mini_ib_side *side = &connection->sides[i];

		if (mini_ib_rules()->has_atomics)
			err = mini_ib_reg_own(side, &connection->scratchpad,
					      sizeof(connection->scratchpad),
					      IBV_ACCESS_LOCAL_WRITE,
					      &side->scratchpad_mr);
		if (!err)
			err = mini_ib_reg_own(side, connection->clears, clears_size(),
					      MINI_IB_OF_PEERS, &side->clears_mr);
		if (!err)
			err = mini_ib_find_gid(side);
	}
	if (!err)
		describe(connection);
	return err;
}

static bool is_fit(const struct mini_net_connection *connection)
{
	const struct mini_ib_metadata *remote = &connection->remote;
	int i;

	if (remote->device_count < 1 || remote->device_count > MINI_IB_MERGED)
		return false;
	for (i = 0; i < remote->device_count; i++) {
		if (remote->devices[i].link_layer !=
		    connection->sides[0].device->attr.link_layer)
			return false;
	}
	return true;
}

/* The sender tells when it can be written to. */
static int finish_sender(struct mini_net_connection *connection)
{
	int err = 0;
	int i;

	if (!is_fit(connection))
		return -EPROTO;
	for (i = 0; i < connection->side_count && !err; i++) {
		if (mini_ib_rules()->record_bytes > 0)
			err = mini_ib_reg_own(&connection->sides[i], connection->sizes,
					      sizeof(connection->sizes), MINI_IB_OF_PEERS,
					      &connection->sides[i].sizes_mr);
	}
	if (!err)
		err = mini_ib_ready_sender_qps(connection);
	connection->ready = 1;
	return err;
}

static size_t records_size(void)
{
	return (size_t) mini_ib_rules()->slots * mini_ib_rules()->record_bytes;
}

static int reg_clears(struct mini_net_connection *connection, struct mini_ib_side *side)
{
	return mini_ib_reg_own(side, connection->clears, clears_size(), MINI_IB_OF_PEERS,
			       &side->clears_mr);
}

static int reg_records(struct mini_net_connection *connection, struct mini_ib_side *side)
{
	if (records_size() == 0)
		return 0;
	return mini_ib_reg_own(side, connection->records, records_size(),
			       MINI_IB_OF_PEERS, &side->sizes_mr);
}

static int make_flush(struct mini_net_connection *connection, int s)
{
	int err;

	if (!connection->flushes)
		return 0;
	err = mini_ib_reg_flush(connection, s);
	return err ? err : mini_ib_create_flush_qp(connection, s);
}

/* NCCL 2.28.9: 1828-1866: all of one device after all of the other. */
static int register_by_side(struct mini_net_connection *connection)
{
	int err = 0;
	int i;

	for (i = 0; i < connection->side_count && !err; i++) {
		struct mini_ib_side *side = &connection->sides[i];

		err = reg_clears(connection, side);
		if (!err)
			err = make_flush(connection, i);
		if (!err)
			err = reg_records(connection, side);
	}
	return err;
}

/* NCCL 2.29.3, connect.cc: 990-1030: the lists first. */
static int register_lists_first(struct mini_net_connection *connection)
{
	int err = 0;
	int i;

	for (i = 0; i < connection->side_count && !err; i++) {
		err = reg_clears(connection, &connection->sides[i]);
		if (!err)
			err = reg_records(connection, &connection->sides[i]);
	}
	for (i = 0; i < connection->side_count && !err; i++)
		err = make_flush(connection, i);
	return err;
}

static int set_up_old_receiver(struct mini_net_connection *connection)
{
	int err = mini_ib_create_receiver_qps(connection);

	if (err)
		return err;
	connection->flushes = mini_ib_flushes(connection->nic);
	return mini_ib_rules()->is_big_endian ? register_lists_first(connection)
					      : register_by_side(connection);
}

/* NCCL 2.30.7, connect.cc: 1490-1560: all queue pairs first. */
static int set_up_new_receiver(struct mini_net_connection *connection)
{
	bool flushes;
	int err;
	int i;

	connection->flushes = mini_ib_flushes(connection->nic);
	flushes = connection->flushes && !mini_ib_rules()->flushes_late;
	err = mini_ib_create_receiver_qps(connection);
	for (i = 0; i < connection->side_count && !err && flushes; i++)
		err = mini_ib_create_flush_qp(connection, i);
	if (!err)
		err = mini_ib_create_probe_qps(connection);
	if (!err && connection->is_preposted)
		err = mini_ib_prepost(connection);
	for (i = 0; i < connection->side_count && !err; i++) {
		err = reg_clears(connection, &connection->sides[i]);
		if (!err)
			err = reg_records(connection, &connection->sides[i]);
	}
	for (i = 0; i < connection->side_count && !err && flushes; i++)
		err = mini_ib_reg_flush(connection, i);
	return err;
}

static int set_up_receiver(struct mini_net_connection *connection)
{
	int err = mini_ib_create_queues(connection);

	if (err)
		return err;
	if (!is_fit(connection))
		return -EPROTO;
	err = mini_ib_rules()->is_new ? set_up_new_receiver(connection)
				      : set_up_old_receiver(connection);
	if (!err)
		describe(connection);
	return err;
}

static int move(struct stage *stage, bool is_send, void *data, size_t size)
{
	int err = mini_stream_move(stage->connection->stream.fd, is_send, data, size,
				   &stage->moved);

	if (!err)
		stage->moved = 0;
	return err;
}

static int move_devices(struct stage *stage, bool is_send)
{
	if (is_send && stage->moved == 0)
		stage->devices = own_devices(stage->connection);
	return move(stage, is_send, &stage->devices, devices_size());
}

/* Before 2.24 they did not ask: each has what it is told with the queue pairs. */
/* In which order an end goes on. */
static const enum state sender_states[] = {GREET,  SEND_DEVICES, RECEIVE_DEVICES,
					   SET_UP, SEND,	 RECEIVE,
					   FINISH, SEND_READY,	 DONE};
static const enum state receiver_states[] = {GREET,	    RECEIVE_DEVICES,
					     SEND_DEVICES,  RECEIVE,
					     SET_UP,	    SEND,
					     RECEIVE_READY, DONE};

/* Older releases do not tell each other of their devices. */
static enum state next_state(const struct stage *stage)
{
	const enum state *next =
		stage->connection->is_send ? sender_states : receiver_states;
	bool is_told = mini_ib_rules()->tells_devices;

	while (*next++ != stage->state)
		;
	while (!is_told && (*next == SEND_DEVICES || *next == RECEIVE_DEVICES))
		next++;
	return *next;
}

/* What came before it is done. */
static int do_state(struct stage *stage)
{
	struct mini_net_connection *connection = stage->connection;
	int err;

	switch (stage->state) {
	case GREET:
		err = mini_stream_ready(&connection->stream);
		if (!err)
			choose_qps(connection, connection->side_count);
		return err;
	case SEND_DEVICES:
		return move_devices(stage, true);
	case RECEIVE_DEVICES:
		err = move_devices(stage, false);
		if (!err)
			choose_qps(connection, stage->devices.devices.count);
		return err;
	case SET_UP:
		return connection->is_send ? set_up_sender(connection)
					   : set_up_receiver(connection);
	case SEND:
		return move(stage, true, &connection->local, sizeof(connection->local));
	case RECEIVE:
		return move(stage, false, &connection->remote,
			    sizeof(connection->remote));
	case FINISH:
		return finish_sender(connection);
	default:
		return move(stage, stage->state == SEND_READY, &connection->ready,
			    sizeof(connection->ready));
	}
}

static int go_on(struct stage *stage, struct mini_net_connection **ret_connection)
{
	int err = 0;

	*ret_connection = NULL;
	while (!err && stage->state != DONE) {
		err = do_state(stage);
		if (!err)
			stage->state = next_state(stage);
	}
	if (err == -EAGAIN)
		return err;
	if (err)
		mini_ib_close(stage->connection);
	else
		*ret_connection = stage->connection;
	memset(stage, 0, sizeof(*stage));
	return err;
}

int mini_ib_connect(int nic, void *opaque, struct mini_net_connection **ret_connection)
{
	struct handle *handle = opaque;
	struct stage *stage = &handle->stage;

	if (stage->state == START) {
		stage->connection = new_connection(nic, true);
		if (!stage->connection)
			return -ENOMEM;
		mini_stream_connect(&stage->connection->stream, &handle->address,
				    handle->magic, MINI_SOCKET_NET_IB);
		stage->state = GREET;
	}
	return go_on(stage, ret_connection);
}

int mini_ib_accept(struct mini_net_listener *listener,
		   struct mini_net_connection **ret_connection)
{
	struct stage *stage = &listener->stage;

	if (stage->state == START) {
		stage->connection = new_connection(listener->nic, false);
		if (!stage->connection)
			return -ENOMEM;
		mini_stream_accept(&stage->connection->stream, listener->fd,
				   MINI_STREAM_MAGIC, MINI_SOCKET_NET_IB);
		stage->state = GREET;
	}
	return go_on(stage, ret_connection);
}

static void deregister(struct ibv_mr *mr)
{
	if (mr)
		mini_verbs.dereg_mr(mr);
}

static void put_pd(struct mini_ib_device *device)
{
	pthread_mutex_lock(&device->lock);
	if (--device->pd_users == 0) {
		mini_verbs.dealloc_pd(device->pd);
		device->pd = NULL;
	}
	pthread_mutex_unlock(&device->lock);
}

static void close_side(struct mini_ib_side *side)
{
	if (side->flush_qp)
		mini_verbs.destroy_qp(side->flush_qp);
	deregister(side->flush_mr);
	deregister(side->clears_mr);
	deregister(side->sizes_mr);
	deregister(side->scratchpad_mr);
	mini_ib_close_probe(side);
	if (side->cq)
		mini_verbs.destroy_cq(side->cq);
	if (side->pd)
		put_pd(side->device);
}

/* NCCL 2.28.9: 2604-2657. */
void mini_ib_close(struct mini_net_connection *connection)
{
	int i;

	mini_stream_close(&connection->stream);
	for (i = 0; i < connection->qp_count && connection->qps[i].qp; i++)
		mini_verbs.destroy_qp(connection->qps[i].qp);
	for (i = 0; i < connection->side_count; i++) {
		if (connection->sides[i].probe_qp)
			mini_verbs.destroy_qp(connection->sides[i].probe_qp);
	}
	for (i = 0; i < connection->side_count; i++)
		close_side(&connection->sides[i]);
	free(connection);
}

void mini_ib_close_listener(struct mini_net_listener *listener)
{
	if (listener->stage.state != START)
		mini_ib_close(listener->stage.connection);
	close(listener->fd);
	free(listener);
}
