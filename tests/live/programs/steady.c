/* SPDX-License-Identifier: MIT */
/*
 * Ranks that call NCCL steadily for as long as they are let, and know how often: a job to
 * be counted and, now and then, recorded.
 *
 * usage: steady FOLDER RANKS PAUSE-US [ROUNDS COMMS]
 *
 * Each rank is a process.  A round is an all-reduce on the communicator of all ranks, and
 * COMMS times a communicator of the rank's own that is made, used and destroyed.  After
 * ROUNDS rounds all ranks end, every second time by SIGKILL, and others take their place;
 * 0 (as without it): never.  One rank more, the last number, makes a communicator and
 * then no call until FOLDER/speak is there; without COMMS alone.
 *
 * Each rank writes FOLDER/at.RANK, its process number, and at its end
 * FOLDER/truth.RANK.N, "FUNCTION CALLS BYTES" in each line.  When FOLDER/go is there the
 * ranks finish their round, write that, make FOLDER/done.RANK and end when FOLDER/end is
 * there.
 */
#include <cuda.h>
#include <nccl.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COUNT 256
#define SMALL 3
#define MAX_RANKS 64

static struct {
	const char *folder;
	int ranks, pause_us, comms;
	long rounds;
} wanted;

/* All processes see it. */
static struct shared {
	ncclUniqueId id;
	int has_id;
	int is_last;  /* generation */
	long stop_at; /* the round before which all ranks stop, 0: not known yet */
} * shared;

static int number, generation;
static CUdeviceptr memory;
static CUstream stream;

static void need(int is_right, const char *what, int line)
{
	if (is_right)
		return;
	fprintf(stderr, "steady: rank %d: line %d: %s\n", number, line, what);
	_exit(1);
}

#define IS(condition) need(condition, #condition, __LINE__)

static void rest(int us)
{
	const struct timespec time = {.tv_sec = us / 1000000,
				      .tv_nsec = us % 1000000 * 1000};

	nanosleep(&time, NULL);
}

static int is_there(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", wanted.folder, name);
	return !access(path, F_OK);
}

static void wait_for(const char *name)
{
	while (!is_there(name))
		rest(5000);
}

/* Under another name first, so that nobody reads half of it. */
static void write_file(const char *name, const char *text)
{
	char path[512], new_path[520];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", wanted.folder, name);
	snprintf(new_path, sizeof(new_path), "%s.new", path);
	file = fopen(new_path, "w");
	IS(file && fputs(text, file) >= 0 && !fclose(file) && !rename(new_path, path));
}

/* ---- What it knows ---- */

static unsigned long sums, sums_bytes, inits, destroys;

static void write_truth(void)
{
	char name[64], text[256];

	snprintf(name, sizeof(name), "truth.%d.%d", number, generation);
	snprintf(text, sizeof(text),
		 "ncclAllReduce %lu %lu\nncclCommInitRank %lu 0\n"
		 "ncclCommDestroy %lu 0\n",
		 sums, sums_bytes, inits, destroys);
	write_file(name, text);
}

/* ---- What it does ---- */

static void sum(ncclComm_t comm, size_t count)
{
	IS(!ncclAllReduce((void *) memory, (void *) memory, count, ncclFloat, ncclSum,
			  comm, stream));
	sums++;
	sums_bytes += count * sizeof(float);
	IS(!cuStreamSynchronize(stream));
}

static ncclComm_t make(int ranks, ncclUniqueId id, int rank)
{
	ncclComm_t comm;

	IS(!ncclCommInitRank(&comm, ranks, id, rank));
	inits++;
	return comm;
}

static void destroy(ncclComm_t comm)
{
	IS(!ncclCommDestroy(comm));
	destroys++;
}

static ncclComm_t make_own(void)
{
	ncclUniqueId id;

	IS(!ncclGetUniqueId(&id));
	return make(1, id, 0);
}

static ncclComm_t make_common(void)
{
	if (!number) {
		IS(!ncclGetUniqueId(&shared->id));
		__atomic_store_n(&shared->has_id, 1, __ATOMIC_RELEASE);
	}
	while (!__atomic_load_n(&shared->has_id, __ATOMIC_ACQUIRE))
		rest(1000);
	return make(wanted.ranks, shared->id, number);
}

/*
 * Rank 0 decides before it takes part in the round, which ends for nobody without it: so
 * all know after that round.
 */
static void decide(long round)
{
	if (number)
		return;
	if (is_there("go"))
		shared->is_last = 1;
	if (round == wanted.rounds - 1 || shared->is_last)
		__atomic_store_n(&shared->stop_at, round + 1, __ATOMIC_RELEASE);
}

static void go_round(ncclComm_t common)
{
	int i;

	sum(common, COUNT);
	for (i = 0; i < wanted.comms; i++) {
		ncclComm_t own = make_own();

		sum(own, SMALL);
		destroy(own);
	}
	rest(wanted.pause_us);
}

static void open_device(void)
{
	CUcontext context;
	int devices;

	/* NCCL refuses two ranks on one device. */
	IS(!cuInit(0) && !cuDeviceGetCount(&devices) &&
	   !cuDevicePrimaryCtxRetain(&context, number % devices) &&
	   !cuCtxSetCurrent(context));
	IS(!cuMemAlloc(&memory, COUNT * sizeof(float)));
	IS(!cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
}

static void say_where(void)
{
	char name[64], text[64];

	snprintf(name, sizeof(name), "at.%d", number);
	snprintf(text, sizeof(text), "%d\n", getpid());
	write_file(name, text);
}

static void finish(void)
{
	char name[64];

	write_truth();
	if (!shared->is_last) {
		if (generation % 2)
			raise(SIGKILL);
		return;
	}
	snprintf(name, sizeof(name), "done.%d", number);
	write_file(name, "");
	wait_for("end");
}

static void run_rank(void)
{
	ncclComm_t common;
	long round;

	open_device();
	common = make_common();
	say_where();
	for (round = 0;
	     round != __atomic_load_n(&shared->stop_at, __ATOMIC_ACQUIRE) || !round;
	     round++) {
		decide(round);
		go_round(common);
	}
	destroy(common);
	finish();
}

static void run_quiet(void)
{
	ncclComm_t own;

	open_device();
	own = make_own();
	say_where();
	while (!is_there("speak") && !is_there("go"))
		rest(5000);
	if (is_there("speak"))
		sum(own, SMALL);
	wait_for("go");
	shared->is_last = 1;
	destroy(own);
	finish();
}

static pid_t start(int rank)
{
	const pid_t parent = getpid();
	char text[16];
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	number = rank;
	snprintf(text, sizeof(text), "%d", rank);
	setenv("RANK", text, 1);
	if (rank < wanted.ranks)
		run_rank();
	else
		run_quiet();
	exit(0);
}

/* Returns whether all ended as they should. */
static int run_generation(void)
{
	const int ranks = wanted.ranks + !wanted.comms;
	const int may_be_killed = wanted.rounds && generation % 2;
	int i, status, is_right = 1;

	shared->has_id = 0;
	shared->stop_at = 0;
	for (i = 0; i < ranks; i++)
		IS(start(i) > 0);
	for (i = 0; i < ranks; i++) {
		IS(wait(&status) > 0);
		if (status && !(may_be_killed && WIFSIGNALED(status) &&
				WTERMSIG(status) == SIGKILL))
			is_right = 0;
	}
	return is_right;
}

int main(int argc, char **argv)
{
	int is_right = 1;

	if (argc != 4 && argc != 6)
		return 2;
	wanted.folder = argv[1];
	wanted.ranks = atoi(argv[2]);
	wanted.pause_us = atoi(argv[3]);
	wanted.rounds = argc == 6 ? atol(argv[4]) : 0;
	wanted.comms = argc == 6 ? atoi(argv[5]) : 0;
	if (wanted.ranks < 1 || wanted.ranks > MAX_RANKS)
		return 2;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	IS(shared != MAP_FAILED);
	do {
		is_right &= run_generation();
		generation++;
	} while (is_right && wanted.rounds && !shared->is_last);
	return !is_right;
}
