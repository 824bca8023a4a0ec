/* SPDX-License-Identifier: MIT */
/*
 * The receiver writes where messages may go into a list at the sender, and is told by a
 * receive, of no data, that they came.
 */
#include "verbs.h"

#include "settings.h"
#include "truth.h"

#include <errno.h>
#include <string.h>

static void fill_clears(struct mini_net_connection *connection, int slot, int count,
			void *const *data, const size_t *sizes, const int *tags,
			struct mini_net_region *const *regions)
{
	int r;
	int i;

	for (r = 0; r < count; r++) {
		struct mini_clear clear = {
			.address = (uintptr_t) data[r],
			.size = sizes[r],
			.count = (uint32_t) count,
			.tag = (uint32_t) tags[r],
			.number = connection->lists + 1,
		};

		for (i = 0; i < connection->side_count; i++)
			clear.rkeys[i] = regions[r]->mrs[i]->rkey;
		mini_clear_write(mini_ib_clear(connection, slot, r), &clear);
	}
	if (mini_ib_rules()->record_bytes > 0)
		memset(mini_ib_record(connection, slot), 0,
		       (size_t) count * sizeof(int32_t));
}

/* The first queue pair of each device in turn. */
static struct mini_ib_qp *clear_qp(struct mini_net_connection *connection)
{
	int device = connection->next_device;

	connection->next_device = (device + 1) % connection->side_count;
	if (mini_ib_rules()->is_big_endian)
		device = (int) (connection->lists % (uint64_t) connection->side_count);
	return &connection->qps[device];
}

/* NCCL 2.28.9: 2283-2358. */
static int clear_to_send(struct mini_net_connection *connection,
			 struct mini_net_request *request, int slot)
{
	const struct mini_ib_rules *rules = mini_ib_rules();
	struct mini_ib_qp *qp = clear_qp(connection);
	unsigned char *entry = mini_ib_clear(connection, slot, 0);
	struct ibv_sge piece = {
		.addr = (uintptr_t) entry,
		.length = (uint32_t) ((size_t) request->count * rules->clear_bytes),
		.lkey = connection->sides[qp->device].clears_mr->lkey,
	};
	struct ibv_send_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.wr.rdma.remote_addr =
		connection->remote.address + (uint64_t) (entry - connection->clears);
	wr.wr.rdma.rkey = connection->remote.devices[qp->remote_device].rkey;
	wr.sg_list = &piece;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_WRITE;
	/* NCCL asks for room for one entry, and trusts in adapters that give more. */
	if (mini_number(SET_NCCL_IB_USE_INLINE) &&
	    piece.length <= connection->inline_room)
		wr.send_flags = IBV_SEND_INLINE;
	/* Once around the list one is signalled, so that the queue gets empty. */
	if (slot == qp->device || connection->is_resilient) {
		wr.send_flags |= IBV_SEND_SIGNALED;
		wr.wr_id = rules->is_new ? (uint64_t) slot : mini_ib_number(request);
		if (!rules->is_new)
			request->events[qp->device]++;
	}
	return mini_ib_post_send(qp->qp, &wr);
}

/* NCCL 2.28.9: 2391-2417. */
static int post_receives(struct mini_net_connection *connection,
			 struct mini_net_request *request, int slot)
{
	int pieces = mini_ib_pieces(connection);
	int err = 0;
	int i;

	request->way.wr_id =
		mini_ib_rules()->is_new ? (uint64_t) slot : mini_ib_number(request);
	request->way.posted_ns = mini_truth_now();
	request->way.qp_count = pieces;
	for (i = 0; i < pieces && !err; i++) {
		struct mini_ib_qp *qp =
			mini_ib_piece_qp(connection, connection->lists, i);

		request->way.qp_nums[i] = qp->qp->qp_num;
		request->events[qp->device]++;
		if (!connection->is_preposted)
			err = mini_ib_post_recv(qp->qp, request->way.wr_id);
	}
	connection->next_qp = (connection->next_qp + pieces) % connection->qp_count;
	return err;
}

/* NCCL 2.28.9: 2360-2427. */
int mini_ib_irecv(struct mini_net_connection *connection, int count, void *const *data,
		  const size_t *sizes, const int *tags,
		  struct mini_net_region *const *regions,
		  struct mini_net_request **ret_request)
{
	int slot = mini_ib_slot(connection->lists);
	struct mini_net_request *request;
	int err;

	*ret_request = NULL;
	if (count < 1 || count > MINI_MAX_RECEIVES)
		return -EINVAL;
	if (mini_ib_is_broken(connection))
		return -ECONNRESET;
	request = mini_ib_new_request(connection, MINI_IB_RECV);
	if (!request)
		return -ENOBUFS;
	request->id = connection->lists;
	request->count = count;
	connection->receives[slot] = request;
	err = post_receives(connection, request, slot);
	if (err)
		return err;
	fill_clears(connection, slot, count, data, sizes, tags, regions);
	err = clear_to_send(connection, request, slot);
	connection->lists++;
	*ret_request = request;
	return err;
}

static int flush_side(struct mini_net_connection *connection,
		      struct mini_net_request *request, int s, void *data,
		      const struct mini_net_region *region)
{
	struct mini_ib_side *side = &connection->sides[s];
	struct ibv_sge piece = {
		.addr = (uintptr_t) &connection->flush_word,
		.length = 1,
		.lkey = side->flush_mr->lkey,
	};
	struct ibv_send_wr wr;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = mini_ib_number(request);
	if (mini_ib_rules()->is_new)
		wr.wr_id += MINI_IB_FLUSH_ID;
	wr.wr.rdma.remote_addr = (uintptr_t) data;
	wr.wr.rdma.rkey = region->mrs[s]->rkey;
	wr.sg_list = &piece;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_READ;
	wr.send_flags = IBV_SEND_SIGNALED;
	request->events[s]++;
	return mini_ib_post_send(side->flush_qp, &wr);
}

/* From 2.31 on, with the first flush. */
static int make_flush_qps(struct mini_net_connection *connection)
{
	int err = 0;
	int s;

	for (s = 0; s < connection->side_count && !err; s++) {
		if (connection->sides[s].flush_mr)
			continue;
		err = mini_ib_create_flush_qp(connection, s);
		if (!err)
			err = mini_ib_reg_flush(connection, s);
	}
	return err;
}

/* NCCL 2.28.9: 2429-2466: of the last receive that got something, on each device. */
int mini_ib_iflush(struct mini_net_connection *connection, int count, void *const *data,
		   const size_t *sizes, struct mini_net_region *const *regions,
		   struct mini_net_request **ret_request)
{
	struct mini_net_request *request;
	int last = count - 1;
	int err = 0;
	int s;

	*ret_request = NULL;
	while (last >= 0 && sizes[last] == 0)
		last--;
	if (!connection->flushes || last < 0)
		return 0;
	err = make_flush_qps(connection);
	if (err)
		return err;
	request = mini_ib_new_request(connection, MINI_IB_FLUSH);
	if (!request)
		return -ENOBUFS;
	for (s = 0; s < connection->side_count && !err; s++)
		err = flush_side(connection, request, s, data[last], regions[last]);
	*ret_request = request;
	return err;
}
