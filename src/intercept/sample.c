/* SPDX-License-Identifier: MIT */
/*
 * Whether a thread in a call, or one that moves messages meanwhile, spins, sleeps or waits
 * for a processor is in /proc/self/task/TID/stat and status (proc(5)): its state, its page
 * faults, the time that it ran, and how often it was taken off the processor.
 */
#include "intercept/sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/counters.h"
#include "intercept/layer.h"
#include "intercept/own_fd.h"
#include "intercept/trace.h"

/* Threads whose counters are remembered, by the last digits of their number. */
#define SLOTS 64

/* Threads of a CCL's that are looked at; a process has one for each communicator. */
#define PROXIES_MAX 64

static unsigned sources = TAP_SAMPLE_THREADS | TAP_SAMPLE_PORTS;

/* The watchdog alone uses these. */
static struct slot {
	int32_t tid;
	uint64_t call_id;
	struct tap_counters counters;
} slots[SLOTS];

static struct tap_counters_sample found;
static char stat[1024], status[4096];

enum { RUN_NS, MINOR_FAULTS, MAJOR_FAULTS, VOLUNTARY, INVOLUNTARY, YIELDS };

static bool is_in_list(const char *list, const char *word)
{
	const size_t length = strlen(word);
	const char *at;

	for (at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ',') && (!at[length] || at[length] == ','))
			return true;
	return false;
}

/* Reads CCLTAP_SAMPLE: "none", or a list of "ports", "threads" and "gpu". */
static void prepare(void)
{
	const char *list = getenv("CCLTAP_SAMPLE");

	if (!list || !*list)
		return;
	sources = (is_in_list(list, "threads") ? TAP_SAMPLE_THREADS : 0) |
		  (is_in_list(list, "ports") ? TAP_SAMPLE_PORTS : 0) |
		  (is_in_list(list, "gpu") ? TAP_SAMPLE_GPU : 0);
	if (!sources && strcmp(list, "none"))
		tap_problem("sample", "CCLTAP_SAMPLE is not none, or some of ports,threads,gpu",
			    1);
}

/* The n-th field from 3 on; the second, the name, may contain blanks and brackets. */
static bool find_field(unsigned n, uint64_t *ret)
{
	const char *at = strrchr(stat, ')');

	for (n -= 2; at && n; n--)
		at = strchr(at + 1, ' ');
	return at && tap_counters_number(at, ret);
}

static const char *name_state(void)
{
	const char *at = strrchr(stat, ')');

	switch (at && at[1] ? at[2] : 0) {
	case 'R':
		return "running";
	case 'S':
		return "sleeping";
	case 'D':
		return "uninterruptible";
	case 'T':
	case 't':
		return "stopped";
	default:
		return "";
	}
}

static void note_stat(struct tap_counters *counters)
{
	const uint64_t tick_ns = (uint64_t) (TAP_SECOND_NS / sysconf(_SC_CLK_TCK));
	uint64_t user, system, value;

	if (find_field(14, &user) && find_field(15, &system))
		tap_counters_note(counters, &found, RUN_NS, "run_ns",
				  (user + system) * tick_ns);
	if (find_field(10, &value))
		tap_counters_note(counters, &found, MINOR_FAULTS, "minor_faults", value);
	if (find_field(12, &value))
		tap_counters_note(counters, &found, MAJOR_FAULTS, "major_faults", value);
}

static void note_status(struct tap_counters *counters)
{
	uint64_t value;

	if (tap_counters_find(status, "voluntary_ctxt_switches", &value))
		tap_counters_note(counters, &found, VOLUNTARY, "voluntary_switches",
				  value);
	if (tap_counters_find(status, "nonvoluntary_ctxt_switches", &value))
		tap_counters_note(counters, &found, INVOLUNTARY, "involuntary_switches",
				  value);
}

static bool is_wanted(void)
{
	return sources & TAP_SAMPLE_THREADS && *tap_events_table->sample_on;
}

/*
 * Reads the counters of a thread, which is in this call or, 0, in none, since the look
 * before.  NULL: the thread has ended.
 */
static struct tap_counters *read_thread(int32_t tid, uint64_t call_id)
{
	struct slot *slot = &slots[(uint32_t) tid % SLOTS];
	char path[64];

	if (slot->tid != tid || slot->call_id != call_id)
		*slot = (struct slot){.tid = tid, .call_id = call_id};
	tap_counters_begin(&slot->counters, &found, tap_now_ns());
	snprintf(path, sizeof(path), "/proc/self/task/%" PRId32 "/stat", tid);
	if (!tap_own_fd_read(path, stat, sizeof(stat)))
		return NULL;
	note_stat(&slot->counters);
	snprintf(path, sizeof(path), "/proc/self/task/%" PRId32 "/status", tid);
	if (tap_own_fd_read(path, status, sizeof(status)))
		note_status(&slot->counters);
	return &slot->counters;
}

static void end_thread(struct tap_counters *counters, const char *source, int32_t tid,
		       bool is_due)
{
	tap_counters_end(counters, &found);
	if (!is_due)
		return;
	tap_events_table->sample(&(struct tap_sample){
		.source = source,
		.subject = "",
		.state = name_state(),
		.tid = tid,
		.interval_ns = found.interval_ns,
		.names = found.names,
		.nr = found.nr,
		.values = found.values,
		.growth = found.growth,
	});
}

void tap_sample_thread(const struct tap_thread_seen *seen)
{
	const int32_t tid = seen->state.tid;
	struct tap_counters *counters;

	if (!is_wanted())
		return;
	counters = read_thread(tid, seen->state.call_id);
	if (counters)
		end_thread(counters, "thread", tid, seen->is_due);
}

void tap_sample_proxies(bool is_due)
{
	static struct tap_proxy_seen seen[PROXIES_MAX];
	struct tap_counters *counters;
	uint32_t i, nr;

	if (!is_wanted())
		return;
	nr = tap_threads_look_proxies(seen, PROXIES_MAX);
	for (i = 0; i < nr; i++) {
		counters = read_thread(seen[i].tid, 0);
		if (!counters)
			continue;
		tap_counters_note(counters, &found, YIELDS, "yields", seen[i].yields);
		end_thread(counters, "proxy", seen[i].tid, is_due || !seen[i].is_asleep);
	}
}

void tap_sample_layers(void)
{
	if (*tap_events_table->sample_on)
		TAP_LAYERS_CALL(sample, sources);
}

const struct tap_layer tap_layer_sample = {
	.prepare = prepare,
};
