/* SPDX-License-Identifier: MIT */
/*
 * Counters that the kernel shows as text in /sys and /proc, and how they grow.
 *
 * Hides their format, and which of them are worth an event.  Nothing is allocated.
 */
#ifndef TAP_COMMON_COUNTERS_H
#define TAP_COMMON_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

/* The number with which a text begins, after blanks; false: it begins with none. */
bool tap_counters_number(const char *text, uint64_t *ret) tap_hidden;

/* The number behind this name and a colon in a text of lines "name: number". */
bool tap_counters_find(const char *text, const char *name, uint64_t *ret) tap_hidden;

/* The counters of one subject, as they were last; all zero: never read. */
#define TAP_COUNTERS_MAX 64
struct tap_counters {
	int64_t read_ns;
	uint64_t last[TAP_COUNTERS_MAX];
	uint64_t is_known; /* a bit for each */
};

/* What a look at the counters of one subject finds, in the form of an event. */
struct tap_counters_sample {
	int64_t now_ns;
	uint64_t interval_ns; /* since the look before, 0: there was none */
	char names[2048];     /* with commas between them */
	size_t used;
	uint32_t nr;
	uint64_t values[TAP_COUNTERS_MAX], growth[TAP_COUNTERS_MAX];
};

void tap_counters_begin(const struct tap_counters *counters,
			struct tap_counters_sample *ret_sample, int64_t now_ns) tap_hidden;
/*
 * Notes the value of the counter with this number, below TAP_COUNTERS_MAX.  The sample
 * has it if it differs from the look before, and if there was none.
 */
void tap_counters_note(struct tap_counters *counters, struct tap_counters_sample *sample,
		       unsigned number, const char *name, uint64_t value) tap_hidden;
/* Remembers the time of the look.  Returns whether the sample has any counter. */
bool tap_counters_end(struct tap_counters *counters,
		      const struct tap_counters_sample *sample) tap_hidden;

/*
 * The looks at one source, whose device or driver may be long in answering while the thread
 * that looks has other work; all zero: none yet.  A single long look may be the machine's
 * fault, several in a row are not.
 */
struct tap_counters_looks {
	int64_t begin_ns;
	unsigned nr_long; /* in a row */
};

/* Returns false where the source was given up: nobody is to look any more. */
bool tap_counters_look(struct tap_counters_looks *looks) tap_hidden;
/* Whether the look has lasted too long already, and is to stop where it is. */
bool tap_counters_look_is_long(const struct tap_counters_looks *looks) tap_hidden;
/* Returns whether the source is given up now: this is true once. */
bool tap_counters_look_end(struct tap_counters_looks *looks) tap_hidden;

#endif
