/* SPDX-License-Identifier: MIT */
/* The RAS thread, and how it is told of ranks. */
#include "ras.h"

#include "comm.h"
#include "release.h"
#include "settings.h"
#include "truth.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* NCCL_SOCKET_MAGIC, and where programs may ask, NCCL_RAS_CLIENT_PORT. */
#define MAGIC 0x564ab9f2fc4b9d6cULL
#define CLIENT_PORT 28028
#define KEEP_ALIVE_MS 1000

enum message_type { CONNECT = 1, ACCEPTED = 2, KEEP_ALIVE = 3 };

/* A union ncclSocketAddress: that of IPv6 is longer. */
struct address {
	struct sockaddr_in ipv4;
	char rest[12];
};

/* A rasMsg of each kind; its length goes before it. */
struct connect_message {
	int32_t type;
	int32_t pad;
	int32_t release;
	struct address address;
	uint64_t peers;
	uint64_t dead_peers;
};

struct accepted_message {
	int32_t type;
	int32_t pad;
	int32_t is_refused;
};

struct keep_alive_message {
	int32_t type;
	int32_t pad;
	uint64_t peers;
	uint64_t dead_peers;
	/* Which link of the other's it is: 1 its next, 2 its previous. */
	int32_t links;
	int32_t pad2;
	struct timespec now;
	int32_t is_refused;
	int32_t pad3;
};

_Static_assert(sizeof(struct address) == 28, "as NCCL's");
_Static_assert(sizeof(struct connect_message) == 56, "as NCCL's");
_Static_assert(sizeof(struct accepted_message) == 12, "as NCCL's");
_Static_assert(sizeof(struct keep_alive_message) == 56, "as NCCL's");

/* More than any that is known, so that a stranger's does no harm. */
enum { MOST_BYTES = 4096, MOST_LINKS = 64 };

/* A process that this one is connected with; the address is not known at first. */
struct link {
	int fd;
	struct sockaddr_in address;
	bool is_ready;
};

static struct {
	struct mini_thread thread;
	int listen_fd;
	struct sockaddr_in address;
	int client_fd;
	/* By which it is told: what is read from the first. */
	int pipe[2];
	/* The thread's: all processes, in order. */
	struct sockaddr_in *peers;
	size_t peer_count;
	struct link links[MOST_LINKS];
	int link_count;
	atomic_bool is_over;
} ras = {.listen_fd = -1, .client_fd = -1, .pipe = {-1, -1}};

/* What goes through the pipe: addresses, which are the thread's then, or the end. */
struct notice {
	struct sockaddr_in *addresses;
	size_t count;
};

static int compare(const void *a, const void *b)
{
	const struct sockaddr_in *first = a;
	const struct sockaddr_in *second = b;
	int order = memcmp(&first->sin_addr, &second->sin_addr, sizeof(first->sin_addr));

	return order ? order
		     : memcmp(&first->sin_port, &second->sin_port,
			      sizeof(first->sin_port));
}

/* FNV-1a; NCCL has another one, which nobody outside can tell. */
static uint64_t peers_hash(void)
{
	return mini_bootstrap_hash(ras.peers, ras.peer_count * sizeof(*ras.peers));
}

/* The length for itself, then the rest. */
static void send_message(struct link *link, const void *message, int32_t length)
{
	if (mini_socket_send(link->fd, &length, sizeof(length), &ras.is_over) ||
	    mini_socket_send(link->fd, message, (size_t) length, &ras.is_over))
		link->is_ready = false;
}

static struct link *add_link(int fd)
{
	struct link *link = &ras.links[ras.link_count];

	if (ras.link_count == MOST_LINKS) {
		close(fd);
		return NULL;
	}
	ras.link_count++;
	*link = (struct link){.fd = fd};
	mini_truth_socket(NULL, "ras", fd);
	return link;
}

static bool is_linked(const struct sockaddr_in *peer)
{
	int i;

	for (i = 0; i < ras.link_count; i++) {
		if (compare(&ras.links[i].address, peer) == 0)
			return true;
	}
	return false;
}

/* Whoever has the lower address connects. */
static void connect_to(const struct sockaddr_in *peer)
{
	struct connect_message message = {
		.type = CONNECT,
		.release = mini_release(),
		.address.ipv4 = ras.address,
		.peers = peers_hash(),
	};
	struct link *link;
	int fd;

	if (compare(&ras.address, peer) >= 0 || is_linked(peer))
		return;
	fd = mini_socket_connect(peer, MAGIC, MINI_SOCKET_RAS, &ras.is_over);
	link = fd < 0 ? NULL : add_link(fd);
	if (!link)
		return;
	link->address = *peer;
	send_message(link, &message, sizeof(message));
}

/* Which of the processes is how many places after this one. */
static const struct sockaddr_in *neighbour(size_t distance)
{
	const struct sockaddr_in *own = bsearch(&ras.address, ras.peers, ras.peer_count,
						sizeof(*ras.peers), compare);

	if (!own)
		return NULL;
	return &ras.peers[((size_t) (own - ras.peers) + distance) % ras.peer_count];
}

static void merge(const struct notice *notice)
{
	struct sockaddr_in *all =
		realloc(ras.peers, (ras.peer_count + notice->count) * sizeof(*ras.peers));
	size_t count = 0;
	size_t i;

	if (!all)
		return;
	memcpy(all + ras.peer_count, notice->addresses, notice->count * sizeof(*all));
	ras.peers = all;
	ras.peer_count += notice->count;
	qsort(all, ras.peer_count, sizeof(*all), compare);
	for (i = 0; i < ras.peer_count; i++) {
		if (count == 0 || compare(&all[count - 1], &all[i]) != 0)
			all[count++] = all[i];
	}
	ras.peer_count = count;
}

static void hear_notice(void)
{
	const struct sockaddr_in *peer;
	struct notice notice;
	size_t distances[2];
	int i;

	if (read(ras.pipe[0], &notice, sizeof(notice)) != (ssize_t) sizeof(notice) ||
	    !notice.addresses)
		return;
	merge(&notice);
	free(notice.addresses);
	distances[0] = 1;
	distances[1] = ras.peer_count - 1;
	for (i = 0; i < 2; i++) {
		peer = neighbour(distances[i]);
		if (peer)
			connect_to(peer);
	}
}

static void keep_alive(void)
{
	struct keep_alive_message message = {.type = KEEP_ALIVE, .peers = peers_hash()};
	const struct sockaddr_in *next = neighbour(1);
	const struct sockaddr_in *previous = neighbour(ras.peer_count - 1);
	int i;

	clock_gettime(CLOCK_REALTIME, &message.now);
	for (i = 0; i < ras.link_count; i++) {
		struct link *link = &ras.links[i];

		if (!link->is_ready)
			continue;
		/* To the next one this is its previous one. */
		message.links = (next && compare(&link->address, next) == 0) << 1 |
				(previous && compare(&link->address, previous) == 0);
		send_message(link, &message, sizeof(message));
	}
}

static void handle(struct link *link, const char *message, size_t length)
{
	struct accepted_message accepted = {.type = ACCEPTED};
	struct connect_message connect;
	int32_t type;

	memcpy(&type, message, sizeof(type));
	if (type == ACCEPTED)
		link->is_ready = true;
	if (type != CONNECT || length != sizeof(connect))
		return;
	memcpy(&connect, message, sizeof(connect));
	link->address = connect.address.ipv4;
	link->is_ready = true;
	send_message(link, &accepted, sizeof(accepted));
}

/* -errno: the other process is gone. */
static int hear_message(struct link *link)
{
	char message[MOST_BYTES];
	int32_t length;
	int err;

	err = mini_socket_recv(link->fd, &length, sizeof(length), &ras.is_over);
	if (!err && (length < (int32_t) sizeof(int32_t) || length > MOST_BYTES))
		err = -EPROTO;
	if (!err)
		err = mini_socket_recv(link->fd, message, (size_t) length, &ras.is_over);
	if (!err)
		handle(link, message, (size_t) length);
	return err;
}

static void drop(int i)
{
	close(ras.links[i].fd);
	ras.links[i] = ras.links[--ras.link_count];
}

static void hear_links(const struct pollfd *fds)
{
	int i;

	/* From the last, which takes the place of one that goes. */
	for (i = ras.link_count - 1; i >= 0; i--) {
		if (fds[i].revents && hear_message(&ras.links[i]))
			drop(i);
	}
}

/* Of a program that asks: it is told nothing. */
static void turn_away(void)
{
	int fd = accept4(ras.client_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		close(fd);
}

static void hear_all(void)
{
	struct pollfd fds[MOST_LINKS + 3];
	int n = ras.link_count;
	int fd;
	int i;

	for (i = 0; i < n; i++)
		fds[i] = (struct pollfd){.fd = ras.links[i].fd, .events = POLLIN};
	fds[n] = (struct pollfd){.fd = ras.pipe[0], .events = POLLIN};
	fds[n + 1] = (struct pollfd){.fd = ras.listen_fd, .events = POLLIN};
	fds[n + 2] = (struct pollfd){.fd = ras.client_fd, .events = POLLIN};
	if (poll(fds, (nfds_t) n + 3, KEEP_ALIVE_MS) <= 0)
		return;
	hear_links(fds);
	if (fds[n].revents)
		hear_notice();
	if (fds[n + 1].revents) {
		fd = mini_socket_accept(ras.listen_fd, MAGIC, MINI_SOCKET_RAS,
					&ras.is_over);
		if (fd >= 0)
			add_link(fd);
	}
	if (fds[n + 2].revents)
		turn_away();
}

static void *ras_main(void *argument)
{
	uint64_t due = 0;

	(void) argument;
	mini_truth_thread(MINI_THREAD_RAS, NULL);
	while (!atomic_load(&ras.is_over)) {
		hear_all();
		if (mini_truth_now() < due)
			continue;
		due = mini_truth_now() + KEEP_ALIVE_MS * 1000000ULL;
		keep_alive();
	}
	while (ras.link_count > 0)
		drop(0);
	return NULL;
}

static void tell(const struct notice *notice)
{
	/* Less than what a pipe takes at once. */
	if (write(ras.pipe[1], notice, sizeof(*notice)) != (ssize_t) sizeof(*notice))
		free(notice->addresses);
}

static void stop(void)
{
	const struct notice none = {.addresses = NULL};

	atomic_store(&ras.is_over, true);
	tell(&none);
	mini_thread_join(&ras.thread);
	close(ras.listen_fd);
	if (ras.client_fd >= 0)
		close(ras.client_fd);
	close(ras.pipe[0]);
	close(ras.pipe[1]);
	free(ras.peers);
}

/* Several processes of a host have it: whoever asks gets to one of them. */
static void open_client_socket(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(CLIENT_PORT)};
	int one = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *) &address, sizeof(address)) ||
	    listen(fd, SOMAXCONN)) {
		close(fd);
		return;
	}
	ras.client_fd = fd;
}

static void start(void)
{
	if (mini_release() < 22400 || !mini_number(SET_NCCL_RAS_ENABLE))
		return;
	ras.listen_fd = mini_socket_listen(&ras.address);
	if (ras.listen_fd < 0)
		return;
	open_client_socket();
	if (pipe2(ras.pipe, O_CLOEXEC) ||
	    mini_thread_start(&ras.thread, MINI_ARGUMENT_NONE, ras_main, NULL))
		return;
	mini_thread_name(&ras.thread, "NCCL RAS");
	atexit(stop);
}

void mini_ras_start(struct sockaddr_in *ret_address)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, start);
	*ret_address = (struct sockaddr_in){.sin_family = 0};
	if (ras.thread.is_there)
		*ret_address = ras.address;
}

void mini_ras_add_ranks(const struct ncclComm *comm)
{
	struct notice notice = {.count = 0};
	int i;

	if (!ras.thread.is_there)
		return;
	notice.addresses = calloc((size_t) comm->nranks, sizeof(*notice.addresses));
	if (!notice.addresses)
		return;
	for (i = 0; i < comm->nranks; i++) {
		if (comm->peers[i].ras.sin_family)
			notice.addresses[notice.count++] = comm->peers[i].ras;
	}
	tell(&notice);
}
