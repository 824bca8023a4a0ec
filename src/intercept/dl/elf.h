/* SPDX-License-Identifier: MIT */
/*
 * Symbols of loaded objects, read from the objects themselves.
 *
 * The dynamic linker's dlsym() is not used: the tracer replaces it, and a failed lookup
 * would leave an error for the program's dlerror().  This module hides the layout of hash
 * tables and version tables.  It calls no function of libc, so that it may run before any
 * library is initialised.
 */
#ifndef TAP_INTERCEPT_DL_ELF_H
#define TAP_INTERCEPT_DL_ELF_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

/*
 * The address of the function that the object defines under this name, in its
 * default version where it has several; NULL when it defines none, or one that
 * is chosen at run time (STT_GNU_IFUNC).  base is the object's load address
 * and dynamic its PT_DYNAMIC segment in memory.
 */
void *tap_elf_find(uintptr_t base, const ElfW(Dyn) *dynamic, const char *name) tap_hidden;

/* Whether the object names soname among the libraries that it needs. */
bool tap_elf_needs(uintptr_t base, const ElfW(Dyn) *dynamic, const char *soname) tap_hidden;

/* The object's own name (DT_SONAME), or NULL. */
const char *tap_elf_soname(uintptr_t base, const ElfW(Dyn) *dynamic) tap_hidden;

#endif
