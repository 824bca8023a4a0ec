/* SPDX-License-Identifier: MIT */
/*
 * The directory of a recording, DIR/<host>: made private, marked as ccltap's, and removed
 * again only as far as ccltap made it. Hides the marker, what LTTng puts beside it, and how
 * an older recording makes room: it becomes DIR.old/<host>.
 */
#ifndef TAP_TOOLS_RECORD_OUTPUT_H
#define TAP_TOOLS_RECORD_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/job.h"

/* The file that marks DIR/<host> as ccltap's. */
#define TAP_OUTPUT_MARKER "ccltap-recording"
/* What a flight recorder held when it was asked: this and a number. */
#define TAP_OUTPUT_LOOK "look-"
/* What is wrong with the program; written under the second name first. */
#define TAP_OUTPUT_WHY "why.txt"
#define TAP_OUTPUT_WHY_NEW "why.txt.new"

struct tap_output {
	/* As the user would name it, for messages; and the path for the daemon. */
	char *shown;
	char *absolute;
	/* It is a part of a recording that has other parts, which stay. */
	bool is_part;
	/* Open while the recording lasts; the lock on the marker shows that it does. */
	int base_fd;
	int marker_fd;
	const char *base;
	char *real; /* the path of base, without links */
	int made;   /* how many folders were made for it, itself and those above it */
	char host[256];
	char job_name[NAME_MAX]; /* value of CCLTAP_JOB for its programs */
	char *old;		 /* DIR.old, in which the older recording is; NULL: none */
};

/* What to do with a recording that is in the directory. */
enum tap_output_older {
	TAP_OUTPUT_MOVE_OLDER, /* to DIR.old, in place of what that has */
	TAP_OUTPUT_REPLACE_OLDER,
	TAP_OUTPUT_REFUSE_OLDER,
};

/*
 * realpath() of a path whose last parts may be missing; the caller frees it. The same for
 * the processes that come before the parts are made and for those that come after.
 */
char *tap_output_resolve(const char *path);

/*
 * Returns where DIR/<host> is or will be, for any name of DIR; the caller frees it. NULL
 * on failure, for which tap_output_make() gives the reason.
 */
char *tap_output_find(const char *base);

/* From here on messages to the user do not say to give another directory. */
void tap_output_choose_no_other(void);

/*
 * Makes DIR/<host> below `base`, with mode 0700, and marks it with the session's name.
 * Makes room for it as `older` says; always refuses a directory that holds anything else
 * than a recording, or a running one. If the recording is of the same job, has just ended, and had other ranks than `job->rank`, the rank is late:
 * it gets another part, and what the other ranks recorded stays. Follows no symbolic link
 * below `base`. `base` must outlive the structure. Returns 0, or -errno after a message
 * to the user.
 */
int tap_output_make(struct tap_output *output, const char *base,
		    enum tap_output_older older,
		    const char *session, const char *job_name, const struct tap_job *job);

/*
 * Record in the marker that a rank takes part, that the recording has ended, that chunks
 * were removed, and that a snapshot was taken and why.
 */
void tap_output_note_rank(struct tap_output *output, int rank);
void tap_output_note_end(struct tap_output *output);
void tap_output_note_removed(struct tap_output *output, unsigned chunks);
/* A process of the program could not be recorded. */
void tap_output_note_unrecorded(struct tap_output *output);
void tap_output_note_snapshot(struct tap_output *output, const char *reason);
/* It is sent to a folder of a relay daemon; and what was lost of it, in words. */
void tap_output_note_sent(struct tap_output *output, const char *relay,
			  const char *folder);
void tap_output_note_lost(struct tap_output *output, const char *lost);

/* What the marker says about the recording of a trace. */
struct tap_output_about {
	char job[NAME_MAX]; /* the job name that its processes report */
	unsigned removed;   /* chunks */
	unsigned unrecorded; /* processes */
	bool has_ended;	     /* the supervisor has completed it */
	/* Where else the trace is, as "HOST:PORT FOLDER", and what was lost; "" nothing.
	 */
	char sent[512], lost[256];
	dev_t device;	    /* the recording's directory */
	ino_t inode;
};

/*
 * Reads the marker in the directory of a trace or above it; false when there is no
 * recording.
 */
bool tap_output_describe(const char *trace, struct tap_output_about *ret_about);

/*
 * Reads the marker of a recording in a folder, or in the directories in it, that was sent
 * to a relay daemon; false when there is none.
 */
bool tap_output_find_sent(const char *folder, struct tap_output_about *ret_about);

/*
 * Whether a recording in DIR/<host> has not ended and a supervisor holds it, as far as
 * this host can see.
 */
bool tap_output_is_held(const char *path);

/*
 * The names of the complete chunks, the oldest first; the caller frees each and the
 * array.
 */
struct dirent;
int tap_output_chunks(const struct tap_output *output, struct dirent ***ret_names);
/* Bytes of a chunk, or with NULL of the whole directory. */
uint64_t tap_output_size(const struct tap_output *output, const char *chunk);
int tap_output_remove_chunk(const struct tap_output *output, const char *name);
void tap_output_remove_look(const struct tap_output *output, const char *name);

/*
 * Removes what tap_output_make() made, and what was recorded in it since; an older
 * recording returns to its place.
 */
void tap_output_discard(struct tap_output *output);

/*
 * Removes the directory that was made for this session if no process holds the lock of
 * its marker.
 */
void tap_output_discard_dead(const char *path, const char *session);

/* Releases the lock and frees what belongs to the structure. */
void tap_output_close(struct tap_output *output);

#endif
