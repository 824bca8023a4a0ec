/* SPDX-License-Identifier: MIT */
/*
 * Names for places in the code of a traced program: function, file and line, and what
 * was inlined there.
 *
 * It hides elfutils, where the files of the program may lie now, perhaps on another
 * machine, and that a file may not be the one that ran: what has another build id is not
 * used.  Nothing is guessed; a place that no symbol covers has no name.
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

/* A library of the program as far as it was needed for a name. */
struct tap_module {
	const char *path, *build_id; /* as the trace says */
	const char *file;	     /* that is used, NULL none */
	const char *problem;	     /* why none is, NULL */
	const struct tap_module *next;
};

/*
 * modules is a folder with copies of the program's files, debug one with their debug
 * information; both may be NULL.  Returns NULL when memory is short.
 */
struct tap_symbols *tap_symbols_create(const char *modules, const char *debug);
void tap_symbols_destroy(struct tap_symbols *symbols);

/*
 * What is at the call that returns to offset in the library: the function, and before
 * it those that were inlined there, innermost first.  *symbols stays as it is until
 * tap_symbols_destroy().  Returns how many there are, 0 when nothing is known, -ENOMEM.
 */
int tap_symbols_find(struct tap_symbols *symbols, const struct tap_library *library,
		     uint64_t offset, const struct tap_symbol **ret_symbols);

/* Every module that was looked for, newest first, or NULL. */
const struct tap_module *tap_symbols_modules(const struct tap_symbols *symbols);

#endif
