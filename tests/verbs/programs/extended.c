/* SPDX-License-Identifier: MIT */
/*
 * Programs of the extended interface (ibv_wr_*, ibv_start_poll), one for each word on the
 * command line; says what came of each.  With and without ccltap it says the same.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(x) \
	do { \
		if (!(x)) { \
			printf("line %d: %s: %s\n", __LINE__, #x, strerror(errno)); \
			exit(1); \
		} \
	} while (0)

#define DEPTH 512

static char memory[1 << 16];
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_ah *ah;

/* A queue pair that talks to itself. */
struct end {
	struct ibv_qp *qp;
	struct ibv_qp_ex *ex;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex; /* NULL: it is polled the classic way */
};

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	CHECK(list && list[0]);
	context = ibv_open_device(list[0]);
	CHECK(context);
	pd = ibv_alloc_pd(context);
	CHECK(pd);
	mr = ibv_reg_mr(pd, memory, sizeof(memory),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	CHECK(mr);
}

static struct ibv_ah_attr self(void)
{
	struct ibv_ah_attr attr = {.is_global = 1,
				   .port_num = 1,
				   .grh = {.hop_limit = 1}};

	CHECK(!ibv_query_gid(context, 1, 0, &attr.grh.dgid));
	return attr;
}

static void connect_end(const struct end *end)
{
	const int is_ud = end->qp->qp_type == IBV_QPT_UD;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = 7,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};

	CHECK(!ibv_modify_qp(end->qp, &attr,
			     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				     (is_ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)));
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = end->qp->qp_num;
	attr.ah_attr = self();
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	CHECK(!ibv_modify_qp(end->qp, &attr,
			     is_ud ? IBV_QP_STATE
				   : IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					     IBV_QP_MAX_DEST_RD_ATOMIC |
					     IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 1;
	CHECK(!ibv_modify_qp(end->qp, &attr,
			     is_ud ? IBV_QP_STATE | IBV_QP_SQ_PSN
				   : IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					     IBV_QP_MAX_QP_RD_ATOMIC));
}

static void make_qp(struct end *end, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.qp_type = type,
		.pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM,
		.cap = {.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 2,
			.max_recv_sge = 1,
			.max_inline_data = 64},
	};

	if (type == IBV_QPT_RC)
		attr.send_ops_flags |=
			IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	end->qp = ibv_create_qp_ex(context, &attr);
	CHECK(end->qp);
	end->ex = ibv_qp_to_qp_ex(end->qp);
	CHECK(end->ex);
	connect_end(end);
}

static struct end make_end(enum ibv_qp_type type, uint64_t wc_flags)
{
	struct ibv_cq_init_attr_ex cq = {.cqe = 4 * DEPTH, .wc_flags = wc_flags};
	struct end end = {0};

	if (wc_flags) {
		end.cq_ex = ibv_create_cq_ex(context, &cq);
		CHECK(end.cq_ex);
		end.cq = ibv_cq_ex_to_cq(end.cq_ex);
	} else {
		end.cq = ibv_create_cq(context, 4 * DEPTH, NULL, NULL, 0);
		CHECK(end.cq);
	}
	make_qp(&end, type);
	return end;
}

static void post_recvs(const struct end *end, int nr)
{
	struct ibv_sge sge = {(uintptr_t) memory + 8192, 256, mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	for (; nr > 0; nr--, wr.wr_id++)
		CHECK(!ibv_post_recv(end->qp, &wr, &bad));
}

/* A request of the kind that its number says. */
static void build(const struct end *end, uint64_t wr_id)
{
	const uint64_t there = (uintptr_t) memory + 4096, here = (uintptr_t) memory;
	struct ibv_sge sges[2] = {{here, 8, mr->lkey}, {here + 64, 8, mr->lkey}};
	struct ibv_data_buf buffers[2] = {{memory, 4}, {memory + 64, 4}};
	struct ibv_qp_ex *ex = end->ex;

	ex->wr_id = wr_id;
	ex->wr_flags = wr_id % 4 == 3 ? IBV_SEND_SIGNALED : 0;
	if (end->qp->qp_type == IBV_QPT_UD) {
		ibv_wr_send_imm(ex, (uint32_t) wr_id);
		ibv_wr_set_ud_addr(ex, ah, end->qp->qp_num, 7);
		ibv_wr_set_sge(ex, mr->lkey, here, 8);
		return;
	}
	switch (wr_id % 6) {
	case 0:
		ibv_wr_rdma_write(ex, mr->rkey, there);
		ibv_wr_set_sge(ex, mr->lkey, here, 8);
		break;
	case 1:
		ibv_wr_send(ex);
		ibv_wr_set_inline_data_list(ex, 2, buffers);
		break;
	case 2:
		ibv_wr_rdma_write_imm(ex, mr->rkey, there, (uint32_t) wr_id);
		ibv_wr_set_sge_list(ex, 2, sges);
		break;
	case 3:
		ibv_wr_rdma_read(ex, mr->rkey, there);
		ibv_wr_set_sge(ex, mr->lkey, here, 8);
		break;
	case 4:
		ibv_wr_atomic_fetch_add(ex, mr->rkey, there, 1);
		ibv_wr_set_sge(ex, mr->lkey, here, 8);
		break;
	default:
		ibv_wr_send_imm(ex, (uint32_t) wr_id);
		ibv_wr_set_inline_data(ex, memory, 16);
		break;
	}
}

static int post_batch(const struct end *end, uint64_t from, int nr)
{
	ibv_wr_start(end->ex);
	while (nr--)
		build(end, from++);
	return ibv_wr_complete(end->ex);
}

/* How many of nr completions were good, found in batches of at most 100. */
static int reap(const struct end *end, int nr)
{
	struct ibv_poll_cq_attr attr = {0};
	struct ibv_wc wc[16];
	int found, good = 0, i;

	while (nr > 0 && end->cq_ex) {
		if (ibv_start_poll(end->cq_ex, &attr))
			continue;
		found = 0;
		do {
			good += end->cq_ex->status == IBV_WC_SUCCESS;
			found++;
		} while (found < 100 && found < nr && !ibv_next_poll(end->cq_ex));
		ibv_end_poll(end->cq_ex);
		nr -= found;
	}
	while (nr > 0) {
		found = ibv_poll_cq(end->cq, nr < 16 ? nr : 16, wc);
		CHECK(found >= 0);
		nr -= found;
		for (i = 0; i < found; i++)
			good += wc[i].status == IBV_WC_SUCCESS;
	}
	return good;
}

static void free_end(struct end *end)
{
	CHECK(!ibv_destroy_qp(end->qp));
	CHECK(!ibv_destroy_cq(end->cq));
}

/* Completions of a batch: every fourth is signalled, half of them consume a receive. */
static int completions_of(int nr)
{
	return nr / 4 + nr / 2;
}

static void batches(const char *name, uint64_t wc_flags, int size)
{
	struct end end = make_end(IBV_QPT_RC, wc_flags);
	int i, good = 0;

	for (i = 0; i < 4; i++) {
		post_recvs(&end, size / 2);
		CHECK(!post_batch(&end, 0, size));
		good += reap(&end, completions_of(size));
	}
	printf("%s: %d\n", name, good);
	free_end(&end);
}

static void batch12(void)
{
	batches("batch12", 0, 12);
}

static void batch300(void)
{
	batches("batch300", 0, 300);
}

static void cq(void)
{
	batches("cq", IBV_WC_STANDARD_FLAGS, 300);
}

/* The queue of one queue pair alone, whose number it does not tell. */
static void plain(void)
{
	batches("plain", IBV_WC_EX_WITH_BYTE_LEN, 12);
}

/* By datagrams; late: when somebody says so, all being set up. */
static void send_datagrams(const char *name, bool is_late)
{
	struct ibv_ah_attr attr = self();
	struct end end = make_end(IBV_QPT_UD, IBV_WC_STANDARD_FLAGS);
	int i, good = 0;

	ah = ibv_create_ah(pd, &attr);
	CHECK(ah);
	if (is_late) {
		printf("ready\n");
		getchar();
	}
	for (i = 0; i < 100; i++) {
		post_recvs(&end, 1);
		CHECK(!post_batch(&end, (uint64_t) i, 1));
		good += reap(&end, i % 4 == 3 ? 2 : 1);
	}
	printf("%s: %d\n", name, good);
	free_end(&end);
	CHECK(!ibv_destroy_ah(ah));
}

static void datagrams(void)
{
	send_datagrams("datagrams", false);
}

static void late(void)
{
	send_datagrams("late", true);
}

static int post_classic(const struct end *end, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t) memory, 8, mr->lkey};
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	wr.wr.rdma.remote_addr = (uintptr_t) memory + 4096;
	wr.wr.rdma.rkey = mr->rkey;
	return ibv_post_send(end->qp, &wr, &bad);
}

/* Both interfaces on one queue pair and one completion queue. */
static void mixed(void)
{
	struct end end = make_end(IBV_QPT_RC, IBV_WC_STANDARD_FLAGS), classic = end;
	int i, good = 0;

	classic.cq_ex = NULL;
	for (i = 0; i < 50; i++) {
		post_recvs(&end, 6);
		CHECK(!post_batch(&end, 0, 12));
		CHECK(!post_classic(&end, 100));
		good += reap(&end, 5);
		good += reap(&classic, 5);
	}
	printf("mixed: %d\n", good);
	free_end(&end);
}

/* What is not posted, and what is refused. */
static void refused(void)
{
	struct end end = make_end(IBV_QPT_RC, IBV_WC_STANDARD_FLAGS);
	static char large[4096];
	int i, good = 0, rets = 0;

	for (i = 0; i < 10; i++) {
		ibv_wr_start(end.ex);
		build(&end, 0);
		build(&end, 3);
		ibv_wr_abort(end.ex);
		ibv_wr_start(end.ex);
		build(&end, 3);
		ibv_wr_rdma_write(end.ex, mr->rkey, 0);
		ibv_wr_set_inline_data(end.ex, large, sizeof(large));
		rets += ibv_wr_complete(end.ex);
		rets += post_batch(&end, 1, 2 * DEPTH);
		ibv_wr_start(end.ex);
		rets += ibv_wr_complete(end.ex);
		post_recvs(&end, 2);
		CHECK(!post_batch(&end, 0, 4));
		good += reap(&end, 3);
	}
	printf("refused: %d, %d\n", good, rets);
	free_end(&end);
}

static void modify(const struct end *end, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	CHECK(!ibv_modify_qp(end->qp, &attr, IBV_QP_STATE));
}

/* All that was posted comes back, and so does what is posted then. */
static void errors(void)
{
	struct end end = make_end(IBV_QPT_RC, IBV_WC_STANDARD_FLAGS);
	int i, bad = 0;

	for (i = 0; i < 3; i++) {
		CHECK(!post_classic(&end, 1));
		CHECK(reap(&end, 1) == 1);
		modify(&end, IBV_QPS_ERR);
		CHECK(!post_batch(&end, 0, 12));
		bad += 12 - reap(&end, 12);
		modify(&end, IBV_QPS_RESET);
		connect_end(&end);
	}
	printf("errors: %d\n", bad);
	free_end(&end);
}

/* With a batch that was begun and never posted. */
static void open_batch(void)
{
	int i;

	for (i = 0; i < 100; i++) {
		struct end end = make_end(IBV_QPT_RC, IBV_WC_STANDARD_FLAGS);

		post_recvs(&end, 2);
		CHECK(!post_batch(&end, 0, 4));
		CHECK(reap(&end, 3) == 3);
		ibv_wr_start(end.ex);
		build(&end, 0);
		free_end(&end);
	}
	printf("open_batch: done\n");
}

static void *post_some(void *argument)
{
	struct end *end = argument;
	int i, k;

	for (i = 0; i < 200; i++) {
		ibv_wr_start(end->ex);
		for (k = 0; k < 40; k++)
			build(end, 0);
		while (ibv_wr_complete(end->ex)) {
			ibv_wr_start(end->ex);
			for (k = 0; k < 40; k++)
				build(end, 0);
		}
	}
	return NULL;
}

/* Four that build at once, of whom the provider lets one in. */
static void threads(void)
{
	struct end end = make_end(IBV_QPT_RC, IBV_WC_STANDARD_FLAGS);
	pthread_t thread[4];
	int i;

	for (i = 0; i < 4; i++)
		CHECK(!pthread_create(&thread[i], NULL, post_some, &end));
	for (i = 0; i < 4; i++)
		CHECK(!pthread_join(thread[i], NULL));
	printf("threads: done\n");
	free_end(&end);
}

static void forks(void)
{
	struct end end = make_end(IBV_QPT_RC, IBV_WC_STANDARD_FLAGS);
	int i, status, good = 0;

	for (i = 0; i < 5; i++) {
		pid_t pid;

		post_recvs(&end, 2);
		ibv_wr_start(end.ex);
		build(&end, 0);
		build(&end, 1);
		pid = fork();
		CHECK(pid >= 0);
		if (!pid)
			_exit(3);
		build(&end, 2);
		build(&end, 3);
		CHECK(!ibv_wr_complete(end.ex));
		good += reap(&end, 3);
		CHECK(waitpid(pid, &status, 0) == pid);
		good += WEXITSTATUS(status);
	}
	printf("forks: %d\n", good);
	free_end(&end);
}

/* A program's own function in place of one of the object's, which it calls. */
static void (*replaced)(struct ibv_qp_ex *, uint32_t, uint64_t);
static int nr_replaced;

static void own_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t addr)
{
	nr_replaced++;
	replaced(ex, rkey, addr);
}

static void replace(void)
{
	struct end end = make_end(IBV_QPT_RC, IBV_WC_STANDARD_FLAGS);
	int i, good = 0;

	replaced = end.ex->wr_rdma_write;
	end.ex->wr_rdma_write = own_write;
	for (i = 0; i < 5; i++) {
		modify(&end, IBV_QPS_RESET);
		connect_end(&end);
		post_recvs(&end, 2);
		CHECK(!post_batch(&end, 0, 4));
		good += reap(&end, 3);
	}
	printf("replace: %d, %d\n", good, nr_replaced);
	free_end(&end);
}

/* One that a provider's own function makes: count.c has such. */
static void past(void)
{
	struct end end = {.cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0)};
	struct ibv_qp_init_attr attr = {
		.send_cq = end.cq,
		.recv_cq = end.cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 8,
			.max_recv_wr = 8,
			.max_send_sge = 1,
			.max_recv_sge = 1},
	};
	struct ibv_qp *(*create)(struct ibv_pd *, struct ibv_qp_init_attr *) = NULL;

	*(void **) &create = dlsym(RTLD_DEFAULT, "count_create");
	end.qp = create ? create(pd, &attr) : ibv_create_qp(pd, &attr);
	CHECK(end.qp);
	connect_end(&end);
	CHECK(!post_classic(&end, 1));
	printf("past: %d\n", reap(&end, 1));
	free_end(&end);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {
		{"batch12", batch12},
		{"batch300", batch300},
		{"cq", cq},
		{"plain", plain},
		{"datagrams", datagrams},
		{"mixed", mixed},
		{"refused", refused},
		{"errors", errors},
		{"open_batch", open_batch},
		{"threads", threads},
		{"late", late},
		{"past", past},
		{"forks", forks},
		{"replace", replace},
	};
	int i;
	size_t k;

	setvbuf(stdout, NULL, _IOLBF, 0);
	open_device();
	for (i = 1; i < argc; i++)
		for (k = 0; k < sizeof(ways) / sizeof(ways[0]); k++)
			if (!strcmp(argv[i], ways[k].name))
				ways[k].run();
	return 0;
}
