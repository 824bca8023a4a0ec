/* SPDX-License-Identifier: MIT */
/*
 * Connections that are slow: the messages of one rank to another take much longer than
 * those of the same size between other ranks, from the post by the sender to the receipt
 * or to the sender's completion, whichever is earlier: a rank that is off its processor
 * looks late at what has long arrived.  Where the two have no common clock, to the
 * sender's completion.
 *
 * The median of a pair's messages of one size class is compared with those of the pairs that
 * are like it: that send as many bytes, and are on one host or on two, too.  It stands out if
 * it takes four times the median of the others' medians, and six times their median
 * deviation more, so that pairs which merely differ (host to host, near and far adapters)
 * do not, and if nine of ten take three times that median: a rank that shares its processor
 * with another delays many of its messages, but not all.  A connection is slow if its
 * messages of the sizes that stand out are enough, and those that are slow most of all.  It
 * is a warning if they could have taken a tenth of the time of all messages less, and 20 ms,
 * and else a note from a fiftieth on.  That is an upper bound: messages that overlap are
 * counted each.
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
#include "join/base/quantity.h"
#include "join/findings/words.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The most pairs: a damaged trace cannot fill the memory. */
#define PAIRS_MAX 65536
/* The most findings. */
#define FINDINGS_MAX 4
/*
 * Fewer messages, of all sizes, say nothing; nor do many that overlap: a process that is
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
	int64_t bytes; /* of the largest */
	struct tap_sample times;
	int64_t median_ns;
	int64_t wait_max_ns; /* for the receiver, an upper bound */
	struct pair *next;   /* of the same connection */
};

/* All messages of one process to another. */
struct connection {
	const struct tap_process *from, *to;
	struct pair *sizes;
	uint64_t alone; /* that began after the last of these had ended */
	int64_t alone_until_ns;
	uint64_t qp_id; /* of its latest message */
	int64_t first_ns;
	/* Of its sizes that stand out: the one of most messages, and the sums. */
	const struct pair *most;
	int64_t others_ns; /* what the messages of that size take between others */
	uint64_t messages;
	int64_t bytes, wait_max_ns; /* of the largest; of all */
	int64_t cost_ns; /* what they take beyond those of others; -1: not slow */
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
	struct tap_table by_processes; /* struct connection, by (processes, 0) */
	TAP_VEC(struct connection *) connections;
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

static uint64_t processes_of(const struct slow *slow, const struct tap_process *to)
{
	return (uint64_t) slow->latest.process->number << 32 | to->number;
}

static int get_connection(struct slow *slow, const struct tap_process *to,
			  struct connection **ret)
{
	const uint64_t processes = processes_of(slow, to);
	struct connection *connection = tap_table_find(&slow->by_processes, processes, 0);

	*ret = connection;
	if (connection)
		return 0;
	connection = calloc(1, sizeof(*connection));
	if (!connection || tap_vec_add(&slow->connections, connection)) {
		free(connection);
		return -ENOMEM;
	}
	connection->from = slow->latest.process;
	connection->to = to;
	connection->first_ns = slow->latest.begin_ns;
	*ret = connection;
	return tap_table_set(&slow->by_processes, processes, 0, connection);
}

/* *ret is NULL where there are too many. */
static int get_pair(struct slow *slow, struct connection *connection,
		    const struct tap_process *to, struct pair **ret)
{
	const struct message *message = &slow->latest;
	const uint64_t processes = processes_of(slow, to);
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
	pair->next = connection->sizes;
	connection->sizes = pair;
	*ret = pair;
	return tap_table_set(&slow->pairs, processes, key, pair);
}

static int count_message(void *state, const struct tap_link *link)
{
	struct slow *slow = state;
	const struct message *message = &slow->latest;
	const struct tap_link_end *send;
	struct connection *connection;
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
	ret = get_connection(slow, link->ends[2].process, &connection);
	if (!ret)
		ret = get_pair(slow, connection, link->ends[2].process, &pair);
	if (ret || !pair)
		return ret;
	pair->messages++;
	if (message->bytes > pair->bytes)
		pair->bytes = message->bytes;
	if (message->wait_max_ns > 0)
		pair->wait_max_ns += message->wait_max_ns;
	if (link->count > 3)
		connection->qp_id = link->ends[3].work.request.qp_id;
	end_ns = message->begin_ns + message->time_ns;
	if (!connection->alone || message->begin_ns >= connection->alone_until_ns) {
		connection->alone++;
		connection->alone_until_ns = end_ns;
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
 * Whether messages of this size stand out from those of others, *ret_others_ns; they are
 * counted either way, since those of one size may belong to one moment.
 */
static bool stands_out(const struct slow *slow, const struct pair *pair, int64_t *scratch,
		       uint64_t *all, uint64_t *slow_ones, int64_t *ret_others_ns)
{
	int64_t center, deviation;
	size_t count;

	center = center_of(slow, pair, 1, scratch, &count);
	if (center < 0)
		return false;
	*all += pair->messages;
	if (pair->median_ns / FASTEST_TIMES >= center)
		*slow_ones += pair->messages;
	center = center_of(slow, pair,
			   pair->messages < MESSAGES_MIN ? pair->messages : MESSAGES_MIN,
			   scratch, &count);
	if (center < 0)
		return false;
	deviation = tap_median_deviation(scratch, count, center);
	*ret_others_ns = center;
	return pair->median_ns / TIMES >= center &&
	       pair->median_ns - center >= DEVIATIONS * deviation &&
	       tap_sample_decile(&pair->times) / FASTEST_TIMES >= center;
}

static int64_t add_cost(int64_t cost_ns, int64_t each_ns, uint64_t messages)
{
	int64_t more;

	if (__builtin_mul_overflow(each_ns, (int64_t) messages, &more) ||
	    __builtin_add_overflow(cost_ns, more, &cost_ns))
		return INT64_MAX;
	return cost_ns;
}

/* Sets what a connection costs, compared with others that are like it. */
static void compare_with_others(const struct slow *slow, struct connection *connection,
				int64_t *scratch)
{
	uint64_t all = 0, slow_ones = 0;
	int64_t cost_ns = 0, others_ns;
	const struct pair *pair;

	for (pair = connection->sizes; pair; pair = pair->next) {
		if (!stands_out(slow, pair, scratch, &all, &slow_ones, &others_ns))
			continue;
		if (!connection->most || pair->messages > connection->most->messages) {
			connection->most = pair;
			connection->others_ns = others_ns;
		}
		if (pair->bytes > connection->bytes)
			connection->bytes = pair->bytes;
		connection->messages += pair->messages;
		connection->wait_max_ns += pair->wait_max_ns;
		cost_ns = add_cost(cost_ns, pair->median_ns - others_ns, pair->messages);
	}
	connection->cost_ns = connection->messages < MESSAGES_MIN ||
					      connection->alone < ALONE_MIN ||
					      slow_ones <= all - all / 4
				      ? -1
				      : cost_ns;
}

static int compare_connections(const void *left, const void *right)
{
	const struct connection *a = *(struct connection *const *) left;
	const struct connection *b = *(struct connection *const *) right;

	if (a->cost_ns != b->cost_ns)
		return a->cost_ns > b->cost_ns ? -1 : 1;
	if (a->from->number != b->from->number)
		return a->from->number < b->from->number ? -1 : 1;
	return (int) a->to->number - (int) b->to->number;
}

/* ---- Words ---- */

static void add_rank(struct tap_buffer *text, const struct slow *slow,
		     const struct tap_process *process)
{
	const int64_t rank = rank_of(slow, process);

	if (rank >= 0)
		tap_words_add_ranks(text, &rank, 1);
	else
		tap_view_add_process(text, process);
}

static void add_headline(struct tap_buffer *text, const struct slow *slow,
			 const struct connection *connection)
{
	const struct pair *pair = connection->most;
	const uint64_t times = tap_spread_round(
		(uint64_t) (pair->median_ns /
			    (connection->others_ns ? connection->others_ns : 1)));

	tap_buffer_add_string(text, "Messages of ");
	add_rank(text, slow, connection->from);
	tap_buffer_add_string(text, " to ");
	add_rank(text, slow, connection->to);
	tap_buffer_add_string(text, " are slow: ");
	tap_quantity_add_duration(text, pair->median_ns);
	tap_buffer_add_string(text, " each, ");
	tap_buffer_add_unsigned(text, times);
	tap_buffer_add_string(text, " times as long as between others.");
}

static void add_detail(struct tap_buffer *text, const struct connection *connection)
{
	tap_buffer_add_unsigned(text, connection->messages);
	tap_buffer_add_string(text, " messages of up to ");
	tap_quantity_add_bytes(text, connection->bytes);
	tap_buffer_add_string(text,
			      connection->most->is_received
				      ? ", from the post until they had arrived; "
				      : ", from the post to the sender's completion; ");
	tap_quantity_add_duration(text, connection->others_ns);
	tap_buffer_add_string(text, " between others.\nThat costs up to ");
	tap_quantity_add_duration(text, connection->cost_ns);
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
		     const struct connection *connection)
{
	tap_buffer_add_string(text, "what is between ");
	add_host(text, slow, connection->from);
	tap_buffer_add_string(text, " and ");
	add_host(text, slow, connection->to);
	tap_buffer_add_string(text, "? (qp ");
	tap_buffer_add_unsigned(text, connection->qp_id);
	tap_buffer_add_string(text, " of the sender)");
}

/* ---- The end ---- */

static int add_evidence(struct tap_finding *finding, const struct slow *slow,
			const struct connection *connection)
{
	const struct {
		const char *name;
		int64_t value;
		enum tap_known known;
	} all[] = {
		{"message_ns", connection->most->median_ns, TAP_KNOWN_EXACT},
		{"others_ns", connection->others_ns, TAP_KNOWN_EXACT},
		{"messages", (int64_t) connection->messages, TAP_KNOWN_EXACT},
		{"bytes", connection->bytes, TAP_KNOWN_EXACT},
		{"cost_max_ns", connection->cost_ns, TAP_KNOWN_INFERRED},
		{"wait_max_ns", connection->wait_max_ns, TAP_KNOWN_INFERRED},
		{"span_ns", tap_since_ns(slow->last_ns, slow->first_ns), TAP_KNOWN_EXACT},
		{"qp_id", (int64_t) connection->qp_id, TAP_KNOWN_EXACT},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (tap_finding_add_evidence(finding, all[i].name, all[i].value,
					     all[i].known))
			return -ENOMEM;
	return 0;
}

static int report(struct slow *slow, const struct connection *connection,
		  enum tap_severity severity)
{
	struct tap_finding *finding =
		tap_findings_add(slow->state.findings, TAP_FINDING_SLOW, severity);

	if (!finding || tap_finding_add_rank(finding, rank_of(slow, connection->from)) ||
	    tap_finding_add_rank(finding, rank_of(slow, connection->to)) ||
	    add_evidence(finding, slow, connection))
		return -ENOMEM;
	finding->cost_ns = connection->cost_ns;
	finding->time_ns = connection->first_ns;
	add_headline(&finding->headline, slow, connection);
	add_detail(&finding->detail, connection);
	add_next(&finding->next, slow, connection);
	return 0;
}

static int conclude(void *state, const struct tap_loss *loss)
{
	struct slow *slow = state;
	const int64_t span_ns = tap_since_ns(slow->last_ns, slow->first_ns);
	const size_t count = slow->connections.count;
	int64_t *scratch;
	size_t i;
	int ret = 0;

	(void) loss;
	if (!slow->all.count || span_ns <= 0)
		return 0;
	scratch = calloc(slow->all.count, sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	for (i = 0; i < slow->all.count; i++)
		slow->all.items[i]->median_ns =
			tap_sample_median(&slow->all.items[i]->times);
	for (i = 0; i < count; i++)
		compare_with_others(slow, slow->connections.items[i], scratch);
	free(scratch);
	qsort(slow->connections.items, count, sizeof(*slow->connections.items),
	      compare_connections);
	for (i = 0; !ret && i < count && i < FINDINGS_MAX; i++) {
		const struct connection *connection = slow->connections.items[i];
		const double share = (double) connection->cost_ns / (double) span_ns;

		if (share < NOTE_SHARE)
			break;
		ret = report(slow, connection,
			     share >= WARNING_SHARE && connection->cost_ns >= WARNING_NS
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
	for (i = 0; i < slow->connections.count; i++)
		free(slow->connections.items[i]);
	tap_vec_free(&slow->connections);
	tap_table_free(&slow->by_processes);
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
