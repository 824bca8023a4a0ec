/* SPDX-License-Identifier: MIT */
/*
 * An NCCL whose ncclAllReduce forks, as a library does that starts a helper: the child
 * returns from the call, too.  The call says what became of it: 2, a system error, where
 * it was killed.
 */
#include <sys/wait.h>
#include <unistd.h>

struct id {
	char internal[128];
};

int ncclCommInitRank(void **ret_comm, int nranks, struct id id, int rank);
int ncclAllReduce(const void *send, void *recv, unsigned long count, int type, int op,
		  void *comm, void *stream);

int ncclCommInitRank(void **ret_comm, int nranks, struct id id, int rank)
{
	static int comm;

	(void) nranks, (void) id, (void) rank;
	*ret_comm = &comm;
	return 0;
}

int ncclAllReduce(const void *send, void *recv, unsigned long count, int type, int op,
		  void *comm, void *stream)
{
	const pid_t pid = fork();
	int how = 1;

	(void) send, (void) recv, (void) count, (void) type, (void) op, (void) comm;
	(void) stream;
	if (!pid)
		return 0;
	return waitpid(pid, &how, 0) == pid && !how ? 0 : 2;
}
