/* SPDX-License-Identifier: MIT */
/*
 * Reads memory of the program's that may not be mapped.
 *
 * The program may pass a call an invalid pointer; the library may then refuse the call,
 * or never look.  So the tracer asks the kernel about each page first, by one system
 * call; errno is kept.  A page that another thread unmaps between the question and the
 * read still causes a fault.
 *
 * It hides how the kernel is asked.
 */
#ifndef TAP_COMMON_SAFE_READ_H
#define TAP_COMMON_SAFE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/* Whether the page of address can be read. */
bool tap_safe_page(uintptr_t address) tap_hidden;

/*
 * Copies size bytes.  Returns ret_copy, or NULL when from is NULL or not all bytes can be
 * read.
 */
void *tap_safe_read(void *ret_copy, const void *from, size_t size) tap_hidden;

/*
 * Reads a pointer that another thread may be writing; NULL also when it cannot be read.
 */
void *tap_safe_pointer(void *const *from) tap_hidden;

/*
 * Copies a string, cut to size with its final 0 and to the part that can be read; empty
 * when from is NULL.  Returns ret_copy.
 */
char *tap_safe_read_string(char *ret_copy, size_t size, const char *from) tap_hidden;

#endif
