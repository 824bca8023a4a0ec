/* SPDX-License-Identifier: MIT */
/* The libraries, the device and the log of the programs of make check-gpu. */
#include "gpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct cuda cuda;
struct nccl nccl;
const char *gpu_program = "gpu";
int gpu_rank;

static FILE *log_file;

void fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: rank %d: ", gpu_program, gpu_rank);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

void check_cuda(CUresult result, const char *call)
{
	const char *name = NULL;

	if (result == CUDA_SUCCESS)
		return;
	cuda.cuGetErrorName(result, &name);
	fail("%s: %s (%d)", call, name ? name : "unknown error", result);
}

void check_nccl(ncclResult_t result, const char *call)
{
	if (result != ncclSuccess)
		fail("%s: %s", call, nccl.ncclGetErrorString(result));
}

static void *open_library(const char *variable, const char *otherwise)
{
	const char *path = getenv(variable);
	void *library;

	library = dlopen(path && *path ? path : otherwise, RTLD_NOW | RTLD_GLOBAL);
	if (!library) {
		fprintf(stderr, "%s: %s\n", gpu_program, dlerror());
		exit(77);
	}
	return library;
}

static void *function(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "%s: %s\n", gpu_program, dlerror());
		exit(77);
	}
	return found;
}

/* The names as the library has them. */
#define LOOK_UP(structure, name) LOOK_UP_AS(structure, name, #name)
#define LOOK_UP_AS(structure, name, text) \
	*(void **) &(structure).name = function(library, text);

void load_cuda(void)
{
	void *library = open_library("GPU_LIBCUDA", "libcuda.so.1");

#define LOOK_UP_CUDA(name) LOOK_UP(cuda, name)
	CUDA_FUNCTIONS(LOOK_UP_CUDA)
}

void load_nccl(void)
{
	void *library = open_library("GPU_LIBNCCL", "libnccl.so.2");

#define LOOK_UP_NCCL(name) LOOK_UP(nccl, name)
	NCCL_FUNCTIONS(LOOK_UP_NCCL)
}

CUcontext open_device(int number, CUdevice *ret_device)
{
	CUcontext context;
	int devices;

	CUDA(cuInit(0));
	CUDA(cuDeviceGetCount(&devices));
	if (!devices)
		fail("there is no device");
	CUDA(cuDeviceGet(ret_device, number % devices));
	CUDA(cuDevicePrimaryCtxRetain(&context, *ret_device));
	CUDA(cuCtxSetCurrent(context));
	return context;
}

void open_log(const char *folder)
{
	char path[4096];

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/log.%d", folder, gpu_rank);
	log_file = fopen(path, "we");
	if (!log_file)
		fail("%s: %s", path, strerror(errno));
	log_line("{\"pid\":%d,\"rank\":%d,\"program\":\"%s\"}", (int) getpid(), gpu_rank,
		 gpu_program);
}

void log_line(const char *format, ...)
{
	va_list args;

	if (!log_file)
		return;
	va_start(args, format);
	vfprintf(log_file, format, args);
	va_end(args);
	fputc('\n', log_file);
	fflush(log_file);
}

int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

long number_of(const char *text, long least, long most, const char *what)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < least || value > most) {
		fprintf(stderr, "%s: %s is no %s from %ld to %ld\n", gpu_program, text,
			what, least, most);
		exit(2);
	}
	return value;
}
