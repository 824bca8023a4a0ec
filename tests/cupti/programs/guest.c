/* SPDX-License-Identifier: MIT */
/*
 * Programs of which a tracer has records outstanding when something happens, on the
 * driver double: guest WAY [NUMBER].
 */
#include "program.h"

#include <cuda.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static long sum;
static CUfunction function;
static CUcontext context;
static CUstream stream;

static void start(void)
{
	CUmodule module;

	must(cuInit(0));
	must(cuCtxCreate(&context, NULL, 0, 0));
	must(cuModuleLoadData(&module, &add_image));
	must(cuModuleGetFunction(&function, module, "add"));
	must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void launch(int count)
{
	static long *place = &sum;
	static long value = 1;
	void *params[] = {&place, &value};

	for (; count > 0; count--)
		must(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params,
				    NULL));
}

static int ordinary(int count)
{
	launch(count);
	must(cuStreamSynchronize(stream));
	return done("ordinary", count, sum);
}

/* Ends without the functions that are to be called at the end. */
static int leaves(int count)
{
	ordinary(count);
	fflush(stdout);
	_exit(7);
}

static int leaves_late(int count)
{
	ordinary(count);
	fflush(stdout);
	usleep(700000);
	_exit(7);
}

static int is_killed(int count)
{
	ordinary(count);
	fflush(stdout);
	raise(SIGTERM);
	return 1;
}

static int does_not_wait(int count)
{
	launch(count);
	printf("%d launches\n", count);
	return 0;
}

/* The context goes with its work, another one comes. */
static int destroys(int count)
{
	launch(count);
	must(cuCtxDestroy(context));
	start();
	launch(count);
	must(cuStreamSynchronize(stream));
	must(cuCtxDestroy(context));
	return done("destroys", 2 * count, sum);
}

/* A child cannot use the driver of its parent, and ends as any process does. */
static int forks(int count)
{
	int status = -1;
	pid_t child;

	launch(count);
	must(cuStreamSynchronize(stream));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		printf("child: %d\n", (int) cuCtxSynchronize());
		exit(5);
	}
	waitpid(child, &status, 0);
	printf("child ended with %d\n", WEXITSTATUS(status));
	launch(count);
	must(cuStreamSynchronize(stream));
	return done("forks", 2 * count, sum);
}

/* Before CUDA begins each has a CUPTI of its own. */
static int forks_early(int count)
{
	pid_t child = fork();
	int status = -1;

	start();
	launch(count);
	must(cuStreamSynchronize(stream));
	if (child == 0)
		exit(sum == count ? 5 : 6);
	waitpid(child, &status, 0);
	printf("child ended with %d\n", WEXITSTATUS(status));
	return done("forks early", count, sum);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int count);
	} ways[] = {{"ordinary", ordinary},
		    {"leaves", leaves},
		    {"leaves-late", leaves_late},
		    {"killed", is_killed},
		    {"no-wait", does_not_wait},
		    {"destroys", destroys},
		    {"forks", forks}};
	int count = argc == 3 ? atoi(argv[2]) : 10;
	size_t i;

	if (argc > 1 && strcmp(argv[1], "forks-early") == 0)
		return forks_early(count);
	for (i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		start();
		return ways[i].run(count);
	}
	return 2;
}
