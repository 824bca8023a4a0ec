/* SPDX-License-Identifier: MIT */
/*
 * The libraries that a program's file names as needed.
 *
 * Hides ELF. A file that is not a 64-bit ELF file for this machine (a script, for
 * instance) or is damaged names none.
 */
#ifndef TAP_TOOLS_NEEDED_H
#define TAP_TOOLS_NEEDED_H

/* Calls each with every name, in the order of the file. */
void tap_needed_each(const char *path, void (*each)(const char *name, void *data),
		     void *data);

#endif
