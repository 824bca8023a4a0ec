/* SPDX-License-Identifier: MIT */
/*
 * Numbers for the names of kernels, so that a record of one is short.
 *
 * CUPTI has one copy of each name and gives its address; what lies there is compared all
 * the same, since nobody promises that it stays after a module was unloaded.
 */
#ifndef TAP_CUPTI_NAMES_H
#define TAP_CUPTI_NAMES_H

#include <stdint.h>

#include "common/compiler.h"

/* The name's number, told by gpu:name when it is new; 0: no name, or too many. */
uint64_t tap_cupti_name(const char *name) tap_hidden;

/* Writes gpu:statedump_name for each. */
void tap_cupti_names_write(void) tap_hidden;

void tap_cupti_names_fork_child(void) tap_hidden;

#endif
