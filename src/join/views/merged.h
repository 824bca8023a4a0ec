/* SPDX-License-Identifier: MIT */
/*
 * Traces of PyTorch's profiler (Kineto) of the same run, merged into a trace in the Trace
 * Event Format: on the clock of the reading, below the processes of their ranks.
 *
 * Hides that a file is read twice, so that what is wrong with it is known before anything
 * is written; how its times and its rank are known; and that its numbers of processes,
 * threads and arrows mean something in that file alone.
 */
#ifndef TAP_JOIN_VIEWS_MERGED_H
#define TAP_JOIN_VIEWS_MERGED_H

#include "join/views/event_file.h"
#include "join/views/perfetto_track.h"

struct tap_merged_process;
struct tap_merged_track;

/* How it is known of which process a file is. */
enum tap_merged_how {
	TAP_MERGED_UNKNOWN, /* the file has no rank, and no process has its number */
	TAP_MERGED_ABSENT,  /* its rank is not in the recording */
	TAP_MERGED_SEVERAL, /* several processes may be meant */
	TAP_MERGED_BY_RANK,
	TAP_MERGED_BY_PID,
};

struct tap_merged_file {
	char *path;
	unsigned int number; /* from 1 */
	TAP_VEC(struct tap_merged_process *) processes;
	TAP_VEC(struct tap_merged_track *) tracks;
	struct tap_table by_key; /* of both */
	bool has_base;
	int64_t base_ns;
	int64_t rank; /* -1: the file does not say */
	uint64_t events;
	int64_t first_ns, last_ns; /* of its host's clock */
	struct tap_buffer members; /* as JSON, each behind a comma */
	struct tap_event_file_error *error;

	/* Once the trace is over. */
	enum tap_merged_how how;
	const struct tap_process *process; /* NULL: none is known */
	bool is_other_pid;		   /* which has another number */
	uint64_t owner;			   /* track */
};

/* All zero is none. */
struct tap_merged {
	TAP_VEC(struct tap_merged_file *) files;
};

/* Reads a file for the first time.  Returns 0, or -errno with the error written. */
int tap_merged_add(struct tap_merged *merged, const char *path,
		   struct tap_event_file_error *error);

/* The earliest time in the files, INT64_MAX: there is none. */
int64_t tap_merged_first_ns(const struct tap_merged *merged);

/* The trace is over: finds the processes, and makes the tracks.  Returns 0 or -errno. */
int tap_merged_place(struct tap_merged *merged, struct tap_tracks *tracks);

/* A line for each file: what was merged, and how its times and its rank are known. */
void tap_merged_add_text(struct tap_buffer *text, const struct tap_merged *merged,
			 const struct tap_context *context);

/*
 * Reads the files once more, and writes what they have.  Returns 0 or -errno, after a
 * line on standard error when it is a file that cannot be read any longer.
 */
int tap_merged_write(struct tap_merged *merged, struct tap_packets *packets);

void tap_merged_free(struct tap_merged *merged);

/* ---- For merged.c and merged_write.c ---- */

struct tap_merged_process {
	char *pid;	    /* as JSON */
	char *name, *label; /* NULL: none */
	int64_t sort;
	int64_t number; /* -1: the pid is no number */
};

struct tap_merged_track {
	const struct tap_merged_process *process;
	char *tid, *name;
	int64_t sort;
	uint64_t events;
	uint64_t track; /* 0: it has no events */
};

/* The track of an event, or NULL when it is new and memory is short. */
struct tap_merged_track *tap_merged_track_of(struct tap_merged_file *file,
					     struct json_object *event);
/* The clock of the file's host; NULL: it is not known, and times stay as they are. */
struct tap_clock *tap_merged_clock_of(const struct tap_merged_file *file);
/* The time of an event on its host's clock.  Returns false when it has none. */
bool tap_merged_time_of(const struct tap_merged_file *file, struct json_object *event,
			int64_t *time_ns);
/* Whether an event only names a process or a thread. */
bool tap_merged_is_metadata(struct json_object *event);
/* Adds a value as JSON, repaired where JSON could not have it. */
void tap_merged_add_value(struct tap_buffer *to, struct json_object *value);

#endif
