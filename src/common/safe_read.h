/* SPDX-License-Identifier: MIT */
/*
 * Reads memory of the program's that need not be there.
 *
 * A pointer that a call is given may lead nowhere, and what the library makes of that is
 * its own affair: it may refuse the call, or never look.  Here the kernel is asked about
 * each page first, which is one system call; errno is kept.  A page that another thread
 * takes away between the question and the reading is still a fault.
 */
#ifndef TAP_COMMON_SAFE_READ_H
#define TAP_COMMON_SAFE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/* Whether the page that address lies in can be read. */
bool tap_safe_page(uintptr_t address) tap_hidden;

/* Copies size bytes: ret_copy, or NULL when from is NULL or not all of them are there. */
void *tap_safe_read(void *ret_copy, const void *from, size_t size) tap_hidden;

/* A pointer that another thread may be writing; NULL also when it is not there. */
void *tap_safe_pointer(void *const *from) tap_hidden;

/*
 * Copies a string, cut to size with its final 0 and to what of it is there; so it is
 * empty when from is NULL.  Returns ret_copy.
 */
char *tap_safe_read_string(char *ret_copy, size_t size, const char *from) tap_hidden;

#endif
