/* SPDX-License-Identifier: MIT */
/* Connections, and which of their requests are what. */
#include "join/nccl/netib.h"

#include "join/nccl/net_message.h"
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

/* wr_id of a receive that is posted beforehand. */
#define PREPOSTED UINT64_MAX

/* Each has another size; the region has a slot for 8 requests times slots. */
static const struct tap_net_layout layouts[] = {
	{32, 64, false},  /* 2.18 */
	{32, 256, false}, /* 2.19 */
	{64, 256, true},  /* 2.20 to 2.29; the slot from 2.29 on */
	{48, 256, true},  /* 2.30 */
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

void tap_net_part_add(struct tap_fields *fields, const struct tap_net_part *part)
{
	static const char *const roles[] = {
		[TAP_NET_CTS] = "cts",		 [TAP_NET_DATA] = "data",
		[TAP_NET_DATA_IMM] = "data-imm", [TAP_NET_SIZES] = "sizes",
		[TAP_NET_FLUSH] = "flush",	 [TAP_NET_RECEIVE] = "receive",
	};
	const char *role = roles[part->role];
	struct tap_field *field;

	if (!role || !part->net->is_proved)
		return;
	tap_fields_add_string(fields, "net", role, strlen(role));
	field = tap_fields_add(fields, "net_id", TAP_FIELD_UNSIGNED);
	if (field)
		field->value.u = part->net->id;
	field = part->number ? tap_fields_add(fields, "request", TAP_FIELD_UNSIGNED)
			     : NULL;
	if (field)
		field->value.u = part->number;
}

static const struct tap_net_layout *layout_of(uint64_t length)
{
	size_t i;

	for (i = 0; i < COUNT(layouts); i++)
		if (layouts[i].entry * GROUP_MAX * layouts[i].slots == length)
			return &layouts[i];
	return NULL;
}

bool tap_netib_is_region(uint64_t length)
{
	return layout_of(length);
}

/* ---- Connections ---- */

/* NULL: it is none of NCCL's, or memory is short. */
static struct tap_net *net_of(struct tap_verbs *verbs, struct tap_qp *qp)
{
	/* Before 2.23 there is no owner, but each connection has a queue of its own. */
	const uint64_t key =
		qp->qp_context ? qp->qp_context : UINT64_C(1) << 63 | qp->send_cq_id;
	struct tap_net *net;

	if (qp->net || !qp->is_known || qp->type != TAP_QP_RC)
		return qp->net;
	net = tap_table_find(&verbs->nets, qp->process->number, key);
	if (!net) {
		net = calloc(1, sizeof(*net));
		if (!net)
			return NULL;
		if (tap_table_set(&verbs->nets, qp->process->number, key, net)) {
			free(net);
			return NULL;
		}
		net->process = qp->process;
		net->key = key;
		net->next = verbs->all_nets;
		verbs->all_nets = net;
	}
	net->qp_count++;
	if (qp->lives && qp->lives->is_from_state)
		net->is_late = true;
	qp->net = net;
	return net;
}

void tap_netib_over(struct tap_verbs *verbs, struct tap_qp *qp)
{
	struct tap_net *net = qp->net;

	/* The next owner may have its address. */
	if (net && !--net->qp_count)
		tap_table_remove(&verbs->nets, net->process->number, net->key);
}

int tap_netib_meet(struct tap_verbs *verbs, struct tap_life *sender,
		   struct tap_life *receiver)
{
	struct tap_net *a = net_of(verbs, sender->qp), *b = net_of(verbs, receiver->qp);

	if (!a || !b)
		return 0;
	if (a == b)
		return 0;
	if (!a->peer)
		a->peer = b;
	if (!b->peer)
		b->peer = a;
	return tap_net_message_retry(verbs, a);
}

/* ---- What a list is ---- */

enum tap_net_role tap_net_role_of(enum tap_net_role first,
				  const struct tap_net_list *list, size_t i)
{
	if (first != TAP_NET_DATA)
		return first;
	if (i + 1 < list->count)
		return TAP_NET_DATA;
	return list->count > 2 && list->requests[i].length ? TAP_NET_SIZES
							   : TAP_NET_DATA_IMM;
}

/* Writes, the last of them with a number: empty, or from 2.19 the sizes of the others. */
static bool is_data(const struct tap_net_list *list)
{
	const struct tap_net_request *last = &list->requests[list->count - 1];
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

static bool is_flush(const struct tap_net_list *list)
{
	return list->count == 1 && list->requests[0].opcode == RDMA_READ &&
	       list->requests[0].flags & SIGNALED && list->life->peer == list->life;
}

/*
 * Where in its region a CTS goes; layout NULL: it is none.  NCCL fills it in a region of
 * the same size, at the same place.
 */
struct place {
	const struct tap_net_layout *layout;
	uint64_t local_addr, remote_addr; /* of the regions */
	uint64_t slot;
	unsigned int requests;
};

static void find_place(struct tap_verbs *verbs, const struct tap_net *net,
		       const struct tap_net_list *list, struct place *place)
{
	const struct tap_net_request *request = &list->requests[0];
	const struct tap_life *peer = list->life->peer;
	const struct tap_net_layout *layout;
	const struct tap_mr *mr;
	uint64_t offset, stride;

	place->layout = NULL;
	if (list->count != 1 || request->opcode != RDMA_WRITE || request->num_sge != 1 ||
	    !peer || peer == list->life)
		return;
	mr = tap_qp_find_memory(verbs, peer->qp, request->rkey, request->remote_addr,
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
			: !tap_qp_has_region(verbs, net->process, place->local_addr,
					     mr->length))
		return;
	place->layout = layout;
	place->remote_addr = mr->addr;
	place->slot = offset / stride;
	place->requests = (unsigned int) (request->length / layout->entry);
}

/* ---- The receiver ---- */

static uint64_t new_id(struct tap_verbs *verbs, const struct tap_net *net)
{
	struct tap_verbs_process *own =
		tap_table_find(&verbs->processes, net->process->number, 0);

	return own ? ++own->nets : 0;
}

static void know(struct tap_verbs *verbs, struct tap_net *net)
{
	if (!net->id)
		net->id = new_id(verbs, net);
}

/*
 * Whether the receives since the CTS before are this one's, and those of missed ones
 * before it.  Those of one message have one wr_id.
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
	/* Each before may have lacked some, but none has had more. */
	if (!missed && own == count && own > net->per_message)
		net->per_message = own;
	if (!net->per_message || own < net->per_message ||
	    count != net->per_message * (missed + 1))
		return TAP_WHY_POST_LOST;
	own = net->per_message;
	memmove(net->pending, net->pending + (count - own),
		own * sizeof(net->pending[0]));
	net->pending_count = own;
	return TAP_WHY_NONE;
}

static int take_cts(struct tap_verbs *verbs, struct tap_net *net,
		    const struct tap_net_list *list, const struct place *place)
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
	know(verbs, net);
	net->peer = list->life->peer->qp->net;
	net->peer->peer = net;
	know(verbs, net->peer);
	for (i = 0; i < missed; i++)
		tap_net_unmatched(verbs, net, net->number - 1, TAP_WHY_POST_LOST);
	if (why)
		tap_net_unmatched(verbs, net, net->number, why);
	else
		ret = tap_net_message_make(verbs, net, list, place->requests);
	net->pending_count = 0;
	return ret;
}

void tap_netib_receive(struct tap_verbs *verbs, struct tap_life *life, uint64_t seq,
		       uint64_t wr_id, uint64_t num_sge, struct tap_net_part *part)
{
	struct tap_net *net = net_of(verbs, life->qp);

	part->role = TAP_NET_NONE;
	if (!net || net->is_refuted)
		return;
	if (num_sge) {
		/* NCCL's are empty. */
		if (!net->id)
			net->is_refuted = true;
		return;
	}
	if (wr_id == PREPOSTED)
		net->is_preposted = true;
	/* So many are not one message's. */
	if (net->pending_count == TAP_NET_PIECES_MAX)
		net->pending_count = 0;
	if (!net->is_preposted) {
		net->pending[net->pending_count].life = life;
		net->pending[net->pending_count].wr_id = wr_id;
		net->pending[net->pending_count++].seq = seq;
	}
	*part = (struct tap_net_part){.role = TAP_NET_RECEIVE,
				      .net = net,
				      .ordinal = seq};
}

/* ---- Posts ---- */

/* NCCL's sender has memory for what it is told. */
static bool may_send(const struct tap_verbs *verbs, const struct tap_net *net)
{
	const struct tap_verbs_process *own =
		tap_table_find(&verbs->processes, net->process->number, 0);

	return own && own->has_net_region;
}

int tap_netib_sends(struct tap_verbs *verbs, const struct tap_net_list *list,
		    struct tap_net_part *part)
{
	struct tap_net *net = net_of(verbs, list->life->qp);
	struct place place;
	int ret = 0;

	*part = (struct tap_net_part){.role = TAP_NET_NONE};
	if (!net || net->is_refuted || !list->count)
		return 0;
	find_place(verbs, net, list, &place);
	if (place.layout && net_of(verbs, list->life->peer->qp)) {
		ret = take_cts(verbs, net, list, &place);
		*part = (struct tap_net_part){.role = TAP_NET_CTS,
					      .net = net,
					      .number = net->number};
	} else if (is_flush(list)) {
		if (!net->layout)
			return 0;
		ret = tap_net_flush_add(verbs, net, list);
		*part = (struct tap_net_part){.role = TAP_NET_FLUSH, .net = net};
	} else if (is_data(list) && may_send(verbs, net)) {
		*part = (struct tap_net_part){.role = TAP_NET_DATA,
					      .net = net,
					      .ordinal = list->consuming};
		ret = tap_net_message_post(verbs, net, list, &part->number);
	}
	return ret;
}

int tap_netib_finish(struct tap_verbs *verbs)
{
	struct tap_net *net;
	int ret = 0;

	for (net = verbs->all_nets; net && !ret; net = net->next)
		ret = tap_net_message_close(verbs, net);
	for (net = verbs->all_nets; net && !ret; net = net->next)
		ret = tap_net_message_finish(verbs, net);
	return ret;
}

void tap_netib_free(struct tap_verbs *verbs)
{
	struct tap_net *net;

	for (net = verbs->all_nets; net; net = net->next)
		tap_net_message_forget(verbs, net);
	while ((net = verbs->all_nets)) {
		verbs->all_nets = net->next;
		tap_net_flush_free(&net->flushes);
		free(net);
	}
	tap_net_messages_free(verbs);
	tap_table_free(&verbs->nets);
}
