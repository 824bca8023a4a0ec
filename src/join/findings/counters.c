/* SPDX-License-Identifier: MIT */
/*
 * Adds to a finding what the counters of its ranks' ports, threads and GPUs say since it
 * began.  A counter is no finding by itself: a network retransmits at times.
 */
#include "join/findings/analysis.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Counters that are remembered, and the latest samples of each. */
#define COUNTERS_MAX 16384
#define RECENT_MAX 64

/* The tracer looks once a second: what grew may have done so a second before. */
#define LOOK_NS INT64_C(1000000000)

enum meaning { LINK, GIVEN_UP, RETRANSMITTED, CONGESTED, MEANINGS };

static const char *const meanings[] = {
	[LINK] = "errors of the link",
	[GIVEN_UP] = "requests given up",
	[RETRANSMITTED] = "lost or repeated packets",
	[CONGESTED] = "congestion",
};

/* Counters that tell of trouble; the others tell of traffic. */
static const struct {
	const char *name;
	enum meaning meaning;
} known_counters[] = {
	{"symbol_error", LINK},
	{"link_error_recovery", LINK},
	{"link_downed", LINK},
	{"local_link_integrity_errors", LINK},
	{"port_rcv_errors", LINK},
	{"rx_icrc_encapsulated", LINK},
	{"req_cqe_error", GIVEN_UP},
	{"resp_cqe_error", GIVEN_UP},
	{"max_retry_exceeded", GIVEN_UP},
	{"retry_exceeded_err", GIVEN_UP},
	{"retry_rnr_exceeded_err", GIVEN_UP},
	{"unresponsive_remote_events", GIVEN_UP},
	{"packet_seq_err", RETRANSMITTED},
	{"out_of_sequence", RETRANSMITTED},
	{"out_of_seq_request", RETRANSMITTED},
	{"local_ack_timeout_err", RETRANSMITTED},
	{"implied_nak_seq_err", RETRANSMITTED},
	{"rnr_nak_retry_err", RETRANSMITTED},
	{"duplicate_request", RETRANSMITTED},
	{"out_of_buffer", RETRANSMITTED},
	{"roce_adp_retrans", RETRANSMITTED},
	{"roce_adp_retrans_to", RETRANSMITTED},
	{"to_retransmits", RETRANSMITTED},
	{"seq_err_naks_rcvd", RETRANSMITTED},
	{"rnr_naks_rcvd", RETRANSMITTED},
	{"retrans_pkts", RETRANSMITTED},
	{"retrans_timeout_events", RETRANSMITTED},
	{"rcvd_seq_err", RETRANSMITTED},
	{"rcvd_rnr_err", RETRANSMITTED},
	{"completer_retry_err", RETRANSMITTED},
	{"port_xmit_discards", RETRANSMITTED},
	{"np_cnp_sent", CONGESTED},
	{"np_ecn_marked_roce_packets", CONGESTED},
	{"rp_cnp_handled", CONGESTED},
	{"roce_slow_restart", CONGESTED},
};

struct counter {
	const struct tap_process *process;
	char *subject;
	size_t number; /* in known_counters */
	struct {
		int64_t time_ns;
		uint64_t growth;
	} recent[RECENT_MAX];
	uint64_t count;	     /* samples, of which the latest are in recent */
	struct counter *next; /* with the same key */
};

/* The latest sample of a port or thread. */
struct latest {
	const struct tap_process *process;
	bool is_port;
	int64_t tid;
	char subject[72];
	char state[32];
	uint64_t run_ns, interval_ns; /* of a thread */
};

struct samples {
	struct tap_analysis_state state;
	struct tap_table by_key;
	TAP_VEC(struct counter *) counters;
	TAP_VEC(struct latest) latest;
};

/* Returns the index in known_counters, or -1. */
static int find_known(const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < sizeof(known_counters) / sizeof(known_counters[0]); i++)
		if (!strncmp(known_counters[i].name, name, length) &&
		    !known_counters[i].name[length])
			return (int) i;
	return -1;
}

static struct counter *make_counter(struct samples *samples,
				    const struct tap_sampled *sample, size_t number,
				    uint64_t key)
{
	struct counter *counter = calloc(1, sizeof(*counter));

	if (!counter)
		return NULL;
	counter->process = sample->process;
	counter->number = number;
	counter->subject = strdup(sample->subject);
	counter->next = tap_table_find(&samples->by_key, sample->process->number, key);
	if (!counter->subject || tap_vec_add(&samples->counters, counter)) {
		free(counter->subject);
		free(counter);
		return NULL;
	}
	if (!tap_table_set(&samples->by_key, sample->process->number, key, counter))
		return counter;
	samples->counters.count--;
	free(counter->subject);
	free(counter);
	return NULL;
}

/* Returns 0 or -ENOMEM. */
static int note_growth(struct samples *samples, const struct tap_sampled *sample,
		       size_t number, uint64_t growth)
{
	const uint64_t key = tap_table_hash(sample->subject) ^ number;
	struct counter *counter =
		tap_table_find(&samples->by_key, sample->process->number, key);
	size_t at;

	while (counter && (counter->number != number ||
			   strcmp(counter->subject, sample->subject) != 0))
		counter = counter->next;
	if (!counter && samples->counters.count == COUNTERS_MAX)
		return 0;
	if (!counter)
		counter = make_counter(samples, sample, number, key);
	if (!counter)
		return -ENOMEM;
	at = counter->count++ % RECENT_MAX;
	counter->recent[at].time_ns = sample->time_ns;
	counter->recent[at].growth = growth;
	return 0;
}

/* Returns 0 or -ENOMEM. */
static int note_latest(struct samples *samples, const struct tap_sampled *sample,
		       bool is_port)
{
	struct latest *latest = NULL;
	size_t i;

	for (i = 0; i < samples->latest.count; i++) {
		latest = &samples->latest.items[i];
		if (latest->process == sample->process && latest->is_port == is_port &&
		    latest->tid == sample->tid &&
		    !strncmp(latest->subject, sample->subject, sizeof(latest->subject)))
			break;
	}
	if (i == samples->latest.count) {
		if (i == COUNTERS_MAX)
			return 0;
		if (tap_vec_resize(&samples->latest, i + 1))
			return -ENOMEM;
		latest = &samples->latest.items[i];
		latest->process = sample->process;
		latest->is_port = is_port;
		latest->tid = sample->tid;
		strncpy(latest->subject, sample->subject, sizeof(latest->subject) - 1);
	}
	strncpy(latest->state, sample->state, sizeof(latest->state) - 1);
	latest->interval_ns = sample->interval_ns;
	latest->run_ns = tap_sampled_growth(sample, "run_ns");
	return 0;
}

static int take_sample(void *state, const struct tap_sampled *sample)
{
	struct samples *samples = state;
	const bool is_port = !strcmp(sample->source, "port");
	const char *name = sample->names;
	size_t i, length;
	int number, ret = 0;

	if (is_port || !strcmp(sample->source, "thread"))
		ret = note_latest(samples, sample, is_port);
	for (i = 0; !ret && i < sample->count;
	     i++, name += length + (name[length] == ',')) {
		length = strcspn(name, ",");
		number = is_port ? find_known(name, length) : -1;
		if (number >= 0 && sample->growth[i])
			ret = note_growth(samples, sample, (size_t) number,
					  sample->growth[i]);
	}
	return ret;
}

/* ---- Explaining ---- */

static bool is_of_rank(const struct tap_finding *finding,
		       const struct tap_process *process, int64_t rank)
{
	const struct tap_member *member;

	if (!finding->comm)
		return process->rank >= 0 && process->rank == rank;
	for (member = finding->comm->members; member; member = member->next)
		if (member->process == process && member->rank == rank)
			return true;
	return false;
}

/* Whether the process is one of the finding's; *rank becomes its rank there. */
static bool concerns(const struct tap_finding *finding, const struct tap_process *process,
		     bool with_waiting, int64_t *rank)
{
	size_t i;

	for (i = 0; i < finding->ranks.count; i++)
		if (is_of_rank(finding, process, *rank = finding->ranks.items[i]))
			return true;
	for (i = 0; with_waiting && i < finding->waiting.count; i++)
		if (is_of_rank(finding, process, *rank = finding->waiting.items[i]))
			return true;
	return false;
}

static uint64_t grown_since(const struct counter *counter, int64_t since_ns)
{
	const uint64_t known = counter->count < RECENT_MAX ? counter->count : RECENT_MAX;
	uint64_t i, growth = 0;

	for (i = 0; i < known; i++)
		if (counter->recent[i].time_ns >= since_ns)
			growth += counter->recent[i].growth;
	return growth;
}

static void begin_line(struct tap_buffer *text, int64_t rank)
{
	if (text->used)
		tap_buffer_add_char(text, '\n');
	tap_buffer_add_string(text, "rank ");
	tap_buffer_add_signed(text, rank);
	tap_buffer_add_string(text, ": ");
}

/* "rank 2: packet_seq_err of mlx5_0/1 grew by 312 since then (lost or repeated packets)" */
static void add_growth(struct tap_finding *finding, const struct counter *counter,
		       int64_t rank, uint64_t growth)
{
	struct tap_buffer *text = &finding->detail;

	begin_line(text, rank);
	tap_buffer_add_string(text, known_counters[counter->number].name);
	tap_buffer_add_string(text, " of ");
	tap_buffer_add_visible(text, counter->subject);
	tap_buffer_add_string(text, " grew by ");
	tap_buffer_add_unsigned(text, growth);
	tap_buffer_add_string(text, finding->time_ns >= 0 ? " since then (" : " (");
	tap_buffer_add_string(text, meanings[known_counters[counter->number].meaning]);
	tap_buffer_add_char(text, ')');
}

/* The counter of this meaning that grew most; NULL: none did. */
static const struct counter *find_most(const struct samples *samples,
				       const struct tap_finding *finding,
				       enum meaning meaning, int64_t since_ns,
				       int64_t *ret_rank, uint64_t *ret_growth)
{
	const struct counter *most = NULL;
	size_t i;

	*ret_growth = 0;
	for (i = 0; i < samples->counters.count; i++) {
		const struct counter *counter = samples->counters.items[i];
		uint64_t growth;
		int64_t rank;

		if (known_counters[counter->number].meaning != meaning ||
		    !concerns(finding, counter->process, true, &rank))
			continue;
		growth = grown_since(counter, since_ns);
		if (growth <= *ret_growth)
			continue;
		most = counter;
		*ret_growth = growth;
		*ret_rank = rank;
	}
	return most;
}

static int add_ports(const struct samples *samples, struct tap_finding *finding)
{
	static const char *const names[] = {[LINK] = "port_link_errors",
					    [GIVEN_UP] = "port_requests_given_up",
					    [RETRANSMITTED] = "port_retransmissions",
					    [CONGESTED] = "port_congestion"};
	const int64_t since_ns =
		finding->time_ns >= 0 ? finding->time_ns - LOOK_NS : INT64_MIN;
	const struct counter *counter;
	enum meaning meaning;
	uint64_t growth;
	int64_t rank = -1;
	size_t i;

	for (meaning = LINK; meaning < MEANINGS; meaning++) {
		counter = find_most(samples, finding, meaning, since_ns, &rank, &growth);
		if (!counter)
			continue;
		add_growth(finding, counter, rank, growth);
		if (tap_finding_add_evidence(finding, names[meaning], (int64_t) growth,
					     TAP_KNOWN_EXACT))
			return -ENOMEM;
	}
	for (i = 0; i < samples->latest.count; i++) {
		const struct latest *latest = &samples->latest.items[i];

		if (!latest->is_port || !*latest->state ||
		    !strcmp(latest->state, "ACTIVE") ||
		    !concerns(finding, latest->process, true, &rank))
			continue;
		begin_line(&finding->detail, rank);
		tap_buffer_add_visible(&finding->detail, latest->subject);
		tap_buffer_add_string(&finding->detail, " is ");
		tap_buffer_add_visible(&finding->detail, latest->state);
	}
	return 0;
}

/* "rank 1: thread 4711 sleeps in its call", or what part of the time it ran. */
static void add_threads(const struct samples *samples, struct tap_finding *finding)
{
	size_t i;
	int64_t rank;

	for (i = 0; i < samples->latest.count; i++) {
		const struct latest *latest = &samples->latest.items[i];

		if (latest->is_port || !latest->interval_ns ||
		    !concerns(finding, latest->process, false, &rank))
			continue;
		begin_line(&finding->detail, rank);
		tap_buffer_add_string(&finding->detail, "thread ");
		tap_buffer_add_signed(&finding->detail, latest->tid);
		tap_buffer_add_string(&finding->detail, " was ");
		tap_buffer_add_visible(&finding->detail,
				       *latest->state ? latest->state : "?");
		tap_buffer_add_string(&finding->detail, ", and ran ");
		tap_view_add_duration(&finding->detail, (int64_t) latest->run_ns);
		tap_buffer_add_string(&finding->detail, " of ");
		tap_view_add_duration(&finding->detail, (int64_t) latest->interval_ns);
	}
}

static int explain(void *state, struct tap_finding *finding)
{
	const struct samples *samples = state;

	if (finding->severity == TAP_SEVERITY_NOTE)
		return 0;
	if (finding->kind == TAP_FINDING_MISSING || finding->kind == TAP_FINDING_STUCK)
		add_threads(samples, finding);
	return finding->kind == TAP_FINDING_MISMATCH ? 0 : add_ports(samples, finding);
}

static void free_all(void *state)
{
	struct samples *samples = state;
	size_t i;

	for (i = 0; i < samples->counters.count; i++) {
		free(samples->counters.items[i]->subject);
		free(samples->counters.items[i]);
	}
	tap_vec_free(&samples->counters);
	tap_vec_free(&samples->latest);
	tap_table_free(&samples->by_key);
}

const struct tap_analysis tap_counters_analysis = {
	.name = "counters",
	.size = sizeof(struct samples),
	.takes = {.sample = take_sample},
	.explain = explain,
	.free = free_all,
};
