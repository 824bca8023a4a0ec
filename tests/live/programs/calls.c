/* SPDX-License-Identifier: MIT */
/*
 * A program linked to NCCL that makes a few calls and prints what it got: each
 * call once, so that the trace can be compared with it.  Needs no GPU: without
 * one, initialising fails, and with which code is NCCL's to say.
 */
#include <stdio.h>
#include <string.h>

struct unique_id {
	char internal[128];
};

int ncclGetVersion(int *version);
int ncclGetUniqueId(struct unique_id *id);
int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclCommInitRank(void **comm, int nr_ranks, struct unique_id id, int rank);
const char *ncclGetErrorString(int result);

int main(void)
{
	struct unique_id id;
	int version = 0, result;
	void *comm = NULL;

	memset(&id, 0, sizeof(id));
	result = ncclGetVersion(&version);
	printf("ncclGetVersion %d version %d\n", result, version);
	printf("ncclGetUniqueId %d\n", ncclGetUniqueId(&id));
	printf("ncclGroupStart %d\n", ncclGroupStart());
	printf("ncclGroupEnd %d\n", ncclGroupEnd());
	result = ncclCommInitRank(&comm, 1, id, 0);
	printf("ncclCommInitRank %d\n", result);
	printf("ncclGetErrorString %s\n", ncclGetErrorString(result));
	return 0;
}
