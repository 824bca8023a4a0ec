/* SPDX-License-Identifier: MIT */
/*
 * Connections that are slow: the messages of one rank to another take much longer than
 * those of the same size between other ranks, from the post by the sender to the receipt
 * or to the sender's completion, whichever is earlier: a rank that is off its processor
 * looks late at what has long arrived.  Where the two have no common clock, to the
 * sender's completion.
 *
 * The median of a pair's messages is compared with those of the pairs that are like it:
 * that send as many bytes, and are on one host or on two, too.  A pair stands out if it
 * takes four times the median of the others' medians, and six times their median
 * deviation more, so that pairs which merely differ (host to host, near and far adapters)
 * do not.  It is a warning if its messages could have taken a tenth of the time of all
 * messages less, and 20 ms, and else a note from a fiftieth on.  That is an upper bound:
 * messages that overlap are counted each.
 *
 * A rank that is late to a collective makes no connection slow: it posts late.
 */
#include "join/findings/analysis.h"

#include "common/vec.h"
#include "join/base/spread.h"
#include "join/base/table.h"
#include "join/base/time.h"
#include "join/findings/collective.h"
#include "join/findings/sample.h"
#include "join/findings/quantity.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most pairs: a damaged trace cannot fill the memory. */
#define PAIRS_MAX 65536
/* The most findings. */
#define FINDINGS_MAX 4
/*
 * A median of fewer messages says nothing; nor one of many that overlap: a process that is
 * off its processor for a moment delays all that are under way.
 */
#define MESSAGES_MIN 8
#define ALONE_MIN 3
/* One other pair is no crowd to stand out from. */
#define OTHERS_MIN 2

#define TIMES 4
#define DEVIATIONS 6
#define FASTEST_TIMES 3
#define WARNING_SHARE 0.1
#define NOTE_SHARE 0.02
#define WARNING_NS 20000000

/* Messages of one process to another, of one size class. */
struct pair {
	const struct tap_process *from, *to;
	unsigned int size_class;
	bool is_received; /* the time ends with the receipt */
	uint64_t messages;
	uint64_t alone; /* that began after the last of these had ended */
	int64_t alone_until_ns;
	int64_t bytes; /* of the largest */
	struct tap_sample times;
	int64_t median_ns;
	int64_t wait_max_ns; /* for the receiver, an upper bound */
	uint64_t qp_id;	     /* of its latest message */
	int64_t first_ns;
	/* What its messages take beyond the median of the others, -1: it does not stand
	 * out. */
	int64_t others_ns, cost_ns;
};

/* The message that was sent last: the link to its receiver comes right after it. */
struct message {
	const struct tap_process *process;
	uint64_t net_id, number;
	int64_t begin_ns, time_ns, wait_max_ns, bytes;
	bool is_received;
};

/* The rank of a process that does not say it: the one in its largest communicator. */
struct named {
	int64_t rank, nranks;
};

struct slow {
	struct tap_analysis_state state;
	struct tap_table pairs; /* by (processes, size class and clock) */
	TAP_VEC(struct pair *) all;
	struct tap_table names; /* by process */
	struct message latest;
	int64_t first_ns, last_ns; /* of all messages */
};

/* ---- Counting ---- */

static int64_t number_of(const struct tap_span *span, const char *name)
{
	uint64_t number;

	return tap_fields_get_unsigned(&span->exit, name, &number) || number > INT64_MAX
		       ? -1
		       : (int64_t) number;
}

static int note_message(void *state, struct tap_span *span)
{
	struct slow *slow = state;
	struct message *latest = &slow->latest;
	int64_t sent_ns;

	if (span->work.kind != TAP_WORK_NET_SEND)
		return 0;
	latest->process = NULL;
	if (span->state != TAP_SPAN_COMPLETE ||
	    tap_span_is_failure(tap_span_result(span)))
		return 0;
	*latest = (struct message){.process = span->process,
				   .net_id = span->work.message.net_id,
				   .number = span->work.message.number,
				   .begin_ns = span->begin_ns,
				   .time_ns = number_of(span, "post_to_receive_ns"),
				   .wait_max_ns = number_of(span, "wait_max_ns"),
				   .bytes = number_of(span, "bytes"),
				   .is_received = true};
	sent_ns = tap_span_duration(span);
	if (latest->time_ns < 0) {
		latest->time_ns = sent_ns;
		latest->is_received = false;
	} else if (sent_ns >= 0 && sent_ns < latest->time_ns) {
		/*
		 * It had arrived when the sender saw it complete: what follows is the time
		 * until the receiver looked.
		 */
		latest->time_ns = sent_ns;
	}
	return 0;
}

static unsigned int size_class(int64_t bytes)
{
	return bytes > 0 ? 64 - (unsigned int) __builtin_clzll((uint64_t) bytes) : 0;
}

static int get_pair(struct slow *slow, const struct tap_process *to, struct pair **ret)
{
	const struct message *message = &slow->latest;
	const uint64_t processes = (uint64_t) message->process->number << 32 | to->number;
	const uint64_t key = size_class(message->bytes) << 1 | message->is_received;
	struct pair *pair = tap_table_find(&slow->pairs, processes, key);

	*ret = pair;
	if (pair || slow->pairs.count == PAIRS_MAX)
		return 0;
	pair = calloc(1, sizeof(*pair));
	if (!pair || tap_vec_add(&slow->all, pair)) {
		free(pair);
		return -ENOMEM;
	}
	pair->from = message->process;
	pair->to = to;
	pair->size_class = size_class(message->bytes);
	pair->is_received = message->is_received;
	pair->first_ns = message->begin_ns;
	*ret = pair;
	return tap_table_set(&slow->pairs, processes, key, pair);
}

static int count_message(void *state, const struct tap_link *link)
{
	struct slow *slow = state;
	const struct message *message = &slow->latest;
	const struct tap_link_end *send;
	struct pair *pair;
	int64_t end_ns;
	int ret;

	if (link->kind != TAP_LINK_CTS_MESSAGE || link->count < 3)
		return 0;
	send = &link->ends[1];
	if (!message->process || send->process != message->process ||
	    send->work.message.net_id != message->net_id ||
	    send->work.message.number != message->number)
		return 0;
	ret = get_pair(slow, link->ends[2].process, &pair);
	if (ret || !pair)
		return ret;
	pair->messages++;
	if (message->bytes > pair->bytes)
		pair->bytes = message->bytes;
	if (message->wait_max_ns > 0)
		pair->wait_max_ns += message->wait_max_ns;
	if (link->count > 3)
		pair->qp_id = link->ends[3].work.request.qp_id;
	end_ns = message->begin_ns + message->time_ns;
	if (!pair->alone || message->begin_ns >= pair->alone_until_ns) {
		pair->alone++;
		pair->alone_until_ns = end_ns;
	}
	tap_sample_add(&pair->times, message->time_ns);
	if (!slow->first_ns || message->begin_ns < slow->first_ns)
		slow->first_ns = message->begin_ns;
	if (end_ns > slow->last_ns)
		slow->last_ns = end_ns;
	return 0;
}

static int note_ranks(void *state, const struct tap_collective *collective)
{
	struct slow *slow = state;
	size_t i;

	for (i = 0; i < collective->count; i++) {
		const struct tap_link_end *end = &collective->arrivals[i].end;
		struct named *named;

		if (end->process->rank >= 0)
			continue;
		named = tap_table_find(&slow->names, end->process->number, 0);
		if (!named) {
			named = calloc(1, sizeof(*named));
			if (!named ||
			    tap_table_set(&slow->names, end->process->number, 0, named)) {
				free(named);
				return -ENOMEM;
			}
		}
		if (collective->nranks <= named->nranks)
			continue;
		named->nranks = collective->nranks;
		named->rank = end->rank;
	}
	return 0;
}

static int64_t rank_of(const struct slow *slow, const struct tap_process *process)
{
	const struct named *named = tap_table_find(&slow->names, process->number, 0);

	if (process->rank >= 0)
		return process->rank;
	return named ? named->rank : -1;
}

/* ---- Comparing ---- */

static bool is_between_hosts(const struct pair *pair)
{
	return strcmp(pair->from->host, pair->to->host) != 0;
}

static bool is_like(const struct pair *a, const struct pair *b)
{
	return a->size_class == b->size_class && a->is_received == b->is_received &&
	       is_between_hosts(a) == is_between_hosts(b);
}

/*
 * The median of the medians of others that are like the pair, of so many messages each; -1:
 * there are too few.
 */
static int64_t center_of(const struct slow *slow, const struct pair *pair,
			 uint64_t messages, int64_t *scratch, size_t *ret_count)
{
	size_t i, count = 0;

	for (i = 0; i < slow->all.count; i++) {
		const struct pair *other = slow->all.items[i];

		if (other != pair && other->messages >= messages && is_like(pair, other))
			scratch[count++] = other->median_ns;
	}
	*ret_count = count;
	return count < OTHERS_MIN ? -1 : tap_median(scratch, count);
}

/*
 * Whether most messages between these processes are slow, of all sizes: those of one size
 * may belong to one moment.
 */
static bool is_slow_in_all_sizes(const struct slow *slow, const struct pair *pair,
				 int64_t *scratch)
{
	uint64_t all = 0, slow_ones = 0;
	size_t i, count;

	for (i = 0; i < slow->all.count; i++) {
		const struct pair *other = slow->all.items[i];
		int64_t center;

		if (other->from != pair->from || other->to != pair->to)
			continue;
		center = center_of(slow, other, 1, scratch, &count);
		if (center < 0)
			continue;
		all += other->messages;
		if (other->median_ns / FASTEST_TIMES >= center)
			slow_ones += other->messages;
	}
	return slow_ones > all - all / 4;
}

/* Sets what a pair costs, compared with the medians of the others that are like it. */
static void compare_with_others(const struct slow *slow, struct pair *pair,
				int64_t *scratch)
{
	int64_t center, deviation;
	size_t count;

	pair->cost_ns = -1;
	if (pair->messages < MESSAGES_MIN || pair->alone < ALONE_MIN)
		return;
	center = center_of(slow, pair, MESSAGES_MIN, scratch, &count);
	if (center < 0)
		return;
	deviation = tap_median_deviation(scratch, count, center);
	if (pair->median_ns / TIMES < center ||
	    pair->median_ns - center < DEVIATIONS * deviation ||
	    tap_sample_quartile(&pair->times) / FASTEST_TIMES < center ||
	    !is_slow_in_all_sizes(slow, pair, scratch))
		return;
	pair->others_ns = center;
	if (__builtin_mul_overflow(pair->median_ns - center, (int64_t) pair->messages,
				   &pair->cost_ns))
		pair->cost_ns = INT64_MAX;
}

static int compare_pairs(const void *left, const void *right)
{
	const struct pair *a = *(struct pair *const *) left;
	const struct pair *b = *(struct pair *const *) right;

	if (a->cost_ns != b->cost_ns)
		return a->cost_ns > b->cost_ns ? -1 : 1;
	if (a->from->number != b->from->number)
		return a->from->number < b->from->number ? -1 : 1;
	if (a->to->number != b->to->number)
		return a->to->number < b->to->number ? -1 : 1;
	return (int) a->size_class - (int) b->size_class;
}

/* ---- Words ---- */

static void add_rank(struct tap_buffer *text, const struct slow *slow,
		     const struct tap_process *process)
{
	const int64_t rank = rank_of(slow, process);

	if (rank >= 0)
		tap_quantity_add_ranks(text, &rank, 1, false);
	else
		tap_view_add_process(text, process);
}

static void add_headline(struct tap_buffer *text, const struct slow *slow,
			 const struct pair *pair)
{
	const uint64_t times = tap_spread_round(
		(uint64_t) (pair->median_ns / (pair->others_ns ? pair->others_ns : 1)));

	tap_buffer_add_string(text, "Messages of ");
	add_rank(text, slow, pair->from);
	tap_buffer_add_string(text, " to ");
	add_rank(text, slow, pair->to);
	tap_buffer_add_string(text, " are slow: ");
	tap_quantity_add_duration(text, pair->median_ns);
	tap_buffer_add_string(text, " each, ");
	tap_buffer_add_unsigned(text, times);
	tap_buffer_add_string(text, " times as long as between others.");
}

static void add_detail(struct tap_buffer *text, const struct pair *pair)
{
	tap_buffer_add_unsigned(text, pair->messages);
	tap_buffer_add_string(text, " messages of up to ");
	tap_quantity_add_bytes(text, pair->bytes);
	tap_buffer_add_string(text,
			      pair->is_received
				      ? ", from the post until they had arrived; "
				      : ", from the post to the sender's completion; ");
	tap_quantity_add_duration(text, pair->others_ns);
	tap_buffer_add_string(text, " between others.\nThat costs up to ");
	tap_quantity_add_duration(text, pair->cost_ns);
	tap_buffer_add_char(text, '.');
}

static void add_host(struct tap_buffer *text, const struct slow *slow,
		     const struct tap_process *process)
{
	add_rank(text, slow, process);
	if (!*process->host)
		return;
	tap_buffer_add_string(text, " (");
	tap_buffer_add_visible(text, process->host);
	tap_buffer_add_char(text, ')');
}

static void add_next(struct tap_buffer *text, const struct slow *slow,
		     const struct pair *pair)
{
	tap_buffer_add_string(text, "what is between ");
	add_host(text, slow, pair->from);
	tap_buffer_add_string(text, " and ");
	add_host(text, slow, pair->to);
	tap_buffer_add_string(text, "? (qp ");
	tap_buffer_add_unsigned(text, pair->qp_id);
	tap_buffer_add_string(text, " of the sender)");
}

/* ---- The end ---- */

static int add_evidence(struct tap_finding *finding, const struct slow *slow,
			const struct pair *pair)
{
	const struct {
		const char *name;
		int64_t value;
		enum tap_known known;
	} all[] = {
		{"message_ns", pair->median_ns, TAP_KNOWN_EXACT},
		{"others_ns", pair->others_ns, TAP_KNOWN_EXACT},
		{"messages", (int64_t) pair->messages, TAP_KNOWN_EXACT},
		{"bytes", pair->bytes, TAP_KNOWN_EXACT},
		{"cost_max_ns", pair->cost_ns, TAP_KNOWN_INFERRED},
		{"wait_max_ns", pair->wait_max_ns, TAP_KNOWN_INFERRED},
		{"span_ns", tap_since_ns(slow->last_ns, slow->first_ns), TAP_KNOWN_EXACT},
		{"qp_id", (int64_t) pair->qp_id, TAP_KNOWN_EXACT},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (tap_finding_add_evidence(finding, all[i].name, all[i].value,
					     all[i].known))
			return -ENOMEM;
	return 0;
}

static int report(struct slow *slow, const struct pair *pair, enum tap_severity severity)
{
	struct tap_finding *finding =
		tap_findings_add(slow->state.findings, TAP_FINDING_SLOW, severity);

	if (!finding || tap_finding_add_rank(finding, rank_of(slow, pair->from)) ||
	    tap_finding_add_rank(finding, rank_of(slow, pair->to)) ||
	    add_evidence(finding, slow, pair))
		return -ENOMEM;
	finding->cost_ns = pair->cost_ns;
	finding->time_ns = pair->first_ns;
	add_headline(&finding->headline, slow, pair);
	add_detail(&finding->detail, pair);
	add_next(&finding->next, slow, pair);
	return 0;
}

static int conclude(void *state, const struct tap_loss *loss)
{
	struct slow *slow = state;
	const int64_t span_ns = tap_since_ns(slow->last_ns, slow->first_ns);
	const size_t count = slow->all.count;
	int64_t *scratch;
	size_t i;
	int ret = 0;

	(void) loss;
	if (!count || span_ns <= 0)
		return 0;
	scratch = calloc(count, sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		slow->all.items[i]->median_ns =
			tap_sample_median(&slow->all.items[i]->times);
	for (i = 0; i < count; i++)
		compare_with_others(slow, slow->all.items[i], scratch);
	free(scratch);
	qsort(slow->all.items, count, sizeof(*slow->all.items), compare_pairs);
	for (i = 0; !ret && i < count && i < FINDINGS_MAX; i++) {
		const struct pair *pair = slow->all.items[i];
		const double share = (double) pair->cost_ns / (double) span_ns;

		if (share < NOTE_SHARE)
			break;
		ret = report(slow, pair,
			     share >= WARNING_SHARE && pair->cost_ns >= WARNING_NS
				     ? TAP_SEVERITY_WARNING
				     : TAP_SEVERITY_NOTE);
	}
	return ret;
}

static void free_all(void *state)
{
	struct slow *slow = state;
	size_t i;

	for (i = 0; i < slow->all.count; i++)
		free(slow->all.items[i]);
	tap_vec_free(&slow->all);
	tap_table_free(&slow->pairs);
	for (i = 0; i < slow->names.size; i++)
		free(slow->names.slots[i].value);
	tap_table_free(&slow->names);
}

const struct tap_analysis tap_slow_analysis = {
	.name = "slow",
	.size = sizeof(struct slow),
	.takes = {.span_ended = note_message, .link = count_message},
	.collective = note_ranks,
	.conclude = conclude,
	.free = free_all,
};
