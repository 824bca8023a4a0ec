/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver's functions, by each binding that a program uses: linked, looked up
 * with dlsym(), or taken from cuGetProcAddress() by a runtime library, as nearly all
 * programs do.
 *
 * It hides that one function is wrapped several times: each name has a wrapper for each
 * binding, since bindings may lead to different functions of a driver, and a call must
 * reach the function that the program obtained.  The variants for the legacy default
 * stream and for the per-thread stream are different names.  HIP's functions are wrapped
 * likewise.
 */
#ifndef TAP_INTERCEPT_CUDA_CUDA_H
#define TAP_INTERCEPT_CUDA_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "calls/cuda_calls.h"
#include "common/compiler.h"
#include "intercept/cuda/functions.h"
#include "intercept/guard.h"
#include "intercept/start.h"
#include "tracepoints/cuda_events.h"

/* The library whose functions are wrapped: CUDA's driver or HIP. */
struct tap_cuda_library {
	const char *soname;	 /* or its beginning */
	CUresult missing;	 /* the result of a function that the library lacks */
	const char *get_current; /* name of the function that returns the current
				    context */
	enum tap_started (*start)(struct tap_guard *guard); /* loads the library's
							       events */
	void *ask;	/* the function get_current, NULL until it is found */
	uint32_t epoch; /* tap_epoch when ask was found */
};

extern struct tap_cuda_library tap_cuda_driver tap_hidden, tap_cuda_hip tap_hidden;

/* One binding of one name. */
struct tap_cuda_entry {
	/* The switches, as in struct tap_entry; real is written before them. */
	const int *on[2];
	void *real;
	const char *name;
	struct tap_cuda_library *library;
	uint32_t epoch; /* of a linked entry: tap_epoch when real was found */
	uint16_t row;
	uint16_t cbid; /* CUPTI's number of the function, 0 for none */
	bool per_thread, linked;
};

/* Wrappers of a name for looked-up functions: of two drivers, or two addresses in one. */
#define TAP_CUDA_COPIES 2

struct tap_cuda_name {
	const char *name, *base_name;
	int since;
	bool per_thread;
	struct tap_cuda_entry *linked;
	struct {
		struct tap_cuda_entry *entry;
		void *wrapper;
	} looked_up[TAP_CUDA_COPIES];
};

/* All names of the driver, older versions before later ones, and all names of HIP. */
extern const struct tap_cuda_name tap_cuda_names[] tap_hidden;
extern const unsigned tap_cuda_nr_names tap_hidden;
extern const struct tap_cuda_name tap_hip_names[] tap_hidden;
extern const unsigned tap_hip_nr_names tap_hidden;

/*
 * The wrapper that a program gets when it looks up name and the real answer is `found`;
 * NULL when none is free.
 */
void *tap_cuda_bind(const struct tap_cuda_name *name, void *found) tap_hidden;

/* The arguments of a call that the tracer interprets. */
struct tap_cuda_what {
	bool has_stream;
	CUstream stream;
	CUfunction function;
	enum tap_function_asked asked;
	void **parameters, **extra;
	const void *caller; /* the return address of the call */
};

/*
 * Returns whether the call is recorded.  If so, it begins the record's common part, and
 * the thread is inside the call until tap_cuda_wrote() or tap_cuda_leave().
 */
bool tap_cuda_enter(struct tap_cuda_entry *e,
		    struct tap_cuda_common *ret_common) tap_hidden;
/* Called right before the real call. */
void tap_cuda_begin(const struct tap_cuda_entry *e, struct tap_cuda_common *common,
		    const struct tap_cuda_what *what) tap_hidden;
void tap_cuda_wrote(const struct tap_cuda_entry *e, struct tap_cuda_common *record,
		    size_t length) tap_hidden;
void tap_cuda_leave(const struct tap_cuda_common *common) tap_hidden;

/* Has the next call of the entry decide anew whether it is recorded. */
void tap_cuda_expire(struct tap_cuda_entry *e) tap_hidden;

/* The real function, for a call that is not recorded: NULL when there is none. */
void *tap_cuda_real(struct tap_cuda_entry *e) tap_hidden;

/*
 * Adds to the number of open captures, of all streams; the tracer queries streams only
 * while there are any.
 */
void tap_cuda_capture(int more) tap_hidden;

#endif
