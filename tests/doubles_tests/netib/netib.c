/* SPDX-License-Identifier: MIT */
/*
 * Both ends of a connection of NET/IB, of the library that it is told, in one thread: so
 * what it does is the same at each run, and on each library of the same release.
 */
#include "netib.h"

#include "../../rdma/nib.h"

#include <getopt.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 64
#define SLOT_BYTES (96UL << 10)
#define PAGE 4096
#define CACHED_PAGES 24
#define CACHED_REGIONS 12
/* Receives of one time: with eight of eight all requests would be in use. */
#define MOST_UNDER_WAY 6

static const char usage[] =
	"usage: netib [OPTION...] LIBNCCL\n"
	"Has NET/IB of a libnccl.so.2 move messages and writes what it asks of libibverbs.\n"
	"\n"
	"  --receives N   how many (700)\n"
	"  --groups N     a receive is for 1 to N messages (1)\n"
	"  --merge N      make one adapter of the first N\n"
	"  --flush        after each receive\n"
	"  --seed N       of sizes and order (1)\n"
	"  --describe     say which release and table it is, and end\n";

struct options {
	int receives;
	int groups;
	int merged;
	bool flush;
	unsigned int seed;
};

struct message {
	size_t size;
	int tag;
	/* Where it is sent from and received to. */
	int slot;
	void *send;
};

struct receive {
	int count;
	struct message messages[NIB_MAX_GROUP];
	void *request;
};

struct run {
	struct options options;
	struct nib_net *net;
	void *send_comm;
	void *recv_comm;
	void *listen_comm;
	void *out_mr;
	void *in_mr;
	uint64_t random;
	int next_slot;
};

static unsigned char out_memory[SLOTS * SLOT_BYTES] __attribute__((aligned(4096)));
static unsigned char in_memory[SLOTS * SLOT_BYTES] __attribute__((aligned(4096)));
static unsigned char cached_memory[CACHED_PAGES * PAGE] __attribute__((aligned(4096)));

static void must(int result, const char *what)
{
	if (result)
		nib_die("%s: NCCL's result %d", what, result);
}

static unsigned int random_below(struct run *run, unsigned int limit)
{
	run->random = run->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned int) (run->random >> 33) % limit;
}

/* None, a few bytes, a step of LL, around the threshold of adaptive routing, large. */
static size_t some_size(struct run *run)
{
	switch (random_below(run, 8)) {
	case 0:
		return 0;
	case 1:
		return 1 + random_below(run, 256);
	case 2:
	case 3:
		return 8192 - 4 + random_below(run, 9);
	case 4:
		return SLOT_BYTES - 1 - random_below(run, 300);
	default:
		return 1 + random_below(run, 40000);
	}
}

static void connect_both(struct run *run, int device)
{
	unsigned char handle[NIB_HANDLE_BYTES] = {0};

	observe_part("listen");
	must(nib_listen(run->net, device, handle, &run->listen_comm), "listen");
	while (!run->send_comm || !run->recv_comm) {
		observe_part("sender");
		if (!run->send_comm)
			must(nib_connect(run->net, device, handle, &run->send_comm),
			     "connect");
		observe_part("receiver");
		if (!run->recv_comm)
			must(nib_accept(run->net, run->listen_comm, &run->recv_comm),
			     "accept");
		sched_yield();
	}
	observe_part("sender");
	must(nib_reg(run->net, run->send_comm, out_memory, sizeof(out_memory),
		     &run->out_mr),
	     "regMr");
	observe_part("receiver");
	must(nib_reg(run->net, run->recv_comm, in_memory, sizeof(in_memory), &run->in_mr),
	     "regMr");
}

static unsigned char byte_at(const struct message *message, size_t at)
{
	return (unsigned char) (at * 31 + (size_t) message->tag * 7 + message->size);
}

static void post_receive(struct run *run, struct receive *receive)
{
	void *data[NIB_MAX_GROUP];
	size_t rooms[NIB_MAX_GROUP];
	int tags[NIB_MAX_GROUP];
	void *mrs[NIB_MAX_GROUP];
	int i;

	receive->count = 1 + (int) random_below(run, (unsigned int) run->options.groups);
	for (i = 0; i < receive->count; i++) {
		struct message *message = &receive->messages[i];

		*message =
			(struct message){some_size(run), 1000 + i, run->next_slot, NULL};
		run->next_slot = (run->next_slot + 1) % SLOTS;
		data[i] = in_memory + (size_t) message->slot * SLOT_BYTES;
		memset(data[i], 0xee, message->size + 1);
		rooms[i] = SLOT_BYTES - 1;
		tags[i] = message->tag;
		mrs[i] = run->in_mr;
	}
	receive->request = NULL;
	must(nib_irecv(run->net, run->recv_comm, receive->count, data, rooms, tags, mrs,
		       &receive->request),
	     "irecv");
	if (!receive->request)
		nib_die("a receive was not taken");
}

static void send_message(struct run *run, struct message *message)
{
	unsigned char *data = out_memory + (size_t) message->slot * SLOT_BYTES;
	size_t i;

	for (i = 0; i < message->size; i++)
		data[i] = byte_at(message, i);
	do {
		must(nib_isend(run->net, run->send_comm, data, message->size,
			       message->tag, run->out_mr, &message->send),
		     "isend");
	} while (!message->send);
}

/* Those of a group in another order than they are received. */
static void send_all(struct run *run, struct receive *receive)
{
	int first = (int) random_below(run, (unsigned int) receive->count);
	int i;

	for (i = 0; i < receive->count; i++)
		send_message(run, &receive->messages[(first + i * 1) % receive->count]);
}

static void wait_for(struct run *run, void *request, int *sizes)
{
	int is_done = 0;

	while (!is_done)
		must(nib_test(run->net, request, &is_done, sizes), "test");
}

static void flush(struct run *run, struct receive *receive, int *sizes)
{
	void *data[NIB_MAX_GROUP];
	void *mrs[NIB_MAX_GROUP];
	void *request = NULL;
	int i;

	for (i = 0; i < receive->count; i++) {
		data[i] = in_memory + (size_t) receive->messages[i].slot * SLOT_BYTES;
		mrs[i] = run->in_mr;
	}
	must(nib_iflush(run->net, run->recv_comm, receive->count, data, sizes, mrs,
			&request),
	     "iflush");
	if (request)
		wait_for(run, request, NULL);
}

static void look_at(const struct run *run, const struct receive *receive,
		    const int *sizes)
{
	int i;

	for (i = 0; i < receive->count; i++) {
		const struct message *message = &receive->messages[i];
		const unsigned char *data =
			in_memory + (size_t) message->slot * SLOT_BYTES;
		size_t k;

		if (sizes[i] !=
		    nib_told(run->net, (uint32_t) message->size, receive->count))
			nib_die("%zu bytes are said to be %d", message->size,
				sizes[i]);
		for (k = 0; k < message->size; k++) {
			if (data[k] != byte_at(message, k))
				nib_die("byte %zu of %zu is wrong", k,
					message->size);
		}
		if (data[message->size] != 0xee)
			nib_die("there is more than %zu bytes", message->size);
	}
}

static void finish(struct run *run, struct receive *receive)
{
	int sizes[NIB_MAX_GROUP] = {0};
	int unused[NIB_MAX_GROUP];
	int i;

	for (i = 0; i < receive->count; i++)
		wait_for(run, receive->messages[i].send, unused);
	wait_for(run, receive->request, sizes);
	look_at(run, receive, sizes);
	if (run->options.flush)
		flush(run, receive, sizes);
}

/* Some receives, their messages, and then all are waited for, in order or from the last
 * on: a number that is free again is taken again. */
static void move_some(struct run *run, int count)
{
	struct receive receives[MOST_UNDER_WAY];
	int is_backwards = (int) random_below(run, 2);
	int i;

	for (i = 0; i < count; i++)
		post_receive(run, &receives[i]);
	for (i = 0; i < count; i++)
		send_all(run, &receives[i]);
	for (i = 0; i < count; i++)
		finish(run, &receives[is_backwards ? count - 1 - i : i]);
}

static void move_all(struct run *run)
{
	int left = run->options.receives;

	observe_part("move");
	while (left > 0) {
		int count = 1 + (int) random_below(run, MOST_UNDER_WAY);

		if (count > left)
			count = left;
		move_some(run, count);
		left -= count;
	}
}

/* Regions that overlap come and go: which of them NET/IB has in its cache. */
static void register_some(struct run *run, int count)
{
	void *mrs[CACHED_REGIONS] = {NULL};
	int i;

	observe_part("cache");
	for (i = 0; i < count; i++) {
		void **mr = &mrs[random_below(run, CACHED_REGIONS)];
		unsigned int pages = 1 + random_below(run, 3);
		unsigned int first = random_below(run, CACHED_PAGES - pages + 1);

		if (*mr)
			must(nib_dereg(run->net, run->send_comm, *mr), "deregMr");
		must(nib_reg(run->net, run->send_comm, cached_memory + first * PAGE,
			     pages * PAGE, mr),
		     "regMr");
	}
	for (i = 0; i < CACHED_REGIONS; i++) {
		if (mrs[i])
			must(nib_dereg(run->net, run->send_comm, mrs[i]), "deregMr");
	}
}

static void close_both(struct run *run)
{
	observe_part("sender");
	must(nib_dereg(run->net, run->send_comm, run->out_mr), "deregMr");
	must(nib_close_send(run->net, run->send_comm), "closeSend");
	observe_part("receiver");
	must(nib_dereg(run->net, run->recv_comm, run->in_mr), "deregMr");
	must(nib_close_recv(run->net, run->recv_comm), "closeRecv");
	must(nib_close_listen(run->net, run->listen_comm), "closeListen");
}

static const struct option names[] = {
	{"receives", required_argument, NULL, 'r'},
	{"groups", required_argument, NULL, 'g'},
	{"merge", required_argument, NULL, 'm'},
	{"flush", no_argument, NULL, 'f'},
	{"seed", required_argument, NULL, 's'},
	{"describe", no_argument, NULL, 'd'},
	{NULL, 0, NULL, 0},
};

static bool read_options(struct options *options, int argc, char **argv)
{
	bool describe = false;
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (option) {
		case 'r':
			options->receives = atoi(optarg);
			break;
		case 'g':
			options->groups = atoi(optarg);
			break;
		case 'm':
			options->merged = atoi(optarg);
			break;
		case 'f':
			options->flush = true;
			break;
		case 's':
			options->seed = (unsigned int) atoi(optarg);
			break;
		case 'd':
			describe = true;
			break;
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (optind + 1 != argc) {
		fputs(usage, stderr);
		exit(2);
	}
	return describe;
}

int main(int argc, char **argv)
{
	static struct run run = {.options = {700, 1, 0, false, 1}};
	bool describe = read_options(&run.options, argc, argv);
	int device = 0;
	int count;

	run.net = nib_open(argv[optind], false);
	if (describe) {
		puts(nib_describe(run.net));
		return 0;
	}
	run.random = run.options.seed;
	observe_begin(stdout);
	must(nib_init(run.net), "init");
	must(nib_devices(run.net, &count), "devices");
	if (!count)
		nib_cannot("NET/IB finds no adapter that it can use");
	if (run.options.merged && nib_merge(run.net, run.options.merged, &device))
		nib_cannot("no adapter is made of %d", run.options.merged);
	connect_both(&run, device);
	move_all(&run);
	register_some(&run, 300);
	close_both(&run);
	return 0;
}
