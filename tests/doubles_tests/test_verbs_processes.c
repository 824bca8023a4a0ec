/* SPDX-License-Identifier: MIT */
/* softverbs between two processes: what lands while the target does nothing, large
 * messages, the death of one, and the faults that the environment asks for. */
#include "../lib/tap.h"
#include "verbs_pair.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>

#define LARGE (8U << 20) /* bytes of memory of each side */

/* Both processes do the same up to here: each has one end and knows the other's address.
 */
struct side {
	struct end end;
	struct address there;
	int fd;
};

static void tell(const struct side *side, char what)
{
	if (write(side->fd, &what, 1) != 1)
		exit(3);
}

static void wait_for(const struct side *side)
{
	char what;

	if (read(side->fd, &what, 1) != 1)
		exit(4);
}

static void meet(struct side *side, const struct options *options)
{
	struct address here;

	make_end(&side->end, open_device(0), options);
	free(side->end.memory);
	ibv_dereg_mr(side->end.mr);
	side->end.memory = calloc(1, LARGE);
	side->end.mr = ibv_reg_mr(side->end.pd, side->end.memory, LARGE, ALL_ACCESS);
	here = address_of(&side->end, 5);
	if (write(side->fd, &here, sizeof(here)) != sizeof(here) ||
	    read(side->fd, &side->there, sizeof(side->there)) != sizeof(side->there) ||
	    connect_end(&side->end, options, &side->there, 5))
		exit(2);
	tell(side, 'c');
	wait_for(side);
}

static struct ibv_send_wr to(const struct side *side, enum ibv_wr_opcode opcode)
{
	return (struct ibv_send_wr){.wr_id = 1,
				    .opcode = opcode,
				    .wr.rdma = {.remote_addr = side->there.memory,
						.rkey = side->there.rkey}};
}

/* The other process: it only says what it finds in its memory. */
static int target(struct side *side)
{
	struct rusage before;
	struct rusage after;
	struct ibv_wc wc;
	uint32_t i;

	meet(side, &usual);
	wait_for(side);
	tell(side, side->end.memory[0]);
	post_recv(&side->end, 9, 4096, LARGE - 4096);
	tell(side, 'r');
	if (!next(side->end.cq, &wc) || wc.status || wc.byte_len != LARGE - 4096)
		return 5;
	for (i = 4096; i < LARGE; i++)
		if (side->end.memory[i] != (char) (i % 251))
			return 6;
	getrusage(RUSAGE_SELF, &before);
	usleep(300000);
	getrusage(RUSAGE_SELF, &after);
	tell(side,
	     after.ru_utime.tv_sec - before.ru_utime.tv_sec +
				     (after.ru_stime.tv_sec - before.ru_stime.tv_sec) ==
			     0 &&
		     after.ru_utime.tv_usec + after.ru_stime.tv_usec -
				     before.ru_utime.tv_usec - before.ru_stime.tv_usec <
			     100000);
	pause();
	return 0;
}

static pid_t start(struct side *side, int (*other)(struct side *))
{
	int fds[2];
	pid_t pid;

	socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
	pid = fork();
	side->fd = fds[pid ? 0 : 1];
	close(fds[pid ? 1 : 0]);
	if (!pid)
		exit(other(side));
	return pid;
}

/* Reads two bytes from there and writes them there again, elsewhere: are they the same?
 */
static bool fenced(struct side *side, unsigned int flags)
{
	struct ibv_sge sge = piece(&side->end, 1024, 2);
	struct ibv_send_wr read = to(side, IBV_WR_RDMA_READ);
	struct ibv_send_wr write = to(side, IBV_WR_RDMA_WRITE);
	struct ibv_send_wr *bad;

	write.wr.rdma.remote_addr += 2048;
	write.send_flags = IBV_SEND_SIGNALED | flags;
	read.next = &write;
	read.sg_list = &sge;
	write.sg_list = &sge;
	read.num_sge = 1;
	write.num_sge = 1;
	memset(side->end.memory + 1024, 0, 2);
	if (ibv_post_send(side->end.qp, &read, &bad) || !completes(side->end.cq, 1, 0))
		return false;
	read.next = NULL;
	read.wr.rdma.remote_addr += 2048;
	if (post(&side->end, &read, 1536, 2) || !completes(side->end.cq, 1, 0))
		return false;
	return side->end.memory[1024] && side->end.memory[1024] == side->end.memory[1536];
}

/* Twice, since what the first leaves undone the second may hide. */
static bool list_arrives(struct side *side)
{
	struct ibv_sge sge = piece(&side->end, 0, 64);
	struct ibv_send_wr wr[32];
	struct ibv_send_wr *bad;
	int i;

	for (i = 0; i < 32; i++) {
		wr[i] = to(side, IBV_WR_RDMA_WRITE);
		wr[i].wr.rdma.remote_addr += 2048;
		wr[i].next = i < 31 ? &wr[i + 1] : NULL;
		wr[i].sg_list = &sge;
		wr[i].num_sge = 1;
		wr[i].send_flags = i < 31 ? 0 : IBV_SEND_SIGNALED;
	}
	for (i = 0; i < 2; i++)
		if (ibv_post_send(side->end.qp, wr, &bad) ||
		    !completes(side->end.cq, 1, 0))
			return false;
	return true;
}

static void test_processes(void)
{
	struct side side;
	struct ibv_send_wr wr;
	pid_t pid = start(&side, target);
	uint32_t i;
	char found = 0;

	meet(&side, &usual);
	wr = to(&side, IBV_WR_RDMA_WRITE);
	side.end.memory[0] = 'w';
	post(&side.end, &wr, 0, 1);
	ok(completes(side.end.cq, 1, 0), "a write to another process completes");
	tell(&side, '?');
	ok(read(side.fd, &found, 1) == 1 && found == 'w',
	   "then it is there, without any call by the other");
	wr = to(&side, IBV_WR_RDMA_READ);
	post(&side.end, &wr, 64, 1);
	ok(completes(side.end.cq, 1, 0) && side.end.memory[64] == 'w',
	   "a read brings it back");
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.wr.atomic.remote_addr = side.there.memory;
	wr.wr.atomic.rkey = side.there.rkey;
	wr.wr.atomic.compare_add = 1;
	post(&side.end, &wr, 128, 8);
	ok(completes(side.end.cq, 1, 0) && side.end.memory[128] == 'w',
	   "an atomic works");
	ok(fenced(&side, IBV_SEND_FENCE) && !fenced(&side, 0),
	   "behind a fence a request takes what a read brought, else it does not wait");
	ok(list_arrives(&side), "a list arrives whole");
	wait_for(&side);
	for (i = 4096; i < LARGE; i++)
		side.end.memory[i] = (char) (i % 251);
	wr = to(&side, IBV_WR_SEND);
	post(&side.end, &wr, 4096, LARGE - 4096);
	ok(completes(side.end.cq, 1, 0), "8 MB are sent");
	ok(read(side.fd, &found, 1) == 1 && found == 1,
	   "they arrived whole, and who waits uses no processor");
	wr = to(&side, IBV_WR_RDMA_WRITE);
	wr.wr.rdma.rkey ^= 1;
	post(&side.end, &wr, 0, 1);
	wr.wr_id = 2;
	post(&side.end, &wr, 0, 1);
	ok(completes(side.end.cq, 1, IBV_WC_REM_ACCESS_ERR) &&
		   completes(side.end.cq, 2, IBV_WC_WR_FLUSH_ERR),
	   "a wrong key is refused there");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ok(is_empty(side.end.cq), "and nothing comes twice");
	close(side.fd);
	free_end(&side.end);
}

/*
 * Both sides at once, more than the sockets hold, of all sizes, with fewer receives than
 * messages: true when all that came was right and in order.
 */
static bool storm(struct side *side)
{
	enum { MESSAGES = 3000, RECEIVES = 16, ROOM = 131072 };
	struct ibv_send_wr wr = to(side, IBV_WR_SEND_WITH_IMM);
	uint32_t posted = 0;
	uint32_t sent = 0;
	uint32_t received = 0;
	uint32_t i;
	struct ibv_wc wc;

	for (i = 0; i < RECEIVES; i++)
		post_recv(&side->end, i, i * ROOM, ROOM);
	while (sent < MESSAGES || received < MESSAGES) {
		while (posted < MESSAGES && posted - sent < 40) {
			uint32_t slot = posted % 40;
			uint32_t size = posted % 7 == 0 ? ROOM : posted * 37 % 5000 + 1;

			memset(side->end.memory + (RECEIVES + slot) * ROOM, (int) posted,
			       size);
			wr.wr_id = posted;
			wr.imm_data = posted++;
			post(&side->end, &wr, (RECEIVES + slot) * ROOM, size);
		}
		if (!next(side->end.cq, &wc) || wc.status)
			return false;
		if (wc.opcode == IBV_WC_SEND) {
			if (wc.wr_id != sent++)
				return false;
		} else {
			const char *data = side->end.memory + wc.wr_id * ROOM;
			uint32_t size =
				received % 7 == 0 ? ROOM : received * 37 % 5000 + 1;

			if (wc.imm_data != received || wc.byte_len != size ||
			    data[0] != (char) received ||
			    data[size - 1] != (char) received)
				return false;
			received++;
			post_recv(&side->end, wc.wr_id, wc.wr_id * ROOM, ROOM);
		}
	}
	return is_empty(side->end.cq);
}

static int stormy(struct side *side)
{
	meet(side, &usual);
	tell(side, storm(side));
	wait_for(side);
	return 0;
}

static int sleeper(struct side *side)
{
	meet(side, &usual);
	pause();
	return 0;
}

static int elsewhere(struct side *side)
{
	setenv("SOFTVERBS_HOST", "1", 1);
	return sleeper(side);
}

/* Before this process has read its own environment, which the other inherits. */
static void test_hosts(void)
{
	struct side side;
	struct address here;
	struct ibv_send_wr wr;
	pid_t pid = start(&side, elsewhere);

	meet(&side, &usual);
	here = address_of(&side.end, 0);
	ok(here.qpn == side.there.qpn &&
		   memcmp(&here.gid, &side.there.gid, sizeof(here.gid)),
	   "another host has other addresses and equal numbers");
	wr = to(&side, IBV_WR_RDMA_WRITE);
	post(&side.end, &wr, 0, 8);
	ok(completes(side.end.cq, 1, 0), "and is reached");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(side.fd);
	free_end(&side.end);
}

static void test_storm(void)
{
	struct side side;
	pid_t pid = start(&side, stormy);
	char there = 0;

	meet(&side, &usual);
	ok(storm(&side), "3000 messages each way, all right and in order");
	ok(read(side.fd, &there, 1) == 1 && there == 1, "there too");
	tell(&side, 'e');
	waitpid(pid, NULL, 0);
	close(side.fd);
	free_end(&side.end);
}

static void test_death(void)
{
	struct side side;
	struct ibv_send_wr wr;
	pid_t pid = start(&side, sleeper);

	meet(&side, &usual);
	/* Without a receive there: it waits. */
	wr = to(&side, IBV_WR_SEND);
	post(&side.end, &wr, 0, 1);
	wr.wr_id = 2;
	post(&side.end, &wr, 0, 1);
	usleep(20000);
	ok(is_empty(side.end.cq), "requests are on their way");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ok(completes(side.end.cq, 1, IBV_WC_RETRY_EXC_ERR) &&
		   completes(side.end.cq, 2, IBV_WC_WR_FLUSH_ERR),
	   "when the target is killed they fail: transport retry exceeded");
	close(side.fd);
	free_end(&side.end);
}

/* Within one process, with a fault: the statuses of six sends, one letter each. */
static int statuses(const char *fault, enum ibv_qp_type type, char *text, uint64_t *us)
{
	struct options options = usual;
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct ibv_context *context;
	struct timespec begin;
	struct timespec end;
	struct ibv_wc wc;
	struct end a;
	struct end b;
	int i;

	setenv("SOFTVERBS_FAULTS", fault, 1);
	context = open_device(0);
	options.type = type;
	make_pair(&a, &b, context, context, &options);
	for (i = 0; i < 6; i++)
		post_recv(&b, (uint64_t) i, 0, 10);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (i = 0; i < 6; i++)
		post(&a, &wr, 0, 1);
	for (i = 0; i < 6 && next(a.cq, &wc); i++)
		*text++ = wc.status == IBV_WC_SUCCESS		  ? '.'
			  : wc.status == IBV_WC_RNR_RETRY_EXC_ERR ? 'n'
			  : wc.status == IBV_WC_RETRY_EXC_ERR	  ? 'r'
			  : wc.status == IBV_WC_WR_FLUSH_ERR	  ? 'f'
								  : '?';
	clock_gettime(CLOCK_MONOTONIC, &end);
	*us = (uint64_t) (end.tv_sec - begin.tv_sec) * 1000000 +
	      (uint64_t) (end.tv_nsec / 1000) - (uint64_t) (begin.tv_nsec / 1000);
	for (*text++ = ' '; ibv_poll_cq(b.cq, 1, &wc) == 1; text++)
		*text = wc.status ? 'f' : '.';
	*text = 0;
	return 0;
}

static void fault(const char *what, enum ibv_qp_type type, const char *expected,
		  uint64_t at_least_us, const char *sentence)
{
	char text[64] = "";
	uint64_t us = 0;
	int fds[2];
	pid_t pid;

	if (pipe(fds))
		exit(1);
	/* The environment is read once per process. */
	pid = fork();
	if (!pid) {
		statuses(what, type, text, &us);
		exit(write(fds[1], text, sizeof(text)) < 0 ||
		     write(fds[1], &us, sizeof(us)) < 0);
	}
	close(fds[1]);
	if (read(fds[0], text, sizeof(text)) < 0 || read(fds[0], &us, sizeof(us)) < 0)
		text[0] = 0;
	close(fds[0]);
	waitpid(pid, NULL, 0);
	if (strcmp(text, expected))
		printf("# \"%s\", expected \"%s\"\n", text, expected);
	ok(!strcmp(text, expected) && us >= at_least_us, sentence);
}

int main(void)
{
	be_alone();
	/* First those that fork before anything is read. */
	fault("", IBV_QPT_RC, "...... ......", 0, "without a fault all is well");
	fault("rnr@3", IBV_QPT_RC, "..nfff ..", 0, "the third is not received");
	fault("retry@1", IBV_QPT_RC, "rfffff ", 0, "the first is not answered");
	fault("flush@4", IBV_QPT_RC, "...fff ...", 0, "the fourth finds an error");
	fault("fatal@4", IBV_QPT_RC, "...fff ...fff", 0,
	      "the fourth finds no adapter any more");
	fault("loss/2", IBV_QPT_UC, "...... ...", 0, "each second is lost");
	fault("loss/2", IBV_QPT_RC, "...... ......", 0, "not where it is reliable");
	fault("delay=20000", IBV_QPT_RC, "...... ......", 20000, "all are late");
	fault("delay-to=0:20000", IBV_QPT_RC, "...... ......", 20000, "a link is slow");
	fault("rnr@2,delay=100", IBV_QPT_RC, ".nffff .", 0, "two faults");
	test_hosts();
	test_processes();
	test_storm();
	test_death();
	return tap_done();
}
