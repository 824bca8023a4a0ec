/* SPDX-License-Identifier: MIT */
/*
 * The smallest NCCL: says which copy it is, so that a test sees where a call
 * ended.  Built several times with another COPY.
 */
#include <errno.h>
#include <stddef.h>

int ncclGetVersion(int *version);
int pncclGetVersion(int *version) __attribute__((alias("ncclGetVersion")));
/* By these a library is known to have NCCL in it; nobody calls them. */
int ncclCommInitRank(void);
int pncclCommInitRank(void) __attribute__((alias("ncclCommInitRank")));
int ncclGroupStart(void);
int ncclCommCount(void *comm, int *count);
int ncclCommCuDevice(void *comm, int *device);
int ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count, int datatype,
		  int root, void *comm, void *stream);

int ncclGetVersion(int *version)
{
	*version = COPY;
	errno = 100 + COPY;
	return 0;
}

int ncclCommInitRank(void)
{
	return -1;
}

int ncclGroupStart(void)
{
	return COPY;
}

int ncclCommCount(void *comm, int *count)
{
	(void) comm;
	*count = COPY;
	return 0;
}

/*
 * With optimization this is a jump to the function's entry for other libraries, as
 * NVIDIA's ncclBcast for aarch64 has one to ncclBroadcast.
 */
int ncclCommCuDevice(void *comm, int *device)
{
	return ncclCommCount(comm, device);
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
