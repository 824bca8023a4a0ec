/* SPDX-License-Identifier: MIT */
/*
 * A NCCL whose call never returns, one that means nothing to the order of operations; and
 * whose communicators all have an error.
 */
#include <stddef.h>
#include <unistd.h>

int ncclMemAlloc(void **memory, size_t size);
int ncclCommGetAsyncError(void *comm, int *error);

int ncclMemAlloc(void **memory, size_t size)
{
	(void) memory, (void) size;
	for (;;)
		pause();
}

int ncclCommGetAsyncError(void *comm, int *error)
{
	(void) comm;
	*error = 6; /* ncclRemoteError */
	return 0;
}
