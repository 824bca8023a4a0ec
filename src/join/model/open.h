/* SPDX-License-Identifier: MIT */
/*
 * Where each process stood when its part of the trace ended: the calls that had not
 * returned, or what returned last.
 *
 * Hides that a call may be known by its entry, or only by what the tracer told of the
 * thread that is in it, since the entry was not recorded or is overwritten; and which of
 * the two is right when they differ.
 */
#ifndef TAP_JOIN_MODEL_OPEN_H
#define TAP_JOIN_MODEL_OPEN_H

struct tap_layer;

/* Before the layer of calls: an event of a thread shows where it is not. */
extern const struct tap_layer tap_opens_layer;

#endif
