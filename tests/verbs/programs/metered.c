/* SPDX-License-Identifier: MIT */
/*
 * Posts and polls so that the counters of `record --metrics` can be compared with what
 * the program knows itself: single requests and lists, lists that are refused in part,
 * errors and flushes, threads that share a queue, more queues than have counters of their
 * own, both interfaces.
 *
 * usage: metered FOLDER [REQUESTS | child]; writes FOLDER/truth, "NAME NUMBER" in each
 * line, then makes FOLDER/at and ends when FOLDER/go is there; when FOLDER/more is, it
 * removes that and uses one more queue pair.  REQUESTS: posts and polls
 * only so many, each with a completion, on one queue pair.  child: posts receives alone,
 * in a child, which has the device from its parent.
 */
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 64
#define QUEUES 1100 /* more than have room */
#define THREADS 4
#define LIST 5

static char memory[1 << 16];
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;

static void need(int is_right, const char *what, int line)
{
	if (is_right)
		return;
	fprintf(stderr, "metered: line %d: %s\n", line, what);
	_exit(1);
}

#define IS(condition) need(condition, #condition, __LINE__)

/* ---- What it knows ---- */

static unsigned long sent, sent_bytes, send_completed, signaled, recv_posted,
	recv_completed, received_bytes, failed, flushed, queues;

static void write_truth(const char *folder)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/truth", folder);
	file = fopen(path, "w");
	IS(file != NULL);
	fprintf(file,
		"sent %lu\nsent_bytes %lu\nsend_completed %lu\nsignaled %lu\n"
		"recv_posted %lu\nrecv_completed %lu\nreceived_bytes %lu\nfailed %lu\n"
		"flushed %lu\nqueues %lu\n",
		sent, sent_bytes, send_completed, signaled, recv_posted, recv_completed,
		received_bytes, failed, flushed, queues);
	IS(!fclose(file));
}

/* ---- A queue pair that talks to itself ---- */

struct end {
	struct ibv_qp *qp;
	struct ibv_qp_ex *ex;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex;
};

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	IS(list && list[0]);
	context = ibv_open_device(list[0]);
	IS(context != NULL);
	pd = ibv_alloc_pd(context);
	IS(pd != NULL);
	mr = ibv_reg_mr(pd, memory, sizeof(memory),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	IS(mr != NULL);
}

static void connect_end(const struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	IS(!ibv_modify_qp(end->qp, &attr,
			  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				  IBV_QP_ACCESS_FLAGS));
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = end->qp->qp_num;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.hop_limit = 1;
	IS(!ibv_query_gid(context, 1, 0, &attr.ah_attr.grh.dgid));
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	IS(!ibv_modify_qp(end->qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	IS(!ibv_modify_qp(end->qp, &attr,
			  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				  IBV_QP_MAX_QP_RD_ATOMIC));
}

static struct end make_end(struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct end end = {.cq = cq ? cq
				   : ibv_create_cq(context, 4 * DEPTH, NULL, NULL, 0)};
	struct ibv_qp_init_attr attr = {
		.send_cq = end.cq,
		.recv_cq = end.cq,
		.srq = srq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = srq ? 0 : DEPTH,
			.max_send_sge = 2,
			.max_recv_sge = srq ? 0 : 1},
	};

	IS(end.cq != NULL);
	end.qp = ibv_create_qp(pd, &attr);
	IS(end.qp != NULL);
	connect_end(&end);
	queues++;
	return end;
}

static void free_end(const struct end *end)
{
	IS(!ibv_destroy_qp(end->qp));
	IS(!ibv_destroy_cq(end->cq));
}

/* ---- What it does ---- */

/* Writes of 1, 2, ... bytes in two pieces, the last of which has a completion. */
static void fill(struct ibv_send_wr *wr, struct ibv_sge *sges, unsigned nr,
		 enum ibv_wr_opcode opcode)
{
	unsigned i;

	for (i = 0; i < nr; i++) {
		sges[2 * i] = (struct ibv_sge){(uintptr_t) memory, i + 1, mr->lkey};
		sges[2 * i + 1] =
			(struct ibv_sge){(uintptr_t) memory + 64, 100, mr->lkey};
		wr[i] = (struct ibv_send_wr){
			.wr_id = i,
			.next = i + 1 < nr ? &wr[i + 1] : NULL,
			.sg_list = &sges[2 * i],
			.num_sge = 2,
			.opcode = opcode,
			.send_flags = i + 1 < nr ? 0 : IBV_SEND_SIGNALED,
			.wr.rdma = {(uintptr_t) memory + 4096, mr->rkey},
		};
	}
}

static void sent_some(unsigned nr)
{
	unsigned i;

	for (i = 0; i < nr; i++)
		sent_bytes += i + 1 + 100;
	sent += nr;
}

static void post(const struct end *end, unsigned nr, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr[LIST], *bad;
	struct ibv_sge sges[2 * LIST];

	fill(wr, sges, nr, opcode);
	IS(!ibv_post_send(end->qp, wr, &bad));
	sent_some(nr);
	signaled++;
}

static void post_recvs(const struct end *end, struct ibv_srq *srq, unsigned nr)
{
	struct ibv_sge sge = {(uintptr_t) memory + 8192, 4096, mr->lkey};
	struct ibv_recv_wr wr[LIST], *bad;
	unsigned i;

	for (i = 0; i < nr; i++)
		wr[i] = (struct ibv_recv_wr){.next = i + 1 < nr ? &wr[i + 1] : NULL,
					     .sg_list = &sge,
					     .num_sge = 1};
	IS(!(srq ? ibv_post_srq_recv(srq, wr, &bad) : ibv_post_recv(end->qp, wr, &bad)));
	recv_posted += nr;
}

static void saw(enum ibv_wc_status status, int opcode, uint32_t byte_len)
{
	if (status == IBV_WC_WR_FLUSH_ERR) {
		flushed++;
	} else if (status != IBV_WC_SUCCESS) {
		failed++;
	} else if (opcode & IBV_WC_RECV) {
		recv_completed++;
		received_bytes += byte_len;
	} else {
		send_completed++;
	}
}

static void reap(const struct end *end, int nr)
{
	struct ibv_wc wc[16];
	int found, i;

	for (; nr > 0; nr -= found) {
		found = ibv_poll_cq(end->cq, nr < 16 ? nr : 16, wc);
		IS(found >= 0);
		for (i = 0; i < found; i++)
			saw(wc[i].status, (int) wc[i].opcode, wc[i].byte_len);
	}
}

/* As a program does that posts until the queue is full. */
static void post_in_vain(const struct end *end)
{
	struct ibv_send_wr wr[LIST], *bad;
	struct ibv_sge sges[2 * LIST + 2];

	fill(wr, sges, 1, IBV_WR_RDMA_WRITE);
	wr[0].num_sge = 3;
	IS(ibv_post_send(end->qp, wr, &bad) && bad == wr);
}

static void do_requests(unsigned long nr)
{
	const struct end end = make_end(NULL, NULL);

	for (; nr; nr--) {
		post(&end, 1, IBV_WR_RDMA_WRITE);
		post_in_vain(&end);
		reap(&end, 1);
	}
	free_end(&end);
}

static void do_lists(void)
{
	const struct end end = make_end(NULL, NULL);
	int i;

	for (i = 0; i < 200; i++) {
		post(&end, LIST, IBV_WR_RDMA_WRITE);
		reap(&end, 1);
	}
	free_end(&end);
}

/* The third of a list has too many pieces. */
static void do_refused(void)
{
	const struct end end = make_end(NULL, NULL);
	struct ibv_send_wr wr[LIST], *bad;
	struct ibv_sge sges[2 * LIST + 2];
	int i;

	for (i = 0; i < 20; i++) {
		fill(wr, sges, LIST, IBV_WR_RDMA_WRITE);
		wr[1].send_flags = IBV_SEND_SIGNALED;
		wr[2].num_sge = 3;
		IS(ibv_post_send(end.qp, wr, &bad) && bad == &wr[2]);
		sent_some(2);
		signaled++;
		reap(&end, 1);
		wr[2].next = NULL;
		IS(ibv_post_send(end.qp, &wr[2], &bad) && bad == &wr[2]);
	}
	free_end(&end);
}

static void do_receives(struct ibv_srq *srq)
{
	const struct end end = make_end(NULL, srq);
	int i;

	for (i = 0; i < 50; i++) {
		post_recvs(&end, srq, 1);
		post(&end, 1, IBV_WR_SEND);
		reap(&end, 2);
		post_recvs(&end, srq, LIST);
		post(&end, LIST, IBV_WR_SEND);
		reap(&end, LIST + 1);
	}
	free_end(&end);
}

static void do_shared_receives(void)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = DEPTH, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(pd, &attr);

	IS(srq != NULL);
	do_receives(srq);
	IS(!ibv_destroy_srq(srq));
}

/* All that a child can do with its parent's device: this has a thread in the parent. */
static void do_posts_alone(void)
{
	const struct end end = make_end(NULL, NULL);
	int i;

	for (i = 0; i < 10; i++)
		post_recvs(&end, NULL, LIST);
}

/* A write to memory that may not be written, and what is flushed behind it. */
static void do_errors(void)
{
	const struct end end = make_end(NULL, NULL);
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};
	struct ibv_send_wr wr[LIST], *bad;
	struct ibv_sge sges[2 * LIST];
	int i;

	for (i = 0; i < 3; i++) {
		post_recvs(&end, NULL, LIST);
		fill(wr, sges, 1, IBV_WR_RDMA_WRITE);
		wr[0].wr.rdma.rkey = ~mr->rkey;
		IS(!ibv_post_send(end.qp, wr, &bad));
		sent_some(1);
		signaled++;
		reap(&end, 1 + LIST);
		post(&end, 1, IBV_WR_RDMA_WRITE);
		reap(&end, 1);
		IS(!ibv_modify_qp(end.qp, &attr, IBV_QP_STATE));
		connect_end(&end);
		post(&end, 1, IBV_WR_RDMA_WRITE);
		reap(&end, 1);
	}
	IS(failed == 3);
	free_end(&end);
}

/* Without completions, so that nobody has to take them. */
static void *post_often(void *data)
{
	const struct end *end = data;
	struct ibv_send_wr wr[LIST], *bad;
	struct ibv_sge sges[2 * LIST];
	int i;

	fill(wr, sges, 1, IBV_WR_RDMA_WRITE);
	wr[0].send_flags = 0;
	for (i = 0; i < 1000; i++)
		while (ibv_post_send(end->qp, wr, &bad))
			sched_yield();
	return NULL;
}

static void do_threads(void)
{
	struct end end = make_end(NULL, NULL);
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		IS(!pthread_create(&threads[i], NULL, post_often, &end));
	for (i = 0; i < THREADS; i++)
		IS(!pthread_join(threads[i], NULL));
	for (i = 0; i < THREADS * 1000; i++)
		sent_some(1);
	free_end(&end);
}

static void do_many(void)
{
	static struct end ends[QUEUES];
	struct ibv_cq *cq = ibv_create_cq(context, 4 * QUEUES, NULL, NULL, 0);
	int i;

	IS(cq != NULL);
	for (i = 0; i < QUEUES; i++)
		ends[i] = make_end(cq, NULL);
	for (i = 0; i < QUEUES; i++) {
		post_recvs(&ends[i], NULL, 1);
		post(&ends[i], 1, IBV_WR_SEND);
	}
	reap(&ends[0], 2 * QUEUES);
	for (i = 0; i < QUEUES; i++)
		IS(!ibv_destroy_qp(ends[i].qp));
	IS(!ibv_destroy_cq(cq));
}

/* ---- The extended interface ---- */

static struct end make_extended(void)
{
	struct ibv_cq_init_attr_ex cq = {.cqe = 4 * DEPTH,
					 .wc_flags = IBV_WC_STANDARD_FLAGS};
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 2,
			.max_recv_sge = 1,
			.max_inline_data = 64},
	};
	struct end end = {.cq_ex = ibv_create_cq_ex(context, &cq)};

	IS(end.cq_ex != NULL);
	end.cq = attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(end.cq_ex);
	end.qp = ibv_create_qp_ex(context, &attr);
	IS(end.qp != NULL);
	end.ex = ibv_qp_to_qp_ex(end.qp);
	connect_end(&end);
	queues++;
	return end;
}

static void reap_extended(const struct end *end, int nr)
{
	struct ibv_poll_cq_attr attr = {0};

	while (nr > 0) {
		if (ibv_start_poll(end->cq_ex, &attr))
			continue;
		do {
			saw(end->cq_ex->status, (int) ibv_wc_read_opcode(end->cq_ex),
			    ibv_wc_read_byte_len(end->cq_ex));
			nr--;
		} while (nr > 0 && !ibv_next_poll(end->cq_ex));
		ibv_end_poll(end->cq_ex);
	}
}

static void do_extended(void)
{
	const struct end end = make_extended();
	struct ibv_sge sges[2] = {{(uintptr_t) memory, 10, mr->lkey},
				  {(uintptr_t) memory, 20, mr->lkey}};
	struct ibv_data_buf buffers[2] = {{memory, 3}, {memory, 4}};
	int i;

	for (i = 0; i < 100; i++) {
		post_recvs(&end, NULL, 2);
		ibv_wr_start(end.ex);
		end.ex->wr_flags = 0;
		ibv_wr_rdma_write(end.ex, mr->rkey, (uintptr_t) memory + 4096);
		ibv_wr_set_sge(end.ex, mr->lkey, (uintptr_t) memory, 1000);
		ibv_wr_rdma_write(end.ex, mr->rkey, (uintptr_t) memory + 4096);
		ibv_wr_set_sge_list(end.ex, 2, sges);
		ibv_wr_send(end.ex);
		ibv_wr_set_inline_data(end.ex, memory, 5);
		end.ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(end.ex);
		ibv_wr_set_inline_data_list(end.ex, 2, buffers);
		IS(!ibv_wr_complete(end.ex));
		sent += 4;
		sent_bytes += 1000 + 30 + 5 + 7;
		signaled++;
		reap_extended(&end, 3);
		ibv_wr_start(end.ex);
		ibv_wr_rdma_write(end.ex, mr->rkey, (uintptr_t) memory + 4096);
		ibv_wr_set_sge(end.ex, mr->lkey, (uintptr_t) memory, 1000);
		ibv_wr_abort(end.ex);
	}
	free_end(&end);
}

static void wait_at(const char *folder)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	char path[512], more[512];
	FILE *file;

	snprintf(more, sizeof(more), "%s/more", folder);
	snprintf(path, sizeof(path), "%s/at", folder);
	file = fopen(path, "w");
	IS(file != NULL);
	fprintf(file, "%d\n", getpid());
	IS(!fclose(file));
	snprintf(path, sizeof(path), "%s/go", folder);
	while (access(path, F_OK)) {
		nanosleep(&pause, NULL);
		if (!unlink(more))
			do_requests(100);
	}
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 2)
		return 2;
	open_device();
	if (argc > 2 && !strcmp(argv[2], "child")) {
		if (fork())
			return wait(&status) < 0 || status;
		do_posts_alone();
	} else if (argc > 2) {
		do_requests(strtoul(argv[2], NULL, 10));
	} else {
		do_errors();
		do_requests(300);
		do_lists();
		do_refused();
		do_receives(NULL);
		do_shared_receives();
		do_threads();
		do_many();
		do_extended();
		do_requests(300);
	}
	write_truth(argv[1]);
	wait_at(argv[1]);
	return 0;
}
