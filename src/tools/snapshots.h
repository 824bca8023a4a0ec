/* SPDX-License-Identifier: MIT */
/*
 * The snapshots of flight recorders among the traces that are read.
 *
 * Hides where a snapshot lies, and that two of one recorder have most of their events in
 * common.
 */
#ifndef TAP_TOOLS_SNAPSHOTS_H
#define TAP_TOOLS_SNAPSHOTS_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/* All zero is none. */
struct tap_snapshots {
	struct tap_snapshot *first;
	bool has_others; /* traces that are in no snapshot */
};

/*
 * Takes a trace that was found below the folder that a user named.  Returns 0, or an exit
 * status after one line on stderr: it is of another snapshot of a recorder that is read
 * already.
 */
int tap_snapshots_add(struct tap_snapshots *snapshots, const char *trace,
		      const char *folder);

/* Says on stderr which snapshots are read of folders that have several. */
void tap_snapshots_report(const struct tap_snapshots *snapshots);

/* Tells our sinks of them.  Whether there was memory for it. */
bool tap_snapshots_add_params(const struct tap_snapshots *snapshots, bt_value *params);

void tap_snapshots_free(struct tap_snapshots *snapshots);

#endif
