/* SPDX-License-Identifier: MIT */
/*
 * softverbs carries what NCCL's network code sends, as much as a long test makes: ranks
 * in a ring, on each channel MESSAGES to the next one.  The receiver posts a receive and
 * writes into the sender's memory that it may send, the sender finds that there, writes
 * the data with an immediate, and both wait for their completions; at most eight are
 * under way.  Every message is checked, and how long one took is told, not judged.  By
 * hand: test_verbs_ring RANKS CHANNELS MESSAGES BYTES RANKS_OF_A_PROCESS.
 */
#include "../lib/tap.h"

#include <infiniband/verbs.h>

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_RANKS 64
#define MAX_CHANNELS 8
#define WINDOW 8

struct address {
	uint32_t qpn;
	uint32_t rkey;
	uint64_t memory;
	union ibv_gid gid;
};

/* One end of a connection.  The memory begins with what the peer has said: how many
 * messages may be sent; the data follow it, a slot for each of the window. */
struct end {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char *memory;
	struct address there;
	uint32_t begun;
	uint32_t done;
	/* Of a receiver: how many times it has said so, as far as it knows. */
	uint32_t said;
};

struct rank {
	pthread_t thread;
	int number;
	int threads;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct end sends[MAX_CHANNELS];
	struct end receives[MAX_CHANNELS];
};

/* What the processes share. */
static struct job {
	struct address sender[MAX_RANKS][MAX_CHANNELS];
	struct address receiver[MAX_RANKS][MAX_CHANNELS];
	int arrived;
	int failed;
} * job;

static int ranks;
static int channels;
static uint32_t messages;
static uint32_t bytes;
static int of_a_process;

static void need(int is_right, const char *what)
{
	if (is_right)
		return;
	printf("# %s\n", what);
	fflush(stdout);
	__atomic_store_n(&job->failed, 1, __ATOMIC_SEQ_CST);
	_exit(1);
}

static void meet(int times)
{
	__atomic_fetch_add(&job->arrived, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&job->arrived, __ATOMIC_SEQ_CST) < times * ranks) {
		if (__atomic_load_n(&job->failed, __ATOMIC_SEQ_CST))
			_exit(1);
		usleep(100);
	}
}

static size_t slot(uint32_t message)
{
	return 64 + (size_t) (message % WINDOW) * bytes;
}

static void make(const struct rank *rank, struct end *end, struct address *here)
{
	size_t size = slot(WINDOW - 1) + bytes;
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 4 * WINDOW,
			.max_recv_wr = 2 * WINDOW,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = 64},
	};

	end->memory = calloc(1, size);
	end->mr = ibv_reg_mr(rank->pd, end->memory, size,
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	end->cq = ibv_create_cq(rank->context, 8 * WINDOW, NULL, NULL, 0);
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	end->qp = ibv_create_qp(rank->pd, &attr);
	need(end->mr && end->cq && end->qp, "no queue pair");
	here->qpn = end->qp->qp_num;
	here->rkey = end->mr->rkey;
	here->memory = (uintptr_t) end->memory;
	ibv_query_gid(rank->context, 1, 1, &here->gid);
}

static void join(struct end *end, const struct address *there)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	int err;

	end->there = *there;
	err = ibv_modify_qp(end->qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				    IBV_QP_ACCESS_FLAGS);
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = there->qpn;
	attr.min_rnr_timer = 12;
	attr.ah_attr.is_global = 1;
	attr.ah_attr.port_num = 1;
	attr.ah_attr.grh.dgid = there->gid;
	attr.ah_attr.grh.sgid_index = 1;
	err = err ? err
		  : ibv_modify_qp(end->qp, &attr,
				  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					  IBV_QP_MAX_DEST_RD_ATOMIC |
					  IBV_QP_MIN_RNR_TIMER);
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 20;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	err = err ? err
		  : ibv_modify_qp(end->qp, &attr,
				  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					  IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					  IBV_QP_MAX_QP_RD_ATOMIC);
	need(!err, "a queue pair cannot be connected");
}

static void post(struct end *end, struct ibv_send_wr *wr, char *data, uint32_t length,
		 size_t offset)
{
	struct ibv_sge sge = {.addr = (uintptr_t) data,
			      .length = length,
			      .lkey = end->mr->lkey};
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->wr.rdma.remote_addr = end->there.memory + offset;
	wr->wr.rdma.rkey = end->there.rkey;
	need(!ibv_post_send(end->qp, wr, &bad), "a request is refused");
}

static void mark(char *data, uint32_t message, int rank)
{
	uint32_t value = message * 2654435761U + (uint32_t) rank;

	memcpy(data, &value, sizeof(value));
	data[bytes - 1] = (char) (value >> 8);
}

static int is_marked(const char *data, uint32_t message, int rank)
{
	uint32_t value = message * 2654435761U + (uint32_t) rank;
	char first[sizeof(value)];

	memcpy(first, &value, sizeof(value));
	if (bytes == sizeof(value))
		first[bytes - 1] = (char) (value >> 8);
	return !memcmp(data, first, sizeof(first)) &&
	       data[bytes - 1] == (char) (value >> 8);
}

/* Whether anything went on. */
static int send_some(struct end *end, int rank)
{
	uint32_t may = __atomic_load_n((uint32_t *) end->memory, __ATOMIC_ACQUIRE);
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_wc wc[4];
	int moved = 0;
	int count;
	int i;

	while (end->begun < may && end->begun - end->done < WINDOW) {
		mark(end->memory + slot(end->begun), end->begun, rank);
		wr.wr_id = end->begun;
		wr.imm_data = end->begun;
		post(end, &wr, end->memory + slot(end->begun), bytes, slot(end->begun));
		end->begun++;
		moved = 1;
	}
	if (end->begun == end->done)
		return moved;
	count = ibv_poll_cq(end->cq, 4, wc);
	for (i = 0; i < count; i++) {
		need(wc[i].status == IBV_WC_SUCCESS && wc[i].wr_id == end->done,
		     "a send failed or came out of turn");
		end->done++;
	}
	return moved || count;
}

static int receive_some(struct end *end, int from)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_INLINE};
	struct ibv_recv_wr recv = {.num_sge = 0};
	struct ibv_recv_wr *bad;
	struct ibv_wc wc[4];
	int moved = 0;
	int count;
	int i;

	while (end->begun < messages && end->begun - end->done < WINDOW &&
	       end->begun - end->said < 3 * WINDOW) {
		recv.wr_id = end->begun++;
		need(!ibv_post_recv(end->qp, &recv, &bad), "a receive is refused");
		/* As NCCL: now and then one is signalled, so that slots get free. */
		wr.send_flags =
			IBV_SEND_INLINE | (end->begun % WINDOW ? 0 : IBV_SEND_SIGNALED);
		wr.wr_id = UINT64_MAX;
		post(end, &wr, (char *) &end->begun, sizeof(end->begun), 0);
		moved = 1;
	}
	count = ibv_poll_cq(end->cq, 4, wc);
	for (i = 0; i < count; i++) {
		need(wc[i].status == IBV_WC_SUCCESS, "a receive failed");
		if (wc[i].wr_id == UINT64_MAX) {
			end->said += WINDOW;
			continue;
		}
		need(wc[i].wr_id == end->done && wc[i].imm_data == end->done &&
			     is_marked(end->memory + slot(end->done), end->done, from),
		     "a message is wrong");
		end->done++;
	}
	return moved || count;
}

static int threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int count = 0;

	while ((task = readdir(tasks)))
		count += task->d_name[0] != '.';
	closedir(tasks);
	return count;
}

static void prepare(struct rank *rank)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	int after = (rank->number + 1) % ranks;
	int before = (rank->number + ranks - 1) % ranks;
	int c;

	rank->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	need(rank->context != NULL, "no adapter");
	rank->pd = ibv_alloc_pd(rank->context);
	for (c = 0; c < channels; c++) {
		make(rank, &rank->sends[c], &job->sender[rank->number][c]);
		make(rank, &rank->receives[c], &job->receiver[rank->number][c]);
	}
	meet(1);
	/* Nobody is connected yet. */
	rank->threads = threads();
	for (c = 0; c < channels; c++) {
		join(&rank->sends[c], &job->receiver[after][c]);
		join(&rank->receives[c], &job->sender[before][c]);
	}
	meet(2);
}

static void take_apart(struct rank *rank)
{
	struct end *ends[] = {rank->sends, rank->receives};
	struct end *end;
	int c;

	for (c = 0; c < 2 * channels; c++) {
		end = &ends[c % 2][c / 2];
		need(!ibv_destroy_qp(end->qp) && !ibv_destroy_cq(end->cq) &&
			     !ibv_dereg_mr(end->mr),
		     "something is still in use");
		free(end->memory);
	}
	need(!ibv_dealloc_pd(rank->pd) && !ibv_close_device(rank->context),
	     "the adapter is still in use");
}

static void *exchange(void *arg)
{
	struct rank *rank = arg;
	int before = (rank->number + ranks - 1) % ranks;
	int left;
	int c;

	prepare(rank);
	do {
		int moved = 0;

		left = 0;
		for (c = 0; c < channels; c++) {
			moved |= send_some(&rank->sends[c], rank->number);
			moved |= receive_some(&rank->receives[c], before);
			left += rank->sends[c].done < messages ||
				rank->receives[c].done < messages;
		}
		/* As NCCL's progress thread. */
		if (!moved)
			sched_yield();
	} while (left && !__atomic_load_n(&job->failed, __ATOMIC_RELAXED));
	need(threads() == rank->threads, "there are threads for connections");
	/* A peer may wait for the acknowledgement of its last. */
	meet(3);
	take_apart(rank);
	return NULL;
}

static void run_process(int first)
{
	struct rank *all = calloc((size_t) of_a_process, sizeof(*all));
	int i;

	for (i = 0; i < of_a_process; i++) {
		all[i].number = first + i;
		need(!pthread_create(&all[i].thread, NULL, exchange, &all[i]),
		     "no thread");
	}
	for (i = 0; i < of_a_process; i++)
		pthread_join(all[i].thread, NULL);
	free(all);
	exit(0);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

static void report(double begin, const struct rusage *before)
{
	double seconds = now() - begin;
	double count = (double) ranks * channels * messages;
	struct rusage after;

	getrusage(RUSAGE_CHILDREN, &after);
	printf("# %.0f messages of %u bytes: %.2f s, %.2f us for each; %.2f us of a "
	       "processor\n",
	       count, bytes, seconds, seconds / count * 1e6,
	       ((double) (after.ru_utime.tv_sec - before->ru_utime.tv_sec +
			  after.ru_stime.tv_sec - before->ru_stime.tv_sec) *
			1e6 +
		(double) (after.ru_utime.tv_usec - before->ru_utime.tv_usec +
			  after.ru_stime.tv_usec - before->ru_stime.tv_usec)) /
		       count);
}

static void run(const char *sentence)
{
	double begin = now();
	struct rusage before;
	int status;
	int first;

	getrusage(RUSAGE_CHILDREN, &before);
	fflush(stdout);
	memset(job, 0, sizeof(*job));
	for (first = 0; first < ranks; first += of_a_process)
		if (!fork())
			run_process(first);
	while (wait(&status) > 0)
		if (status)
			job->failed = 1;
	report(begin, &before);
	ok(!job->failed, sentence);
}

static void set(int number_of_ranks, int number_of_channels, uint32_t number_of_messages,
		uint32_t size, int together)
{
	ranks = number_of_ranks;
	channels = number_of_channels;
	messages = number_of_messages;
	bytes = size;
	of_a_process = together;
}

int main(int argc, char **argv)
{
	char fabric[32];

	job = mmap(NULL, sizeof(*job), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		   -1, 0);
	if (job == MAP_FAILED)
		return 1;
	snprintf(fabric, sizeof(fabric), "ring.%d", (int) getpid());
	setenv("SOFTVERBS_FABRIC", fabric, 1);
	if (argc == 6) {
		set(atoi(argv[1]), atoi(argv[2]), (uint32_t) strtoul(argv[3], NULL, 10),
		    (uint32_t) strtoul(argv[4], NULL, 10), atoi(argv[5]));
		if (ranks < 1 || ranks > MAX_RANKS || channels < 1 ||
		    channels > MAX_CHANNELS || bytes < sizeof(uint32_t) ||
		    of_a_process < 1 || ranks % of_a_process)
			return 2;
		run("all are right and in order");
		return tap_done();
	}
	set(8, 2, 100000, 64, 1);
	run("8 processes, 2 channels, 100,000 small messages each: right and in order");
	set(8, 2, 10000, 64, 2);
	run("two ranks in each process");
	set(4, 2, 10000, 64, 4);
	run("all in one");
	set(3, 1, 200, 1000000, 1);
	run("messages that are larger than what lies between the processes");
	return tap_done();
}
