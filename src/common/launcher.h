/* SPDX-License-Identifier: MIT */
/*
 * Which rank a process is, as the launcher of its job tells it.
 *
 * It hides launchers and the variables in which each tells it.
 */
#ifndef TAP_COMMON_LAUNCHER_H
#define TAP_COMMON_LAUNCHER_H

#include <stdint.h>

#include "common/compiler.h"

struct tap_launcher {
	int32_t rank, world_size, local_rank; /* -1: it does not say */
	const char *rank_from; /* the variable that told the rank, "" none did */
};

struct tap_launcher tap_launcher_ask(void) tap_hidden;

#endif
