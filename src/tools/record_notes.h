/* SPDX-License-Identifier: MIT */
/*
 * Notes from traced processes that cannot be in a trace: that a process could not be
 * recorded, and that a snapshot is due.
 *
 * Hides the socket, its name in the variable CCLTAP_RECORDER, and that any process on
 * this host may send to it: a valid note begins with a token that only the recorded
 * processes know, from their environment. Notes are short, bounded, and cleaned before
 * they are shown.
 */
#ifndef TAP_TOOLS_RECORD_NOTES_H
#define TAP_TOOLS_RECORD_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#define TAP_NOTES_TOKEN_SIZE 33

struct tap_notes {
	int fd;	       /* -1: there is no socket, and no note can arrive */
	char *address; /* for CCLTAP_RECORDER, NULL where there is none */
	char token[TAP_NOTES_TOKEN_SIZE];
	/* How many notes were kept, and the first. */
	size_t count;
	char first[256];
};

/* Opens the socket. On failure notes stays empty. */
void tap_notes_open(struct tap_notes *notes);

/*
 * Fills in the next note of a recorded process, as visible text, and whether the same
 * user or root runs that process; false when there is none. *ret_fd is the descriptor that
 * came with it, which the caller closes, or -1.
 */
bool tap_notes_next(const struct tap_notes *notes, char *ret_text, size_t size,
		    bool *ret_own, int *ret_fd);
void tap_notes_keep(struct tap_notes *notes, const char *text);

void tap_notes_close(struct tap_notes *notes);

#endif
