/* SPDX-License-Identifier: MIT */
/*
 * Calls NCCL until FOLDER/close is there; then closes all descriptors that it knows
 * nothing of, opens others in their place, calls on, in a child, too, and looks whether
 * somebody has touched what is its own.
 *
 * usage: closes FOLDER; writes FOLDER/at when it calls, and "damaged: N" at the end
 */
#include <nccl.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS 64
#define CALLS 100

static char path[512];
static int pairs[PAIRS][2];

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

int main(int argc, char **argv)
{
	int i, fd, status, damaged = 0;
	FILE *file;
	pid_t pid;

	if (argc != 2)
		return 2;
	call();
	snprintf(path, sizeof(path), "%s/at", argv[1]);
	file = fopen(path, "w");
	if (!file || fprintf(file, "%d\n", getpid()) < 0 || fclose(file))
		return 1;
	snprintf(path, sizeof(path), "%s/close", argv[1]);
	while (access(path, F_OK))
		call();
	for (fd = 3; fd < 1024; fd++)
		close(fd);
	for (i = 0; i < PAIRS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]))
			return 1;
	pid = fork();
	for (i = 0; i < CALLS; i++)
		call();
	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		return 1;
	for (i = 0; i < PAIRS; i++)
		damaged += is_damaged(pairs[i]);
	printf("damaged: %d\n", damaged);
	return 0;
}
