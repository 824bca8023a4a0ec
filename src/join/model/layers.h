/* SPDX-License-Identifier: MIT */
/*
 * The layers that fill the context for all others: processes, communicators, and calls.
 *
 * Hides how each of them takes its events.
 */
#ifndef TAP_JOIN_MODEL_LAYERS_H
#define TAP_JOIN_MODEL_LAYERS_H

struct tap_layer;

/* Processes' descriptions of themselves, their libraries, stacks and problems. */
extern const struct tap_layer tap_processes_layer;
/* Descriptions of communicators, and the member of each span. */
extern const struct tap_layer tap_comms_layer;
/* The entries and exits of calls. */
extern const struct tap_layer tap_pairs_layer;

#endif
