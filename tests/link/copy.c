/* SPDX-License-Identifier: MIT */
/*
 * The smallest NCCL: says which copy it is, so that a test sees where a call
 * ended.  Built several times with another COPY.
 */
#include <errno.h>

int ncclGetVersion(int *version);
int pncclGetVersion(int *version) __attribute__((alias("ncclGetVersion")));
int ncclGroupStart(void);

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
