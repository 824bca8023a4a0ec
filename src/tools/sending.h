/* SPDX-License-Identifier: MIT */
/*
 * A recording that is sent to a relay daemon: in which folder it is there, and what is
 * lost when the daemon goes away. LTTng never connects a session again, so what comes
 * after the daemon's return is another session, which writes to a folder again-N beside
 * the first part.
 *
 * Hides the times, and the connection by which ccltap notices that the daemon is gone.
 */
#ifndef TAP_TOOLS_SENDING_H
#define TAP_TOOLS_SENDING_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "tools/relayd.h"

/* All zero: the recording is not sent. */
struct tap_sending {
	const struct tap_relayd *relayd; /* NULL: not sent */
	char folder[PATH_MAX];		 /* below that of the host */
	char number[TAP_RELAYD_NUMBER_SIZE];
	int fd;		/* -1: the daemon is gone */
	unsigned parts; /* how many sessions there were */
	unsigned losses;
	time_t first_lost, last_back;
	int64_t gone_ms, lost_ms, next_try_ms;
	unsigned unsent; /* snapshots */
};

/*
 * Connects to the daemon, for a recording that is in the folder NAME/SESSION there, NAME
 * being the last part of `path`'s folder, DIR/<host>. Returns 0, or -errno after a
 * message.
 */
int tap_sending_open(struct tap_sending *sending, const struct tap_relayd *relayd,
		     const char *path, const char *session);

/* The URL for the next session, which the caller frees; NULL: out of memory. */
char *tap_sending_url(const struct tap_sending *sending);
/* That session was begun. */
void tap_sending_begun(struct tap_sending *sending);

/* The daemon is gone. */
void tap_sending_lose(struct tap_sending *sending);
bool tap_sending_is_lost(const struct tap_sending *sending);
/* Of a lost one: when to look for the daemon, in ms of CLOCK_MONOTONIC. */
int64_t tap_sending_due_ms(const struct tap_sending *sending);
/* Looks for it; true: it answers, and the next session can be begun. */
bool tap_sending_retry(struct tap_sending *sending);
/* That session was begun; or was not, and the daemon is lost as before. */
void tap_sending_resume(struct tap_sending *sending, bool was_begun);

/* What was lost, in words; "" for nothing. */
void tap_sending_describe(const struct tap_sending *sending, char *ret_text, size_t size);

void tap_sending_close(struct tap_sending *sending);

/* The name of the folder with what came after a return of the daemon: this and a number.
 */
#define TAP_SENDING_AGAIN "again-"

#endif
