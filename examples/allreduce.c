/* SPDX-License-Identifier: MIT */
/*
 * An ordinary program of NCCL and the CUDA driver API, to be recorded: one
 * process per rank sums buffers, passes one around a ring, broadcasts one, sums in each
 * half of the ranks if it is asked to, and checks every value.  It knows nothing of the
 * tracer.
 */
#include <cuda.h>
#include <nccl.h>

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How long the rank sleeps that is late. */
#define LATE_MS 200

/* Small enough that a sum over all ranks is exact in a float. */
#define VALUES 1021
#define MAX_RANKS 1024

/* The round of a rank that never joins the others. */
#define NEVER (-1)

struct options {
	int ranks;
	int iterations;
	size_t count;
	int hang_rank;
	int hang_round;
	int late_rank;
	bool is_split;
	const char *id_file;
};

struct rank {
	const struct options *options;
	int number;
	CUdevice device;
	CUstream stream;
	ncclComm_t comm;
	CUdeviceptr send;
	CUdeviceptr recv;
	float *host;
};

static void __attribute__((noreturn)) fail(int rank, const char *what, const char *why)
{
	fprintf(stderr, "allreduce: rank %d: %s: %s\n", rank, what, why);
	exit(1);
}

static void check_cuda(const struct rank *rank, CUresult res, const char *what)
{
	const char *text = "unknown error";

	if (res == CUDA_SUCCESS)
		return;
	cuGetErrorString(res, &text);
	fail(rank->number, what, text);
}

static void check_nccl(const struct rank *rank, ncclResult_t res, const char *what)
{
	if (res != ncclSuccess)
		fail(rank->number, what, ncclGetErrorString(res));
}

#define CUDA(rank, call) check_cuda(rank, call, #call)
#define NCCL(rank, call) check_nccl(rank, call, #call)

static void pause_ms(long ms)
{
	struct timespec time = {.tv_nsec = ms * 1000000};

	nanosleep(&time, NULL);
}

/*
 * Waits for the stream, and gives up when another rank is gone: then the
 * stream would never get to its end.
 */
static void synchronize(struct rank *rank)
{
	ncclResult_t state = ncclSuccess;
	CUresult res;

	for (;;) {
		res = cuStreamQuery(rank->stream);
		if (res != CUDA_ERROR_NOT_READY)
			break;
		NCCL(rank, ncclCommGetAsyncError(rank->comm, &state));
		if (state != ncclSuccess) {
			ncclCommAbort(rank->comm);
			fail(rank->number, "communication failed",
			     ncclGetErrorString(state));
		}
		pause_ms(1);
	}
	check_cuda(rank, res, "cuStreamQuery");
}

static float own_value(int rank, int round, size_t i)
{
	return (float) (i % VALUES + (size_t) rank + (size_t) round);
}

static void fill(struct rank *rank, int round)
{
	size_t bytes = rank->options->count * sizeof(float);
	size_t i;

	for (i = 0; i < rank->options->count; i++)
		rank->host[i] = own_value(rank->number, round, i);
	CUDA(rank, cuMemcpyHtoD(rank->send, rank->host, bytes));
	CUDA(rank, cuMemsetD8(rank->recv, 0xff, bytes));
}

/* What every element of the result has to be: the sum over ranks first..last. */
static void verify(struct rank *rank, int first, int last, int round, const char *what)
{
	size_t i;
	int r;

	CUDA(rank,
	     cuMemcpyDtoH(rank->host, rank->recv, rank->options->count * sizeof(float)));
	for (i = 0; i < rank->options->count; i++) {
		float expected = 0;

		for (r = first; r <= last; r++)
			expected += own_value(r, round, i);
		if (rank->host[i] != expected) {
			fprintf(stderr,
				"allreduce: rank %d: %s: element %zu is %g, not %g\n",
				rank->number, what, i, (double) rank->host[i],
				(double) expected);
			exit(1);
		}
	}
}

static void all_reduce(struct rank *rank, int round)
{
	fill(rank, round);
	if (rank->number == rank->options->late_rank)
		pause_ms(LATE_MS);
	NCCL(rank,
	     ncclAllReduce((void *) rank->send, (void *) rank->recv, rank->options->count,
			   ncclFloat, ncclSum, rank->comm, rank->stream));
	synchronize(rank);
	verify(rank, 0, rank->options->ranks - 1, round, "sum");
}

static void pass_around(struct rank *rank)
{
	int n = rank->options->ranks;
	int next = (rank->number + 1) % n;
	int previous = (rank->number + n - 1) % n;

	fill(rank, 0);
	NCCL(rank, ncclGroupStart());
	NCCL(rank, ncclSend((void *) rank->send, rank->options->count, ncclFloat, next,
			    rank->comm, rank->stream));
	NCCL(rank, ncclRecv((void *) rank->recv, rank->options->count, ncclFloat,
			    previous, rank->comm, rank->stream));
	NCCL(rank, ncclGroupEnd());
	synchronize(rank);
	verify(rank, previous, previous, 0, "ring exchange");
}

static void broadcast(struct rank *rank)
{
	fill(rank, 0);
	NCCL(rank,
	     ncclBroadcast((void *) rank->send, (void *) rank->recv, rank->options->count,
			   ncclFloat, 0, rank->comm, rank->stream));
	synchronize(rank);
	verify(rank, 0, 0, 0, "broadcast");
}

/* The lower and the upper half of the ranks have a communicator each. */
static void sum_halves(struct rank *rank)
{
	int ranks = rank->options->ranks;
	int half = (ranks + 1) / 2;
	bool is_lower = rank->number < half;
	ncclComm_t comm;

	fill(rank, 0);
	NCCL(rank, ncclCommSplit(rank->comm, !is_lower, rank->number, &comm, NULL));
	NCCL(rank,
	     ncclAllReduce((void *) rank->send, (void *) rank->recv, rank->options->count,
			   ncclFloat, ncclSum, comm, rank->stream));
	synchronize(rank);
	verify(rank, is_lower ? 0 : half, is_lower ? half - 1 : ranks - 1, 0,
	       "sum of half");
	NCCL(rank, ncclCommDestroy(comm));
}

static void open_device(struct rank *rank)
{
	size_t bytes = rank->options->count * sizeof(float);
	CUcontext context;
	int devices;

	CUDA(rank, cuInit(0));
	CUDA(rank, cuDeviceGetCount(&devices));
	CUDA(rank, cuDeviceGet(&rank->device, rank->number % devices));
	CUDA(rank, cuDevicePrimaryCtxRetain(&context, rank->device));
	CUDA(rank, cuCtxSetCurrent(context));
	CUDA(rank, cuStreamCreate(&rank->stream, CU_STREAM_NON_BLOCKING));
	CUDA(rank, cuMemAlloc(&rank->send, bytes));
	CUDA(rank, cuMemAlloc(&rank->recv, bytes));
	rank->host = malloc(bytes);
	if (!rank->host)
		fail(rank->number, "host buffer", strerror(ENOMEM));
}

static void close_device(struct rank *rank)
{
	free(rank->host);
	CUDA(rank, cuMemFree(rank->recv));
	CUDA(rank, cuMemFree(rank->send));
	CUDA(rank, cuStreamDestroy(rank->stream));
	CUDA(rank, cuDevicePrimaryCtxRelease(rank->device));
}

/* One rank stays away from the others: from all, or from one all-reduce. */
static void hang(const struct options *options, int rank, int round)
{
	while (rank == options->hang_rank && round == options->hang_round)
		pause();
}

static void run_rank(const struct options *options, int number, ncclUniqueId id)
{
	struct rank rank = {.options = options, .number = number};
	int i;

	open_device(&rank);
	NCCL(&rank, ncclCommInitRank(&rank.comm, options->ranks, id, number));
	for (i = 0; i < options->iterations; i++) {
		hang(options, number, i);
		all_reduce(&rank, i);
	}
	pass_around(&rank);
	broadcast(&rank);
	if (options->is_split)
		sum_halves(&rank);
	NCCL(&rank, ncclCommFinalize(rank.comm));
	NCCL(&rank, ncclCommDestroy(rank.comm));
	close_device(&rank);
	printf("rank %d: %d all-reduces of %.1f MiB, sums right\n", number,
	       options->iterations,
	       (double) (options->count * sizeof(float)) / (1 << 20));
}

static void make_id(ncclUniqueId *id)
{
	ncclResult_t res = ncclGetUniqueId(id);

	if (res != ncclSuccess)
		fail(0, "ncclGetUniqueId", ncclGetErrorString(res));
}

/* One process per rank, and none of them has touched CUDA before the fork. */
static pid_t start_rank(const struct options *options, int rank, const int id_pipe[2])
{
	pid_t parent = getpid();
	ncclUniqueId id;
	pid_t pid;
	int i;

	pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		exit(1);
	if (rank == 0) {
		make_id(&id);
		for (i = 1; i < options->ranks; i++) {
			if (write(id_pipe[1], &id, sizeof(id)) != (ssize_t) sizeof(id))
				fail(rank, "cannot hand over the id", strerror(errno));
		}
	}
	close(id_pipe[1]);
	/* Ids are written whole, so they are read whole, one per rank. */
	if (rank != 0 && read(id_pipe[0], &id, sizeof(id)) != (ssize_t) sizeof(id))
		fail(rank, "cannot get the id", "rank 0 ended before it made one");
	close(id_pipe[0]);
	hang(options, rank, NEVER);
	run_rank(options, rank, id);
	exit(0);
}

/* The first rank that fails takes the others with it: they would wait for it. */
static int wait_for_ranks(pid_t *pids, int count)
{
	int result = 0;
	int status;
	pid_t pid;
	int i;

	while ((pid = wait(&status)) > 0) {
		for (i = 0; i < count && pids[i] != pid; i++)
			;
		if (i < count)
			pids[i] = 0;
		if (status == 0 || result != 0)
			continue;
		result = 1;
		/* One that fails by itself has said why. */
		if (WIFSIGNALED(status))
			fprintf(stderr, "allreduce: rank %d was killed by signal %d\n", i,
				WTERMSIG(status));
		for (i = 0; i < count; i++) {
			if (pids[i] > 0)
				kill(pids[i], SIGTERM);
		}
	}
	return result;
}

static int run_all(const struct options *options)
{
	pid_t pids[MAX_RANKS];
	int id_pipe[2];
	int rank;

	if (pipe(id_pipe)) {
		perror("allreduce: pipe");
		return 1;
	}
	for (rank = 0; rank < options->ranks; rank++) {
		pids[rank] = start_rank(options, rank, id_pipe);
		if (pids[rank] < 0) {
			perror("allreduce: fork");
			while (rank-- > 0)
				kill(pids[rank], SIGTERM);
			return 1;
		}
	}
	close(id_pipe[0]);
	close(id_pipe[1]);
	return wait_for_ranks(pids, options->ranks);
}

/* Under another name first, so that nobody reads half an id. */
static void write_id(const char *path, const ncclUniqueId *id)
{
	char temporary[4096];
	FILE *file;

	if (snprintf(temporary, sizeof(temporary), "%s.new", path) >=
	    (int) sizeof(temporary))
		fail(0, path, strerror(ENAMETOOLONG));
	file = fopen(temporary, "w");
	if (!file || fwrite(id, sizeof(*id), 1, file) != 1 || fclose(file) ||
	    rename(temporary, path))
		fail(0, path, strerror(errno));
}

static void read_id(int rank, const char *path, ncclUniqueId *id)
{
	FILE *file;

	while (!(file = fopen(path, "r"))) {
		if (errno != ENOENT)
			fail(rank, path, strerror(errno));
		pause_ms(10);
	}
	if (fread(id, sizeof(*id), 1, file) != 1)
		fail(rank, path, "no id in it");
	fclose(file);
}

/* The launcher has started one process per rank and told each who it is. */
static int run_one(const struct options *options, int rank)
{
	ncclUniqueId id;

	if (rank == 0) {
		make_id(&id);
		write_id(options->id_file, &id);
	} else {
		read_id(rank, options->id_file, &id);
	}
	hang(options, rank, NEVER);
	run_rank(options, rank, id);
	return 0;
}

static const char help[] =
	"usage: allreduce [-n RANKS] [-i ITERATIONS] [-c COUNT]\n"
	"       RANK=r WORLD_SIZE=n allreduce --id-file PATH [-i ITERATIONS] [-c COUNT]\n"
	"\n"
	"Sums buffers over all ranks with NCCL, passes one around and broadcasts one,\n"
	"and checks the results.  Without --id-file it starts one process per rank.\n"
	"\n"
	"  -n RANKS         how many ranks (2)\n"
	"  -i ITERATIONS    how many all-reduces (4)\n"
	"  -c COUNT         how many floats in a buffer (1048576)\n"
	"  --id-file PATH   be the one rank that RANK and WORLD_SIZE name; rank 0 makes\n"
	"                   this file, which must not exist, and the others read it\n"
	"  --split          sum in each half of the ranks, too, with a communicator of its own\n"
	"  --late-rank R    rank R sleeps 200 ms before each all-reduce\n"
	"  --hang-rank R    rank R never joins: it sleeps until it is killed, and the\n"
	"                   others wait for it in ncclCommInitRank()\n"
	"  --hang-round I   and with this it joins, and stays away from all-reduce I\n"
	"  --help           this text\n";

static void __attribute__((noreturn)) misuse(const char *what)
{
	fprintf(stderr, "allreduce: %s; see allreduce --help\n", what);
	exit(2);
}

static long number(const char *text, long least, long most, const char *what)
{
	char *end;
	long value;

	errno = 0;
	value = text ? strtol(text, &end, 10) : 0;
	if (!text || errno || end == text || *end || value < least || value > most)
		misuse(what);
	return value;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{"id-file", required_argument, NULL, 'f'},
		{"hang-rank", required_argument, NULL, 'r'},
		{"hang-round", required_argument, NULL, 'o'},
		{"late-rank", required_argument, NULL, 'l'},
		{"split", no_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	struct options options = {.ranks = 2,
				  .iterations = 4,
				  .count = 1 << 20,
				  .hang_rank = -1,
				  .hang_round = NEVER,
				  .late_rank = -1};
	int c;

	while ((c = getopt_long(argc, argv, "n:i:c:h", long_options, NULL)) != -1) {
		switch (c) {
		case 'n':
			options.ranks =
				(int) number(optarg, 1, MAX_RANKS, "-n takes 1 to 1024");
			break;
		case 'i':
			options.iterations =
				(int) number(optarg, 0, 1000000000, "-i takes a number");
			break;
		case 'c':
			options.count = (size_t) number(optarg, 1, 1L << 32,
							"-c takes a number of floats");
			break;
		case 'f':
			options.id_file = optarg;
			break;
		case 'r':
			options.hang_rank = (int) number(optarg, 0, MAX_RANKS,
							 "--hang-rank takes a rank");
			break;
		case 'o':
			options.hang_round = (int) number(optarg, 0, 1000000000,
							  "--hang-round takes a number");
			break;
		case 'l':
			options.late_rank = (int) number(optarg, 0, MAX_RANKS,
							 "--late-rank takes a rank");
			break;
		case 's':
			options.is_split = true;
			break;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			misuse("wrong option");
		}
	}
	if (optind < argc)
		misuse("no arguments are taken");
	if (!options.id_file)
		return run_all(&options);
	options.ranks = (int) number(getenv("WORLD_SIZE"), 1, MAX_RANKS,
				     "--id-file needs WORLD_SIZE in the environment");
	return run_one(&options, (int) number(getenv("RANK"), 0, options.ranks - 1,
					      "--id-file needs RANK below WORLD_SIZE"));
}
