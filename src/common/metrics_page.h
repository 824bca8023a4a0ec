/* SPDX-License-Identifier: MIT */
/*
 * The counters of a traced process for `ccltap record --metrics`: memory that the process
 * writes and the supervisor alone reads.  Of one word it is the other way round.
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
 * Queues are counted in the same two ways (verbs/metered.h).
 */
#ifndef TAP_COMMON_METRICS_PAGE_H
#define TAP_COMMON_METRICS_PAGE_H

#include <stddef.h>
#include <stdint.h>

#define TAP_METRICS_MAGIC "ccltap/m"
#define TAP_METRICS_VERSION 2

/* Rows of nccl.def that have room, and communicators. */
#define TAP_METRICS_FUNCTIONS 128
#define TAP_METRICS_COMMS 192
#define TAP_METRICS_NAME 40

/* Devices of libibverbs, and queues with counters of their own. */
#define TAP_METRICS_DEVICES 16
#define TAP_METRICS_QUEUES 1024
#define TAP_METRICS_DEVICE_NAME 64

/*
 * One call in so many is timed, the first one too, and of the requests of a queue pair
 * that complete one in so many.  Primes, since programs repeat themselves every few
 * calls, often a power of two of them.
 */
#define TAP_METRICS_CALLS_TIMED 251
#define TAP_METRICS_REQUESTS_TIMED 61

/*
 * The times of requests by powers of two: the i-th element counts those of at most
 * 2^(TAP_METRICS_TIME_BITS + i) ns, the last one all that took longer, 17 s and more.
 */
#define TAP_METRICS_TIME_BITS 10
#define TAP_METRICS_TIMES 26

/* What the supervisor sends for, and what a process begins its message with. */
#define TAP_METRICS_NOTE "metrics "

/* One function, on one communicator or on none; all numbers since the process began. */
struct tap_metrics_slot {
	uint64_t begun, ended; /* calls; the difference are those that are open */
	uint64_t failed;       /* of those that ended */
	uint64_t bytes; /* count times size of the type, of those that did not fail */
	/*
	 * Of those that ended: how many were timed, and their time.  On a communicator
	 * the call is timed next before which so many have begun.
	 */
	uint32_t timed, next_timed;
	uint64_t timed_ns;
};

/*
 * The one word that the supervisor writes: whether a process that only counts is to load
 * LTTng, since a recording has begun.  Wrappers read it as a switch (intercept/nccl/
 * nccl_wrap.h), so its bit differs from those of other switches.
 */
enum { TAP_METRICS_NO_WISH = 0, TAP_METRICS_WISH = 4 };

/* How far that is. */
enum tap_metrics_attached {
	TAP_METRICS_ABLE, /* it loads LTTng at its next call, if that is wished */
	TAP_METRICS_BEGUN,
	TAP_METRICS_ATTACHED,
	/* It has failed, or no session daemon reaches it; it does not try again. */
	TAP_METRICS_UNABLE,
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

/*
 * A queue pair or a shared receive queue.  Its room passes only to queues of the same
 * device, which count on in it: the sums over a device are always all of its queues.
 * Posts and completions have one writer each, as long as one thread posts and one polls.
 */
struct tap_metrics_queue {
	uint64_t sent, sent_bytes; /* send requests that the device accepted */
	uint64_t send_completed;   /* without an error, as all that completed here */
	uint64_t recv_posted;
	uint64_t recv_completed, received_bytes;
	uint32_t device;
	uint32_t use; /* whether a queue has the room */
	uint64_t unused;
};

struct tap_metrics_device {
	char name[TAP_METRICS_DEVICE_NAME];
	/* Its queues without room of their own, which share these. */
	struct tap_metrics_queue rest;
	/* Completions with an error; those that an earlier error has flushed. */
	uint64_t failed, flushed;
	/* Requests that were timed, from the post to the poll that found them. */
	uint64_t timed_ns;
	uint64_t timed[TAP_METRICS_TIMES];
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
	int32_t wish;	   /* the supervisor's */
	uint64_t dropped;  /* of those in shared */
	uint32_t attached; /* an enum tap_metrics_attached */
	uint32_t unused;
	uint32_t calls_timed, requests_timed; /* the two rates above */
	uint32_t devices_used, queues_used;
	uint32_t queues_without; /* queues of a device too many: not counted */
	/*
	 * NCCL's threads that move messages: how many there are, how many of them sleep,
	 * and how often one that was awake had nothing to do, in steps.
	 */
	uint32_t proxies, proxies_asleep, unused2;
	uint64_t proxy_yields;
	/* NCCL's kernels, while a session records what runs on the GPU. */
	uint64_t kernels, kernel_ns;
	uint64_t reserved;
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
	struct tap_metrics_device devices[TAP_METRICS_DEVICES];
	struct tap_metrics_comm comms[TAP_METRICS_COMMS];
	struct tap_metrics_queue queues[TAP_METRICS_QUEUES];
};

_Static_assert(sizeof(struct tap_metrics_slot) == 48,
	       "a process of another build has it");
_Static_assert(sizeof(struct tap_metrics_comm) == 64 + 48 * TAP_METRICS_FUNCTIONS,
	       "a process of another build has it");
_Static_assert(sizeof(struct tap_metrics_queue) == 64,
	       "a process of another build has it");
_Static_assert(sizeof(struct tap_metrics_device) == 360,
	       "a process of another build has it");
_Static_assert(offsetof(struct tap_metrics_page, names) == 192,
	       "a process of another build has it");
_Static_assert(offsetof(struct tap_metrics_page, queues) % 64 == 0,
	       "a queue is one line of the cache");

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

/* The element of a device's `timed` that counts this time. */
static inline unsigned tap_metrics_time_index(uint64_t ns)
{
	const unsigned bits = ns > 1 ? 64 - (unsigned) __builtin_clzll(ns - 1) : 0;

	if (bits <= TAP_METRICS_TIME_BITS)
		return 0;
	return bits - TAP_METRICS_TIME_BITS < TAP_METRICS_TIMES
		       ? bits - TAP_METRICS_TIME_BITS
		       : TAP_METRICS_TIMES - 1;
}

#endif
