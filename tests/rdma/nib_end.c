/* SPDX-License-Identifier: MIT */
/*
 * One of the two processes: it connects to the other and takes its connection, then sends
 * and receives what the plans say, as a proxy thread of NCCL does: one thread asks all
 * that is under way in turn and gives way when nothing has come.  Of NET/Socket it asks for
 * the oldest alone, as NCCL does: all share a stream.  Hidden here are the
 * buffers and what is under way.
 */
#include "nib.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNDER_WAY 8
/* NCCL only gives way; here others may want the processor. */
#define IDLE_ROUNDS 50
#define IDLE_US 20
#define MAX_SLOTS (UNDER_WAY * NIB_MAX_GROUP)
#define SLOT_BYTES (256UL << 10)

/* Memory that messages are sent from or received into.  Large ones have a place of their
 * own and take turns.  No more than is needed: adapters have the kernel keep all of it.
 */
struct pool {
	unsigned char *memory;
	size_t bytes;
	void *mr;
	uint32_t num_slots;
	bool is_busy[MAX_SLOTS];
	bool is_large_busy;
};

struct sending {
	uint32_t ordinal;
	void *request;
};

struct receiving {
	uint32_t first;
	int n;
	void *request;
	bool is_flush;
	void *data[NIB_MAX_GROUP];
	size_t rooms[NIB_MAX_GROUP];
	int sizes[NIB_MAX_GROUP];
	void *mrs[NIB_MAX_GROUP];
};

struct end {
	const struct nib_options *options;
	struct nib_options *chosen; /* the same, while devices are chosen */
	const char *folder;
	int rank;
	struct nib_net *net;
	uint64_t random;
	uint64_t deadline; /* unless something moves before */
	/* Of the connection from rank 0, and of that from rank 1. */
	struct nib_plan plans[2];
	struct nib_times *times[2];

	void *send_comm;
	struct pool out;
	struct sending sendings[UNDER_WAY];
	int num_sendings;
	/* How many of the plan's messages were accepted, and not before when the next is
	 * offered. */
	int offered;
	uint64_t offer_at;

	void *listen_comm;
	void *recv_comm;
	struct pool in;
	struct receiving receivings[UNDER_WAY];
	int num_receivings;
	int posted;
	uint64_t post_at;

	uint64_t ask_at;
	int bad;
	int flushes;
};

static void must(struct end *end, int result, const char *what)
{
	if (result)
		nib_die("rank %d: %s: NCCL's result %d", end->rank, what, result);
}

/* A machine that is busy is slow, and no failure: NCCL's helper threads never rest. */
static void begin_waiting(struct end *end)
{
	end->deadline = nib_now() + end->options->timeout_s * 1000000000ULL;
}

static void in_time(struct end *end, const char *what)
{
	if (nib_now() > end->deadline)
		nib_die("rank %d: %s, and nothing moves for %u s: %d sent, %d under way; "
			"%d received, %d under way",
			end->rank, what, end->options->timeout_s,
			end->offered - end->num_sendings, end->num_sendings, end->posted,
			end->num_receivings);
}

/* Now, or a little later. */
static uint64_t soon(struct end *end)
{
	const struct nib_options *options = end->options;

	if (!options->stall_us ||
	    nib_random(&end->random) % 100 >= options->stall_percent)
		return 0;
	return nib_now() + nib_random(&end->random) % options->stall_us * 1000ULL;
}

static void pool_make(struct end *end, struct pool *pool, void *comm)
{
	/* Twice of what is under way, since it is not done in order. */
	pool->num_slots = 2 * UNDER_WAY;
	if (end->options->max_group > 2)
		pool->num_slots = (uint32_t) (UNDER_WAY * end->options->max_group);
	pool->bytes = pool->num_slots * SLOT_BYTES + end->options->max_size + SLOT_BYTES;
	pool->memory = mmap(NULL, pool->bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pool->memory == MAP_FAILED)
		nib_die("no memory");
	must(end, nib_reg(end->net, comm, pool->memory, pool->bytes, &pool->mr), "regMr");
}

static bool is_large(const struct nib_plan *plan, uint32_t ordinal)
{
	return plan->messages[ordinal].size > SLOT_BYTES;
}

static bool *busy(struct pool *pool, const struct nib_plan *plan, uint32_t ordinal)
{
	return is_large(plan, ordinal) ? &pool->is_large_busy
				       : &pool->is_busy[ordinal % pool->num_slots];
}

static unsigned char *place(struct pool *pool, const struct nib_plan *plan,
			    uint32_t ordinal)
{
	if (is_large(plan, ordinal))
		return pool->memory + pool->num_slots * SLOT_BYTES;
	return pool->memory + ordinal % pool->num_slots * SLOT_BYTES;
}

static void connect_both(struct end *end)
{
	const int to = end->options->devices[end->rank];
	const int from = end->options->devices[1 - end->rank];
	unsigned char mine[NIB_HANDLE_BYTES] = {0};
	unsigned char theirs[NIB_HANDLE_BYTES];

	must(end, nib_listen(end->net, from, mine, &end->listen_comm), "listen");
	nib_tell(end->folder, "handle", end->rank, mine, sizeof(mine));
	while (!nib_heard(end->folder, "handle", 1 - end->rank, theirs, sizeof(theirs))) {
		in_time(end, "the other did not come");
		usleep(1000);
	}
	while (!end->send_comm || !end->recv_comm) {
		if (!end->send_comm)
			must(end, nib_connect(end->net, to, theirs, &end->send_comm),
			     "connect");
		if (!end->recv_comm)
			must(end, nib_accept(end->net, end->listen_comm, &end->recv_comm),
			     "accept");
		in_time(end, "not connected");
		sched_yield();
	}
}

static bool offer(struct end *end)
{
	struct nib_plan *plan = &end->plans[end->rank];
	const struct nib_message *message;
	struct nib_times *times;
	unsigned char *data;
	void *request = NULL;
	uint32_t ordinal;

	if (end->offered == plan->nr || end->num_sendings == UNDER_WAY ||
	    nib_now() < end->offer_at)
		return false;
	ordinal = plan->messages[end->offered].offered;
	message = &plan->messages[ordinal];
	times = &end->times[end->rank][ordinal];
	data = place(&end->out, plan, ordinal);
	if (!times->tried) {
		if (*busy(&end->out, plan, ordinal))
			return false;
		*busy(&end->out, plan, ordinal) = true;
		nib_fill(plan, ordinal, data);
		times->tried = nib_now();
	}
	times->called = nib_now();
	must(end,
	     nib_isend(end->net, end->send_comm, data, message->size, message->tag,
		       end->out.mr, &request),
	     "isend");
	if (!request)
		return false;
	times->accepted = nib_now();
	end->sendings[end->num_sendings].ordinal = ordinal;
	end->sendings[end->num_sendings++].request = request;
	end->offered++;
	end->offer_at = soon(end);
	return true;
}

static bool post(struct end *end)
{
	const int connection = 1 - end->rank;
	struct nib_plan *plan = &end->plans[connection];
	struct nib_times *times = &end->times[connection][end->posted];
	struct receiving *receiving = &end->receivings[end->num_receivings];
	int tags[NIB_MAX_GROUP];
	uint64_t called;
	uint64_t accepted;
	uint32_t ordinal;
	int i;

	if (end->posted == plan->nr || end->num_receivings == UNDER_WAY ||
	    nib_now() < end->post_at)
		return false;
	memset(receiving, 0, sizeof(*receiving));
	receiving->first = (uint32_t) end->posted;
	receiving->n = plan->messages[end->posted].of;
	for (i = 0; i < receiving->n; i++)
		if (*busy(&end->in, plan, receiving->first + (uint32_t) i))
			return false;
	for (i = 0; i < receiving->n; i++) {
		ordinal = receiving->first + (uint32_t) i;
		receiving->data[i] = place(&end->in, plan, ordinal);
		/* NCCL posts what it has room for; every other time no more than needed.
		 */
		receiving->rooms[i] = plan->messages[ordinal].size;
		if (ordinal % 2 || !receiving->rooms[i])
			receiving->rooms[i] += SLOT_BYTES / 4;
		receiving->mrs[i] = end->in.mr;
		tags[i] = plan->messages[ordinal].tag;
		if (!times->tried)
			nib_spoil(plan, ordinal, receiving->data[i], receiving->rooms[i]);
	}
	called = nib_now();
	must(end,
	     nib_irecv(end->net, end->recv_comm, receiving->n, receiving->data,
		       receiving->rooms, tags, receiving->mrs, &receiving->request),
	     "irecv");
	accepted = nib_now();
	for (i = 0; i < receiving->n; i++) {
		if (!times[i].tried)
			times[i].tried = called;
		if (!receiving->request)
			continue;
		times[i].called = called;
		times[i].accepted = accepted;
		*busy(&end->in, plan, receiving->first + (uint32_t) i) = true;
	}
	if (!receiving->request)
		return false;
	end->num_receivings++;
	end->posted += receiving->n;
	end->post_at = soon(end);
	return true;
}

static bool ask_sendings(struct end *end)
{
	struct nib_plan *plan = &end->plans[end->rank];
	bool has_moved = false;
	struct sending *sending;
	int sizes[NIB_MAX_GROUP];
	int done;
	int i;

	for (i = 0; i < end->num_sendings; i++) {
		sending = &end->sendings[i];
		must(end, nib_test(end->net, sending->request, &done, sizes),
		     "test of a send");
		if (!done && end->options->is_socket)
			break;
		if (!done)
			continue;
		end->times[end->rank][sending->ordinal].done = nib_now();
		*busy(&end->out, plan, sending->ordinal) = false;
		end->num_sendings--;
		if (end->options->is_socket)
			memmove(sending, sending + 1,
				(size_t) (end->num_sendings - i) * sizeof(*sending));
		else
			*sending = end->sendings[end->num_sendings];
		i--;
		has_moved = true;
	}
	return has_moved;
}

static void look_at(struct end *end, struct receiving *receiving)
{
	struct nib_plan *plan = &end->plans[1 - end->rank];
	uint32_t ordinal;
	int told;
	int i;

	for (i = 0; i < receiving->n; i++) {
		ordinal = receiving->first + (uint32_t) i;
		told = nib_told(end->net, plan->messages[ordinal].size, receiving->n);
		if (receiving->sizes[i] == told &&
		    nib_is_right(plan, ordinal, receiving->data[i], receiving->rooms[i]))
			continue;
		if (end->bad++ < 10)
			fprintf(stderr,
				"nib: rank %d: message %u of %u bytes: wrong: %d bytes are told, "
				"and not %d%s\n",
				end->rank, ordinal, plan->messages[ordinal].size,
				receiving->sizes[i], told,
				receiving->sizes[i] == told ? ", but other ones" : "");
	}
}

/* Whether something is to be waited for. */
static bool flush(struct end *end, struct receiving *receiving)
{
	struct nib_times *times = &end->times[1 - end->rank][receiving->first];
	const uint64_t called = nib_now();
	bool has_data = false;
	int i;

	receiving->request = NULL;
	must(end,
	     nib_iflush(end->net, end->recv_comm, receiving->n, receiving->data,
			receiving->sizes, receiving->mrs, &receiving->request),
	     "iflush");
	for (i = 0; i < receiving->n; i++)
		has_data |= receiving->sizes[i] > 0;
	if (!receiving->request) {
		if (has_data)
			nib_cannot(
				"NET/IB does not flush here: "
				"/sys/kernel/mm/memory_peers/nv_mem/version is not there");
		return false;
	}
	for (i = 0; i < receiving->n; i++)
		times[i].flush = called;
	receiving->is_flush = true;
	end->flushes++;
	return true;
}

static bool ask_receivings(struct end *end)
{
	const int connection = 1 - end->rank;
	bool has_moved = false;
	struct receiving *receiving;
	struct nib_times *times;
	uint64_t now;
	int done;
	int i;
	int k;

	for (i = 0; i < end->num_receivings; i++) {
		receiving = &end->receivings[i];
		must(end,
		     nib_test(end->net, receiving->request, &done,
			      receiving->is_flush ? NULL : receiving->sizes),
		     "test of a receive");
		if (!done && end->options->is_socket)
			break;
		if (!done)
			continue;
		has_moved = true;
		times = &end->times[connection][receiving->first];
		now = nib_now();
		for (k = 0; k < receiving->n; k++)
			*(receiving->is_flush ? &times[k].flushed : &times[k].done) = now;
		if (end->options->flush && !receiving->is_flush && flush(end, receiving))
			continue;
		look_at(end, receiving);
		for (k = 0; k < receiving->n; k++)
			*busy(&end->in, &end->plans[connection],
			      receiving->first + (uint32_t) k) = false;
		end->num_receivings--;
		if (end->options->is_socket)
			memmove(receiving, receiving + 1,
				(size_t) (end->num_receivings - i) * sizeof(*receiving));
		else
			*receiving = end->receivings[end->num_receivings];
		i--;
	}
	return has_moved;
}

static void move_all(struct end *end)
{
	bool has_moved;
	bool is_done;
	int idle = 0;

	while (end->offered < end->plans[end->rank].nr || end->num_sendings ||
	       end->posted < end->plans[1 - end->rank].nr || end->num_receivings) {
		has_moved = post(end);
		has_moved |= offer(end);
		if (nib_now() >= end->ask_at) {
			is_done = ask_sendings(end);
			is_done |= ask_receivings(end);
			if (is_done)
				end->ask_at = soon(end);
			has_moved |= is_done;
		}
		idle = has_moved ? 0 : idle + 1;
		if (has_moved) {
			begin_waiting(end);
		} else {
			in_time(end, "not done");
			sched_yield();
		}
		if (idle > IDLE_ROUNDS)
			usleep(IDLE_US);
	}
}

/* Both are done before one closes: what is under way belongs to both. */
static void close_both(struct end *end)
{
	char unused = 0;

	nib_tell(end->folder, "done", end->rank, &unused, 1);
	begin_waiting(end);
	while (!nib_heard(end->folder, "done", 1 - end->rank, &unused, 1)) {
		in_time(end, "the other is not done");
		usleep(1000);
	}
	must(end, nib_dereg(end->net, end->send_comm, end->out.mr), "deregMr");
	must(end, nib_dereg(end->net, end->recv_comm, end->in.mr), "deregMr");
	must(end, nib_close_send(end->net, end->send_comm), "closeSend");
	must(end, nib_close_recv(end->net, end->recv_comm), "closeRecv");
	must(end, nib_close_listen(end->net, end->listen_comm), "closeListen");
}

static void choose_devices(struct end *end, struct nib_options *options)
{
	int merged;
	int count;
	int i;

	must(end, nib_init(end->net), "init");
	must(end, nib_devices(end->net, &count), "devices");
	if (!count)
		nib_cannot("NET/IB finds no adapter that it can use");
	if (options->num_merged) {
		if (nib_merge(end->net, options->num_merged, &merged))
			nib_cannot("%s: makes no adapter of %d", nib_describe(end->net),
				   options->num_merged);
		options->devices[0] = options->devices[1] = merged;
	} else {
		for (i = 0; i < 2; i++)
			if (options->devices[i] >= count)
				nib_cannot("there is no adapter %d", options->devices[i]);
	}
}

static int run(void *data)
{
	struct end *end = data;
	uint64_t began;

	choose_devices(end, end->chosen);
	connect_both(end);
	pool_make(end, &end->out, end->send_comm);
	pool_make(end, &end->in, end->recv_comm);
	began = nib_now();
	begin_waiting(end);
	move_all(end);
	printf("rank %d: %s, %s and %s: %d messages each way, %d flushes, %d bad, %.2f s\n",
	       end->rank, nib_describe(end->net),
	       nib_device_name(end->net, end->options->devices[0]),
	       nib_device_name(end->net, end->options->devices[1]), end->options->messages,
	       end->flushes, end->bad, (double) (nib_now() - began) / 1e9);
	fflush(stdout);
	close_both(end);
	return 0;
}

int nib_run(const struct nib_options *given, int rank)
{
	struct nib_options options = *given;
	struct end end = {.options = &options,
			  .chosen = &options,
			  .folder = given->rendezvous,
			  .rank = rank};
	int c;

	end.random = options.seed * 31ULL + (unsigned int) rank;
	begin_waiting(&end);
	end.net = nib_open(options.library, options.is_socket);
	for (c = 0; c < 2; c++) {
		nib_plan(&end.plans[c], &options, c);
		end.times[c] = calloc((size_t) options.messages, sizeof(*end.times[c]));
		if (!end.times[c])
			nib_die("no memory");
	}
	if (options.is_socket)
		must(&end, nib_in_thread(end.net, run, &end), "a thread of NCCL's");
	else
		run(&end);
	if (options.log)
		nib_log_write(&options, rank, end.net, end.plans, end.times);
	return end.bad ? 1 : 0;
}
