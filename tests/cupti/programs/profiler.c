/* SPDX-License-Identifier: MIT */
/*
 * A program that has CUPTI of its own, as one with PyTorch's profiler in it: it launches
 * ten kernels, takes CUPTI for ten, lets go of it for ten, as often as it is told to.  It
 * prints how many records it has seen, and of which kernels.
 *
 * usage: profiler LIBRARY first|later TIMES.  With `first` it subscribes before CUDA
 * begins and keeps that.  Linked to a CUPTI it uses that, whatever LIBRARY says.
 */
#include "program.h"

#include <cupti.h>

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

enum { KERNELS = 10, BUFFER = 65536 };

static long sum;
static CUfunction function;
static CUstream stream;
static CUpti_SubscriberHandle handle;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int records;
static unsigned int foreign;
static unsigned int calls;

/* Looked up, or as the linker has it. */
#ifdef LINKED
#define CALL(name) name
#else
static void *library;
#define CALL(name) ((__typeof__(&name)) dlsym(library, #name))
#endif

static void requested(uint8_t **buffer, size_t *size, size_t *maxNumRecords)
{
	*buffer = aligned_alloc(8, BUFFER);
	*size = BUFFER;
	*maxNumRecords = 0;
}

static void completed(CUcontext context, uint32_t streamId, uint8_t *buffer, size_t size,
		      size_t validSize)
{
	CUpti_Activity *record = NULL;

	(void) context;
	(void) streamId;
	(void) size;
	pthread_mutex_lock(&lock);
	while (!CALL(cuptiActivityGetNextRecord)(buffer, validSize, &record)) {
		if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			records++;
		else
			foreign++;
	}
	pthread_mutex_unlock(&lock);
	free(buffer);
}

static void callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		     const void *cbdata)
{
	const CUpti_CallbackData *data = cbdata;

	(void) userdata;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API && cbid == 307 &&
	    data->callbackSite == CUPTI_API_EXIT)
		__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static void take(void)
{
	must(CALL(cuptiSubscribe)(&handle, callback, NULL));
	must(CALL(cuptiActivityRegisterCallbacks)(requested, completed));
	must(CALL(cuptiEnableCallback)(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, 307));
	must(CALL(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

static void let_go(void)
{
	must(CALL(cuptiActivityDisable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	must(CALL(cuptiActivityFlushAll)(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	must(CALL(cuptiUnsubscribe)(handle));
}

static void start(void)
{
	CUcontext context;
	CUmodule module;

	must(cuInit(0));
	must(cuCtxCreate(&context, NULL, 0, 0));
	must(cuModuleLoadData(&module, &add_image));
	must(cuModuleGetFunction(&function, module, "add"));
	must(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

/* Kernels of `width` blocks, so that the times are told apart. */
static void launch(unsigned int width)
{
	static long *place = &sum;
	static long value = 1;
	void *params[] = {&place, &value};
	int i;

	for (i = 0; i < KERNELS; i++)
		must(cuLaunchKernel(function, width, 1, 1, 32, 1, 1, 0, stream, params,
				    NULL));
	must(cuStreamSynchronize(stream));
}

static void say(void)
{
	printf("%u records, %u of another kind, %u calls\n", records, foreign, calls);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int times = argc == 4 ? atoi(argv[3]) : 0;
	int i;

	if (argc != 4)
		return 2;
#ifndef LINKED
	library = dlopen(argv[1], RTLD_NOW);
	must(!library);
#endif
	if (strcmp(argv[2], "first") == 0) {
		take();
		start();
		launch(1);
		let_go();
		say();
		return done("first", KERNELS, sum);
	}
	start();
	launch(1);
	for (i = 0; i < times; i++) {
		take();
		launch(2);
		let_go();
		say();
		/* Time for who wants it. */
		usleep(800000);
		launch(3);
	}
	return done("later", KERNELS * (1 + 2 * times), sum);
}
