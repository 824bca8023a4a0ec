/* SPDX-License-Identifier: MIT */
/* Arguments of calls that put work on a stream. */
#include "join/model/stream.h"

#include "join/base/buffer.h"

int64_t tap_cuda_capture(const struct tap_span *span)
{
	int64_t capture;

	return tap_fields_get_signed(&span->entry, "capture", &capture) ? TAP_CAPTURE_NONE
									: capture;
}

bool tap_cuda_stream(const struct tap_span *span, uint64_t *ret)
{
	uint64_t is_per_thread = 0;

	if (tap_call_get(span->name->row, TAP_ROLE_STREAM, &span->entry, ret))
		return false;
	if (*ret)
		return true;
	tap_fields_get_unsigned(&span->entry, "per_thread", &is_per_thread);
	*ret = is_per_thread ? TAP_STREAM_PER_THREAD : TAP_STREAM_LEGACY;
	return true;
}

void tap_cuda_add_stream(struct tap_buffer *buffer, uint64_t stream)
{
	if (stream == TAP_STREAM_LEGACY)
		tap_buffer_add_string(buffer, "legacy");
	else if (stream == TAP_STREAM_PER_THREAD)
		tap_buffer_add_string(buffer, "per-thread");
	else
		tap_buffer_add_hex(buffer, stream);
}

int64_t tap_cuda_bytes(const struct tap_span *span)
{
	uint64_t bytes;

	if (span->name->cuda != TAP_CUDA_COPY ||
	    tap_call_get(span->name->row, TAP_ROLE_BYTES, &span->entry, &bytes))
		return -1;
	return bytes <= INT64_MAX ? (int64_t) bytes : -1;
}

bool tap_cuda_is_captured(const struct tap_span *span)
{
	return tap_cuda_capture(span) > TAP_CAPTURE_NONE;
}
