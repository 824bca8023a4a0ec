/* SPDX-License-Identifier: MIT */
/*
 * A program that says itself what the tracer must find out: four ranks, a communicator
 * each of all, of a split of it and of a split of that, and OPERATIONS in random groups.
 * Some calls fail, and so do some groups; some are simulated.  Each attempt has a slot of
 * memory of its own, so that a recorded call tells by its address which one it is.
 *
 * usage: order OPERATIONS SEED FOLDER [GATES]
 *
 * FOLDER/log.RANK has a line "base ADDRESS PID RANK", then one for each attempt,
 *	collective|send|recv SLOT LEVEL NUMBER MEMBERS PEER
 * NUMBER is what it is in its communicator (or with its peer there), 0 if it does not
 * count; MEMBERS the ranks of the communicator, PEER the other one of a send or receive.
 * With GATES, each rank stops that many times, evenly spread: it makes FOLDER/at.N.RANK
 * and goes on when FOLDER/go.N is there.
 */
#include <cuda.h>
#include <nccl.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RANKS 4
#define LEVELS 3
#define COUNT 4 /* elements of each rank */
#define SLOT (RANKS * COUNT * sizeof(float))
#define GROUP_MAX 12

/* Which ranks have a communicator with this one on each level, in its order there. */
static const char *const members[LEVELS][RANKS] = {
	{"0123", "0123", "0123", "0123"},
	{"012", "012", "012", "3"},
	{"20", "1", "20", "3"},
};

struct attempt {
	const char *kind;
	int slot, level, peer;
	uint64_t *counter;
	uint64_t number;
};

static int rank, operations;
static const char *folder;
static FILE *log_file;
static ncclComm_t comms[LEVELS];
static CUstream stream;
static CUdeviceptr source, base;
static uint64_t collectives[LEVELS], sends[LEVELS][RANKS], recvs[LEVELS][RANKS];
static struct attempt attempts[2 * GROUP_MAX];
static int nr_attempts, next_slot;
static uint64_t random_state;

static void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	fprintf(stderr, "order: rank %d: ", rank);
	vfprintf(stderr, format, list);
	fprintf(stderr, "\n");
	va_end(list);
	exit(1);
}

#define OK(call) \
	do { \
		const int not_ok = (int) (call); \
		if (not_ok) \
			fail("%s: %d", #call, not_ok); \
	} while (0)

/* xorshift64*: alike on all ranks. */
static unsigned pick(unsigned limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (unsigned) ((random_state * 2685821657736338717u) >> 33) % limit;
}

static void wait_for(const char *path)
{
	const struct timespec pause = {.tv_nsec = 2000000};

	while (access(path, F_OK))
		nanosleep(&pause, NULL);
}

static void gate(int number)
{
	char path[512];
	FILE *file;

	OK(cuStreamSynchronize(stream));
	fflush(log_file);
	snprintf(path, sizeof(path), "%s/at.%d.%d", folder, number, rank);
	file = fopen(path, "w");
	if (!file || fclose(file))
		fail("cannot write %s", path);
	snprintf(path, sizeof(path), "%s/go.%d", folder, number);
	wait_for(path);
}

/* ---- Attempts ---- */

static float *new_slot(void)
{
	return (float *) (base + (CUdeviceptr) next_slot * SLOT);
}

static void note(const char *kind, int level, int peer, uint64_t *counter, int result)
{
	struct attempt *a = &attempts[nr_attempts++];

	*a = (struct attempt){kind, next_slot, level, peer, counter, 0};
	if (result == ncclSuccess)
		a->number = ++*counter;
}

static int collective(int level, unsigned kind, ncclDataType_t type)
{
	const float *from = (const float *) source;
	float *to = new_slot();
	int res;

	switch (kind) {
	case 0:
		res = ncclAllReduce(from, to, COUNT, type, ncclSum, comms[level], stream);
		break;
	case 1:
		res = ncclBroadcast(from, to, COUNT, type, 0, comms[level], stream);
		break;
	case 2:
		res = ncclReduce(from, to, COUNT, type, ncclMax, 0, comms[level], stream);
		break;
	case 3:
		res = ncclAllGather(from, to, COUNT, type, comms[level], stream);
		break;
	case 4:
		res = ncclReduceScatter(from, to, COUNT, type, ncclSum, comms[level], stream);
		break;
	default:
		res = ncclBcast(to, COUNT, type, 0, comms[level], stream);
		break;
	}
	note("collective", level, -1, &collectives[level], res);
	next_slot++;
	return res;
}

/* Each rank sends to the next one and receives from the one before. */
static void ring(int level)
{
	int nranks, own, to, from, res;

	OK(ncclCommCount(comms[level], &nranks));
	OK(ncclCommUserRank(comms[level], &own));
	to = (own + 1) % nranks;
	from = (own + nranks - 1) % nranks;
	res = ncclSend(new_slot(), COUNT, ncclFloat32, to, comms[level], stream);
	note("send", level, to, &sends[level][to], res);
	next_slot++;
	res = ncclRecv(new_slot(), COUNT, ncclFloat32, from, comms[level], stream);
	note("recv", level, from, &recvs[level][from], res);
	next_slot++;
}

static void write_attempts(int counts)
{
	int i;

	for (i = nr_attempts - 1; !counts && i >= 0; i--)
		if (attempts[i].number) {
			--*attempts[i].counter;
			attempts[i].number = 0;
		}
	for (i = 0; i < nr_attempts; i++)
		fprintf(log_file, "%s %d %d %llu %s %d\n", attempts[i].kind, attempts[i].slot,
			attempts[i].level, (unsigned long long) attempts[i].number,
			members[attempts[i].level][rank], attempts[i].peer);
	nr_attempts = 0;
}

static void one_operation(int may_be_ring)
{
	const int level = (int) pick(LEVELS);
	const unsigned kind = pick(may_be_ring ? 8 : 6);

	if (kind >= 6)
		ring(level);
	else
		OK(collective(level, kind, ncclFloat32));
}

static void one_that_fails(void)
{
	if (!collective((int) pick(LEVELS), pick(6), (ncclDataType_t) 99))
		fail("a call with a wrong type did not fail");
}

static void one_group(ncclResult_t (*simulate_end)(void *))
{
	const int length = (int) pick(GROUP_MAX - 1), depth = 1 + (int) pick(2);
	const int is_simulated = simulate_end && pick(40) == 0;
	const int fails = !is_simulated && pick(30) == 0;
	struct {
		size_t size;
		unsigned magic, version;
		float time;
	} info = {sizeof(info), 0x74685283, 22200, 0};
	int i, res;

	for (i = 0; i < depth; i++)
		OK(ncclGroupStart());
	for (i = 0; i < length; i++)
		one_operation(1);
	if (fails)
		one_that_fails();
	for (i = 1; i < depth; i++)
		OK(ncclGroupEnd());
	res = is_simulated ? simulate_end(&info) : ncclGroupEnd();
	if (fails == !res)
		fail("the end of a group was %d", res);
	write_attempts(!fails && !is_simulated);
}

static void one_turn(ncclResult_t (*simulate_end)(void *))
{
	if (pick(40) == 0)
		one_that_fails();
	else if (pick(2))
		one_operation(0);
	else
		one_group(simulate_end);
	write_attempts(1);
}

static void make_comms(const ncclUniqueId *id)
{
	OK(ncclCommInitRank(&comms[0], RANKS, *id, rank));
	OK(ncclCommSplit(comms[0], rank == 3, rank, &comms[1], NULL));
	OK(ncclCommSplit(comms[1], rank % 2, -rank, &comms[2], NULL));
}

static void run_rank(int ids[2], unsigned seed, int gates)
{
	ncclResult_t (*simulate_end)(void *) =
		(ncclResult_t(*)(void *)) dlsym(RTLD_DEFAULT, "ncclGroupSimulateEnd");
	char path[512];
	ncclUniqueId id;
	CUcontext context;
	int i, passed = 0;

	random_state = 88172645463325252u + seed;
	snprintf(path, sizeof(path), "%s/log.%d", folder, rank);
	log_file = fopen(path, "w");
	if (!log_file)
		fail("cannot write %s", path);
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, rank));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, 0));
	OK(cuMemAlloc(&source, SLOT));
	OK(cuMemAlloc(&base, ((size_t) operations * 2 + 4 * GROUP_MAX) * SLOT));
	fprintf(log_file, "base %#llx %d %d\n", (unsigned long long) base, (int) getpid(), rank);
	if (rank == 0) {
		OK(ncclGetUniqueId(&id));
		for (i = 1; i < RANKS; i++)
			if (write(ids[1], &id, sizeof(id)) != sizeof(id))
				fail("cannot pass the identifier on");
	} else if (read(ids[0], &id, sizeof(id)) != sizeof(id)) {
		fail("no identifier came");
	}
	make_comms(&id);
	while (next_slot < operations) {
		if (passed < gates && next_slot >= (passed + 1) * (operations / (gates + 1)))
			gate(++passed);
		one_turn(simulate_end);
		if (pick(32) == 0)
			OK(cuStreamSynchronize(stream));
	}
	OK(cuStreamSynchronize(stream));
	for (i = LEVELS - 1; i >= 0; i--)
		OK(ncclCommDestroy(comms[i]));
	if (fclose(log_file))
		fail("cannot write the log");
	exit(0);
}

int main(int argc, char **argv)
{
	int ids[2], status, failed = 0, i;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: order OPERATIONS SEED FOLDER [GATES]\n");
		return 2;
	}
	operations = atoi(argv[1]);
	folder = argv[3];
	if (pipe(ids))
		return 1;
	for (rank = 0; rank < RANKS; rank++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			run_rank(ids, (unsigned) atoi(argv[2]), argc > 4 ? atoi(argv[4]) : 0);
		}
	for (i = 0; i < RANKS; i++) {
		wait(&status);
		failed |= status != 0;
	}
	return failed;
}
