/* SPDX-License-Identifier: MIT */
/*
 * Calls the NCCL whose path is given in ways that need no GPU, mostly wrong ones,
 * and prints what each returns: the double and the real one must print the same.
 * Functions that the library lacks, or that are named after it, are left out.
 */
#include <nccl.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;
static char **left_out;

static void *function(const char *name)
{
	void *found = dlsym(library, name);
	char **other;

	for (other = left_out; *other; other++) {
		if (strcmp(*other, name) == 0)
			return NULL;
	}
	if (!found)
		fprintf(stderr, "%s\n", name);
	return found;
}

#define CALL(name) ((__typeof__(&name)) function(#name))
/* Prints the call as it is written here and its result. */
#define SHOW(name, ...) \
	do { \
		__typeof__(&name) called = CALL(name); \
\
		if (called) \
			printf(#name "(" #__VA_ARGS__ ") = %d\n", called(__VA_ARGS__)); \
	} while (0)

static void show_errors(void)
{
	int version = 0;
	int i;

	SHOW(ncclGetVersion, NULL);
	printf("%d", CALL(ncclGetVersion)(&version));
	printf(" and the version is %d.%d.%d\n", version / 10000, version / 100 % 100,
	       version % 100);
	for (i = -1; i <= ncclNumResults + 1; i++)
		printf("%d: %s\n", i, CALL(ncclGetErrorString)((ncclResult_t) i));
}

static void show_ids(void)
{
	static const char zeros[NCCL_UNIQUE_ID_BYTES];
	ncclUniqueId a = {{0}};
	ncclUniqueId b = {{0}};

	SHOW(ncclGetUniqueId, NULL);
	SHOW(ncclGetUniqueId, &a);
	SHOW(ncclGetUniqueId, &b);
	printf("ids differ: %d\n", memcmp(&a, &b, sizeof(a)) != 0);
	printf("the first 8 bytes are a number: %d\n", memcmp(&a, zeros, 8) != 0);
	printf("the family is that of IPv4 or IPv6: %d\n",
	       a.internal[8] == 2 || a.internal[8] == 10);
	printf("the rest is zero: %d\n",
	       memcmp(a.internal + 40, zeros, sizeof(a) - 40) == 0);
}

static void show_communicators(void)
{
	static long no_communicator[1024];
	ncclComm_t wrong = (ncclComm_t) no_communicator;
	ncclComm_t comm = NULL;
	ncclWindow_t window;
	ncclResult_t state;
	void *handle;
	int value;

	SHOW(ncclCommCount, NULL, &value);
	SHOW(ncclCommCount, wrong, &value);
	SHOW(ncclCommCuDevice, NULL, &value);
	SHOW(ncclCommCuDevice, wrong, &value);
	SHOW(ncclCommUserRank, NULL, &value);
	SHOW(ncclCommUserRank, wrong, &value);
	SHOW(ncclCommGetAsyncError, NULL, &state);
	SHOW(ncclCommGetAsyncError, wrong, &state);
	SHOW(ncclCommFinalize, NULL);
	SHOW(ncclCommDestroy, NULL);
	SHOW(ncclCommAbort, NULL);
	SHOW(ncclCommSplit, NULL, 0, 0, &comm, NULL);
	SHOW(ncclCommSplit, wrong, 0, 0, &comm, NULL);
	SHOW(ncclCommSplit, NULL, 0, 0, NULL, NULL);
	SHOW(ncclCommRevoke, NULL, 0);
	SHOW(ncclCommRevoke, NULL, 1);
	SHOW(ncclCommRegister, NULL, &value, 4, &handle);
	SHOW(ncclCommRegister, wrong, &value, 4, &handle);
	SHOW(ncclCommDeregister, NULL, NULL);
	SHOW(ncclCommDeregister, wrong, NULL);
	SHOW(ncclMemAlloc, NULL, 0);
	SHOW(ncclMemAlloc, &handle, 0);
	SHOW(ncclMemFree, NULL);
	SHOW(ncclCommWindowRegister, NULL, NULL, 0, &window, 0);
	SHOW(ncclCommWindowRegister, NULL, &value, 4, &window, 0);
	SHOW(ncclCommWindowDeregister, NULL, NULL);
	SHOW(ncclWinGetUserPtr, NULL, NULL, &handle);
}

static void show_operations(void)
{
	float x[4] = {0};

	SHOW(ncclAllReduce, x, x, 4, ncclFloat, ncclSum, NULL, NULL);
	SHOW(ncclAllReduce, x, x, 0, ncclFloat, ncclSum, NULL, NULL);
	SHOW(ncclBroadcast, x, x, 4, ncclFloat, 0, NULL, NULL);
	SHOW(ncclBcast, x, 4, ncclFloat, 0, NULL, NULL);
	SHOW(ncclReduce, x, x, 4, ncclFloat, ncclSum, 0, NULL, NULL);
	SHOW(ncclAllGather, x, x, 4, ncclFloat, NULL, NULL);
	SHOW(ncclReduceScatter, x, x, 4, ncclFloat, ncclSum, NULL, NULL);
	SHOW(ncclAlltoAll, x, x, 4, ncclFloat, NULL, NULL);
	SHOW(ncclGather, x, x, 4, ncclFloat, 0, NULL, NULL);
	SHOW(ncclScatter, x, x, 4, ncclFloat, 0, NULL, NULL);
	SHOW(ncclSend, x, 4, ncclFloat, 0, NULL, NULL);
	SHOW(ncclRecv, x, 4, ncclFloat, 0, NULL, NULL);
}

static void show_groups(void)
{
	float x[4] = {0};

	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupStart, );
	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupStart, );
	SHOW(ncclGroupStart, );
	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupEnd, );
	/* What fails inside a group makes its end fail too, but not the next one. */
	SHOW(ncclGroupStart, );
	SHOW(ncclSend, x, 4, ncclFloat, 0, NULL, NULL);
	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupStart, );
	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupStart, );
	SHOW(ncclGroupStart, );
	SHOW(ncclSend, x, 4, ncclFloat, 0, NULL, NULL);
	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupEnd, );
}

static void show_simulations(void)
{
	ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
	ncclSimInfo_t wrong = {0};

	if (!CALL(ncclGroupSimulateEnd))
		return;
	SHOW(ncclGroupSimulateEnd, &info);
	SHOW(ncclGroupSimulateEnd, NULL);
	SHOW(ncclGroupStart, );
	SHOW(ncclGroupSimulateEnd, &info);
	printf("time is unknown: %d\n", info.estimatedTime == NCCL_UNDEF_FLOAT);
	SHOW(ncclGroupStart, );
	SHOW(ncclGroupSimulateEnd, NULL);
	wrong.size = sizeof(wrong);
	SHOW(ncclGroupStart, );
	SHOW(ncclGroupSimulateEnd, &wrong);
	SHOW(ncclGroupStart, );
	SHOW(ncclGroupStart, );
	SHOW(ncclGroupSimulateEnd, &wrong);
	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupEnd, );
}

/* The last failure of a group is its result, and a question is no failure. */
static void show_failures(void)
{
	ncclUniqueId id = {{0}};
	ncclComm_t comm = NULL;
	float x[4] = {0};
	int value;

	SHOW(ncclGroupStart, );
	SHOW(ncclCommCount, NULL, &value);
	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupStart, );
	SHOW(ncclSend, x, 4, ncclFloat, 0, NULL, NULL);
	SHOW(ncclCommSplit, NULL, 0, 0, &comm, NULL);
	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupStart, );
	SHOW(ncclCommInitRank, &comm, 0, id, 0);
	SHOW(ncclGroupEnd, );
	SHOW(ncclGroupEnd, );
}

static void show_initialisation(void)
{
	ncclUniqueId id = {{0}};
	ncclComm_t comm = NULL;

	SHOW(ncclCommInitRank, &comm, 2, id, 2);
	SHOW(ncclCommInitRank, &comm, 0, id, 0);
	SHOW(ncclCommInitRank, NULL, 1, id, 0);
	SHOW(ncclCommInitAll, NULL, 1, NULL);
	SHOW(ncclCommInitAll, &comm, -1, NULL);
	SHOW(ncclCommInitAll, &comm, 1, NULL);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: arguments LIBRARY [FUNCTION...]\n", stderr);
		return 2;
	}
	left_out = argv + 2;
	library = dlopen(argv[1], RTLD_NOW);
	if (!library) {
		fprintf(stderr, "arguments: %s\n", dlerror());
		return 1;
	}
	/* So that a crash shows where it happened. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	show_errors();
	show_ids();
	show_communicators();
	show_operations();
	show_groups();
	show_simulations();
	show_failures();
	show_initialisation();
	return 0;
}
