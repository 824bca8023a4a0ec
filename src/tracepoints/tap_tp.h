/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "tap": what the tracer says of the process and of itself.
 * Read doc/man/ccltap-events.7 before changing: an event that was released may
 * gain fields, and never loses or renames one.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tap
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/tap_tp.h"

#if !defined(TAP_TRACEPOINTS_TAP_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_TAP_TP_H

#include <lttng/tracepoint.h>

#include "tracepoints/events.h"

/* clang-format off */
LTTNG_UST_TRACEPOINT_EVENT(tap, process,
	LTTNG_UST_TP_ARGS(const struct tap_process *, p),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int32_t, pid, p->pid)
		lttng_ust_field_integer(int32_t, ppid, p->ppid)
		lttng_ust_field_string(host, p->host)
		lttng_ust_field_string(boot_id, p->boot_id)
		lttng_ust_field_integer(uint64_t, pid_namespace, p->pid_namespace)
		lttng_ust_field_integer(uint64_t, time_namespace, p->time_namespace)
		lttng_ust_field_integer(uint32_t, uid, p->uid)
		lttng_ust_field_string(job_id, p->job_id)
		lttng_ust_field_integer(int32_t, rank, p->rank)
		lttng_ust_field_integer(int32_t, world_size, p->world_size)
		lttng_ust_field_integer(int32_t, local_rank, p->local_rank)
		lttng_ust_field_string(rank_from, p->rank_from)
		lttng_ust_field_string(executable, p->executable)
		lttng_ust_field_string(command, p->command)
		lttng_ust_field_string(version, p->version)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, process, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT(tap, library,
	LTTNG_UST_TP_ARGS(const struct tap_library *, l),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, library_id, l->library_id)
		lttng_ust_field_string(path, l->path)
		lttng_ust_field_integer_hex(uint64_t, base, l->base)
		lttng_ust_field_string(build_id, l->build_id)
		lttng_ust_field_string(layer, l->layer)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, library, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT(tap, problem,
	LTTNG_UST_TP_ARGS(const char *, what_, const char *, detail_, uint64_t, count_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(what, what_)
		lttng_ust_field_string(detail, detail_)
		lttng_ust_field_integer(uint64_t, count, count_)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, problem, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
