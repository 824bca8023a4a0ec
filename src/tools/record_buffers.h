/* SPDX-License-Identifier: MIT */
/*
 * How large LTTng's buffers may be on this machine.  LTTng takes them from /dev/shm
 * when the first traced process appears, for every possible processor at once, and
 * records nothing, silently, where they do not fit.  So they are fitted beforehand;
 * this module hides from what.
 */
#ifndef TAP_TOOLS_RECORD_BUFFERS_H
#define TAP_TOOLS_RECORD_BUFFERS_H

#include <stdint.h>

/* Sizes in bytes and counts are per processor, and powers of two. */
struct tap_buffers {
	uint64_t hot_bytes;
	uint64_t hot_count;
	uint64_t setup_bytes;
	uint64_t setup_count;
};

/*
 * Reads "64M" and the like: a whole number and perhaps K, M, G or T.
 * Returns 0, or -EINVAL where it is none or is not between 64 KiB and `most`.
 */
int tap_buffers_parse(const char *text, uint64_t *ret_bytes, uint64_t most);

/* What was compared: available is what may be taken of what is free. */
struct tap_buffers_room {
	uint64_t processors;
	uint64_t needed_bytes;
	uint64_t available_bytes;
};

/*
 * Chooses the largest buffers that leave half of what is free to others.  With
 * `asked_bytes`, which is what one processor's hot buffer is to have in all (rounded
 * up to a power of two), it is that or nothing, and all that is free may be taken.
 * Returns 0, or -ENOSPC.
 */
int tap_buffers_choose(uint64_t asked_bytes, struct tap_buffers *ret_buffers,
		       struct tap_buffers_room *ret_room);

/*
 * The largest buffers that take no more than `bytes` of all processors together, or with 0
 * as above. Returns 0, or -ENOSPC once it has told the user what does not fit.
 */
int tap_buffers_fit_flight(uint64_t bytes, struct tap_buffers *ret_buffers);

/* The same as tap_buffers_choose(), but -ENOSPC comes once it has told the user what does not fit. */
int tap_buffers_fit(uint64_t asked_bytes, struct tap_buffers *ret_buffers);

#endif
