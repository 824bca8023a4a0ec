/* SPDX-License-Identifier: MIT */
/*
 * Links calls of different ranks that are one operation: calls of the same number of the
 * same communicator, as counted in the traced processes.  The layer compares no times.
 *
 * Hides which calls count (NCCL may drop a group, and use a number again), that a
 * communicator may become known late, and what is held until all ranks are present: a
 * bounded number of operations, whatever the length of the trace.
 */
#ifndef TAP_JOIN_RANKS_OPERATIONS_H
#define TAP_JOIN_RANKS_OPERATIONS_H

struct tap_layer;

extern const struct tap_layer tap_operations_layer;

#endif
