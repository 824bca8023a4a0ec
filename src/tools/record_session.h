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
 * Sets what is called, in a signal handler, when the daemon leaves a request without
 * an answer for half a minute. It must not return.
 */
void tap_session_set_watchdog(void (*expired)(int signal_number));

/* Whether a session daemon lets us in. */
bool tap_session_is_reached(void);

/*
 * Starts a session daemon unless one answers.  An ordinary user's is told to live in a
 * directory of this host, in LTTNG_HOME, for a home may be shared by several; then
 * *ret_home is that directory, to be told to whoever is to be traced, and else "".
 * Returns 0, or -errno once it has told the user why.
 */
int tap_session_start_daemon(char *ret_home, size_t size);

/* The daemon's process, 0 when it is not known. */
pid_t tap_session_daemon_pid(void);

/* The same if ccltap started it, else 0. */
pid_t tap_session_own_daemon(void);

/* What asks LTTng for CTF 1.8; NULL where it does not know another format. */
void *tap_session_format_function(void);

/* Ends the daemon if ccltap started it and it has no session any more. */
void tap_session_end_daemon(void);

/* Layers that may be left out; what the tracer says of itself never is. */
#define TAP_SESSION_LAYERS(X) X(nccl) X(nvtx) X(verbs) X(cuda) X(gpu)
#define TAP_SESSION_LAYER(name) TAP_LAYER_##name,
enum tap_session_layer { TAP_SESSION_LAYERS(TAP_SESSION_LAYER) TAP_NR_LAYERS };
#undef TAP_SESSION_LAYER

/*
 * Ends what a daemon that ccltap started has left when it was killed: its consumer may
 * wait for it for ever; and a daemon whose starter was killed before it could be reached.
 * To be called with the lock of tap_link_lock_daemon().
 */
void tap_session_end_orphans(void);

struct tap_session_plan {
	struct tap_buffers buffers;
	bool is_flight;	 /* kept in memory, the newest in place of the oldest */
	bool is_paused;	 /* made, but not started */
	unsigned layers; /* a bit for each tap_session_layer */
};

/*
 * Makes and starts session `name`, which writes to the absolute path `path`.  Where
 * that fails no session is left. Returns 0 or an error.
 */
int tap_session_begin(const char *name, const char *path,
		      const struct tap_session_plan *plan);

/* Return 0 or an error; it is none that the session is in that state already. */
int tap_session_start(const char *name);
int tap_session_stop(const char *name);

/*
 * Every process has written the state of what lives once this returns 0.
 */
int tap_session_regenerate_statedump(const char *name);

/* Writes what a flight recorder holds into a directory of its own below its path. */
int tap_session_snapshot(const char *name);

/*
 * What was recorded until now is complete below archives/ once this returns 0, and
 * begins anew elsewhere.
 */
int tap_session_rotate(const char *name);

/* Events that found no room in the buffers so far. */
uint64_t tap_session_discarded(const char *name);

/*
 * Stops the session, waits until all of its data is written, and destroys it.
 * *ret_discarded is the number of events that found no room in the buffers, as far
 * as the daemon could tell; *ret_has_hole says that a process was killed while it wrote
 * one, and what came after that in the same buffer may be lost. Returns 0, or the first error, after which no more than
 * the rest is tried.
 */
int tap_session_end(const char *name, uint64_t *ret_discarded, bool *ret_has_hole);

/* When a session was made, in seconds since the epoch; 0 where LTTng does not tell. */
uint64_t tap_session_made(const char *name);

/*
 * Destroys a session that nobody looks after any more, if it is the one that was made
 * then.  With 0, which means that its owner was killed as it made it, the name has to tell.
 */
void tap_session_end_dead(const char *name, uint64_t made);

const char *tap_session_error(int error);

#endif
