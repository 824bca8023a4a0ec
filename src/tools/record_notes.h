/* SPDX-License-Identifier: MIT */
/*
 * What processes say that a trace cannot: that they could not be recorded, and that now
 * is the time for a snapshot.
 *
 * Hides the socket, its name in the variable CCLTAP_RECORDER, and that anybody on this
 * host may send to it: what counts begins with a token that only the recorded processes
 * know, from their environment.  What is read is short, bounded, and shown with care.
 */
#ifndef TAP_TOOLS_RECORD_NOTES_H
#define TAP_TOOLS_RECORD_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#define TAP_NOTES_TOKEN_SIZE 33

struct tap_notes {
	int fd;	       /* -1: there is no socket, and nobody can say anything */
	char *address; /* for CCLTAP_RECORDER, NULL where there is none */
	char token[TAP_NOTES_TOKEN_SIZE];
	/* Of what was kept: how often, and the first. */
	size_t count;
	char first[256];
};

/* Listens.  What fails leaves notes empty. */
void tap_notes_open(struct tap_notes *notes);

/*
 * The next that a recorded process said, as visible text, and whether the same user runs
 * it, or root; false when there is none.
 */
bool tap_notes_next(const struct tap_notes *notes, char *ret_text, size_t size,
		    bool *ret_own);
/* Counts one. */
void tap_notes_keep(struct tap_notes *notes, const char *text);

void tap_notes_close(struct tap_notes *notes);

#endif
