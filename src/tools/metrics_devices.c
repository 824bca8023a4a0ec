/* SPDX-License-Identifier: MIT */
/* Adds queues up to devices, and devices to series by host, rank and name. */
#include "tools/metrics_devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "common/vec.h"
#include "tools/metrics_label.h"

/* ---- What adds up ---- */

static void add_queue(struct tap_metrics_queue *to, const struct tap_metrics_queue *from)
{
	to->sent += from->sent;
	to->sent_bytes += from->sent_bytes;
	to->send_completed += from->send_completed;
	to->recv_posted += from->recv_posted;
	to->recv_completed += from->recv_completed;
	to->received_bytes += from->received_bytes;
}

void tap_metrics_device_add(struct tap_metrics_device *to,
			    const struct tap_metrics_device *from)
{
	add_queue(&to->rest, &from->rest);
	to->failed += from->failed;
	to->flushed += from->flushed;
	to->timed_ns += from->timed_ns;
	for (unsigned i = 0; i < TAP_METRICS_TIMES; i++)
		to->timed[i] += from->timed[i];
}

void tap_metrics_devices_of(const struct tap_metrics_page *page,
			    struct tap_metrics_device ret_devices[TAP_METRICS_DEVICES])
{
	memcpy(ret_devices, page->devices, page->devices_used * sizeof(*ret_devices));
	for (unsigned i = 0; i < page->queues_used; i++)
		if (page->queues[i].device < page->devices_used)
			add_queue(&ret_devices[page->queues[i].device].rest,
				  &page->queues[i]);
}

struct series {
	const char *host;
	int32_t rank;
	uint32_t requests_timed;
	struct tap_metrics_device device;
};

struct all {
	TAP_VEC(struct series) of;
};

static int add_process(struct all *all, const struct tap_metrics_process *process)
{
	static struct tap_metrics_device devices[TAP_METRICS_DEVICES];
	const struct tap_metrics_page *page = process->page;
	const struct tap_metrics_before *before = &process->before;
	struct series series = {
		.host = page->host,
		.rank = page->rank,
		.requests_timed = page->requests_timed,
	};
	int ret = 0;

	tap_metrics_devices_of(page, devices);
	for (unsigned i = 0; !ret && i < page->devices_used; i++) {
		series.device = devices[i];
		ret = tap_vec_add(&all->of, series);
	}
	for (unsigned i = 0; !ret && i < before->nr_devices; i++) {
		series.device = before->devices[i];
		ret = tap_vec_add(&all->of, series);
	}
	return ret;
}

static int compare(const void *left, const void *right)
{
	const struct series *a = left, *b = right;
	int ret = strcmp(a->host, b->host);

	if (!ret)
		ret = (a->rank > b->rank) - (a->rank < b->rank);
	return ret ? ret : strcmp(a->device.name, b->device.name);
}

static void sum_up(struct all *all)
{
	size_t kept = 0;

	if (!all->of.count)
		return;
	qsort(all->of.items, all->of.count, sizeof(*all->of.items), compare);
	for (size_t i = 1; i < all->of.count; i++) {
		struct series *to = &all->of.items[kept], *from = &all->of.items[i];

		if (compare(to, from))
			all->of.items[++kept] = *from;
		else
			tap_metrics_device_add(&to->device, &from->device);
	}
	all->of.count = kept + 1;
}

/* ---- The metrics ---- */

/* Without an offset of `receives` a metric is not of one side. */
static const struct metric {
	const char *name, *help;
	size_t sends, receives;
} metrics[] = {
	{"ccltap_rdma_posts_total", "Requests that devices accepted.",
	 offsetof(struct tap_metrics_device, rest.sent),
	 offsetof(struct tap_metrics_device, rest.recv_posted)},
	{"ccltap_rdma_completions_total",
	 "Completions without an error that the program polled.",
	 offsetof(struct tap_metrics_device, rest.send_completed),
	 offsetof(struct tap_metrics_device, rest.recv_completed)},
	{"ccltap_rdma_bytes_total",
	 "Bytes of requests of the send queue when posted, of receives when complete.",
	 offsetof(struct tap_metrics_device, rest.sent_bytes),
	 offsetof(struct tap_metrics_device, rest.received_bytes)},
	{"ccltap_rdma_failed_completions_total", "Completions with an error.",
	 offsetof(struct tap_metrics_device, failed), 0},
	{"ccltap_rdma_flushed_completions_total",
	 "Completions of requests that did not run since their queue pair was in error.",
	 offsetof(struct tap_metrics_device, flushed), 0},
};

static uint64_t at(const struct tap_metrics_device *device, size_t offset)
{
	uint64_t value;

	memcpy(&value, (const char *) device + offset, sizeof(value));
	return value;
}

static void begin_line(FILE *out, const char *name, const char *suffix,
		       const char *recording, const struct series *series)
{
	fprintf(out, "%s%s{", name, suffix);
	tap_metrics_label_rank(out, series->host, recording, series->rank);
	fputc(',', out);
	tap_metrics_label_word(out, "device", series->device.name);
}

static void write_metric(FILE *out, const struct all *all, const char *recording,
			 const struct metric *metric)
{
	static const char *const queues[] = {"send", "receive"};
	const size_t offsets[] = {metric->sends, metric->receives};

	fprintf(out, "# HELP %s %s\n# TYPE %s counter\n", metric->name, metric->help,
		metric->name);
	for (size_t i = 0; i < all->of.count; i++) {
		const struct series *series = &all->of.items[i];

		for (size_t side = 0; side < (metric->receives ? 2 : 1); side++) {
			begin_line(out, metric->name, "", recording, series);
			if (metric->receives)
				fprintf(out, ",queue=\"%s\"", queues[side]);
			fprintf(out, "} %" PRIu64 "\n",
				at(&series->device, offsets[side]));
		}
	}
}

static void write_times(FILE *out, const char *recording, const struct series *series)
{
	static const char name[] = "ccltap_rdma_completion_seconds";
	uint64_t sum = 0;

	for (unsigned i = 0; i < TAP_METRICS_TIMES; i++) {
		sum += series->device.timed[i];
		begin_line(out, name, "_bucket", recording, series);
		if (i + 1 < TAP_METRICS_TIMES)
			fprintf(out, ",le=\"%.12g\"",
				(double) (UINT64_C(1) << (TAP_METRICS_TIME_BITS + i)) /
					1e9);
		else
			fputs(",le=\"+Inf\"", out);
		fprintf(out, "} %" PRIu64 "\n", sum);
	}
	begin_line(out, name, "_sum", recording, series);
	fputc('}', out);
	tap_metrics_value_ns(out, series->device.timed_ns);
	begin_line(out, name, "_count", recording, series);
	fprintf(out, "} %" PRIu64 "\n", sum);
}

int tap_metrics_devices_write(FILE *out, struct tap_metrics_process *const *processes,
			      size_t count, const char *recording)
{
	struct all all = {0};
	int ret = 0;

	for (size_t i = 0; !ret && i < count; i++)
		ret = add_process(&all, processes[i]);
	if (ret) {
		tap_vec_free(&all.of);
		return ret;
	}
	sum_up(&all);
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
		write_metric(out, &all, recording, &metrics[i]);
	fputs("# HELP ccltap_rdma_completion_seconds Time from a post to the poll that found "
	      "its completion, of a sample of the requests.\n"
	      "# TYPE ccltap_rdma_completion_seconds histogram\n",
	      out);
	for (size_t i = 0; i < all.of.count; i++)
		write_times(out, recording, &all.of.items[i]);
	fputs("# HELP ccltap_rdma_requests_per_sample Of so many requests with a completion, "
	      "one is in the sample.\n"
	      "# TYPE ccltap_rdma_requests_per_sample gauge\n",
	      out);
	for (size_t i = 0; i < all.of.count; i++) {
		begin_line(out, "ccltap_rdma_requests_per_sample", "", recording,
			   &all.of.items[i]);
		fprintf(out, "} %" PRIu32 "\n", all.of.items[i].requests_timed);
	}
	tap_vec_free(&all.of);
	return 0;
}
