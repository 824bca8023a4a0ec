/* SPDX-License-Identifier: MIT */
/* softverbs with several adapters of several ports in one process: their addresses, equal
 * queue pair numbers, and that each queue pair hears its own port. */
#include "../lib/tap.h"
#include "verbs_pair.h"

#include <sys/wait.h>

#define DEVICES 2
#define PORTS 2

static struct ibv_context *contexts[DEVICES];

static struct options at_port(uint8_t port)
{
	struct options options = usual;

	options.port = port;
	return options;
}

static bool all_addresses_differ(void)
{
	struct ibv_port_attr attr[DEVICES * PORTS];
	union ibv_gid gids[DEVICES * PORTS][2];
	int i;
	int j;

	for (i = 0; i < DEVICES * PORTS; i++) {
		uint8_t port = (uint8_t) (i % PORTS + 1);

		if (ibv_query_gid(contexts[i / PORTS], port, 0, &gids[i][0]) ||
		    ibv_query_gid(contexts[i / PORTS], port, 1, &gids[i][1]) ||
		    ibv_query_port(contexts[i / PORTS], port, &attr[i]))
			return false;
	}
	for (i = 0; i < DEVICES * PORTS; i++)
		for (j = 0; j < i; j++)
			if (!memcmp(&gids[i][0], &gids[j][0], sizeof(gids[i][0])) ||
			    (attr[i].lid ? attr[i].lid == attr[j].lid
					 : !memcmp(&gids[i][1], &gids[j][1],
						   sizeof(gids[i][1]))))
				return false;
	return true;
}

static void test_addresses(void)
{
	struct ibv_gid_entry entries[8];
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	ssize_t count;

	ok(!ibv_query_device(contexts[0], &attr) && attr.phys_port_cnt == PORTS &&
		   ibv_query_port(contexts[0], PORTS + 1, &port),
	   "the environment says how many ports there are");
	ok(all_addresses_differ(), "each port of each adapter has its own addresses");
	count = ibv_query_gid_table(contexts[1], entries, 8, 0);
	ok((count == 4 || count == 2) && entries[0].port_num == 1 &&
		   entries[count - 1].port_num == 2,
	   "the table has those of all ports");
}

/* The ends of two pairs, one pair at each port, between two adapters. */
static void test_messages(void)
{
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND};
	struct end a[PORTS];
	struct end b[PORTS];
	bool is_right = true;
	int i;

	for (i = 0; i < PORTS; i++) {
		struct options options = at_port((uint8_t) (i + 1));

		is_right &= !make_pair(&a[i], &b[i], contexts[0], contexts[1], &options);
	}
	ok(is_right && a[0].qp->qp_num == b[0].qp->qp_num &&
		   a[1].qp->qp_num == b[1].qp->qp_num &&
		   a[0].qp->qp_num != a[1].qp->qp_num,
	   "numbers are equal on two adapters of a process, not on two ports of one");
	for (i = 0; i < PORTS; i++) {
		a[i].memory[0] = (char) ('0' + i);
		post_recv(&b[i], 2, 0, 8);
		post(&a[i], &wr, 0, 1);
	}
	for (i = 0; i < PORTS; i++)
		is_right &= completes(a[i].cq, 1, 0) && completes(b[i].cq, 2, 0) &&
			    b[i].memory[0] == '0' + i;
	ok(is_right, "each message comes to the one that it is for");
	for (i = 0; i < PORTS; i++) {
		free_end(&a[i]);
		free_end(&b[i]);
	}
}

static void test_wrong_port(void)
{
	struct options first = at_port(1);
	struct options second = at_port(2);
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE};
	struct address at_a;
	struct address at_b;
	struct end a;
	struct end b;

	make_end(&a, contexts[0], &first);
	make_end(&b, contexts[1], &second);
	at_a = address_of(&a, 3);
	b.port = 1;
	at_b = address_of(&b, 4);
	connect_end(&a, &first, &at_b, 3);
	connect_end(&b, &second, &at_a, 4);
	wr.wr.rdma.rkey = b.mr->rkey;
	wr.wr.rdma.remote_addr = (uintptr_t) b.memory;
	a.memory[0] = 'x';
	post(&a, &wr, 0, 1);
	ok(completes(a.cq, 1, IBV_WC_RETRY_EXC_ERR) && !b.memory[0],
	   "what comes to another port than the queue pair's is not heard");
	free_end(&a);
	free_end(&b);
}

static void test_datagrams(void)
{
	struct options options = at_port(2);
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND};
	struct ibv_ah_attr attr;
	struct address at_b;
	struct end a;
	struct end b;

	options.type = IBV_QPT_UD;
	make_pair(&a, &b, contexts[0], contexts[1], &options);
	at_b = address_of(&b, 0);
	attr = route_to(&at_b);
	attr.port_num = 2;
	wr.wr.ud.ah = ibv_create_ah(a.pd, &attr);
	wr.wr.ud.remote_qpn = b.qp->qp_num;
	wr.wr.ud.remote_qkey = 0x1234;
	a.memory[0] = 'u';
	post_recv(&b, 2, 0, 64);
	post(&a, &wr, 0, 1);
	ok(completes(a.cq, 1, 0) && completes(b.cq, 2, 0) && b.memory[40] == 'u',
	   "a datagram leaves and comes by the second port");
	ibv_destroy_ah(wr.wr.ud.ah);
	free_end(&a);
	free_end(&b);
}

static int test_all(void)
{
	int i;

	for (i = 0; i < DEVICES; i++)
		contexts[i] = open_device(i);
	test_addresses();
	test_messages();
	test_wrong_port();
	test_datagrams();
	return tap_done();
}

int main(void)
{
	int status;

	setenv("SOFTVERBS_DEVICES", "2", 1);
	setenv("SOFTVERBS_PORTS", "2", 1);
	be_alone();
	/* The environment is read once per process. */
	if (!fork()) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(1);
		setenv("SOFTVERBS_LINK", "infiniband", 1);
		_exit(test_all());
	}
	wait(&status);
	ok(!status, "all of what follows holds by LIDs, too");
	return test_all();
}
