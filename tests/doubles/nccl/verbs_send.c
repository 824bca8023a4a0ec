/* SPDX-License-Identifier: MIT */
/*
 * The sender waits for an entry of the list of clears by looking at its memory, and
 * answers it with writes, the last of which has immediate data.
 */
#include "verbs.h"

#include "settings.h"

#include "truth.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

/* NCCL 2.28.9: 2120: what LL and LL128 need. */
#define ALIGNMENT 128

/* What all lists that answer an entry have in common, but for the pieces of data. */
struct answer {
	struct ibv_send_wr list[MINI_MAX_RECEIVES + 1];
	struct ibv_sge pieces[MINI_MAX_RECEIVES];
	struct ibv_sge sizes;
	struct ibv_send_wr *last;
	struct mini_clear clears[MINI_MAX_RECEIVES];
	struct mini_net_request **requests;
	int count;
	int slot;
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Where the list is for several messages: what else tells their sizes. */
static void add_sizes(struct mini_net_connection *connection, struct answer *answer)
{
	const struct mini_ib_rules *rules = mini_ib_rules();
	int r;

	if (rules->record_bytes == 0)
		return;
	for (r = 0; r < answer->count; r++)
		connection->sizes[answer->slot][r] = (int32_t) answer->requests[r]->size;
	answer->sizes.addr = (uintptr_t) connection->sizes[answer->slot];
	answer->sizes.length = (uint32_t) answer->count * (uint32_t) sizeof(int32_t);
	answer->last->wr.rdma.remote_addr = connection->remote.address +
					    (uint64_t) answer->slot * rules->record_bytes;
	answer->last->sg_list = &answer->sizes;
	answer->last->num_sge = 1;
}

/* NCCL 2.28.9: 2087-2097; NCCL 2.30.7, p2p.cc: 122. */
static uint32_t immediate(const struct mini_net_connection *connection,
			  const struct answer *answer)
{
	const struct mini_ib_rules *rules = mini_ib_rules();
	uint32_t value = answer->requests[0]->size;
	int r;

	if (rules->is_big_endian)
		return htobe32(connection->is_by_id
				       ? (uint32_t) (answer->requests[0]->id % UINT32_MAX)
				       : value);
	if (answer->count == 1)
		return value;
	value = 0;
	for (r = 0; rules->record_bytes == 0 && r < answer->count; r++)
		value |= (answer->requests[r]->size > 0 ? 1U : 0U) << r;
	return value;
}

/* NCCL 2.28.9: 2064-2117. */
static void build(struct mini_net_connection *connection, struct answer *answer)
{
	const struct mini_ib_rules *rules = mini_ib_rules();
	uint32_t threshold = (uint32_t) mini_number(SET_NCCL_IB_AR_THRESHOLD);
	uint64_t wr_id = 0;
	int r;

	for (r = 0; r < answer->count; r++) {
		struct mini_net_request *request = answer->requests[r];
		struct ibv_send_wr *wr = &answer->list[r];

		wr->opcode = IBV_WR_RDMA_WRITE;
		wr->wr.rdma.remote_addr = answer->clears[r].address;
		wr->next = wr + 1;
		answer->pieces[r].addr = request->data;
		wr_id += (rules->is_new ? (uint64_t) answer->slot
					: mini_ib_number(request))
			 << (8 * r);
		if (rules->is_new)
			wr->wr_id = wr_id;
	}
	answer->last = &answer->list[answer->count - 1];
	if (answer->count > 1 ||
	    (connection->has_adaptive_routing && answer->requests[0]->size > threshold))
		answer->last++;
	if (answer->count > 1)
		add_sizes(connection, answer);
	answer->last->wr_id = wr_id;
	answer->last->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	answer->last->imm_data = immediate(connection, answer);
	answer->last->next = NULL;
	answer->last->send_flags = IBV_SEND_SIGNALED;
}

/* A share of the data of each request. */
static size_t share_of(const struct mini_net_request *request, int pieces)
{
	size_t share = ((size_t) request->size + (size_t) pieces - 1) / (size_t) pieces;

	return (share + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void take_share(struct mini_net_connection *connection, struct answer *answer,
		       const struct mini_ib_qp *qp, int piece)
{
	int pieces = mini_ib_pieces(connection);
	int r;

	for (r = 0; r < answer->count; r++) {
		const struct mini_net_request *request = answer->requests[r];
		size_t share = share_of(request, pieces);
		size_t begin = smaller((size_t) piece * share, request->size);
		struct ibv_send_wr *wr = &answer->list[r];

		answer->pieces[r].addr = request->data + begin;
		answer->pieces[r].length =
			(uint32_t) smaller(share, request->size - begin);
		answer->pieces[r].lkey = request->lkeys[qp->device];
		wr->wr.rdma.remote_addr =
			answer->clears[r].address +
			(mini_ib_rules()->is_new ? begin : (uint64_t) piece * share);
		wr->wr.rdma.rkey = answer->clears[r].rkeys[qp->remote_device];
		wr->num_sge = answer->pieces[r].length > 0;
		wr->sg_list = wr->num_sge ? &answer->pieces[r] : NULL;
	}
	if (answer->last->sg_list == &answer->sizes) {
		answer->sizes.lkey = connection->sides[qp->device].sizes_mr->lkey;
		answer->last->wr.rdma.rkey = connection->remote.devices[qp->device].rkey;
	}
}

/* NCCL 2.28.9: 2119-2187: the same list on each of the queue pairs. */
static int send_answer(struct mini_net_connection *connection, struct answer *answer)
{
	int pieces = mini_ib_pieces(connection);
	uint64_t now;
	int piece;
	int err = 0;
	int r;

	build(connection, answer);
	now = mini_truth_now();
	for (piece = 0; piece < pieces && !err; piece++) {
		struct mini_ib_qp *qp =
			mini_ib_piece_qp(connection, connection->lists, piece);

		take_share(connection, answer, qp, piece);
		for (r = 0; r < answer->count; r++)
			answer->requests[r]->way.qp_nums[piece] = qp->qp->qp_num;
		err = mini_ib_post_send(qp->qp, answer->list);
	}
	for (r = 0; r < answer->count; r++) {
		answer->requests[r]->way.wr_id = answer->last->wr_id;
		answer->requests[r]->way.posted_ns = now;
		answer->requests[r]->way.qp_count = pieces;
	}
	connection->next_qp = (connection->next_qp + pieces) % connection->qp_count;
	return err;
}

/*
 * How many receives the next entry of the list is for; 0: it is not there.  A write may
 * be seen in part: each part of an entry ends with the number.
 */
static int read_clears(struct mini_net_connection *connection, struct answer *answer)
{
	int count = 1;
	int r;

	for (r = 0; r < count; r++) {
		const unsigned char *entry = mini_ib_clear(connection, answer->slot, r);

		if (mini_clear_number(entry) != connection->lists + 1)
			return 0;
		mini_clear_read(entry, &answer->clears[r]);
		count = (int) answer->clears[0].count;
		if (count < 1 || count > MINI_MAX_RECEIVES)
			return -EPROTO;
	}
	return count;
}

static struct mini_net_request *new_send(struct mini_net_connection *connection,
					 const void *data, size_t size,
					 const struct mini_net_region *region, int count)
{
	struct mini_net_request *request = mini_ib_new_request(connection, MINI_IB_SEND);
	int i;

	if (!request)
		return NULL;
	request->id = connection->lists;
	request->count = count;
	request->size = (uint32_t) size;
	request->data = (uintptr_t) data;
	for (i = 0; i < connection->side_count; i++)
		request->lkeys[i] = region->mrs[i]->lkey;
	for (i = 0; i < mini_ib_pieces(connection); i++)
		request->events[mini_ib_piece_qp(connection, connection->lists, i)
					->device]++;
	return request;
}

/* The entry was answered: NCCL 2.28.9: 2271-2274; the newer ones keep who answered it. */
static void leave_slot(struct mini_net_connection *connection, int slot)
{
	if (!mini_ib_rules()->is_new) {
		memset(mini_ib_clear(connection, slot, 0), 0,
		       mini_ib_rules()->clear_bytes);
		memset(connection->matched[slot], 0, sizeof(connection->matched[slot]));
		connection->matches[slot] = 0;
	}
	connection->lists++;
}

/* NCCL 2.28.9: 2190-2281. */
int mini_ib_isend(struct mini_net_connection *connection, const void *data, size_t size,
		  int tag, struct mini_net_region *region,
		  struct mini_net_request **ret_request)
{
	struct answer answer = {.slot = mini_ib_slot(connection->lists)};
	int err;
	int r = 0;

	*ret_request = NULL;
	if (mini_ib_is_broken(connection))
		return -ECONNRESET;
	answer.requests = connection->matched[answer.slot];
	answer.count = read_clears(connection, &answer);
	if (answer.count <= 0)
		return answer.count;
	while (r < answer.count &&
	       (answer.requests[r] || answer.clears[r].tag != (uint32_t) tag))
		r++;
	if (r == answer.count)
		return 0;
	if (!answer.clears[r].address || !answer.clears[r].rkeys[0])
		return -EPROTO;
	answer.requests[r] =
		new_send(connection, data, smaller(size, answer.clears[r].size), region,
			 answer.count);
	if (!answer.requests[r])
		return -ENOBUFS;
	*ret_request = answer.requests[r];
	if (++connection->matches[answer.slot] < answer.count)
		return 0;
	err = send_answer(connection, &answer);
	leave_slot(connection, answer.slot);
	return err;
}
