/* SPDX-License-Identifier: MIT */
/* Finds NCCL's connections, and the role of each of their requests. */
#include "join/nccl/netib.h"

#include "join/nccl/net_channel.h"
#include "join/nccl/net_flush.h"
#include "join/nccl/net_occasion.h"
#include "join/nccl/net_share.h"
#include "join/nccl/net_span.h"
#include "join/model/process.h"
#include "join/rdma/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of enum ibv_wr_opcode and ibv_send_flags. */
#define RDMA_WRITE 0
#define RDMA_WRITE_WITH_IMM 1
#define RDMA_READ 4
#define SIGNALED 2

#define GROUP_MAX 8

/* wr_id of a receive that is posted ahead of the CTS. */
#define PREPOSTED UINT64_MAX

/* Each has a region of another size: one slot for 8 requests, times slots. */
static const struct tap_net_layout layouts[] = {
	{32, 64, false},  /* 2.18 */
	{32, 256, false}, /* 2.19 */
	{64, 256, true},  /* 2.20 to 2.29; the slot from 2.29 on */
	{48, 256, true},  /* 2.30 */
};

/* What a work request is for. */
enum role {
	ROLE_NONE,
	ROLE_CTS,
	ROLE_DATA,     /* a write */
	ROLE_DATA_IMM, /* the last write, with immediate data */
	ROLE_SIZES,    /* the last of several requests: writes their sizes */
	ROLE_FLUSH,
	ROLE_RECEIVE,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The network code's state in a process. */
struct process {
	uint64_t nets;	 /* connections with an id */
	bool has_region; /* that NCCL's sender may have made */
};

static const struct tap_net_layout *layout_of(uint64_t length)
{
	size_t i;

	for (i = 0; i < COUNT(layouts); i++)
		if (layouts[i].entry * GROUP_MAX * layouts[i].slots == length)
			return &layouts[i];
	return NULL;
}

/* ---- Connections ---- */

/* NULL: memory is short. */
static struct process *process_of(struct tap_netib *netib,
				  const struct tap_process *process)
{
	struct process *own = tap_table_find(&netib->processes, process->number, 0);

	if (own)
		return own;
	own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	if (!tap_table_set(&netib->processes, process->number, 0, own))
		return own;
	free(own);
	return NULL;
}

static void take_region(void *data, const struct tap_process *process, uint64_t length)
{
	struct process *own = layout_of(length) ? process_of(data, process) : NULL;

	if (own)
		own->has_region = true;
}

/* NULL: not NCCL's, or memory is short. */
static struct tap_net *net_of(struct tap_netib *netib, struct tap_qp *qp)
{
	struct tap_net *net;
	uint64_t key;

	if (qp->observed || !qp->is_known || qp->type != TAP_QP_RC)
		return qp->observed;
	key = tap_net_channel_owner(tap_context_state(netib->context,
						      &tap_net_channels_layer),
				    qp->process, qp->qp_context, qp->send_cq_id);
	net = tap_table_find(&netib->by_owner, qp->process->number, key);
	if (!net) {
		net = calloc(1, sizeof(*net));
		if (!net)
			return NULL;
		if (tap_table_set(&netib->by_owner, qp->process->number, key, net)) {
			free(net);
			return NULL;
		}
		net->process = qp->process;
		net->key = key;
		net->maker = (struct tap_net_maker){
			.process = qp->process,
			.tid = qp->tid,
			.made_ns = qp->made_ns,
			.index = tap_net_occasion_index(
				tap_context_state(netib->context,
						  &tap_net_occasions_layer),
				qp->process, qp->made_ns)};
		net->next = netib->all;
		netib->all = net;
	}
	net->qp_count++;
	if (qp->generations && qp->generations->is_from_statedump)
		net->is_late = true;
	qp->observed = net;
	return net;
}

static void take_destroyed(void *data, struct tap_qp *qp)
{
	struct tap_netib *netib = data;
	struct tap_net *net = qp->observed;

	if (net)
		tap_net_channel(netib->context, net);
	/* The next owner may have the same address. */
	if (net && !--net->qp_count)
		tap_table_remove(&netib->by_owner, net->process->number, net->key);
}

static int take_met(void *data, struct tap_generation *sender,
		    struct tap_generation *receiver)
{
	struct tap_netib *netib = data;
	struct tap_net *a = net_of(netib, sender->qp), *b = net_of(netib, receiver->qp);

	if (!a || !b || a == b)
		return 0;
	if (!a->peer)
		a->peer = b;
	if (!b->peer)
		b->peer = a;
	return tap_net_match_retry(&netib->match, a);
}

/* ---- Roles of requests ---- */

/* The role of request i in a list whose first request has the role `first`. */
static enum role role_of(enum role first, const struct tap_rdma_list *list, size_t i)
{
	if (first != ROLE_DATA)
		return first;
	if (i + 1 < list->count)
		return ROLE_DATA;
	return list->count > 2 && list->requests[i].length ? ROLE_SIZES : ROLE_DATA_IMM;
}

/*
 * Whether a list is data: writes, the last of them with immediate data.  The last of
 * several is empty or, from 2.19, has the sizes of the others.
 */
static bool is_data(const struct tap_rdma_list *list)
{
	const struct tap_rdma_request *last = &list->requests[list->count - 1];
	size_t i;

	if (last->opcode != RDMA_WRITE_WITH_IMM || !(last->flags & SIGNALED))
		return false;
	for (i = 0; i + 1 < list->count; i++)
		if (list->requests[i].opcode != RDMA_WRITE ||
		    list->requests[i].flags & SIGNALED)
			return false;
	return list->count < 2 || !last->length ||
	       (list->count > 2 && last->length == 4 * (list->count - 1));
}

static bool is_flush(const struct tap_rdma_list *list)
{
	return list->count == 1 && list->requests[0].opcode == RDMA_READ &&
	       list->requests[0].flags & SIGNALED &&
	       list->generation->peer == list->generation;
}

/*
 * Where a CTS goes in the sender's region; layout NULL: not a CTS.  NCCL prepares the CTS
 * in a region of the same size, at the same offset.
 */
struct place {
	const struct tap_net_layout *layout;
	uint64_t local_addr, remote_addr; /* of the regions */
	uint64_t slot;
	unsigned int requests;
};

static void find_place(struct tap_netib *netib, const struct tap_net *net,
		       const struct tap_rdma_list *list, struct place *place)
{
	const struct tap_rdma_request *request = &list->requests[0];
	const struct tap_generation *peer = list->generation->peer;
	const struct tap_net_layout *layout;
	const struct tap_mr *mr;
	uint64_t offset, stride;

	place->layout = NULL;
	if (list->count != 1 || request->opcode != RDMA_WRITE || request->num_sge != 1 ||
	    !peer || peer == list->generation)
		return;
	mr = tap_memory_find(netib->memory, peer->qp, request->rkey, request->remote_addr,
			     request->length);
	layout = mr ? layout_of(mr->length) : NULL;
	if (!layout)
		return;
	offset = request->remote_addr - mr->addr;
	stride = layout->entry * GROUP_MAX;
	if (offset % stride || !request->length || request->length % layout->entry ||
	    request->length > stride)
		return;
	place->local_addr = request->addr - offset;
	if (net->layout ? net->layout != layout || mr->addr != net->remote_addr ||
				  place->local_addr != net->local_addr
			: !tap_memory_has(netib->memory, net->process, place->local_addr,
					  mr->length))
		return;
	place->layout = layout;
	place->remote_addr = mr->addr;
	place->slot = offset / stride;
	place->requests = (unsigned int) (request->length / layout->entry);
}

/* ---- The receiver ---- */

uint64_t tap_netib_new_id(struct tap_netib *netib, const struct tap_process *process)
{
	struct process *own = process_of(netib, process);

	return own ? ++own->nets : 0;
}

static void know(struct tap_netib *netib, struct tap_net *net)
{
	if (!net->id)
		net->id = tap_netib_new_id(netib, net->process);
}

/*
 * Keeps, of the receives since the last CTS, those of this one; the others belong to
 * missed ones before it.  The receives of one message have one wr_id.  Returns why that
 * fails.
 */
static enum tap_why take_pending(struct tap_net *net, uint64_t missed, bool is_first)
{
	const size_t count = net->pending_count;
	uint64_t own = 0;

	if (net->is_preposted)
		return TAP_WHY_NONE;
	if (is_first && net->is_late)
		return TAP_WHY_BEFORE;
	while (own < count &&
	       net->pending[count - 1 - own].wr_id == net->pending[count - 1].wr_id)
		own++;
	/* Earlier messages may have lacked receives, but none had more. */
	if (!missed && own == count && own > net->parts)
		net->parts = own;
	if (!net->parts || own < net->parts || count != net->parts * (missed + 1))
		return TAP_WHY_POST_LOST;
	own = net->parts;
	memmove(net->pending, net->pending + (count - own),
		own * sizeof(net->pending[0]));
	net->pending_count = own;
	return TAP_WHY_NONE;
}

static int take_cts(struct tap_netib *netib, struct tap_net *net,
		    const struct tap_rdma_list *list, const struct place *place)
{
	const bool is_first = !net->number;
	const uint64_t slots = place->layout->slots;
	uint64_t missed = place->slot, i;
	enum tap_why why;
	int ret = 0;

	if (!is_first)
		missed = (place->slot + slots - net->number % slots) % slots;
	else if (net->is_late)
		missed = 0;
	net->number = is_first ? place->slot + 1 : net->number + missed + 1;
	why = take_pending(net, missed, is_first);
	net->layout = place->layout;
	net->local_addr = place->local_addr;
	net->remote_addr = place->remote_addr;
	know(netib, net);
	net->peer = list->generation->peer->qp->observed;
	net->peer->peer = net;
	know(netib, net->peer);
	for (i = 0; i < missed; i++)
		tap_net_unmatched(&netib->match, net, net->number - 1, TAP_WHY_POST_LOST);
	if (why)
		tap_net_unmatched(&netib->match, net, net->number, why);
	else
		ret = tap_net_match_cts(&netib->match, net, list, place->requests);
	net->pending_count = 0;
	return ret;
}

static void take_receive(void *data, struct tap_generation *generation, uint64_t seq,
			 uint64_t wr_id, uint64_t num_sge, struct tap_rdma_note *note)
{
	struct tap_netib *netib = data;
	struct tap_net *net = net_of(netib, generation->qp);

	if (!net || net->is_refuted)
		return;
	if (num_sge) {
		/* NCCL's receives are empty. */
		if (!net->id)
			tap_net_refute(net);
		return;
	}
	if (wr_id == PREPOSTED)
		net->is_preposted = true;
	/* One message does not have so many. */
	if (net->pending_count == TAP_NET_PIECES_MAX)
		net->pending_count = 0;
	if (!net->is_preposted) {
		net->pending[net->pending_count].generation = generation;
		net->pending[net->pending_count].wr_id = wr_id;
		net->pending[net->pending_count++].seq = seq;
	}
	*note = (struct tap_rdma_note){.role = ROLE_RECEIVE,
				       .owner = net,
				       .ordinal = seq};
}

/* ---- Posts ---- */

/* Whether the process has a region for the CTS that NCCL's sender gets. */
static bool may_send(const struct tap_netib *netib, const struct tap_net *net)
{
	const struct process *own =
		tap_table_find(&netib->processes, net->process->number, 0);

	return own && own->has_region;
}

/* Finds the role of the list's first request; a note without owner: not NCCL's. */
static int take_list(struct tap_netib *netib, const struct tap_rdma_list *list,
		     struct tap_rdma_note *first)
{
	struct tap_net *net = net_of(netib, list->generation->qp);
	struct place place;
	int ret = 0;

	if (!net || net->is_refuted)
		return 0;
	find_place(netib, net, list, &place);
	if (place.layout && net_of(netib, list->generation->peer->qp)) {
		ret = take_cts(netib, net, list, &place);
		*first = (struct tap_rdma_note){.role = ROLE_CTS,
						.owner = net,
						.number = net->number};
	} else if (is_flush(list)) {
		if (!net->layout)
			return 0;
		ret = tap_net_flush_add(netib->context, net, list);
		*first = (struct tap_rdma_note){.role = ROLE_FLUSH, .owner = net};
	} else if (is_data(list) && may_send(netib, net)) {
		*first = (struct tap_rdma_note){.role = ROLE_DATA,
						.owner = net,
						.ordinal = list->consuming};
		ret = tap_net_match_post(&netib->match, net, list, &first->number);
	}
	return ret;
}

static int take_posted(void *data, const struct tap_rdma_list *list,
		       struct tap_rdma_note *notes)
{
	struct tap_rdma_note first = {.owner = NULL};
	const int ret = take_list(data, list, &first);
	size_t i;

	for (i = 0; first.owner && i < list->count; i++) {
		notes[i] = first;
		notes[i].role = role_of(first.role, list, i);
	}
	return ret;
}

/* ---- Ends and completions ---- */

/*
 * Whether the connection is NCCL's: a message has fit, or the service thread was asked
 * for it.  A request may end before the CTS of its message is known.
 */
static bool is_nccls(struct tap_netib *netib, struct tap_net *net)
{
	return net->is_proved ||
	       (!net->is_refuted && tap_net_channel(netib->context, net));
}

static void take_ended(void *data, const struct tap_generation *generation,
		       struct tap_rdma_note *note, struct tap_fields *exit)
{
	static const char *const roles[] = {
		[ROLE_CTS] = "cts",	      [ROLE_DATA] = "data",
		[ROLE_DATA_IMM] = "data-imm", [ROLE_SIZES] = "sizes",
		[ROLE_FLUSH] = "flush",	      [ROLE_RECEIVE] = "receive",
	};
	struct tap_netib *netib = data;
	struct tap_net *net = (struct tap_net *) note->owner;

	/* The event of the CTS may have come after the request's. */
	if (!note->number && note->ordinal)
		note->number =
			tap_net_match_number(&netib->match, generation, note->ordinal,
					     note->role == ROLE_RECEIVE);
	if (!is_nccls(netib, net))
		return;
	know(netib, net);
	tap_fields_add_text(exit, "net", roles[note->role]);
	tap_fields_add_unsigned(exit, "net_id", net->id);
	if (note->number)
		tap_fields_add_unsigned(exit, "request", note->number);
}

static int take_sent(void *data, struct tap_generation *generation, uint64_t ordinal,
		     int64_t time_ns, uint64_t status)
{
	const struct tap_netib *netib = data;

	return tap_net_match_sent(&netib->match, generation, ordinal, time_ns, status);
}

static int take_received(void *data, struct tap_generation *generation, uint64_t ordinal,
			 int64_t time_ns, uint32_t imm_data)
{
	const struct tap_netib *netib = data;
	struct tap_net *net = generation->qp->observed;

	if (!net || net->is_refuted || !ordinal)
		return 0;
	return tap_net_match_received(&netib->match, net, generation, ordinal, time_ns,
				      imm_data);
}

static void begin(void *state)
{
	struct tap_netib *netib = state;
	struct tap_verbs *verbs = tap_context_state(netib->context, &tap_verbs_layer);

	netib->observer = (struct tap_rdma_observer){.data = netib,
						     .registered = take_region,
						     .met = take_met,
						     .destroyed = take_destroyed,
						     .posted = take_posted,
						     .receive_posted = take_receive,
						     .ended = take_ended,
						     .sent = take_sent,
						     .received = take_received};
	netib->qps = &verbs->qps;
	netib->memory = &verbs->memory;
	netib->pieces.context = netib->context;
	netib->messages.context = netib->context;
	netib->messages.pieces = &netib->pieces;
	netib->match = (struct tap_net_match){.context = netib->context,
					      .qps = netib->qps,
					      .pieces = &netib->pieces,
					      .messages = &netib->messages};
	tap_verbs_observe(verbs, &netib->observer);
}

static int finish(void *state)
{
	struct tap_netib *netib = state;
	struct tap_net *net;
	int ret = 0;

	for (net = netib->all; net && !ret; net = net->next)
		ret = tap_net_match_close(&netib->match, net);
	for (net = netib->all; net && !ret; net = net->next)
		ret = tap_net_match_finish(&netib->match, net);
	return ret;
}

static void free_all(void *state)
{
	struct tap_netib *netib = state;
	struct tap_net *net;
	size_t i;

	for (net = netib->all; net; net = net->next) {
		tap_net_message_drop_all(&netib->messages, net);
		tap_net_piece_drop_held(&netib->pieces, net, NULL);
	}
	while ((net = netib->all)) {
		netib->all = net->next;
		tap_net_flush_free(&net->flushes);
		tap_net_shares_free(&net->shares);
		free(net);
	}
	tap_net_messages_free(&netib->messages);
	tap_net_pieces_free(&netib->pieces);
	for (i = 0; i < netib->processes.size; i++)
		free(netib->processes.slots[i].value);
	tap_table_free(&netib->processes);
	tap_table_free(&netib->by_owner);
}

const struct tap_layer tap_netib_layer = {
	.name = "netib",
	.size = sizeof(struct tap_netib),
	.begin = begin,
	.finish = finish,
	.free = free_all,
};
