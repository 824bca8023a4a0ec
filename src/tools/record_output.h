/* SPDX-License-Identifier: MIT */
/*
 * The directory of a recording, DIR/<host>: made private, marked as ours, and removed
 * again only as far as it is ours.  Hides the marker and what LTTng puts beside it.
 */
#ifndef TAP_TOOLS_RECORD_OUTPUT_H
#define TAP_TOOLS_RECORD_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tools/job.h"

struct tap_output {
	/* As the user would name it, for messages; and what a daemon must be told. */
	char *shown;
	char *absolute;
	/* Whether it is a part of a recording that has others, which stay. */
	bool is_part;
	/* Open while the recording lasts; the lock on the marker says that it does. */
	int base_fd;
	int marker_fd;
	const char *base;
	char host[256];
	char job_name[NAME_MAX]; /* what CCLTAP_JOB is to be for its programs */
	bool made_base;
};

/*
 * Where DIR/<host> is or will be, to be freed, whatever DIR is called; NULL when that
 * cannot be told, of which tap_output_make() says more.
 */
char *tap_output_find(const char *base);

/*
 * Makes DIR/<host> below `base`, with mode 0700, and marks it with the session's name.
 * Where a recording is there already it is refused, or with `overwrite` removed; what
 * is not wholly a recording of ours, or is one that still goes on, is always refused.
 * One of the same job that has just ended, and that had other ranks than `job->rank`, gets
 * another part: that rank is late, and what the others left is not its to remove.
 * No symbolic link is followed below `base`. `base` must outlive the structure.
 * Returns 0, or -errno once it has told the user why.
 */
int tap_output_make(struct tap_output *output, const char *base, bool overwrite,
		    const char *session, const char *job_name, const struct tap_job *job);

/*
 * Writes down that a rank takes part, that the recording has ended, that chunks were
 * removed, that a snapshot was taken and why.
 */
void tap_output_note_rank(struct tap_output *output, int rank);
void tap_output_note_end(struct tap_output *output);
void tap_output_note_removed(struct tap_output *output, unsigned chunks);
void tap_output_note_snapshot(struct tap_output *output, const char *reason);

/* What is written down of the recording that a trace belongs to. */
struct tap_output_about {
	char job[NAME_MAX]; /* the name that its processes say they are of */
	unsigned removed;   /* chunks */
	dev_t device;	    /* the recording's directory */
	ino_t inode;
};

/* Looks at the directory of a trace and those above it; false where none is a recording. */
bool tap_output_describe(const char *trace, struct tap_output_about *ret_about);

/* The names of the chunks that are complete, the oldest first; frees them too. */
struct dirent;
int tap_output_chunks(const struct tap_output *output, struct dirent ***ret_names);
/* Bytes of one, or with NULL of all that is there. */
uint64_t tap_output_size(const struct tap_output *output, const char *chunk);
int tap_output_remove_chunk(const struct tap_output *output, const char *name);

/* Takes back what tap_output_make() made, and what was recorded in it since. */
void tap_output_discard(struct tap_output *output);

/*
 * Removes the directory that was made for this session, if nobody holds the lock of its
 * marker any more.
 */
void tap_output_discard_dead(const char *path, const char *session);

/* Ends the lock and frees what belongs to the structure. */
void tap_output_close(struct tap_output *output);

#endif
