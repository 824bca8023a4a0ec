/* SPDX-License-Identifier: MIT */
/*
 * The job of a program that is to be recorded, as far as its launcher tells: the ranks of
 * one job share a recording on each node.
 *
 * Hides launchers and their variables.
 */
#ifndef TAP_TOOLS_JOB_H
#define TAP_TOOLS_JOB_H

#include <stdbool.h>
#include <stdint.h>

struct tap_job {
	/* The same for all ranks of a job on this node, and for nothing else. */
	uint64_t key;
	int rank; /* -1: no launcher sets it */
	/* Other processes may take part: there is a rank, or the user named the job. */
	bool is_shared;
};

/* Reads the environment and the parent process. */
struct tap_job tap_job_find(void);

#endif
