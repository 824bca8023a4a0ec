/* SPDX-License-Identifier: MIT */
/*
 * Over InfiniBand the span of a receive begins when the receiver announces it, that of a
 * send when it is posted; each ends when its side has seen the message complete.  Over
 * sockets a send ends when the kernel has all bytes, and a receive begins with the first
 * byte that is read.  What has not ended with the trace is under way.
 */
#include "join/findings/progress.h"

#include "join/findings/words.h"
#include "join/model/nccl_connection.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

/* Connections that are told apart; the rest are not counted. */
#define CONNECTIONS_MAX 65536

/* So many connections are named in a finding. */
#define NAMED_MAX 4

struct tap_progress {
	struct tap_analysis_state state;
	struct tap_table by_sender; /* (process, connection) */
	TAP_VEC(struct tap_progress_connection *) all;
	bool is_cut;	  /* there were more connections */
	bool is_inferred; /* the sides of some message are matched by order alone */
};

static struct tap_progress_connection *connection_of(struct tap_progress *progress,
						     uint64_t process, uint64_t id)
{
	struct tap_progress_connection *connection =
		tap_table_find(&progress->by_sender, process, id);

	if (connection || progress->all.count >= CONNECTIONS_MAX)
		return connection;
	connection = calloc(1, sizeof(*connection));
	if (!connection)
		return NULL;
	connection->channel = -1;
	if (tap_vec_add(&progress->all, connection)) {
		free(connection);
		return NULL;
	}
	return tap_table_set(&progress->by_sender, process, id, connection) ? NULL
									    : connection;
}

static const struct tap_process *process_at(const struct tap_progress *progress,
					    uint64_t number)
{
	const struct tap_processes *processes =
		&tap_findings_context(progress->state.findings)->processes;

	return number < processes->count ? processes->all[number] : NULL;
}

static void count(struct tap_progress_connection *connection, const struct tap_span *span)
{
	const bool is_send = span->work.kind == TAP_WORK_NET_SEND;

	connection->lost += span->state == TAP_SPAN_END_LOST;
	if (is_send)
		connection->posted++;
	else if (!connection->is_socket)
		connection->announced++;
	*(is_send ? &connection->sent : &connection->arrived) +=
		span->state == TAP_SPAN_COMPLETE;
}

/* Who is at the other end of a socket, may be known only when the message has ended. */
static int get_peer(const struct tap_span *span, const char *name, uint64_t *ret_value)
{
	return tap_fields_get_unsigned(&span->entry, name, ret_value)
		       ? tap_fields_get_unsigned(&span->exit, name, ret_value)
		       : 0;
}

static bool is_over_socket(const struct tap_span *span)
{
	const char *transport = tap_fields_get_string(&span->entry, "transport");

	return transport && !strcmp(transport, "socket");
}

/*
 * Of these nobody knows what is under way: a message is inferred when it has arrived, and one
 * whose ends contradict each other may be none.
 */
static bool is_unsure(const struct tap_span *span)
{
	return tap_fields_get_string(&span->entry, "message_known") ||
	       tap_fields_get_string(&span->exit, "message_known");
}

static int note_span(void *data, struct tap_span *span)
{
	const bool is_send = span->work.kind == TAP_WORK_NET_SEND;
	struct tap_progress *progress = data;
	struct tap_progress_connection *connection;
	uint64_t peer, peer_id, sender, sender_id;

	if ((!is_send && span->work.kind != TAP_WORK_NET_RECEIVE) ||
	    span->state == TAP_SPAN_BEGIN_LOST || is_unsure(span) ||
	    get_peer(span, "peer_process", &peer) ||
	    get_peer(span, "peer_net_id", &peer_id))
		return 0;
	if (!process_at(progress, peer))
		return 0;
	sender = is_send ? span->process->number : peer;
	sender_id = is_send ? span->work.message.net_id : peer_id;
	connection = connection_of(progress, sender, sender_id);
	if (!connection) {
		progress->is_cut = progress->all.count >= CONNECTIONS_MAX;
		return progress->is_cut ? 0 : -ENOMEM;
	}
	connection->from = process_at(progress, sender);
	connection->from_id = sender_id;
	connection->to = is_send ? process_at(progress, peer) : span->process;
	connection->to_id = is_send ? peer_id : span->work.message.net_id;
	connection->is_socket = is_over_socket(span);
	count(connection, span);
	return 0;
}

static int note_link(void *data, const struct tap_link *link)
{
	struct tap_progress *progress = data;

	if (link->kind == TAP_LINK_CTS_MESSAGE && link->known == TAP_KNOWN_INFERRED)
		progress->is_inferred = true;
	return 0;
}

static int note_connection(void *data, const struct tap_nccl_connection *about)
{
	const struct tap_progress *progress = data;
	struct tap_progress_connection *connection =
		about->is_send ? tap_table_find(&progress->by_sender,
						about->process->number, about->net_id)
			       : NULL;

	if (!connection)
		return 0;
	connection->channel = about->channel;
	connection->is_channel_inferred = about->known == TAP_KNOWN_INFERRED;
	return 0;
}

size_t tap_progress_connections(const struct tap_progress *progress,
				struct tap_progress_connection *const **ret_connections)
{
	*ret_connections = progress->all.items;
	return progress->all.count;
}

/* ---- What it says of a finding ---- */

/* Where the oldest message of a connection that is under way stands. */
enum stage {
	STAGE_NONE,  /* nothing is under way */
	STAGE_SENDER, /* announced, and not posted */
	STAGE_RECEIVER, /* the sender has its completion, and the receiver has not looked */
	STAGE_WIRE, /* posted, and nobody has seen it arrive */
	STAGES
};

struct sums {
	uint64_t posted, delivered;
	size_t connections[STAGES];
	bool is_lost;
};

/*
 * A completion at the sender of a reliable queue pair proves that the message has arrived,
 * whether the receiver has looked or not.  Of a socket it says that the kernel has taken
 * the bytes; they may lie in either host until the receiver reads them.
 */
uint64_t tap_progress_delivered(const struct tap_progress_connection *connection)
{
	return connection->is_socket || connection->arrived > connection->sent
		       ? connection->arrived
		       : connection->sent;
}

static enum stage stage_of(const struct tap_progress_connection *connection)
{
	if (connection->posted > tap_progress_delivered(connection))
		return STAGE_WIRE;
	if (tap_progress_delivered(connection) > connection->arrived)
		return STAGE_RECEIVER;
	return connection->announced > connection->posted ? STAGE_SENDER : STAGE_NONE;
}

static bool concerns(const struct tap_finding *finding,
		     const struct tap_progress_connection *connection)
{
	return tap_finding_concerns(finding, connection->from) &&
	       tap_finding_concerns(finding, connection->to);
}

static struct sums sum_up(const struct tap_progress *progress,
			  const struct tap_finding *finding)
{
	struct sums sums = {.is_lost = progress->is_cut};
	size_t i;

	for (i = 0; i < progress->all.count; i++) {
		const struct tap_progress_connection *one = progress->all.items[i];

		if (!concerns(finding, one))
			continue;
		sums.posted += one->posted;
		sums.delivered += tap_progress_delivered(one);
		sums.connections[stage_of(one)]++;
		sums.is_lost |= one->lost > 0;
	}
	return sums;
}

static const char *meaning_of(const struct tap_progress_connection *connection,
			      enum stage stage)
{
	static const char *const meanings[] = {
		[STAGE_SENDER] = "the sender's kernel or proxy has not sent",
		[STAGE_RECEIVER] = "the receiver has not looked",
		[STAGE_WIRE] = "on the wire"};

	return connection->is_socket && stage == STAGE_WIRE ? "on the wire, or not read"
							    : meanings[stage];
}

/* "13 announced, 12 posted, 11 arrived, 11 done: on the wire" */
static void add_counts(struct tap_buffer *text,
		       const struct tap_progress_connection *connection, enum stage stage)
{
	const struct {
		const char *word;
		uint64_t count;
	} counts[] = {{" announced", connection->announced},
		      {" posted", connection->posted},
		      {" arrived", connection->arrived},
		      {" done", connection->sent}};
	size_t i;

	/* Over sockets nobody announces. */
	for (i = connection->is_socket; i < sizeof(counts) / sizeof(counts[0]); i++) {
		tap_buffer_add_unsigned(text, counts[i].count);
		tap_buffer_add_string(text, counts[i].word);
		tap_buffer_add_string(text, i + 1 < sizeof(counts) / sizeof(counts[0])
						    ? ", "
						    : ": ");
	}
	tap_buffer_add_string(text, meaning_of(connection, stage));
}

/* "network: rank 0 to rank 1 (net 1, channel 0): ..." */
static void add_connection(struct tap_buffer *text,
			   const struct tap_progress_connection *connection,
			   enum stage stage)
{
	if (text->used)
		tap_buffer_add_char(text, '\n');
	tap_buffer_add_string(text, "network: ");
	tap_view_add_process(text, connection->from);
	tap_buffer_add_string(text, " to ");
	tap_view_add_process(text, connection->to);
	tap_buffer_add_string(text, " (net ");
	tap_buffer_add_unsigned(text, connection->from_id);
	if (connection->channel >= 0) {
		tap_buffer_add_string(text, ", channel ");
		tap_buffer_add_signed(text, connection->channel);
		if (connection->is_channel_inferred)
			tap_buffer_add_string(text, " as inferred");
	}
	tap_buffer_add_string(text, "): ");
	add_counts(text, connection, stage);
}

/* The stage farthest on the way: what stands before it waits for it. */
static enum stage front_of(const struct sums *sums)
{
	enum stage stage = STAGE_WIRE;

	while (stage != STAGE_NONE && !sums->connections[stage])
		stage--;
	return stage;
}

/* Names the connections that stand there. */
static void add_front(const struct tap_progress *progress, struct tap_finding *finding,
		      enum stage front, size_t all)
{
	struct tap_buffer *text = &finding->detail;
	size_t i, named = 0;

	for (i = 0; i < progress->all.count && named < NAMED_MAX; i++) {
		const struct tap_progress_connection *one = progress->all.items[i];

		if (stage_of(one) != front || !concerns(finding, one))
			continue;
		add_connection(text, one, front);
		named++;
	}
	if (named == all)
		return;
	tap_buffer_add_string(text, "\nnetwork: likewise ");
	tap_buffer_add_unsigned(text, all - named);
	tap_buffer_add_string(text, " more: ccltap report --net");
}

static int add_evidence(const struct tap_progress *progress, struct tap_finding *finding,
			const struct sums *sums)
{
	static const char *const names[] = {
		[STAGE_SENDER] = "connections_before_sender",
		[STAGE_RECEIVER] = "connections_before_receiver",
		[STAGE_WIRE] = "connections_on_wire"};
	const enum tap_known known = progress->is_inferred ? TAP_KNOWN_INFERRED
							   : TAP_KNOWN_EXACT;
	enum stage stage;

	if (tap_finding_add_evidence(finding, "messages_posted", (int64_t) sums->posted,
				     known) ||
	    tap_finding_add_evidence(finding, "messages_delivered",
				     (int64_t) sums->delivered, known))
		return -ENOMEM;
	for (stage = STAGE_SENDER; stage < STAGES; stage++)
		if (tap_finding_add_evidence(finding, names[stage],
					     (int64_t) sums->connections[stage], known))
			return -ENOMEM;
	return 0;
}

static void add_rules_out(struct tap_finding *finding, const struct sums *sums)
{
	struct tap_buffer *text = &finding->rules_out;

	if (text->used)
		tap_buffer_add_char(text, '\n');
	tap_buffer_add_string(text, "not the network: ");
	if (sums->posted > 1)
		tap_buffer_add_string(text, "all ");
	tap_buffer_add_unsigned(text, sums->posted);
	tap_buffer_add_string(text, sums->posted == 1
					    ? " message that was posted has arrived"
					    : " messages that were posted have arrived");
}

static int explain(void *state, struct tap_finding *finding)
{
	const struct tap_progress *progress = state;
	const struct sums sums = sum_up(progress, finding);
	const enum stage front = front_of(&sums);

	if (finding->severity == TAP_SEVERITY_NOTE || sums.is_lost || !sums.posted ||
	    (finding->kind != TAP_FINDING_MISSING && finding->kind != TAP_FINDING_STUCK))
		return 0;
	/* Behind a rank that is missing all others wait for their senders. */
	if (front > STAGE_SENDER ||
	    (front == STAGE_SENDER && finding->kind == TAP_FINDING_STUCK))
		add_front(progress, finding, front, sums.connections[front]);
	if (front != STAGE_WIRE)
		add_rules_out(finding, &sums);
	return add_evidence(progress, finding, &sums);
}

static void free_all(void *state)
{
	struct tap_progress *progress = state;
	size_t i;

	for (i = 0; i < progress->all.count; i++)
		free(progress->all.items[i]);
	tap_vec_free(&progress->all);
	tap_table_free(&progress->by_sender);
}

const struct tap_analysis tap_progress_analysis = {
	.name = "progress",
	.size = sizeof(struct tap_progress),
	.takes = {.span_ended = note_span,
		  .link = note_link,
		  .connection = note_connection},
	.explain = explain,
	.free = free_all,
};
