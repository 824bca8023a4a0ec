/* SPDX-License-Identifier: MIT */
/*
 * What is left of a recording whose supervisor was killed: an LTTng session, perhaps the
 * daemon that was started for it, a socket. The next recording or `ccltap end` removes
 * it.
 *
 * Hides how ccltap knows that these belong to a dead recording: each recording has a note
 * in the user's own directory (user_folder.h), locked by its supervisor as long as that
 * lives, and the time at which the session was made distinguishes it from a later one of
 * the same name.
 *
 * The caller of any function but tap_remains_forget() holds the lock of
 * tap_link_lock_daemon().
 */
#ifndef TAP_TOOLS_REMAINS_H
#define TAP_TOOLS_REMAINS_H

#include <stdbool.h>

/*
 * Writes the note, before the session and its directory `path`, which may be NULL, are
 * made. Returns a descriptor, which the caller keeps open, or -errno.
 */
int tap_remains_note(const char *session, const char *path);
/* Once the session is made; and once a program is about to run. */
void tap_remains_note_made(int note_fd, const char *session);
void tap_remains_note_joined(int note_fd);
/* For a supervisor whose recording has ended. */
void tap_remains_forget(int note_fd, const char *session);

/*
 * A session daemon that ccltap started and that no recording of this user needs may be
 * ended if it does not answer: doom returns whether LTTng's daemon is such a one.
 * tap_remains_clean() does so by itself.
 */
bool tap_remains_doom_daemon(void);
void tap_remains_spare_daemon(void);

/*
 * For a watchdog, possibly in a signal handler: ends the doomed daemon, so that requests
 * to it return. False: there is none.
 */
bool tap_remains_end_hung(void);

/*
 * Ends the sessions of dead recordings, and removes the directory of one in which no
 * program ran; ends daemons that ccltap started and that have no session, and the remains
 * of such a daemon that was killed. Calls `ended`, which may be NULL, for each recording.
 */
void tap_remains_clean(void (*ended)(const char *session));

#endif
