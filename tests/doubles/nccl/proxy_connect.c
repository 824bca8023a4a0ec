/* SPDX-License-Identifier: MIT */
/*
 * How ranks get the connections that a plan needs, as NCCL's ncclTransportP2pSetup() does
 * it: all is set up, peer after peer in the order of their distance, the ends are told to
 * the peers, and then all is connected together.
 */
#include "comm.h"
#include "proxy_guest.h"
#include "truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of an ncclConnect, of which later releases have more. */
#define EXCHANGED_BYTES 256

/* How long an abort may go unnoticed while nothing comes. */
#define WAIT_MS 5

/* A connection in the making, on the asking side: NCCL's ncclConnector. */
struct connector {
	struct mini_end end;
	/* Who is asked: the own service thread, or that of the rank that is to post. */
	struct mini_caller *caller;
	struct mini_poster *poster;
	/* From the rank to the peer, or the other way round. */
	int distance;
	/* As the service thread has it. */
	uint64_t connection;
	/* What the peer is told, and then what it told. */
	char told[EXCHANGED_BYTES];
	struct mini_call *call;
	bool is_connected;
};

struct round {
	struct mini_proxy *proxy;
	int index;
	struct connector *connectors;
	int count;
};

struct mini_end mini_proxy_end(const struct mini_proxy *proxy, const struct mini_end *end)
{
	struct mini_end top = *end;

	top.peer = proxy->comm->peers[end->peer].top_rank;
	return top;
}

/* Called with the lock held. */
static struct mini_link *find_link(const struct mini_proxy *proxy,
				   const struct mini_end *end)
{
	struct mini_end top = mini_proxy_end(proxy, end);
	struct mini_link *link = proxy->state->links;

	while (link && (link->end.peer != top.peer || link->end.channel != top.channel ||
			link->end.index != top.index || link->end.is_send != top.is_send))
		link = link->next;
	return link;
}

void mini_proxy_add_link(struct mini_proxy_state *state, struct mini_link *link)
{
	pthread_mutex_lock(state->lock);
	link->next = state->links;
	state->links = link;
	pthread_mutex_unlock(state->lock);
}

bool mini_proxy_is_connected(struct mini_proxy *proxy, const struct mini_end *end)
{
	bool is_there;

	pthread_mutex_lock(proxy->state->lock);
	is_there = find_link(proxy, end);
	pthread_mutex_unlock(proxy->state->lock);
	return is_there;
}

struct mini_flow *mini_proxy_flow(struct mini_proxy *proxy, const struct mini_end *end)
{
	struct mini_link *link;

	pthread_mutex_lock(proxy->state->lock);
	link = find_link(proxy, end);
	pthread_mutex_unlock(proxy->state->lock);
	return link ? &link->flow : NULL;
}

bool mini_proxy_has_progress(struct mini_proxy *proxy)
{
	bool is_there;

	pthread_mutex_lock(proxy->state->lock);
	is_there = proxy->state->has_progress;
	pthread_mutex_unlock(proxy->state->lock);
	return is_there;
}

/* To the service thread of a rank of the top parent. */
static int open_caller(struct mini_proxy *proxy, struct mini_caller *caller, int rank)
{
	struct mini_proxy_state *state = proxy->state;
	bool is_own = caller == &state->caller;
	bool is_open = caller->fd >= 0;
	int err;

	/* An initialisation that failed has started no thread, a revoked one ended it. */
	if (!state->service.is_there)
		return -ECANCELED;
	err = mini_caller_open(caller, is_own ? &state->address : &state->addresses[rank],
			       state->hash, &proxy->comm->aborted);
	if (!err && !is_open)
		mini_truth_socket(proxy->comm, "service", caller->fd);
	return err;
}

/* NCCL's numbers of transports are those of enum mini_kind. */
static enum mini_kind choose(const struct ncclComm *comm, int peer)
{
	struct mini_place own = {comm->peers[comm->rank].host_hash,
				 comm->peers[comm->rank].top_rank};
	struct mini_place other = {comm->peers[peer].host_hash,
				   comm->peers[peer].top_rank};

	return mini_transport_choose(&own, &other);
}

/* Whose service thread is asked, in the communicator. */
static int asked(const struct mini_proxy *proxy, const struct connector *connector,
		 enum mini_kind kind)
{
	const struct ncclComm *comm = proxy->comm;

	if (kind != MINI_NET || !connector->end.is_send || connector->end.index != 1)
		return comm->rank;
	return comm->topology->posters[connector->end.peer];
}

static int choose_caller(struct mini_proxy *proxy, struct connector *connector, int rank)
{
	struct mini_proxy_state *state = proxy->state;
	int top_rank = proxy->comm->peers[rank].top_rank;

	connector->caller = &state->caller;
	if (top_rank == state->rank)
		return 0;
	connector->poster = mini_poster_of(state, top_rank);
	if (!connector->poster)
		return -ENOMEM;
	connector->caller = &connector->poster->caller;
	return 0;
}

static int call_init(struct mini_proxy *proxy, struct mini_caller *caller, int rank,
		     enum mini_kind kind, bool is_send, uint64_t *ret_connection)
{
	const struct mini_peer *peers = proxy->comm->peers;
	struct mini_proxy_state *state = proxy->state;
	struct mini_call_init init = {
		.transport = (int32_t) kind,
		.is_send = is_send,
		.local_rank = state->local_rank,
		.rank = state->rank,
		.is_same_process = peers[rank].pid == peers[proxy->comm->rank].pid,
	};
	struct mini_call_request request = {
		.type = MINI_CALL_INIT,
		.data = &init,
		.size = sizeof(init),
		.response_size = mini_call_sizes()->init_response,
	};
	char response[64];
	int err;

	err = open_caller(proxy, caller, peers[rank].top_rank);
	if (!err)
		err = mini_call(caller, &request, response, &proxy->comm->aborted);
	if (!err)
		memcpy(ret_connection, response, sizeof(*ret_connection));
	return err;
}

int mini_proxy_need_progress(struct mini_proxy *proxy)
{
	int32_t channels = proxy->comm->channels;
	struct mini_call_request request = {
		.type = MINI_CALL_SHARED_INIT,
		.data = &channels,
		.size = sizeof(channels),
	};
	int err;

	err = call_init(proxy, &proxy->state->caller, proxy->comm->rank, MINI_NET, true,
			&request.connection);
	return err ? err
		   : mini_call(&proxy->state->caller, &request, NULL,
			       &proxy->comm->aborted);
}

/* What a receiver says is its handle, what a sender says who posts for it. */
static int set_up(struct mini_proxy *proxy, struct connector *connector)
{
	struct mini_call_setup setup = {
		.rank = proxy->state->rank,
		.local_rank = proxy->state->local_rank,
		.remote_rank = mini_proxy_end(proxy, &connector->end).peer,
		.is_shared = connector->end.index,
		.channel = connector->end.channel,
		.index = connector->end.index,
		.is_same_device = 1,
	};
	bool is_send = connector->end.is_send;
	struct mini_call_request request = {
		.type = MINI_CALL_SETUP,
		.data = &setup,
		.size = mini_call_sizes()->setup,
		.response_size = is_send ? 0 : MINI_HANDLE_BYTES,
	};
	enum mini_kind kind = choose(proxy->comm, connector->end.peer);
	int rank = asked(proxy, connector, kind);
	int32_t poster = proxy->comm->peers[rank].top_rank;
	int err = choose_caller(proxy, connector, rank);

	if (!err)
		err = call_init(proxy, connector->caller, rank, kind, is_send,
				&connector->connection);
	request.connection = connector->connection;
	if (!err)
		err = mini_call(connector->caller, &request, connector->told,
				&proxy->comm->aborted);
	if (is_send)
		memcpy(connector->told, &poster, sizeof(poster));
	return err;
}

/* Tells a peer of some ends, which stand one after the other. */
static int tell(const struct round *round, int first, int count, int peer, uint64_t tag,
		char *data)
{
	struct ncclComm *comm = round->proxy->comm;
	size_t size = (size_t) mini_call_sizes()->exchanged;
	int i;

	for (i = 0; i < count; i++)
		memcpy(data + (size_t) i * size, round->connectors[first + i].told, size);
	return mini_bootstrap_send(&comm->bootstrap, &comm->peers[peer].bootstrap, tag,
				   data, (size_t) count * size);
}

/* The peer has as many, in the same order of channels. */
static int hear(const struct round *round, int count, int peer, uint64_t tag, char *data)
{
	size_t size = (size_t) mini_call_sizes()->exchanged;

	return mini_bootstrap_receive(&round->proxy->comm->bootstrap, peer, tag, data,
				      (size_t) count * size);
}

static void keep(const struct round *round, int first, int count, const char *data)
{
	size_t size = (size_t) mini_call_sizes()->exchanged;
	int i;

	for (i = 0; i < count; i++)
		memcpy(round->connectors[first + i].told, data + (size_t) i * size, size);
}

/* The peers of one distance: who sends to us, and to whom we send. */
struct pair {
	int receive_peer;
	int send_peer;
	int first;
	int receives;
	int sends;
};

static struct pair pair_at(const struct round *round, int first)
{
	const struct ncclComm *comm = round->proxy->comm;
	const struct connector *c = round->connectors;
	int distance = c[first].distance;
	struct pair pair = {
		.receive_peer = (comm->rank - distance + comm->nranks) % comm->nranks,
		.send_peer = (comm->rank + distance) % comm->nranks,
		.first = first,
	};
	int i;

	for (i = first; i < round->count && c[i].distance == distance; i++) {
		pair.sends += c[i].end.is_send;
		pair.receives += !c[i].end.is_send;
	}
	return pair;
}

/* Of NCCL: with one peer both go together. */
static int exchange_both(const struct round *round, const struct pair *pair, uint64_t tag,
			 char *data)
{
	size_t size = (size_t) mini_call_sizes()->exchanged;
	int count = pair->receives + pair->sends;
	int err;

	err = tell(round, pair->first, count, pair->send_peer, tag, data);
	if (!err)
		err = hear(round, count, pair->send_peer, tag, data);
	if (err)
		return err;
	/* The peer's receives come first, and those are our sends. */
	keep(round, pair->first + pair->receives, pair->sends, data);
	keep(round, pair->first, pair->receives, data + (size_t) pair->sends * size);
	return 0;
}

static int exchange_each(const struct round *round, const struct pair *pair, uint64_t tag,
			 char *data)
{
	int first_send = pair->first + pair->receives;
	int err = 0;

	if (pair->receives)
		err = tell(round, pair->first, pair->receives, pair->receive_peer, tag,
			   data);
	if (!err && pair->sends)
		err = tell(round, first_send, pair->sends, pair->send_peer, tag, data);
	if (!err && pair->sends) {
		err = hear(round, pair->sends, pair->send_peer, tag, data);
		keep(round, first_send, pair->sends, data);
	}
	if (!err && pair->receives) {
		err = hear(round, pair->receives, pair->receive_peer, tag, data);
		keep(round, pair->first, pair->receives, data);
	}
	return err;
}

static uint64_t tag_of(const struct round *round, const struct pair *pair)
{
	/* NCCL adds the number of the graph, of which sends and receives have none. */
	return ((uint64_t) round->connectors[pair->first].distance << 8) +
	       (round->index == 0);
}

static int set_up_pair(const struct round *round, const struct pair *pair)
{
	int count = pair->receives + pair->sends;
	char *data = calloc((size_t) count, EXCHANGED_BYTES);
	int err = data ? 0 : -ENOMEM;
	int i;

	for (i = 0; i < count && !err; i++)
		err = set_up(round->proxy, &round->connectors[pair->first + i]);
	if (!err && pair->send_peer == pair->receive_peer)
		err = exchange_both(round, pair, tag_of(round, pair), data);
	else if (!err)
		err = exchange_each(round, pair, tag_of(round, pair), data);
	free(data);
	return err;
}

static int begin_connect(struct connector *connector)
{
	const struct mini_call_sizes *sizes = mini_call_sizes();
	char data[MINI_HANDLE_BYTES + 64] = "";
	struct mini_call_request request = {
		.type = MINI_CALL_CONNECT,
		.connection = connector->connection,
		.id = (uint64_t) (uintptr_t) connector,
		.data = data,
		.size = connector->end.is_send ? sizes->connect_send
					       : sizes->connect_receive,
		.response_size = sizes->connect_response,
	};
	size_t used = connector->end.is_send ? MINI_HANDLE_BYTES : sizeof(int32_t);

	memcpy(data, connector->told, used);
	connector->call = mini_call_begin(connector->caller, &request);
	return connector->call ? 0 : -EIO;
}

/* What another rank posts on has buffers there; the own service thread's is a link. */
static int keep_posted(struct mini_proxy *proxy, const struct connector *connector,
		       const char *response)
{
	struct mini_end top = mini_proxy_end(proxy, &connector->end);
	struct mini_posted posted;

	if (!connector->poster)
		return 0;
	memcpy(&posted, response + MINI_CALL_POSTED_AT, sizeof(posted));
	return mini_poster_connect(proxy->state, connector->poster, &top, &posted);
}

/* 0 also where it is not there yet. */
static int go_on(struct mini_proxy *proxy, struct connector *connector, int wait_ms)
{
	char response[MINI_CALL_RESPONSE_BYTES];
	int err = 0;

	if (!connector->call)
		err = begin_connect(connector);
	if (!err)
		err = mini_call_poll(connector->caller, connector->call, response,
				     wait_ms);
	if (err != -EAGAIN)
		connector->call = NULL;
	if (!err)
		err = keep_posted(proxy, connector, response);
	connector->is_connected = err == 0;
	return err == -EAGAIN ? 0 : err;
}

static int connect_all(const struct round *round)
{
	bool is_over = false;
	int err = 0;
	int i;

	/* All are begun before any is waited for. */
	for (i = 0; i < round->count && !err; i++)
		err = go_on(round->proxy, &round->connectors[i], 0);
	while (!is_over && !err) {
		is_over = true;
		for (i = 0; i < round->count && !err; i++) {
			if (round->connectors[i].is_connected)
				continue;
			is_over = false;
			err = go_on(round->proxy, &round->connectors[i], WAIT_MS);
		}
		if (!err && atomic_load(&round->proxy->comm->aborted))
			err = -ECANCELED;
	}
	for (i = 0; i < round->count; i++) {
		if (round->connectors[i].call)
			mini_call_abandon(round->connectors[i].caller,
					  round->connectors[i].call);
	}
	return err;
}

/* Nobody goes on before those that it is connected with have come so far. */
static int meet_pair(const struct round *round, const struct pair *pair)
{
	uint64_t tag = tag_of(round, pair) + (1 << 7);
	char none[1];
	int err = 0;

	if (pair->receive_peer == pair->send_peer) {
		err = tell(round, 0, 0, pair->send_peer, tag, none);
		return err ? err : hear(round, 0, pair->send_peer, tag, none);
	}
	if (pair->sends)
		err = tell(round, 0, 0, pair->send_peer, tag, none);
	if (!err && pair->receives)
		err = tell(round, 0, 0, pair->receive_peer, tag, none);
	if (!err && pair->sends)
		err = hear(round, 0, pair->send_peer, tag, none);
	if (!err && pair->receives)
		err = hear(round, 0, pair->receive_peer, tag, none);
	return err;
}

static int for_each_pair(const struct round *round,
			 int (*act)(const struct round *, const struct pair *))
{
	int err = 0;
	int i = 0;

	while (i < round->count && !err) {
		struct pair pair = pair_at(round, i);

		err = act(round, &pair);
		i += pair.receives + pair.sends;
	}
	return err;
}

/* By distance; then receives before sends; then channels. */
static int compare(const void *a, const void *b)
{
	const struct connector *first = a;
	const struct connector *second = b;

	if (first->distance != second->distance)
		return first->distance - second->distance;
	if (first->end.is_send != second->end.is_send)
		return first->end.is_send - second->end.is_send;
	return first->end.channel - second->end.channel;
}

/* By distance; then channels; then sends before receives. */
static int compare_to_connect(const void *a, const void *b)
{
	const struct connector *first = a;
	const struct connector *second = b;

	if (first->distance != second->distance)
		return first->distance - second->distance;
	if (first->end.channel != second->end.channel)
		return first->end.channel - second->end.channel;
	return second->end.is_send - first->end.is_send;
}

static void add_connector(struct round *round, const struct mini_end *end)
{
	const struct ncclComm *comm = round->proxy->comm;
	int way = end->is_send ? end->peer - comm->rank : comm->rank - end->peer;
	struct connector *c = round->connectors;
	int i = 0;

	while (i < round->count &&
	       (c[i].end.peer != end->peer || c[i].end.channel != end->channel ||
		c[i].end.is_send != end->is_send))
		i++;
	if (i < round->count)
		return;
	c[i].end = *end;
	c[i].distance = (way + comm->nranks) % comm->nranks;
	round->count++;
}

static int connect_index(struct mini_proxy *proxy, const struct mini_end *ends, int count,
			 int index)
{
	struct round round = {.proxy = proxy, .index = index};
	int err = 0;
	int i;

	round.connectors = calloc((size_t) count + 1, sizeof(*round.connectors));
	if (!round.connectors)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (ends[i].index == index && !mini_proxy_is_connected(proxy, &ends[i]))
			add_connector(&round, &ends[i]);
	}
	qsort(round.connectors, (size_t) round.count, sizeof(*round.connectors), compare);
	err = for_each_pair(&round, set_up_pair);
	qsort(round.connectors, (size_t) round.count, sizeof(*round.connectors),
	      compare_to_connect);
	if (!err)
		err = connect_all(&round);
	if (!err)
		err = for_each_pair(&round, meet_pair);
	free(round.connectors);
	return err;
}

int mini_proxy_connect(struct mini_proxy *proxy, const struct mini_end *ends, int count)
{
	int err = connect_index(proxy, ends, count, 0);

	return err ? err : connect_index(proxy, ends, count, 1);
}
