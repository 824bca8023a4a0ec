/* SPDX-License-Identifier: MIT */
/* The faults of softverbs' wire: what is lost, sent again, acknowledged late or slow, the
 * same ones at each run; and a peer that falls silent.  Each in a process of its own,
 * since the environment is read once. */
#include "../lib/tap.h"
#include "verbs_pair.h"

#include <sys/socket.h>
#include <sys/wait.h>

#define MS UINT64_C(1000000)
#define MESSAGES 40

static struct end a;
static struct end b;
/* The time stamps that the completions of an end's queue have. */
static struct ibv_cq_ex *cq_a;
static struct ibv_cq_ex *cq_b;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}

static struct ibv_cq_ex *stamp(struct end *end, const struct options *options)
{
	struct ibv_cq_init_attr_ex cq = {
		.cqe = 256,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_cq_ex *ex = ibv_create_cq_ex(end->context, &cq);
	struct ibv_qp_init_attr attr;

	ibv_destroy_qp(end->qp);
	ibv_destroy_cq(end->cq);
	end->cq = ibv_cq_ex_to_cq(ex);
	attr = qp_attributes(end, options);
	end->qp = ibv_create_qp(end->pd, &attr);
	return ex;
}

static void make_stamped(enum ibv_qp_type type)
{
	struct ibv_context *context = open_device(0);
	struct options options = usual;
	struct address at_a;
	struct address at_b;

	options.type = type;
	make_end(&a, context, &options);
	make_end(&b, context, &options);
	cq_a = stamp(&a, &options);
	cq_b = stamp(&b, &options);
	at_a = address_of(&a, 1);
	at_b = address_of(&b, 2);
	if (connect_end(&a, &options, &at_b, 1) || connect_end(&b, &options, &at_a, 2))
		exit(2);
}

/* Waits for a completion; its number and when it was there, or 0. */
static uint64_t stamped(struct ibv_cq_ex *cq, uint64_t *ret_wr_id)
{
	struct ibv_poll_cq_attr attr = {0};
	time_t end = time(NULL) + 10;
	uint64_t ns = 0;

	while (ibv_start_poll(cq, &attr))
		if (time(NULL) > end)
			return 0;
	*ret_wr_id = cq->wr_id;
	if (cq->status == IBV_WC_SUCCESS)
		ns = ibv_wc_read_completion_ts(cq);
	ibv_end_poll(cq);
	return ns;
}

static void send_all(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	uint64_t i;

	for (i = 0; i < MESSAGES; i++)
		post_recv(&b, i, 0, 64);
	for (i = 0; i < MESSAGES; i++) {
		wr.wr_id = i;
		post(&a, &wr, 0, 8);
	}
}

static bool come_in_order(struct ibv_cq_ex *cq, uint64_t *stamps)
{
	uint64_t i;
	uint64_t wr_id;

	for (i = 0; i < MESSAGES; i++) {
		stamps[i] = stamped(cq, &wr_id);
		if (!stamps[i] || wr_id != i)
			return false;
	}
	return true;
}

/* Exits with 0 when all is right, as all of the following. */
static int no_more_than_lost(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND_WITH_IMM};
	struct ibv_wc wc;
	char arrived[MESSAGES + 1] = "";
	int count = 0;
	uint32_t i;

	make_stamped(IBV_QPT_UC);
	for (i = 0; i < MESSAGES; i++) {
		post_recv(&b, i, 0, 64);
		wr.wr_id = i;
		wr.imm_data = i;
		post(&a, &wr, 0, 8);
		arrived[i] = '-';
		if (!completes(a.cq, i, IBV_WC_SUCCESS))
			return 1;
	}
	while (ibv_poll_cq(b.cq, 1, &wc) == 1) {
		arrived[wc.imm_data] = 'x';
		count++;
	}
	/* The parent compares it with what others say. */
	if (write(STDOUT_FILENO, arrived, sizeof(arrived)) != sizeof(arrived))
		return 2;
	return count > 0 && count < MESSAGES ? 0 : 3;
}

static int sent_again(void)
{
	uint64_t begin = now_ns();
	uint64_t sent[MESSAGES];
	uint64_t received[MESSAGES];

	make_stamped(IBV_QPT_RC);
	send_all();
	if (!come_in_order(cq_b, received) || !come_in_order(cq_a, sent))
		return 1;
	return received[MESSAGES - 1] - begin >= 30 * MS ? 0 : 2;
}

static int acknowledged_late(void)
{
	uint64_t sent[MESSAGES];
	uint64_t received[MESSAGES];
	int i;

	make_stamped(IBV_QPT_RC);
	send_all();
	if (!come_in_order(cq_b, received) || !come_in_order(cq_a, sent))
		return 1;
	/* One at least was there as long as it was not acknowledged. */
	for (i = 0; i < MESSAGES; i++)
		if (sent[i] >= received[i] + 30 * MS)
			return 0;
	return 2;
}

/* Reads bring their data in time, a fence waits, and an error comes after what is well.
 */
static int late_and_wrong(void)
{
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_RDMA_READ};

	make_stamped(IBV_QPT_RC);
	b.memory[0] = 'r';
	wr.wr.rdma.remote_addr = (uintptr_t) b.memory;
	wr.wr.rdma.rkey = b.mr->rkey;
	post(&a, &wr, 0, 8);
	wr.wr_id = 2;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_FENCE;
	wr.wr.rdma.remote_addr += 64;
	post(&a, &wr, 0, 8);
	wr.wr_id = 3;
	wr.wr.rdma.rkey ^= 1;
	post(&a, &wr, 0, 8);
	return completes(a.cq, 1, 0) && completes(a.cq, 2, 0) && b.memory[64] == 'r' &&
			       completes(a.cq, 3, IBV_WC_REM_ACCESS_ERR)
		       ? 0
		       : 1;
}

static int slow_adapter(void)
{
	struct ibv_context *context = open_device(0);
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE};
	struct end c;
	struct end d;
	uint64_t begin;

	make_pair(&a, &b, context, context, &usual);
	make_pair(&c, &d, context, context, &usual);
	begin = now_ns();
	wr.wr.rdma.remote_addr = (uintptr_t) b.memory;
	wr.wr.rdma.rkey = b.mr->rkey;
	post(&a, &wr, 0, BUFFER);
	wr.wr.rdma.remote_addr = (uintptr_t) d.memory;
	wr.wr.rdma.rkey = d.mr->rkey;
	post(&c, &wr, 0, BUFFER);
	if (!completes(a.cq, 1, 0) || !completes(c.cq, 1, 0))
		return 1;
	/* Two times 65,536 bytes at a megabyte a second. */
	return now_ns() - begin >= 131 * MS ? 0 : 2;
}

/* Meets the other process: tells where its end is, and learns where the other's is. */
static int meet(int fd, struct address *there)
{
	struct address here;

	make_end(&a, open_device(0), &usual);
	here = address_of(&a, 5);
	return write(fd, &here, sizeof(here)) != sizeof(here) ||
	       read(fd, there, sizeof(*there)) != sizeof(*there) ||
	       connect_end(&a, &usual, there, 5);
}

static bool writes_there(const struct address *there, enum ibv_wc_status status)
{
	struct ibv_send_wr wr = {.wr_id = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .wr.rdma = {.remote_addr = there->memory,
					     .rkey = there->rkey}};

	post(&a, &wr, 0, 8);
	return completes(a.cq, 1, status);
}

/* Its second request is not heard any more, nor is it heard by what it hears not. */
static int falls_silent(int fd)
{
	struct address there;
	char byte = 0;
	bool is_right;

	setenv("SOFTVERBS_FAULTS", "lost@2", 1);
	is_right = !meet(fd, &there) && write(fd, "", 1) == 1 &&
		   read(fd, &byte, 1) == 1 && writes_there(&there, IBV_WC_SUCCESS) &&
		   writes_there(&there, IBV_WC_RETRY_EXC_ERR) && write(fd, "", 1) == 1;
	/* As long as the other goes on. */
	if (read(fd, &byte, 1) != 0)
		is_right = false;
	return !is_right;
}

static int silent_peer(void)
{
	struct address there;
	bool is_right;
	int status;
	int fds[2];
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return 1;
	if (!fork()) {
		close(fds[0]);
		_exit(falls_silent(fds[1]));
	}
	close(fds[1]);
	unsetenv("SOFTVERBS_FAULTS");
	/* Both are connected, then the one writes, then the other. */
	is_right = !meet(fds[0], &there) && read(fds[0], &byte, 1) == 1 &&
		   writes_there(&there, IBV_WC_SUCCESS) && write(fds[0], "", 1) == 1 &&
		   read(fds[0], &byte, 1) == 1 &&
		   writes_there(&there, IBV_WC_RETRY_EXC_ERR);
	close(fds[0]);
	wait(&status);
	return !is_right;
}

/* Whether it is right in a process with these faults; what it wrote, if that is wanted.
 */
static bool in_process(const char *faults, int (*body)(void), char *text, size_t size)
{
	int status = 1;
	int fds[2];

	if (pipe(fds))
		return false;
	fflush(stdout);
	if (!fork()) {
		setenv("SOFTVERBS_FAULTS", faults, 1);
		dup2(fds[1], STDOUT_FILENO);
		_exit(body());
	}
	close(fds[1]);
	if (text && read(fds[0], text, size) < 0)
		text[0] = '\0';
	wait(&status);
	close(fds[0]);
	if (status)
		printf("# %s: %d\n", faults, WEXITSTATUS(status));
	return !status;
}

static void test_loss(void)
{
	char first[MESSAGES + 1] = "1";
	char again[MESSAGES + 1] = "2";
	char other[MESSAGES + 1] = "3";

	ok(in_process("loss=40,seed=1", no_more_than_lost, first, sizeof(first)) &&
		   in_process("loss=40,seed=1", no_more_than_lost, again,
			      sizeof(again)) &&
		   in_process("loss=40,seed=2", no_more_than_lost, other, sizeof(other)),
	   "chance loses some messages of an unreliable queue pair, not all");
	ok(!strcmp(first, again), "with the same seed the same");
	ok(strcmp(first, other), "with another seed others");
}

int main(void)
{
	be_alone();
	test_loss();
	ok(in_process("resend=20:30000", sent_again, NULL, 0),
	   "what is sent again arrives late, all in order");
	ok(in_process("late=20:30000", acknowledged_late, NULL, 0),
	   "what is acknowledged late has arrived before, and completes in order");
	ok(in_process("late=100:2000", late_and_wrong, NULL, 0),
	   "a fence waits for it, and an error comes behind it");
	ok(in_process("rate=0:1", slow_adapter, NULL, 0),
	   "a slow adapter is slow for all of its queue pairs together");
	ok(in_process("", silent_peer, NULL, 0),
	   "a lost peer answers nothing, and nobody answers it");
	return tap_done();
}
