/* SPDX-License-Identifier: MIT */
/*
 * The traces that are read, and which parts of them are left out. babeltrace2 refuses a
 * trace if one of its stream files is cut short, and dies of some other damaged ones:
 * ccltap takes such a trace apart, so that each stream file becomes a trace of its own.
 * Hides where those lie.
 */
#ifndef TAP_TOOLS_TRACES_H
#define TAP_TOOLS_TRACES_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "common/list.h"
#include "tools/snapshots.h"
#include "tools/watch.h"

/* A trace that could not be read as it is. */
struct tap_damage {
	TAP_LIST_LINK(struct tap_damage) all;
	char *trace;
	char cause[256];
	unsigned int kept, left_out; /* streams */
	char stream[256];	     /* the first that was left out, and why */
	char stream_cause[256];
	unsigned int deaths;
};

struct tap_trace {
	char *path;
	struct tap_damage *damage; /* of the trace that the stream is from, NULL: whole */
	char *stream;		   /* then the file of its only stream */
	dev_t device;
	ino_t inode;
	/*
	 * 1 + the index of the trace whose source reads this one, too, and leaves out what
	 * both have; 0: none.
	 */
	size_t part_of;
	const bt_component_source *source; /* in the graph that is being made */
};

struct tap_traces {
	struct tap_trace *list;
	size_t count;
	size_t room;
	int error;   /* errno of a folder that could not be read */
	char *parts; /* a temporary folder with the streams of damaged traces, or NULL */
	TAP_LIST(struct tap_damage) damages;
	struct tap_snapshots snapshots;
	unsigned int lates; /* how often babeltrace2 hung */
	bool is_changed;    /* since the last child: other streams, not just shorter */
	struct tap_watch *watch;
};

/* Takes ownership of the path when it returns 0, else returns an errno. */
int tap_traces_append(struct tap_traces *traces, char *path, const struct stat *status);

/* Memory that a child shares, for the traces' watch; NULL after a message. */
struct tap_watch *tap_traces_make_watch(void);

/* Bytes of the files of a trace. */
uint64_t tap_traces_size(const char *path);

/* Drops the traces that the child could not open. */
void tap_traces_drop_refused(struct tap_traces *traces);

/*
 * For a child in which babeltrace2 died or hung: makes the next child leave out what it
 * was reading then. Returns whether it was reading anything.
 */
bool tap_traces_blame(struct tap_traces *traces, bool is_late);

/* Reports on stderr what was left out, and why. */
void tap_traces_report(const struct tap_traces *traces);

/* Removes the temporary folder; for a process that ends without freeing the rest. */
void tap_traces_remove_parts(struct tap_traces *traces);

void tap_traces_free(struct tap_traces *traces);

/* Removes all that is in a folder. */
void tap_traces_empty_folder(const char *path);

#endif
