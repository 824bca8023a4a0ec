/* SPDX-License-Identifier: MIT */
/* Chooses between the transports, and leads to the one that a connection has. */
#include "transport.h"

#include "settings.h"
#include "transport_local.h"
#include "truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A connection of the network of several connections between ranks. */
struct mini_share {
	struct mini_share *next;
	int device;
	/* Who receives, or who posts. */
	int far;
	int channel;
	bool is_send;
	/* The rank whose connection is made; the others wait for it. */
	int maker;
	struct mini_net_connection *comm;
	int references;
};

struct mini_connection {
	struct mini_connect_info info;
	/* Whose `comm` it is, where others may use it, too. */
	struct mini_share *share;
	bool is_send;
	/* The sender has its peer's. */
	bool has_handle;
	char handle[MINI_NET_HANDLE_BYTES];
	const struct mini_net *net;
	struct mini_net_listener *listener;
	struct mini_net_connection *comm;
	struct mini_local local;
};

bool mini_transport_is_same_node(const struct mini_place *a, const struct mini_place *b)
{
	int each = (int) mini_number(SET_MININCCL_RANKS_PER_NODE);

	if (a->host_hash != b->host_hash)
		return false;
	return each == 0 || a->rank / each == b->rank / each;
}

enum mini_kind mini_transport_choose(const struct mini_place *a,
				     const struct mini_place *b)
{
	if (!mini_transport_is_same_node(a, b))
		return MINI_NET;
	if (!mini_number(SET_NCCL_P2P_DISABLE))
		return MINI_P2P;
	return mini_number(SET_NCCL_SHM_DISABLE) ? MINI_NET : MINI_SHM;
}

/* NCCL_NET, or what there is, InfiniBand before sockets. */
const struct mini_net *mini_transport_net(void)
{
	const char *wanted = mini_text(SET_NCCL_NET);
	const struct mini_net *ib = NULL;

	if (!wanted || strcasecmp(wanted, "Socket") != 0)
		ib = mini_net_ib();
	return ib ? ib : &mini_net_socket;
}

int mini_connection_setup(const struct mini_connect_info *info, bool is_send,
			  char handle[MINI_NET_HANDLE_BYTES],
			  struct mini_connection **ret_connection)
{
	struct mini_connection *connection = calloc(1, sizeof(*connection));
	int err = 0;

	if (!connection)
		return -ENOMEM;
	connection->info = *info;
	connection->is_send = is_send;
	connection->net = mini_transport_net();
	connection->local.fd = -1;
	if (!is_send && info->kind == MINI_NET)
		err = connection->net->listen(connection->net->device_of(info->channel),
					      handle, &connection->listener);
	else if (!is_send)
		err = mini_local_make((enum mini_kind) info->kind, &connection->local,
				      handle);
	if (err) {
		mini_connection_close(connection);
		return err;
	}
	*ret_connection = connection;
	return 0;
}

static int accept_net(struct mini_connection *connection)
{
	int err = connection->net->accept(connection->listener, &connection->comm);

	/* Nobody else connects (NCCL 2.28.9, transport/net.cc:975). */
	if (!err) {
		connection->net->close_listener(connection->listener);
		connection->listener = NULL;
	}
	return err;
}

static bool is_shareable(const struct mini_connection *connection)
{
	return connection->info.shares && connection->info.index == 1 &&
	       connection->net->max_receives > 1 &&
	       mini_number(SET_NCCL_NET_SHARED_COMMS);
}

static struct mini_share *find_share(struct mini_connection *connection, int far)
{
	const struct mini_connect_info *info = &connection->info;
	int device = connection->net->device_of(info->channel);
	struct mini_share *share = info->shares->first;

	while (share &&
	       (share->device != device || share->far != far ||
		share->channel != info->channel || share->is_send != connection->is_send))
		share = share->next;
	if (share)
		return share;
	share = calloc(1, sizeof(*share));
	if (!share)
		return NULL;
	*share = (struct mini_share){
		.next = info->shares->first,
		.device = device,
		.far = far,
		.channel = info->channel,
		.is_send = connection->is_send,
		.maker = connection->is_send ? info->rank : info->peer,
	};
	info->shares->first = share;
	return share;
}

static int connect_net(struct mini_connection *connection)
{
	return connection->is_send
		       ? connection->net->connect(connection->net->device_of(
							  connection->info.channel),
						  connection->handle, &connection->comm)
		       : accept_net(connection);
}

/*
 * Of several senders one connects, while a receiver accepts from whoever it is (NCCL
 * 2.28.9, transport/net.cc:829-850 and 1000-1030).
 */
static int connect_share(struct mini_connection *connection, int far)
{
	const struct mini_connect_info *info = &connection->info;
	struct mini_share *share = find_share(connection, far);
	int err = 0;

	if (!share)
		return -ENOMEM;
	if (!share->comm) {
		if (share->maker != (connection->is_send ? info->rank : info->peer))
			return -EAGAIN;
		err = connect_net(connection);
		if (err)
			return err;
		share->comm = connection->comm;
	}
	connection->comm = share->comm;
	connection->share = share;
	share->references++;
	if (connection->listener)
		connection->net->close_listener(connection->listener);
	connection->listener = NULL;
	return 0;
}

void mini_shares_free(struct mini_shares *shares)
{
	struct mini_share *share;

	while (shares->first) {
		share = shares->first;
		shares->first = share->next;
		free(share);
	}
}

static void leave_share(struct mini_connection *connection)
{
	struct mini_share **place = &connection->info.shares->first;
	struct mini_share *share = connection->share;

	if (--share->references > 0)
		return;
	while (*place != share)
		place = &(*place)->next;
	*place = share->next;
	connection->net->close(share->comm);
	free(share);
}

int mini_connection_connect(struct mini_connection *connection, const char *handle,
			    int poster)
{
	bool is_first = connection->is_send && !connection->has_handle;

	if (is_first) {
		if (!handle)
			return -EINVAL;
		memcpy(connection->handle, handle, sizeof(connection->handle));
		connection->has_handle = true;
	}
	if (connection->info.kind != MINI_NET)
		return is_first ? mini_local_open((enum mini_kind) connection->info.kind,
						  &connection->local, connection->handle)
				: 0;
	if (connection->comm)
		return 0;
	if (!is_shareable(connection))
		return connect_net(connection);
	return connect_share(connection,
			     connection->is_send ? connection->info.peer : poster);
}

void mini_connection_close(struct mini_connection *connection)
{
	if (connection->share)
		leave_share(connection);
	else if (connection->comm)
		connection->net->close(connection->comm);
	if (connection->listener)
		connection->net->close_listener(connection->listener);
	mini_local_close(&connection->local);
	free(connection);
}

const void *mini_connection_comm(const struct mini_connection *connection)
{
	return connection->comm ? (const void *) connection->comm : connection;
}

enum mini_kind mini_connection_kind(const struct mini_connection *connection)
{
	return (enum mini_kind) connection->info.kind;
}

int mini_connection_max_receives(const struct mini_connection *connection)
{
	return connection->info.kind == MINI_NET ? connection->net->max_receives : 1;
}

void mini_connection_describe(const struct mini_connection *connection,
			      struct mini_truth_connection *told)
{
	static const char *const names[] = {[MINI_P2P] = "P2P", [MINI_SHM] = "SHM"};

	if (connection->info.kind != MINI_NET) {
		told->transport = names[connection->info.kind];
		return;
	}
	told->is_shared = connection->share && connection->share->references > 1;
	connection->net->describe(connection->comm, told);
}

int mini_connection_register(struct mini_connection *connection, void *data, size_t size,
			     struct mini_net_region **ret_region)
{
	return connection->net->reg(connection->comm, data, size, ret_region);
}

int mini_connection_deregister(struct mini_connection *connection,
			       struct mini_net_region *region)
{
	return connection->net->dereg(connection->comm, region);
}

int mini_connection_isend(struct mini_connection *connection, const void *data,
			  size_t size, int tag, struct mini_net_region *region,
			  struct mini_net_request **ret_request)
{
	return connection->net->isend(connection->comm, data, size, tag, region,
				      ret_request);
}

int mini_connection_irecv(struct mini_connection *connection, int count,
			  void *const *data, const size_t *sizes, const int *tags,
			  struct mini_net_region *const *regions,
			  struct mini_net_request **ret_request)
{
	return connection->net->irecv(connection->comm, count, data, sizes, tags, regions,
				      ret_request);
}

int mini_connection_iflush(struct mini_connection *connection, int count,
			   void *const *data, const size_t *sizes,
			   struct mini_net_region *const *regions,
			   struct mini_net_request **ret_request)
{
	return connection->net->iflush(connection->comm, count, data, sizes, regions,
				       ret_request);
}

int mini_connection_test(struct mini_connection *connection,
			 struct mini_net_request *request, bool *ret_is_done,
			 size_t *ret_sizes, struct mini_way *ret_way)
{
	return connection->net->test(request, ret_is_done, ret_sizes, ret_way);
}

const struct mini_direct *mini_connection_direct(const struct mini_connection *connection)
{
	return connection->info.kind == MINI_NET ? NULL : &connection->local.direct;
}
