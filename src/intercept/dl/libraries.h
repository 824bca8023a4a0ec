/* SPDX-License-Identifier: MIT */
/*
 * The objects loaded in the process: which one holds an address, and which one defines a
 * function.
 *
 * Events name a caller by a small number and an offset; one tap:library event gives the
 * object of a number.  This module hides how an address is looked up without a lock, and
 * which numbers remain valid when objects are loaded and unloaded.
 */
#ifndef TAP_INTERCEPT_DL_LIBRARIES_H
#define TAP_INTERCEPT_DL_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/*
 * The number of the object that holds address, from 1, and the offset from its load
 * address; 0 and the address itself when no object holds it (code made at run time) or
 * the table of 512 is full.  The first address in an object writes tap:library.  The
 * caller has set the guard.
 */
uint32_t tap_library_of(const void *address, uint64_t *ret_offset) tap_hidden;

/*
 * The same; also writes tap:library with the layer whose calls into the object are
 * traced.
 */
uint32_t tap_library_traced(const void *address, const char *layer) tap_hidden;

/*
 * Whether a call from this library is an inner call of NCCL: the library contains NCCL,
 * and either nothing else, or the call is made inside another.  A framework that has NCCL
 * linked in makes calls of its own too.
 */
bool tap_library_calls_itself(uint32_t library_id, bool inside_call) tap_hidden;

/* An object, and what it has of NCCL or RCCL. */
enum tap_library_nccl {
	TAP_NO_NCCL,
	TAP_HAS_NCCL, /* NCCL is linked into it, beside other code */
	TAP_IS_NCCL,
};
struct tap_library_range {
	uintptr_t start, end; /* 0 when no object holds the address */
	uintptr_t code_start, code_end;
	enum tap_library_nccl nccl;
	bool starts_std_threads; /* it is libstdc++, or may have it linked in */
};

/* The object that holds address; walks the loaded objects. */
struct tap_library_range tap_library_range(const void *address) tap_hidden;

/* Counts how often dlclose() unloaded an object of any kind. */
extern uint32_t tap_any_unloads tap_hidden;

/*
 * The function of this name that the dynamic linker would have found for the caller
 * without the tracer.
 */
struct tap_definition {
	void *function; /* NULL when no object defines it */
	unsigned nr;	/* definitions of which the caller's scope selects one */
	uintptr_t caller_start, caller_end; /* of the caller's object, 0 when no object
					       holds the caller */
};
struct tap_definition tap_library_definition(const char *name,
					     const void *caller) tap_hidden;

/* The path of a file that lies beside libccltap.so: 0 or -ENAMETOOLONG, -ENOENT. */
int tap_library_beside(const char *file, char *ret_path, size_t size) tap_hidden;

/*
 * The function of this name in a library that the caller's object needs (DT_NEEDED), so
 * certainly in the caller's scope; NULL when there is none.
 */
void *tap_library_needed(const char *name, const void *caller) tap_hidden;

/*
 * The function of this name that RTLD_NEXT finds for the caller; NULL when there is none,
 * or only glibc can find it.
 */
void *tap_library_next(const char *name, const void *caller) tap_hidden;

/*
 * Finds the functions of these names, NULL for each that is missing, in one object: the
 * object that holds address, or the first whose soname begins with soname.
 */
void tap_library_functions(const void *address, const char *soname,
			   const char *const *names, void **ret_functions,
			   unsigned nr) tap_hidden;

/*
 * The load address of the object that holds function, 0 for none.  Called often, for few
 * functions: results are cached.
 */
uintptr_t tap_library_base(const void *function) tap_hidden;

/*
 * Whether the object of this number, which is not 0, is still loaded and has code at
 * address.  The number comes from tap_library_of(); other objects are not searched.
 */
bool tap_library_has_code(uint32_t library_id, uintptr_t address) tap_hidden;

/* An object's unwind tables; NULL where it has none. */
struct tap_cfi_tables {
	const uint8_t *header; /* .eh_frame_hdr */
	uintptr_t start, end;  /* of the object: no byte outside is read */
};

/* The tables and the load address of the object of this number. */
struct tap_cfi_tables tap_library_unwind(uint32_t library_id) tap_hidden;
uintptr_t tap_library_address(uint32_t library_id) tap_hidden;

/* Counts how often an object with a number was unloaded. */
extern uint32_t tap_library_unloads tap_hidden;

/* Whether some loaded object holds address. */
bool tap_library_loaded(const void *address) tap_hidden;

/*
 * Watches the object that holds address: the tracer relies on a function in it, or on the
 * resolution of a name for calls from it.
 */
void tap_library_watch(const void *address) tap_hidden;

/*
 * Whether a watched object was unloaded since the last call.  Programs that compile at
 * run time unload other objects by the thousands.
 */
bool tap_libraries_unloaded(void) tap_hidden;

#endif
