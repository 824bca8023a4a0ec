/* SPDX-License-Identifier: MIT */
/*
 * What the files of the fake driver share: contexts, streams and the one lock.
 * The device is host memory and threads, so that programs of the driver API run
 * where there is no GPU, with the order of execution that a GPU guarantees and
 * no other: what is not synchronised is not done yet.
 */
#ifndef FAKE_CUDA_DRIVER_H
#define FAKE_CUDA_DRIVER_H

#include <cuda.h>

#include <pthread.h>
#include <stdbool.h>

#define FAKE_EXPORT __attribute__((visibility("default")))

enum { FAKE_MAX_DEVICES = 64 };

struct CUctx_st {
	struct CUctx_st *next;
	CUdevice device;
	/* The stream that stands for NULL; made at its first use. */
	struct CUstream_st *legacy;
};

/*
 * Guards every context, stream, event and allocation.  One lock for all is
 * slow and cannot be taken in a wrong order; a double needs the latter.
 */
extern pthread_mutex_t fake_lock;

/* CUDA_SUCCESS once cuInit() was called in this very process, not in a parent. */
CUresult fake_require_init(void);
/* Also needs a current context, which it returns. */
CUresult fake_require_context(struct CUctx_st **ret_context);
/* Whether the handle is of a live context.  Called with fake_lock held. */
bool fake_context_is_live(const struct CUctx_st *context);

/*
 * Puts run(data) at the end of a stream; takes any of the special handles.
 * run() is called on the stream's worker without the lock and must free data.
 * On an error it is never called.
 */
CUresult fake_stream_enqueue(CUstream handle, void (*run)(void *data), void *data);
/* Waits until all work of the context that was enqueued so far is done. */
void fake_context_drain(struct CUctx_st *context);
/* Lets go of the streams of a context that has been drained. */
void fake_context_close_streams(struct CUctx_st *context);

/* NULL means the thread's own stream in the _ptsz and _ptds forms. */
static inline CUstream fake_per_thread(CUstream stream)
{
	return stream ? stream : CU_STREAM_PER_THREAD;
}

#endif
