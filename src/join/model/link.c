/* SPDX-License-Identifier: MIT */
/* Names of links. */
#include "join/model/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "join/model/clock.h"

const char *tap_link_kind_name(enum tap_link_kind kind)
{
	static const char *const names[] = {
		[TAP_LINK_COLLECTIVE_RANKS] = "collective-ranks",
		[TAP_LINK_SEND_RECV] = "send-recv",
		[TAP_LINK_POST_COMPLETION] = "post-completion",
		[TAP_LINK_SEND_RECEIVE] = "send-receive",
		[TAP_LINK_CTS_MESSAGE] = "cts-message",
		[TAP_LINK_FLUSH_MESSAGE] = "flush-message",
		[TAP_LINK_SOCKET_MESSAGE] = "socket-message",
		[TAP_LINK_API_LAUNCH] = "api-launch",
		[TAP_LINK_LAUNCH_KERNEL] = "launch-kernel",
		[TAP_LINK_KERNEL_COLLECTIVE] = "kernel-collective",
		[TAP_LINK_MESSAGE_KERNEL] = "message-kernel",
		[TAP_LINK_PROXY_OP] = "proxy-op",
	};

	return names[kind];
}

const char *tap_known_name(enum tap_known known)
{
	static const char *const names[] = {
		[TAP_KNOWN_EXACT] = "exact",
		[TAP_KNOWN_DECODED] = "decoded",
		[TAP_KNOWN_INFERRED] = "inferred",
	};

	return names[known];
}

const char *tap_mismatch_name(enum tap_mismatch mismatch)
{
	static const char *const names[] = {
		[TAP_MISMATCH_FUNCTION] = "function", [TAP_MISMATCH_SIZE] = "size",
		[TAP_MISMATCH_DATATYPE] = "datatype", [TAP_MISMATCH_REDOP] = "redop",
		[TAP_MISMATCH_ROOT] = "root",
	};

	return names[mismatch];
}

uint64_t tap_link_comm_key(const struct tap_link *link)
{
	if (link->kind == TAP_LINK_MESSAGE_KERNEL)
		return tap_member_comm(link->ends[0].member)->key;
	return link->comm ? link->comm->key : 0;
}

void tap_link_add_op_key(struct tap_buffer *buffer, const struct tap_link *link)
{
	const bool is_message = link->kind == TAP_LINK_MESSAGE_KERNEL;
	const struct tap_link_end *last = &link->ends[is_message ? link->count - 1 : 1];

	/* The first end of a message is the sender. */
	if (is_message || link->comm)
		tap_operation_add_key(buffer,
				      is_message ? link->operation : link->ends[0].name,
				      link->ends[0].rank, last->rank, link->op_number);
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Of the times that the link says of this end: those of the call, or cause and effect. */
static int64_t end_uncertainty_ns(const struct tap_link *link,
				  const struct tap_link_end *end)
{
	const struct tap_clock *clock = end->process->trace->clock;
	const bool is_call = link->kind == TAP_LINK_COLLECTIVE_RANKS ||
			     link->kind == TAP_LINK_SEND_RECV;
	const int64_t begin_ns = is_call ? end->facts.begin_ns : link->begin_ns;
	const int64_t end_ns = is_call ? end->facts.end_ns : link->end_ns;

	if (begin_ns < 0 || end_ns < 0)
		return tap_clock_uncertainty_at(clock, larger(begin_ns, end_ns));
	return larger(tap_clock_uncertainty_at(clock, begin_ns),
		      tap_clock_uncertainty_at(clock, end_ns));
}

int64_t tap_link_uncertainty_ns(const struct tap_link *link)
{
	const struct tap_clock *clock, *widest = NULL;
	int64_t end_ns, most_ns = 0, second_ns = 0;
	bool is_one = true;
	size_t i;

	for (i = 0; i < link->count; i++) {
		clock = link->ends[i].process->trace->clock;
		if (!clock)
			continue;
		if (widest && clock->reference != widest->reference)
			return -1;
		is_one &= !widest || clock == widest;
		end_ns = end_uncertainty_ns(link, &link->ends[i]);
		if (!widest || clock == widest) {
			widest = clock;
			most_ns = larger(most_ns, end_ns);
		} else if (end_ns > most_ns) {
			second_ns = most_ns;
			most_ns = end_ns;
			widest = clock;
		} else {
			second_ns = larger(second_ns, end_ns);
		}
	}
	return is_one ? 0 : most_ns + second_ns;
}

bool tap_link_has_rank(const struct tap_link *link, int64_t rank)
{
	size_t i;

	for (i = 0; i < link->count; i++)
		if (link->ends[i].rank == rank)
			return true;
	return false;
}

struct tap_call_facts tap_call_facts_of(const struct tap_span *span)
{
	return (struct tap_call_facts){
		.begin_ns = span->state == TAP_SPAN_BEGIN_LOST ? -1 : span->begin_ns,
		.end_ns = span->state == TAP_SPAN_COMPLETE ||
					  span->state == TAP_SPAN_BEGIN_LOST
				  ? span->end_ns
				  : -1,
		.tid = span->tid,
		.group_id = span->operation.group_id,
		.operation = span->operation,
		.caller_number = span->caller_number,
		.caller = span->caller,
		.caller_offset = span->caller_offset,
		.stack = span->stack,
	};
}

int tap_link_copy(struct tap_link *to, struct tap_link_end **ends,
		  const struct tap_link *link)
{
	struct tap_link_end *copy = malloc(link->count * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, link->ends, link->count * sizeof(*copy));
	free(*ends);
	*ends = copy;
	*to = *link;
	to->ends = copy;
	return 0;
}
