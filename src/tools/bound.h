/* SPDX-License-Identifier: MIT */
/*
 * The limit of --max-size on what a recording has on disk. The trace is divided into
 * chunks, of which the oldest is removed first. Hides when the size is looked at.
 */
#ifndef TAP_TOOLS_BOUND_H
#define TAP_TOOLS_BOUND_H

#include <stdint.h>

struct tap_recording;

/* The data on disk is divided into this many chunks. */
#define TAP_BOUND_CHUNKS 8

struct tap_bound {
	unsigned removed;
	uint64_t size_at_rotation;
	int64_t next_look_ms; /* of CLOCK_MONOTONIC */
};

/* Looks at the size when it is time. Nothing happens where there is no limit. */
void tap_bound_keep(struct tap_recording *recording);
/* A chunk that is larger than the limit stays as long as there is too little after it. */
void tap_bound_remove_oldest(struct tap_recording *recording);

#endif
