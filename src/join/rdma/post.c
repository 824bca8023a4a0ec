/* SPDX-License-Identifier: MIT */
/* Reads once what all requests of a list have in common. */
#include "join/rdma/post.h"

#include "join/rdma/column.h"
#include "join/rdma/flow.h"
#include "join/rdma/qp.h"
#include "join/model/work.h"

#include <errno.h>

#define SIGNALED 2 /* of ibv_send_flags */

/* When the call of this event began; in a damaged trace, the event's own time. */
static int64_t begin_of(const struct tap_event *event)
{
	return event->begin_ns && event->begin_ns < event->time_ns ? event->begin_ns
								   : event->time_ns;
}

static struct tap_span *make_posted(const struct tap_posts *posts,
				    const struct tap_process *process,
				    const struct tap_event *event, const char *name)
{
	struct tap_span *span =
		tap_work_make_span(posts->context, process, "verbs", name, event->tid);

	if (span)
		span->begin_ns = begin_of(event);
	return span;
}

/* A post: its event's fields, and the counts of the current request. */
struct sends {
	const struct tap_process *process;
	const struct tap_event *event;
	struct tap_generation *generation;
	struct tap_column wr_id, opcode, flags, num_sge, length, addr, remote_addr, rkey,
		imm_data, remote_qpn, ah_id;
	uint64_t lkey;
	uint64_t seq, signaled, consuming; /* of the current request */
	bool is_concurrent, is_list;
	struct tap_rdma_list list;
	struct tap_rdma_note notes[TAP_RDMA_LIST_MAX];
};

/* Sets the flow of the request's message. */
static int set_flow(const struct tap_posts *posts, const struct sends *sends, size_t i,
		    struct tap_request *request)
{
	struct tap_generation *generation = sends->generation, *to;
	bool is_guess;

	if (generation->qp->type != TAP_QP_UD) {
		request->flow = &generation->out;
		request->ordinal = sends->consuming;
		return tap_flow_posted(posts->flows, request->flow, request->ordinal,
				       request->span->begin_ns);
	}
	to = tap_qp_find_datagram(posts->qps, sends->process,
				  tap_column_at(&sends->ah_id, i),
				  tap_column_at(&sends->remote_qpn, i), &is_guess);
	if (!to) {
		tap_count_unmatched(posts->context, TAP_MATCH_SEND_RECEIVE,
				    TAP_WHY_PEER_UNKNOWN);
		return 0;
	}
	request->flow = tap_flow_datagram(posts->flows, generation, to, 0);
	if (!request->flow)
		return -ENOMEM;
	tap_flow_side_doubt(request->flow, is_guess,
			    generation->sends.has_hole || generation->sends.has_races ||
				    generation->sends.posted_before);
	request->ordinal = tap_flow_side_next(request->flow);
	return tap_flow_posted(posts->flows, request->flow, request->ordinal,
			       request->span->begin_ns);
}

static int take_one_send(const struct tap_posts *posts, const struct sends *sends,
			 size_t i)
{
	const uint64_t opcode = tap_column_at(&sends->opcode, i),
		       flags = tap_column_at(&sends->flags, i);
	const char *name = tap_opcode_name(opcode);
	struct tap_span *span =
		make_posted(posts, sends->process, sends->event, name ? name : "(other)");
	struct tap_request *request =
		span ? tap_request_make(posts->requests, span) : NULL;
	struct tap_generation *generation = sends->generation;
	struct tap_fields *entry;
	int ret;

	if (!request)
		return -ENOMEM;
	request->wr_id = tap_column_at(&sends->wr_id, i);
	request->length = tap_column_at(&sends->length, i);
	request->imm_data = tap_column_at(&sends->imm_data, i);
	request->has_imm = tap_opcode_has_imm(opcode);
	request->is_concurrent = sends->is_concurrent;
	if (i < TAP_RDMA_LIST_MAX)
		request->note = sends->notes[i];
	if ((flags & SIGNALED) || generation->qp->is_sig_all)
		request->signaled = sends->signaled;
	request->due = sends->signaled + !request->signaled;
	span->work = tap_generation_work(generation, TAP_WORK_SEND, sends->seq);
	entry = &span->entry;
	tap_fields_add_hex(entry, "wr_id", request->wr_id);
	tap_fields_add_unsigned(entry, "qp_id", generation->qp->id);
	tap_fields_add_unsigned(entry, "qp_num", generation->qp->qp_num);
	tap_fields_add_unsigned(entry, "generation", generation->number);
	tap_fields_add_unsigned(entry, "seq", sends->seq);
	tap_fields_add_unsigned(entry, "signaled_seq", request->signaled);
	tap_fields_add_unsigned(entry, "consuming_seq",
				tap_opcode_is_consuming(opcode) ? sends->consuming : 0);
	if (!name)
		tap_fields_add_unsigned(entry, "opcode", opcode);
	tap_fields_add_unsigned(entry, "bytes", request->length);
	tap_fields_add_hex(entry, "send_flags", flags);
	tap_fields_add_unsigned(entry, "num_sge", tap_column_at(&sends->num_sge, i));
	tap_fields_add_hex(entry, "addr", tap_column_at(&sends->addr, i));
	if (!sends->is_list)
		tap_fields_add_hex(entry, "lkey", sends->lkey);
	if (request->has_imm)
		tap_fields_add_hex(entry, "imm_data", request->imm_data);
	if (tap_opcode_is_one_sided(opcode)) {
		tap_fields_add_hex(entry, "remote_addr",
				   tap_column_at(&sends->remote_addr, i));
		tap_fields_add_hex(entry, "rkey", tap_column_at(&sends->rkey, i));
		request->remote_addr = tap_column_at(&sends->remote_addr, i);
		request->rkey = tap_column_at(&sends->rkey, i);
		/* The device does not check the key of an empty request. */
		request->is_one_sided = request->length != 0;
		if (request->is_one_sided)
			tap_request_find_memory(posts->requests, request, generation,
						entry);
	}
	if (generation->qp->type == TAP_QP_UD) {
		tap_fields_add_unsigned(entry, "remote_qpn",
					tap_column_at(&sends->remote_qpn, i));
		tap_fields_add_unsigned(entry, "ah_id", tap_column_at(&sends->ah_id, i));
	}
	if (sends->is_concurrent)
		tap_fields_add_unsigned(entry, "concurrent", 1);
	ret = tap_request_begin(posts->requests, &generation->sends, request);
	if (!ret && tap_opcode_is_consuming(opcode))
		ret = set_flow(posts, sends, i, request);
	return ret;
}

static int report_list(const struct tap_posts *posts, struct sends *sends, uint64_t count)
{
	const struct tap_event *event = sends->event;
	const struct tap_rdma_observer *observer = posts->observer;
	struct tap_rdma_list *list = &sends->list;
	uint64_t i;

	if (!observer || !count || count > TAP_RDMA_LIST_MAX ||
	    (sends->is_list && count > sends->wr_id.count))
		return 0;
	list->generation = sends->generation;
	list->begin_ns = begin_of(event);
	list->end_ns = event->time_ns;
	list->tid = event->tid;
	list->seq = sends->seq;
	list->consuming = sends->consuming;
	list->is_concurrent = sends->is_concurrent;
	list->count = count;
	for (i = 0; i < count; i++) {
		list->requests[i] = (struct tap_rdma_request){
			.opcode = tap_column_at(&sends->opcode, i),
			.flags = tap_column_at(&sends->flags, i),
			.wr_id = tap_column_at(&sends->wr_id, i),
			.num_sge = tap_column_at(&sends->num_sge, i),
			.length = tap_column_at(&sends->length, i),
			.addr = tap_column_at(&sends->addr, i),
			.remote_addr = tap_column_at(&sends->remote_addr, i),
			.rkey = tap_column_at(&sends->rkey, i),
			.imm_data = tap_column_at(&sends->imm_data, i)};
		if (i)
			list->consuming +=
				tap_opcode_is_consuming(list->requests[i].opcode);
	}
	return observer->posted(observer->data, list, sends->notes);
}

int tap_posts_sends(const struct tap_posts *posts, const struct tap_process *process,
		    const struct tap_event *event, bool is_list)
{
	struct tap_reader reader = {.fields = &event->fields};
	struct tap_qp *qp =
		tap_qp_get(posts->qps, process, tap_read_number(&reader, "qp_id"));
	struct tap_generation *generation =
		qp ? tap_qp_generation(qp, tap_read_number(&reader, "generation")) : NULL;
	struct sends sends = {.process = process,
			      .event = event,
			      .generation = generation,
			      .is_list = is_list};
	uint64_t i, count;
	int ret = 0;

	if (!generation)
		return -ENOMEM;
	tap_qp_note_missed(posts->qps, generation);
	sends.seq = tap_read_number(&reader, "seq");
	sends.signaled = tap_read_number(&reader, "signaled_seq");
	sends.consuming = tap_read_number(&reader, "consuming_seq");
	sends.is_concurrent = tap_read_number(&reader, "concurrent");
	count = is_list ? tap_read_number(&reader, "num_wr") : 1;
	sends.wr_id = tap_read_column(&reader, "wr_id");
	sends.opcode = tap_read_column(&reader, "opcode");
	sends.flags = tap_read_column(&reader, "send_flags");
	sends.num_sge = tap_read_column(&reader, "num_sge");
	sends.length = tap_read_column(&reader, "length");
	sends.addr = tap_read_column(&reader, "addr");
	sends.lkey = is_list ? 0 : tap_read_number(&reader, "lkey");
	sends.imm_data = tap_read_column(&reader, "imm_data");
	/* One-sided requests have the first two, datagrams the last two. */
	sends.remote_addr = tap_read_column(&reader, "remote_addr");
	sends.rkey = tap_read_column(&reader, "rkey");
	sends.remote_qpn = tap_read_column(&reader, "remote_qpn");
	sends.ah_id = tap_read_column(&reader, "ah_id");
	ret = report_list(posts, &sends, count);
	for (i = 0; i < count && (!is_list || i < sends.wr_id.count) && !ret; i++) {
		if (i) {
			sends.seq++;
			sends.signaled += (tap_column_at(&sends.flags, i) & SIGNALED) ||
					  generation->qp->is_sig_all;
			sends.consuming +=
				tap_opcode_is_consuming(tap_column_at(&sends.opcode, i));
		}
		ret = take_one_send(posts, &sends, i);
	}
	if (i < count)
		posts->context->loss.malformed_events++;
	return ret ? ret : tap_completions_retry(posts->completions, &generation->sends);
}

int tap_posts_receives(const struct tap_posts *posts, const struct tap_process *process,
		       const struct tap_event *event, bool is_list)
{
	struct tap_reader reader = {.fields = &event->fields};
	const uint64_t qp_id = tap_read_number(&reader, "qp_id");
	const uint64_t srq_id = tap_read_number(&reader, "srq_id");
	const uint64_t number = tap_read_number(&reader, "generation");
	const uint64_t seq = tap_read_number(&reader, "seq");
	const bool is_concurrent = tap_read_number(&reader, "concurrent");
	const uint64_t count = is_list ? tap_read_number(&reader, "num_wr") : 1;
	const struct tap_column wr_id = tap_read_column(&reader, "wr_id");
	const struct tap_column num_sge = tap_read_column(&reader, "num_sge");
	const struct tap_column length = tap_read_column(&reader, "length");
	const struct tap_column addr = tap_read_column(&reader, "addr");
	struct tap_srq *srq = srq_id ? tap_srq_get(posts->qps, process, srq_id) : NULL;
	struct tap_qp *qp = srq_id ? NULL : tap_qp_get(posts->qps, process, qp_id);
	struct tap_generation *generation = qp ? tap_qp_generation(qp, number) : NULL;
	const struct tap_rdma_observer *observer = posts->observer;
	struct tap_work_queue *queue;
	uint64_t i;
	int ret = 0;

	if (!srq && !generation)
		return -ENOMEM;
	queue = srq ? &srq->receives : &generation->receives;
	for (i = 0; i < count && (!is_list || i < wr_id.count) && !ret; i++) {
		struct tap_span *span = make_posted(posts, process, event, "RECV");
		struct tap_request *request =
			span ? tap_request_make(posts->requests, span) : NULL;
		struct tap_fields *entry;

		if (!request)
			return -ENOMEM;
		request->wr_id = tap_column_at(&wr_id, i);
		request->length = tap_column_at(&length, i);
		request->signaled = seq + i;
		request->due = seq + i;
		request->is_concurrent = is_concurrent;
		span->work = (struct tap_work){
			.kind = TAP_WORK_RECEIVE,
			.request = {.qp = qp,
				    .qp_id = srq ? 0 : qp_id,
				    .srq_id = srq_id,
				    .generation = srq ? 0 : generation->number,
				    .seq = seq + i}};
		entry = &span->entry;
		tap_fields_add_hex(entry, "wr_id", request->wr_id);
		if (srq) {
			tap_fields_add_unsigned(entry, "srq_id", srq_id);
		} else {
			tap_fields_add_unsigned(entry, "qp_id", qp_id);
			tap_fields_add_unsigned(entry, "qp_num", qp->qp_num);
			tap_fields_add_unsigned(entry, "generation", generation->number);
		}
		tap_fields_add_unsigned(entry, "seq", seq + i);
		tap_fields_add_unsigned(entry, "bytes", tap_column_at(&length, i));
		tap_fields_add_unsigned(entry, "num_sge", tap_column_at(&num_sge, i));
		tap_fields_add_hex(entry, "addr", tap_column_at(&addr, i));
		if (is_concurrent)
			tap_fields_add_unsigned(entry, "concurrent", 1);
		if (generation && observer)
			observer->receive_posted(observer->data, generation, seq + i,
						 request->wr_id,
						 tap_column_at(&num_sge, i),
						 &request->note);
		if (srq && tap_request_share(posts->requests, srq, request))
			return -ENOMEM;
		ret = tap_request_begin(posts->requests, queue, request);
	}
	if (i < count)
		posts->context->loss.malformed_events++;
	return ret ? ret : tap_completions_retry(posts->completions, queue);
}

int tap_posts_refused(const struct tap_posts *posts, const struct tap_process *process,
		      const struct tap_event *event)
{
	const uint64_t qp_id = tap_event_number(event, "qp_id");
	const uint64_t srq_id = tap_event_number(event, "srq_id");
	struct tap_qp *qp = tap_qp_get(posts->qps, process, qp_id);
	struct tap_generation *generation = qp ? tap_qp_generation(qp, 0) : NULL;
	struct tap_span *span;
	int64_t answer = 0;
	struct tap_field *field;
	int ret = 0;

	if (!generation)
		return -ENOMEM;
	span = make_posted(posts, process, event,
			   tap_event_number(event, "is_recv") ? "post_recv"
							      : "post_send");
	if (!span)
		return -ENOMEM;
	span->work = (struct tap_work){.kind = TAP_WORK_REFUSED,
				       .request = {.qp = qp_id ? qp : NULL,
						   .qp_id = qp_id,
						   .srq_id = srq_id,
						   .generation = generation->number,
						   .seq = ++generation->refused}};
	tap_fields_add_unsigned(&span->entry, "qp_id", qp_id);
	if (srq_id)
		tap_fields_add_unsigned(&span->entry, "srq_id", srq_id);
	tap_fields_add_hex(&span->entry, "wr_id", tap_event_number(event, "wr_id"));
	tap_fields_add_unsigned(&span->entry, "accepted",
				tap_event_number(event, "accepted"));
	ret = tap_emit_begun(posts->context, span);
	tap_fields_get_signed(&event->fields, "ret", &answer);
	field = tap_fields_add(&span->exit, "status", TAP_FIELD_SIGNED);
	if (field)
		field->value.i = answer;
	span->end_ns = event->time_ns;
	span->state = TAP_SPAN_COMPLETE;
	if (!ret)
		ret = tap_emit_ended(posts->context, span);
	tap_pairs_put(&posts->context->pairs, span);
	return ret;
}
