/* SPDX-License-Identifier: MIT */
/*
 * Bytes from one process to another in their order, without a call of the kernel: two
 * rings in memory that both have mapped, one for each direction.  Hides where a ring
 * ends, so that whatever is in it lies in one piece, and what belongs to which side.
 */
#ifndef SOFT_RING_H
#define SOFT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOFT_RING_BYTES (256U << 10)

struct soft_ring_control;

/* One direction, as one side sees it.  Not to be used by two threads at once. */
struct soft_ring {
	struct soft_ring_control *control;
	/* Mapped twice, one after the other. */
	char *data;
	/* Where this side writes or reads next; the other side is told later. */
	uint64_t position;
};

/* The descriptor of new memory for both directions, or -1. */
int soft_rings_new(void);
/* Who made it is the first, and writes where the second reads.  0 or -ENOMEM. */
int soft_rings_map(int fd, bool is_first, struct soft_ring *out, struct soft_ring *in);
void soft_rings_unmap(struct soft_ring *out, struct soft_ring *in, bool is_first);

/* How much of it found room; the reader sees it when it is published. */
size_t soft_ring_put(struct soft_ring *ring, const char *data, size_t size);
/* False: all of it was already. */
bool soft_ring_publish(struct soft_ring *ring);
/* Whether there is room; if not, the reader knows that it is waited for. */
bool soft_ring_ask_for_room(struct soft_ring *ring);

/* What can be read. */
size_t soft_ring_left(const struct soft_ring *ring);
char *soft_ring_data(const struct soft_ring *ring);
/* True: the writer waits for room and has to be told. */
bool soft_ring_take(struct soft_ring *ring, size_t bytes);

#endif
