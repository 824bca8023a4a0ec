/* SPDX-License-Identifier: MIT */
/*
 * What the files of the fake CUPTI share.  It is built three times, for the releases
 * whose records differ; FAKE_CUPTI_VERSION says which.  What it knows of the device it is
 * told by the fake driver (fake_observer.h).
 */
#ifndef FAKE_CUPTI_DOUBLE_H
#define FAKE_CUPTI_DOUBLE_H

#include "fake_observer.h"

#include <cupti.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define FAKE_EXPORT __attribute__((visibility("default")))

enum {
	/* More than any release has of them. */
	FAKE_CBIDS = 1024,
	FAKE_DOMAINS = 7,
	FAKE_KINDS = 64
};

/* Of this release: the records, how many kinds and domains there are, what it says. */
#if FAKE_CUPTI_VERSION < 12000
typedef CUpti_ActivityKernel8 fake_kernel;
typedef CUpti_ActivityMemcpy5 fake_memcpy;
typedef CUpti_ActivityOverhead fake_overhead;
typedef CUpti_ActivitySynchronization fake_synchronization;
typedef CUpti_ActivityContext fake_context;
enum {
	FAKE_API_VERSION = 18,
	FAKE_KIND_COUNT = 53,
	FAKE_DOMAIN_COUNT = 6,
	FAKE_DRIVER_CBIDS = 677,
	FAKE_RUNTIME_CBIDS = 434,
	FAKE_RESOURCE_CBIDS = 21,
	FAKE_NO_DRIVER = CUPTI_ERROR_NOT_INITIALIZED,
	FAKE_NO_KIND = CUPTI_ERROR_UNKNOWN
};
#elif FAKE_CUPTI_VERSION < 13000
typedef CUpti_ActivityKernel9 fake_kernel;
typedef CUpti_ActivityMemcpy6 fake_memcpy;
typedef CUpti_ActivityOverhead3 fake_overhead;
typedef CUpti_ActivitySynchronization2 fake_synchronization;
typedef CUpti_ActivityContext3 fake_context;
enum {
	FAKE_API_VERSION = 28,
	FAKE_KIND_COUNT = 56,
	FAKE_DOMAIN_COUNT = 7,
	FAKE_DRIVER_CBIDS = 784,
	FAKE_RUNTIME_CBIDS = 487,
	FAKE_RESOURCE_CBIDS = 24,
	FAKE_NO_DRIVER = CUPTI_ERROR_NOT_INITIALIZED,
	FAKE_NO_KIND = CUPTI_ERROR_INVALID_KIND
};
#else
typedef CUpti_ActivityKernel10 fake_kernel;
typedef CUpti_ActivityMemcpy6 fake_memcpy;
typedef CUpti_ActivityOverhead3 fake_overhead;
typedef CUpti_ActivitySynchronization2 fake_synchronization;
typedef CUpti_ActivityContext3 fake_context;
enum {
	FAKE_API_VERSION = 130001,
	FAKE_KIND_COUNT = 56,
	FAKE_DOMAIN_COUNT = 7,
	FAKE_DRIVER_CBIDS = 807,
	FAKE_RUNTIME_CBIDS = 523,
	FAKE_RESOURCE_CBIDS = 24,
	FAKE_NO_DRIVER = CUPTI_ERROR_UNKNOWN,
	FAKE_NO_KIND = CUPTI_ERROR_INVALID_KIND
};
#endif

/* Of the environment; see README. */
struct fake_settings {
	const char *busy;
	/* How many may subscribe before the slot is taken by `busy`. */
	unsigned long busy_after;
	int busy_result;
	/* Every so many records: 0 for none. */
	unsigned long drop;
	unsigned long zero;
	int64_t delay_ns;
};

const struct fake_settings *fake_settings(void);
__attribute__((format(printf, 1, 2))) void fake_log(const char *format, ...);

/*
 * Every function begins with one of these and returns what it answers, if not 0: a
 * failure that FAKE_CUPTI_FAIL asks for, and of those that need the driver that it is not
 * there.
 */
CUptiResult fake_begin(const char *function);
CUptiResult fake_begin_with_driver(const char *function);
/* Valid after the latter. */
extern const struct fake_observer_table *fake_driver;

/* The number of a function, 0 where CUPTI has none. */
CUpti_CallbackId fake_cbid(const char *entry, bool is_runtime);

/* What CUPTI's clock says, and the same of a time of CLOCK_MONOTONIC. */
uint64_t fake_time(void);
int64_t fake_time_offset(void);
int64_t fake_monotonic(void);

/* Calls the subscriber, if it asked for this. */
void fake_fire(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data);
void fake_forget_subscriber(void);

/* A call, from its beginning to its end; in observe.c. */
extern const struct fake_observer fake_observer;

/* Whether records of this kind are wanted; and of this call. */
bool fake_is_enabled(CUpti_ActivityKind kind);
bool fake_is_call_enabled(bool is_runtime, CUpti_CallbackId cbid);
void fake_disable_all(void);

/* The thread's identifiers, one record for each kind that has any, before a call's. */
void fake_queue_external(uint32_t correlation);

/* How long a record is; 0 for a kind that is not told here. */
size_t fake_record_size(uint32_t kind);
/* Takes a copy; `is_device` where its times are of CLOCK_MONOTONIC still. */
void fake_queue_record(const void *record, bool is_device);
/* The application's thread asks for the first buffer. */
void fake_prepare_buffer(void);
/* Forgets what was not delivered. */
void fake_discard(void);
/* Contexts that are there, as records. */
void fake_queue_contexts(void);

#endif
