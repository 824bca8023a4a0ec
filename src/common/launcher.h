/* SPDX-License-Identifier: MIT */
/*
 * The rank of a process, as the launcher of its job reports it, and the job's name.
 *
 * It hides launchers, batch systems and their environment variables.
 */
#ifndef TAP_COMMON_LAUNCHER_H
#define TAP_COMMON_LAUNCHER_H

#include <stdint.h>

#include "common/compiler.h"

struct tap_launcher {
	int32_t rank, world_size, local_rank; /* -1: the launcher does not say */
	const char *rank_from; /* the variable that gave the rank, "" if none did */
};

struct tap_launcher tap_launcher_ask(void) tap_hidden;

/* The job's name or number, "" where nobody says. */
const char *tap_launcher_job(void) tap_hidden;

#endif
