/* SPDX-License-Identifier: MIT */
/* Series are gathered, sorted and added up, then each metric writes its part of them. */
#include "tools/metrics_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "common/vec.h"
#include "tools/metrics_devices.h"
#include "tools/metrics_label.h"
#include "tools/metrics_ports.h"

struct series {
	const char *host, *function; /* function "": of all */
	int32_t rank, nranks;	     /* -1 not known */
	uint64_t key;
	bool is_on_comm, is_operation, has_bus;
	uint64_t calls, failures, operations, bytes, bus_bytes, dropped;
	uint64_t timed, timed_ns;
	uint64_t processes, live;
	uint64_t proxies, proxies_asleep, proxy_yields, kernels, kernel_ns;
	uint64_t calls_timed; /* the rate at which calls are timed */
	int64_t open_ms;      /* of the call that is open for longest, 0 none */
};

struct all {
	TAP_VEC(struct series) of;
};

/* ---- What adds up ---- */

/* nccl-tests' reckoning, of the count that a call gives: times * (n - 1) / n, or as it
 * is. */
static const struct factor {
	const char *name;
	uint64_t times; /* 0: as it is */
	bool is_of_all; /* the count is that of one rank of all */
} factors[] = {
	{"ncclAllReduce", 2, false}, {"ncclReduceScatter", 1, true},
	{"ncclAllGather", 1, true},  {"ncclAlltoAll", 1, true},
	{"ncclAllToAll", 1, true},   {"ncclGather", 1, true},
	{"ncclScatter", 1, true},    {"ncclBroadcast", 0, false},
	{"ncclBcast", 0, false},     {"ncclReduce", 0, false},
	{"ncclSend", 0, false},	     {"ncclRecv", 0, false},
};

static bool is_named(const char *function, const char *name)
{
	const size_t length = strlen(name);

	return !strncmp(function, name, length) &&
	       (!function[length] || !strcmp(function + length, "Config"));
}

/* Returns false where nothing is known of the function, or of the ranks that it needs. */
static bool find_bus_bytes(const char *function, uint64_t bytes, int32_t nranks,
			   uint64_t *ret_bytes)
{
	double bus;

	for (size_t i = 0; i < ARRAY_SIZE(factors); i++) {
		const struct factor *factor = &factors[i];

		if (!is_named(function, factor->name))
			continue;
		*ret_bytes = bytes;
		if (!factor->times)
			return true;
		if (nranks < 1)
			return false;
		if (factor->is_of_all) {
			*ret_bytes = bytes * (uint64_t) (nranks - 1);
			return true;
		}
		bus = (double) bytes * (double) factor->times * (nranks - 1) / nranks;
		*ret_bytes = bus < 0x1p64 ? (uint64_t) bus : UINT64_MAX;
		return true;
	}
	return false;
}

static int add(struct all *all, const struct series *series)
{
	return tap_vec_add(&all->of, *series);
}

static struct series series_of(const struct tap_metrics_page *page, const char *function,
			       const struct tap_metrics_slot *slot, bool is_operation)
{
	/* Of a process that counts meanwhile, the end may have been read before the
	 * begin. */
	const uint64_t failures = slot->failed < slot->ended ? slot->failed : slot->ended;

	return (struct series){
		.host = page->host,
		.function = function,
		.rank = page->rank,
		.nranks = -1,
		.is_operation = is_operation,
		.calls = slot->ended,
		.failures = failures,
		.operations = is_operation ? slot->ended - failures : 0,
		.bytes = slot->bytes,
		.timed = slot->timed,
		.timed_ns = slot->timed_ns,
	};
}

static int64_t open_ms(const struct tap_metrics_process *process,
		       const struct tap_metrics_open *open, unsigned row, int64_t now_ms)
{
	if (process->ended_ms || !open->since_ms || open->row != row)
		return 0;
	return now_ms - open->since_ms;
}

/* Calls on a communicator count for it, and for their process. */
static int add_comm(struct all *all, const struct tap_metrics_process *process,
		    unsigned i, int64_t now_ms)
{
	const struct tap_metrics_page *page = process->page;
	const struct tap_metrics_comm *comm = &page->comms[i];
	struct series about = {
		.host = page->host,
		.function = "",
		.rank = page->rank >= 0 ? page->rank : comm->rank,
		.nranks = comm->nranks,
		.key = comm->key,
		.is_on_comm = true,
		.dropped = comm->dropped,
	};
	int ret;

	about.live = comm->use == TAP_METRICS_LIVE && !process->ended_ms;
	ret = add(all, &about);
	about.is_on_comm = false;
	about.rank = page->rank;
	about.nranks = -1;
	about.key = 0;
	if (!ret)
		ret = add(all, &about);
	for (unsigned row = 0; !ret && row < TAP_METRICS_FUNCTIONS; row++) {
		const struct tap_metrics_slot *slot = &comm->of[row];
		struct series series;

		if (!slot->begun)
			continue;
		series = series_of(page, page->names[row], slot, true);
		ret = add(all, &series);
		if (ret)
			break;
		series.is_on_comm = true;
		if (series.rank < 0)
			series.rank = comm->rank;
		series.nranks = comm->nranks;
		series.key = comm->key;
		series.has_bus = find_bus_bytes(page->names[row], slot->bytes,
						comm->nranks, &series.bus_bytes);
		series.open_ms = open_ms(process, &process->open[i], row, now_ms);
		ret = add(all, &series);
	}
	return ret;
}

static int add_process(struct all *all, const struct tap_metrics_process *process,
		       int64_t now_ms)
{
	const struct tap_metrics_page *page = process->page;
	const struct tap_metrics_before *before = &process->before;
	struct series about = {
		.host = page->host,
		.function = "",
		.rank = page->rank,
		.nranks = -1,
		.dropped = page->dropped + before->dropped,
		.processes = !process->ended_ms,
		.proxies = process->ended_ms ? 0 : page->proxies,
		.proxies_asleep = process->ended_ms ? 0 : page->proxies_asleep,
		.proxy_yields = page->proxy_yields + before->proxy_yields,
		.kernels = page->kernels + before->kernels,
		.kernel_ns = page->kernel_ns + before->kernel_ns,
		.calls_timed = page->calls_timed,
	};
	int ret = add(all, &about);

	for (unsigned row = 0; !ret && row < TAP_METRICS_FUNCTIONS; row++) {
		const struct tap_metrics_slot *slot = &page->shared[row];
		struct series series;

		if (!slot->begun)
			continue;
		series = series_of(page, page->names[row], slot, page->is_operation[row]);
		series.open_ms =
			open_ms(process, &process->open_shared[row], row, now_ms);
		ret = add(all, &series);
	}
	for (unsigned row = 0; !ret && row < TAP_METRICS_FUNCTIONS; row++) {
		struct series series;

		if (!before->of[row].begun)
			continue;
		series = series_of(page, page->names[row], &before->of[row],
				   before->is_operation[row]);
		ret = add(all, &series);
	}
	for (unsigned i = 0; !ret && i < page->used; i++)
		ret = add_comm(all, process, i, now_ms);
	return ret;
}

static int compare(const void *left, const void *right)
{
	const struct series *a = left, *b = right;
	int ret = strcmp(a->host, b->host);

	if (!ret)
		ret = (a->rank > b->rank) - (a->rank < b->rank);
	if (!ret)
		ret = (int) a->is_on_comm - (int) b->is_on_comm;
	if (!ret)
		ret = (a->key > b->key) - (a->key < b->key);
	if (!ret)
		ret = (a->nranks > b->nranks) - (a->nranks < b->nranks);
	return ret ? ret : strcmp(a->function, b->function);
}

static void sum_up(struct all *all)
{
	size_t kept = 0;

	if (!all->of.count)
		return;
	qsort(all->of.items, all->of.count, sizeof(*all->of.items), compare);
	for (size_t i = 1; i < all->of.count; i++) {
		struct series *to = &all->of.items[kept], *from = &all->of.items[i];

		if (compare(to, from)) {
			all->of.items[++kept] = *from;
			continue;
		}
		to->is_operation |= from->is_operation;
		to->calls += from->calls;
		to->failures += from->failures;
		to->operations += from->operations;
		to->bytes += from->bytes;
		to->bus_bytes += from->bus_bytes;
		to->dropped += from->dropped;
		to->timed += from->timed;
		to->timed_ns += from->timed_ns;
		to->proxies += from->proxies;
		to->proxies_asleep += from->proxies_asleep;
		to->proxy_yields += from->proxy_yields;
		to->kernels += from->kernels;
		to->kernel_ns += from->kernel_ns;
		if (from->calls_timed > to->calls_timed)
			to->calls_timed = from->calls_timed;
		to->processes += from->processes;
		to->live += from->live;
		if (from->open_ms > to->open_ms)
			to->open_ms = from->open_ms;
	}
	all->of.count = kept + 1;
}

/* ---- The metrics ---- */

enum value {
	CALLS,
	FAILURES,
	OPERATIONS,
	BYTES,
	BUS_BYTES,
	DROPPED,
	OPEN,
	LIVE,
	PROCESSES,
	CALLS_TIMED,
	PROXIES_AWAKE,
	PROXIES_ASLEEP,
	PROXY_YIELDS,
	KERNELS,
	KERNEL_NS
};

static uint64_t value_of(const struct series *series, enum value value)
{
	switch (value) {
	case CALLS:
		return series->calls;
	case FAILURES:
		return series->failures;
	case OPERATIONS:
		return series->operations;
	case BYTES:
		return series->bytes;
	case BUS_BYTES:
		return series->bus_bytes;
	case DROPPED:
		return series->dropped;
	case LIVE:
		return series->live;
	case PROCESSES:
		return series->processes;
	case CALLS_TIMED:
		return series->calls_timed;
	case PROXIES_AWAKE:
		/* One may have gone to sleep while they were read. */
		return series->proxies > series->proxies_asleep
			       ? series->proxies - series->proxies_asleep
			       : 0;
	case PROXIES_ASLEEP:
		return series->proxies_asleep;
	case PROXY_YIELDS:
		return series->proxy_yields;
	case KERNELS:
		return series->kernels;
	case KERNEL_NS:
		return series->kernel_ns;
	case OPEN:
		break;
	}
	return (uint64_t) series->open_ms;
}

/* Which series a metric has. */
enum scope {
	OF_CALLS,      /* by rank and function */
	OF_OPERATIONS, /* the same, of operations alone */
	OF_COMM_CALLS, /* by rank, communicator and function */
	OF_BUS,	       /* the same, where nccl-tests has a bus bandwidth */
	OF_OPEN,       /* of either, while one is open */
	OF_RANKS,      /* by rank */
	OF_COMMS,      /* by rank and communicator */
};

static const struct metric {
	const char *name, *help;
	enum scope scope;
	enum value value;
	bool is_gauge;
} metrics[] = {
	{"ccltap_processes",
	 "Processes that run and have called NCCL or opened a device.", OF_RANKS,
	 PROCESSES, true},
	{"ccltap_nccl_communicators", "Communicators that exist.", OF_RANKS, LIVE, true},
	{"ccltap_nccl_calls_total", "Calls of NCCL that have returned.", OF_CALLS, CALLS,
	 false},
	{"ccltap_nccl_call_failures_total", "Calls of NCCL that returned an error.",
	 OF_CALLS, FAILURES, false},
	{"ccltap_nccl_operations_total",
	 "Collectives, sends and receives that NCCL has accepted, on all communicators.",
	 OF_OPERATIONS, OPERATIONS, false},
	{"ccltap_nccl_operation_bytes_total",
	 "Count times size of the type of these operations.", OF_OPERATIONS, BYTES,
	 false},
	{"ccltap_nccl_dropped_operations_total",
	 "Operations that NCCL has accepted and dropped with their group.", OF_RANKS,
	 DROPPED, false},
	{"ccltap_nccl_communicator_ranks",
	 "Ranks of the communicator that exist here; 0: it is gone.", OF_COMMS, LIVE,
	 true},
	{"ccltap_nccl_communicator_calls_total",
	 "Calls of operations on a communicator that have returned.", OF_COMM_CALLS,
	 CALLS, false},
	{"ccltap_nccl_communicator_call_failures_total",
	 "Calls of operations on a communicator that returned an error.", OF_COMM_CALLS,
	 FAILURES, false},
	{"ccltap_nccl_communicator_operations_total",
	 "Operations on a communicator that NCCL has accepted.", OF_COMM_CALLS,
	 OPERATIONS, false},
	{"ccltap_nccl_communicator_operation_bytes_total",
	 "Count times size of the type of these operations.", OF_COMM_CALLS, BYTES,
	 false},
	{"ccltap_nccl_communicator_bus_bytes_total",
	 "Bytes of these operations as nccl-tests reckons the bus bandwidth.", OF_BUS,
	 BUS_BYTES, false},
	{"ccltap_nccl_communicator_dropped_operations_total",
	 "Operations on a communicator that NCCL has dropped with their group.", OF_COMMS,
	 DROPPED, false},
	{"ccltap_nccl_calls_per_sample",
	 "Of so many calls of a function, one is in the sample of call times.", OF_RANKS,
	 CALLS_TIMED, true},
	{"ccltap_nccl_proxy_threads_awake",
	 "Threads of NCCL that move messages and are not asleep.", OF_RANKS,
	 PROXIES_AWAKE, true},
	{"ccltap_nccl_proxy_threads_asleep",
	 "Threads of NCCL that move messages and sleep, for want of work.", OF_RANKS,
	 PROXIES_ASLEEP, true},
	{"ccltap_nccl_proxy_idle_turns_total",
	 "How often such a thread, awake, had nothing to do, in steps of 64.", OF_RANKS,
	 PROXY_YIELDS, false},
	{"ccltap_nccl_kernels_total",
	 "Kernels of NCCL that ran, while a recording has events of the GPU.", OF_RANKS,
	 KERNELS, false},
	{"ccltap_nccl_kernel_seconds_total", "The time that these kernels ran.", OF_RANKS,
	 KERNEL_NS, false},
	{"ccltap_nccl_open_call_seconds",
	 "For how long a call that has not returned was seen to be open, at least.",
	 OF_OPEN, OPEN, true},
};

static bool is_of(const struct series *series, enum scope scope)
{
	switch (scope) {
	case OF_CALLS:
		return !series->is_on_comm && *series->function;
	case OF_OPERATIONS:
		return !series->is_on_comm && *series->function && series->is_operation;
	case OF_COMM_CALLS:
		return series->is_on_comm && *series->function;
	case OF_BUS:
		return series->has_bus;
	case OF_OPEN:
		return *series->function && series->open_ms;
	case OF_RANKS:
		return !series->is_on_comm && !*series->function;
	case OF_COMMS:
		break;
	}
	return series->is_on_comm && !*series->function;
}

static void write_labels(FILE *out, const char *recording, const struct series *series)
{
	fputc('{', out);
	tap_metrics_label_rank(out, series->host, recording, series->rank);
	if (series->is_on_comm) {
		fprintf(out, ",communicator=\"%016" PRIx64 "\"", series->key);
		if (series->nranks >= 0)
			fprintf(out, ",nranks=\"%" PRId32 "\"", series->nranks);
	}
	if (*series->function) {
		fputc(',', out);
		tap_metrics_label_word(out, "function", series->function);
	}
	fputc('}', out);
}

static void write_metric(FILE *out, const struct all *all, const char *recording,
			 const struct metric *metric)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", metric->name, metric->help,
		metric->name, metric->is_gauge ? "gauge" : "counter");
	for (size_t i = 0; i < all->of.count; i++) {
		const struct series *series = &all->of.items[i];
		const uint64_t value = value_of(series, metric->value);

		if (!is_of(series, metric->scope))
			continue;
		fputs(metric->name, out);
		write_labels(out, recording, series);
		if (metric->value == OPEN)
			fprintf(out, " %" PRIu64 ".%03u\n", value / 1000,
				(unsigned) (value % 1000));
		else if (metric->value == KERNEL_NS)
			tap_metrics_value_ns(out, value);
		else
			fprintf(out, " %" PRIu64 "\n", value);
	}
}

/* A sum and a count, of which the quotient is the mean. */
static void write_times(FILE *out, const struct all *all, const char *recording,
			const char *name, const char *help, enum scope scope)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s summary\n", name, help, name);
	for (size_t i = 0; i < all->of.count; i++) {
		const struct series *series = &all->of.items[i];

		if (!is_of(series, scope))
			continue;
		fprintf(out, "%s_sum", name);
		write_labels(out, recording, series);
		tap_metrics_value_ns(out, series->timed_ns);
		fprintf(out, "%s_count", name);
		write_labels(out, recording, series);
		fprintf(out, " %" PRIu64 "\n", series->timed);
	}
}

static uint64_t count_without_room(struct tap_metrics_process *const *processes,
				   size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += processes[i]->page->without;
	return sum;
}

static uint64_t count_queues_without(struct tap_metrics_process *const *processes,
				     size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += processes[i]->page->queues_without;
	return sum;
}

/* What the metrics above do not have: nothing is left out in silence. */
static void write_missing(FILE *out, struct tap_metrics_process *const *processes,
			  size_t count, const char *recording, unsigned refused)
{
	fputs("# HELP ccltap_nccl_communicators_without_series Communicators that were one "
	      "too many: counted by rank alone.\n"
	      "# TYPE ccltap_nccl_communicators_without_series gauge\n",
	      out);
	tap_metrics_value_one(out, "ccltap_nccl_communicators_without_series", recording,
			      count_without_room(processes, count));
	fputs("# HELP ccltap_rdma_uncounted_queues Queues of devices that were one too "
	      "many: not counted.\n"
	      "# TYPE ccltap_rdma_uncounted_queues gauge\n",
	      out);
	tap_metrics_value_one(out, "ccltap_rdma_uncounted_queues", recording,
			      count_queues_without(processes, count));
	fputs("# HELP ccltap_refused_processes_total Processes whose counters are of "
	      "another version of ccltap.\n"
	      "# TYPE ccltap_refused_processes_total counter\n",
	      out);
	tap_metrics_value_one(out, "ccltap_refused_processes_total", recording, refused);
}

int tap_metrics_text_write(FILE *out, struct tap_metrics_process *const *processes,
			   size_t count, const char *recording, unsigned refused,
			   int64_t now_ms)
{
	struct all all = {0};
	int ret = 0;

	for (size_t i = 0; !ret && i < count; i++)
		ret = add_process(&all, processes[i], now_ms);
	if (!ret) {
		sum_up(&all);
		for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
			write_metric(out, &all, recording, &metrics[i]);
		write_times(
			out, &all, recording, "ccltap_nccl_call_seconds",
			"Time inside calls of NCCL, of a sample of those that returned.",
			OF_CALLS);
		write_times(out, &all, recording,
			    "ccltap_nccl_communicator_call_seconds",
			    "The same of the operations on a communicator.",
			    OF_COMM_CALLS);
		ret = tap_metrics_devices_write(out, processes, count, recording);
	}
	if (!ret)
		ret = tap_metrics_ports_write(out, processes, count, recording, now_ms);
	if (!ret) {
		write_missing(out, processes, count, recording, refused);
		if (fflush(out) == EOF || ferror(out))
			ret = -(errno ? errno : EIO);
	}
	tap_vec_free(&all.of);
	return ret;
}
