/* SPDX-License-Identifier: MIT */
/* Names by kind of span. */
#include "join/views/perfetto_name.h"

#include <stdlib.h>
#include <string.h>

#include "join/base/demangle.h"
#include "join/base/quantity.h"

#define PREFIX "nccl"

static void add_bytes(struct tap_buffer *name, int64_t bytes)
{
	if (bytes <= 0)
		return;
	tap_buffer_add_char(name, ' ');
	tap_quantity_add_bytes(name, bytes);
}

int64_t tap_perfetto_bytes(const struct tap_span *span)
{
	const int64_t bytes = tap_operation_bytes(&span->operation);

	/* NVTX, copies, requests and messages say bytes, not elements. */
	return bytes > 0 ? bytes : (int64_t) tap_fields_number(&span->entry, "bytes");
}

static const char *without_prefix(const char *call)
{
	return strncmp(call, PREFIX, strlen(PREFIX)) ? call : call + strlen(PREFIX);
}

/* The name of a kernel as its source has it. */
static bool add_function(struct tap_buffer *name, const struct tap_span *span)
{
	const char *function = tap_fields_get_string(&span->entry, "function");
	char *demangled;

	if (!function)
		return false;
	demangled = tap_demangle(function);
	tap_buffer_add_visible(name, demangled ? demangled : function);
	free(demangled);
	return true;
}

struct tap_perfetto_subject tap_perfetto_add_subject(struct tap_buffer *name,
						     const struct tap_span *span)
{
	const struct tap_name *call = span->gpu.call ? span->gpu.call : span->name;
	const bool is_proxy = tap_work_is_proxy(&span->work);
	struct tap_perfetto_subject subject = {0};

	if (span->operation.number && (is_proxy || !span->work.kind || span->gpu.call)) {
		if (is_proxy)
			tap_buffer_add_string(name, "ProxyOp ");
		tap_buffer_add_string(name, without_prefix(call->name));
		subject.is_operation = subject.has_bytes = true;
		subject.is_send = is_proxy ? !span->work.proxy.is_receive
					   : call->kind == TAP_NAME_SEND;
	} else if (!tap_work_is_run(&span->work) || !add_function(name, span)) {
		tap_buffer_add_visible(name, span->name->name);
		subject.has_bytes = span->work.kind;
	}
	return subject;
}

void tap_perfetto_add_name(struct tap_buffer *name, const struct tap_span *span)
{
	const struct tap_perfetto_subject subject = tap_perfetto_add_subject(name, span);
	const struct tap_operation *operation = &span->operation;

	if (subject.is_operation) {
		tap_buffer_add_string(name, " #");
		tap_buffer_add_unsigned(name, operation->number);
	}
	if (subject.is_operation && operation->peer >= 0) {
		tap_buffer_add_string(name, subject.is_send ? " to " : " from ");
		tap_buffer_add_signed(name, operation->peer);
	}
	if (subject.has_bytes)
		add_bytes(name, tap_perfetto_bytes(span));
}
