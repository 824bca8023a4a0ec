/* SPDX-License-Identifier: MIT */
/*
 * What the files of the CUPTI double share.  It is built three times, for the releases
 * whose records differ; DOUBLE_CUPTI_VERSION says which.  What it knows of the device it
 * is told by the driver double (double_observer.h).
 */
#ifndef DOUBLE_CUPTI_DOUBLE_H
#define DOUBLE_CUPTI_DOUBLE_H

#include "double_observer.h"

#include <cupti.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define DOUBLE_EXPORT __attribute__((visibility("default")))

enum {
	/* More than any release has of them. */
	DOUBLE_CBIDS = 1024,
	DOUBLE_DOMAINS = 7,
	DOUBLE_KINDS = 64
};

/* Of this release: the records, how many kinds and domains there are, what it says. */
#if DOUBLE_CUPTI_VERSION < 12000
typedef CUpti_ActivityKernel8 double_kernel;
typedef CUpti_ActivityMemcpy5 double_memcpy;
typedef CUpti_ActivityOverhead double_overhead;
typedef CUpti_ActivitySynchronization double_synchronization;
typedef CUpti_ActivityContext double_context;
enum {
	DOUBLE_API_VERSION = 18,
	DOUBLE_KIND_COUNT = 53,
	DOUBLE_DOMAIN_COUNT = 6,
	DOUBLE_DRIVER_CBIDS = 677,
	DOUBLE_RUNTIME_CBIDS = 434,
	DOUBLE_RESOURCE_CBIDS = 21,
	DOUBLE_NO_DRIVER = CUPTI_ERROR_NOT_INITIALIZED,
	DOUBLE_NO_KIND = CUPTI_ERROR_UNKNOWN
};
#elif DOUBLE_CUPTI_VERSION < 13000
typedef CUpti_ActivityKernel9 double_kernel;
typedef CUpti_ActivityMemcpy6 double_memcpy;
typedef CUpti_ActivityOverhead3 double_overhead;
typedef CUpti_ActivitySynchronization2 double_synchronization;
typedef CUpti_ActivityContext3 double_context;
enum {
	DOUBLE_API_VERSION = 28,
	DOUBLE_KIND_COUNT = 56,
	DOUBLE_DOMAIN_COUNT = 7,
	DOUBLE_DRIVER_CBIDS = 784,
	DOUBLE_RUNTIME_CBIDS = 487,
	DOUBLE_RESOURCE_CBIDS = 24,
	DOUBLE_NO_DRIVER = CUPTI_ERROR_NOT_INITIALIZED,
	DOUBLE_NO_KIND = CUPTI_ERROR_INVALID_KIND
};
#else
typedef CUpti_ActivityKernel10 double_kernel;
typedef CUpti_ActivityMemcpy6 double_memcpy;
typedef CUpti_ActivityOverhead3 double_overhead;
typedef CUpti_ActivitySynchronization2 double_synchronization;
typedef CUpti_ActivityContext3 double_context;
enum {
	DOUBLE_API_VERSION = 130001,
	DOUBLE_KIND_COUNT = 56,
	DOUBLE_DOMAIN_COUNT = 7,
	DOUBLE_DRIVER_CBIDS = 807,
	DOUBLE_RUNTIME_CBIDS = 523,
	DOUBLE_RESOURCE_CBIDS = 24,
	DOUBLE_NO_DRIVER = CUPTI_ERROR_UNKNOWN,
	DOUBLE_NO_KIND = CUPTI_ERROR_INVALID_KIND
};
#endif

/* Of the environment; see README. */
struct double_settings {
	const char *busy;
	/* How many may subscribe before the slot is taken by `busy`. */
	unsigned long busy_after;
	int busy_result;
	/* Every so many records: 0 for none. */
	unsigned long drop;
	unsigned long zero;
	int64_t delay_ns;
};

const struct double_settings *double_settings(void);
__attribute__((format(printf, 1, 2))) void double_log(const char *format, ...);

/*
 * Every function begins with one of these and returns what it answers, if not 0: a
 * failure that DOUBLE_CUPTI_FAIL asks for, and of those that need the driver that it is
 * not there.
 */
CUptiResult double_begin(const char *function);
CUptiResult double_begin_with_driver(const char *function);
/* Valid after the latter. */
extern const struct double_observer_table *double_driver;

/* The number of a function, 0 where CUPTI has none. */
CUpti_CallbackId double_cbid(const char *entry, bool is_runtime);

/* What CUPTI's clock says, and the same of a time of CLOCK_MONOTONIC. */
uint64_t double_time(void);
int64_t double_time_offset(void);
int64_t double_monotonic(void);

/* Calls the subscriber, if it asked for this. */
void double_fire(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data);
void double_forget_subscriber(void);

/* A call, from its beginning to its end; in observe.c. */
extern const struct double_observer double_observer;

/* Whether records of this kind are wanted; and of this call. */
bool double_is_enabled(CUpti_ActivityKind kind);
bool double_is_call_enabled(bool is_runtime, CUpti_CallbackId cbid);
void double_disable_all(void);

/* The thread's identifiers, one record for each kind that has any, before a call's. */
void double_queue_external(uint32_t correlation);

/* How long a record is; 0 for a kind that is not told here. */
size_t double_record_size(uint32_t kind);
/* Takes a copy; `is_device` where its times are of CLOCK_MONOTONIC still. */
void double_queue_record(const void *record, bool is_device);
/* The application's thread asks for the first buffer. */
void double_prepare_buffer(void);
/* Forgets what was not delivered. */
void double_discard(void);
/* Contexts that are there, as records. */
void double_queue_contexts(void);

#endif
