/* SPDX-License-Identifier: MIT */
/*
 * What a traced program must not notice, on the driver double: harm WAY; prints what each
 * call gave.  errno is something before each call and must be so after it.
 */
#include "program.h"

#include <cuda.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#define SOMETHING 77

static CUfunction add_function, stuck_function;
static CUcontext context;
static CUstream stream;
static long sum;

#define say(call) (errno = SOMETHING, say_result(#call, (int) (call)))

static void say_result(const char *call, int result)
{
	printf("%s = %d%s\n", call, result, errno == SOMETHING ? "" : ", errno changed");
	fflush(stdout);
}

static void stuck(const void *arguments, size_t size)
{
	(void) arguments;
	(void) size;
	for (;;)
		pause();
}

static void start(void)
{
	static const struct double_kernel kernels[] = {{"add", add, add_sizes, 2},
						       {"stuck", stuck, add_sizes, 2}};
	static const struct double_image image = {DOUBLE_IMAGE_MAGIC, 2, kernels};
	CUmodule module;

	must(cuInit(0));
	must(cuCtxCreate(&context, NULL, 0, 0));
	must(cuModuleLoadData(&module, &image));
	must(cuModuleGetFunction(&add_function, module, "add"));
	must(cuModuleGetFunction(&stuck_function, module, "stuck"));
	must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static CUresult launch(CUfunction function)
{
	static long *place = &sum;
	static long value = 1;
	void *params[] = {&place, &value};

	return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL);
}

/* DOUBLE_CUDA_FAIL says which. */
static void fails(void)
{
	say(launch(add_function));
	say(launch(add_function));
	say(launch(add_function));
	say(cuStreamSynchronize(stream));
	say(cuStreamSynchronize((CUstream) 0xdead));
}

static void is_null(void)
{
	CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, NULL, NULL, 3};
	void *extra[] = {CU_LAUNCH_PARAM_END};

	config.hStream = stream;
	say(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	say(cuLaunchKernelEx(&config, NULL, NULL, NULL));
	say(cuLaunchKernelEx(NULL, add_function, NULL, NULL));
	say(cuLaunchKernel(add_function, 0, 0, 0, 0, 0, 0, 0, stream, NULL, extra));
	say(cuLaunchHostFunc(stream, NULL, NULL));
	say(cuGraphLaunch(NULL, stream));
	say(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL));
	say(cuMemcpyAsync(0, 0, 0, stream));
	say(cuEventRecord(NULL, stream));
}

/* What cuGetProcAddress() is asked for, in both its forms. */
static void asks(void)
{
	static const char *const names[] = {"cuLaunchKernel",
					    "cuLaunchKernelEx",
					    "cuMemcpyBatchAsync",
					    "cuGetProcAddress",
					    "cuNoSuchThing",
					    "cuLaunch",
					    "",
					    "x"};
	static const int versions[] = {-1, 0, 3999, 4000, 11050, 12000, 13000, 99999999};
	CUresult (*second)(const char *, void **, int, cuuint64_t,
			   CUdriverProcAddressQueryResult *) = NULL;
	CUresult (*first)(const char *, void **, int, cuuint64_t) = NULL;
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	CUdriverProcAddressQueryResult status;
	unsigned i, k;
	cuuint64_t flags;
	void *found;

	*(void **) &first = dlsym(driver, "cuGetProcAddress");
	*(void **) &second = dlsym(driver, "cuGetProcAddress_v2");
	must(!first || !second);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		for (k = 0; k < sizeof(versions) / sizeof(versions[0]); k++)
			for (flags = 0; flags < 5; flags++) {
				int one, two, three;
				int there;

				errno = SOMETHING;
				found = NULL;
				one = (int) first(names[i], &found, versions[k], flags);
				there = found != NULL;
				found = NULL;
				two = (int) second(names[i], &found, versions[k], flags,
						   NULL);
				there += found != NULL;
				status = (CUdriverProcAddressQueryResult) 9;
				three = (int) cuGetProcAddress(names[i], &found,
							       versions[k], flags,
							       &status);
				printf("%s %d %d: %d %d %d, %d, %d%s\n", names[i],
				       versions[k], (int) flags, one, two, three, there,
				       (int) status,
				       errno == SOMETHING ? "" : ", errno changed");
			}
	say(first("cuInit", NULL, 12000, 0));
	say(second("cuInit", NULL, 12000, 0, NULL));
	say(first(NULL, &found, 12000, 0));
	say(second(NULL, &found, 12000, 0, &status));
	/* The same is given to who asks again. */
	must(first("cuLaunchKernel", &found, 12000, 0));
	for (i = 0; i < 2; i++) {
		void *again = NULL;

		must(second("cuLaunchKernel", &again, 12000, 0, NULL));
		must(again != found);
		must(dlsym(driver, "cuLaunchKernel") != found);
	}
	dlclose(driver);
}

static void forks(void)
{
	int status;
	pid_t pid;

	say(launch(add_function));
	say(cuStreamSynchronize(stream));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		/* A driver is of no use in a child. */
		say(launch(add_function));
		say(cuStreamSynchronize(stream));
		say(cuInit(0));
		_exit(5);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", WEXITSTATUS(status));
	say(launch(add_function));
	say(cuStreamSynchronize(stream));
}

static void hangs(void)
{
	must(launch(stuck_function));
	must(cuStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {{"fails", fails},
		    {"null", is_null},
		    {"asks", asks},
		    {"forks", forks},
		    {"hangs", hangs}};
	size_t i;

	for (i = 0; argc == 2 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		start();
		ways[i].run();
		printf("sum %ld\n", sum);
		return 0;
	}
	return 2;
}
