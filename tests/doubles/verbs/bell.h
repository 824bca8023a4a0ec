/* SPDX-License-Identifier: MIT */
/*
 * How a process learns that something came for it: a count in memory that its peers have
 * mapped, and a futex.  Hides when a peer has to wake somebody: only while the one who
 * would look sleeps soundly.  Where threads of the program look all the time anyway, it
 * naps, and nobody needs to call the kernel for it.
 */
#ifndef SOFT_BELL_H
#define SOFT_BELL_H

#include <stdbool.h>
#include <stdint.h>

struct soft_bell;

/* Memory for one, to be handed to peers as a descriptor; -1 if there is none. */
int soft_bell_new(void);
/* NULL without memory. */
struct soft_bell *soft_bell_map(int fd);
void soft_bell_unmap(struct soft_bell *bell);

/* Something is there for the bell's owner. */
void soft_bell_ring(struct soft_bell *bell);
/* Ends the owner's sleep, or the next one before it begins. */
void soft_bell_wake(struct soft_bell *bell);

/* How often it was rung, and how often its owner was woken. */
uint32_t soft_bell_rings(const struct soft_bell *bell);
uint32_t soft_bell_wakes(const struct soft_bell *bell);
/* Sleeps so long (UINT64_MAX: for ever) at the longest, and not at all if the
 * owner was woken since there were so many wakes, or it was rung since so many rings. */
void soft_bell_sleep(struct soft_bell *bell, uint32_t rings, uint32_t wakes,
		     uint64_t for_ns);
/* The same, but a ring does not end it. */
void soft_bell_nap(struct soft_bell *bell, uint32_t wakes, uint64_t for_ns);

#endif
