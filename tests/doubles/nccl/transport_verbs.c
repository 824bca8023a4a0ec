/* SPDX-License-Identifier: MIT */
/*
 * Messages as NET/IB of NCCL sends them: the receiver writes where they may go into a
 * list at the sender, which waits for that by looking at its memory, and answers each
 * entry with writes, the last of which has immediate data.  Only the progress thread
 * posts and polls.  What a GPU's kernel would do, between the buffers of the program and
 * those of the connection, is done here too.
 */
#include "verbs.h"

#include "truth.h"

#include <errno.h>
#include <string.h>

/* NCCL 2.28.9: 2132. */
#define ALIGNMENT 128

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool is_broken(struct mini_connection *connection)
{
	return atomic_load(&connection->stats.fatal) ||
	       atomic_load(&connection->device->stats.fatal);
}

/* NCCL 2.28.9: 1909: the lowest number that is free, so that few are in use. */
static struct mini_wire_request *new_wire(struct mini_request *request, int type)
{
	struct mini_wire_request *wire = request->connection->wires;

	/* Fewer messages are under way than there are. */
	while (wire->type != MINI_WIRE_FREE)
		wire++;
	wire->type = type;
	wire->events = 0;
	wire->request = request;
	request->wire = wire;
	return wire;
}

static uint64_t number_of(const struct mini_request *request)
{
	return (uint64_t) (request->wire - request->connection->wires);
}

static struct mini_request *new_request(struct mini_connection *connection, int type)
{
	struct mini_request *request = connection->requests;

	while (request->is_busy)
		request++;
	memset(request, 0, sizeof(*request));
	request->connection = connection;
	request->is_busy = true;
	request->step = connection->begun;
	new_wire(request, type);
	return request;
}

/* NCCL 2.28.9: 2133 and 2385: on one queue pair in turn, or on all. */
static int data_qps(const struct mini_connection *connection)
{
	return mini_verbs_setting("NCCL_IB_SPLIT_DATA_ON_QPS", 0) ? connection->qp_count
								  : 1;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *list)
{
	struct ibv_send_wr *bad;

	/* Through the context, as NCCL does: no symbol of libibverbs is called. */
	return -qp->context->ops.post_send(qp, list, &bad);
}

/* What all lists that answer an entry have in common, but for the pieces of data. */
struct answer {
	struct ibv_send_wr list[MINI_MAX_RECEIVES + 1];
	struct ibv_sge pieces[MINI_MAX_RECEIVES];
	struct ibv_sge sizes;
	struct ibv_send_wr *last;
	int count;
};

static void add_sizes(struct mini_connection *connection, struct answer *answer, int slot)
{
	int32_t *sizes = connection->sizes[slot];
	int r;

	for (r = 0; r < answer->count; r++)
		sizes[r] = (int32_t) connection->matched[r]->sizes[0];
	answer->sizes.addr = (uintptr_t) sizes;
	answer->sizes.length = (uint32_t) ((size_t) answer->count * sizeof(*sizes));
	answer->sizes.lkey = connection->sizes_mr->lkey;
	answer->last->wr.rdma.remote_addr =
		connection->remote.fifo_address +
		(uint64_t) slot * sizeof(connection->sizes[0]);
	answer->last->wr.rdma.rkey = connection->remote.fifo_rkey;
	answer->last->sg_list = &answer->sizes;
	answer->last->num_sge = 1;
}

/* NCCL 2.28.9: 2072-2130. */
static void build_answer(struct mini_connection *connection, struct answer *answer,
			 int slot)
{
	const struct mini_clear *clears = connection->clears[slot];
	size_t first_size = connection->matched[0]->sizes[0];
	uint64_t wr_id = 0;
	int r;

	memset(answer, 0, sizeof(*answer));
	answer->count = (int) clears[0].count;
	for (r = 0; r < answer->count; r++) {
		struct mini_request *request = connection->matched[r];
		struct ibv_send_wr *wr = &answer->list[r];

		wr->opcode = IBV_WR_RDMA_WRITE;
		wr->wr.rdma.remote_addr = clears[r].address;
		wr->wr.rdma.rkey = clears[r].rkeys[0];
		wr->next = wr + 1;
		answer->pieces[r].addr =
			(uintptr_t) mini_verbs_step(connection, request->step);
		answer->pieces[r].lkey = connection->buffer_mrs[MINI_SIMPLE]->lkey;
		wr_id += number_of(request) << (8 * r);
	}
	answer->last = &answer->list[answer->count - 1];
	if (answer->count > 1 ||
	    (connection->device->has_adaptive_routing &&
	     first_size > (size_t) mini_verbs_setting("NCCL_IB_AR_THRESHOLD", 8192)))
		answer->last++;
	if (answer->count > 1)
		add_sizes(connection, answer, slot);
	answer->last->wr_id = wr_id;
	answer->last->opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	/* In the order of the host; newer ones turn it round. */
	answer->last->imm_data = answer->count == 1 ? (uint32_t) first_size : 0;
	answer->last->next = NULL;
	answer->last->send_flags = IBV_SEND_SIGNALED;
}

/* A share of the data of each request, in multiples of 128 bytes. */
static size_t share_of(const struct mini_request *request, int qps)
{
	size_t share = (request->sizes[0] + (size_t) qps - 1) / (size_t) qps;

	return (share + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static void take_share(struct mini_connection *connection, struct answer *answer,
		       int turn, int qps)
{
	int r;

	for (r = 0; r < answer->count; r++) {
		const struct mini_request *request = connection->matched[r];
		size_t share = share_of(request, qps);
		size_t begin = smaller((size_t) turn * share, request->sizes[0]);
		struct ibv_send_wr *wr = &answer->list[r];

		answer->pieces[r].length =
			(uint32_t) smaller(share, request->sizes[0] - begin);
		wr->num_sge = answer->pieces[r].length > 0;
		wr->sg_list = wr->num_sge ? &answer->pieces[r] : NULL;
	}
}

static void leave_share(struct mini_connection *connection, struct answer *answer,
			int qps)
{
	int r;

	for (r = 0; r < answer->count; r++) {
		size_t share = share_of(connection->matched[r], qps);

		answer->pieces[r].addr += share;
		answer->list[r].wr.rdma.remote_addr += share;
	}
}

/* NCCL 2.28.9: 2131-2205: the same list on each of the queue pairs. */
static int send_answer(struct mini_connection *connection, int slot)
{
	int qps = data_qps(connection);
	struct answer answer;
	int turn;
	int err = 0;
	int r;

	build_answer(connection, &answer, slot);
	for (r = 0; r < answer.count; r++) {
		connection->matched[r]->way.wr_id = answer.last->wr_id;
		connection->matched[r]->way.posted_ns = mini_truth_now();
	}
	for (turn = 0; turn < qps && !err; turn++) {
		struct ibv_qp *qp = connection->qps[connection->next_qp];

		take_share(connection, &answer, turn, qps);
		for (r = 0; r < answer.count; r++)
			connection->matched[r]->way.qp_nums[turn] = qp->qp_num;
		err = post_send(qp, answer.list);
		leave_share(connection, &answer, qps);
		connection->next_qp = (connection->next_qp + 1) % connection->qp_count;
	}
	for (r = 0; r < answer.count; r++)
		connection->matched[r]->way.qp_count = turn;
	return err;
}

/*
 * How many receives the next entry of the list is for; 0: it is not there.  A write may
 * be seen in part, by 16 bytes at least: all parts of an entry have something.
 */
static int cleared(struct mini_connection *connection)
{
	struct mini_clear *clears =
		connection->clears[connection->lists % MINI_IB_REQUESTS];
	int count = 1;
	int r;

	for (r = 0; r < count; r++) {
		volatile struct mini_clear *clear = &clears[r];

		if (clear->number != connection->lists + 1)
			return 0;
		atomic_thread_fence(memory_order_seq_cst);
		if (!clear->address || !clear->rkeys[0] || !clear->count)
			return 0;
		count = (int) clears[0].count;
	}
	return count;
}

static bool is_complete(const struct mini_connection *connection, int count)
{
	int r;

	for (r = 0; r < count; r++) {
		if (!connection->matched[r])
			return false;
	}
	return true;
}

/* NCCL 2.28.9: 2226-2262. */
static int verbs_isend(struct mini_connection *connection, const void *data, size_t size,
		       int tag, struct mini_request **ret_request)
{
	int slot = (int) (connection->lists % MINI_IB_REQUESTS);
	struct mini_clear *clears = connection->clears[slot];
	struct mini_request *request;
	int count;
	int err;
	int r = 0;

	*ret_request = NULL;
	if (size > MINI_STEP_BYTES)
		return -EMSGSIZE;
	if (is_broken(connection))
		return -ECONNRESET;
	count = connection->begun - connection->done < MINI_STEPS ? cleared(connection)
								  : 0;
	while (r < count && (connection->matched[r] || clears[r].tag != (uint32_t) tag))
		r++;
	if (r >= count)
		return 0;
	request = new_request(connection, MINI_WIRE_SEND);
	request->wire->events = data_qps(connection);
	request->count = count;
	request->sizes[0] = smaller(size, clears[r].size);
	memcpy(mini_verbs_step(connection, request->step), data, request->sizes[0]);
	connection->begun++;
	connection->matched[r] = request;
	*ret_request = request;
	if (!is_complete(connection, count))
		return 0;
	err = send_answer(connection, slot);
	memset(clears, 0, sizeof(connection->clears[slot]));
	memset(connection->matched, 0, sizeof(connection->matched));
	connection->lists++;
	return err;
}

/* NCCL 2.28.9: 2265-2344. */
static int clear_to_send(struct mini_connection *connection, struct mini_request *request,
			 int tag)
{
	struct mini_clear *clears = connection->clears[request->slot];
	struct ibv_sge piece = {
		.addr = (uintptr_t) clears,
		.length = (uint32_t) ((size_t) request->count * sizeof(*clears)),
		.lkey = connection->clears_mr->lkey,
	};
	struct ibv_send_wr wr;
	int r;

	memset(&wr, 0, sizeof(wr));
	for (r = 0; r < request->count; r++) {
		connection->sizes[request->slot][r] = 0;
		clears[r].address =
			(uintptr_t) mini_verbs_step(connection,
						    request->step + (uint64_t) r);
		clears[r].size = request->sizes[r];
		clears[r].rkeys[0] = connection->buffer_mrs[MINI_SIMPLE]->rkey;
		clears[r].count = (uint32_t) request->count;
		clears[r].tag = (uint32_t) tag;
		clears[r].number = connection->lists + 1;
	}
	wr.wr.rdma.remote_addr = connection->remote.fifo_address +
				 (uint64_t) request->slot * sizeof(connection->clears[0]);
	wr.wr.rdma.rkey = connection->remote.fifo_rkey;
	wr.sg_list = &piece;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_WRITE;
	/* The queue pair has room for one; NCCL trusts in adapters that have more. */
	if (mini_verbs_setting("NCCL_IB_USE_INLINE", 0) && request->count == 1)
		wr.send_flags = IBV_SEND_INLINE;
	/* Once around the list one is signalled, so that the queue gets empty. */
	if (request->slot == 0) {
		wr.send_flags |= IBV_SEND_SIGNALED;
		wr.wr_id = number_of(request);
		request->wire->events++;
	}
	connection->lists++;
	return post_send(connection->qps[0], &wr);
}

/* NCCL 2.28.9: 2346-2408. */
static int verbs_irecv(struct mini_connection *connection, int count, void *const *data,
		       const size_t *sizes, int tag, struct mini_request **ret_request)
{
	struct ibv_recv_wr wr = {.wr_id = 0};
	struct ibv_recv_wr *bad;
	struct mini_request *request;
	int err = 0;
	int i;

	*ret_request = NULL;
	if (is_broken(connection))
		return -ECONNRESET;
	if (connection->begun + (uint64_t) count - connection->done > MINI_STEPS)
		return 0;
	request = new_request(connection, MINI_WIRE_RECV);
	request->count = count;
	request->slot = (int) (connection->lists % MINI_IB_REQUESTS);
	for (i = 0; i < count; i++) {
		request->data[i] = data[i];
		request->sizes[i] = sizes[i];
	}
	connection->begun += (uint64_t) count;
	wr.wr_id = number_of(request);
	request->way.wr_id = wr.wr_id;
	request->way.posted_ns = mini_truth_now();
	request->way.qp_count = data_qps(connection);
	for (i = 0; i < request->way.qp_count && !err; i++) {
		struct ibv_qp *qp = connection->qps[connection->next_qp];

		request->way.qp_nums[i] = qp->qp_num;
		request->wire->events++;
		err = -qp->context->ops.post_recv(qp, &wr, &bad);
		connection->next_qp = (connection->next_qp + 1) % connection->qp_count;
	}
	*ret_request = request;
	return err ? err : clear_to_send(connection, request, tag);
}

/* NCCL 2.28.9: 2540-2570. */
static void take_completion(struct mini_connection *connection, const struct ibv_wc *wc)
{
	struct mini_wire_request *wire = &connection->wires[wc->wr_id & 0xff];
	int count = wire->type == MINI_WIRE_SEND ? wire->request->count : 1;
	int r;

	if (wire->type == MINI_WIRE_RECV && wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
	    wire->request->count == 1)
		connection->sizes[wire->request->slot][0] = (int32_t) wc->imm_data;
	for (r = 0; r < count; r++)
		connection->wires[wc->wr_id >> (8 * r) & 0xff].events--;
}

/*
 * NCCL 2.28.9: 2466-2580: whichever request is asked about, the completions of all are
 * taken, four at a time, until there is none or the request is done.
 */
static int poll_for(const struct mini_wire_request *wire,
		    struct mini_connection *connection)
{
	struct ibv_cq *cq = connection->cq;
	struct ibv_wc wcs[4];
	int count = 1;
	int i;

	while (wire->events > 0 && count > 0) {
		if (is_broken(connection))
			return -ECONNRESET;
		count = cq->context->ops.poll_cq(cq, 4, wcs);
		for (i = 0; i < count; i++) {
			if (wcs[i].status != IBV_WC_SUCCESS)
				return -ECONNRESET;
			take_completion(connection, &wcs[i]);
		}
	}
	return count < 0 ? -EIO : 0;
}

/* NCCL 2.28.9: 2410-2452: of the last receive that got something; 1 when begun. */
static int flush(struct mini_connection *connection, struct mini_request *request)
{
	struct ibv_sge piece = {
		.addr = (uintptr_t) &connection->flush_byte,
		.length = 1,
	};
	struct ibv_send_wr wr;
	int last = request->count - 1;
	int err;

	while (last >= 0 && connection->sizes[request->slot][last] == 0)
		last--;
	if (!connection->flush_qp || last < 0)
		return 0;
	/* A request of its own, for which the receive's number is free again. */
	request->wire->type = MINI_WIRE_FREE;
	new_wire(request, MINI_WIRE_FLUSH)->events = 1;
	piece.lkey = connection->flush_mr->lkey;
	memset(&wr, 0, sizeof(wr));
	wr.wr_id = number_of(request);
	wr.wr.rdma.remote_addr =
		(uintptr_t) mini_verbs_step(connection, request->step + (uint64_t) last);
	wr.wr.rdma.rkey = connection->buffer_mrs[MINI_SIMPLE]->rkey;
	wr.sg_list = &piece;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_READ;
	wr.send_flags = IBV_SEND_SIGNALED;
	err = post_send(connection->flush_qp, &wr);
	return err ? err : 1;
}

static void deliver(struct mini_connection *connection, struct mini_request *request,
		    size_t *ret_sizes)
{
	int r;

	for (r = 0; r < request->count; r++) {
		ret_sizes[r] = (size_t) connection->sizes[request->slot][r];
		memcpy(request->data[r],
		       mini_verbs_step(connection, request->step + (uint64_t) r),
		       ret_sizes[r]);
	}
	connection->done += (uint64_t) request->count;
}

static int verbs_test(struct mini_request *request, bool *ret_is_done, size_t *ret_sizes,
		      struct mini_way *ret_way)
{
	struct mini_connection *connection = request->connection;
	int err = poll_for(request->wire, connection);

	*ret_is_done = false;
	if (err || request->wire->events > 0)
		return err;
	/* Its own end is the receive's, not the flush's. */
	if (!request->way.done_ns)
		request->way.done_ns = mini_truth_now();
	if (!connection->is_send && !request->is_flushed) {
		request->is_flushed = true;
		err = flush(connection, request);
		if (err)
			return err < 0 ? err : 0;
	}
	if (connection->is_send) {
		ret_sizes[0] = request->sizes[0];
		connection->done++;
	} else {
		deliver(connection, request, ret_sizes);
	}
	*ret_way = request->way;
	request->wire->type = MINI_WIRE_FREE;
	request->is_busy = false;
	*ret_is_done = true;
	return 0;
}

static const struct mini_transport transport = {
	.max_receives = MINI_MAX_RECEIVES,
	.is_buffered = true,
	.listen = mini_socket_listen,
	.connect = mini_verbs_connect,
	.accept = mini_verbs_accept,
	.finish = mini_verbs_finish,
	.isend = verbs_isend,
	.irecv = verbs_irecv,
	.test = verbs_test,
	.close = mini_verbs_close,
};

const struct mini_transport *mini_transport_verbs(void)
{
	return mini_devices_open() > 0 ? &transport : NULL;
}
