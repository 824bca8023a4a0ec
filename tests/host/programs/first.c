/* SPDX-License-Identifier: MIT */
/*
 * The first traced call at an awkward moment, one per argument.  What is printed,
 * and that the program ends, must be the same with libccltap and without.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int ncclGetVersion(int *version);

static const char *folder;

static int call(void)
{
	int version = -1;

	return ncclGetVersion(&version) ? -1 : version;
}

static void *open_library(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return dlopen(path, RTLD_NOW);
}

static void *call_in_thread(void *unused)
{
	printf("version %d\n", call());
	return unused;
}

/* The smallest stack that a thread may have. */
static void stack(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t) PTHREAD_STACK_MIN);
	error = pthread_create(&thread, &attr, call_in_thread, NULL);
	if (!error)
		pthread_join(thread, NULL);
	printf("made: %d\n", error);
}

static void *call_when_cancelled(void *unused)
{
	pthread_cancel(pthread_self());
	call_in_thread(NULL);
	pthread_testcancel();
	printf("not cancelled\n");
	return unused;
}

/* The call is no cancellation point; the linker works on afterwards. */
static void cancel(void)
{
	pthread_t thread;
	void *result;

	pthread_create(&thread, NULL, call_when_cancelled, NULL);
	pthread_join(thread, &result);
	printf("cancelled: %d\n", result == PTHREAD_CANCELED);
	printf("opened: %d\n", open_library("copy1.so") != NULL);
}

static void error(void)
{
	dlsym(RTLD_DEFAULT, "no_such_symbol");
	call();
	printf("error kept: %d\n", dlerror() != NULL);
}

static void *call_and_wait(void *unused)
{
	call();
	pause();
	return unused;
}

/* Forks at all moments of another thread's first call; each child uses the linker. */
static void forks(void)
{
	int failed = 0, i, status;

	for (i = 0; i < 60; i++) {
		const pid_t starter = fork();
		pthread_t thread;

		if (!starter) {
			pid_t child;

			alarm(20);
			pthread_create(&thread, NULL, call_and_wait, NULL);
			usleep((useconds_t) (i * 50));
			child = fork();
			if (!child) {
				alarm(10);
				_exit(!open_library("copy1.so") || call() != 2);
			}
			waitpid(child, &status, 0);
			_exit(status != 0);
		}
		waitpid(starter, &status, 0);
		failed += status != 0;
	}
	printf("failed: %d\n", failed);
}

/*
 * As in glibc 2.34 and 2.35: a lock is held from the first handler of a fork to the last
 * one, and taken to register others.  The fork begins while the starter registers its
 * own.
 */
static pthread_mutex_t handlers = PTHREAD_MUTEX_INITIALIZER;
static int is_strict, is_registering, is_forking, is_over;

typedef int (*register_function)(void (*)(void), void (*)(void), void (*)(void), void *);

int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
		      void *object);
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
		      void *object)
{
	static register_function real;
	int error;

	if (!real)
		real = (register_function) dlsym(RTLD_NEXT, "__register_atfork");
	if (!__atomic_load_n(&is_strict, __ATOMIC_ACQUIRE))
		return real(prepare, parent, child, object);
	__atomic_store_n(&is_registering, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&is_forking, __ATOMIC_ACQUIRE))
		usleep(1000);
	pthread_mutex_lock(&handlers);
	error = real(prepare, parent, child, object);
	pthread_mutex_unlock(&handlers);
	return error;
}

static void lock_handlers(void)
{
	pthread_mutex_lock(&handlers);
	__atomic_store_n(&is_forking, 1, __ATOMIC_RELEASE);
}

static void unlock_handlers(void)
{
	pthread_mutex_unlock(&handlers);
}

static void *call_and_end(void *unused)
{
	printf("version %d\n", call());
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	return unused;
}

static void handlers_lock(void)
{
	const char *limit = getenv("LTTNG_UST_REGISTER_TIMEOUT");
	pthread_t thread;
	int status = -1;
	pid_t child;

	pthread_atfork(lock_handlers, unlock_handlers, unlock_handlers);
	__atomic_store_n(&is_strict, 1, __ATOMIC_RELEASE);
	pthread_create(&thread, NULL, call_and_end, NULL);
	while (!__atomic_load_n(&is_registering, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		usleep(1000);
	child = fork();
	if (!child)
		_exit(call() != 2);
	waitpid(child, &status, 0);
	pthread_join(thread, NULL);
	printf("child %d\n", status);
	if (limit && !strcmp(limit, "-1") && !is_registering)
		printf("the starter registered nothing\n");
}

/* A constructor waits for a thread that calls; the linker's lock is held all along. */
static void constructor(void)
{
	printf("opened: %d\n", open_library("constructor.so") != NULL);
	printf("version %d\n", call());
}

/* At exit LTTng's threads are cancelled, for which no file can be opened any more. */
static void descriptors(void)
{
	printf("version %d\n", call());
	while (open("/dev/null", O_RDONLY) >= 0)
		;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} moments[] = {
		{"stack", stack},
		{"cancel", cancel},
		{"error", error},
		{"forks", forks},
		{"constructor", constructor},
		{"descriptors", descriptors},
		{"handlers", handlers_lock},
	};
	unsigned i;

	if (argc != 3)
		return 2;
	folder = argv[2];
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(moments) / sizeof(moments[0]); i++)
		if (!strcmp(argv[1], moments[i].name)) {
			moments[i].run();
			return 0;
		}
	return 2;
}
