/* SPDX-License-Identifier: MIT */
/*
 * A line of a log is one of
 *	post QP SEQ WR_ID OPCODE BYTES TOKEN SIGNALED REMOTE_ADDR RKEY BEGIN END
 *	recv QP SEQ WR_ID			(QP 0: of the shared receive queue)
 *	sent QP SEQ WR_ID STATUS BEGIN END	(a completion, the SEQ-th of its queue)
 *	got QP SEQ WR_ID STATUS TOKEN BYTES BEGIN END
 *	qp QP					(in the order in which they were made)
 *	mr RKEY ADDR LENGTH
 * Times are CLOCK_MONOTONIC before and after the call.  A token is what the immediate
 * data holds, or the key that is invalidated; 0 none.
 */
#include "pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <inttypes.h>

static uint64_t srq_posted;

void pair_die(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, strerror(errno));
	exit(1);
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

void exchange(struct side *side, const void *mine, void *theirs, size_t size)
{
	CHECK(write(side->socket, mine, size) == (ssize_t) size);
	CHECK(recv(side->socket, theirs, size, MSG_WAITALL) == (ssize_t) size);
}

void meet(struct side *side)
{
	char mine = 1, theirs;

	exchange(side, &mine, &theirs, 1);
}

void wait_for_test(struct side *side)
{
	const char *folder = getenv("PROGRAM_PAUSE");
	char path[4096];
	struct stat found;
	FILE *file;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/ready.%d", folder, side->number);
	file = fopen(path, "w");
	CHECK(file);
	fclose(file);
	snprintf(path, sizeof(path), "%s/go", folder);
	while (stat(path, &found))
		usleep(10000);
}

void pause_both(struct side *side, bool is_here)
{
	char byte = 1;

	if (!getenv("PROGRAM_PAUSE"))
		return;
	if (is_here && !side->has_told) {
		CHECK(write(side->socket, &byte, 1) == 1);
		side->has_told = true;
	}
	if (!side->has_told || recv(side->socket, &byte, 1, MSG_DONTWAIT) != 1)
		return;
	wait_for_test(side);
	unsetenv("PROGRAM_PAUSE");
}

bool is_pause_over(void)
{
	return !getenv("PROGRAM_PAUSE");
}

struct ibv_mr *register_memory(struct side *side, void *memory, size_t size)
{
	struct ibv_mr *mr =
		ibv_reg_mr(side->pd, memory, size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
				   IBV_ACCESS_MW_BIND);

	CHECK(mr);
	fprintf(side->log, "mr %u %" PRIuPTR " %zu\n", mr->rkey, (uintptr_t) memory,
		size);
	return mr;
}

struct queue *make_queue(struct side *side, enum ibv_qp_type type, struct ibv_cq *send_cq,
			 struct ibv_cq *recv_cq, struct ibv_srq *srq, uint32_t depth)
{
	struct ibv_qp_init_attr init = {
		.send_cq = send_cq,
		.recv_cq = recv_cq,
		.srq = srq,
		.qp_type = type,
		.cap = {.max_send_wr = depth,
			.max_recv_wr = depth,
			.max_send_sge = 2,
			.max_recv_sge = 2,
			.max_inline_data = 64},
	};
	struct queue *queue = &side->queues[side->queue_count++];

	CHECK(side->queue_count <= QUEUES_MAX);
	queue->qp = ibv_create_qp(side->pd, &init);
	CHECK(queue->qp);
	fprintf(side->log, "qp %u\n", queue->qp->qp_num);
	return queue;
}

struct where where_is(struct side *side, const struct queue *queue,
		      const struct ibv_mr *mr)
{
	struct where where = {.qp_num = queue->qp->qp_num};
	struct ibv_port_attr port;

	if (mr) {
		where.addr = (uintptr_t) mr->addr;
		where.rkey = mr->rkey;
	}
	CHECK(!ibv_query_port(side->context, 1, &port));
	where.lid = port.lid;
	CHECK(!ibv_query_gid(side->context, 1, 0, &where.gid));
	return where;
}

struct ibv_ah_attr way_to(const struct where *where)
{
	struct ibv_ah_attr attr = {.port_num = 1, .dlid = where->lid};

	if (where->lid)
		return attr;
	attr.is_global = 1;
	attr.grh.hop_limit = 1;
	attr.grh.dgid = where->gid;
	return attr;
}

void connect_queue(struct queue *queue, const struct where *to)
{
	const bool is_reliable = queue->qp->qp_type == IBV_QPT_RC;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (is_reliable)
		attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	CHECK(!ibv_modify_qp(queue->qp, &attr, mask));
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = to->qp_num;
	attr.ah_attr = way_to(to);
	attr.max_dest_rd_atomic = 16;
	attr.min_rnr_timer = 12;
	mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
	       IBV_QP_RQ_PSN;
	if (is_reliable)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	CHECK(!ibv_modify_qp(queue->qp, &attr, mask));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 16;
	mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (is_reliable)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	CHECK(!ibv_modify_qp(queue->qp, &attr, mask));
}

void ready_datagrams(struct queue *queue, uint32_t qkey)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = qkey};

	CHECK(!ibv_modify_qp(queue->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     IBV_QP_QKEY));
	attr.qp_state = IBV_QPS_RTR;
	CHECK(!ibv_modify_qp(queue->qp, &attr, IBV_QP_STATE));
	attr.qp_state = IBV_QPS_RTS;
	CHECK(!ibv_modify_qp(queue->qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
}

void connect_all(struct side *side, int first, int count, const struct ibv_mr *mr,
		 struct where *theirs)
{
	int i;

	for (i = 0; i < count; i++) {
		const struct where mine = where_is(side, &side->queues[first + i], mr);

		exchange(side, &mine, &theirs[i], sizeof(mine));
		connect_queue(&side->queues[first + i], &theirs[i]);
	}
	meet(side);
}

uint32_t new_token(struct side *side)
{
	return (uint32_t) side->number << 31 | UINT32_C(1) << 30 | ++side->tokens;
}

static struct queue *queue_of(struct side *side, uint32_t qp_num)
{
	int i;

	for (i = 0; i < side->queue_count; i++)
		if (side->queues[i].qp && side->queues[i].qp->qp_num == qp_num)
			return &side->queues[i];
	CHECK(!"a completion of a queue pair that there is not");
	return NULL;
}

static uint32_t token_of(const struct ibv_send_wr *wr)
{
	if (wr->opcode == IBV_WR_SEND_WITH_INV)
		return wr->invalidate_rkey;
	if (wr->opcode != IBV_WR_SEND_WITH_IMM &&
	    wr->opcode != IBV_WR_RDMA_WRITE_WITH_IMM)
		return 0;
	return be32toh(wr->imm_data);
}

static uint32_t token_that_came(const struct ibv_wc *wc)
{
	if (wc->status)
		return 0;
	if (wc->wc_flags & IBV_WC_WITH_INV)
		return wc->invalidated_rkey;
	return wc->wc_flags & IBV_WC_WITH_IMM ? be32toh(wc->imm_data) : 0;
}

static bool is_atomic(const struct ibv_send_wr *wr)
{
	return wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ||
	       wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

int post_send(struct side *side, struct queue *queue, struct ibv_send_wr *list)
{
	const bool is_datagram = queue->qp->qp_type == IBV_QPT_UD;
	struct ibv_send_wr *bad = NULL, *wr;
	const uint64_t begin_ns = now_ns();
	const int ret = ibv_post_send(queue->qp, list, &bad);
	const uint64_t end_ns = now_ns();

	for (wr = list; wr && (!ret || wr != bad); wr = wr->next) {
		uint64_t bytes = 0, addr = 0;
		uint32_t rkey = 0;
		int i;

		for (i = 0; i < wr->num_sge; i++)
			bytes += wr->sg_list[i].length;
		if (is_atomic(wr)) {
			addr = wr->wr.atomic.remote_addr;
			rkey = wr->wr.atomic.rkey;
		} else if (!is_datagram) {
			addr = wr->wr.rdma.remote_addr;
			rkey = wr->wr.rdma.rkey;
		}
		fprintf(side->log,
			"post %u %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %u %d %" PRIu64
			" %u %" PRIu64 " %" PRIu64 "\n",
			queue->qp->qp_num, ++queue->posted, wr->wr_id, (int) wr->opcode,
			bytes, token_of(wr), !!(wr->send_flags & IBV_SEND_SIGNALED), addr,
			rkey, begin_ns, end_ns);
	}
	return ret;
}

static void log_receives(struct side *side, uint32_t qp_num, uint64_t *posted,
			 const struct ibv_recv_wr *list)
{
	for (; list; list = list->next)
		fprintf(side->log, "recv %u %" PRIu64 " %" PRIu64 "\n", qp_num, ++*posted,
			list->wr_id);
}

int post_recv(struct side *side, struct queue *queue, struct ibv_recv_wr *list)
{
	struct ibv_recv_wr *bad = NULL;
	const int ret = ibv_post_recv(queue->qp, list, &bad);

	CHECK(!ret);
	log_receives(side, queue->qp->qp_num, &queue->received, list);
	return ret;
}

int post_srq_recv(struct side *side, struct ibv_srq *srq, struct ibv_recv_wr *list)
{
	struct ibv_recv_wr *bad = NULL;
	const int ret = ibv_post_srq_recv(srq, list, &bad);

	CHECK(!ret);
	log_receives(side, 0, &srq_posted, list);
	return ret;
}

void log_completion(struct side *side, const struct ibv_wc *wc, uint64_t begin_ns,
		    uint64_t end_ns)
{
	struct queue *queue = queue_of(side, wc->qp_num);
	const bool is_receive =
		wc->status ? (wc->wr_id & RECEIVE) != 0 : (wc->opcode & IBV_WC_RECV) != 0;

	queue->failed += wc->status != IBV_WC_SUCCESS;
	if (!is_receive) {
		fprintf(side->log,
			"sent %u %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %" PRIu64 "\n",
			wc->qp_num, ++queue->sent, wc->wr_id, (int) wc->status, begin_ns,
			end_ns);
		return;
	}
	fprintf(side->log,
		"got %u %" PRIu64 " %" PRIu64 " %d %u %u %" PRIu64 " %" PRIu64 "\n",
		wc->qp_num, ++queue->got, wc->wr_id, (int) wc->status,
		token_that_came(wc), wc->status ? 0 : wc->byte_len, begin_ns, end_ns);
}

int poll_cq(struct side *side, struct ibv_cq *cq, struct ibv_wc *wc, int max)
{
	const uint64_t begin_ns = now_ns();
	const int found = ibv_poll_cq(cq, max, wc);
	const uint64_t end_ns = now_ns();
	int i;

	CHECK(found >= 0);
	for (i = 0; i < found; i++)
		log_completion(side, &wc[i], begin_ns, end_ns);
	return found;
}

static void begin(struct side *side)
{
	const char *folder = getenv("PROGRAM_LOGS");
	struct ibv_device **list;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%d.log", folder ? folder : ".", (int) getpid());
	side->log = fopen(folder ? path : "/dev/null", "w");
	CHECK(side->log);
	setvbuf(side->log, NULL, _IOFBF, 1 << 20);
	list = ibv_get_device_list(NULL);
	CHECK(list && list[0]);
	side->context = ibv_open_device(list[0]);
	CHECK(side->context);
	side->pd = ibv_alloc_pd(side->context);
	CHECK(side->pd);
}

int main(int argc, char **argv)
{
	struct side side = {0};
	int sockets[2], status = 0;
	pid_t child;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	child = fork();
	CHECK(child >= 0);
	side.number = !child;
	side.socket = sockets[side.number];
	close(sockets[!side.number]);
	begin(&side);
	run(&side, argc, argv);
	/* The other may still look for what was sent. */
	meet(&side);
	CHECK(!fclose(side.log));
	if (child)
		CHECK(waitpid(child, &status, 0) == child);
	return status ? 1 : 0;
}
