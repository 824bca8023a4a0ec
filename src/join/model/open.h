/* SPDX-License-Identifier: MIT */
/*
 * Where each process stood when its part of the trace ended: the calls that had not
 * returned, or the last one that returned.
 *
 * Hides that a call may be known by its entry, or, when the entry was not recorded or is
 * overwritten, only by the tracer's report of the thread's state; and which of the two is
 * right when they differ.
 */
#ifndef TAP_JOIN_MODEL_OPEN_H
#define TAP_JOIN_MODEL_OPEN_H

struct tap_layer;

/*
 * Comes before the layer of calls: an event of a thread shows which call the thread is
 * not in.
 */
extern const struct tap_layer tap_opens_layer;

#endif
