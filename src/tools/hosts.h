/* SPDX-License-Identifier: MIT */
/*
 * The hosts of a job, as a list. Hides where a list may come from: the command line, a
 * file, Slurm.
 */
#ifndef TAP_TOOLS_HOSTS_H
#define TAP_TOOLS_HOSTS_H

#include "common/vec.h"

/* Each once, in the order in which they were added: HOST, USER@HOST, or with :PATH. */
struct tap_hosts {
	TAP_VEC(char *) names;
};

/*
 * Each adds hosts, and returns 0 or an exit status after a message. A file has one in
 * each line, whatever else stands behind it, as mpirun's do; "-" is standard input.
 * Slurm's are those of the job in whose environment this runs.
 */
int tap_hosts_add(struct tap_hosts *hosts, const char *name);
int tap_hosts_add_file(struct tap_hosts *hosts, const char *path);
int tap_hosts_add_slurm(struct tap_hosts *hosts);

void tap_hosts_free(struct tap_hosts *hosts);

#endif
