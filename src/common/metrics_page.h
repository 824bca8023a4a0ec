/* SPDX-License-Identifier: MIT */
/*
 * The counters of a traced process for `ccltap record --metrics`: memory that the process
 * writes and the supervisor alone reads.
 *
 * The layout is here since two programs share it, which may be of different versions: a
 * process lives longer than an installation.  So the page has a version, its own sizes
 * and the names of the functions, and a reader refuses a version that it does not know.
 *
 * It hides how one thread writes a counter that another process reads.  No locked
 * instruction is needed where one thread at a time counts: NCCL forbids that two threads
 * use a communicator at once without ordering, so its counters have one writer, and a
 * reader that sees a store late sees an older count.  Calls on no communicator, and on
 * those that found no room of their own, share counters, and add to them atomically.
 */
#ifndef TAP_COMMON_METRICS_PAGE_H
#define TAP_COMMON_METRICS_PAGE_H

#include <stddef.h>
#include <stdint.h>

#define TAP_METRICS_MAGIC "ccltap/m"
#define TAP_METRICS_VERSION 1

/* Rows of nccl.def that have room, and communicators. */
#define TAP_METRICS_FUNCTIONS 128
#define TAP_METRICS_COMMS 192
#define TAP_METRICS_NAME 40

/* What the supervisor sends for, and what a process begins its message with. */
#define TAP_METRICS_NOTE "metrics "

/* One function, on one communicator or on none; all numbers since the process began. */
struct tap_metrics_slot {
	uint64_t begun, ended; /* calls; the difference are those that are open */
	uint64_t failed;       /* of those that ended */
	uint64_t bytes; /* count times size of the type, of those that did not fail */
};

enum tap_metrics_use { TAP_METRICS_UNUSED, TAP_METRICS_LIVE, TAP_METRICS_GONE };

struct tap_metrics_comm {
	uint64_t life; /* how often the room was used; another number, another
			  communicator */
	uint64_t key;  /* the same on all ranks, 0 unknown */
	int32_t nranks, rank;
	uint32_t use;
	uint32_t unused;
	uint64_t dropped; /* operations of groups that failed: they did not run */
	uint64_t reserved[3];
	struct tap_metrics_slot of[TAP_METRICS_FUNCTIONS];
};

struct tap_metrics_page {
	char magic[8];
	uint32_t version, bytes; /* of the whole */
	uint32_t nr_functions, nr_comms;
	/* Odd while room passes to another communicator: what is read then is not a sum.
	 */
	uint32_t turn;
	uint32_t used;	   /* communicators that have room */
	uint32_t without;  /* communicators that found none, and are counted in shared */
	int32_t pid, rank; /* rank -1: the launcher does not say */
	uint32_t unused;
	uint64_t dropped; /* of those in shared */
	char host[64];
	char names[TAP_METRICS_FUNCTIONS][TAP_METRICS_NAME];
	uint8_t is_operation[TAP_METRICS_FUNCTIONS]; /* of those in shared: on a
							communicator */
	/*
	 * Calls on no communicator, on those without room, and on those whose room
	 * another has now: with these the sums over a function are always all of its
	 * calls.
	 */
	struct tap_metrics_slot shared[TAP_METRICS_FUNCTIONS];
	struct tap_metrics_comm comms[TAP_METRICS_COMMS];
};

_Static_assert(sizeof(struct tap_metrics_slot) == 32,
	       "a process of another build has it");
_Static_assert(sizeof(struct tap_metrics_comm) == 64 + 32 * TAP_METRICS_FUNCTIONS,
	       "a process of another build has it");
_Static_assert(offsetof(struct tap_metrics_page, names) == 120,
	       "a process of another build has it");

/* For the one thread that counts here. */
static inline void tap_metrics_add(uint64_t *at, uint64_t more)
{
	__atomic_store_n(at, __atomic_load_n(at, __ATOMIC_RELAXED) + more,
			 __ATOMIC_RELAXED);
}

/* For several threads. */
static inline void tap_metrics_add_shared(uint64_t *at, uint64_t more)
{
	__atomic_fetch_add(at, more, __ATOMIC_RELAXED);
}

#endif
