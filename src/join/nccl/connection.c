/* SPDX-License-Identifier: MIT */
/*
 * Gathers the ends that other layers know when no event comes any more, while the layer
 * of threads still knows whom they served; emits them after all messages.
 */
#include "join/nccl/connection.h"

#include "common/vec.h"
#include "join/model/comm.h"
#include "join/model/process.h"
#include "join/nccl/attribution.h"
#include "join/nccl/connection_order.h"
#include "join/nccl/net_channel.h"
#include "join/nccl/net_client.h"
#include "join/nccl/net_service.h"
#include "join/nccl/net_span.h"
#include "join/nccl/net_socket.h"
#include "join/nccl/netib.h"
#include "join/nccl/thread.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many groups of a process may be open together: one of each of its ranks. */
#define GROUPS 32

struct group {
	uint64_t id;
	unsigned int operations;
	bool has_all_reduce;
};

/* What a process was seen to ask NCCL for. */
struct process {
	uint64_t channels;	    /* most of a kernel of collectives */
	uint64_t transfer_channels; /* likewise, of sends and receives */
	bool has_transfers;	    /* it sends and receives, too */
	bool has_begun;		    /* it has asked for an operation */
	bool begins_with_transfers; /* in its first operation, or that one's group */
	uint64_t first_group;	    /* 0 none */
	bool has_trees; /* collectives over a tree, or what may be such ones */
	struct group groups[GROUPS]; /* the latest */
	size_t next_group;
	bool has_kernels; /* of its own that may send by themselves */
	bool has_network; /* verbs or sockets */
	uint64_t ends[TAP_TRANSPORTS];
};

struct connections {
	struct tap_context *context; /* first: layer.h */
	struct tap_table processes;  /* struct process, by number */
	struct tap_table by_net;     /* ends, by (process, net_id) */
	TAP_VEC(struct tap_connection_end *) ends;
	struct tap_table seen; /* channels that have an end, by themselves */
};

/* ---- What processes ask for ---- */

static struct process *process_of(struct connections *connections,
				  const struct tap_process *process)
{
	struct process *own = tap_table_find(&connections->processes, process->number, 0);

	if (own)
		return own;
	own = calloc(1, sizeof(*own));
	if (own && tap_table_set(&connections->processes, process->number, 0, own)) {
		free(own);
		own = NULL;
	}
	return own;
}

/*
 * A kernel of several operations has the name of one of them alone: an all-reduce beside
 * it may use a tree, as no other operation does.
 */
static void note_group(struct process *own, const struct tap_span *span, uint64_t id)
{
	struct group *group = own->groups;

	while (group < own->groups + GROUPS && group->id != id)
		group++;
	if (group == own->groups + GROUPS) {
		group = &own->groups[own->next_group++ % GROUPS];
		*group = (struct group){.id = id};
	}
	group->operations++;
	group->has_all_reduce |= !strcmp(span->name->name, "ncclAllReduce");
	own->has_trees |= group->operations > 1 && group->has_all_reduce;
}

static int note_call(struct connections *connections, const struct tap_span *span)
{
	const bool is_transfer = span->name->is_made_of_messages;
	const bool is_operation = span->operation.has_count;
	const uint64_t group_id = span->operation.group_id;
	struct process *own;

	if (!is_operation && strcmp(span->name->name, "ncclDevCommCreate"))
		return 0;
	own = process_of(connections, span->process);
	if (!own)
		return -ENOMEM;
	own->has_kernels |= !is_operation;
	if (!is_operation)
		return 0;
	own->has_transfers |= is_transfer;
	if (!own->has_begun)
		own->first_group = group_id;
	if (!own->has_begun || (group_id && group_id == own->first_group))
		own->begins_with_transfers |= is_transfer;
	own->has_begun = true;
	if (group_id && !own->has_trees)
		note_group(own, span, group_id);
	return 0;
}

static int span_ended(void *state, struct tap_span *span)
{
	struct connections *connections = state;
	const char *kind, *function;
	uint64_t grid = 0, *most;
	struct process *own;

	if (span->name->is_nccl)
		return note_call(connections, span);
	if (span->name->cuda != TAP_CUDA_KERNEL)
		return 0;
	kind = tap_fields_get_string(&span->entry, "kernel_kind");
	function = tap_fields_get_string(&span->entry, "function");
	if (!kind || strcmp(kind, "collective") || !function)
		return 0;
	own = process_of(connections, span->process);
	if (!own)
		return -ENOMEM;
	most = strstr(function, "SendRecv") ? &own->transfer_channels : &own->channels;
	tap_call_get(span->name->row, TAP_ROLE_GRID, &span->entry, &grid);
	if (grid > *most)
		*most = grid;
	/* An all-reduce by NVLS or CollNet is named after the ring, too. */
	own->has_trees |= !strstr(function, "SendRecv") && !strstr(function, "_RING");
	return 0;
}

/* ---- Ends ---- */

static void describe(struct tap_nccl_connection *about,
		     const struct tap_net_channel *channel)
{
	if (!channel || !channel->has_setup)
		return;
	about->rank = channel->rank;
	about->peer_rank = channel->peer_rank;
	about->channel = channel->channel;
	about->index = channel->index;
	about->known = TAP_KNOWN_DECODED;
}

static enum tap_connection_use use_of(const struct process *own)
{
	if (!own || !own->has_transfers)
		return TAP_CONNECTION_COLLECTIVES;
	return own->begins_with_transfers ? TAP_CONNECTION_ANY : TAP_CONNECTION_FIRST;
}

static struct tap_connection_end *add_end(struct connections *connections,
					  const struct tap_process *process, int64_t tid,
					  const struct tap_net_channel *channel)
{
	const struct process *own;
	struct tap_connection_end *end = calloc(1, sizeof(*end));

	if (!end || tap_vec_add(&connections->ends, end)) {
		free(end);
		return NULL;
	}
	if (channel && tap_table_set(&connections->seen, (uintptr_t) channel, 0, end))
		return NULL;
	own = tap_table_find(&connections->processes, process->number, 0);
	end->channels = own ? own->channels : 0;
	end->transfer_channels = own ? own->transfer_channels : 0;
	end->use = use_of(own);
	end->tid = tid;
	end->about = (struct tap_nccl_connection){.process = process,
						  .rank = -1,
						  .peer_rank = -1,
						  .channel = -1,
						  .index = -1};
	end->about.member = tap_threads_served(tap_context_state(connections->context,
								 &tap_threads_layer),
					       process, tid, &end->about.member_known);
	describe(&end->about, channel);
	/* Of two ranks each tree is a ring. */
	end->has_trees =
		own && own->has_trees &&
		!(end->about.member && tap_member_comm(end->about.member)->nranks == 2);
	return end;
}

/* For whom a sender was made, by the number of its socket and its maker. */
static void find_client(const struct connections *connections,
			struct tap_connection_end *end, uint64_t socket,
			const struct tap_net_maker *maker)
{
	const struct tap_net_services *services =
		tap_context_state(connections->context, &tap_net_services_layer);
	const struct tap_net_clients *clients =
		tap_context_state(connections->context, &tap_net_clients_layer);

	if (!end->about.is_send || !tap_net_services_may_own(services, maker))
		return;
	end->client = tap_net_client_of(clients, end->about.process, socket);
	end->may_be_others = !end->client || !tap_net_client_is_own(end->client);
}

/*
 * Where data are of others, they show for whom the connection is better than the answer
 * that came next: the thread may have done things for several at once.
 */
static void follow_data(struct tap_connection_end *end, const struct tap_net *net)
{
	const struct tap_net_shares *shares = net->peer ? &net->peer->shares : NULL;
	size_t i;

	if (!end->client || !shares || !shares->all.count)
		return;
	for (i = 0; i < shares->all.count; i++)
		if (shares->all.items[i].client == end->client)
			return;
	end->client = shares->all.count == 1 ? shares->all.items[0].client : NULL;
	end->may_be_others = !end->client || !tap_net_client_is_own(end->client);
}

/* Files an end of a network whose traffic is seen. */
static int file(struct connections *connections, struct tap_connection_end *end)
{
	struct process *own = process_of(connections, end->about.process);

	if (!own)
		return -ENOMEM;
	own->has_network = true;
	return end->about.net_id
		       ? tap_table_set(&connections->by_net, end->about.process->number,
				       end->about.net_id, end)
		       : 0;
}

/* Queue pairs of other libraries, and those of which it is not known yet, are none. */
static int add_queues(struct connections *connections,
		      const struct tap_net_channels *channels)
{
	const struct tap_netib *netib =
		tap_context_state(connections->context, &tap_netib_layer);
	struct tap_net *net;
	int ret = 0;

	for (net = netib->all; net && !ret; net = net->next) {
		const struct tap_net_channel *channel =
			tap_net_channel(connections->context, net);
		struct tap_connection_end *end;

		if (net->is_refuted || (!net->is_proved && !channel))
			continue;
		end = add_end(connections, net->process, net->maker.tid, channel);
		if (!end)
			return -ENOMEM;
		end->ordinal = tap_net_channel_socket(channels, net->process, net->key);
		end->is_used = net->whole;
		/* Those of sends and receives have no buffer for each protocol. */
		end->use =
			net->has_buffer ? TAP_CONNECTION_COLLECTIVES : TAP_CONNECTION_ANY;
		end->about.transport = TAP_TRANSPORT_NET_IB;
		end->about.net_id = net->id;
		end->about.is_send = channel ? channel->is_send : !net->layout;
		find_client(connections, end, end->ordinal, &net->maker);
		follow_data(end, net);
		end->messages = &net->whole;
		end->about.peer = net->peer ? net->peer->process : NULL;
		end->about.peer_net_id = net->peer ? net->peer->id : 0;
		ret = file(connections, end);
	}
	return ret;
}

static int add_sockets(struct connections *connections,
		       const struct tap_net_channels *channels)
{
	const struct tap_net_sockets *sockets =
		tap_context_state(connections->context, &tap_net_sockets_layer);
	const struct tap_socket_net *net;
	int ret = 0;

	for (net = sockets->all_nets; net && !ret; net = net->next) {
		const struct tap_stream_end *peer = net->end.peer;
		struct tap_connection_end *end =
			add_end(connections, net->end.process, net->end.maker.tid,
				tap_socket_net_channel(channels, net));

		if (!end)
			return -ENOMEM;
		end->ordinal = net->end.is_sender ? net->ordinal : 0;
		end->is_used = net->is_used;
		end->about.transport = TAP_TRANSPORT_NET_SOCKET;
		end->about.net_id = net->end.net_id;
		end->about.is_send = net->end.is_sender;
		find_client(connections, end, net->end.socket, &net->end.maker);
		end->messages = &net->end.whole;
		end->about.peer = peer ? peer->process : NULL;
		end->about.peer_net_id = peer ? peer->net_id : 0;
		ret = file(connections, end);
	}
	return ret;
}

static enum tap_nccl_transport transport_of(int64_t number)
{
	static const enum tap_nccl_transport transports[] = {TAP_TRANSPORT_P2P,
							     TAP_TRANSPORT_SHM,
							     TAP_TRANSPORT_NET,
							     TAP_TRANSPORT_COLLNET};

	return number >= 0 && number < 4 ? transports[number] : TAP_TRANSPORT_OTHER;
}

/* Whether a connection of the process is known to use verbs or sockets. */
static bool has_network(const struct connections *connections,
			const struct tap_net_channel *channel)
{
	const struct process *own =
		tap_table_find(&connections->processes, channel->process->number, 0);

	return own && own->has_network;
}

/* What NCCL has asked its service thread for, and nothing else shows. */
static int add_others(struct connections *connections,
		      const struct tap_net_channels *channels)
{
	const struct tap_net_channel *channel;
	struct tap_connection_end *end;

	for (channel = channels->all; channel; channel = channel->next) {
		/* What a network shows of a connection it may show later, or elsewhere.
		 */
		if (channel->transport < 0 ||
		    (channel->transport == TAP_NET_TRANSPORT_NET &&
		     (!channel->is_connected || has_network(connections, channel))) ||
		    tap_table_find(&connections->seen, (uintptr_t) channel, 0))
			continue;
		end = add_end(connections, channel->process, channel->tid, NULL);
		if (!end)
			return -ENOMEM;
		describe(&end->about, channel);
		end->about.transport = transport_of(channel->transport);
		end->about.is_send = channel->is_send;
	}
	return 0;
}

/*
 * The rank that the peer has in the communicator: the one whose threads serve its end, or
 * its process's; -1: not known, or several.
 */
static int64_t peer_rank(const struct tap_member *member,
			 const struct tap_connection_end *other,
			 const struct tap_process *process)
{
	const struct tap_member *one, *served = other ? other->about.member : NULL;
	int64_t rank = -1;

	if (member && served && tap_member_comm(member) == tap_member_comm(served))
		return served->rank;
	for (one = member ? tap_member_comm(member)->members : NULL; one;
	     one = one->next) {
		if (one->process != process)
			continue;
		if (rank >= 0)
			return -1;
		rank = one->rank;
	}
	return rank;
}

/*
 * Of a connection that the sender's process has for another rank that one has the name.
 * What it was asked for says which rank that is.
 */
static void name_others(struct tap_connection_end *end)
{
	const struct tap_connection_end *sender = end->about.is_send ? end : end->other;
	int64_t *rank = end->about.is_send ? &end->about.rank : &end->about.peer_rank;
	const struct tap_member *is;

	if (sender && sender != end && sender->about.known == TAP_KNOWN_DECODED) {
		*rank = sender->about.rank;
		return;
	}
	if (!sender || !sender->may_be_others)
		return;
	is = sender->client ? sender->client->is : NULL;
	*rank = is ? is->rank : -1;
}

/* What the messages of an end show of its use. */
static void find_use(const struct connections *connections,
		     struct tap_connection_end *end)
{
	const struct tap_connection_end *receiver = end->about.is_send ? end->other : end;
	enum tap_series series = TAP_SERIES_UNKNOWN;

	if (receiver && receiver->about.net_id)
		series = tap_attribution_series(tap_context_state(connections->context,
								  &tap_attribution_layer),
						receiver->about.process,
						receiver->about.net_id);
	if (series == TAP_SERIES_COLLECTIVES)
		end->use = TAP_CONNECTION_COLLECTIVES;
	if (series == TAP_SERIES_MESSAGES)
		end->use = TAP_CONNECTION_TRANSFERS;
	if (series)
		end->about.index = end->use == TAP_CONNECTION_TRANSFERS;
}

/* Whether connections are a communicator's own; one whose threads are shared has none. */
static bool has_ends(const struct connections *connections,
		     const struct tap_member *member)
{
	size_t i;

	for (i = 0; i < connections->ends.count; i++)
		if (connections->ends.items[i]->about.member == member)
			return true;
	return false;
}

/*
 * Whether one that was split off from the end's communicator may share its threads: that
 * one has fewer channels, and connects them when it needs them.
 */
static bool has_children(const struct connections *connections,
			 const struct tap_connection_end *end)
{
	const struct tap_comms *comms = &connections->context->comms;
	const struct tap_process *process = end->about.process;
	size_t i;

	for (i = 0; i < comms->member_count; i++) {
		const struct tap_member *child = comms->members[i];
		const uint64_t parent =
			child->process == process
				? tap_fields_number(&child->about, "parent_comm_id")
				: 0;

		if (parent &&
		    (!end->about.member || tap_table_find(&comms->by_id, process->number,
							  parent) == end->about.member) &&
		    !has_ends(connections, child))
			return true;
	}
	return false;
}

static void complete(struct connections *connections)
{
	size_t i;

	for (i = 0; i < connections->ends.count; i++) {
		struct tap_connection_end *end = connections->ends.items[i];

		if (!end->about.peer)
			continue;
		end->other = tap_table_find(&connections->by_net, end->about.peer->number,
					    end->about.peer_net_id);
		if (end->about.channel >= 0)
			continue;
		end->about.known = TAP_KNOWN_INFERRED;
		find_use(connections, end);
		end->has_children = has_children(connections, end);
		end->about.peer_rank =
			peer_rank(end->about.member, end->other, end->about.peer);
		if (end->about.member)
			end->about.rank = end->about.member->rank;
		name_others(end);
	}
	tap_connection_order(connections->ends.items, connections->ends.count,
			     tap_loss_is_none(&connections->context->loss));
}

/* ---- The layer ---- */

static int emit_unobserved(const struct connections *connections,
			   const struct tap_process *process, const char *what,
			   const char *detail)
{
	const struct tap_problem problem = {.process = process,
					    .time_ns = connections->context->last_ns,
					    .what = what,
					    .detail = detail,
					    .is_unobserved = true,
					    .count = 1};

	return tap_emit_problem(connections->context, &problem);
}

/* The network plugin that NCCL has loaded into the process, or NULL. */
static const struct tap_library *plugin_of(const struct tap_process *process)
{
	const struct tap_library *library = process->libraries;

	while (library && strcmp(library->layer, "net"))
		library = library->next;
	return library;
}

/* Reports the traffic of a process that is missing from the trace. */
static int emit_unseen(const struct connections *connections,
		       const struct tap_process *process, const struct process *own)
{
	const struct tap_library *plugin = plugin_of(process);
	char detail[PATH_MAX + 64];
	int ret = 0;

	if (own->ends[TAP_TRANSPORT_NET]) {
		snprintf(detail, sizeof(detail), "%s",
			 plugin ? plugin->path
				: "connections without queue pairs or sockets");
		ret = emit_unobserved(connections, process, "NCCL's network traffic",
				      detail);
	}
	if (!ret && own->ends[TAP_TRANSPORT_COLLNET])
		ret = emit_unobserved(connections, process, "NCCL's CollNet traffic", "");
	if (!ret && own->has_kernels)
		ret = emit_unobserved(connections, process,
				      "what kernels send themselves",
				      "ncclDevCommCreate was called");
	return ret;
}

/* Layers that have finished after this one may have told of more messages. */
static int emit_all(void *state)
{
	struct connections *connections = state;
	const struct tap_processes *processes = &connections->context->processes;
	struct tap_connection_end *end;
	struct process *own;
	int ret = 0;
	size_t i;

	complete(connections);
	for (i = 0; !ret && i < connections->ends.count; i++) {
		end = connections->ends.items[i];
		own = process_of(connections, end->about.process);
		if (!own)
			return -ENOMEM;
		own->ends[end->about.transport]++;
		end->about.messages = end->messages ? *end->messages : 0;
		ret = tap_emit_connection(connections->context, &end->about);
	}
	for (i = 0; !ret && i < processes->count; i++) {
		own = tap_table_find(&connections->processes, processes->all[i]->number,
				     0);
		ret = own ? emit_unseen(connections, processes->all[i], own) : 0;
	}
	return ret;
}

static int finish(void *state)
{
	struct connections *connections = state;
	const struct tap_net_channels *channels =
		tap_context_state(connections->context, &tap_net_channels_layer);
	int ret = add_queues(connections, channels);

	if (!ret)
		ret = add_sockets(connections, channels);
	if (!ret)
		ret = add_others(connections, channels);
	return ret;
}

static void free_all(void *state)
{
	struct connections *connections = state;
	size_t i;

	for (i = 0; i < connections->ends.count; i++)
		free(connections->ends.items[i]);
	for (i = 0; i < connections->processes.size; i++)
		free(connections->processes.slots[i].value);
	tap_vec_free(&connections->ends);
	tap_table_free(&connections->seen);
	tap_table_free(&connections->processes);
	tap_table_free(&connections->by_net);
}

const struct tap_layer tap_connections_layer = {
	.name = "connections",
	.size = sizeof(struct connections),
	.is_of_views = true,
	.span_ended = span_ended,
	.finish = finish,
	.close = emit_all,
	.free = free_all,
};
