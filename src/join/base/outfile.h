/* SPDX-License-Identifier: MIT */
/*
 * The file that a view writes.
 *
 * Hides how the head, whose content is known last, comes first: the file keeps room for
 * it, or the lines go through a temporary file when the output is a pipe or the size of
 * the head cannot be foretold.
 */
#ifndef TAP_JOIN_BASE_OUTFILE_H
#define TAP_JOIN_BASE_OUTFILE_H

#include "join/base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tap_outfile {
	FILE *file;	 /* the output that the user asked for */
	FILE *body;	 /* where lines go now: file, or the temporary one */
	char *path;	 /* of a file created here, else NULL */
	char *buffer;	 /* of body, or NULL */
	long long start; /* of the room kept in file, bytes */
	size_t kept;	 /* bytes of room */
	struct gzFile_s *gzip; /* where lines go instead, or NULL */
	/* The folder in which the temporary file could not be written, or NULL. */
	const char *failed_folder;
};

/*
 * Opens path, or standard output for "-".  Replaces an existing file only with overwrite.
 * Returns 0, -EEXIST, or another -errno.
 */
int tap_outfile_open(struct tap_outfile *output, const char *path, bool overwrite);

/*
 * Begins the lines; nothing is written without this call.  tap_outfile_finish() will put
 * head bytes before them; with is_bound, never more.  Returns 0 or -errno.
 */
int tap_outfile_begin(struct tap_outfile *output, size_t head, bool is_bound);

/*
 * Whether somebody may read the output while it is written: it is a terminal or a pipe.
 */
bool tap_outfile_is_streamed(const struct tap_outfile *output);

/* Begins the lines like tap_outfile_begin(), but the head comes behind them. */
void tap_outfile_begin_headless(struct tap_outfile *output);

/* Likewise, and compresses the file.  Returns 0 or -errno. */
int tap_outfile_begin_gzip(struct tap_outfile *output);

/* Appends the buffer and empties it.  Returns 0 or -errno. */
int tap_outfile_write(struct tap_outfile *output, struct tap_buffer *buffer);

/*
 * Puts the head before the lines, and completes the file.  The head is empty or ends with
 * a newline.  Returns 0 or -errno.
 */
int tap_outfile_finish(struct tap_outfile *output, struct tap_buffer *head);

/* Closes the file; one that tap_outfile_finish() did not complete stays as it is. */
void tap_outfile_close(struct tap_outfile *output);

#endif
