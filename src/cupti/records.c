/* SPDX-License-Identifier: MIT */
/* One function for each kind of record; CUPTI calls when it hands a buffer over. */
#include "cupti/records.h"

#include <stdbool.h>
#include <string.h>

#include "cupti/callback.h"
#include "cupti/clock.h"
#include "cupti/names.h"
#include "intercept/resolve.h"

/* A record that is a day old or an hour ahead has times of another clock. */
#define NS_PER_HOUR (INT64_C(3600) * 1000000000)

enum lost { ZERO_TIME, OTHER_CLOCK, UNKNOWN_RECORD, NR_LOST };
static const char *const lost_names[NR_LOST] = {"zero_time", "other_clock",
						"unknown_record"};
static uint64_t lost[NR_LOST];

/* What all records of a buffer share. */
struct pass {
	const struct tap_gpu_events *events;
	uint32_t version;
	int64_t offset;
	uint64_t now;
};

static void count(enum lost what)
{
	__atomic_fetch_add(&lost[what], 1, __ATOMIC_RELAXED);
}

static bool wants(const struct pass *pass, enum tap_gpu_hot event)
{
	return *pass->events->on[event];
}

/* Whether the record has valid times on the tracer's clock; counts it as lost if not. */
static bool has_times(const struct pass *pass, uint64_t start, uint64_t end)
{
	if (unlikely(!start || !end)) {
		count(ZERO_TIME);
		return false;
	}
	if (unlikely((int64_t) (end + (uint64_t) pass->offset - pass->now) >
			     NS_PER_HOUR ||
		     (int64_t) (pass->now - start - (uint64_t) pass->offset) >
			     24 * NS_PER_HOUR)) {
		count(OTHER_CLOCK);
		return false;
	}
	return true;
}

#define OUR_TIMES(pass, record) \
	.start_ns = (record)->start + (uint64_t) (pass)->offset, \
	.end_ns = (record)->end + (uint64_t) (pass)->offset

/* As it is called, or as C++ has it. */
static bool is_nccls(const char *name)
{
	return name && (strstr(name, "ncclDevKernel_") || strstr(name, "ncclKernel_"));
}

static void on_kernel(const struct pass *pass, const void *record)
{
	const struct tap_cupti_kernel *k = record;
	struct tap_gpu_kernel r = {
		OUR_TIMES(pass, k),
		.correlation_id = k->correlation_id,
		.device = k->device,
		.context = k->context,
		.stream = k->stream,
		.gridX = k->grid[0],
		.gridY = k->grid[1],
		.gridZ = k->grid[2],
		.blockX = k->block[0],
		.blockY = k->block[1],
		.blockZ = k->block[2],
		.static_shared = k->static_shared,
		.dynamic_shared = k->dynamic_shared,
		.graph = k->graph,
		.graph_node = k->graph_node,
	};

	if (!wants(pass, TAP_GPU_kernel) || !has_times(pass, k->start, k->end))
		return;
	if (unlikely(tap_metrics_page) && is_nccls(k->name))
		tap_metrics_count_kernel(k->end - k->start);
	r.name = tap_cupti_name(k->name);
	if (pass->version >= TAP_CUPTI_HAS_CHANNEL)
		r.channel = k->channel;
	if (pass->version >= TAP_CUPTI_HAS_CLUSTER) {
		r.clusterX = k->cluster[0];
		r.clusterY = k->cluster[1];
		r.clusterZ = k->cluster[2];
	}
	pass->events->write[TAP_GPU_kernel](&r, sizeof(r));
}

/* The fields that copies on one device and between two share. */
/* clang-format off */
#define OUR_COPY(pass, m) \
	OUR_TIMES(pass, m), .bytes = (m)->bytes, .correlation_id = (m)->correlation_id, \
	.device = (m)->device, .context = (m)->context, .stream = (m)->stream, \
	.copy_kind = (m)->copy_kind, .src_kind = (m)->src_kind, .dst_kind = (m)->dst_kind, \
	.graph_node = (m)->graph_node
/* clang-format on */

static void on_memcpy(const struct pass *pass, const void *record)
{
	const struct tap_cupti_memcpy *m = record;
	struct tap_gpu_memcpy r = {
		OUR_COPY(pass, m),
	};

	if (!wants(pass, TAP_GPU_memcpy) || !has_times(pass, m->start, m->end))
		return;
	if (pass->version >= TAP_CUPTI_HAS_COPY_GRAPH)
		r.graph = m->graph;
	pass->events->write[TAP_GPU_memcpy](&r, sizeof(r));
}

static void on_memcpy_p2p(const struct pass *pass, const void *record)
{
	const struct tap_cupti_memcpy_p2p *m = record;
	struct tap_gpu_memcpy_p2p r = {
		OUR_COPY(pass, m),
		.src_device = m->src_device,
		.src_context = m->src_context,
		.dst_device = m->dst_device,
		.dst_context = m->dst_context,
	};

	if (!wants(pass, TAP_GPU_memcpy_p2p) || !has_times(pass, m->start, m->end))
		return;
	if (pass->version >= TAP_CUPTI_HAS_COPY_GRAPH)
		r.graph = m->graph;
	pass->events->write[TAP_GPU_memcpy_p2p](&r, sizeof(r));
}

static void on_memset(const struct pass *pass, const void *record)
{
	const struct tap_cupti_memset *m = record;
	struct tap_gpu_memset r = {
		OUR_TIMES(pass, m),  .bytes = m->bytes,
		.value = m->value,   .correlation_id = m->correlation_id,
		.device = m->device, .context = m->context,
		.stream = m->stream, .graph_node = m->graph_node,
	};

	if (!wants(pass, TAP_GPU_memset) || !has_times(pass, m->start, m->end))
		return;
	if (pass->version >= TAP_CUPTI_HAS_COPY_GRAPH)
		r.graph = m->graph;
	pass->events->write[TAP_GPU_memset](&r, sizeof(r));
}

static void on_api(const struct pass *pass, const void *record)
{
	const struct tap_cupti_api *a = record;
	struct tap_gpu_api r = {
		OUR_TIMES(pass, a),
		.domain = a->kind == TAP_CUPTI_DRIVER ? TAP_CUPTI_DOMAIN_DRIVER
						      : TAP_CUPTI_DOMAIN_RUNTIME,
		.cbid = a->cbid,
		.thread = a->thread,
		.correlation_id = a->correlation_id,
		.result = a->result,
	};

	/*
	 * If CUPTI can only record all calls, the tracer drops those that put no work on
	 * a GPU.
	 */
	if (a->kind == TAP_CUPTI_DRIVER && !tap_cupti_is_work(a->cbid))
		return;
	if (wants(pass, TAP_GPU_api) && has_times(pass, a->start, a->end))
		pass->events->write[TAP_GPU_api](&r, sizeof(r));
}

static void on_overhead(const struct pass *pass, const void *record)
{
	const struct tap_cupti_overhead *o = record;
	struct tap_gpu_overhead r = {
		OUR_TIMES(pass, o),
		.kind = o->overhead_kind,
		.thread = o->object_kind == TAP_CUPTI_OBJECT_THREAD ? o->object[1] : 0,
	};

	if (wants(pass, TAP_GPU_overhead) && has_times(pass, o->start, o->end))
		pass->events->write[TAP_GPU_overhead](&r, sizeof(r));
}

static void on_synchronization(const struct pass *pass, const void *record)
{
	const struct tap_cupti_synchronization *s = record;
	struct tap_gpu_synchronization r = {
		OUR_TIMES(pass, s),
		.type = s->type,
		.correlation_id = s->correlation_id,
		.context = s->context,
		.stream = s->stream,
		.event = s->event,
	};

	if (wants(pass, TAP_GPU_synchronization) && has_times(pass, s->start, s->end))
		pass->events->write[TAP_GPU_synchronization](&r, sizeof(r));
}

static void on_record(const struct pass *pass, const struct tap_cupti_record *record)
{
	switch (record->kind) {
	case TAP_CUPTI_KERNEL:
	case TAP_CUPTI_CONCURRENT_KERNEL:
		on_kernel(pass, record);
		break;
	case TAP_CUPTI_MEMCPY:
		on_memcpy(pass, record);
		break;
	case TAP_CUPTI_MEMCPY_P2P:
		on_memcpy_p2p(pass, record);
		break;
	case TAP_CUPTI_MEMSET:
		on_memset(pass, record);
		break;
	case TAP_CUPTI_DRIVER:
	case TAP_CUPTI_RUNTIME:
		on_api(pass, record);
		break;
	case TAP_CUPTI_OVERHEAD:
		on_overhead(pass, record);
		break;
	case TAP_CUPTI_SYNCHRONIZATION:
		on_synchronization(pass, record);
		break;
	case TAP_CUPTI_EXTERNAL_CORRELATION:
		break;
	default:
		count(UNKNOWN_RECORD);
	}
}

void tap_cupti_records(const struct tap_cupti_library *library, uint8_t *buffer,
		       size_t valid)
{
	const struct pass pass = {
		.events = &tap_events_table->gpu,
		.version = library->version,
		.offset = __atomic_load_n(&tap_cupti_offset_ns, __ATOMIC_RELAXED),
		.now = tap_cupti_now(),
	};
	struct tap_cupti_record *record = NULL;
	int error;

	while (!(error = library->ActivityGetNextRecord(buffer, valid, &record)))
		on_record(&pass, record);
	/*
	 * CUPTI returns MAX_LIMIT at the end; after any other error it cannot walk the
	 * rest.
	 */
	if (error != TAP_CUPTI_MAX_LIMIT)
		count(UNKNOWN_RECORD);
}

void tap_cupti_records_emit_lost(uint64_t dropped)
{
	unsigned i;

	if (dropped)
		tap_events_table->gpu.lost("dropped", dropped);
	for (i = 0; i < NR_LOST; i++) {
		const uint64_t nr = __atomic_exchange_n(&lost[i], 0, __ATOMIC_RELAXED);

		if (nr)
			tap_events_table->gpu.lost(lost_names[i], nr);
	}
}
