/* SPDX-License-Identifier: MIT */
/*
 * LTTng-UST provider "tap": events of the process and of the tracer itself.  Read
 * doc/man/ccltap-events.7 before a change: a released event may gain fields, and never
 * loses or renames one.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER tap
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "tracepoints/tap_tp.h"

#if !defined(TAP_TRACEPOINTS_TAP_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define TAP_TRACEPOINTS_TAP_TP_H

#include <lttng/tracepoint.h>

#include "calls/kinds.h"
#include "tracepoints/events.h"
#include "tracepoints/net_fields.h"
#include "tracepoints/verbs_fields.h"

/* clang-format off */
/*
 * An event whose name begins with statedump_ describes a state, any other one a change.
 */
#define TAP_PROCESS_EVENT(name) \
	LTTNG_UST_TRACEPOINT_EVENT(tap, name, \
		LTTNG_UST_TP_ARGS(const struct tap_process *, p), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(int32_t, pid, p->pid) \
			lttng_ust_field_integer(int32_t, ppid, p->ppid) \
			lttng_ust_field_string(host, p->host) \
			lttng_ust_field_string(boot_id, p->boot_id) \
			lttng_ust_field_integer(uint64_t, pid_namespace, p->pid_namespace) \
			lttng_ust_field_integer(uint64_t, time_namespace, p->time_namespace) \
			lttng_ust_field_integer(uint32_t, uid, p->uid) \
			lttng_ust_field_string(job_id, p->job_id) \
			lttng_ust_field_integer(int32_t, rank, p->rank) \
			lttng_ust_field_integer(int32_t, world_size, p->world_size) \
			lttng_ust_field_integer(int32_t, local_rank, p->local_rank) \
			lttng_ust_field_string(rank_from, p->rank_from) \
			lttng_ust_field_string(executable, p->executable) \
			lttng_ust_field_string(command, p->command) \
			lttng_ust_field_string(version, p->version) \
			lttng_ust_field_string(nvtx_injection, p->nvtx_injection))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
TAP_PROCESS_EVENT(process)
TAP_PROCESS_EVENT(statedump_process)

#define TAP_ENVIRONMENT_EVENT(event) \
	LTTNG_UST_TRACEPOINT_EVENT(tap, event, \
		LTTNG_UST_TP_ARGS(const struct tap_variable *, v), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_string(name, v->name) \
			lttng_ust_field_string(value, v->value) \
			lttng_ust_field_integer(uint8_t, cut, v->is_cut) \
			lttng_ust_field_integer(uint8_t, withheld, v->is_withheld))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, event, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
TAP_ENVIRONMENT_EVENT(environment)
TAP_ENVIRONMENT_EVENT(statedump_environment)

#define TAP_LIBRARY_EVENT(name) \
	LTTNG_UST_TRACEPOINT_EVENT(tap, name, \
		LTTNG_UST_TP_ARGS(const struct tap_library *, l), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(uint32_t, library_id, l->library_id) \
			lttng_ust_field_string(path, l->path) \
			lttng_ust_field_integer_hex(uint64_t, base, l->base) \
			lttng_ust_field_string(build_id, l->build_id) \
			lttng_ust_field_string(layer, l->layer))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
TAP_LIBRARY_EVENT(library)
TAP_LIBRARY_EVENT(statedump_library)

LTTNG_UST_TRACEPOINT_ENUM(tap, comm_origin,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("unknown", TAP_COMM_UNKNOWN)
		lttng_ust_field_enum_value("init", TAP_COMM_INIT)
		lttng_ust_field_enum_value("init-all", TAP_COMM_INIT_ALL)
		lttng_ust_field_enum_value("split", TAP_COMM_SPLIT)
		lttng_ust_field_enum_value("shrink", TAP_COMM_SHRINK)
		lttng_ust_field_enum_value("grow", TAP_COMM_GROW)))
LTTNG_UST_TRACEPOINT_ENUM(tap, comm_phase,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("initialising", TAP_COMM_INITIALISING)
		lttng_ust_field_enum_value("ready", TAP_COMM_READY)
		lttng_ust_field_enum_value("finalizing", TAP_COMM_FINALIZING)
		lttng_ust_field_enum_value("revoked", TAP_COMM_REVOKED)
		lttng_ust_field_enum_value("suspended", TAP_COMM_SUSPENDED)
		lttng_ust_field_enum_value("destroyed", TAP_COMM_DESTROYED)
		lttng_ust_field_enum_value("aborted", TAP_COMM_ABORTED)
		lttng_ust_field_enum_value("gone", TAP_COMM_GONE)))
#define TAP_NCCL_VALUE(name, number) lttng_ust_field_enum_value(#name, number)
#define TAP_NCCL_ENUM(type, values) \
	LTTNG_UST_TRACEPOINT_ENUM(tap, type, LTTNG_UST_TP_ENUM_VALUES(values))
TAP_NCCL_RESULTS
#undef TAP_NCCL_ENUM
#undef TAP_NCCL_VALUE

#define TAP_COMM_EVENT(name) \
	LTTNG_UST_TRACEPOINT_EVENT(tap, name, \
		LTTNG_UST_TP_ARGS(const struct tap_comm_state *, a), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(uint32_t, comm_id, a->comm_id) \
			lttng_ust_field_integer_hex(uint64_t, comm, a->comm) \
			lttng_ust_field_integer_hex(uint64_t, comm_key, a->comm_key) \
			lttng_ust_field_integer_hex(uint64_t, alias_key, a->alias_key) \
			lttng_ust_field_integer(uint32_t, library_id, a->library_id) \
			lttng_ust_field_integer(uint64_t, call_id, a->call_id) \
			lttng_ust_field_enum(tap, comm_origin, int32_t, origin, a->origin) \
			lttng_ust_field_integer(uint32_t, parent_comm_id, a->parent_comm_id) \
			lttng_ust_field_integer(uint32_t, ordinal, a->ordinal) \
			lttng_ust_field_integer(int32_t, color, a->color) \
			lttng_ust_field_integer(int32_t, split_key, a->split_key) \
			lttng_ust_field_enum(tap, comm_phase, int32_t, phase, a->phase) \
			lttng_ust_field_enum(tap, ncclResult_t, int32_t, async_error, a->async_error) \
			lttng_ust_field_integer(int32_t, nranks, a->nranks) \
			lttng_ust_field_integer(int32_t, rank, a->rank) \
			lttng_ust_field_integer(int32_t, device, a->device) \
			lttng_ust_field_integer(uint64_t, collectives, a->collectives) \
			ENTRY_CONFIG(config))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
TAP_COMM_EVENT(comm)
TAP_COMM_EVENT(statedump_comm)

#define TAP_THREAD_EVENT(name) \
	LTTNG_UST_TRACEPOINT_EVENT(tap, name, \
		LTTNG_UST_TP_ARGS(const struct tap_thread_state *, t), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(int32_t, tid, t->tid) \
			lttng_ust_field_integer(uint64_t, group_id, t->group_id) \
			lttng_ust_field_integer(uint32_t, group_depth, t->group_depth) \
			lttng_ust_field_integer(uint64_t, call_id, t->call_id) \
			lttng_ust_field_string(function, t->function) \
			lttng_ust_field_integer(uint32_t, comm_id, t->comm_id) \
			lttng_ust_field_integer_hex(uint64_t, comm_key, t->comm_key) \
			lttng_ust_field_integer(uint64_t, op_number, t->op_number) \
			lttng_ust_field_integer(uint64_t, min_ns, t->min_ns))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
TAP_THREAD_EVENT(open_call)
TAP_THREAD_EVENT(statedump_thread)

LTTNG_UST_TRACEPOINT_ENUM(tap, thread_via,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("routine", TAP_THREAD_ROUTINE)
		lttng_ust_field_enum_value("state", TAP_THREAD_STATE)))
#define TAP_CCL_THREAD_EVENT(name) \
	LTTNG_UST_TRACEPOINT_EVENT(tap, name, \
		LTTNG_UST_TP_ARGS(const struct tap_ccl_thread_event *, t), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(int32_t, tid, t->tid) \
			lttng_ust_field_integer(int32_t, creator_tid, t->ccl->creator) \
			lttng_ust_field_integer(uint8_t, creator_is_ccl, t->ccl->creator_is_ccl) \
			lttng_ust_field_integer(uint64_t, call_id, t->ccl->call_id) \
			lttng_ust_field_integer(uint64_t, outer_call_id, t->ccl->outer_call_id) \
			lttng_ust_field_string(function, t->ccl->function) \
			lttng_ust_field_integer(uint64_t, begin_ns, t->ccl->begin_ns) \
			lttng_ust_field_enum(tap, thread_via, int32_t, via, t->ccl->via) \
			lttng_ust_field_integer(uint32_t, routine_library, t->routine_library) \
			lttng_ust_field_integer_hex(uint64_t, routine_offset, t->routine_offset) \
			lttng_ust_field_integer_hex(uint64_t, argument, t->ccl->argument) \
			lttng_ust_field_integer(uint8_t, nr_arguments, t->ccl->nr_arguments) \
			lttng_ust_field_integer(uint32_t, caller_library, t->caller_library) \
			lttng_ust_field_integer_hex(uint64_t, caller_offset, t->caller_offset) \
			lttng_ust_field_integer_hex(uint8_t, does, t->ccl->does) \
			lttng_ust_field_integer(uint8_t, is_asleep, t->ccl->is_asleep) \
			lttng_ust_field_integer(uint64_t, yields, t->ccl->yields))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
TAP_CCL_THREAD_EVENT(ccl_thread)
TAP_CCL_THREAD_EVENT(statedump_ccl_thread)

/* Sleep and wake are as frequent as operations, so they are among the hot events. */
#define TAP_CCL_THREAD_NOW(name, level) \
	LTTNG_UST_TRACEPOINT_EVENT(tap, name, \
		LTTNG_UST_TP_ARGS(const struct tap_thread *, t), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(int32_t, tid, t->tid) \
			lttng_ust_field_integer_hex(uint8_t, does, t->ccl.does) \
			lttng_ust_field_integer(uint64_t, yields, t->ccl.yields))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_##level)
TAP_CCL_THREAD_NOW(ccl_thread_does, INFO)
TAP_CCL_THREAD_NOW(ccl_thread_sleep, DEBUG)
TAP_CCL_THREAD_NOW(ccl_thread_wake, DEBUG)
TAP_CCL_THREAD_NOW(ccl_thread_end, INFO)

LTTNG_UST_TRACEPOINT_EVENT(tap, sample,
	LTTNG_UST_TP_ARGS(const struct tap_sample *, s),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(source, s->source)
		lttng_ust_field_string(subject, s->subject)
		lttng_ust_field_string(state, s->state)
		lttng_ust_field_integer(int32_t, tid, s->tid)
		lttng_ust_field_integer(uint64_t, interval_ns, s->interval_ns)
		lttng_ust_field_string(names, s->names)
		lttng_ust_field_sequence(uint64_t, values, s->values, uint32_t, s->nr)
		lttng_ust_field_sequence(uint64_t, growth, s->growth, uint32_t, s->nr)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, sample, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT(tap, process_end,
	LTTNG_UST_TP_ARGS(int32_t, pid_),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int32_t, pid, pid_)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, process_end, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_ENUM(tap, stack_end,
	LTTNG_UST_TP_ENUM_VALUES(
		lttng_ust_field_enum_value("start", TAP_STACK_START)
		lttng_ust_field_enum_value("depth", TAP_STACK_DEPTH)
		lttng_ust_field_enum_value("lost", TAP_STACK_LOST)))
#define TAP_STACK_EVENT(name) \
	LTTNG_UST_TRACEPOINT_EVENT(tap, name, \
		LTTNG_UST_TP_ARGS(const struct tap_stack *, s), \
		LTTNG_UST_TP_FIELDS( \
			lttng_ust_field_integer(uint32_t, stack_id, s->stack_id) \
			lttng_ust_field_enum(tap, stack_end, int32_t, end, s->end) \
			lttng_ust_field_integer(uint8_t, frame_pointers, s->frame_pointers) \
			lttng_ust_field_sequence(uint16_t, libraries, s->libraries, uint32_t, s->nr_frames) \
			lttng_ust_field_sequence_hex(uint64_t, offsets, s->offsets, uint32_t, s->nr_frames))) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
TAP_STACK_EVENT(stack)
TAP_STACK_EVENT(statedump_stack)

#define TAP_VERBS_STATEDUMP_EVENT(name, args, ...) \
	LTTNG_UST_TRACEPOINT_EVENT(tap, name, LTTNG_UST_TP_ARGS args, \
		LTTNG_UST_TP_FIELDS(__VA_ARGS__)) \
	LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, name, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)
TAP_VERBS_STATEDUMP_EVENT(statedump_context, (const struct tap_verbs_context *, c),
	TAP_VERBS_CONTEXT_FIELDS)
TAP_VERBS_STATEDUMP_EVENT(statedump_port, (const struct tap_verbs_port *, p), TAP_VERBS_PORT_FIELDS)
TAP_VERBS_STATEDUMP_EVENT(statedump_gid, (const struct tap_verbs_port_gid *, g), TAP_VERBS_GID_FIELDS)
TAP_VERBS_STATEDUMP_EVENT(statedump_mr, (const struct tap_verbs_mr *, m), TAP_VERBS_MR_FIELDS)
TAP_VERBS_STATEDUMP_EVENT(statedump_cq, (const struct tap_verbs_cq *, c), TAP_VERBS_CQ_FIELDS)
TAP_VERBS_STATEDUMP_EVENT(statedump_srq, (const struct tap_verbs_srq *, s), TAP_VERBS_SRQ_FIELDS)
TAP_VERBS_STATEDUMP_EVENT(statedump_ah, (const struct tap_verbs_ah *, a), TAP_VERBS_AH_FIELDS)
TAP_VERBS_STATEDUMP_EVENT(statedump_qp,
	(const struct tap_verbs_qp *, q, const struct tap_verbs_qp_modify *, m,
	 const struct tap_verbs_qp_counts *, n),
	TAP_VERBS_QP_FIELDS
	TAP_VERBS_MODIFY_FIELDS
	lttng_ust_field_integer(uint32_t, sent, n->sent)
	lttng_ust_field_integer(uint32_t, signaled, n->signaled)
	lttng_ust_field_integer(uint32_t, consuming, n->consuming)
	lttng_ust_field_integer(uint32_t, recv_posted, n->recv_posted)
	lttng_ust_field_integer(uint32_t, send_completed, n->send_completed)
	lttng_ust_field_integer(uint32_t, recv_completed, n->recv_completed))

LTTNG_UST_TRACEPOINT_EVENT(tap, statedump_socket,
	LTTNG_UST_TP_ARGS(const struct tap_net_socket_event *, s),
	LTTNG_UST_TP_FIELDS(TAP_NET_SOCKET_FIELDS TAP_NET_STREAM_FIELDS))
LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, statedump_socket, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT(tap, statedump_function,
	LTTNG_UST_TP_ARGS(uint64_t, f, const char *, name_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, function, f)
		lttng_ust_field_string(name, name_)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, statedump_function, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT(tap, polling,
	LTTNG_UST_TP_ARGS(uint32_t, cq, uint64_t, polls, uint64_t, since),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, cq_id, cq)
		lttng_ust_field_integer(uint64_t, empty_polls, polls)
		lttng_ust_field_integer(uint64_t, since_ns, since)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, polling, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

LTTNG_UST_TRACEPOINT_EVENT(tap, statedump_end,
	LTTNG_UST_TP_ARGS(uint32_t, libraries_, uint32_t, comms_, uint32_t, threads_,
			  uint32_t, stacks_, uint8_t, all_threads_),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(uint32_t, libraries, libraries_)
		lttng_ust_field_integer(uint32_t, comms, comms_)
		lttng_ust_field_integer(uint32_t, threads, threads_)
		lttng_ust_field_integer(uint32_t, stacks, stacks_)
		lttng_ust_field_integer(uint8_t, all_threads, all_threads_)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(tap, statedump_end, LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO)

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
