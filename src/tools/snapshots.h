/* SPDX-License-Identifier: MIT */
/*
 * The snapshots of flight recorders among the traces that are read, and the option
 * --snapshot, which chooses them.
 *
 * Hides where a snapshot lies, how snapshots are numbered, and that two snapshots of one
 * recorder share most of their events.
 */
#ifndef TAP_TOOLS_SNAPSHOTS_H
#define TAP_TOOLS_SNAPSHOTS_H

#include <argp.h>
#include <babeltrace2/babeltrace.h>
#include <stdbool.h>

/* All zero: no snapshots. */
struct tap_snapshots {
	struct tap_snapshot *first;
	bool has_others; /* traces that are in no snapshot */
};

/* The option --snapshot, for verbs that read; without it the newest snapshot is read. */
extern const struct argp tap_snapshots_argp;

/* Whether the option was given. */
bool tap_snapshots_is_chosen(void);

/* Whether the name of a directory is that of a snapshot. */
bool tap_snapshots_is_name(const char *name);

/* The path of the newest snapshot in a folder, which the caller frees; NULL: none. */
char *tap_snapshots_newest(const char *folder);

/* Whether all snapshots of a recorder are to be read as one trace. */
bool tap_snapshots_wants_all(void);

/* Whether these traces are the same part of two snapshots of one recorder. */
bool tap_snapshots_are_alike(const char *trace, const char *other);

/*
 * Whether a snapshot is the one that was chosen among those beside it. `base` is where
 * its name begins in `path`.
 */
bool tap_snapshots_is_wanted(const char *path, int base);

/*
 * Adds a trace found below a folder that the user named. Returns 0, or an exit status
 * after one line on stderr when the trace belongs to another snapshot of a recorder that
 * is read already.
 */
int tap_snapshots_add(struct tap_snapshots *snapshots, const char *trace,
		      const char *folder);

/*
 * Reports on stderr that there are snapshots and the chosen one is not among them; false
 * when that is not so.
 */
bool tap_snapshots_report_absent(void);

/* Reports on stderr which snapshot is read of each folder that has several. */
void tap_snapshots_report(const struct tap_snapshots *snapshots);

/* Adds the snapshots to the parameters of a sink; false when out of memory. */
bool tap_snapshots_add_params(const struct tap_snapshots *snapshots, bt_value *params);

void tap_snapshots_free(struct tap_snapshots *snapshots);

#endif
