/* SPDX-License-Identifier: MIT */
/*
 * What a finished recording holds, for the closing line.  The trace is read back,
 * since only that shows that it can be read; hides libbabeltrace2.
 */
#ifndef TAP_TOOLS_RECORD_SUMMARY_H
#define TAP_TOOLS_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAP_SUMMARY_LAYERS 16
#define TAP_SUMMARY_TEXTS 8

/* Distinct texts; those beyond the room are only counted. */
struct tap_summary_texts {
	char *texts[TAP_SUMMARY_TEXTS];
	size_t count;
	size_t left_out;
};

struct tap_summary {
	/* What lies in the directory, read or not. */
	uint64_t bytes;
	/* Whether the events were read; else all that follows is 0. */
	bool was_read;
	uint64_t discarded;
	/* Processes of other jobs of the user, of which nothing else is told here. */
	size_t foreign_processes;
	/* Of this job alone, up to the end. */
	size_t processes;
	uint64_t events;
	/* A layer may be another job's alone, and have no events then. */
	struct {
		char name[32];
		uint64_t events;
	} layers[TAP_SUMMARY_LAYERS];
	size_t layer_count;
	struct tap_summary_texts attached;
	struct tap_summary_texts problems;
};

/*
 * Sums up what the processes of `job` left in the traces below `path`.  Above
 * `limit_bytes`, or once a signal that would end us is pending, the events are not read
 * and only the size is known.
 * Returns 0, or -errno: -ENOENT when there is no trace, -EIO when it cannot be read,
 * with what was read until then. The summary is to be freed in every case.
 */
int tap_summary_read(struct tap_summary *summary, const char *path, const char *job,
		     uint64_t limit_bytes);

void tap_summary_free(struct tap_summary *summary);

#endif
