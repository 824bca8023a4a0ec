/* SPDX-License-Identifier: MIT */
/*
 * What processes say that could not be recorded: a trace cannot.
 *
 * Hides the socket, its name in the variable CCLTAP_RECORDER, and that whoever sends may be
 * anybody on this host: what is read is short, bounded, and shown with care.
 */
#ifndef TAP_TOOLS_RECORD_NOTES_H
#define TAP_TOOLS_RECORD_NOTES_H

#include <stddef.h>

struct tap_notes {
	int fd;	       /* -1: there is no socket, and nobody can say anything */
	char *address; /* for CCLTAP_RECORDER, NULL where there is none */
};

/* Listens under a name that begins with `session`.  What fails leaves notes empty. */
void tap_notes_open(struct tap_notes *notes, const char *session);

/* Reads what was said: how often, and the first as visible text, to be freed, or NULL. */
size_t tap_notes_read(const struct tap_notes *notes, char **ret_first);

void tap_notes_close(struct tap_notes *notes);

#endif
