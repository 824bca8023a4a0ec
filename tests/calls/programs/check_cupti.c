/* SPDX-License-Identifier: MIT */
/*
 * Our own words for CUPTI's interface against a release's headers: each field stands where
 * we read it, each number is the same.  Run with that release's library, the records of
 * the headers are walked by it and read by us.
 */
#include <cuda.h>
#include <cupti.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cupti/abi.h"

#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 theirs_kernel;
#elif CUPTI_API_VERSION >= 20
typedef CUpti_ActivityKernel9 theirs_kernel;
#else
typedef CUpti_ActivityKernel8 theirs_kernel;
#endif
#if CUPTI_API_VERSION >= 20
typedef CUpti_ActivityMemcpy6 theirs_memcpy;
typedef CUpti_ActivityOverhead3 theirs_overhead;
typedef CUpti_ActivitySynchronization2 theirs_synchronization;
#else
typedef CUpti_ActivityMemcpy5 theirs_memcpy;
typedef CUpti_ActivityOverhead theirs_overhead;
typedef CUpti_ActivitySynchronization theirs_synchronization;
#endif
typedef CUpti_ActivityMemcpyPtoP4 theirs_memcpy_p2p;
typedef CUpti_ActivityMemset4 theirs_memset;
typedef CUpti_ActivityAPI theirs_api;
typedef CUpti_CallbackData theirs_callback;
typedef CUpti_GraphData theirs_graph;

#define SAME(what, ours, theirs) \
	_Static_assert(offsetof(struct tap_cupti_##what, ours) == \
			       offsetof(theirs_##what, theirs) && \
		       sizeof(((struct tap_cupti_##what *) 0)->ours) <= \
			       sizeof(((theirs_##what *) 0)->theirs), \
		       #what "." #ours " is elsewhere in the header");
#define NUMBER(ours, theirs) \
	_Static_assert((int) (ours) == (int) (theirs), #ours " is another in the header");

/* clang-format off */
SAME(kernel, kind, kind) SAME(kernel, start, start) SAME(kernel, end, end)
SAME(kernel, device, deviceId) SAME(kernel, context, contextId) SAME(kernel, stream, streamId)
SAME(kernel, grid[0], gridX) SAME(kernel, grid[2], gridZ)
SAME(kernel, block[0], blockX) SAME(kernel, block[2], blockZ)
SAME(kernel, static_shared, staticSharedMemory) SAME(kernel, dynamic_shared, dynamicSharedMemory)
SAME(kernel, correlation_id, correlationId) SAME(kernel, name, name)
SAME(kernel, graph_node, graphNodeId) SAME(kernel, graph, graphId)
SAME(kernel, channel, channelID) SAME(kernel, cluster[0], clusterX) SAME(kernel, cluster[2], clusterZ)

#define SAME_COPY(what) \
	SAME(what, copy_kind, copyKind) SAME(what, src_kind, srcKind) SAME(what, dst_kind, dstKind) \
	SAME(what, bytes, bytes) SAME(what, start, start) SAME(what, end, end) \
	SAME(what, device, deviceId) SAME(what, context, contextId) SAME(what, stream, streamId) \
	SAME(what, correlation_id, correlationId) SAME(what, graph_node, graphNodeId) SAME(what, graph, graphId)
SAME_COPY(memcpy)
SAME_COPY(memcpy_p2p)
SAME(memcpy_p2p, src_device, srcDeviceId) SAME(memcpy_p2p, src_context, srcContextId)
SAME(memcpy_p2p, dst_device, dstDeviceId) SAME(memcpy_p2p, dst_context, dstContextId)
SAME(memset, value, value) SAME(memset, bytes, bytes) SAME(memset, start, start) SAME(memset, end, end)
SAME(memset, device, deviceId) SAME(memset, context, contextId) SAME(memset, stream, streamId)
SAME(memset, correlation_id, correlationId) SAME(memset, graph_node, graphNodeId) SAME(memset, graph, graphId)
SAME(api, cbid, cbid) SAME(api, start, start) SAME(api, end, end) SAME(api, thread, threadId)
SAME(api, correlation_id, correlationId) SAME(api, result, returnValue)
SAME(overhead, overhead_kind, overheadKind) SAME(overhead, object_kind, objectKind)
SAME(overhead, object[1], objectId.pt.threadId) SAME(overhead, start, start) SAME(overhead, end, end)
SAME(synchronization, type, type) SAME(synchronization, start, start) SAME(synchronization, end, end)
SAME(synchronization, correlation_id, correlationId) SAME(synchronization, context, contextId)
SAME(synchronization, stream, streamId) SAME(synchronization, event, cudaEventId)
SAME(callback, site, callbackSite) SAME(callback, correlation_id, correlationId)
SAME(graph, graph, graph) SAME(graph, node, node) SAME(graph, original_node, originalNode)
_Static_assert(offsetof(struct tap_cupti_resource, descriptor) ==
	       offsetof(CUpti_ResourceData, resourceDescriptor), "a resource's descriptor");
#ifdef CUPTI_SUBSCRIBER_NAME_MAX_LEN
_Static_assert(sizeof(struct tap_cupti_subscriber_params) == CUpti_SubscriberParams_STRUCT_SIZE &&
	       offsetof(struct tap_cupti_subscriber_params, old_name) ==
		       offsetof(CUpti_SubscriberParams, oldSubscriberName) &&
	       (int) TAP_CUPTI_OLD_NAME_SIZE >= CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN,
	       "what cuptiSubscribe_v2() is given");
#endif

NUMBER(TAP_CUPTI_MAX_LIMIT, CUPTI_ERROR_MAX_LIMIT_REACHED)
NUMBER(TAP_CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED)
NUMBER(TAP_CUPTI_HAS_SUBSCRIBER, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
NUMBER(TAP_CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY)
NUMBER(TAP_CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET)
NUMBER(TAP_CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL)
NUMBER(TAP_CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER)
NUMBER(TAP_CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME)
NUMBER(TAP_CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
NUMBER(TAP_CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD)
NUMBER(TAP_CUPTI_MEMCPY_P2P, CUPTI_ACTIVITY_KIND_MEMCPY2)
NUMBER(TAP_CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)
NUMBER(TAP_CUPTI_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)
NUMBER(TAP_CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)
NUMBER(TAP_CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API)
NUMBER(TAP_CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API)
NUMBER(TAP_CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE)
NUMBER(TAP_CUPTI_ENTER, CUPTI_API_ENTER)
NUMBER(TAP_CUPTI_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED)
NUMBER(TAP_CUPTI_GRAPHNODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED)
NUMBER(TAP_CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD)
/* clang-format on */

/* ---- Records, walked by the library ---- */

static int failed;

static void expect(const char *what, uint64_t is, uint64_t should_be)
{
	if (is == should_be)
		return;
	fprintf(stderr, "%s is %llu and not %llu\n", what, (unsigned long long) is,
		(unsigned long long) should_be);
	failed = 1;
}

static void add(uint8_t **at, const void *record, size_t size)
{
	memcpy(*at, record, size);
	*at += size;
}

int main(int argc, char **argv)
{
	static uint8_t buffer[4096] __attribute__((aligned(8)));
	CUptiResult (*next)(uint8_t *, size_t, CUpti_Activity **);
	theirs_kernel kernel = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
	theirs_memcpy copy = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY};
	theirs_memcpy_p2p p2p = {.kind = CUPTI_ACTIVITY_KIND_MEMCPY2};
	theirs_memset set = {.kind = CUPTI_ACTIVITY_KIND_MEMSET};
	theirs_api api = {.kind = CUPTI_ACTIVITY_KIND_DRIVER};
	theirs_overhead overhead = {.kind = CUPTI_ACTIVITY_KIND_OVERHEAD};
	theirs_synchronization wait = {.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};
	CUpti_Activity *record = NULL;
	uint8_t *at = buffer;
	int nr = 0, error;
	void *library;

	library = dlopen(argc == 2 ? argv[1] : "", RTLD_NOW);
	next = library ? (CUptiResult(*)(uint8_t *, size_t, CUpti_Activity **)) dlsym(
				 library, "cuptiActivityGetNextRecord")
		       : NULL;
	if (!next) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	kernel.correlationId = 101;
	kernel.clusterZ = 7;
	copy.graphId = 102;
	p2p.correlationId = 103;
	set.graphNodeId = 104;
	api.returnValue = 105;
	overhead.end = 106;
	wait.cudaEventId = 107;
	add(&at, &kernel, sizeof(kernel));
	add(&at, &copy, sizeof(copy));
	add(&at, &p2p, sizeof(p2p));
	add(&at, &set, sizeof(set));
	add(&at, &api, sizeof(api));
	add(&at, &overhead, sizeof(overhead));
	add(&at, &wait, sizeof(wait));
	add(&at, &kernel, sizeof(kernel));

	while (!(error = next(buffer, (size_t) (at - buffer), &record))) {
		const void *r = record;

		nr++;
		switch (((const struct tap_cupti_record *) r)->kind) {
		case TAP_CUPTI_CONCURRENT_KERNEL:
			expect("a kernel's correlation",
			       ((const struct tap_cupti_kernel *) r)->correlation_id, 101);
			expect("its cluster",
			       ((const struct tap_cupti_kernel *) r)->cluster[2], 7);
			break;
		case TAP_CUPTI_MEMCPY:
			expect("a copy's graph", ((const struct tap_cupti_memcpy *) r)->graph,
			       102);
			break;
		case TAP_CUPTI_MEMCPY_P2P:
			expect("a copy's correlation",
			       ((const struct tap_cupti_memcpy_p2p *) r)->correlation_id, 103);
			break;
		case TAP_CUPTI_MEMSET:
			expect("a set's node",
			       ((const struct tap_cupti_memset *) r)->graph_node, 104);
			break;
		case TAP_CUPTI_DRIVER:
			expect("a call's result",
			       (uint64_t) ((const struct tap_cupti_api *) r)->result, 105);
			break;
		case TAP_CUPTI_OVERHEAD:
			expect("an overhead's end",
			       ((const struct tap_cupti_overhead *) r)->end, 106);
			break;
		case TAP_CUPTI_SYNCHRONIZATION:
			expect("a wait's event",
			       ((const struct tap_cupti_synchronization *) r)->event, 107);
			break;
		default:
			expect("a kind", 0, ((const struct tap_cupti_record *) r)->kind);
		}
	}
	expect("how many records there are", (uint64_t) nr, 8);
	expect("what the walk ends with", (uint64_t) error, TAP_CUPTI_MAX_LIMIT);
	return failed;
}
