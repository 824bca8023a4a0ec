/* SPDX-License-Identifier: MIT */
/* What every output derives from a span. */
#include "join/model/span.h"

#include "join/base/buffer.h"

#include <string.h>

/* Bytes, by the values of ncclDataType_t. */
static const unsigned char datatype_sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

struct tap_span *tap_span_get(struct tap_span *span)
{
	span->references++;
	return span;
}

const char *tap_span_state_name(enum tap_span_state state)
{
	switch (state) {
	case TAP_SPAN_COMPLETE:
		return "complete";
	case TAP_SPAN_END_LOST:
		return "end-lost";
	case TAP_SPAN_BEGIN_LOST:
		return "begin-lost";
	case TAP_SPAN_OPEN:
	case TAP_SPAN_RUNNING:
		break;
	}
	return "open";
}

bool tap_span_has_duration(const struct tap_span *span)
{
	return span->state == TAP_SPAN_COMPLETE && !span->is_end_bound;
}

int64_t tap_span_duration(const struct tap_span *span)
{
	return (int64_t) ((uint64_t) span->end_ns - (uint64_t) span->begin_ns);
}

int64_t tap_operation_bytes(const struct tap_operation *operation)
{
	int64_t bytes;

	if (!operation->has_count || operation->datatype < 0 ||
	    (uint64_t) operation->datatype >= sizeof(datatype_sizes) ||
	    __builtin_mul_overflow(operation->count, datatype_sizes[operation->datatype],
				   &bytes))
		return -1;
	return bytes;
}

bool tap_loss_is_none(const struct tap_loss *loss)
{
	return !loss->discarded_events && !loss->discarded_packets &&
	       !loss->discarded_unknown && !loss->damaged_streams &&
	       !loss->removed_chunks && !loss->relay_gaps && !loss->is_window;
}

const struct tap_field *tap_span_find_result(const struct tap_span *span)
{
	return tap_fields_find(&span->exit, span->work.kind ? "status" : "result");
}

bool tap_span_is_failure(const struct tap_field *result)
{
	if (!result)
		return false;
	if (result->kind != TAP_FIELD_UNSIGNED && result->kind != TAP_FIELD_SIGNED)
		return false;
	if (result->label && !strcmp(result->label, "ncclInProgress"))
		return false;
	return result->value.u != 0;
}

const char *tap_operation_kind(const struct tap_name *name)
{
	switch (name->kind) {
	case TAP_NAME_SEND:
		return "send";
	case TAP_NAME_RECEIVE:
		return "recv";
	default:
		return "collective";
	}
}

void tap_operation_add_key(struct tap_buffer *buffer, const struct tap_name *name,
			   int64_t rank, int64_t peer, uint64_t number)
{
	const bool is_receive = name->kind == TAP_NAME_RECEIVE;
	const bool is_message = is_receive || name->kind == TAP_NAME_SEND;

	if (!number || (is_message && (rank < 0 || peer < 0)))
		return;
	if (is_message) {
		tap_buffer_add_signed(buffer, is_receive ? peer : rank);
		tap_buffer_add_char(buffer, '>');
		tap_buffer_add_signed(buffer, is_receive ? rank : peer);
	} else {
		tap_buffer_add_string(buffer, "all");
	}
	tap_buffer_add_char(buffer, '.');
	tap_buffer_add_unsigned(buffer, number);
}

uint64_t tap_sampled_growth(const struct tap_sampled *sample, const char *name)
{
	const char *one = sample->names;
	size_t i, length;

	for (i = 0; i < sample->count; i++, one += length + (one[length] == ',')) {
		length = strcspn(one, ",");
		if (length == strlen(name) && !strncmp(one, name, length))
			return sample->growth[i];
	}
	return 0;
}
