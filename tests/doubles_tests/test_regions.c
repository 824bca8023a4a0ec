/* SPDX-License-Identifier: MIT */
/*
 * In which order the service thread of the NCCL double registers the buffers of
 * connections for sends and receives, and what it registers once.  The program exports a
 * dlvsym(), by which the double looks for libibverbs, and gives it a function in front of
 * the real one.
 */
#include "ranks.h"

#include <dlfcn.h>
#include <infiniband/verbs.h>

enum { RANKS = 3 };

/* Of one channel: eight steps, and sixteen. */
#define LL_BYTES (512UL << 10)
#define POOL_BYTES (2UL << 20)

typedef struct ibv_mr *reg_function(struct ibv_pd *pd, void *address, size_t size,
				    uint64_t iova, unsigned int access);

static reg_function *real_reg;
/* Of the process, in the order of their registration: of LL, or of a pool. */
static char seen[64];
static atomic_int seen_count;

/* By this, of which regions are in relaxed order, NCCL registers only buffers. */
static struct ibv_mr *reg(struct ibv_pd *pd, void *address, size_t size, uint64_t iova,
			  unsigned int access)
{
	/* NCCL asks without a domain whether libibverbs has it. */
	if (pd && seen_count < (int) sizeof(seen) - 1)
		seen[seen_count++] = size == LL_BYTES	  ? 'L'
				     : size == POOL_BYTES ? 'P'
							  : '?';
	return real_reg(pd, address, size, iova, access);
}

void *dlvsym(void *restrict handle, const char *restrict name,
	     const char *restrict version)
{
	void *(*next)(void *, const char *, const char *);
	void *found;

	*(void **) &next = dlsym(RTLD_NEXT, "dlvsym");
	found = next(handle, name, version);
	if (!found || strcmp(name, "ibv_reg_mr_iova2") != 0)
		return found;
	*(void **) &real_reg = found;
	return (void *) reg;
}

/* Before 2.22 rings are connected then: what they have is not looked at. */
static ncclComm_t begin(int rank)
{
	ncclComm_t comm = init(rank, RANKS, NULL);

	memset(seen, 0, sizeof(seen));
	atomic_store(&seen_count, 0);
	return comm;
}

/* To the one so far behind, and from the one so far before. */
static void shift(ncclComm_t comm, int rank, int distance)
{
	int to = (rank + distance) % RANKS;
	int from = (rank - distance + RANKS) % RANKS;

	REQUIRE(ncclGroupStart() == ncclSuccess);
	REQUIRE(ncclSend(memory(), 1, ncclInt32, to, comm, stream) == ncclSuccess);
	REQUIRE(ncclRecv((char *) memory() + 4, 1, ncclInt32, from, comm, stream) ==
		ncclSuccess);
	REQUIRE(ncclGroupEnd() == ncclSuccess);
	REQUIRE(cuStreamSynchronize(stream) == CUDA_SUCCESS);
}

static void require_seen(int rank, const char *wanted, int line)
{
	if (strcmp(seen, wanted) != 0)
		printf("# rank %d: %s, not %s\n", rank, seen, wanted);
	require(strcmp(seen, wanted) == 0, rank, line);
}
#define REQUIRE_SEEN(wanted) require_seen(rank, wanted, __LINE__)

static void with_ll(int rank)
{
	ncclComm_t comm;

	setenv("NCCL_ALLOC_P2P_NET_LL_BUFFERS", "1", 1);
	comm = begin(rank);
	shift(comm, rank, 1);
	REQUIRE_SEEN("LPLP");
	/* The pools are there; LL's buffer is each connection's own. */
	shift(comm, rank, 2);
	REQUIRE_SEEN("LPLPLL");
	leave(comm, rank, RANKS);
}

static void without_ll(int rank)
{
	ncclComm_t comm = begin(rank);

	shift(comm, rank, 1);
	REQUIRE_SEEN("PP");
	shift(comm, rank, 2);
	REQUIRE_SEEN("PP");
	leave(comm, rank, RANKS);
}

int main(int argc, char **argv)
{
	static const char *const releases[] = {"2.18.3", "2.21.5", "2.28.9", "2.30.7"};
	char sentence[128];
	size_t i;

	(void) argc;
	begin_with_softverbs(argv);
	if (!prepare_ranks())
		return 1;
	setenv("NCCL_IB_DISABLE", "0", 1);
	for (i = 0; i < sizeof(releases) / sizeof(*releases); i++) {
		setenv("MININCCL_RELEASE", releases[i], 1);
		snprintf(sentence, sizeof(sentence),
			 "%s: a connection's buffer of LL is registered before the pool",
			 releases[i]);
		ok(in_processes(RANKS, with_ll), sentence);
		snprintf(sentence, sizeof(sentence), "%s: each pool is registered once",
			 releases[i]);
		ok(in_processes(RANKS, without_ll), sentence);
	}
	return tap_done();
}
