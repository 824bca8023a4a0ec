/* SPDX-License-Identifier: MIT */
/*
 * Numbers for the names of kernels, so that the records are short.
 *
 * CUPTI has one copy of each name and gives its address.  The tracer compares the name as
 * well, since the copy may go when a module is unloaded.
 *
 * It hides the table of names.
 */
#ifndef TAP_CUPTI_NAMES_H
#define TAP_CUPTI_NAMES_H

#include <stdint.h>

#include "common/compiler.h"

/*
 * Returns the name's number and writes gpu:name if it is new; 0: no name, or too many
 * names.
 */
uint64_t tap_cupti_name(const char *name) tap_hidden;

/* Writes gpu:statedump_name for each name. */
void tap_cupti_names_write(void) tap_hidden;

void tap_cupti_names_fork_child(void) tap_hidden;

#endif
