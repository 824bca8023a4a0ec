/* SPDX-License-Identifier: MIT */
/*
 * The smallest NCCL: says which copy it is, so that a test sees where a call
 * ended.  Built several times with another COPY.
 */
#include <errno.h>
#include <stddef.h>

int ncclGetVersion(int *version);
int pncclGetVersion(int *version) __attribute__((alias("ncclGetVersion")));
int ncclGroupStart(void);
int ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count, int datatype,
		  int root, void *comm, void *stream);

int ncclGetVersion(int *version)
{
	*version = COPY;
	errno = 100 + COPY;
	return 0;
}

int ncclGroupStart(void)
{
	return COPY;
}

int ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count, int datatype,
		  int root, void *comm, void *stream)
{
	(void) sendbuff;
	(void) count;
	(void) datatype;
	(void) root;
	(void) comm;
	(void) stream;
	*(int *) recvbuff = COPY;
	return 0;
}
