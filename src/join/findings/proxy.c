/* SPDX-License-Identifier: MIT */
/*
 * What NCCL's progress threads do while a job hangs: one that sleeps although messages
 * wait for it, that does not get a processor, or that looks in vain.
 *
 * A proxy sleeps only while it has no operation, so that with work for it in the trace
 * nobody has given it the operation.  While it has one, it never stops looking.
 */
#include "join/findings/analysis.h"
#include "join/findings/progress.h"
#include "join/findings/words.h"
#include "join/model/nccl_thread.h"
#include "join/views/view.h"

#include <errno.h>
#include <string.h>

#include "common/vec.h"

/* As in missing.c: shorter sleeps are usual. */
#define ASLEEP_NS INT64_C(1000000000)

/* A thread that wants to run, and runs less than this share of the time, is kept off. */
#define OFF_PERCENT 20
/* One that runs more than this spins. */
#define SPINS_PERCENT 50

/* Threads, and samples; the rest are not judged. */
#define THREADS_MAX 4096

/* So many threads are named in a finding. */
#define NAMED_MAX 4

/* The latest sample of a thread. */
struct sampled {
	const struct tap_process *process;
	int64_t tid;
	bool is_sleeping; /* as the kernel says */
	uint64_t run_ns, interval_ns;
};

struct proxy {
	struct tap_analysis_state state;
	TAP_VEC(struct tap_nccl_thread) threads; /* progress threads */
	TAP_VEC(struct sampled) samples;
	TAP_VEC(int64_t) moved_ns; /* when a message ended, by number of the process */
};

/* ---- What is seen ---- */

static int note_thread(void *data, const struct tap_nccl_thread *thread)
{
	struct proxy *proxy = data;

	if (thread->role != TAP_THREAD_PROGRESS || thread->is_over ||
	    proxy->threads.count >= THREADS_MAX)
		return 0;
	return tap_vec_add(&proxy->threads, *thread);
}

static const struct sampled *find_sample(const struct proxy *proxy,
					 const struct tap_process *process, int64_t tid)
{
	size_t i;

	for (i = 0; i < proxy->samples.count; i++)
		if (proxy->samples.items[i].process == process &&
		    proxy->samples.items[i].tid == tid)
			return &proxy->samples.items[i];
	return NULL;
}

static int note_sample(void *data, const struct tap_sampled *sample)
{
	struct proxy *proxy = data;
	struct sampled *own;

	if (strcmp(sample->source, "proxy"))
		return 0;
	own = (struct sampled *) find_sample(proxy, sample->process, sample->tid);
	if (!own && proxy->samples.count >= THREADS_MAX)
		return 0;
	if (!own) {
		if (tap_vec_resize(&proxy->samples, proxy->samples.count + 1))
			return -ENOMEM;
		own = &proxy->samples.items[proxy->samples.count - 1];
	}
	*own = (struct sampled){.process = sample->process,
				.tid = sample->tid,
				.is_sleeping = !strcmp(sample->state, "sleeping"),
				.run_ns = tap_sampled_growth(sample, "run_ns"),
				.interval_ns = sample->interval_ns};
	return 0;
}

static int note_span(void *data, struct tap_span *span)
{
	struct proxy *proxy = data;
	const unsigned int number = span->process->number;

	if (!tap_work_is_message(&span->work) || span->state != TAP_SPAN_COMPLETE)
		return 0;
	if (number >= proxy->moved_ns.count &&
	    tap_vec_resize(&proxy->moved_ns, number + 1))
		return -ENOMEM;
	if (span->end_ns > proxy->moved_ns.items[number])
		proxy->moved_ns.items[number] = span->end_ns;
	return 0;
}

/* ---- What it says of a finding ---- */

/* Messages that wait for the process. */
struct work {
	uint64_t to_send;    /* their receivers are ready */
	uint64_t to_receive; /* they have arrived */
	uint64_t under_way;  /* sent, and nobody has seen them arrive */
};

static struct work work_of(const struct proxy *proxy, const struct tap_process *process)
{
	struct tap_progress_connection *const *all;
	const size_t count =
		tap_progress_connections(tap_findings_progress(proxy->state.findings),
					 &all);
	struct work work = {0};
	size_t i;

	for (i = 0; i < count; i++) {
		const uint64_t delivered = tap_progress_delivered(all[i]);

		if (all[i]->from == process && all[i]->announced > all[i]->posted)
			work.to_send += all[i]->announced - all[i]->posted;
		if (all[i]->from == process && all[i]->posted > delivered)
			work.under_way += all[i]->posted - delivered;
		if (all[i]->to == process && delivered > all[i]->arrived)
			work.to_receive += delivered - all[i]->arrived;
	}
	return work;
}

enum trouble { NONE, ASLEEP, OFF, SPINS, TROUBLES };

static bool runs_less(const struct sampled *sample, uint64_t percent)
{
	return sample->run_ns < sample->interval_ns / 100 * percent;
}

static enum trouble trouble_of(const struct tap_nccl_thread *thread,
			       const struct sampled *sample, const struct work *work,
			       int64_t now_ns, bool is_at_fault)
{
	const bool has_work = work->to_send || work->to_receive;

	/* What a rank that does not come was to send is nothing to its proxy. */
	if (thread->is_asleep)
		return has_work && !is_at_fault &&
				       now_ns - thread->asleep_since_ns >= ASLEEP_NS
			       ? ASLEEP
			       : NONE;
	if (!sample || !sample->interval_ns || sample->is_sleeping)
		return NONE;
	if (runs_less(sample, OFF_PERCENT))
		return OFF;
	return (has_work || work->under_way) && !runs_less(sample, SPINS_PERCENT) ? SPINS
										  : NONE;
}

static void add_work(struct tap_buffer *text, const struct work *work)
{
	const struct {
		uint64_t count;
		const char *words;
	} all[] = {{work->to_send, " to send"},
		   {work->to_receive, " to receive"},
		   {work->under_way, " sent and not seen to arrive"}};
	const char *separator = ": ";
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].count)
			continue;
		tap_buffer_add_string(text, separator);
		tap_buffer_add_unsigned(text, all[i].count);
		tap_buffer_add_string(text, all[i].words);
		separator = ", ";
	}
}

static void add_ran(struct tap_buffer *text, const struct sampled *sample)
{
	tap_buffer_add_string(text, "ran ");
	tap_view_add_duration(text, (int64_t) sample->run_ns);
	tap_buffer_add_string(text, " of ");
	tap_view_add_duration(text, (int64_t) sample->interval_ns);
}

/* "proxy of rank 1 (thread 31): asleep for 9.9 s with work open: 2 to send" */
static void add_line(const struct proxy *proxy, struct tap_finding *finding,
		     const struct tap_nccl_thread *thread, const struct sampled *sample,
		     const struct work *work, enum trouble trouble)
{
	const int64_t now_ns = tap_findings_context(proxy->state.findings)->last_ns;
	const unsigned int number = thread->process->number;
	struct tap_buffer *text = &finding->detail;

	if (text->used)
		tap_buffer_add_char(text, '\n');
	tap_buffer_add_string(text, "proxy of ");
	tap_view_add_process(text, thread->process);
	tap_buffer_add_string(text, " (thread ");
	tap_buffer_add_signed(text, thread->tid);
	tap_buffer_add_string(text, "): ");
	if (trouble == ASLEEP) {
		tap_buffer_add_string(text, "asleep for ");
		tap_words_add_about(text, now_ns - thread->asleep_since_ns);
		tap_buffer_add_string(text, " with work open");
		add_work(text, work);
		return;
	}
	if (trouble == OFF) {
		tap_buffer_add_string(text,
				      "off the processor, though it wants to run: ");
		add_ran(text, sample);
		return;
	}
	tap_buffer_add_string(text, "spins (");
	add_ran(text, sample);
	tap_buffer_add_char(text, ')');
	if (number < proxy->moved_ns.count && proxy->moved_ns.items[number]) {
		tap_buffer_add_string(text, ", and has moved nothing for ");
		tap_words_add_about(text, now_ns - proxy->moved_ns.items[number]);
	}
	add_work(text, work);
}

static int explain(void *state, struct tap_finding *finding)
{
	static const char *const names[] = {[ASLEEP] = "proxies_asleep_with_work",
					    [OFF] = "proxies_off_processor",
					    [SPINS] = "proxies_spinning"};
	const struct proxy *proxy = state;
	const int64_t now_ns = tap_findings_context(proxy->state.findings)->last_ns;
	int64_t counts[TROUBLES] = {0};
	enum trouble trouble;
	size_t i, named = 0;

	if (finding->severity == TAP_SEVERITY_NOTE ||
	    (finding->kind != TAP_FINDING_MISSING && finding->kind != TAP_FINDING_STUCK))
		return 0;
	for (i = 0; i < proxy->threads.count; i++) {
		const struct tap_nccl_thread *thread = &proxy->threads.items[i];
		const struct sampled *sample =
			find_sample(proxy, thread->process, thread->tid);
		struct work work;

		if (!tap_finding_concerns(finding, thread->process))
			continue;
		work = work_of(proxy, thread->process);
		trouble = trouble_of(thread, sample, &work, now_ns,
				     tap_finding_blames(finding, thread->process));
		/* All look in vain for what a missing rank does not send. */
		if (trouble == SPINS && finding->kind == TAP_FINDING_MISSING)
			trouble = NONE;
		counts[trouble]++;
		if (trouble && named++ < NAMED_MAX)
			add_line(proxy, finding, thread, sample, &work, trouble);
	}
	for (trouble = ASLEEP; trouble < TROUBLES; trouble++)
		if (counts[trouble] &&
		    tap_finding_add_evidence(finding, names[trouble], counts[trouble],
					     TAP_KNOWN_INFERRED))
			return -ENOMEM;
	return 0;
}

static void free_all(void *state)
{
	struct proxy *proxy = state;

	tap_vec_free(&proxy->threads);
	tap_vec_free(&proxy->samples);
	tap_vec_free(&proxy->moved_ns);
}

const struct tap_analysis tap_proxy_analysis = {
	.name = "proxy",
	.size = sizeof(struct proxy),
	.takes = {.nccl_thread = note_thread,
		  .sample = note_sample,
		  .span_ended = note_span},
	.explain = explain,
	.free = free_all,
};
