/* SPDX-License-Identifier: MIT */
/*
 * What a libcupti answers where there is no driver: how long it takes each record to be,
 * and the result of every function, each asked in a process of its own.
 *
 * usage: cupti_probe LIBRARY
 */
#include <cupti.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *library;
static _Alignas(8) uint8_t memory[4096];

static void callback(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
		     const void *cbdata)
{
	(void) userdata;
	(void) domain;
	(void) cbid;
	(void) cbdata;
}

static void requested(uint8_t **buffer, size_t *size, size_t *maxNumRecords)
{
	*buffer = memory;
	*size = sizeof(memory);
	*maxNumRecords = 0;
}

static void completed(CUcontext context, uint32_t streamId, uint8_t *buffer, size_t size,
		      size_t validSize)
{
	(void) context;
	(void) streamId;
	(void) buffer;
	(void) size;
	(void) validSize;
}

static uint64_t now(void)
{
	return 1;
}

/* The records of the kinds that are told, one behind the other, as the library walks. */
static void print_strides(void)
{
	static const int kinds[] = {
		CUPTI_ACTIVITY_KIND_MEMCPY,
		CUPTI_ACTIVITY_KIND_MEMSET,
		CUPTI_ACTIVITY_KIND_KERNEL,
		CUPTI_ACTIVITY_KIND_DRIVER,
		CUPTI_ACTIVITY_KIND_RUNTIME,
		CUPTI_ACTIVITY_KIND_CONTEXT,
		CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		CUPTI_ACTIVITY_KIND_OVERHEAD,
		CUPTI_ACTIVITY_KIND_MEMCPY2,
		CUPTI_ACTIVITY_KIND_STREAM,
		CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
		CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
	};
	__typeof__(&cuptiActivityGetNextRecord) next =
		(__typeof__(next)) dlsym(library, "cuptiActivityGetNextRecord");
	CUpti_Activity *record;
	CUptiResult first;
	CUptiResult second;
	size_t i;
	size_t j;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		/* Whatever comes next looks like a record of that kind. */
		for (j = 0; j < sizeof(memory); j += 4)
			memcpy(memory + j, &kinds[i], 4);
		record = NULL;
		first = next(memory, sizeof(memory), &record);
		second = next(memory, sizeof(memory), &record);
		printf("kind %d: %d %d, %td bytes\n", kinds[i], first, second,
		       record ? (uint8_t *) record - memory : 0);
		memset(memory, 0, sizeof(memory));
	}
	/* The ends of the walk. */
	record = NULL;
	memcpy(memory, &(int){CUPTI_ACTIVITY_KIND_DRIVER}, 4);
	printf("one record: %d", next(memory, sizeof(CUpti_ActivityAPI), &record));
	printf(" %d\n", next(memory, sizeof(CUpti_ActivityAPI), &record));
	record = NULL;
	printf("part of one: %d\n", next(memory, 16, &record));
	record = NULL;
	printf("no bytes: %d\n", next(memory, 0, &record));
	record = NULL;
	memcpy(memory, &(int){CUPTI_ACTIVITY_KIND_INVALID}, 4);
	printf("no kind: %d\n", next(memory, sizeof(memory), &record));
	record = NULL;
	memcpy(memory, &(int){1000}, 4);
	printf("a kind that is not: %d\n", next(memory, sizeof(memory), &record));
	record = NULL;
	printf("no buffer: %d\n", next(NULL, 64, &record));
}

/* What it calls the functions that the double knows. */
static void print_names(void)
{
	static const struct {
		CUpti_CallbackDomain domain;
		uint32_t cbid;
	} rows[] = {
#define CBID(name, number) {CUPTI_CB_DOMAIN_DRIVER_API, number},
#include "../../doubles/cupti/driver.def"
#undef CBID
#define CBID(name, version, number) {CUPTI_CB_DOMAIN_RUNTIME_API, number},
#include "../../doubles/cupti/runtime.def"
#undef CBID
	};
	__typeof__(&cuptiGetCallbackName) get =
		(__typeof__(get)) dlsym(library, "cuptiGetCallbackName");
	const char *name;
	CUptiResult res;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		name = NULL;
		res = get(rows[i].domain, rows[i].cbid, &name);
		printf("function %d %u: %d %s\n", rows[i].domain, rows[i].cbid, res,
		       res ? "none" : name);
	}
}

/* clang-format off */
#define ASK(name, ...) \
	static void ask_##name(void) \
	{ \
		__typeof__(&name) function = (__typeof__(function)) dlsym(library, #name); \
		if (function) \
			printf(#name ": %d\n", function(__VA_ARGS__)); \
		else \
			printf(#name ": not there\n"); \
	}
/* clang-format on */

static CUpti_SubscriberHandle handle;
static CUpti_SubscriberParams params = {.structSize = sizeof(params)};
static uint32_t number;
static uint64_t large;
static size_t size;
static const char *text;
static CUpti_DomainTable domains;

ASK(cuptiSupportedDomains, &size, &domains)
ASK(cuptiSubscribe, &handle, callback, NULL)
ASK(cuptiSubscribe_v2, &handle, callback, NULL, &params)
ASK(cuptiUnsubscribe, handle)
ASK(cuptiGetCallbackState, &number, handle, CUPTI_CB_DOMAIN_DRIVER_API, 307)
ASK(cuptiEnableCallback, 1, handle, CUPTI_CB_DOMAIN_DRIVER_API, 307)
ASK(cuptiEnableDomain, 1, handle, CUPTI_CB_DOMAIN_DRIVER_API)
ASK(cuptiEnableAllDomains, 1, handle)
ASK(cuptiGetCallbackName, CUPTI_CB_DOMAIN_DRIVER_API, 307, &text)
ASK(cuptiGetTimestamp, &large)
ASK(cuptiGetContextId, NULL, &number)
ASK(cuptiGetStreamIdEx, NULL, NULL, 0, &number)
ASK(cuptiGetDeviceId, NULL, &number)
ASK(cuptiGetGraphNodeId, NULL, &large)
ASK(cuptiGetGraphId, NULL, &number)
ASK(cuptiGetGraphExecId, NULL, &number)
ASK(cuptiActivityEnable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
ASK(cuptiActivityEnableAndDump, CUPTI_ACTIVITY_KIND_DEVICE)
ASK(cuptiActivityDisable, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
ASK(cuptiActivityGetNumDroppedRecords, NULL, 0, &size)
ASK(cuptiActivityRegisterCallbacks, requested, completed)
ASK(cuptiActivityFlushAll, 0)
ASK(cuptiActivityFlushPeriod, 100)
ASK(cuptiActivityPushExternalCorrelationId, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 7)
ASK(cuptiActivityPopExternalCorrelationId, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2,
    &large)
ASK(cuptiActivityEnableLatencyTimestamps, 0)
ASK(cuptiActivityRegisterTimestampCallback, now)
ASK(cuptiActivityEnableDriverApi, 307, 1)
ASK(cuptiActivityEnableRuntimeApi, 211, 1)
ASK(cuptiFinalize)
ASK(cuptiGetLastError)
ASK(cuptiGetResultString, CUPTI_ERROR_NOT_INITIALIZED, &text)
ASK(cuptiGetErrorMessage, CUPTI_ERROR_NOT_INITIALIZED, &text)
ASK(cuptiGetVersion, &number)

static void ask_values(void)
{
	__typeof__(&cuptiGetVersion) version =
		(__typeof__(version)) dlsym(library, "cuptiGetVersion");
	__typeof__(&cuptiGetTimestamp) timestamp =
		(__typeof__(timestamp)) dlsym(library, "cuptiGetTimestamp");
	__typeof__(&cuptiGetResultString) string =
		(__typeof__(string)) dlsym(library, "cuptiGetResultString");
	static const int results[] = {0, 1, 7, 12, 15, 18, 21, 27, 39, 999, 1234};
	struct timespec time;
	size_t i;

	version(&number);
	timestamp(&large);
	clock_gettime(CLOCK_REALTIME, &time);
	printf("version %u, its time is %sCLOCK_REALTIME\n", number,
	       (uint64_t) time.tv_sec - large / 1000000000 < 5 ? "" : "not ");
	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		text = "nothing";
		printf("result %d: %d", results[i],
		       string((CUptiResult) results[i], &text));
		printf(" %s\n", text);
	}
}

static void alone(void (*ask)(void))
{
	int status = -1;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		ask();
		fflush(stdout);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		printf("ended with status %#x\n", (unsigned int) status);
}

int main(int argc, char **argv)
{
	void (*const asks[])(void) = {
		print_strides,
		print_names,
		ask_values,
		ask_cuptiSupportedDomains,
		ask_cuptiSubscribe,
		ask_cuptiSubscribe_v2,
		ask_cuptiUnsubscribe,
		ask_cuptiGetCallbackState,
		ask_cuptiEnableCallback,
		ask_cuptiEnableDomain,
		ask_cuptiEnableAllDomains,
		ask_cuptiGetCallbackName,
		ask_cuptiGetTimestamp,
		ask_cuptiGetContextId,
		ask_cuptiGetStreamIdEx,
		ask_cuptiGetDeviceId,
		ask_cuptiGetGraphNodeId,
		ask_cuptiGetGraphId,
		ask_cuptiGetGraphExecId,
		ask_cuptiActivityEnable,
		ask_cuptiActivityEnableAndDump,
		ask_cuptiActivityDisable,
		ask_cuptiActivityGetNumDroppedRecords,
		ask_cuptiActivityRegisterCallbacks,
		ask_cuptiActivityFlushAll,
		ask_cuptiActivityFlushPeriod,
		ask_cuptiActivityPushExternalCorrelationId,
		ask_cuptiActivityPopExternalCorrelationId,
		ask_cuptiActivityEnableLatencyTimestamps,
		ask_cuptiActivityRegisterTimestampCallback,
		ask_cuptiActivityEnableDriverApi,
		ask_cuptiActivityEnableRuntimeApi,
		ask_cuptiFinalize,
		ask_cuptiGetLastError,
		ask_cuptiGetResultString,
		ask_cuptiGetErrorMessage,
		ask_cuptiGetVersion,
	};
	size_t i;

	if (argc != 2)
		return 2;
	library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "cupti_probe: %s\n", dlerror());
		return 1;
	}
	for (i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		alone(asks[i]);
	return 0;
}
