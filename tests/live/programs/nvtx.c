/* SPDX-License-Identifier: MIT */
/*
 * Tells NVTX what a program with NCCL linked into it does: calls as NCCL announces them,
 * with their values, and ranges of the program's own.  It prints what NVTX answered,
 * which no tool should change.
 *
 * With the path of a library it makes calls of that one, too.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#ifdef REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#ifndef NVTX_PAYLOAD_SCHEMA_ATTR_TYPE /* the names of 2025 */
#define NVTX_PAYLOAD_SCHEMA_ATTR_TYPE NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE
#define NVTX_PAYLOAD_SCHEMA_ATTR_ENTRIES NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
#define NVTX_PAYLOAD_SCHEMA_ATTR_NUM_ENTRIES NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES
#define NVTX_PAYLOAD_SCHEMA_ATTR_STATIC_SIZE NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE
#define NVTX_PAYLOAD_SCHEMA_ATTR_SCHEMA_ID NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID
#endif
#else
#include "nvtx_client.h"
#endif

/* As in NCCL: schema numbers of its own begin here. */
#define OWN (1 << 24)

static nvtxDomainHandle_t nccl, app;

struct all_reduce {
	uint64_t comm;
	size_t bytes;
	int op;
};

struct init {
	uint64_t comm;
	int nranks, rank, device;
};

static void describe(void)
{
	static const nvtxPayloadSchemaEntry_t all_reduce[] = {
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64, .name = "NCCL communicator ID"},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_SIZE, .name = "Message size [bytes]"},
		{.type = OWN + 24,
		 .name = "Reduction operation",
		 .offset = offsetof(struct all_reduce, op)},
	};
	/* The first offset tells where the rest is, and one name nobody knows. */
	static const nvtxPayloadSchemaEntry_t init[] = {
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT64, .name = "NCCL communicator ID"},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "No. of ranks"},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "Rank"},
		{.type = NVTX_PAYLOAD_ENTRY_TYPE_INT, .name = "Phase of the moon"},
	};
	nvtxPayloadSchemaAttr_t schema = {
		.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_TYPE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_NUM_ENTRIES |
			     NVTX_PAYLOAD_SCHEMA_ATTR_STATIC_SIZE |
			     NVTX_PAYLOAD_SCHEMA_ATTR_SCHEMA_ID,
		.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
	};

	schema.entries = all_reduce;
	schema.numEntries = 3;
	schema.payloadStaticSize = sizeof(struct all_reduce);
	schema.schemaId = OWN + 5;
	nvtxPayloadSchemaRegister(nccl, &schema);
	schema.entries = init;
	schema.numEntries = 4;
	schema.payloadStaticSize = sizeof(struct init);
	schema.schemaId = OWN;
	nvtxPayloadSchemaRegister(nccl, &schema);
}

static int push(nvtxDomainHandle_t domain, const char *name)
{
	nvtxEventAttributes_t a = {0};

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringA(domain, name);
	return nvtxDomainRangePushEx(domain, &a);
}

static int push_all_reduce(uint64_t comm, size_t bytes, int op)
{
	struct all_reduce values = {comm, bytes, op};
	nvtxPayloadData_t data[] = {{OWN + 5, sizeof(values), &values}};
	nvtxEventAttributes_t a = {0};
	int level;

	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	a.message.registered = nvtxDomainRegisterStringA(nccl, "ncclAllReduce");
	a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
	a.reserved0 = 1;
	a.payload.ullValue = (uint64_t) (uintptr_t) data;
	level = nvtxDomainRangePushEx(nccl, &a);
	memset(&values, 0xff, sizeof(values)); /* it was to be read until now */
	return level;
}

static void *in_thread(void *unused)
{
	push(nccl, "ncclCommCount");
	nvtxDomainRangePop(nccl);
	return unused;
}

static void make_calls(void)
{
	struct init values = {0x1234, 8, 3, 1};
	const nvtxPayloadData_t data = {OWN, sizeof(values), &values};
	pthread_t thread;
	int i;

	errno = EDOM;
	printf("push %d\n", push(nccl, "ncclCommInitRank"));
	printf("push %d\n", push(nccl, "ncclGroupStart"));
	nvtxDomainRangePop(nccl);
	nvtxRangePopPayload(nccl, &data, 1);
	printf("push %d\n", push_all_reduce(0xabcd, 4096, 2));
	push(nccl, "hostStreamPlanCallback");
	nvtxDomainRangePop(nccl);
	printf("pop %d\n", nvtxDomainRangePop(nccl));
	push_all_reduce(0, 0, 0);
	nvtxDomainRangePop(nccl);
	push(nccl, "ncclOfTheFuture");
	nvtxDomainRangePop(nccl);
	/* Deeper than anybody keeps, and back. */
	for (i = 0; i < 40; i++)
		push(nccl, "deep");
	for (i = 0; i < 41; i++)
		nvtxDomainRangePop(nccl);
	push(nccl, "ncclCommAbort");
	nvtxDomainRangePop(nccl);
	/* More than are kept at once. */
	for (i = 0; i < 300; i++) {
		pthread_create(&thread, NULL, in_thread, NULL);
		pthread_join(thread, NULL);
	}
	printf("errno %d\n", errno == EDOM);
}

static void *end_there(void *id)
{
	nvtxRangeEnd(*(nvtxRangeId_t *) id);
	return NULL;
}

static void make_ranges(void)
{
	nvtxEventAttributes_t a = {0};
	nvtxRangeId_t epoch;
	pthread_t thread;
	char name[] = "forward";

	epoch = nvtxRangeStartA("epoch 1");
	nvtxRangePushA("step 1");
	a.version = NVTX_VERSION;
	a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	a.messageType = NVTX_MESSAGE_TYPE_ASCII;
	a.message.ascii = name;
	a.category = 7;
	a.colorType = NVTX_COLOR_ARGB;
	a.color = 0xff00ff00;
	a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	a.payload.llValue = -5;
	nvtxDomainRangePushEx(app, &a);
	memset(name, 'x', sizeof(name) - 1);
	push_all_reduce(0xabcd, 64, 0);
	nvtxDomainRangePop(nccl);
	nvtxMarkA("loss");
	/* Domains need not nest. */
	printf("pop %d\n", nvtxRangePop());
	nvtxDomainRangePop(app);
	nvtxRangePushW(L"\u00e9t\u00e9");
	nvtxRangePop();
	pthread_create(&thread, NULL, end_there, &epoch);
	pthread_join(thread, NULL);
	nvtxRangePushA("never popped");
}

/* A call that is told with one inside that has a wrapper. */
static int mix(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);
	int (*ask)(int *) =
		handle ? (int (*)(int *)) dlsym(handle, "ncclGetVersion") : NULL;
	int version = 0;

	if (!ask)
		return 1;
	push(nccl, "ncclCommInitAll");
	ask(&version);
	push(nccl, "ncclGroupStart");
	nvtxDomainRangePop(nccl);
	nvtxDomainRangePop(nccl);
	ask(&version);
	printf("version %d\n", version);
	return 0;
}

int main(int argc, char **argv)
{
	nccl = nvtxDomainCreateA("NCCL");
	app = nvtxDomainCreateA("app");
	if (argc > 1)
		return mix(argv[1]);
	describe();
	make_calls();
	make_ranges();
	fflush(stdout);
	if (!fork()) {
		push(nccl, "ncclCommDestroy");
		nvtxDomainRangePop(nccl);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
