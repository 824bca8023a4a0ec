/* SPDX-License-Identifier: MIT */
/*
 * What sends and receives share: the requests of a connection, which queue pairs carry
 * them, and their completions.
 */
#include "verbs.h"

#include "truth.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

bool mini_ib_is_broken(const struct mini_net_connection *connection)
{
	int i;

	for (i = 0; i < connection->side_count; i++) {
		if (atomic_load(&connection->sides[i].device->stats.fatal))
			return true;
	}
	return atomic_load(&connection->stats.fatal);
}

/* NCCL 2.28.9: 1914: the lowest number that is free, so that few are in use. */
struct mini_net_request *mini_ib_new_request(struct mini_net_connection *connection,
					     int type)
{
	struct mini_net_request *request = connection->requests;
	int i;

	for (i = 0; i < mini_ib_rules()->slots; i++, request++) {
		if (request->type != MINI_IB_FREE)
			continue;
		memset(request, 0, sizeof(*request));
		request->type = type;
		request->connection = connection;
		return request;
	}
	return NULL;
}

uint64_t mini_ib_number(const struct mini_net_request *request)
{
	return (uint64_t) (request - request->connection->requests);
}

int mini_ib_slot(uint64_t id)
{
	return (int) (id % (uint64_t) mini_ib_rules()->slots);
}

int mini_ib_pieces(const struct mini_net_connection *connection)
{
	return connection->is_split ? connection->qp_count : connection->data_qps;
}

/*
 * NCCL 2.28.9: 2184 and 2415: each takes the next.  NCCL 2.29.7, common.h: 325: by the
 * number of the list, so that with two pieces on four the third is used by two lists in
 * turn.  NCCL 2.30.7, common.h: 376: as up to 2.28, if nothing is sent again.
 */
struct mini_ib_qp *mini_ib_piece_qp(struct mini_net_connection *connection, uint64_t id,
				    int piece)
{
	const struct mini_ib_rules *rules = mini_ib_rules();
	uint64_t first = (uint64_t) connection->next_qp;

	if (rules->turns_by_list)
		first = id;
	else if (rules->is_new)
		first = id * (uint64_t) mini_ib_pieces(connection);
	return &connection->qps[(first + (uint64_t) piece) %
				(uint64_t) connection->qp_count];
}

unsigned char *mini_ib_clear(struct mini_net_connection *connection, int slot, int entry)
{
	return connection->clears +
	       (size_t) (slot * MINI_MAX_RECEIVES + entry) * mini_ib_rules()->clear_bytes;
}

int32_t *mini_ib_record(struct mini_net_connection *connection, int slot)
{
	return (int32_t *) (void *) (connection->records +
				     (size_t) slot * mini_ib_rules()->record_bytes);
}

int mini_ib_post_send(struct ibv_qp *qp, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;

	/* Through the context, as NCCL does: no symbol of libibverbs is called. */
	return -qp->context->ops.post_send(qp, list, &bad);
}

int mini_ib_post_recv(struct ibv_qp *qp, uint64_t wr_id)
{
	struct ibv_recv_wr wr = {.wr_id = wr_id};
	struct ibv_recv_wr *bad;

	return -qp->context->ops.post_recv(qp, &wr, &bad);
}

static bool is_done(const struct mini_net_request *request)
{
	int events = 0;
	int i;

	for (i = 0; i < MINI_IB_MERGED; i++)
		events |= request->events[i];
	return events == 0;
}

/* What a completion is of: NCCL 2.30.7, p2p.cc: 583; the others, by its number. */
static struct mini_net_request *find(struct mini_net_connection *connection,
				     const struct ibv_wc *wc)
{
	uint64_t id = wc->wr_id;

	if (!mini_ib_rules()->is_new)
		return &connection->requests[id & 0xff];
	if (connection->is_send)
		return connection->matched[id & 0xff][0];
	if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM && connection->is_by_id)
		return connection->receives[mini_ib_slot(be32toh(wc->imm_data))];
	if (wc->opcode == IBV_WC_RDMA_READ)
		return &connection->requests[(id - MINI_IB_FLUSH_ID) & 0xff];
	return connection->receives[id & 0xff];
}

static void sent(struct mini_net_connection *connection, const struct ibv_wc *wc,
		 struct mini_net_request *request, int side)
{
	int r;

	for (r = 0; r < request->count; r++) {
		if (mini_ib_rules()->is_new)
			connection->matched[wc->wr_id & 0xff][r]->events[side]--;
		else
			connection->requests[wc->wr_id >> (8 * r) & 0xff].events[side]--;
	}
}

static uint32_t told_size(const struct ibv_wc *wc)
{
	return mini_ib_rules()->is_big_endian ? be32toh(wc->imm_data) : wc->imm_data;
}

/* Of one message; those of several are written by the sender. */
static void received(struct mini_net_connection *connection, const struct ibv_wc *wc,
		     struct mini_net_request *request, int side)
{
	int q;

	if (request->count == 1 && connection->is_by_id)
		request->arrived += wc->byte_len;
	else if (request->count == 1)
		request->size = told_size(wc);
	else if (mini_ib_rules()->record_bytes == 0)
		request->arrived |= wc->imm_data;
	request->events[side]--;
	for (q = 0; connection->is_preposted && q < connection->qp_count; q++) {
		if (connection->qps[q].device == side &&
		    connection->qps[q].qp->qp_num == wc->qp_num)
			mini_ib_post_recv(connection->qps[q].qp, UINT64_MAX);
	}
}

static int take(struct mini_net_connection *connection, const struct ibv_wc *wc, int side)
{
	struct mini_net_request *request;

	if (wc->status != IBV_WC_SUCCESS)
		return -ECONNRESET;
	request = find(connection, wc);
	/* In newer releases nobody waits for a list of clears. */
	if (!connection->is_send && wc->opcode == IBV_WC_RDMA_WRITE &&
	    mini_ib_rules()->is_new)
		return 0;
	if (!request || request->type == MINI_IB_FREE)
		return -EPROTO;
	if (connection->is_send)
		sent(connection, wc, request, side);
	else if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		received(connection, wc, request, side);
	else
		request->events[side]--;
	return 0;
}

/* At most four of one device: how many, or -errno. */
static int poll_side(struct mini_net_connection *connection, int side)
{
	struct ibv_cq *cq = connection->sides[side].cq;
	struct ibv_wc wcs[4];
	int count = cq->context->ops.poll_cq(cq, 4, wcs);
	int err = 0;
	int i;

	if (count < 0)
		return -EIO;
	for (i = 0; i < count && !err; i++)
		err = take(connection, &wcs[i], side);
	return err ? err : count;
}

/*
 * NCCL 2.28.9: 2479-2602: whichever request is asked about, the completions of all are
 * taken, four at a time, until there is none or the request is done.
 */
static int poll_for(struct mini_net_request *request)
{
	struct mini_net_connection *connection = request->connection;
	int count = 1;
	int got;
	int i;

	while (count > 0) {
		if (mini_ib_is_broken(connection))
			return -ECONNRESET;
		if (is_done(request))
			return 0;
		count = 0;
		for (i = 0; i < connection->side_count; i++) {
			if (request->events[i] == 0 && !connection->is_resilient)
				continue;
			got = poll_side(connection, i);
			if (got < 0)
				return got;
			count += got;
		}
	}
	return 0;
}

static void tell_sizes(struct mini_net_request *request, size_t *ret_sizes)
{
	struct mini_net_connection *connection = request->connection;
	int r;

	if (connection->is_send) {
		ret_sizes[0] = request->size;
		return;
	}
	for (r = 0; r < request->count; r++) {
		if (request->count == 1)
			ret_sizes[r] =
				connection->is_by_id ? request->arrived : request->size;
		else if (mini_ib_rules()->record_bytes == 0)
			/* Only whether there is something. */
			ret_sizes[r] = request->arrived >> r & 1;
		else
			ret_sizes[r] =
				(size_t) mini_ib_record(connection,
							mini_ib_slot(request->id))[r];
	}
}

/* The last of those that share a list makes room for another one. */
static void leave_list(struct mini_net_request *request)
{
	struct mini_net_connection *connection = request->connection;
	int slot = mini_ib_slot(request->id);

	if (!connection->is_send || !mini_ib_rules()->is_new)
		return;
	if (--connection->matches[slot] == 0)
		memset(connection->matched[slot], 0, sizeof(connection->matched[slot]));
}

int mini_ib_test(struct mini_net_request *request, bool *ret_is_done, size_t *ret_sizes,
		 struct mini_way *ret_way)
{
	int err = poll_for(request);

	*ret_is_done = !err && is_done(request);
	if (!*ret_is_done)
		return err;
	request->way.done_ns = mini_truth_now();
	if (ret_sizes && request->type != MINI_IB_FLUSH)
		tell_sizes(request, ret_sizes);
	if (ret_way)
		*ret_way = request->way;
	if (request->type == MINI_IB_SEND)
		leave_list(request);
	request->type = MINI_IB_FREE;
	return 0;
}
