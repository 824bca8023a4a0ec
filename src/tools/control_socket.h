/* SPDX-License-Identifier: MIT */
/*
 * How the processes of one recording speak to its supervisor: those that run a program
 * each, and the verbs that steer it from elsewhere.
 *
 * Hides the socket.  It is in the user's own directory of this host (user_folder.h),
 * named after the recording's directory: there can be but one that listens, and no other
 * user can reach it.  A file is left of it when its owner is killed, which the next one
 * replaces.
 */
#ifndef TAP_TOOLS_CONTROL_SOCKET_H
#define TAP_TOOLS_CONTROL_SOCKET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Another number means another version of ccltap, which is refused. */
#define TAP_LINK_VERSION 1

enum tap_link_verb {
	TAP_LINK_JOIN, /* a program is to be recorded; its pidfd comes with it */
	TAP_LINK_DONE, /* it has ended: code and status */
	TAP_LINK_STATUS,
	TAP_LINK_START,
	TAP_LINK_STOP,
	TAP_LINK_SNAPSHOT,
	TAP_LINK_ROTATE, /* what there is until now can be read */
	TAP_LINK_END,
};

struct tap_question {
	uint32_t version;
	uint32_t verb;
	int32_t pid, rank;    /* of the program; rank -1: not told */
	int32_t code, status; /* as waitid() tells */
	bool is_void;	      /* it could not be run: nothing is to be left of it */
	uint64_t job;	      /* tap_job.key */
};

/* Why a question is not answered as asked. */
enum tap_link_error {
	TAP_LINK_FINE,
	TAP_LINK_FAILED,  /* `text` says why; for a first JOIN the user knows already */
	TAP_LINK_REFUSED, /* a directory that is in the way; the user knows already */
	TAP_LINK_OTHER,	  /* it is another job's recording, or another version's */
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
	char path[PATH_MAX];	   /* where the trace is */
	/* On DONE: whether others are still recorded; if not, how it went. */
	bool is_going_on;
	bool was_ended; /* by `ccltap end` */
	bool has_hole;
	int32_t session_error; /* LTTng's */
	uint32_t snapshots;
	uint64_t discarded;
	uint64_t unrecorded; /* processes that could not be recorded */
	char why_unrecorded[256];
	/* Of the others: what was done, or what is. */
	char text[4096];
};

/* The name of the socket for the recording in directory `path`. */
#define TAP_LINK_PLACE_SIZE 17
void tap_link_place(const char *path, char ret_place[TAP_LINK_PLACE_SIZE]);

/*
 * Taken by whoever starts or ends this user's session daemon, so that nobody else does
 * meanwhile: a descriptor, to be closed. Waits; returns -errno when that takes too long.
 */
int tap_link_lock_daemon(void);

/* A socket that listens at a place, or -errno: -EADDRINUSE when somebody else does. */
int tap_link_listen(const char *place);
/* Ends that, and takes the name away. */
void tap_link_leave(const char *place, int listen_fd);
/* A socket to who listens, or -errno: -ECONNREFUSED when nobody does, -ETIMEDOUT when it
 * lets nobody in. */
int tap_link_connect(const char *place);
/* How long an answer may take on it, which is then -ETIMEDOUT; else it is waited for. */
void tap_link_set_patience(int link, unsigned seconds);
/* The next who connects, or -errno. */
int tap_link_accept(int listen_fd);

/* fd is passed on with the question unless it is -1.  Return 0 or -errno, -EPIPE when the
 * other side is gone. */
int tap_link_ask(int link, const struct tap_question *question, int fd);
int tap_link_answer(int link, const struct tap_answer *answer);
/* *ret_fd is what was passed on, to be closed, or -1. */
int tap_link_receive_question(int link, struct tap_question *ret_question, int *ret_fd);
int tap_link_receive_answer(int link, struct tap_answer *ret_answer);

/* Calls each for every place of this user's, also where nobody listens any more. */
void tap_link_each(void (*each)(const char *place, void *data), void *data);
/* Takes away the names of those that were killed. */
void tap_link_clean(void);

#endif
