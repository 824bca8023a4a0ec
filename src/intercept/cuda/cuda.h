/* SPDX-License-Identifier: MIT */
/*
 * The CUDA driver's functions, by whatever way a program reaches them: linked, looked up
 * with dlsym(), or taken from cuGetProcAddress() by a runtime library, which is how
 * nearly all do.
 *
 * It hides that one function is wrapped several times: each name has a wrapper for each
 * way, since the ways may lead to different functions of a driver, and a call must end in
 * the one that the program was given.  The forms for the legacy default stream and for
 * the thread's own are different names.  HIP's functions go the same way.
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

/* Whose functions they are. */
struct tap_cuda_library {
	const char *soname;	 /* or how it begins */
	CUresult missing;	 /* answered by a function that it lacks */
	const char *get_current; /* tells the context that is current */
	enum tap_started (*start)(struct tap_guard *guard); /* has its events there */
	void *ask;	/* that function, once it was found */
	uint32_t epoch; /* tap_epoch then */
};

extern struct tap_cuda_library tap_cuda_driver tap_hidden, tap_cuda_hip tap_hidden;

/* One way into one name. */
struct tap_cuda_entry {
	/* As in struct tap_entry; real is written before them. */
	const int *on[2];
	void *real;
	const char *name;
	struct tap_cuda_library *library;
	uint32_t epoch; /* of a linked one: tap_epoch when real was found */
	uint16_t row;
	uint16_t cbid; /* CUPTI's number of the function, 0: it has none */
	bool per_thread, linked;
};

/* Wrappers for what is handed out: two drivers at once, or two addresses of one. */
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

/* All of the driver's names, the older forms of each before the later ones; HIP's. */
extern const struct tap_cuda_name tap_cuda_names[] tap_hidden;
extern const unsigned tap_cuda_nr_names tap_hidden;
extern const struct tap_cuda_name tap_hip_names[] tap_hidden;
extern const unsigned tap_hip_nr_names tap_hidden;

/*
 * The wrapper through which a program goes that looks name up, which is `found`; NULL
 * when it has to go without.
 */
void *tap_cuda_bind(const struct tap_cuda_name *name, void *found) tap_hidden;

/* Which of a call's arguments means what. */
struct tap_cuda_what {
	bool has_stream;
	CUstream stream;
	CUfunction function;
	enum tap_function_asked asked;
	void **extra;
	const void *caller; /* the return address of the call */
};

/*
 * Whether the call is recorded.  Then the record's common part is begun, and the thread
 * is inside the call until tap_cuda_wrote() or tap_cuda_leave().
 */
bool tap_cuda_enter(struct tap_cuda_entry *e,
		    struct tap_cuda_common *ret_common) tap_hidden;
/* Right before the real call. */
void tap_cuda_begin(const struct tap_cuda_entry *e, struct tap_cuda_common *common,
		    const struct tap_cuda_what *what) tap_hidden;
void tap_cuda_wrote(const struct tap_cuda_entry *e, struct tap_cuda_common *record,
		    size_t length) tap_hidden;
void tap_cuda_leave(const struct tap_cuda_common *common) tap_hidden;

/* The real function, for a call that is not recorded: NULL when there is none. */
void *tap_cuda_real(struct tap_cuda_entry *e) tap_hidden;

/* Captures that are open, in whatever stream: a stream is asked only then. */
void tap_cuda_capture(int more) tap_hidden;

#endif
