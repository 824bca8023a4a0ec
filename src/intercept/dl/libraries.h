/* SPDX-License-Identifier: MIT */
/*
 * The objects loaded in the process: which one an address lies in, and which
 * one defines a function.
 *
 * Events name a caller by a small number and an offset; the trace is told once
 * what the number stands for.  This module hides how an address is looked up
 * without a lock, and what becomes of the numbers when objects come and go.
 */
#ifndef TAP_INTERCEPT_DL_LIBRARIES_H
#define TAP_INTERCEPT_DL_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/*
 * The number of the object that address lies in, from 1, and the offset from
 * its load address; 0 and the address itself when it lies in none (code made at
 * run time) or the table of 512 is full.  An object met for the first time is
 * announced in the trace.  The caller has set the guard.
 */
uint32_t tap_library_of(const void *address, uint64_t *ret_offset) tap_hidden;

/* The same, and the trace is told that calls into the object are traced. */
uint32_t tap_library_traced(const void *address, const char *layer) tap_hidden;

/*
 * Whether a call out of this library is one that NCCL makes to itself: the
 * library has NCCL in it, and nothing else, or the call is made inside another.
 * A framework that has NCCL linked in makes calls of its own too.
 */
bool tap_library_calls_itself(uint32_t library_id, bool inside_call) tap_hidden;

/*
 * The function of this name as the dynamic linker would have found it for the caller, were
 * we not there.
 */
struct tap_definition {
	void *function; /* NULL when no object has it */
	unsigned nr;	/* definitions among which the caller decides */
	uintptr_t caller_start, caller_end; /* of the caller's object, 0 when in none */
};
struct tap_definition tap_library_definition(const char *name,
					     const void *caller) tap_hidden;

/* The path of a file that lies beside libccltap.so: 0 or -ENAMETOOLONG, -ENOENT. */
int tap_library_beside(const char *file, char *ret_path, size_t size) tap_hidden;

/*
 * The function of this name in a library that the caller names among its own
 * needs, so certainly in the caller's scope; NULL when there is none.
 */
void *tap_library_needed(const char *name, const void *caller) tap_hidden;

/*
 * The function of this name that RTLD_NEXT gives the caller; NULL when there is none, or
 * it cannot be told from outside of glibc.
 */
void *tap_library_next(const char *name, const void *caller) tap_hidden;

/*
 * The functions of these names, NULL for each that is not there, in one object: the one
 * that holds address, or the first whose soname begins with soname.
 */
void tap_library_functions(const void *address, const char *soname,
			   const char *const *names, void **ret_functions,
			   unsigned nr) tap_hidden;

/*
 * The load address of the object that holds function, 0 for none.  Asked often, of few:
 * what was found is kept.
 */
uintptr_t tap_library_base(const void *function) tap_hidden;

/*
 * Whether the object of this number, which is not 0, is still there and has code at
 * address; for one that tap_library_of() gave, without a look at the others.
 */
bool tap_library_has_code(uint32_t library_id, uintptr_t address) tap_hidden;

/* An object's unwind tables; NULL where it has none. */
struct tap_cfi_tables {
	const uint8_t *header; /* .eh_frame_hdr */
	uintptr_t start, end;  /* of the object: nothing outside is read */
};

/* Of the object of this number, and where that was loaded. */
struct tap_cfi_tables tap_library_unwind(uint32_t library_id) tap_hidden;
uintptr_t tap_library_address(uint32_t library_id) tap_hidden;

/* Counts the times that an object which had a number was unloaded. */
extern uint32_t tap_library_unloads tap_hidden;

/* Whether some loaded object holds address. */
bool tap_library_loaded(const void *address) tap_hidden;

/*
 * From now on somebody relies on the object that holds address: on a function in it, or
 * on what a name means for calls out of it.
 */
void tap_library_watch(const void *address) tap_hidden;

/*
 * Whether an object that is watched was unloaded since the last time this was asked.
 * Programs that compile as they run unload others by the thousands.
 */
bool tap_libraries_unloaded(void) tap_hidden;

#endif
