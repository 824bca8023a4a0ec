/* SPDX-License-Identifier: MIT */
/*
 * Lives with the same pair of addresses, seen from both ends: the n-th that one end has
 * connected is the peer of the n-th of the other.  What was connected before recording
 * began is counted apart, since how many were before it nobody knows.
 */
#include "join/rdma/qp.h"

#include "join/model/process.h"
#include "join/rdma/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of ibv_qp_attr_mask. */
#define MASK_AV (1 << 7)
#define MASK_RQ_PSN (1 << 12)
#define MASK_SQ_PSN (1 << 16)
#define MASK_DEST_QPN (1 << 20)

#define PSN_BITS 0xffffff

/* A port's own address, or one of its GIDs. */
struct tap_port {
	uint64_t context_id;
	struct tap_address address;
	struct tap_port *next;
};

struct handle {
	bool is_global;
	struct tap_address remote;
};

/* ---- Objects ---- */

static struct tap_verbs_process *process_of(struct tap_verbs *verbs,
					    const struct tap_process *process)
{
	struct tap_verbs_process *own =
		tap_table_find(&verbs->processes, process->number, 0);

	if (own)
		return own;
	own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	if (tap_table_set(&verbs->processes, process->number, 0, own)) {
		free(own);
		return NULL;
	}
	own->next = verbs->all_processes;
	verbs->all_processes = own;
	return own;
}

struct tap_qp *tap_qp_get(struct tap_verbs *verbs, const struct tap_process *process,
			  uint64_t id)
{
	struct tap_qp *qp = tap_table_find(&verbs->qps, process->number, id);

	if (qp)
		return qp;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	if (tap_table_set(&verbs->qps, process->number, id, qp)) {
		free(qp);
		return NULL;
	}
	qp->process = process;
	qp->id = id;
	qp->next = verbs->all_qps;
	verbs->all_qps = qp;
	return qp;
}

struct tap_life *tap_qp_life(struct tap_verbs *verbs, struct tap_qp *qp, uint64_t number)
{
	struct tap_life *life = qp->lives;

	(void) verbs;
	if (!number)
		number = life ? life->number : 1;
	while (life && life->number != number)
		life = life->older;
	if (life)
		return life;
	life = calloc(1, sizeof(*life));
	if (!life)
		return NULL;
	life->qp = qp;
	life->number = number;
	life->out.life = life;
	life->in.life = life;
	life->out.is_lossy = qp->type == TAP_QP_UC;
	life->in.is_lossy = life->out.is_lossy;
	life->older = qp->lives;
	qp->lives = life;
	return life;
}

struct tap_work tap_life_work(const struct tap_life *life, enum tap_work_kind kind,
			      uint64_t seq)
{
	return (struct tap_work){.kind = kind,
				 .request = {.qp = life->qp,
					     .qp_id = life->qp->id,
					     .life = life->number,
					     .seq = seq}};
}

struct tap_srq *tap_srq_get(struct tap_verbs *verbs, const struct tap_process *process,
			    uint64_t id)
{
	struct tap_srq *srq = tap_table_find(&verbs->srqs, process->number, id);

	if (srq)
		return srq;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	if (tap_table_set(&verbs->srqs, process->number, id, srq)) {
		free(srq);
		return NULL;
	}
	srq->number = ++verbs->srq_count;
	srq->next = verbs->all_srqs;
	verbs->all_srqs = srq;
	return srq;
}

/* ---- Connections ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ (hash >> 29);
}

static uint64_t hash_end(const struct tap_life *life, const struct tap_address *address,
			 uint64_t qp_num)
{
	uint64_t hash = mix(qp_num, life->qp->type);

	if (!life->is_global)
		return mix(hash, address->lid);
	return mix(mix(hash, address->gid_hi), address->gid_lo);
}

static bool is_same(const struct tap_address *a, const struct tap_address *b,
		    bool is_global)
{
	return is_global ? a->gid_hi == b->gid_hi && a->gid_lo == b->gid_lo
			 : a->lid == b->lid;
}

static bool is_mutual(const struct tap_life *a, const struct tap_life *b)
{
	return a->is_global == b->is_global && a->qp->type == b->qp->type &&
	       a->dest_qp_num == b->qp->qp_num && b->dest_qp_num == a->qp->qp_num &&
	       is_same(&a->remote, &b->local, a->is_global) &&
	       is_same(&b->remote, &a->local, a->is_global);
}

/* The numbers that packets begin with, as far as both have told theirs. */
static bool do_psns_agree(const struct tap_life *a, const struct tap_life *b)
{
	return !a->has_sq_psn || !b->has_rq_psn || !((a->sq_psn ^ b->rq_psn) & PSN_BITS);
}

static int report_met(struct tap_verbs *verbs, struct tap_life *sender,
		      struct tap_life *receiver)
{
	const struct tap_rdma_observer *observer = verbs->observer;

	return observer ? observer->met(observer->data, sender, receiver) : 0;
}

static int meet(struct tap_verbs *verbs, struct tap_life *a, struct tap_life *b)
{
	int ret;

	a->peer = b;
	b->peer = a;
	ret = tap_flow_meet(verbs, &a->out, &b->in);
	if (!ret)
		ret = report_met(verbs, a, b);
	/* One may be connected with itself. */
	if (ret || a == b)
		return ret;
	ret = tap_flow_meet(verbs, &b->out, &a->in);
	return ret ? ret : report_met(verbs, b, a);
}

/* Files a life that has told its addresses, and looks for its peer. */
static int file(struct tap_verbs *verbs, struct tap_life *life)
{
	const uint64_t local = hash_end(life, &life->local, life->qp->qp_num);
	const uint64_t remote = hash_end(life, &life->remote, life->dest_qp_num);
	struct tap_life *first = tap_table_find(&verbs->connections, local, remote);
	struct tap_life *other;

	life->ordinal = 1;
	for (other = first; other; other = other->next)
		life->ordinal += other->is_from_state == life->is_from_state;
	life->next = first;
	if (tap_table_set(&verbs->connections, local, remote, life))
		return -ENOMEM;
	for (other = tap_table_find(&verbs->connections, remote, local); other;
	     other = other->next)
		if (other->is_from_state == life->is_from_state &&
		    other->ordinal == life->ordinal && is_mutual(life, other))
			break;
	if (!other || other->peer || !do_psns_agree(life, other) ||
	    !do_psns_agree(other, life))
		return 0;
	return meet(verbs, life, other);
}

static bool is_connected_kind(const struct tap_qp *qp)
{
	return qp->type == TAP_QP_RC || qp->type == TAP_QP_UC;
}

/* What a modify, or a state, tells of the connection. */
static int connect(struct tap_verbs *verbs, struct tap_life *life,
		   const struct tap_event *event, uint64_t mask)
{
	if (mask & MASK_DEST_QPN)
		life->dest_qp_num = tap_verbs_number(event, "dest_qp_num");
	if (mask & MASK_AV) {
		life->is_global = tap_verbs_number(event, "is_global");
		life->remote.gid_hi = tap_verbs_number(event, "dgid_hi");
		life->remote.gid_lo = tap_verbs_number(event, "dgid_lo");
		life->remote.lid = tap_verbs_number(event, "dlid");
		life->local.gid_hi = tap_verbs_number(event, "sgid_hi");
		life->local.gid_lo = tap_verbs_number(event, "sgid_lo");
		life->local.lid = tap_verbs_number(event, "slid");
	}
	if (mask & MASK_SQ_PSN) {
		life->sq_psn = tap_verbs_number(event, "sq_psn");
		life->has_sq_psn = true;
	}
	if (mask & MASK_RQ_PSN) {
		life->rq_psn = tap_verbs_number(event, "rq_psn");
		life->has_rq_psn = true;
	}
	if (life->peer &&
	    (!do_psns_agree(life, life->peer) || !do_psns_agree(life->peer, life)))
		life->is_doubtful = life->peer->is_doubtful = true;
	life->has_remote |= (mask & MASK_AV) && life->dest_qp_num;
	if (life->ordinal || !life->has_remote || !is_connected_kind(life->qp))
		return 0;
	return file(verbs, life);
}

static void start_life(struct tap_life *life)
{
	life->sends.has_done = true;
	life->out.is_lossy = life->qp->type == TAP_QP_UC;
	life->in.is_lossy = life->out.is_lossy;
}

/* What was before recording began. */
static void set_counters(struct tap_life *life, const struct tap_event *event)
{
	life->sends.posted_before = tap_verbs_number(event, "signaled");
	life->sends.last_posted = life->sends.posted_before;
	life->sends.last_seq = tap_verbs_number(event, "sent");
	life->sends.last_completed = tap_verbs_number(event, "send_completed");
	/* Without anything under way, what completed last is the last. */
	life->sends.has_done = false;
	life->receives.posted_before = tap_verbs_number(event, "recv_posted");
	life->receives.last_posted = life->receives.posted_before;
	life->receives.last_seq = life->receives.posted_before;
	life->receives.last_completed = tap_verbs_number(event, "recv_completed");
	life->received = life->receives.last_completed;
	life->out.before = tap_verbs_number(event, "consuming");
	life->in.before = life->receives.last_completed;
	life->out.count = life->out.before;
	life->in.count = life->in.before;
	if (life->qp->type == TAP_QP_UD)
		life->has_missed_receive = true;
}

static void know(struct tap_verbs *verbs, struct tap_qp *qp,
		 const struct tap_event *event)
{
	struct tap_srq *srq;
	struct tap_qp *same;

	qp->is_known = true;
	qp->context_id = tap_verbs_number(event, "context_id");
	qp->qp_num = tap_verbs_number(event, "qp_num");
	qp->type = tap_verbs_number(event, "type");
	qp->srq_id = tap_verbs_number(event, "srq_id");
	qp->send_cq_id = tap_verbs_number(event, "send_cq_id");
	qp->qp_context = tap_verbs_number(event, "qp_context");
	qp->is_sig_all = tap_verbs_number(event, "sq_sig_all");
	srq = qp->srq_id ? tap_srq_get(verbs, qp->process, qp->srq_id) : NULL;
	if (srq)
		srq->qps++;
	if (qp->type != TAP_QP_UD)
		return;
	same = tap_table_find(&verbs->datagrams, qp->qp_num, 0);
	qp->same_number = same;
	tap_table_set(&verbs->datagrams, qp->qp_num, 0, qp);
}

int tap_qp_made(struct tap_verbs *verbs, const struct tap_process *process,
		const struct tap_event *event, bool is_state)
{
	const uint64_t id = tap_verbs_number(event, "qp_id");
	struct tap_verbs_process *own = process_of(verbs, process);
	struct tap_qp *qp = tap_qp_get(verbs, process, id);
	struct tap_life *life;
	bool is_new;

	if (!own || !qp)
		return -ENOMEM;
	/* A state changes nothing that is known. */
	if (qp->is_known || !id)
		return 0;
	is_new = !qp->lives;
	know(verbs, qp, event);
	life = tap_qp_life(verbs, qp, is_state ? tap_verbs_number(event, "life") : 1);
	if (!life)
		return -ENOMEM;
	if (is_new)
		start_life(life);
	if (is_state) {
		life->is_from_state = true;
		if (is_new)
			set_counters(life, event);
		else
			life->sends.has_done = false;
		return connect(verbs, life, event,
			       tap_verbs_number(event, "dest_qp_num")
				       ? MASK_AV | MASK_DEST_QPN
				       : 0);
	}
	if (!own->first_qp || id < own->first_qp)
		own->first_qp = id;
	if (id > own->last_qp)
		own->last_qp = id;
	own->qps++;
	return 0;
}

int tap_qp_modified(struct tap_verbs *verbs, const struct tap_process *process,
		    const struct tap_event *event)
{
	struct tap_verbs_process *own = process_of(verbs, process);
	struct tap_qp *qp = tap_qp_get(verbs, process, tap_verbs_number(event, "qp_id"));
	const uint64_t number = tap_verbs_number(event, "life");
	struct tap_life *life, *before;
	int ret = 0;

	if (!own || !qp)
		return -ENOMEM;
	if (tap_verbs_number(event, "ret"))
		return 0;
	before = qp->lives;
	life = tap_qp_life(verbs, qp, number);
	if (!life)
		return -ENOMEM;
	if (before && life != before && life == qp->lives) {
		if (number != before->number + 1)
			own->has_hole = true;
		start_life(life);
		ret = tap_wr_end(verbs, &before->sends);
		if (!ret)
			ret = tap_wr_end(verbs, &before->receives);
	}
	return ret ? ret
		   : connect(verbs, life, event, tap_verbs_number(event, "attr_mask"));
}

int tap_qp_destroyed(struct tap_verbs *verbs, const struct tap_process *process,
		     const struct tap_event *event)
{
	struct tap_qp *qp = tap_table_find(&verbs->qps, process->number,
					   tap_verbs_number(event, "qp_id"));
	int ret;

	if (!qp)
		return 0;
	if (!qp->is_over && verbs->observer)
		verbs->observer->destroyed(verbs->observer->data, qp);
	qp->is_over = true;
	if (!qp->lives)
		return 0;
	ret = tap_wr_end(verbs, &qp->lives->sends);
	return ret ? ret : tap_wr_end(verbs, &qp->lives->receives);
}

void tap_qp_note_missed(struct tap_verbs *verbs, const struct tap_life *life)
{
	struct tap_verbs_process *own;

	/* Only a connected one can send. */
	if (life->has_remote || !is_connected_kind(life->qp))
		return;
	own = tap_table_find(&verbs->processes, life->qp->process->number, 0);
	if (own)
		own->has_hole = true;
}

/* Whether all that its process connected is in the trace. */
static bool is_told_whole(struct tap_verbs *verbs, const struct tap_process *process)
{
	const struct tap_verbs_process *own =
		tap_table_find(&verbs->processes, process->number, 0);

	if (!own || own->has_hole)
		return false;
	return !own->qps || own->last_qp - own->first_qp + 1 == own->qps;
}

static bool is_from_beginning(struct tap_verbs *verbs, const struct tap_process *process)
{
	const struct tap_verbs_process *own =
		tap_table_find(&verbs->processes, process->number, 0);

	return process->is_announced && !process->is_from_state &&
	       (!own->qps || own->first_qp == 1);
}

bool tap_life_is_sure(struct tap_verbs *verbs, const struct tap_life *life)
{
	const struct tap_life *peer = life->peer;
	const struct tap_process *a = life->qp->process, *b = peer->qp->process;

	if (life->is_doubtful || !is_told_whole(verbs, a) || !is_told_whole(verbs, b))
		return false;
	/* One recording began at one time on both sides. */
	return a->trace == b->trace ||
	       (is_from_beginning(verbs, a) && is_from_beginning(verbs, b));
}

bool tap_life_is_alone(struct tap_verbs *verbs, const struct tap_life *life)
{
	const struct tap_srq *srq =
		tap_table_find(&verbs->srqs, life->qp->process->number, life->qp->srq_id);

	return srq && srq->qps == 1 && life->number == 1 &&
	       is_told_whole(verbs, life->qp->process);
}

/* ---- Memory ---- */

static struct tap_mr *find_region(const struct tap_verbs *verbs,
				  const struct tap_process *process, uint64_t rkey)
{
	return tap_table_find(&verbs->keys, process->number, rkey);
}

static void forget_region(struct tap_verbs *verbs, const struct tap_process *process,
			  struct tap_mr *mr)
{
	struct tap_mr *first = find_region(verbs, process, mr->rkey);

	tap_table_remove(&verbs->regions, process->number, mr->id);
	if (first == mr) {
		tap_table_remove(&verbs->keys, process->number, mr->rkey);
		/* In the room that has become free: that cannot fail. */
		if (mr->older)
			tap_table_set(&verbs->keys, process->number, mr->rkey, mr->older);
	} else {
		while (first && first->older != mr)
			first = first->older;
		if (first)
			first->older = mr->older;
	}
	free(mr);
}

int tap_qp_memory(struct tap_verbs *verbs, const struct tap_process *process,
		  const struct tap_event *event, bool is_made)
{
	const uint64_t id = tap_verbs_number(event, "mr_id");
	struct tap_mr *mr = tap_table_find(&verbs->regions, process->number, id);

	/* Of a process that has told anything, holes are noted. */
	if (!process_of(verbs, process))
		return -ENOMEM;
	if (!is_made) {
		if (mr)
			forget_region(verbs, process, mr);
		return 0;
	}
	if (mr || !id)
		return 0;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	mr->id = id;
	mr->context_id = tap_verbs_number(event, "context_id");
	mr->addr = tap_verbs_number(event, "addr");
	mr->length = tap_verbs_number(event, "length");
	mr->rkey = tap_verbs_number(event, "rkey");
	if (verbs->observer)
		verbs->observer->registered(verbs->observer->data, process, mr->length);
	mr->older = find_region(verbs, process, mr->rkey);
	if (tap_table_set(&verbs->regions, process->number, id, mr)) {
		free(mr);
		return -ENOMEM;
	}
	return tap_table_set(&verbs->keys, process->number, mr->rkey, mr);
}

static bool has_bytes(const struct tap_mr *mr, uint64_t addr, uint64_t length)
{
	return addr >= mr->addr && addr - mr->addr <= mr->length &&
	       length <= mr->length - (addr - mr->addr);
}

const struct tap_mr *tap_qp_find_memory(const struct tap_verbs *verbs,
					const struct tap_qp *qp, uint64_t rkey,
					uint64_t addr, uint64_t length)
{
	const struct tap_mr *mr = find_region(verbs, qp->process, rkey);

	while (mr && (mr->context_id != qp->context_id || !has_bytes(mr, addr, length)))
		mr = mr->older;
	return mr;
}

bool tap_qp_has_region(const struct tap_verbs *verbs, const struct tap_process *process,
		       uint64_t addr, uint64_t length)
{
	const struct tap_table_slot *slots = verbs->regions.slots;
	size_t i;

	for (i = 0; i < verbs->regions.size; i++) {
		const struct tap_mr *mr = slots[i].value;

		if (mr && slots[i].a == process->number && mr->addr == addr &&
		    mr->length == length)
			return true;
	}
	return false;
}

/* ---- Datagrams ---- */

int tap_qp_port(struct tap_verbs *verbs, const struct tap_process *process,
		const struct tap_event *event)
{
	struct tap_verbs_process *own = process_of(verbs, process);
	const struct tap_port port = {.context_id = tap_verbs_number(event, "context_id"),
				      .address = {tap_verbs_number(event, "gid_hi"),
						  tap_verbs_number(event, "gid_lo"),
						  tap_verbs_number(event, "lid")}};
	struct tap_port *made;

	if (!own)
		return -ENOMEM;
	for (made = own->ports; made; made = made->next)
		if (made->context_id == port.context_id &&
		    !memcmp(&made->address, &port.address, sizeof(port.address)))
			return 0;
	made = malloc(sizeof(*made));
	if (!made)
		return -ENOMEM;
	*made = port;
	made->next = own->ports;
	own->ports = made;
	return 0;
}

int tap_qp_handle(struct tap_verbs *verbs, const struct tap_process *process,
		  const struct tap_event *event, bool is_made)
{
	const uint64_t id = tap_verbs_number(event, "ah_id");
	struct handle *handle;

	free(tap_table_remove(&verbs->handles, process->number, id));
	if (!is_made)
		return 0;
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return -ENOMEM;
	handle->is_global = tap_verbs_number(event, "is_global");
	handle->remote.gid_hi = tap_verbs_number(event, "dgid_hi");
	handle->remote.gid_lo = tap_verbs_number(event, "dgid_lo");
	handle->remote.lid = tap_verbs_number(event, "dlid");
	if (!tap_table_set(&verbs->handles, process->number, id, handle))
		return 0;
	free(handle);
	return -ENOMEM;
}

static bool has_address(struct tap_verbs *verbs, const struct tap_qp *qp,
			const struct handle *handle)
{
	const struct tap_verbs_process *own =
		tap_table_find(&verbs->processes, qp->process->number, 0);
	const struct tap_port *port;

	for (port = own ? own->ports : NULL; port; port = port->next)
		if (port->context_id == qp->context_id &&
		    is_same(&port->address, &handle->remote, handle->is_global))
			return true;
	return false;
}

/* Whether anything tells which addresses it has. */
static bool has_addresses(struct tap_verbs *verbs, const struct tap_qp *qp)
{
	const struct tap_verbs_process *own =
		tap_table_find(&verbs->processes, qp->process->number, 0);
	const struct tap_port *port;

	for (port = own ? own->ports : NULL; port; port = port->next)
		if (port->context_id == qp->context_id)
			return true;
	return false;
}

struct tap_life *tap_qp_find_datagram(struct tap_verbs *verbs,
				      const struct tap_process *process, uint64_t ah_id,
				      uint64_t qp_num, bool *is_guess)
{
	const struct handle *handle =
		tap_table_find(&verbs->handles, process->number, ah_id);
	struct tap_qp *qp, *found = NULL;

	*is_guess = false;
	if (!handle)
		return NULL;
	for (qp = tap_table_find(&verbs->datagrams, qp_num, 0); qp;
	     qp = qp->same_number) {
		const bool is_known = has_addresses(verbs, qp);

		if (qp->is_over || (is_known && !has_address(verbs, qp, handle)))
			continue;
		if (found)
			return NULL;
		found = qp;
		*is_guess = !is_known;
	}
	return found ? found->lives : NULL;
}

void tap_qps_free(struct tap_verbs *verbs)
{
	struct tap_verbs_process *own;
	struct tap_life *life;
	struct tap_port *port;
	struct tap_srq *srq;
	struct tap_qp *qp;
	size_t i;

	while ((qp = verbs->all_qps)) {
		verbs->all_qps = qp->next;
		while ((life = qp->lives)) {
			qp->lives = life->older;
			free(life);
		}
		free(qp);
	}
	while ((srq = verbs->all_srqs)) {
		verbs->all_srqs = srq->next;
		free(srq);
	}
	while ((own = verbs->all_processes)) {
		verbs->all_processes = own->next;
		while ((port = own->ports)) {
			own->ports = port->next;
			free(port);
		}
		free(own);
	}
	for (i = 0; i < verbs->regions.size; i++)
		free(verbs->regions.slots[i].value);
	for (i = 0; i < verbs->handles.size; i++)
		free(verbs->handles.slots[i].value);
	tap_table_free(&verbs->qps);
	tap_table_free(&verbs->srqs);
	tap_table_free(&verbs->processes);
	tap_table_free(&verbs->connections);
	tap_table_free(&verbs->handles);
	tap_table_free(&verbs->regions);
	tap_table_free(&verbs->keys);
	tap_table_free(&verbs->datagrams);
}
