/* SPDX-License-Identifier: MIT */
/*
 * What each provider of libccltap-events.so gives to the table in events.c.
 *
 * It hides LTTng's macros, which each provider's own file reads.
 */
#ifndef TAP_TRACEPOINTS_PROVIDERS_H
#define TAP_TRACEPOINTS_PROVIDERS_H

#include "common/compiler.h"
#include "tracepoints/events.h"

/* Fills one element per row of nccl.def; run before the table is handed out. */
void tap_tp_nccl_fill(struct tap_call_events *ret_events) tap_hidden;

void tap_tp_process(const struct tap_process *process) tap_hidden;
void tap_tp_library(const struct tap_library *library) tap_hidden;
void tap_tp_problem(const char *what, const char *detail, uint64_t count) tap_hidden;

#endif
