/* SPDX-License-Identifier: MIT */
/*
 * Calls on a socket, in a loop: sockets send|recv BURSTS TURNS PAUSE-US, on a thread of the
 * program; sockets data BURSTS TURNS PAUSE-US, on a thread of NCCL's, where each turn is the
 * header of an empty message of NET/Socket's.  Built with SIX, each call is followed by an event
 * of six integers, of a program that had LTTng's macros in its own source.
 */
#ifdef SIX
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "post_tp.h"
#define EVENT(begin) lttng_ust_tracepoint(ccltap_bench_post, six, begin, 2, 3, 4, 5, 6)
#else
#define EVENT(begin) ((void) (begin))
#endif

#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "../doubles/nccl.h"
#include "../doubles/sockets.h"
#include "bursts.h"

static const int empty;
static char room[4];
static long bursts, turns, pause_us;
static int status;

/* Who wants to know when the call began reads the clock once more. */
#ifdef SIX
static uint64_t now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000000000 + (uint64_t) now.tv_nsec;
}
#else
#define now() 0
#endif

static void send_all(long nr)
{
	uint64_t begin;
	long i;

	for (i = 0; i < nr; i++) {
		begin = now();
		if (send(bench_socket, &empty, sizeof(empty), 0) != sizeof(empty))
			abort();
		EVENT(begin);
	}
}

static void recv_all(long nr)
{
	long i;

	for (i = 0; i < nr; i++)
		if (recv(bench_socket, room, sizeof(room), 0) != sizeof(room))
			abort();
}

/* A socket that is connected, and what NCCL says first on one for data. */
static void make_socket(void)
{
	static const uint64_t magic = UINT64_C(0x564ab9f2fc4b9d6c);
	static const int32_t use = 3;
	static const uint8_t index;
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int listening = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(address);
	const int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (listening < 0 || fd < 0 ||
	    bind(listening, (struct sockaddr *) &address, sizeof(address)) ||
	    listen(listening, 1) ||
	    getsockname(listening, (struct sockaddr *) &address, &length) ||
	    connect(fd, (struct sockaddr *) &address, sizeof(address)))
		abort();
	bench_socket = fd;
	send(fd, &magic, sizeof(magic), 0);
	send(fd, &use, sizeof(use), 0);
	send(fd, &index, sizeof(index), 0);
}

static void be_nccl(void)
{
	make_socket();
	status = bursts_print(send_all, bursts, turns, pause_us);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	bursts = strtol(argv[2], NULL, 10);
	turns = strtol(argv[3], NULL, 10);
	pause_us = strtol(argv[4], NULL, 10);
	ncclAllReduce(BENCH_ARGUMENTS(0));
	if (!strcmp(argv[1], "data")) {
		bench_thread(be_nccl);
		return status;
	}
	bench_socket = 1000;
	return bursts_print(strcmp(argv[1], "send") ? recv_all : send_all, bursts, turns,
			    pause_us);
}
