/* SPDX-License-Identifier: MIT */
/*
 * Calls NCCL until FOLDER/close is there; then closes all descriptors that it knows
 * nothing of, opens others in their place, calls on, in a child at first, until
 * FOLDER/end is there, and looks whether somebody has touched what is its own.  One
 * thread's close waits for ever while others close.
 *
 * usage: closes FOLDER; makes FOLDER/at when it calls, FOLDER/closed when it has closed
 * them, and says "damaged: N" at the end
 */
#include <nccl.h>

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 64
#define CALLS 100

static const char *folder;
static int pairs[PAIRS][2];

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int make_file(const char *name)
{
	FILE *file = fopen(path_of(name), "w");

	return !file || fprintf(file, "%d\n", getpid()) < 0 || fclose(file);
}

static void call(void)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	int version;

	if (ncclGetVersion(&version))
		_exit(1);
	nanosleep(&pause, NULL);
}

static int is_damaged(const int pair[2])
{
	char c = 0;

	return write(pair[0], "x", 1) != 1 || recv(pair[1], &c, 1, MSG_DONTWAIT) != 1 ||
	       c != 'x' || recv(pair[1], &c, 1, MSG_DONTWAIT) != -1;
}

static void *close_it(void *socket)
{
	close(*(int *) socket);
	return NULL;
}

/* A socket with bytes that nobody takes, whose close waits an hour for that. */
static int has_lingering(int *ret_socket, int *ret_peer)
{
	const struct linger hour = {.l_onoff = 1, .l_linger = 3600};
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int server = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(at);
	char bytes[4096] = {0};

	*ret_socket = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(server, (struct sockaddr *) &at, length) || listen(server, 1) ||
	    getsockname(server, (struct sockaddr *) &at, &length) ||
	    connect(*ret_socket, (struct sockaddr *) &at, length))
		return 0;
	*ret_peer = accept(server, NULL, NULL);
	while (send(*ret_socket, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return !setsockopt(*ret_socket, SOL_SOCKET, SO_LINGER, &hour, sizeof(hour)) &&
	       !close(server);
}

/* While one thread is in a close, this one closes, and so ends it. */
static int close_at_once(void)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	int socket, peer;
	pthread_t thread;

	if (!has_lingering(&socket, &peer) ||
	    pthread_create(&thread, NULL, close_it, &socket))
		return 1;
	nanosleep(&pause, NULL);
	return close(peer) || pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	int i, fd, status, damaged = 0;
	pid_t pid;

	if (argc != 2)
		return 2;
	folder = argv[1];
	call();
	if (make_file("at"))
		return 1;
	while (access(path_of("close"), F_OK))
		call();
	for (fd = 3; fd < 1024; fd++)
		close(fd);
	if (close_at_once())
		return 1;
	for (i = 0; i < PAIRS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]))
			return 1;
	pid = fork();
	for (i = 0; !pid && i < CALLS; i++)
		call();
	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status || make_file("closed"))
		return 1;
	while (access(path_of("end"), F_OK))
		call();
	for (i = 0; i < PAIRS; i++)
		damaged += is_damaged(pairs[i]);
	printf("damaged: %d\n", damaged);
	return 0;
}
