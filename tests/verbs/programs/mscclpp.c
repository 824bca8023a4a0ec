/* SPDX-License-Identifier: MIT */
/*
 * In the manner of MSCCL++: what a GPU would do writes triggers into a queue, and a
 * proxy thread of the host takes them: a put is a write, a signal an atomic that adds one
 * to the peer's semaphore, both posted as one list. Only every n-th asks for a
 * completion, and a flush waits for it.
 *
 * usage: mscclpp [-n TRIGGERS]
 */
#include "pair.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOTS 64
#define BLOCK 512
#define EVERY 8
#define WINDOW 32

static struct {
	char blocks[WINDOW][BLOCK];
	uint64_t old; /* that an atomic gives back */
	_Atomic uint64_t semaphore;
} memory __attribute__((aligned(4096)));

static atomic_ulong head, tail; /* of the triggers, which are their numbers */
static unsigned long triggers = 1000;
static struct where theirs[1];
static struct ibv_mr *mr;
static struct ibv_cq *cq;

static void flush(struct side *side, uint64_t signaled)
{
	struct ibv_wc wc[4];

	while (side->queues[0].sent < signaled)
		poll_cq(side, cq, wc, 4);
}

static void put_with_signal(struct side *side, unsigned long number)
{
	const uint64_t offset = number % WINDOW * BLOCK;
	struct ibv_sge sge[2] = {{(uintptr_t) memory.blocks + offset,
				  1 + (uint32_t) (number % BLOCK), mr->lkey},
				 {(uintptr_t) &memory.old, sizeof(memory.old), mr->lkey}};
	struct ibv_send_wr wr[2];

	memset(wr, 0, sizeof(wr));
	wr[0].next = &wr[1];
	wr[0].sg_list = &sge[0];
	wr[0].num_sge = 1;
	wr[0].opcode = IBV_WR_RDMA_WRITE;
	wr[0].wr.rdma.remote_addr = theirs[0].addr + offset;
	wr[0].wr.rdma.rkey = theirs[0].rkey;
	wr[1].sg_list = &sge[1];
	wr[1].num_sge = 1;
	wr[1].opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	if (number % EVERY == EVERY - 1 || number == triggers - 1)
		wr[1].send_flags = IBV_SEND_SIGNALED;
	wr[1].wr.atomic.remote_addr =
		theirs[0].addr + ((uintptr_t) &memory.semaphore - (uintptr_t) &memory);
	wr[1].wr.atomic.rkey = theirs[0].rkey;
	wr[1].wr.atomic.compare_add = 1;
	CHECK(!post_send(side, &side->queues[0], wr));
}

static void *proxy(void *data)
{
	struct side *side = data;
	unsigned long number;
	uint64_t signaled = 0;

	for (number = 0; number < triggers; number++) {
		while (atomic_load(&head) == number)
			sched_yield();
		put_with_signal(side, number);
		if (number == triggers / 2)
			wait_for_test(side);
		if (number % EVERY == EVERY - 1 || number == triggers - 1) {
			signaled++;
			/* One that is further back, so that there are always some under
			 * way. */
			if (signaled > 2)
				flush(side, signaled - 2);
		}
		atomic_store(&tail, number + 1);
	}
	flush(side, signaled);
	return NULL;
}

void run(struct side *side, int argc, char **argv)
{
	pthread_t thread;
	unsigned long number;
	int option;

	while ((option = getopt(argc, argv, "n:")) != -1)
		if (option == 'n')
			triggers = strtoul(optarg, NULL, 0);
	cq = ibv_create_cq(side->context, 256, NULL, NULL, 0);
	CHECK(cq);
	mr = register_memory(side, &memory, sizeof(memory));
	make_queue(side, IBV_QPT_RC, cq, cq, NULL, 256);
	connect_all(side, 0, 1, mr, theirs);
	CHECK(!pthread_create(&thread, NULL, proxy, side));
	for (number = 0; number < triggers; number++) {
		while (number - atomic_load(&tail) >= SLOTS)
			sched_yield();
		atomic_store(&head, number + 1);
	}
	pthread_join(thread, NULL);
	while (atomic_load(&memory.semaphore) < triggers)
		sched_yield();
}
