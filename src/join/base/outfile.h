/* SPDX-License-Identifier: MIT */
/*
 * Where a view is written, and how its first lines, which are known last, come
 * first: into room kept in the file, or by way of a temporary file when the
 * output is a pipe or the room cannot be foretold.
 */
#ifndef TAP_JOIN_BASE_OUTFILE_H
#define TAP_JOIN_BASE_OUTFILE_H

#include "join/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tap_outfile {
	FILE *file;	 /* what the user asked for */
	FILE *body;	 /* where lines go now: file, or the temporary one */
	char *path;	 /* of a file made here, else NULL */
	char *buffer;	 /* of body, or NULL */
	long long start; /* of the room kept in file, bytes */
	size_t kept;	 /* bytes of room */
	/* Where the temporary file could not be written, if that is what failed, else NULL. */
	const char *failed_folder;
};

/*
 * Opens path, or standard output for "-".  A file that exists is replaced only
 * with overwrite.  Returns 0, -EEXIST, or another -errno.
 */
int tap_outfile_open(struct tap_outfile *output, const char *path, bool overwrite);

/*
 * Lines follow (without this call, none do); head bytes will be put before them by
 * tap_outfile_finish(). is_bound tells that head will not be exceeded.  Returns 0 or
 * -errno.
 */
int tap_outfile_begin(struct tap_outfile *output, size_t head, bool is_bound);

/* Whether somebody may read it while it is written: a terminal, or a pipe. */
bool tap_outfile_is_streamed(const struct tap_outfile *output);

/* The same as tap_outfile_begin(), but that the head comes behind the lines. */
void tap_outfile_begin_headless(struct tap_outfile *output);

/* Appends the buffer and empties it.  Returns 0 or -errno. */
int tap_outfile_write(struct tap_outfile *output, struct tap_buffer *buffer);

/*
 * Puts the head, which ends with a newline if there is one, before all that was written,
 * and completes the file.  Returns 0 or -errno.
 */
int tap_outfile_finish(struct tap_outfile *output, struct tap_buffer *head);

/* Closes; what tap_outfile_finish() did not complete is left as it is. */
void tap_outfile_close(struct tap_outfile *output);

#endif
