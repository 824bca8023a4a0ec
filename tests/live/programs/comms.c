/* SPDX-License-Identifier: MIT */
/*
 * Every way of making, changing and ending a communicator, each with an AllReduce whose
 * count is its number here: a hundred for each variant of a scenario, as in comms.py.
 *
 * usage: comms FOLDER [GATE]; prints a line "INDEX PID" for each process.
 *
 * Processes 0 to 4 are the ranks, one more joins them, one dies.  With GATE each makes
 * FOLDER/at.INDEX when its communicators are made, and goes on when FOLDER/go is there.
 */
#include <cuda.h>
#include <nccl.h>

#include <netinet/in.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 5, NEWCOMER = RANKS, VICTIM, PROCESSES, NUMBERS = 500 };

/* What the processes share. */
static struct board {
	ncclUniqueId ids[NUMBERS];
	atomic_int has_id[NUMBERS];
	atomic_int started, met;
} * board;

static int rank;
static ncclComm_t comms[NUMBERS];
static CUstream stream, second;
static CUdeviceptr memory;
static char address[32];

static void need(int result, int wanted, const char *call, int line)
{
	if (result == wanted)
		return;
	fprintf(stderr, "comms: process %d: line %d: %s: %d\n", rank, line, call, result);
	_exit(1);
}

#define IS(call, wanted) need((int) (call), (int) (wanted), #call, __LINE__)
#define OK(call) IS(call, 0)

static void nap(void)
{
	const struct timespec pause = {.tv_nsec = 500000};

	nanosleep(&pause, NULL);
}

/* ---- What they tell each other ---- */

/* All wait for all; for the times-th time. */
static void meet(int times)
{
	atomic_fetch_add(&board->met, 1);
	while (atomic_load(&board->met) < times * PROCESSES)
		nap();
}

/* The identifier of this number: of a parent that is to grow, or of nobody's. */
static ncclUniqueId *id_by(int maker, int number, ncclComm_t parent)
{
	ncclUniqueId *id = &board->ids[number];

	if (rank == maker) {
		OK(parent ? ncclCommGetUniqueId(parent, id) : ncclGetUniqueId(id));
		atomic_store(&board->has_id[number], 1);
	}
	while (!atomic_load(&board->has_id[number]))
		nap();
	return id;
}

static void gate(const char *folder)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/at.%d", folder, rank);
	file = fopen(path, "w");
	IS(!file || fclose(file), 0);
	snprintf(path, sizeof(path), "%s/go", folder);
	while (access(path, F_OK))
		nap();
}

/* ---- What is called often ---- */

static int wait_until_ready(ncclComm_t comm)
{
	ncclResult_t state;

	while (OK(ncclCommGetAsyncError(comm, &state)), state == ncclInProgress)
		nap();
	return state;
}

static int all_reduce(int number, int count, CUstream where)
{
	return ncclAllReduce((void *) memory, (void *) memory, (size_t) count,
			     ncclFloat32, ncclSum, comms[number], where);
}

static void use(int number)
{
	const int result = all_reduce(number, number, stream);

	if (result != ncclInProgress)
		OK(result);
	OK(wait_until_ready(comms[number]));
	OK(cuStreamSynchronize(stream));
}

static void init(int number)
{
	OK(ncclCommInitRank(&comms[number], RANKS, *id_by(0, number, NULL), rank));
}

static void split(int number, int parent, int color, int key)
{
	OK(ncclCommSplit(comms[parent], color, key, &comms[number], NULL));
}

/* ---- The scenarios up to the gate ---- */

static void init_with_config(int number, int nranks, int wanted)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;

	config.blocking = 0;
	config.commName = "second";
	config.minCTAs = 2;
	IS(ncclCommInitRankConfig(&comms[number], nranks, *id_by(0, number, NULL), rank,
				  &config),
	   wanted);
}

/* One alone, and one in a group. */
static void init_in_background(void)
{
	init_with_config(2, RANKS, ncclInProgress);
	OK(wait_until_ready(comms[2]));
	OK(ncclGroupStart());
	init_with_config(102, RANKS, ncclSuccess);
	IS(ncclGroupEnd(), ncclInProgress);
	OK(wait_until_ready(comms[102]));
}

static void init_two_in_a_group(void)
{
	OK(ncclGroupStart());
	init(3);
	init(103);
	OK(ncclGroupEnd());
}

/* Two colours, and a rank that has none. */
static void split_once(void)
{
	ncclComm_t none = NULL;

	if (rank == 4)
		OK(ncclCommSplit(comms[1], NCCL_SPLIT_NOCOLOR, 0, &none, NULL));
	else
		split(rank < 2 ? 4 : 104, 1, rank / 2, rank);
	IS(none != NULL, 0);
}

/* Of two parents: those of one would disturb each other. */
static void split_twice_in_a_group(void)
{
	OK(ncclGroupStart());
	split(5, 3, 0, rank);
	split(105, 103, 0, -rank);
	OK(ncclGroupEnd());
}

static void split_in_background(void)
{
	split(6, 2, 0, 0);
	OK(wait_until_ready(comms[2]));
	OK(ncclGroupStart());
	split(106, 2, 0, 0);
	IS(ncclGroupEnd(), ncclInProgress);
	OK(wait_until_ready(comms[2]));
}

static void shrink(int number, int first, int last, int flags)
{
	int excluded[RANKS], count = 0, i;

	for (i = last; i >= first; i--)
		excluded[count++] = i;
	if (rank < first || rank > last)
		OK(ncclCommShrink(comms[1], excluded, count, &comms[number], NULL,
				  flags));
}

static void grow(int number, int parent, int inviter, bool is_blocking)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	const ncclUniqueId *id = NULL;

	config.blocking = is_blocking;
	if (!comms[parent] && rank != NEWCOMER)
		return;
	if (rank == inviter || rank == NEWCOMER)
		id = id_by(inviter, number, comms[parent]);
	OK(ncclCommGrow(comms[parent], 3, id, rank == NEWCOMER ? 2 : -1, &comms[number],
			&config));
	OK(wait_until_ready(comms[number]));
}

static void init_all(void)
{
	const int devices[] = {6, 7};
	ncclComm_t both[2];

	OK(ncclCommInitAll(both, 2, devices));
	comms[10] = both[0];
	comms[110] = both[1];
}

static void init_by_two_ids(void)
{
	ncclUniqueId ids[] = {*id_by(0, 11, NULL), *id_by(3, 111, NULL)};

	OK(ncclCommInitRankScalable(&comms[11], RANKS, rank, 2, ids, NULL));
}

/* Every identifier is this one. */
static void init_twice_by_one_id(void)
{
	OK(setenv("NCCL_COMM_ID", address, 1));
	init(112);
	use(112);
	OK(ncclCommDestroy(comms[112]));
	comms[112] = NULL;
	init(12);
	OK(unsetenv("NCCL_COMM_ID"));
}

/* What a wrong rank asks for is nothing, and so is what a group that fails was to make.
 */
static void fail_to_make(void)
{
	const size_t size = 4096;
	ncclComm_t comm = NULL, *newcomm;

	IS(ncclCommInitRank(&comm, RANKS, board->ids[1], RANKS), ncclInvalidArgument);
	newcomm = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	OK(ncclGroupStart());
	OK(ncclCommSplit(comms[1], 0, 0, newcomm, NULL));
	IS(ncclAllReduce((void *) memory, (void *) memory, 20, (ncclDataType_t) 99,
			 ncclSum, comms[1], stream),
	   ncclInvalidArgument);
	IS(ncclGroupEnd(), ncclInvalidArgument);
	IS(*newcomm != NULL, 0);
	OK(munmap(newcomm, size));
	OK(wait_until_ready(comms[1]));
}

static void make_as_rank(void)
{
	init(1);
	init_in_background();
	init_two_in_a_group();
	split_once();
	split_twice_in_a_group();
	split_in_background();
	if (comms[4])
		split(7, 4, 0, 0);
	if (comms[104])
		split(107, 104, 0, 0);
	shrink(8, 4, 4, NCCL_SHRINK_DEFAULT);
	shrink(108, 0, 1, NCCL_SHRINK_DEFAULT);
	shrink(208, 4, 4, NCCL_SHRINK_ABORT);
	grow(9, 4, 1, true);
	grow(109, 104, 2, false);
	grow(209, 4, 0, true);
	if (rank == 0)
		init_all();
	init_by_two_ids();
	init_twice_by_one_id();
	fail_to_make();
	init(13);
	init(14);
	init(15);
	init(16);
	init(17);
	init(19);
	if (rank == 0) {
		init_with_config(116, 2,
				 ncclInProgress); /* whose other rank never comes */
		OK(ncclCommInitRank(&comms[18], 2, *id_by(0, 18, NULL), 0));
	}
}

static void make(void)
{
	if (rank < RANKS) {
		make_as_rank();
	} else if (rank == NEWCOMER) {
		grow(9, 4, 1, true);
		grow(109, 104, 2, false);
		grow(209, 4, 0, true);
	} else {
		OK(ncclCommInitRank(&comms[18], 2, *id_by(0, 18, NULL), 1));
	}
}

/* ---- And after it ---- */

static void use_both_in_a_group(void)
{
	OK(ncclGroupStart());
	OK(all_reduce(10, 10, stream));
	OK(all_reduce(110, 10, second));
	OK(ncclGroupEnd());
	OK(cuStreamSynchronize(stream));
	OK(cuStreamSynchronize(second));
}

static void suspend_and_use(void)
{
	OK(ncclCommSuspend(comms[13], 0));
	OK(ncclCommSuspend(comms[15], NCCL_SUSPEND_MEM));
	OK(ncclCommResume(comms[15]));
}

static void make_and_use_in_a_group(void)
{
	OK(ncclGroupStart());
	split(21, 1, 0, 0);
	OK(all_reduce(1, 121, stream));
	OK(ncclGroupEnd());
	use(21);
}

/* A group that is simulated makes communicators all the same. */
static void make_and_simulate(void)
{
	ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;

	OK(ncclGroupStart());
	split(221, 1, 0, 0);
	OK(all_reduce(1, 321, stream));
	OK(ncclGroupSimulateEnd(&info));
	use(221);
	OK(all_reduce(1, 421, stream));
	OK(cuStreamSynchronize(stream));
}

/* What is captured, and the same again that is not. */
static void use_in_a_graph(void)
{
	CUgraph graph;
	CUgraphExec exec;

	OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	OK(all_reduce(19, 19, stream));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
	OK(all_reduce(19, 119, stream));
	OK(cuStreamSynchronize(stream));
}

static void see_it_die(void)
{
	int i;

	OK(all_reduce(18, 118, stream));
	while (!wait_until_ready(comms[18]))
		nap();
	for (i = 0; i < 100; i++)
		IS(wait_until_ready(comms[18]), ncclRemoteError);
	OK(ncclCommAbort(comms[18]));
	comms[18] = NULL;
}

static void use_all(void)
{
	int i;

	if (rank < RANKS)
		suspend_and_use();
	/* Those that have a function of their own are left out. */
	for (i = 1; i < NUMBERS; i++)
		if (comms[i] && i % 100 != 10 && i != 19 && i != 116)
			use(i);
	if (rank == 0)
		use_both_in_a_group();
	if (rank < RANKS) {
		use_in_a_graph();
		make_and_use_in_a_group();
		make_and_simulate();
	}
}

static void end_all(void)
{
	int i;

	if (rank < RANKS) {
		OK(ncclCommFinalize(comms[13]));
		OK(ncclCommRevoke(comms[14], NCCL_REVOKE_DEFAULT));
		split(114, 14, 0, 0);
		use(114);
		OK(ncclCommAbort(comms[16]));
		OK(ncclCommAbort(comms[116]));
		comms[16] = comms[116] = comms[17] = NULL;
	}
	for (i = 0; i < NUMBERS; i++)
		if (comms[i])
			OK(ncclCommDestroy(comms[i]));
}

static void run(const char *folder, bool has_gate)
{
	CUcontext context;

	atomic_store(&board->started, rank + 1);
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, rank));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc(&memory, NUMBERS * sizeof(float)));
	make();
	if (has_gate)
		gate(folder);
	use_all();
	meet(1);
	if (rank == VICTIM)
		raise(SIGKILL);
	if (rank == 0)
		see_it_die();
	end_all();
	exit(0);
}

/* A port that is free and that nobody is given who wants any. */
static void find_address(void)
{
	struct sockaddr_in wanted = {.sin_family = AF_INET};
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	int port = 10000 + getpid() % 20000;

	wanted.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	do
		wanted.sin_port = htons((uint16_t) ++port);
	while (bind(fd, (struct sockaddr *) &wanted, sizeof(wanted)));
	OK(close(fd));
	snprintf(address, sizeof(address), "127.0.0.1:%d", port);
}

int main(int argc, char **argv)
{
	int status, failed = 0;
	pid_t pid, victim = 0;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: comms FOLDER [GATE]\n");
		return 2;
	}
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	find_address();
	for (rank = 0; rank < PROCESSES; rank++) {
		pid = victim = fork();
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			run(argv[1], argc == 3);
		}
		printf("%d %d\n", rank, (int) pid);
		fflush(stdout);
		/* One after the other, so that LTTng has not all to do at once. */
		while (atomic_load(&board->started) <= rank &&
		       !waitpid(pid, NULL, WNOHANG))
			nap();
	}
	/* When one fails the others die with us. */
	while (!failed && (pid = wait(&status)) > 0)
		failed = pid == victim ? !WIFSIGNALED(status) : status;
	if (failed)
		fprintf(stderr, "comms: process %d ended with status %#x\n", (int) pid,
			status);
	return failed != 0;
}
