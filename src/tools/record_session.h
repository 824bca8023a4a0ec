/* SPDX-License-Identifier: MIT */
/*
 * The LTTng session of one recording.  Hides liblttng-ctl: the daemon and its start,
 * channels, events, contexts, and what its calls do when the daemon is gone or hung.
 *
 * Errors are LTTng's negative numbers, which tap_session_error() puts in words.
 */
#ifndef TAP_TOOLS_RECORD_SESSION_H
#define TAP_TOOLS_RECORD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/record_buffers.h"

/*
 * Sets the function that is called, in a signal handler, when the daemon does not answer
 * a request for half a minute. It returns only if it has ended the daemon, or given the
 * request up.
 */
void tap_session_set_watchdog(void (*expired)(int signal_number));

/*
 * For that function: the request fails, and each after it does after a second at most,
 * until the daemon is trusted again.
 */
void tap_session_give_up(void);
bool tap_session_is_hung(void);
void tap_session_trust(void);

/* Sets how long that is; 0: half a minute. */
void tap_session_set_patience(unsigned seconds);

/* Whether a session daemon lets this process in; one that hangs does. */
bool tap_session_is_reached(void);
/* Whether it answers. */
bool tap_session_answers(void);

/*
 * Starts a session daemon unless one answers. An ordinary user's daemon gets a directory
 * of this host in LTTNG_HOME, since several hosts may share a home; then *ret_home is
 * that directory, which traced programs need too, and else "". Returns 0, or -errno after
 * a message to the user, which has what follows from that: ", and ...", or "".
 */
int tap_session_start_daemon(const char *what_follows, char *ret_home, size_t size);

/*
 * The same choice of a directory, for programs that may be recorded later: a daemon that
 * is started then has it. Returns 0, or -errno after a message to the user.
 */
int tap_session_choose_home(char *ret_home, size_t size);

/* Why none could be started here; returns what mends that, NULL where nothing is known. */
const char *tap_session_daemon_obstacle(char *ret_why, size_t size);

/*
 * The daemon's process, 0 when it is not known: it is not seen from another process
 * namespace.
 */
pid_t tap_session_daemon_pid(void);

/* The daemon's process if ccltap started it, else 0. */
pid_t tap_session_own_daemon(void);

/* LTTng's function that requests CTF 1.8; NULL where LTTng knows no other format. */
void *tap_session_format_function(void);

/* Ends the daemon if ccltap started it and no session is left in it. */
void tap_session_end_daemon(void);

/* Layers that may be left out; the tracer's own events (tap) are always recorded. */
#define TAP_SESSION_LAYERS(X) X(nccl) X(nvtx) X(verbs) X(net) X(cuda) X(gpu)
#define TAP_SESSION_LAYER(name) TAP_LAYER_##name,
enum tap_session_layer { TAP_SESSION_LAYERS(TAP_SESSION_LAYER) TAP_NR_LAYERS };
#undef TAP_SESSION_LAYER

/*
 * Ends what is left of a daemon that ccltap started and that was killed: its consumer,
 * which may wait for it for ever; and a daemon whose starter was killed before the daemon
 * could be reached. The caller holds the lock of tap_link_lock_daemon().
 */
void tap_session_end_orphans(void);

struct tap_session_plan {
	struct tap_buffers buffers;
	bool is_flight;	 /* a ring buffer in memory that keeps the newest events */
	bool is_paused;	 /* made, but not started */
	bool is_sent;	 /* to a relay daemon, once a second */
	unsigned layers; /* a bit for each tap_session_layer */
};

/*
 * Makes and starts session `name`, which writes to `to`: an absolute path, or the URL of
 * a folder of a relay daemon. Leaves no session on failure. Returns 0 or an error.
 */
int tap_session_begin(const char *name, const char *to,
		      const struct tap_session_plan *plan);

/* Return 0 or an error; a session that is in that state already is no error. */
int tap_session_start(const char *name);
int tap_session_stop(const char *name);

/* Has every process write its state dump; on return of 0 all of them have. */
int tap_session_regenerate_statedump(const char *name);

/* Writes what a flight recorder holds into a new directory below its path. */
int tap_session_snapshot(const char *name);

/* The same into a new directory below another path, which is absolute. */
int tap_session_look(const char *name, const char *path);

/*
 * On return of 0, what was recorded until now is complete below archives/, and LTTng
 * writes to a new chunk.
 */
int tap_session_rotate(const char *name);

/* Number of events discarded so far because the buffers were full. */
uint64_t tap_session_discarded(const char *name);

/*
 * Stops the session, waits until all of its data is written, and destroys it.
 * *ret_discarded is the number of events discarded because the buffers were full, as far
 * as the daemon knows; *ret_has_hole tells that a process was killed while it wrote an
 * event, so that later events in the same buffer may be lost. Returns 0, or the first
 * error; after an error it still tries the remaining steps.
 */
int tap_session_end(const char *name, uint64_t *ret_discarded, bool *ret_has_hole);

/* When a session was made, in seconds since the epoch; 0 where LTTng does not tell. */
uint64_t tap_session_made(const char *name);

/*
 * Destroys a session without a supervisor if it is the one that was made at that time.
 * made is 0 if its owner was killed while it made the session; then the name alone
 * identifies it.
 */
void tap_session_end_dead(const char *name, uint64_t made);

const char *tap_session_error(int error);

#endif
