/* SPDX-License-Identifier: MIT */
/*
 * Reports which client has CUPTI: gpu:owner when that changes, gpu:statedump_owner for a
 * recording that begins later.
 *
 * It hides the copy of the last event.
 */
#ifndef TAP_CUPTI_OWNER_H
#define TAP_CUPTI_OWNER_H

#include "common/compiler.h"
#include "tracepoints/gpu_events.h"

/* Writes gpu:owner and keeps a copy. */
void tap_cupti_owner_emit(const struct tap_gpu_owner *owner) tap_hidden;

/* Writes gpu:statedump_owner if gpu:owner was written before. */
void tap_cupti_owner_write(void) tap_hidden;

void tap_cupti_owner_fork_child(void) tap_hidden;

#endif
