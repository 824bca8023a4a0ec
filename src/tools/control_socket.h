/* SPDX-License-Identifier: MIT */
/*
 * How the other processes of a recording talk to its supervisor: the recorders, which run
 * a program each, and the verbs that control the recording from elsewhere.
 *
 * Hides the socket. It lies in the user's own directory on this host (user_folder.h) and
 * is named after the recording's directory: only one process can listen there, and no
 * other user can reach it. When the owner is killed, the socket's file stays; the next
 * owner replaces it.
 */
#ifndef TAP_TOOLS_CONTROL_SOCKET_H
#define TAP_TOOLS_CONTROL_SOCKET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Another number means another version of ccltap, which is refused. */
#define TAP_LINK_VERSION 4

enum tap_link_verb {
	TAP_LINK_JOIN, /* record a program; its pidfd is passed along */
	TAP_LINK_DONE, /* the program has ended: code and status */
	TAP_LINK_STATUS,
	TAP_LINK_START,
	TAP_LINK_STOP,
	TAP_LINK_SNAPSHOT,
	TAP_LINK_ROTATE, /* make what was recorded until now readable */
	TAP_LINK_END,
	/*
	 * ROTATE, and have a flight recorder write what it holds into a folder of its
	 * own, which `text` then names. The folder is the asker's, and is removed when
	 * the asker is gone.
	 */
	TAP_LINK_LOOK,
	/*
	 * The counters of now as Prometheus' text, in a file without a name that is
	 * passed along; `text` is when they were read, in ms of CLOCK_MONOTONIC.
	 */
	TAP_LINK_METRICS,
};

struct tap_question {
	uint32_t version;
	uint32_t verb;
	int32_t pid, rank;    /* of the program; rank -1: not known */
	int32_t code, status; /* of waitid() */
	bool is_void;	      /* the program could not be run: leave no recording */
	uint64_t job;	      /* tap_job.key */
};

/* Why the supervisor does not do what a question asks. */
enum tap_link_error {
	TAP_LINK_FINE,
	TAP_LINK_FAILED,  /* `text` says why; for the first JOIN, the user knows */
	TAP_LINK_REFUSED, /* the directory is taken; the user knows */
	TAP_LINK_OTHER,	  /* the recording is another job's or another version's */
	TAP_LINK_HUNG,	  /* LTTng's session daemon does not answer */
};

struct tap_answer {
	uint32_t version;
	uint32_t error;
	/* On JOIN. */
	char session[NAME_MAX];
	char job[NAME_MAX];
	char recorder[NAME_MAX];   /* for CCLTAP_RECORDER */
	char lttng_home[NAME_MAX]; /* for LTTNG_HOME, "" as it is */
	char path[PATH_MAX];	   /* of the trace, or of what is here about it */
	char folder[PATH_MAX];	   /* that `ccltap start` records into, "" none */
	/* Of a relay daemon that the trace is sent to, and its folder there; "" none. */
	char relay[280], relay_folder[PATH_MAX + 256];
	char metrics[PATH_MAX]; /* the file of --metrics, "" none */
	bool is_metrics_alone;	/* nothing is recorded */
	/* On DONE: whether other programs are still recorded; if not, the outcome. */
	bool is_going_on;
	bool was_ended; /* by `ccltap end` */
	bool has_hole;
	int32_t session_error; /* LTTng's */
	uint32_t snapshots;
	uint64_t discarded;
	uint64_t unrecorded; /* processes that could not be recorded */
	char why_unrecorded[256];
	char lost[256];	 /* since the relay daemon was gone, in words */
	uint32_t unsent; /* snapshots */
	uint32_t metrics_processes; /* that were counted */
	int32_t metrics_error;	    /* why the file was not written the last time, 0 */
	/* For all other verbs: what was done, or the status. */
	char text[4096];
};

/* The name of the socket for the recording in directory `path`. */
#define TAP_LINK_PLACE_SIZE 17
void tap_link_place(const char *path, char ret_place[TAP_LINK_PLACE_SIZE]);

/*
 * Takes the lock under which a process starts or ends this user's session daemon. Waits;
 * returns a descriptor, which the caller closes to release the lock, or -errno when the
 * wait takes too long.
 */
int tap_link_lock_daemon(void);

/*
 * Returns a socket that listens at a place, or -errno: -EADDRINUSE when another process
 * listens there.
 */
int tap_link_listen(const char *place);
/* Closes the socket and removes its name. */
void tap_link_leave(const char *place, int listen_fd);
/*
 * Returns a socket that is connected to the listener, or -errno: -ECONNREFUSED when
 * nobody listens, -ETIMEDOUT when the listener does not accept.
 */
int tap_link_connect(const char *place);
/*
 * Limits how long a receive waits for an answer before it returns -ETIMEDOUT; without
 * this call it waits for ever.
 */
void tap_link_set_patience(int link, unsigned seconds);
/* Returns the next connection, or -errno. */
int tap_link_accept(int listen_fd);

/*
 * fd is passed along with the question unless it is -1. Both return 0 or -errno, -EPIPE
 * when the peer is gone.
 */
int tap_link_ask(int link, const struct tap_question *question, int fd);
int tap_link_answer(int link, const struct tap_answer *answer);
/* The same with a descriptor that is passed along; -1: none. */
int tap_link_answer_with(int link, const struct tap_answer *answer, int fd);
/* *ret_fd is the descriptor that was passed along, which the caller closes, or -1. */
int tap_link_receive_question(int link, struct tap_question *ret_question, int *ret_fd);
int tap_link_receive_answer(int link, struct tap_answer *ret_answer);

/*
 * Asks the listener at a place for one thing, over a connection of its own, and waits so
 * long for the answer.  Returns 0, or -errno as the functions above do.  *ret_fd is the
 * descriptor that came along, which the caller closes, or -1; NULL: none is wanted.
 */
int tap_link_request(const char *place, enum tap_link_verb verb,
		     unsigned patience_seconds, struct tap_answer *ret_answer,
		     int *ret_fd);

/*
 * The same for an asker who has something else to do meanwhile: `await` waits so long
 * until the link can be read, and returns 0, or the -errno for which nobody wants the
 * answer any more.
 */
int tap_link_request_awaiting(const char *place, enum tap_link_verb verb,
			      unsigned patience_seconds,
			      int (*await)(int link, unsigned seconds),
			      struct tap_answer *ret_answer, int *ret_fd);

/*
 * Whether a user means this recording: by the session's name, by the file of metrics, or
 * by a folder that it is in or below, or will be; `real` is what tap_output_resolve()
 * makes of the name, which may be NULL.
 */
bool tap_link_is_named(const struct tap_answer *answer, const char *name,
		       const char *real);

/* Calls each for every place of this user, including those without a listener. */
void tap_link_each(void (*each)(const char *place, void *data), void *data);
/* Removes the names whose owners were killed. */
void tap_link_clean(void);

#endif
