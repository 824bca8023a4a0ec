/* SPDX-License-Identifier: MIT */
/*
 * Calls before and after a fork, from several threads that all come first, and in
 * a program that was put in its own place with exec.  argv[1] is a NCCL library.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_THREADS 8
#define CALLS_PER_THREAD 10

static int (*get_version)(int *);
static pthread_barrier_t all_there;

static void call(int times)
{
	int version;

	while (times--)
		get_version(&version);
}

static void *run_thread(void *unused)
{
	pthread_barrier_wait(&all_there);
	call(CALLS_PER_THREAD);
	return unused;
}

static void join_threads(void)
{
	pthread_t threads[NR_THREADS];
	int i;

	pthread_barrier_init(&all_there, NULL, NR_THREADS);
	for (i = 0; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, run_thread, NULL);
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int status = 0, child_status = 0;
	pid_t child;

	get_version = library ? (int (*)(int *)) dlsym(library, "ncclGetVersion") : NULL;
	if (!get_version)
		return 2;
	if (argc > 2 && !strcmp(argv[2], "last")) {
		call(3);
		return 0;
	}
	join_threads();
	child = fork();
	if (!child) {
		call(5);
		child = fork();
		if (!child) {
			call(7);
			exit(0);
		}
		waitpid(child, &status, 0);
		execl(argv[0], argv[0], argv[1], "last", (char *) NULL);
		_exit(3);
	}
	waitpid(child, &child_status, 0);
	call(2);
	printf("%d %d\n", (int) getpid(), (int) child);
	return status || child_status;
}
