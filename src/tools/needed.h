/* SPDX-License-Identifier: MIT */
/*
 * Which libraries a program names as its needs, read from its file.
 *
 * It hides ELF. What is no 64-bit ELF file of this machine, a script for instance, or
 * is damaged, names none.
 */
#ifndef TAP_TOOLS_NEEDED_H
#define TAP_TOOLS_NEEDED_H

/* Calls each with every name, in the order of the file. */
void tap_needed_each(const char *path, void (*each)(const char *name, void *data),
		     void *data);

#endif
