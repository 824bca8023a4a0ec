/* SPDX-License-Identifier: MIT */
/*
 * What processes say that a trace cannot: that they could not be recorded, and that now is
 * the time for a snapshot.
 *
 * Hides the socket, its name in the variable CCLTAP_RECORDER, and that whoever sends may be
 * anybody on this host: what is read is short, bounded, and shown with care.
 */
#ifndef TAP_TOOLS_RECORD_NOTES_H
#define TAP_TOOLS_RECORD_NOTES_H

#include <stdbool.h>
#include <stddef.h>

struct tap_notes {
	int fd;	       /* -1: there is no socket, and nobody can say anything */
	char *address; /* for CCLTAP_RECORDER, NULL where there is none */
	/* Of what was kept: how often, and the first. */
	size_t count;
	char first[256];
};

/* Listens under a name that begins with `session`.  What fails leaves notes empty. */
void tap_notes_open(struct tap_notes *notes, const char *session);

/*
 * The next that was said, as visible text, and whether a process of the same user said it;
 * false when there is none.
 */
bool tap_notes_next(const struct tap_notes *notes, char *ret_text, size_t size,
		    bool *ret_own);
/* Counts one. */
void tap_notes_keep(struct tap_notes *notes, const char *text);

void tap_notes_close(struct tap_notes *notes);

#endif
