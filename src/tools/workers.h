/* SPDX-License-Identifier: MIT */
/*
 * Pieces of work in processes of their own, some of them at a time. Hides that a signal
 * to this process ends all of them, that one which fails ends the others, and that what
 * they say on standard error comes in the order of the pieces, whichever is done first.
 */
#ifndef TAP_TOOLS_WORKERS_H
#define TAP_TOOLS_WORKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The status of a piece that had nothing to do: it does not end the others. */
#define TAP_WORKERS_NOTHING 77

struct tap_workers {
	size_t count;
	unsigned int processes; /* at a time */
	/* Of one piece, in its process; returns an exit status, or minus a signal. */
	int (*run)(size_t number, void *data);
	/* Its name, for messages. */
	const char *(*name)(size_t number, void *data);
	/* How much of how much is done, in all. */
	void (*progress)(void *data, uint64_t *done, uint64_t *all);
	bool shows_percent;
	void *data;
};

/*
 * Runs all pieces. Returns 0, the exit status of one that failed, after its message, or
 * minus the signal that ended this process's wait; TAP_WORKERS_NOTHING if all said so.
 */
int tap_workers_run(const struct tap_workers *workers);

#endif
