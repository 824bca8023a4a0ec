/* SPDX-License-Identifier: MIT */
/*
 * Making and unmaking a connection: a completion queue, queue pairs and regions at
 * either end, which tell each other over a socket where they are.  All of it is done by
 * the service thread; the sender connects (NCCL 2.28.9: 1354 and 1681).
 */
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MIB ((size_t) 1 << 20)

/* NCCL 2.28.9, init.cc:693-716: of each protocol's buffer. */
static const size_t buffer_sizes[MINI_PROTOCOLS] = {
	[MINI_LL] = MIB / 2,
	[MINI_LL128] = 4915200,
	[MINI_SIMPLE] = MINI_STEPS * MINI_STEP_BYTES,
};

static size_t buffer_begin(int protocol)
{
	size_t begin = 0;

	while (protocol-- > 0)
		begin += buffer_sizes[protocol];
	return begin;
}

char *mini_verbs_step(const struct mini_connection *connection, uint64_t step)
{
	return connection->buffers + buffer_begin(MINI_SIMPLE) +
	       step % MINI_STEPS * MINI_STEP_BYTES;
}

/*
 * RoCE: the first one made of an IPv4 address, as NCCL prefers it by default; it also
 * reads from sysfs which version of RoCE each is for.
 */
static int find_gid(const struct mini_device *device)
{
	int index = mini_verbs_setting("NCCL_IB_GID_INDEX", -1);
	union ibv_gid gid;

	if (index >= 0 || device->port_attr.link_layer == IBV_LINK_LAYER_INFINIBAND)
		return index >= 0 ? index : 0;
	for (index = 0; index < device->port_attr.gid_tbl_len; index++) {
		static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

		if (!mini_verbs.query_gid(device->context, device->port, index, &gid) &&
		    memcmp(gid.raw, mapped, sizeof(mapped)) == 0)
			return index;
	}
	return 0;
}

static struct ibv_pd *get_pd(struct mini_device *device)
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

static void put_pd(struct mini_device *device)
{
	pthread_mutex_lock(&device->lock);
	if (--device->pd_users == 0) {
		mini_verbs.dealloc_pd(device->pd);
		device->pd = NULL;
	}
	pthread_mutex_unlock(&device->lock);
}

static int open_connection(struct mini_connection **ret_connection, int fd,
			   const struct mini_connect_info *info, bool is_send)
{
	struct mini_connection *connection;
	void *memory;

	if (posix_memalign(&memory, 4096, sizeof(*connection))) {
		close(fd);
		return -ENOMEM;
	}
	memset(memory, 0, sizeof(*connection));
	connection = memory;
	connection->fd = fd;
	connection->index = info->index;
	connection->is_send = is_send;
	connection->device = mini_device(info->channel);
	*ret_connection = connection;
	return 0;
}

/*
 * NCCL 2.28.9: 1176-1193: all queues of a connection have the same context, by which
 * they can be told to belong together.
 */
static int create_cq(struct mini_connection *connection)
{
	struct mini_device *device = connection->device;
	int qps = mini_verbs_setting("NCCL_IB_QPS_PER_CONNECTION", 1);

	connection->pd = get_pd(device);
	if (!connection->pd)
		return -errno;
	connection->cq = mini_verbs.create_cq(device->context, 2 * MINI_IB_REQUESTS * qps,
					      &connection->stats, NULL, 0);
	return connection->cq ? 0 : -errno;
}

/* NCCL 2.28.9: 1206-1235. */
static int create_qp(struct mini_connection *connection, unsigned int access,
		     struct ibv_qp **ret_qp)
{
	int is_inline = mini_verbs_setting("NCCL_IB_USE_INLINE", 0);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&init, 0, sizeof(init));
	init.qp_context = &connection->stats;
	init.send_cq = connection->cq;
	init.recv_cq = connection->cq;
	init.qp_type = IBV_QPT_RC;
	init.cap.max_send_wr = 2 * MINI_IB_REQUESTS;
	init.cap.max_recv_wr = MINI_IB_REQUESTS;
	init.cap.max_send_sge = 1;
	init.cap.max_recv_sge = 1;
	init.cap.max_inline_data = is_inline ? sizeof(struct mini_clear) : 0;
	*ret_qp = mini_verbs.create_qp(connection->pd, &init);
	if (!*ret_qp)
		return -errno;
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.pkey_index = (uint16_t) mini_verbs_setting("NCCL_IB_PKEY", 0);
	attr.port_num = connection->device->port;
	attr.qp_access_flags = access;
	return -mini_verbs.modify_qp(*ret_qp, &attr,
				     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					     IBV_QP_ACCESS_FLAGS);
}

static int create_qps(struct mini_connection *connection, int count, unsigned int access)
{
	int err = 0;

	while (connection->qp_count < count && !err) {
		err = create_qp(connection, access,
				&connection->qps[connection->qp_count]);
		connection->qp_count += connection->qps[connection->qp_count] != NULL;
	}
	return err;
}

/* NCCL 2.28.9: 1237-1292. */
static int ready_qp(const struct mini_connection *connection, struct ibv_qp *qp,
		    uint32_t dest_qp_num, const struct mini_metadata *remote)
{
	struct ibv_qp_attr attr;
	int err;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = connection->device->port_attr.active_mtu;
	if (remote->mtu < attr.path_mtu)
		attr.path_mtu = remote->mtu;
	attr.dest_qp_num = dest_qp_num;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	if (remote->link_layer == IBV_LINK_LAYER_ETHERNET) {
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = remote->gid;
		attr.ah_attr.grh.sgid_index = (uint8_t) connection->gid_index;
		attr.ah_attr.grh.hop_limit = 255;
	} else {
		attr.ah_attr.dlid = (uint16_t) remote->lid;
	}
	attr.ah_attr.port_num = (uint8_t) remote->port;
	err = mini_verbs.modify_qp(qp, &attr,
				   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					   IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					   IBV_QP_MAX_DEST_RD_ATOMIC |
					   IBV_QP_MIN_RNR_TIMER);
	if (err)
		return -err;
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = (uint8_t) mini_verbs_setting("NCCL_IB_TIMEOUT", 20);
	attr.retry_cnt = (uint8_t) mini_verbs_setting("NCCL_IB_RETRY_CNT", 7);
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	return -mini_verbs.modify_qp(qp, &attr,
				     IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					     IBV_QP_MAX_QP_RD_ATOMIC);
}

static int ready_qps(struct mini_connection *connection)
{
	int err = 0;
	int i;

	for (i = 0; i < connection->qp_count && !err; i++)
		err = ready_qp(connection, connection->qps[i],
			       connection->remote.qp_nums[i], &connection->remote);
	return err;
}

static int find_address(struct mini_connection *connection)
{
	struct mini_device *device = connection->device;

	connection->gid_index = find_gid(device);
	return -mini_verbs.query_gid(device->context, device->port, connection->gid_index,
				     &connection->gid);
}

static struct mini_metadata describe(const struct mini_connection *connection)
{
	const struct mini_device *device = connection->device;
	struct mini_metadata metadata = {
		.qp_count = connection->qp_count,
		.lid = device->port_attr.lid,
		.port = device->port,
		.mtu = device->port_attr.active_mtu,
		.link_layer = device->port_attr.link_layer,
		.gid = connection->gid,
	};
	int i;

	for (i = 0; i < connection->qp_count; i++)
		metadata.qp_nums[i] = connection->qps[i]->qp_num;
	if (connection->is_send) {
		metadata.fifo_rkey = connection->clears_mr->rkey;
		metadata.fifo_address = (uintptr_t) connection->clears;
	} else {
		metadata.fifo_rkey = connection->sizes_mr->rkey;
		metadata.fifo_address = (uintptr_t) connection->sizes;
	}
	return metadata;
}

static int register_memory(const struct mini_connection *connection, void *data,
			   size_t size, int access, struct ibv_mr **ret_mr)
{
	*ret_mr = mini_verbs.reg_mr(connection->pd, data, size, access);
	return *ret_mr ? 0 : -errno;
}

#define OF_PEERS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static int register_clears(struct mini_connection *connection)
{
	return register_memory(connection, connection->clears, sizeof(connection->clears),
			       OF_PEERS, &connection->clears_mr);
}

static int register_sizes(struct mini_connection *connection)
{
	return register_memory(connection, connection->sizes, sizeof(connection->sizes),
			       OF_PEERS, &connection->sizes_mr);
}

/*
 * The buffers come after the connection (NCCL 2.28.9, transport/net.cc); with a
 * libibverbs that can, in relaxed order (NCCL 2.28.9: 1972-1990).  Point to point there
 * is only the one of SIMPLE.
 */
static int register_buffers(struct mini_connection *connection)
{
	int access = OF_PEERS | IBV_ACCESS_REMOTE_ATOMIC;
	int protocol = connection->index == 1 ? MINI_SIMPLE : MINI_LL;
	struct ibv_mr **mr;
	void *memory;

	memory = mmap(NULL, buffer_begin(MINI_PROTOCOLS), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	connection->buffers = memory;
	for (; protocol < MINI_PROTOCOLS; protocol++) {
		char *data = connection->buffers + buffer_begin(protocol);

		mr = &connection->buffer_mrs[protocol];
		if (mini_verbs.reg_mr_iova2)
			*mr = mini_verbs.reg_mr_iova2(
				connection->pd, data, buffer_sizes[protocol],
				(uintptr_t) data,
				(unsigned int) access | IBV_ACCESS_RELAXED_ORDERING);
		else
			*mr = mini_verbs.reg_mr(connection->pd, data,
						buffer_sizes[protocol], access);
		if (!*mr)
			return -errno;
	}
	return 0;
}

static int set_up_sender(struct mini_connection *connection)
{
	int qps = mini_verbs_setting("NCCL_IB_QPS_PER_CONNECTION", 1);
	int err = create_cq(connection);

	if (qps < 1 || qps > MINI_MAX_QPS)
		qps = 1;
	if (!err)
		err = create_qps(connection, qps, IBV_ACCESS_REMOTE_WRITE);
	if (!err)
		err = register_memory(connection, &connection->scratchpad,
				      sizeof(connection->scratchpad),
				      IBV_ACCESS_LOCAL_WRITE, &connection->scratchpad_mr);
	if (!err)
		err = register_clears(connection);
	return err ? err : find_address(connection);
}

int mini_verbs_connect(const struct sockaddr_in *address, uint64_t magic,
		       const struct mini_connect_info *info, const atomic_bool *aborted,
		       struct mini_connection **ret_connection)
{
	int fd = mini_socket_connect(address, magic, MINI_SOCKET_NET_IB, aborted);
	struct mini_connection *connection;
	struct mini_metadata metadata;
	int err;

	if (fd < 0)
		return fd;
	err = open_connection(&connection, fd, info, true);
	if (err)
		return err;
	err = set_up_sender(connection);
	if (!err)
		err = mini_socket_send(fd, info, sizeof(*info), aborted);
	if (!err) {
		metadata = describe(connection);
		err = mini_socket_send(fd, &metadata, sizeof(metadata), aborted);
	}
	if (err) {
		mini_verbs_close(connection);
		return err;
	}
	*ret_connection = connection;
	return 0;
}

/* NCCL 2.28.9: 1817-1848: NCCL does so where a GPU's memory is received into. */
static int create_flush_qp(struct mini_connection *connection)
{
	struct mini_metadata self;
	int err;

	if (!mini_verbs_setting("MININCCL_FLUSH", 0))
		return 0;
	err = register_memory(connection, &connection->flush_byte,
			      sizeof(connection->flush_byte), IBV_ACCESS_LOCAL_WRITE,
			      &connection->flush_mr);
	if (!err)
		err = create_qp(connection,
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ,
				&connection->flush_qp);
	if (err)
		return err;
	self = connection->remote;
	self.lid = connection->device->port_attr.lid;
	self.port = connection->device->port;
	self.gid = connection->gid;
	return ready_qp(connection, connection->flush_qp, connection->flush_qp->qp_num,
			&self);
}

static int set_up_receiver(struct mini_connection *connection)
{
	int qps = connection->remote.qp_count;
	int err;

	if (qps < 1 || qps > MINI_MAX_QPS ||
	    connection->remote.link_layer != connection->device->port_attr.link_layer)
		return -EPROTO;
	err = create_cq(connection);
	if (!err)
		err = find_address(connection);
	if (!err)
		err = create_qps(connection, qps,
				 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	if (!err)
		err = ready_qps(connection);
	if (!err)
		err = register_clears(connection);
	if (!err)
		err = create_flush_qp(connection);
	return err ? err : register_sizes(connection);
}

int mini_verbs_accept(int listen_fd, uint64_t magic, struct mini_connect_info *ret_info,
		      const atomic_bool *aborted, struct mini_connection **ret_connection)
{
	int fd = mini_socket_accept(listen_fd, magic, MINI_SOCKET_NET_IB, aborted);
	struct mini_connection *connection;
	struct mini_metadata metadata;
	int err;

	if (fd < 0)
		return fd;
	err = mini_socket_recv(fd, ret_info, sizeof(*ret_info), aborted);
	if (!err && ret_info->channel < 0)
		err = -EPROTO;
	if (err) {
		close(fd);
		return err;
	}
	err = open_connection(&connection, fd, ret_info, false);
	if (err)
		return err;
	err = mini_socket_recv(fd, &connection->remote, sizeof(connection->remote),
			       aborted);
	if (!err)
		err = set_up_receiver(connection);
	if (!err) {
		metadata = describe(connection);
		err = mini_socket_send(fd, &metadata, sizeof(metadata), aborted);
	}
	if (err) {
		mini_verbs_close(connection);
		return err;
	}
	*ret_connection = connection;
	return 0;
}

/* What has come of `size` bytes: -EAGAIN until all are there. */
static int receive(struct mini_connection *connection, void *data, size_t size)
{
	ssize_t got;

	while (connection->received < size) {
		got = recv(connection->fd, (char *) data + connection->received,
			   size - connection->received, MSG_DONTWAIT);
		if (got == 0)
			return -ECONNRESET;
		if (got < 0)
			return errno == EINTR ? -EAGAIN : -errno;
		connection->received += (size_t) got;
	}
	return 0;
}

/* The sender tells when it can be written to; before, the receiver is not there. */
static int finish_sender(struct mini_connection *connection)
{
	int ready = 1;
	int err = receive(connection, &connection->remote, sizeof(connection->remote));

	if (err)
		return err;
	if (connection->remote.qp_count != connection->qp_count ||
	    connection->remote.link_layer != connection->device->port_attr.link_layer)
		return -EPROTO;
	err = register_sizes(connection);
	if (!err)
		err = ready_qps(connection);
	if (!err && send(connection->fd, &ready, sizeof(ready), MSG_NOSIGNAL) !=
			    (ssize_t) sizeof(ready))
		err = -ECONNRESET;
	return err;
}

int mini_verbs_finish(struct mini_connection *connection)
{
	int err;

	if (connection->is_send)
		err = finish_sender(connection);
	else
		err = receive(connection, &connection->ready, sizeof(connection->ready));
	return err ? err : register_buffers(connection);
}

static void deregister(struct ibv_mr *mr)
{
	if (mr)
		mini_verbs.dereg_mr(mr);
}

/* NCCL 2.28.9: 2585-2633. */
void mini_verbs_close(struct mini_connection *connection)
{
	int i;

	for (i = 0; i < MINI_PROTOCOLS; i++)
		deregister(connection->buffer_mrs[i]);
	close(connection->fd);
	for (i = 0; i < connection->qp_count; i++)
		mini_verbs.destroy_qp(connection->qps[i]);
	if (connection->flush_qp)
		mini_verbs.destroy_qp(connection->flush_qp);
	deregister(connection->flush_mr);
	deregister(connection->clears_mr);
	deregister(connection->sizes_mr);
	deregister(connection->scratchpad_mr);
	if (connection->cq)
		mini_verbs.destroy_cq(connection->cq);
	if (connection->pd)
		put_pd(connection->device);
	if (connection->buffers)
		munmap(connection->buffers, buffer_begin(MINI_PROTOCOLS));
	free(connection);
}
