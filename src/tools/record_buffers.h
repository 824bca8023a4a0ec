/* SPDX-License-Identifier: MIT */
/*
 * How large LTTng's buffers may be on this machine. LTTng takes them from /dev/shm when
 * the first traced process appears, for every possible processor at once, and silently
 * records nothing where they do not fit. So ccltap fits them beforehand; this module
 * hides the limits.
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
 * Reads "64M" and the like: a whole number and perhaps K, M, G or T. Returns 0, or
 * -EINVAL when the text is no size or is not between 64 KiB and `most`.
 */
int tap_buffers_parse(const char *text, uint64_t *ret_bytes, uint64_t most);

/*
 * The sizes that were compared: available_bytes is the share of free memory that may be
 * taken.
 */
struct tap_buffers_room {
	uint64_t processors;
	uint64_t needed_bytes;
	uint64_t available_bytes;
};

/*
 * Chooses the largest buffers that leave half of the free memory to others. With
 * `asked_bytes`, the total for the hot buffer of one processor (rounded up to a power of
 * two), it chooses that size or fails, and may take all of the free memory. Returns 0, or
 * -ENOSPC.
 */
int tap_buffers_choose(uint64_t asked_bytes, struct tap_buffers *ret_buffers,
		       struct tap_buffers_room *ret_room);

/*
 * Chooses the largest buffers that take at most `bytes` for all processors together, or
 * with 0 as above. Returns 0, or -ENOSPC after a message that says what does not fit.
 */
int tap_buffers_fit_flight(uint64_t bytes, struct tap_buffers *ret_buffers);

/*
 * Like tap_buffers_choose(), with a message that says what does not fit before -ENOSPC.
 */
int tap_buffers_fit(uint64_t asked_bytes, struct tap_buffers *ret_buffers);

#endif
