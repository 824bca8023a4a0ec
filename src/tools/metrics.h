/* SPDX-License-Identifier: MIT */
/*
 * `record --metrics`: the counters of the recorded processes, as a file for Prometheus'
 * node exporter.
 *
 * Hides the pages that processes send (common/metrics_page.h), how it is known that a
 * process has ended, and that the file is written beside and renamed, since the exporter
 * may read it at any time.
 */
#ifndef TAP_TOOLS_METRICS_H
#define TAP_TOOLS_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/vec.h"
#include "tools/metrics_text.h"

/* All zero: no metrics are wanted. */
struct tap_metrics {
	const char *file; /* its absolute path, NULL: none is wanted */
	char *recording;  /* the labels that each series has, NULL: none */
	TAP_VEC(struct tap_metrics_process *) processes;
	unsigned met;	  /* processes that sent a page, also those that are gone */
	unsigned refused; /* and pages of another version */
	int64_t next_ms;  /* when it is written again, of CLOCK_MONOTONIC */
	bool is_wished;	  /* that its processes are recorded, too */
	/* The file that was written last: at the end another in its place stays. */
	dev_t device;
	ino_t inode;
	int error; /* why it could not be written the last time, 0 */
	/* What tap_metrics_text() had last, and of when. */
	char *text;
	size_t text_size;
	int64_t text_ms;
};

/*
 * Writes a first file, unless there is one that is not of metrics: it may be dear to
 * somebody.  Returns 0, or -errno after a message to the user.
 */
int tap_metrics_open(struct tap_metrics *metrics, const char *file);

/* Takes over the descriptor of a process's page. */
void tap_metrics_take(struct tap_metrics *metrics, int page_fd);

/*
 * Tells all processes that they are to load LTTng, and those that come later; or no
 * longer. A process does so at its next call.
 */
void tap_metrics_wish(struct tap_metrics *metrics, bool is_wished);

/* How many of the processes that run have done so, and whom the supervisor waits for. */
struct tap_metrics_reach {
	unsigned running, attached, unable;
	unsigned loading;  /* of the others: those that load it just now */
	char waiting[256]; /* names of the others, with commas between */
};
void tap_metrics_look_at_reach(const struct tap_metrics *metrics,
			       struct tap_metrics_reach *ret_reach);

/* When tap_metrics_keep() has something to do, in ms of CLOCK_MONOTONIC. */
int64_t tap_metrics_due_ms(const struct tap_metrics *metrics);
/* Writes the file, if it is time. */
void tap_metrics_keep(struct tap_metrics *metrics);

/*
 * The text of now, for who asks. It may be a quarter of a second old, so that who asks
 * without end does not keep the supervisor busy. Valid until the next call. Returns 0 or
 * -errno.
 */
int tap_metrics_text(struct tap_metrics *metrics, const char **ret_text,
		     size_t *ret_size);

/* Removes the file: what it says would be taken for the present. */
void tap_metrics_close(struct tap_metrics *metrics);

#endif
