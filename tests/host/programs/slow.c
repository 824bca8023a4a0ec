/* SPDX-License-Identifier: MIT */
/*
 * A NCCL whose call lasts until the program lets it go, so that something can happen
 * meanwhile.  Else it answers as the second copy of tests/link does.
 */
#include <errno.h>
#include <stddef.h>
#include <time.h>

int ncclGetVersion(int *version);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count, int datatype,
		  int op, void *comm, void *stream);

int slow_go;

int ncclGetVersion(int *version)
{
	*version = 2;
	errno = 102;
	return 0;
}

/* Ten seconds at most; its sleep can be interrupted, and the thread cancelled in it. */
static int wait_to_go(void)
{
	const struct timespec moment = {.tv_nsec = 1000 * 1000};
	int i;

	for (i = 0; i < 10000 && !__atomic_load_n(&slow_go, __ATOMIC_ACQUIRE); i++)
		nanosleep(&moment, NULL);
	errno = 103;
	return i < 10000 ? 0 : 1;
}

int ncclGroupStart(void)
{
	return wait_to_go();
}

int ncclGroupEnd(void)
{
	errno = 104;
	return 0;
}

int ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count, int datatype,
		  int op, void *comm, void *stream)
{
	(void) sendbuff, (void) recvbuff, (void) count, (void) datatype, (void) op;
	(void) comm, (void) stream;
	return wait_to_go();
}
