/* SPDX-License-Identifier: MIT */
/*
 * What a recording leaves whose supervisor was killed: a session of LTTng's, perhaps the
 * daemon that was started for it, a socket.  The next recording takes them away, or
 * `ccltap end`.
 *
 * Hides how it is known that they are a dead recording's and nobody else's: each has a
 * note in the user's own directory (user_folder.h), locked by its supervisor for as long
 * as that lives, and the session in it is told from a later one of the same name by the
 * time at which it was made.
 *
 * All but tap_remains_forget() are to be called with the lock of tap_link_lock_daemon().
 */
#ifndef TAP_TOOLS_REMAINS_H
#define TAP_TOOLS_REMAINS_H

#include <stdbool.h>

/*
 * Before a session is made, or the directory that it goes to, which may be NULL: a
 * descriptor, to be kept open, or -errno.
 */
int tap_remains_note(const char *session, const char *path);
/* Once it is made; and once a program is about to run. */
void tap_remains_note_made(int note_fd, const char *session);
void tap_remains_note_joined(int note_fd);
/* When it has ended, by its own supervisor. */
void tap_remains_forget(int note_fd, const char *session);

/*
 * A session daemon that ccltap started, and that no recording of this user's needs, may be
 * ended if it does not answer: this looks whether LTTng's is one.  tap_remains_clean() does
 * so by itself.
 */
void tap_remains_doom_daemon(void);
void tap_remains_spare_daemon(void);

/*
 * For a watchdog, which may be a signal's handler: ends it, so that what was asked of it
 * returns.  False: there is none.
 */
bool tap_remains_end_hung(void);

/*
 * Ends the sessions of dead recordings, and removes the directory of one in which no
 * program ever ran; ends daemons that ccltap started and that have none, and what such a
 * daemon has left that was killed. Calls `ended`, which may be NULL, for each recording.
 */
void tap_remains_clean(void (*ended)(const char *session));

#endif
