/* SPDX-License-Identifier: MIT */
/*
 * Makes connections of NET/Socket, or NET/IB, as NCCL does: a thread of NCCL's, the service, does what a
 * thread of the program asks for over a socket of loopback, and another thread of NCCL's moves
 * the messages.  The sockets are those of a stock libnccl.so.2, by its symbol table; what is
 * asked has the form that NCCL's releases give it (ncclProxyCallAsync(), proxyServiceInitOp()
 * and proxyProgressAsync() of its source).
 *
 * Two processes, each rank R of 2, have CHANNELS connections each way.  They are connected in
 * another order than they are set up.  Message K of channel C has SIZE(C, K) bytes: whoever
 * sees a message's size knows the channel.  The tracer must say the same.
 *
 * usage: service RANK FOLDER LIBNCCL [ib]
 */
#include "nib.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHANNELS 6
#define MESSAGES 5
#define SIZE(channel, k) (1000 * (channel) + 10 * (k))
#define ROOM SIZE(CHANNELS, MESSAGES)
#define MAGIC 0x1234567890abcdefULL /* of the communicator */
#define PROXY 2			    /* enum ncclSocketType */

enum { INIT = 1, SHARED_INIT, SETUP, CONNECT, CLOSE = 6, REGISTER = 11 };
enum { P2P = 0, NET = 2 };

/* What the service knows of a connection, which the client names by its address. */
struct connection {
	int transport, is_send;
	void *comm, *listening, *mr;
	unsigned char handle[NIB_HANDLE_BYTES];
};

/* A request that is not answered. */
struct operation {
	int type;
	struct connection *connection;
	int request_bytes, response_bytes;
	void *number;
	unsigned char request[512];
};

struct process {
	struct nib_net *net;
	const char *folder;
	int rank;
	void *listening, *served, *client; /* sockets of NCCL's */
	struct operation *operations[64];
	int num_operations;
	/* By direction and channel, as the service told. */
	struct connection *connections[2][CHANNELS];
};

static int (*socket_init)(void *, const void *, uint64_t, int, volatile uint32_t *, int, int);
static int (*socket_listen)(void *);
static int (*socket_address)(void *, void *);
static int (*socket_connect)(void *);
static int (*socket_accept)(void *, void *, bool);
static int (*socket_send)(void *, void *, int);
static int (*socket_recv)(void *, void *, int);
static int (*socket_close)(void *, bool);

static void must(int result, const char *what)
{
	if (result)
		nib_die("%s: NCCL's result %d", what, result);
}

static void find_functions(struct nib_net *net)
{
	*(void **) &socket_init = nib_function(net, "_Z14ncclSocketInit");
	*(void **) &socket_listen = nib_function(net, "_Z16ncclSocketListen");
	*(void **) &socket_address = nib_function(net, "_Z17ncclSocketGetAddr");
	*(void **) &socket_connect = nib_function(net, "_Z17ncclSocketConnect");
	*(void **) &socket_accept = nib_function(net, "_Z16ncclSocketAccept");
	*(void **) &socket_send = nib_function(net, "_Z14ncclSocketSendP");
	*(void **) &socket_recv = nib_function(net, "_Z14ncclSocketRecvP");
	*(void **) &socket_close = nib_function(net, "_Z15ncclSocketClose");
}

static void *make_socket(struct process *process, const void *address)
{
	void *socket = calloc(1, nib_socket_bytes(process->net));

	if (!socket)
		nib_die("no memory");
	must(socket_init(socket, address, MAGIC, PROXY, NULL, 0, 0), "ncclSocketInit");
	return socket;
}

/* ---- The service ---- */

static void answer(struct process *process, struct operation *operation, void *response)
{
	struct {
		void *number;
		int result, bytes;
	} head = {operation->number, 0, operation->response_bytes};

	if (nib_version(process->net) < 22000) {
		must(socket_send(process->served, &head.number, 8), "answer");
		must(socket_send(process->served, &head.bytes, 4), "answer");
	} else {
		must(socket_send(process->served, &head, sizeof(head)), "answer");
	}
	if (head.bytes)
		must(socket_send(process->served, response, head.bytes), "answer");
}

/* Returns whether it is done; NCCL asks again and again. */
static bool progress(struct process *process, struct operation *operation)
{
	struct connection *connection = operation->connection;
	unsigned char response[512] = {0};

	if (operation->type == INIT) {
		connection = calloc(1, sizeof(*connection));
		if (!connection)
			nib_die("no memory");
		memcpy(&connection->transport, operation->request, 4);
		memcpy(&connection->is_send, operation->request + 4, 4);
		memcpy(response, &connection, sizeof(connection));
	} else if (connection->transport != NET) {
		; /* nothing is made for it here */
	} else if (operation->type == SETUP && !connection->is_send) {
		must(nib_listen(process->net, 0, response, &connection->listening),
		     "listen");
	} else if (operation->type == CONNECT && connection->is_send) {
		must(nib_connect(process->net, 0, operation->request, &connection->comm),
		     "connect");
	} else if (operation->type == CONNECT) {
		must(nib_accept(process->net, connection->listening, &connection->comm),
		     "accept");
	}
	if (operation->type == CONNECT && connection->transport == NET && !connection->comm)
		return false;
	answer(process, operation, response);
	return true;
}

static void read_request(struct process *process, int type)
{
	struct operation *operation = calloc(1, sizeof(*operation));

	if (!operation)
		nib_die("no memory");
	operation->type = type;
	must(socket_recv(process->served, &operation->connection, 8), "request");
	must(socket_recv(process->served, &operation->request_bytes, 4), "request");
	must(socket_recv(process->served, &operation->response_bytes, 4), "request");
	if (operation->request_bytes)
		must(socket_recv(process->served, operation->request,
				 operation->request_bytes),
		     "request");
	must(socket_recv(process->served, &operation->number, 8), "request");
	process->operations[process->num_operations++] = operation;
}

static int serve(void *data)
{
	struct process *process = data;
	int type = 0, waiting = 0, i;

	process->served = make_socket(process, NULL);
	must(socket_accept(process->served, process->listening, true), "ncclSocketAccept");
	/* The client says how many requests it makes before it waits for their answers. */
	while (type != CLOSE) {
		must(socket_recv(process->served, &type, 4), "request");
		if (type == CLOSE)
			break;
		read_request(process, type);
		waiting++;
		if (type == CONNECT && waiting < 2 * CHANNELS)
			continue;
		for (i = 0; process->num_operations; i++) {
			i %= process->num_operations;
			if (!progress(process, process->operations[i])) {
				sched_yield();
				continue;
			}
			free(process->operations[i]);
			process->operations[i--] =
				process->operations[--process->num_operations];
		}
		waiting = 0;
	}
	must(socket_close(process->served, false), "ncclSocketClose");
	return 0;
}

/* ---- The client ---- */

static void ask(struct process *process, int type, struct connection *connection,
		const void *request, int request_bytes, int response_bytes, void *number)
{
	unsigned char padded[512] = {0};

	if (request)
		memcpy(padded, request, request_bytes < NIB_HANDLE_BYTES
						? (size_t) request_bytes
						: NIB_HANDLE_BYTES);
	must(socket_send(process->client, &type, 4), "ask");
	must(socket_send(process->client, &connection, 8), "ask");
	must(socket_send(process->client, &request_bytes, 4), "ask");
	must(socket_send(process->client, &response_bytes, 4), "ask");
	if (request_bytes)
		must(socket_send(process->client, padded, request_bytes), "ask");
	must(socket_send(process->client, &number, 8), "ask");
}

static void wait_for(struct process *process, void *response)
{
	struct {
		void *number;
		int result, bytes;
	} head;

	if (nib_version(process->net) < 22000) {
		must(socket_recv(process->client, &head.number, 8), "answer");
		must(socket_recv(process->client, &head.bytes, 4), "answer");
	} else {
		must(socket_recv(process->client, &head, sizeof(head)), "answer");
	}
	if (head.bytes)
		must(socket_recv(process->client, response, head.bytes), "answer");
}

static void call(struct process *process, int type, struct connection *connection,
		 const void *request, int request_bytes, void *response, int response_bytes)
{
	static char numbers[1024];
	static int nr;

	ask(process, type, connection, request, request_bytes, response_bytes,
	    &numbers[nr++]);
	wait_for(process, response);
}

static struct connection *init(struct process *process, int transport, int is_send)
{
	const int request[5] = {transport, is_send, 0, process->rank, 1};
	struct {
		struct connection *connection;
		char path[8];
	} response;

	call(process, INIT, NULL, request, sizeof(request), &response, sizeof(response));
	return response.connection;
}

static void set_up(struct process *process, int is_send, int channel, void *handle)
{
	const int request[10] = {process->rank, 0, 1 - process->rank, 0, 0, 0, 0, channel,
				 channel % 2, 0};
	const int bytes = nib_version(process->net) < 23000 ? 36 : 40;
	struct connection *connection = init(process, NET, is_send);

	process->connections[is_send][channel] = connection;
	call(process, SETUP, connection, request, bytes, handle,
	     is_send ? 0 : NIB_HANDLE_BYTES);
}

/* What a connection of another transport has the service do. */
static void make_noise(struct process *process)
{
	struct connection *connection = init(process, P2P, 1);
	unsigned char response[512];
	const int numbers[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

	call(process, SETUP, connection, numbers, 16, response, 80);
	call(process, SHARED_INIT, connection, numbers, 4, NULL, 0);
	call(process, REGISTER, connection, numbers, 40, response, 8);
}

static void connect_all(struct process *process)
{
	unsigned char mine[CHANNELS][NIB_HANDLE_BYTES];
	unsigned char theirs[CHANNELS][NIB_HANDLE_BYTES];
	const int more = nib_version(process->net) < 22800 ? 0 : 60;
	char numbers[2 * CHANNELS];
	int c, i;

	for (c = 0; c < CHANNELS; c++) {
		set_up(process, 0, c, mine[c]);
		make_noise(process);
		set_up(process, 1, c, NULL);
	}
	nib_tell(process->folder, "handles", process->rank, mine, sizeof(mine));
	while (!nib_heard(process->folder, "handles", 1 - process->rank, theirs,
			  sizeof(theirs)))
		sched_yield();
	/* All at once, in an order of their own: the answers come as they are ready. */
	for (i = 0; i < CHANNELS; i++) {
		c = (5 * i + 2 + process->rank) % CHANNELS;
		ask(process, CONNECT, process->connections[1][c], theirs[c],
		    NIB_HANDLE_BYTES + more, 200, &numbers[2 * i]);
		c = CHANNELS - 1 - c;
		ask(process, CONNECT, process->connections[0][c], &process->rank,
		    4 + more, 200, &numbers[2 * i + 1]);
	}
	for (i = 0; i < 2 * CHANNELS; i++) {
		unsigned char response[512];

		wait_for(process, response);
	}
}

/* ---- The progress ---- */

/* size -1: of a send, which not every release tells. */
static void finish(struct process *process, void *request, int size)
{
	int done = 0, told = 0;

	while (!done) {
		must(nib_test(process->net, request, &done, &told), "test");
		if (!done)
			sched_yield();
	}
	if (size >= 0 && told != nib_told(process->net, (uint32_t) size, 1))
		nib_die("%d bytes, and not %d", told, size);
}

static int move(void *data)
{
	static unsigned char room[2][ROOM];
	struct process *process = data;
	int k, c, is_send, tag = 0;
	void *requests[2], *address = room[0];
	struct connection *both[2];
	size_t size = ROOM;

	for (c = 0; c < 2 * CHANNELS; c++) {
		both[0] = process->connections[c % 2][c / 2];
		must(nib_reg(process->net, both[0]->comm, room[c % 2], ROOM, &both[0]->mr),
		     "regMr");
	}
	for (k = 0; k < MESSAGES; k++) {
		for (c = 0; c < CHANNELS; c++) {
			both[0] = process->connections[0][c];
			both[1] = process->connections[1][c];
			requests[0] = requests[1] = NULL;
			while (!requests[0])
				must(nib_irecv(process->net, both[0]->comm, 1, &address,
					       &size, &tag, &both[0]->mr, &requests[0]),
				     "irecv");
			while (!requests[1])
				must(nib_isend(process->net, both[1]->comm, room[1],
					       (size_t) SIZE(c, k), tag, both[1]->mr,
					       &requests[1]),
				     "isend");
			for (is_send = 1; is_send >= 0; is_send--)
				finish(process, requests[is_send], is_send ? -1 : SIZE(c, k));
		}
	}
	return 0;
}

static int (*next_function)(void *data);

static void *in_thread_of_nccls(void *data)
{
	struct process *process = data;

	must(nib_in_thread(process->net, next_function, process), "a thread of NCCL's");
	return NULL;
}

int main(int argc, char **argv)
{
	struct process process = {.rank = argc > 1 ? atoi(argv[1]) : 0,
				  .folder = argc > 2 ? argv[2] : NULL};
	struct sockaddr_in local = {.sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	unsigned char address[28] = {0};
	pthread_t service;
	int type = CLOSE;
	int count;

	if (argc != 4 && argc != 5)
		nib_die("usage: service RANK FOLDER LIBNCCL [ib]");
	process.net = nib_open(argv[3], argc == 4);
	find_functions(process.net);
	must(nib_init(process.net), "init");
	must(nib_devices(process.net, &count), "devices");
	if (!count)
		nib_cannot("no adapter that NCCL can use");
	memcpy(address, &local, sizeof(local));
	process.listening = make_socket(&process, address);
	must(socket_listen(process.listening), "ncclSocketListen");
	must(socket_address(process.listening, address), "ncclSocketGetAddr");
	next_function = serve;
	if (pthread_create(&service, NULL, in_thread_of_nccls, &process))
		nib_die("no thread");
	process.client = make_socket(&process, address);
	must(socket_connect(process.client), "ncclSocketConnect");
	connect_all(&process);
	must(nib_in_thread(process.net, move, &process), "a thread of NCCL's");
	nib_tell(process.folder, "done", process.rank, &type, 1);
	while (!nib_heard(process.folder, "done", 1 - process.rank, &type, 1))
		sched_yield();
	type = CLOSE;
	must(socket_send(process.client, &type, 4), "ask");
	pthread_join(service, NULL);
	printf("rank %d: %s: %d channels\n", process.rank, nib_describe(process.net),
	       CHANNELS);
	return 0;
}
