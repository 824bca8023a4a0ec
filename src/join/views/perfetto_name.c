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

static int64_t bytes_of(const struct tap_span *span)
{
	const int64_t bytes = tap_operation_bytes(&span->operation);

	/* NVTX, copies, requests and messages say bytes, not elements. */
	return bytes > 0 ? bytes : (int64_t) tap_fields_number(&span->entry, "bytes");
}

static const char *without_prefix(const char *call)
{
	return strncmp(call, PREFIX, strlen(PREFIX)) ? call : call + strlen(PREFIX);
}

/* "AllReduce #3 4 MiB", "Send #3 to 1 4 MiB" */
static void add_operation(struct tap_buffer *name, const struct tap_span *span,
			  const struct tap_name *call)
{
	const struct tap_operation *operation = &span->operation;
	bool is_send;

	tap_buffer_add_string(name, without_prefix(call->name));
	tap_buffer_add_string(name, " #");
	tap_buffer_add_unsigned(name, operation->number);
	if (operation->peer >= 0) {
		is_send = tap_work_is_proxy(&span->work) ? !span->work.proxy.is_receive
							 : call->kind == TAP_NAME_SEND;
		tap_buffer_add_string(name, is_send ? " to " : " from ");
		tap_buffer_add_signed(name, operation->peer);
	}
	add_bytes(name, bytes_of(span));
}

/* The name of a kernel as its source has it, or what else ran. */
static void add_run(struct tap_buffer *name, const struct tap_span *span)
{
	const char *function = tap_fields_get_string(&span->entry, "function");
	char *demangled = function ? tap_demangle(function) : NULL;

	if (function) {
		tap_buffer_add_visible(name, demangled ? demangled : function);
	} else {
		tap_buffer_add_visible(name, span->name->name);
		add_bytes(name, bytes_of(span));
	}
	free(demangled);
}

void tap_perfetto_add_name(struct tap_buffer *name, const struct tap_span *span)
{
	const struct tap_name *call = span->gpu.call ? span->gpu.call : span->name;

	if (tap_work_is_proxy(&span->work) && span->operation.number) {
		tap_buffer_add_string(name, "ProxyOp ");
		add_operation(name, span, call);
	} else if (span->operation.number && (!span->work.kind || span->gpu.call)) {
		add_operation(name, span, call);
	} else if (tap_work_is_run(&span->work)) {
		add_run(name, span);
	} else {
		tap_buffer_add_visible(name, span->name->name);
		if (span->work.kind)
			add_bytes(name, bytes_of(span));
	}
}
