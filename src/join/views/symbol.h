/* SPDX-License-Identifier: MIT */
/*
 * Names for places in the code of a traced program: function, file and line, and the
 * functions that were inlined there.
 *
 * Hides elfutils, where the program's files lie now, perhaps on another machine, and that
 * a file may not be the one that ran: a file with another build id is not used.  Nothing
 * is guessed; a place that no symbol covers has no name.
 */
#ifndef TAP_JOIN_VIEWS_SYMBOL_H
#define TAP_JOIN_VIEWS_SYMBOL_H

#include "join/model/span.h"

struct tap_symbols;

struct tap_symbol {
	const char *function; /* NULL unknown */
	const char *file;     /* NULL unknown */
	int line;	      /* 0 unknown */
};

/* A library of the program that was needed for a name. */
struct tap_module {
	const char *path, *build_id; /* as the trace says */
	const char *file;	     /* the file that is used, NULL none */
	const char *problem;	     /* why no file is used, else NULL */
	const struct tap_module *next;
};

/*
 * modules is a folder with copies of the program's files, debug a folder with their debug
 * information; both may be NULL. Returns NULL when memory is short.
 */
struct tap_symbols *tap_symbols_create(const char *modules, const char *debug);
void tap_symbols_destroy(struct tap_symbols *symbols);

/*
 * Finds the functions at the call that returns to offset in the library: first those that
 * were inlined there, innermost first, then the function itself. *symbols stays valid
 * until tap_symbols_destroy().  Returns how many there are, 0 when nothing is known, or
 * -ENOMEM.
 */
int tap_symbols_find(struct tap_symbols *symbols, const struct tap_library *library,
		     uint64_t offset, const struct tap_symbol **ret_symbols);

/* All modules that were looked for, newest first, or NULL. */
const struct tap_module *tap_symbols_modules(const struct tap_symbols *symbols);

#endif
