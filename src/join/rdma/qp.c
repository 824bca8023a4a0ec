/* SPDX-License-Identifier: MIT */
/*
 * Matches generations with the same pair of addresses by order: the n-th that one end
 * connects is the peer of the n-th that the other end connects.  Generations connected
 * before recording began are counted apart, since the number of earlier ones is unknown.
 */
#include "join/rdma/qp.h"

#include "join/model/process.h"
#include "join/rdma/column.h"

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

static struct tap_rdma_process *process_of(struct tap_qps *qps,
					   const struct tap_process *process)
{
	struct tap_rdma_process *own =
		tap_table_find(&qps->processes, process->number, 0);

	if (own)
		return own;
	own = calloc(1, sizeof(*own));
	if (!own)
		return NULL;
	if (tap_table_set(&qps->processes, process->number, 0, own)) {
		free(own);
		return NULL;
	}
	own->next = qps->all_processes;
	qps->all_processes = own;
	return own;
}

struct tap_qp *tap_qp_get(struct tap_qps *qps, const struct tap_process *process,
			  uint64_t id)
{
	struct tap_qp *qp = tap_table_find(&qps->by_id, process->number, id);

	if (qp)
		return qp;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		return NULL;
	if (tap_table_set(&qps->by_id, process->number, id, qp)) {
		free(qp);
		return NULL;
	}
	qp->process = process;
	qp->id = id;
	qp->next = qps->all;
	qps->all = qp;
	return qp;
}

struct tap_generation *tap_qp_find_generation(const struct tap_qp *qp, uint64_t number)
{
	struct tap_generation *generation = qp->generations;

	while (generation && generation->number != number)
		generation = generation->older;
	return generation;
}

static void set_lossy(struct tap_generation *generation)
{
	generation->out.is_lossy = generation->qp->type == TAP_QP_UC;
	generation->in.is_lossy = generation->out.is_lossy;
}

struct tap_generation *tap_qp_generation(struct tap_qp *qp, uint64_t number)
{
	struct tap_generation *generation;

	if (!number)
		number = qp->generations ? qp->generations->number : 1;
	generation = tap_qp_find_generation(qp, number);
	if (generation)
		return generation;
	generation = calloc(1, sizeof(*generation));
	if (!generation)
		return NULL;
	generation->qp = qp;
	generation->number = number;
	generation->out.generation = generation;
	generation->in.generation = generation;
	set_lossy(generation);
	generation->older = qp->generations;
	qp->generations = generation;
	return generation;
}

struct tap_work tap_generation_work(const struct tap_generation *generation,
				    enum tap_work_kind kind, uint64_t seq)
{
	return (struct tap_work){.kind = kind,
				 .request = {.qp = generation->qp,
					     .qp_id = generation->qp->id,
					     .generation = generation->number,
					     .seq = seq}};
}

struct tap_srq *tap_srq_find(const struct tap_qps *qps, const struct tap_process *process,
			     uint64_t id)
{
	return tap_table_find(&qps->srqs, process->number, id);
}

struct tap_srq *tap_srq_get(struct tap_qps *qps, const struct tap_process *process,
			    uint64_t id)
{
	struct tap_srq *srq = tap_srq_find(qps, process, id);

	if (srq)
		return srq;
	srq = calloc(1, sizeof(*srq));
	if (!srq)
		return NULL;
	if (tap_table_set(&qps->srqs, process->number, id, srq)) {
		free(srq);
		return NULL;
	}
	srq->number = ++qps->srq_count;
	srq->next = qps->all_srqs;
	qps->all_srqs = srq;
	return srq;
}

int tap_qps_add_process(struct tap_qps *qps, const struct tap_process *process)
{
	return process_of(qps, process) ? 0 : -ENOMEM;
}

/* ---- Connections ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
	return hash ^ (hash >> 29);
}

static uint64_t hash_end(const struct tap_generation *generation,
			 const struct tap_address *address, uint64_t qp_num)
{
	uint64_t hash = mix(qp_num, generation->qp->type);

	if (!generation->is_global)
		return mix(hash, address->lid);
	return mix(mix(hash, address->gid_hi), address->gid_lo);
}

static bool is_same(const struct tap_address *a, const struct tap_address *b,
		    bool is_global)
{
	return is_global ? a->gid_hi == b->gid_hi && a->gid_lo == b->gid_lo
			 : a->lid == b->lid;
}

static bool is_mutual(const struct tap_generation *a, const struct tap_generation *b)
{
	return a->is_global == b->is_global && a->qp->type == b->qp->type &&
	       a->dest_qp_num == b->qp->qp_num && b->dest_qp_num == a->qp->qp_num &&
	       is_same(&a->remote, &b->local, a->is_global) &&
	       is_same(&b->remote, &a->local, a->is_global);
}

/* Whether the initial packet sequence numbers agree, as far as both are known. */
static bool do_psns_agree(const struct tap_generation *a, const struct tap_generation *b)
{
	return !a->has_sq_psn || !b->has_rq_psn || !((a->sq_psn ^ b->rq_psn) & PSN_BITS);
}

/* Files a generation whose addresses are known, and looks for its peer. */
static int file(struct tap_qps *qps, struct tap_generation *generation,
		struct tap_qp_change *change)
{
	const uint64_t local =
		hash_end(generation, &generation->local, generation->qp->qp_num);
	const uint64_t remote =
		hash_end(generation, &generation->remote, generation->dest_qp_num);
	struct tap_generation *first = tap_table_find(&qps->connections, local, remote);
	struct tap_generation *other;

	generation->ordinal = 1;
	for (other = first; other; other = other->next)
		generation->ordinal +=
			other->is_from_statedump == generation->is_from_statedump;
	generation->next = first;
	if (tap_table_set(&qps->connections, local, remote, generation))
		return -ENOMEM;
	for (other = tap_table_find(&qps->connections, remote, local); other;
	     other = other->next)
		if (other->is_from_statedump == generation->is_from_statedump &&
		    other->ordinal == generation->ordinal && is_mutual(generation, other))
			break;
	if (!other || other->peer || !do_psns_agree(generation, other) ||
	    !do_psns_agree(other, generation))
		return 0;
	generation->peer = other;
	other->peer = generation;
	change->met = generation;
	return 0;
}

static bool is_connected_kind(const struct tap_qp *qp)
{
	return qp->type == TAP_QP_RC || qp->type == TAP_QP_UC;
}

/* Takes what a modify, or a state dump, says of the connection. */
static int connect(struct tap_qps *qps, struct tap_generation *generation,
		   const struct tap_event *event, uint64_t mask,
		   struct tap_qp_change *change)
{
	if (mask & MASK_DEST_QPN)
		generation->dest_qp_num = tap_event_number(event, "dest_qp_num");
	if (mask & MASK_AV) {
		generation->is_global = tap_event_number(event, "is_global");
		generation->remote.gid_hi = tap_event_number(event, "dgid_hi");
		generation->remote.gid_lo = tap_event_number(event, "dgid_lo");
		generation->remote.lid = tap_event_number(event, "dlid");
		generation->local.gid_hi = tap_event_number(event, "sgid_hi");
		generation->local.gid_lo = tap_event_number(event, "sgid_lo");
		generation->local.lid = tap_event_number(event, "slid");
	}
	if (mask & MASK_SQ_PSN) {
		generation->sq_psn = tap_event_number(event, "sq_psn");
		generation->has_sq_psn = true;
	}
	if (mask & MASK_RQ_PSN) {
		generation->rq_psn = tap_event_number(event, "rq_psn");
		generation->has_rq_psn = true;
	}
	if (generation->peer && (!do_psns_agree(generation, generation->peer) ||
				 !do_psns_agree(generation->peer, generation)))
		generation->is_doubtful = generation->peer->is_doubtful = true;
	generation->has_remote |= (mask & MASK_AV) && generation->dest_qp_num;
	if (generation->ordinal || !generation->has_remote ||
	    !is_connected_kind(generation->qp))
		return 0;
	return file(qps, generation, change);
}

static void start_generation(struct tap_generation *generation)
{
	generation->sends.has_done = true;
	set_lossy(generation);
}

/* Sets the counts from before recording began. */
static void set_counters(struct tap_generation *generation, const struct tap_event *event)
{
	const uint64_t received = tap_event_number(event, "recv_completed");
	const uint64_t posted = tap_event_number(event, "recv_posted");

	tap_work_queue_resume(&generation->sends, tap_event_number(event, "signaled"),
			      tap_event_number(event, "sent"),
			      tap_event_number(event, "send_completed"));
	/* done_seq is unknown, since requests may be open. */
	generation->sends.has_done = false;
	tap_work_queue_resume(&generation->receives, posted, posted, received);
	generation->received = received;
	tap_flow_side_resume(&generation->out, tap_event_number(event, "consuming"));
	tap_flow_side_resume(&generation->in, received);
	if (generation->qp->type == TAP_QP_UD)
		generation->has_missed_receive = true;
}

static void know(struct tap_qps *qps, struct tap_qp *qp, const struct tap_event *event)
{
	struct tap_srq *srq;
	struct tap_qp *same;

	qp->is_known = true;
	qp->context_id = tap_event_number(event, "context_id");
	qp->qp_num = tap_event_number(event, "qp_num");
	qp->type = tap_event_number(event, "type");
	qp->srq_id = tap_event_number(event, "srq_id");
	qp->send_cq_id = tap_event_number(event, "send_cq_id");
	qp->qp_context = tap_event_number(event, "qp_context");
	qp->is_sig_all = tap_event_number(event, "sq_sig_all");
	srq = qp->srq_id ? tap_srq_get(qps, qp->process, qp->srq_id) : NULL;
	if (srq)
		srq->qps++;
	if (qp->type != TAP_QP_UD)
		return;
	same = tap_table_find(&qps->datagrams, qp->qp_num, 0);
	qp->same_number = same;
	tap_table_set(&qps->datagrams, qp->qp_num, 0, qp);
}

int tap_qp_made(struct tap_qps *qps, const struct tap_process *process,
		const struct tap_event *event, bool is_statedump,
		struct tap_qp_change *change)
{
	const uint64_t id = tap_event_number(event, "qp_id");
	struct tap_rdma_process *own = process_of(qps, process);
	struct tap_qp *qp = tap_qp_get(qps, process, id);
	struct tap_generation *generation;
	bool is_new;

	if (!own || !qp)
		return -ENOMEM;
	/* A state dump changes nothing of a known queue pair. */
	if (qp->is_known || !id)
		return 0;
	is_new = !qp->generations;
	know(qps, qp, event);
	qp->tid = is_statedump ? -1 : event->tid;
	qp->made_ns = is_statedump ? INT64_MIN : event->time_ns;
	generation =
		tap_qp_generation(qp, is_statedump ? tap_event_number(event, "generation")
						   : 1);
	if (!generation)
		return -ENOMEM;
	if (is_new)
		start_generation(generation);
	if (is_statedump) {
		generation->is_from_statedump = true;
		if (is_new)
			set_counters(generation, event);
		else
			generation->sends.has_done = false;
		return connect(qps, generation, event,
			       tap_event_number(event, "dest_qp_num")
				       ? MASK_AV | MASK_DEST_QPN
				       : 0,
			       change);
	}
	if (!own->first_qp || id < own->first_qp)
		own->first_qp = id;
	if (id > own->last_qp)
		own->last_qp = id;
	own->qps++;
	return 0;
}

int tap_qp_modified(struct tap_qps *qps, const struct tap_process *process,
		    const struct tap_event *event, struct tap_qp_change *change)
{
	struct tap_rdma_process *own = process_of(qps, process);
	struct tap_qp *qp = tap_qp_get(qps, process, tap_event_number(event, "qp_id"));
	const uint64_t number = tap_event_number(event, "generation");
	struct tap_generation *generation, *before;

	if (!own || !qp)
		return -ENOMEM;
	if (tap_event_number(event, "ret"))
		return 0;
	before = qp->generations;
	generation = tap_qp_generation(qp, number);
	if (!generation)
		return -ENOMEM;
	if (before && generation != before && generation == qp->generations) {
		if (number != before->number + 1)
			own->has_hole = true;
		start_generation(generation);
		change->ended = before;
	}
	return connect(qps, generation, event, tap_event_number(event, "attr_mask"),
		       change);
}

void tap_qp_destroyed(struct tap_qps *qps, const struct tap_process *process,
		      const struct tap_event *event, struct tap_qp_change *change)
{
	struct tap_qp *qp = tap_table_find(&qps->by_id, process->number,
					   tap_event_number(event, "qp_id"));

	if (!qp)
		return;
	if (!qp->is_over)
		change->destroyed = qp;
	qp->is_over = true;
	change->ended = qp->generations;
}

void tap_qp_note_missed(struct tap_qps *qps, const struct tap_generation *generation)
{
	struct tap_rdma_process *own;

	/* Only a connected queue pair can send. */
	if (generation->has_remote || !is_connected_kind(generation->qp))
		return;
	own = tap_table_find(&qps->processes, generation->qp->process->number, 0);
	if (own)
		own->has_hole = true;
}

/* Whether the trace has all connections of the process. */
static bool is_reported_whole(const struct tap_qps *qps,
			      const struct tap_process *process)
{
	const struct tap_rdma_process *own =
		tap_table_find(&qps->processes, process->number, 0);

	if (!own || own->has_hole)
		return false;
	return !own->qps || own->last_qp - own->first_qp + 1 == own->qps;
}

static bool is_from_beginning(const struct tap_qps *qps,
			      const struct tap_process *process)
{
	const struct tap_rdma_process *own =
		tap_table_find(&qps->processes, process->number, 0);

	return process->is_announced && !process->is_from_statedump &&
	       (!own->qps || own->first_qp == 1);
}

bool tap_generation_is_sure(const struct tap_qps *qps,
			    const struct tap_generation *generation)
{
	const struct tap_generation *peer = generation->peer;
	const struct tap_process *a = generation->qp->process, *b = peer->qp->process;

	if (generation->is_doubtful || !is_reported_whole(qps, a) ||
	    !is_reported_whole(qps, b))
		return false;
	/* A single recording began at the same time at both ends. */
	return a->trace == b->trace ||
	       (is_from_beginning(qps, a) && is_from_beginning(qps, b));
}

bool tap_generation_is_sure_here(const struct tap_qps *qps,
				 const struct tap_generation *generation)
{
	const struct tap_process *process = generation->qp->process;

	return !generation->is_doubtful && is_reported_whole(qps, process) &&
	       is_from_beginning(qps, process);
}

bool tap_generation_is_alone(const struct tap_qps *qps,
			     const struct tap_generation *generation)
{
	const struct tap_srq *srq =
		tap_srq_find(qps, generation->qp->process, generation->qp->srq_id);

	return srq && srq->qps == 1 && generation->number == 1 &&
	       is_reported_whole(qps, generation->qp->process);
}

/* ---- Datagrams ---- */

int tap_qp_port(struct tap_qps *qps, const struct tap_process *process,
		const struct tap_event *event)
{
	struct tap_rdma_process *own = process_of(qps, process);
	const struct tap_port port = {.context_id = tap_event_number(event, "context_id"),
				      .address = {tap_event_number(event, "gid_hi"),
						  tap_event_number(event, "gid_lo"),
						  tap_event_number(event, "lid")}};
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

int tap_qp_handle(struct tap_qps *qps, const struct tap_process *process,
		  const struct tap_event *event, bool is_made)
{
	const uint64_t id = tap_event_number(event, "ah_id");
	struct handle *handle;

	free(tap_table_remove(&qps->handles, process->number, id));
	if (!is_made)
		return 0;
	handle = calloc(1, sizeof(*handle));
	if (!handle)
		return -ENOMEM;
	handle->is_global = tap_event_number(event, "is_global");
	handle->remote.gid_hi = tap_event_number(event, "dgid_hi");
	handle->remote.gid_lo = tap_event_number(event, "dgid_lo");
	handle->remote.lid = tap_event_number(event, "dlid");
	if (!tap_table_set(&qps->handles, process->number, id, handle))
		return 0;
	free(handle);
	return -ENOMEM;
}

static bool has_address(const struct tap_qps *qps, const struct tap_qp *qp,
			const struct handle *handle)
{
	const struct tap_rdma_process *own =
		tap_table_find(&qps->processes, qp->process->number, 0);
	const struct tap_port *port;

	for (port = own ? own->ports : NULL; port; port = port->next)
		if (port->context_id == qp->context_id &&
		    is_same(&port->address, &handle->remote, handle->is_global))
			return true;
	return false;
}

/* Whether any address of the queue pair is known. */
static bool has_addresses(const struct tap_qps *qps, const struct tap_qp *qp)
{
	const struct tap_rdma_process *own =
		tap_table_find(&qps->processes, qp->process->number, 0);
	const struct tap_port *port;

	for (port = own ? own->ports : NULL; port; port = port->next)
		if (port->context_id == qp->context_id)
			return true;
	return false;
}

struct tap_generation *tap_qp_find_datagram(const struct tap_qps *qps,
					    const struct tap_process *process,
					    uint64_t ah_id, uint64_t qp_num,
					    bool *is_guess)
{
	const struct handle *handle =
		tap_table_find(&qps->handles, process->number, ah_id);
	struct tap_qp *qp, *found = NULL;

	*is_guess = false;
	if (!handle)
		return NULL;
	for (qp = tap_table_find(&qps->datagrams, qp_num, 0); qp; qp = qp->same_number) {
		const bool is_known = has_addresses(qps, qp);

		if (qp->is_over || (is_known && !has_address(qps, qp, handle)))
			continue;
		if (found)
			return NULL;
		found = qp;
		*is_guess = !is_known;
	}
	return found ? found->generations : NULL;
}

void tap_qps_free(struct tap_qps *qps)
{
	struct tap_rdma_process *own;
	struct tap_generation *generation;
	struct tap_port *port;
	struct tap_srq *srq;
	struct tap_qp *qp;
	size_t i;

	while ((qp = qps->all)) {
		qps->all = qp->next;
		while ((generation = qp->generations)) {
			qp->generations = generation->older;
			free(generation);
		}
		free(qp);
	}
	while ((srq = qps->all_srqs)) {
		qps->all_srqs = srq->next;
		free(srq);
	}
	while ((own = qps->all_processes)) {
		qps->all_processes = own->next;
		while ((port = own->ports)) {
			own->ports = port->next;
			free(port);
		}
		free(own);
	}
	for (i = 0; i < qps->handles.size; i++)
		free(qps->handles.slots[i].value);
	tap_table_free(&qps->by_id);
	tap_table_free(&qps->srqs);
	tap_table_free(&qps->processes);
	tap_table_free(&qps->connections);
	tap_table_free(&qps->handles);
	tap_table_free(&qps->datagrams);
}
