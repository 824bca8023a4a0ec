/* SPDX-License-Identifier: MIT */
/*
 * Which calls of different ranks are one operation: the same number of the same
 * communicator, counted in the traced processes.  No time is looked at.
 *
 * Hides which calls count (a group may be dropped, a number given out again),
 * that a communicator may be known late, and what is held until all ranks are
 * there: a bounded number of operations, whatever the length of the trace.
 */
#ifndef TAP_JOIN_RANKS_OPERATIONS_H
#define TAP_JOIN_RANKS_OPERATIONS_H

struct tap_layer;

extern const struct tap_layer tap_operations_layer;

#endif
