/* SPDX-License-Identifier: MIT */
/*
 * What a finished recording holds, for the closing line. ccltap reads the trace back,
 * since only that shows that it can be read. Hides libbabeltrace2.
 */
#ifndef TAP_TOOLS_RECORD_SUMMARY_H
#define TAP_TOOLS_RECORD_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TAP_SUMMARY_LAYERS 16
#define TAP_SUMMARY_TEXTS 8

/* Distinct texts; those that do not fit are only counted. */
struct tap_summary_texts {
	char *texts[TAP_SUMMARY_TEXTS];
	size_t count;
	size_t left_out;
};

struct tap_summary {
	/* Size of the directory, whether its events were read or not. */
	uint64_t bytes;
	/* Whether the events were read; else all that follows is 0. */
	bool was_read;
	uint64_t discarded;
	/* Processes of the user's other jobs, which are only counted. */
	size_t foreign_processes;
	/* Of this job alone, up to the end of the structure. */
	size_t processes;
	uint64_t events;
	/* A layer with no events is another job's alone. */
	struct {
		char name[32];
		uint64_t events;
	} layers[TAP_SUMMARY_LAYERS];
	size_t layer_count;
	struct tap_summary_texts attached;
	struct tap_summary_texts problems;
};

/*
 * Sums up the events of the processes of `job` in the traces below `path`. If these are
 * larger than `limit_bytes`, or once a signal is pending that would end ccltap, only the
 * size is known. Returns 0, or -errno: -ENOENT when there is no trace, -EIO when a trace
 * cannot be read, with the counts up to there. The caller frees the summary in every
 * case.
 */
int tap_summary_read(struct tap_summary *summary, const char *path, const char *job,
		     uint64_t limit_bytes);

/* Whether a signal is pending that would end ccltap: nothing more is worth a delay. */
bool tap_summary_must_end(void);

void tap_summary_free(struct tap_summary *summary);

#endif
