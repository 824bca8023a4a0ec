/* SPDX-License-Identifier: MIT */
/*
 * A flight recorder's snapshots: which are due and when, and that the newest one which
 * nobody asked for is read by `ccltap why`, so that what is wrong stands beside the
 * trace.
 */
#ifndef TAP_TOOLS_FLIGHT_H
#define TAP_TOOLS_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tap_recording;

struct tap_flight {
	unsigned snapshots;
	char last_reason[256];
	bool is_due, is_due_to_death;
	char due_reason[256];
	int64_t last_ms;
	/* What reads the last snapshot, 0: none; and whether a later one is to be read.
	 */
	pid_t why_pid;
	int why_fd; /* -1: none */
	bool why_is_due;
};

/*
 * Requests a snapshot; when one is already due, its reason stays, unless this is that a
 * rank died: that explains why others wait. Nothing happens where there is no flight
 * recorder.
 */
void tap_flight_want(struct tap_recording *recording, const char *reason, bool is_death);
/* When one that was requested may be taken, in ms of CLOCK_MONOTONIC. */
int64_t tap_flight_due_ms(const struct tap_recording *recording);
/* Takes the one that was requested, if it is time, and has it read. */
void tap_flight_take_due(struct tap_recording *recording);
/* Takes it whether or not it is time. */
void tap_flight_take_unasked(struct tap_recording *recording);

/* Takes a snapshot now. Returns 0 or LTTng's error. */
int tap_flight_take(struct tap_recording *recording, const char *reason);

/* The program that reads has ended: a later snapshot may be next. */
void tap_flight_end_why(struct tap_recording *recording, int status);

#endif
