/* SPDX-License-Identifier: MIT */
/*
 * The traces that are read, and what of them is left out.  babeltrace2 refuses a trace if
 * one of its stream files is cut short, and dies of others that are damaged: such a trace
 * is taken apart, so that each stream file is a trace by itself.  Hides where those lie.
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
	struct tap_damage
		*damage; /* of the trace whose stream this is, NULL: it is whole */
	char *stream;	 /* the file that is its one stream, then */
	dev_t device;
	ino_t inode;
	const bt_component_source *source; /* of the graph being made */
};

struct tap_traces {
	struct tap_trace *list;
	size_t count;
	size_t room;
	int error;   /* errno of a folder that could not be read */
	char *parts; /* a temporary folder with the streams of damaged traces, or NULL */
	TAP_LIST(struct tap_damage) damages;
	struct tap_snapshots snapshots;
	unsigned int lates; /* how often babeltrace2 came to no end */
	bool is_changed;    /* since the last child: others, not just shorter ones */
	struct tap_watch *watch;
};

/* Takes the path when it returns 0, else it returns an errno. */
int tap_traces_append(struct tap_traces *traces, char *path, const struct stat *status);

/* Does without what the child could not open. */
void tap_traces_drop_refused(struct tap_traces *traces);

/*
 * babeltrace2 died, or came to no end: the next child does without what it was at.
 * Returns whether it was at anything.
 */
bool tap_traces_blame(struct tap_traces *traces, bool is_late);

/* Says on stderr what was left out, and why. */
void tap_traces_report(const struct tap_traces *traces);

void tap_traces_free(struct tap_traces *traces);

/* Removes all that is in a folder. */
void tap_traces_empty_folder(const char *path);

#endif
