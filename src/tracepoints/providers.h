/* SPDX-License-Identifier: MIT */
/*
 * What each provider of libccltap-events.so puts into the table in events.c.
 *
 * It hides LTTng's macros, which only the providers' own files use.
 */
#ifndef TAP_TRACEPOINTS_PROVIDERS_H
#define TAP_TRACEPOINTS_PROVIDERS_H

#include "common/compiler.h"
#include "tracepoints/events.h"
#include "tracepoints/through_gate.h"

/* Fills one element per row of nccl.def; called before the table is used. */
void tap_tp_nccl_fill(struct tap_call_events *ret_events,
		      const int **ret_nvtx_on) tap_hidden;
void tap_tp_nvtx_entry(const struct tap_nvtx_call *call,
		       const struct tap_nvtx_values *values) tap_hidden;
void tap_tp_nvtx_exit(const struct tap_nvtx_call *call,
		      const struct tap_nvtx_values *values) tap_hidden;

/* The same for what the program itself gives NVTX. */
void tap_tp_nvtx_fill(const int **ret_on) tap_hidden;
void tap_tp_range_entry(const struct tap_nvtx_range *range) tap_hidden;
void tap_tp_range_exit(uint64_t call_id) tap_hidden;
void tap_tp_mark(const struct tap_nvtx_range *mark) tap_hidden;

/* The same for verbs: its hot events, the others, and its state dump. */
void tap_tp_verbs_fill(struct tap_verbs_events *ret_events) tap_hidden;
void tap_tp_verbs_hot_fill(struct tap_verbs_events *ret_events) tap_hidden;
void tap_tp_statedump_context(const struct tap_verbs_context *context) tap_hidden;
void tap_tp_statedump_port(const struct tap_verbs_port *port) tap_hidden;
void tap_tp_statedump_gid(const struct tap_verbs_port_gid *gid) tap_hidden;
void tap_tp_statedump_mr(const struct tap_verbs_mr *mr) tap_hidden;
void tap_tp_statedump_cq(const struct tap_verbs_cq *cq) tap_hidden;
void tap_tp_statedump_srq(const struct tap_verbs_srq *srq) tap_hidden;
void tap_tp_statedump_ah(const struct tap_verbs_ah *ah) tap_hidden;
void tap_tp_statedump_qp(const struct tap_verbs_qp *qp,
			 const struct tap_verbs_qp_modify *modify,
			 const struct tap_verbs_qp_counts *counts) tap_hidden;
void tap_tp_polling(uint32_t cq_id, uint64_t empty_polls, uint64_t since_ns) tap_hidden;

/* The same for CUDA, or HIP: the rows with two events, and those with one. */
void tap_tp_cuda_fill(struct tap_cuda_row *ret_rows) tap_hidden;
void tap_tp_cuda_hot_fill(struct tap_cuda_row *ret_rows) tap_hidden;
void tap_tp_nccl_args_fill(struct tap_cuda_events *ret_events) tap_hidden;
void tap_tp_function(uint64_t function, const char *name, bool is_statedump) tap_hidden;
void tap_tp_statedump_function(uint64_t function, const char *name) tap_hidden;

/* The same for what ran on a GPU. */
void tap_tp_gpu_fill(struct tap_gpu_events *ret_events) tap_hidden;
void tap_tp_gpu_hot_fill(struct tap_gpu_events *ret_events) tap_hidden;

/* The same for sockets. */
void tap_tp_net_fill(struct tap_net_events *ret_events) tap_hidden;
void tap_tp_net_hot_fill(struct tap_net_events *ret_events) tap_hidden;
void tap_tp_statedump_socket(const struct tap_net_socket_event *socket) tap_hidden;

/* One for each of TAP_EVENTS_OF_PROCESS. */
#define TAP_TP_DECLARE(name, params, args) void tap_tp_##name params tap_hidden;
TAP_EVENTS_OF_PROCESS(TAP_TP_DECLARE)
#undef TAP_TP_DECLARE
const int *tap_tp_open_call_on(void) tap_hidden;
const int *tap_tp_sample_on(void) tap_hidden;
bool tap_tp_set_statedump(void (*write)(void)) tap_hidden;
void tap_tp_stay(void) tap_hidden;

#endif
