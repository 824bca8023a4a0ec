/* SPDX-License-Identifier: MIT */
/*
 * Runs one configuration of the NCCL double, with data that every rank checks: what it is
 * told to do follows from its arguments alone, so a line that failed repeats it.
 *
 * usage: configuration [NAME=VALUE...]; --help names them
 */
#include "configured.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_IDS = 2 };
/* In the environment once all of it is. */
#define SET "CONFIGURATION_IS_SET"
#define RANKS_PER_NODE "CONFIGURATION_RANKS_PER_NODE"

enum layout { PROCESSES, THREADS, SINGLE };
enum comms { WORLD, SPLIT, SHARED, TWO };
/* How the calls of a batch are made; any: each batch draws one of the others. */
enum manner { ONE_BY_ONE, QUEUED, GROUPED, CAPTURED, MANNERS };
static const char *const manner_names[] = {"alone",    "queued", "grouped",
					   "captured", "any",	 NULL};

static struct {
	int ranks;
	int channels;
	const char *protocol;
	const char *algorithm;
	const char *transport;
	/* Buffers are windows. */
	bool has_windows;
	const char *operation;
	const char *release;
	enum layout layout;
	enum comms comms;
	bool is_nonblocking;
	enum manner manner;
	bool is_overlapping;
	int rounds;
	size_t most;
	uint64_t seed;
	int jitter;
	int limit_s;
	bool is_spoilt;
	/* Each node has an NCCL_HOSTID of its own; 0: there is none. */
	int ranks_per_node;
} run = {
	.ranks = 2,
	.channels = 1,
	.protocol = "simple",
	.algorithm = "ring",
	.transport = "verbs",
	.operation = "each",
	.release = "",
	.manner = MANNERS,
	.rounds = 1,
	.most = 1 << 20,
	.seed = 1,
	.limit_s = 60,
};

struct board {
	ncclUniqueId ids[MAX_IDS];
	atomic_int id_count;
	atomic_bool has_failed;
};
static struct board *board;
/* For who looks into what hangs. */
static char doing[MAX_RANKS][96];

static void __attribute__((noreturn, format(printf, 1, 2)))
misuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see configuration --help\n");
	exit(2);
}

/* The ranks that one thread drives, each with the communicator that is in use. */
struct team {
	struct member members[MAX_RANKS];
	ncclComm_t worlds[MAX_RANKS];
	ncclComm_t others[MAX_RANKS];
	/* Of each, of each buffer to send from, and to receive into. */
	ncclWindow_t windows[2][MAX_RANKS][2 * MAX_BATCH];
	int count;
	uint64_t state;
};

/* From here on it has all its time again: who goes on does not hang, however slowly. */
static void say_what(const struct team *team, const char *what)
{
	int i;

	alarm((unsigned int) run.limit_s);
	for (i = 0; i < team->count; i++)
		snprintf(doing[team->members[i].number], sizeof(doing[0]), "%s", what);
}

/* All that hang are told of, each by its process. */
static void give_up(int signal)
{
	char text[sizeof(doing[0]) + 64];
	int i;

	(void) signal;
	for (i = 0; i < run.ranks; i++) {
		int size = snprintf(text, sizeof(text), "rank %d hangs in %s\n", i,
				    doing[i]);

		if (doing[i][0] && write(STDERR_FILENO, text, (size_t) size) < 0)
			break;
	}
	_exit(3);
}

static bool check(ncclResult_t result, const char *what)
{
	if (result == ncclSuccess || result == ncclInProgress)
		return true;
	fprintf(stderr, "%s: %s: %s\n", what, ncclGetErrorString(result),
		ncclGetLastError(NULL));
	return false;
}

static bool settle(struct team *team, ncclResult_t result, const char *what)
{
	int i;

	for (i = 0; i < team->count; i++) {
		result = settled(&team->members[i], result);
		if (!check(result, what))
			return false;
	}
	return true;
}

static bool synchronize(struct team *team)
{
	CUresult res = CUDA_SUCCESS;
	int i;

	for (i = 0; i < team->count && !res; i++) {
		struct member *member = &team->members[i];
		ncclResult_t state = ncclSuccess;

		cuCtxSetCurrent(member->context);
		while ((res = cuStreamQuery(member->stream)) == CUDA_ERROR_NOT_READY) {
			if (atomic_load(&board->has_failed))
				return false;
			ncclCommGetAsyncError(member->comm, &state);
			if (!check(state, "while the stream runs"))
				return false;
			usleep(50);
		}
	}
	if (res)
		fprintf(stderr, "the stream fails with %d\n", (int) res);
	return !res;
}

static bool verify_all(struct team *team, const struct op *ops, int first, int count)
{
	int i;
	int k;

	for (i = 0; i < team->count; i++) {
		for (k = first; k < first + count; k++) {
			if (run.is_spoilt)
				*target(&team->members[i], k, &ops[k]) ^= 1;
			if (!verify(&team->members[i], k, &ops[k]))
				return false;
		}
	}
	return true;
}

static bool prepare_all(struct team *team, const struct op *ops, int first, int count)
{
	int i;
	int k;

	for (i = 0; i < team->count; i++) {
		for (k = first; k < first + count; k++) {
			if (!prepare(&team->members[i], k, &ops[k]))
				return false;
		}
	}
	return true;
}

/*
 * A thread with several ranks has to make their calls in one group, and so all other
 * threads do: who groups what another rank does not would run it in another order.
 */
static bool enqueue_all(struct team *team, const struct op *ops, int first, int count,
			bool is_grouped)
{
	bool has_group = is_grouped || run.layout == SINGLE;
	bool is_right = true;
	int i;
	int k;

	if (has_group && !check(ncclGroupStart(), "ncclGroupStart"))
		return false;
	for (k = first; k < first + count && is_right; k++) {
		for (i = 0; i < team->count && is_right; i++) {
			is_right = enqueue(&team->members[i], k, &ops[k]);
			if (!has_group)
				is_right = is_right && settle(team, ncclSuccess,
							      kind_names[ops[k].kind]);
		}
	}
	if (has_group)
		is_right = settle(team, ncclGroupEnd(), "ncclGroupEnd") && is_right;
	return is_right;
}

static bool enqueue_captured(struct team *team, const struct op *ops, int count)
{
	struct member *member = &team->members[0];
	CUgraphExec program;
	CUgraph graph;
	bool is_right;
	int i;

	cuCtxSetCurrent(member->context);
	if (cuStreamBeginCapture(member->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
		return false;
	is_right = enqueue_all(team, ops, 0, count, true);
	if (cuStreamEndCapture(member->stream, &graph) ||
	    cuGraphInstantiate(&program, graph, 0))
		return false;
	for (i = 0; i < 3 && is_right; i++) {
		is_right = (i == 0 || prepare_all(team, ops, 0, count)) &&
			   !cuGraphLaunch(program, member->stream) && synchronize(team) &&
			   verify_all(team, ops, 0, count);
	}
	cuGraphExecDestroy(program);
	cuGraphDestroy(graph);
	return is_right;
}

static bool run_batch(struct team *team, const struct op *ops, int count,
		      enum manner manner)
{
	char what[sizeof(doing[0])];
	int k;

	snprintf(what, sizeof(what), "%s of %zu (type %d) and %d more, %s",
		 kind_names[ops[0].kind], ops[0].count, (int) ops[0].type, count - 1,
		 manner_names[manner]);
	say_what(team, what);
	if (!prepare_all(team, ops, 0, count))
		return false;
	if (manner == CAPTURED)
		return enqueue_captured(team, ops, count);
	if (manner != ONE_BY_ONE)
		return enqueue_all(team, ops, 0, count, manner == GROUPED) &&
		       synchronize(team) && verify_all(team, ops, 0, count);
	for (k = 0; k < count; k++) {
		if (!enqueue_all(team, ops, k, 1, false) || !synchronize(team) ||
		    !verify_all(team, ops, k, 1))
			return false;
	}
	return true;
}

static enum kind kind_of(const char *name)
{
	int kind = 0;

	while (kind < KINDS && strcmp(kind_names[kind], name) != 0)
		kind++;
	return (enum kind) kind;
}

/* All ranks draw as often, whatever the size of the communicator that they use. */
static void draw_ops(uint64_t *state, struct op *ops, int count)
{
	enum kind kind = kind_of(run.operation);
	int i;

	for (i = 0; i < count; i++)
		ops[i] = draw_op(state,
				 kind == KINDS ? (enum kind) draw(state, KINDS) : kind,
				 run.ranks, run.most);
}

static bool run_random_batch(struct team *team, uint64_t *state)
{
	struct op ops[MAX_BATCH];
	int count = 1 + (int) draw(state, MAX_BATCH);
	enum manner manner = (enum manner) draw(state, MANNERS);

	if (run.manner != MANNERS)
		manner = run.manner;
	/* A graph is of one device, and has no thread that makes calls for it. */
	if (manner == CAPTURED && (run.layout == SINGLE || run.is_nonblocking))
		manner = GROUPED;
	draw_ops(state, ops, count);
	return run_batch(team, ops, count, manner);
}

/* Each operation by itself, with little and with more. */
static bool run_each(struct team *team, uint64_t *state)
{
	enum kind only = kind_of(run.operation);
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		struct op ops[2];

		if (only != KINDS && kind != (int) only)
			continue;
		ops[0] = draw_op(state, (enum kind) kind, run.ranks, run.most / 64);
		ops[1] = draw_op(state, (enum kind) kind, run.ranks, run.most);
		if (!run_batch(team, ops, 2, ONE_BY_ONE))
			return false;
	}
	return true;
}

/* Which communicator the ranks use from now on. */
static void use(struct team *team, const ncclComm_t *comms)
{
	int i;

	for (i = 0; i < team->count; i++) {
		struct member *member = &team->members[i];

		member->comm = comms[i];
		member->stream = member->streams[comms == team->others];
		ncclCommUserRank(comms[i], &member->rank);
		ncclCommCount(comms[i], &member->nranks);
	}
}

/* Groups of two communicators at once. */
static bool run_overlapping(struct team *team, uint64_t *state)
{
	enum { HALF = MAX_BATCH / 2 };
	const ncclComm_t *const comms[] = {team->worlds, team->others};
	struct op ops[MAX_BATCH];
	bool is_right = true;
	int i;

	say_what(team, "groups of two communicators");
	draw_ops(state, ops, MAX_BATCH);
	for (i = 0; i < 2 && is_right; i++) {
		use(team, comms[i]);
		is_right = prepare_all(team, ops, i * HALF, HALF) &&
			   enqueue_all(team, ops, i * HALF, HALF, true);
	}
	for (i = 0; i < 2 && is_right; i++) {
		use(team, comms[i]);
		is_right = synchronize(team) && verify_all(team, ops, i * HALF, HALF);
	}
	use(team, team->worlds);
	return is_right;
}

static bool run_rounds(struct team *team)
{
	uint64_t state = run.seed * 0x9e3779b97f4a7c15ULL + 1;
	bool is_right = true;
	int i;

	for (i = 0; i < run.rounds && is_right; i++) {
		if (strcmp(run.operation, "any") != 0)
			is_right = run_each(team, &state);
		if (is_right)
			is_right = run_random_batch(team, &state);
		if (is_right && run.comms != WORLD) {
			use(team, team->others);
			is_right = run_random_batch(team, &state);
			use(team, team->worlds);
		}
		if (is_right && run.is_overlapping)
			is_right = run_overlapping(team, &state);
	}
	return is_right;
}

static bool open_devices(struct team *team)
{
	CUdevice device;
	int i;

	for (i = 0; i < team->count; i++) {
		struct member *member = &team->members[i];

		if (cuInit(0) || cuDeviceGet(&device, member->rank) ||
		    cuDevicePrimaryCtxRetain(&member->context, device) ||
		    cuCtxSetCurrent(member->context) ||
		    cuStreamCreate(&member->streams[0], CU_STREAM_NON_BLOCKING) ||
		    cuStreamCreate(&member->streams[1], CU_STREAM_NON_BLOCKING)) {
			fprintf(stderr, "rank %d has no device\n", member->rank);
			return false;
		}
	}
	return true;
}

static ncclUniqueId id_number(int number)
{
	while (atomic_load(&board->id_count) <= number)
		sched_yield();
	return board->ids[number];
}

static bool init_comms(struct team *team, ncclComm_t *comms, int id)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclUniqueId unique = id_number(id);
	ncclResult_t result = ncclSuccess;
	int i;

	config.blocking = run.is_nonblocking ? 0 : 1;
	/* The parent says whether its children share. */
	config.splitShare = run.comms == SHARED;
	if (!check(ncclGroupStart(), "ncclGroupStart"))
		return false;
	for (i = 0; i < team->count; i++) {
		cuCtxSetCurrent(team->members[i].context);
		if (!check(ncclCommInitRankConfig(&comms[i], run.ranks, unique,
						  team->members[i].rank, &config),
			   "ncclCommInitRankConfig"))
			return false;
	}
	result = ncclGroupEnd();
	for (i = 0; i < team->count; i++)
		team->members[i].comm = comms[i];
	return settle(team, result, "initialisation");
}

static bool split_comms(struct team *team)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclResult_t result;
	int i;

	config.blocking = run.is_nonblocking ? 0 : 1;
	config.splitShare = run.comms == SHARED;
	if (!check(ncclGroupStart(), "ncclGroupStart"))
		return false;
	for (i = 0; i < team->count; i++) {
		int rank = team->members[i].rank;

		/* Two children, the ranks of which stand in the other order. */
		if (!check(ncclCommSplit(team->worlds[i], rank % 2, -rank,
					 &team->others[i], &config),
			   "ncclCommSplit"))
			return false;
	}
	result = ncclGroupEnd();
	if (!settle(team, result, "split"))
		return false;
	for (i = 0; i < team->count; i++)
		team->members[i].comm = team->others[i];
	return settle(team, ncclSuccess, "child");
}

/* Enough for all that may be drawn. */
static bool make_buffers(struct member *member)
{
	size_t room = run.most + 8 * MAX_RANKS + 64;
	int k;

	cuCtxSetCurrent(member->context);
	for (k = 0; k < MAX_BATCH; k++) {
		struct buffers *buffers = &member->buffers[k];

		if (buffers->room)
			continue;
		if (!check(ncclMemAlloc((void **) &buffers->send, room),
			   "ncclMemAlloc") ||
		    !check(ncclMemAlloc((void **) &buffers->recv, room), "ncclMemAlloc"))
			return false;
		buffers->room = room;
	}
	return true;
}

/* The communicators in use have all buffers as windows. */
static bool open_windows(struct team *team, ncclWindow_t (*windows)[2 * MAX_BATCH])
{
	bool is_right = true;
	int i;
	int k;

	for (i = 0; i < team->count && is_right; i++)
		is_right = make_buffers(&team->members[i]);
	if (!is_right || !check(ncclGroupStart(), "ncclGroupStart"))
		return false;
	for (i = 0; i < team->count; i++) {
		for (k = 0; k < 2 * MAX_BATCH && is_right; k++) {
			struct buffers *buffers = &team->members[i].buffers[k / 2];

			is_right = check(ncclCommWindowRegister(team->members[i].comm,
								k % 2 ? buffers->recv
								      : buffers->send,
								buffers->room,
								&windows[i][k],
								NCCL_WIN_COLL_SYMMETRIC),
					 "ncclCommWindowRegister");
		}
	}
	return settle(team, ncclGroupEnd(), "windows") && is_right;
}

static bool close_windows(struct team *team, ncclWindow_t (*windows)[2 * MAX_BATCH])
{
	int i;
	int k;

	for (i = 0; i < team->count; i++) {
		for (k = 0; k < 2 * MAX_BATCH; k++) {
			if (!check(ncclCommWindowDeregister(team->members[i].comm,
							    windows[i][k]),
				   "ncclCommWindowDeregister"))
				return false;
		}
	}
	return true;
}

static bool open_comms(struct team *team)
{
	bool is_right = true;

	say_what(team, "initialisation");
	if (!init_comms(team, team->worlds, 0))
		return false;
	say_what(team, "second communicator");
	if (run.comms == TWO)
		is_right = init_comms(team, team->others, 1);
	else if (run.comms != WORLD)
		is_right = split_comms(team);
	if (run.has_windows && run.comms != WORLD && is_right) {
		say_what(team, "windows of the second communicator");
		use(team, team->others);
		is_right = open_windows(team, team->windows[1]);
	}
	use(team, team->worlds);
	if (run.has_windows && is_right) {
		say_what(team, "windows");
		is_right = open_windows(team, team->windows[0]);
	}
	return is_right;
}

static bool close_comms(struct team *team, ncclComm_t *comms)
{
	ncclResult_t result = ncclSuccess;
	int i;

	use(team, comms);
	if (run.has_windows && !close_windows(team, team->windows[comms == team->others]))
		return false;
	if (!check(ncclGroupStart(), "ncclGroupStart"))
		return false;
	for (i = 0; i < team->count && result == ncclSuccess; i++) {
		result = ncclCommFinalize(comms[i]);
		if (result == ncclInProgress)
			result = ncclSuccess;
	}
	if (!check(result, "ncclCommFinalize") ||
	    !settle(team, ncclGroupEnd(), "ncclCommFinalize"))
		return false;
	for (i = 0; i < team->count; i++) {
		if (!check(ncclCommDestroy(comms[i]), "ncclCommDestroy"))
			return false;
	}
	return true;
}

static bool drive(struct team *team)
{
	bool is_right = open_devices(team) && open_comms(team) && run_rounds(team);

	if (is_right) {
		say_what(team, "end");
		if (run.comms != WORLD)
			is_right = close_comms(team, team->others);
		is_right = is_right && close_comms(team, team->worlds);
	}
	if (!is_right)
		atomic_store(&board->has_failed, true);
	return is_right;
}

static void make_ids(void)
{
	int i;

	for (i = 0; i < (run.comms == TWO ? 2 : 1); i++) {
		if (!check(ncclGetUniqueId(&board->ids[i]), "ncclGetUniqueId"))
			exit(1);
		atomic_store(&board->id_count, i + 1);
	}
}

static void *drive_one(void *argument)
{
	int rank = *(int *) argument;
	struct team *team = calloc(1, sizeof(*team));
	bool is_right = false;

	if (team) {
		team->count = 1;
		team->members[0].number = rank;
		team->members[0].rank = rank;
		team->members[0].nranks = run.ranks;
		team->members[0].is_nonblocking = run.is_nonblocking;
		is_right = drive(team);
	}
	free(team);
	/* The other threads wait for this one for ever. */
	if (!is_right)
		_exit(1);
	return NULL;
}

static int run_threads(int first, int count)
{
	pthread_t threads[MAX_RANKS];
	int numbers[MAX_RANKS];
	int i;

	for (i = 0; i < count; i++) {
		numbers[i] = first + i;
		if (pthread_create(&threads[i], NULL, drive_one, &numbers[i]))
			return 1;
	}
	for (i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int run_single(int first, int count)
{
	struct team *team = calloc(1, sizeof(*team));
	int i;

	if (!team)
		return 1;
	team->count = count;
	for (i = 0; i < count; i++) {
		team->members[i].number = first + i;
		team->members[i].rank = first + i;
		team->members[i].nranks = run.ranks;
		team->members[i].is_nonblocking = run.is_nonblocking;
	}
	i = !drive(team);
	free(team);
	return i;
}

/* The ranks of one process. */
static int run_some(int first, int count)
{
	char node[32];

	alarm((unsigned int) run.limit_s);
	if (run.ranks_per_node) {
		snprintf(node, sizeof(node), "node.%d", first / run.ranks_per_node);
		setenv("NCCL_HOSTID", node, 1);
	}
	if (first == 0)
		make_ids();
	if (run.layout == SINGLE)
		return run_single(first, count);
	if (run.layout == THREADS)
		return run_threads(first, count);
	drive_one(&first);
	return 0;
}

/* A process is on one node: `each` ranks at most. */
static int run_processes(int each)
{
	int failed = 0;
	int status;
	int i;

	for (i = 0; i < run.ranks; i += each) {
		pid_t pid = fork();

		if (pid < 0)
			exit(1);
		if (pid > 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		exit(run_some(i, run.ranks - i < each ? run.ranks - i : each));
	}
	while (wait(&status) > 0) {
		if (!status)
			continue;
		failed++;
		atomic_store(&board->has_failed, true);
		if (WIFSIGNALED(status))
			fprintf(stderr, "a rank was ended by signal %d\n",
				WTERMSIG(status));
	}
	return failed != 0;
}

static const char help[] =
	"usage: configuration [NAME=VALUE...]\n"
	"\n"
	"  ranks=N        2 to 16 (2)\n"
	"  channels=N     1 to 64 (1)\n"
	"  protocol=P     ll, ll128 or simple (simple)\n"
	"  algorithm=A    ring or tree (ring)\n"
	"  transport=T    verbs, socket, p2p, shm, or pairs: two ranks to a node, with verbs\n"
	"                 between the nodes; pxn: pairs that post for each other; windows:\n"
	"                 p2p, and all buffers are windows; copies: with these by copy\n"
	"                 engines, where these can (verbs)\n"
	"  operation=O    each: all of them, one by one, and then some together; any: some\n"
	"                 together; or the name of one (each)\n"
	"  layout=L       processes; threads: all ranks in one process; single: all in one\n"
	"                 thread (processes)\n"
	"  comms=C        world; or also children of it: split, shared (with its\n"
	"                 proxies); or another one of all: two (world)\n"
	"  blocking=0|1   (1)\n"
	"  manner=M       of operations together: alone, queued, grouped or captured; or any,\n"
	"                 each time another (any)\n"
	"  overlap=0|1    also groups of both communicators at once, each on its stream (0)\n"
	"  rounds=N       (1)\n"
	"  most=BYTES     of one operation on one rank (1048576)\n"
	"  seed=N         all that is drawn: sizes, types, operators, roots, manners (1)\n"
	"  jitter=US      at most so long before each message (0)\n"
	"  release=R      of NCCL (the double's own default)\n"
	"  limit=S        for each step, until it is said to hang in it (60)\n"
	"  spoil=0|1      a byte of each result is changed before it is looked at (0)\n"
	"\n"
	"Other settings of the doubles come from the environment.\n";

static int64_t number(const char *name, const char *text, int64_t least, int64_t most)
{
	char *end;
	int64_t value = strtoll(text, &end, 10);

	if (end == text || *end || value < least || value > most)
		misuse("%s=%s is not from %lld to %lld", name, text, (long long) least,
		       (long long) most);
	return value;
}

static int one_of(const char *name, const char *text, const char *const *names)
{
	int i = 0;

	while (names[i] && strcmp(names[i], text) != 0)
		i++;
	if (!names[i])
		misuse("%s=%s is none", name, text);
	return i;
}

static void parse(const char *name, const char *text)
{
	static const char *const protocols[] = {"ll", "ll128", "simple", NULL};
	static const char *const algorithms[] = {"ring", "tree", NULL};
	static const char *const layouts[] = {"processes", "threads", "single", NULL};
	static const char *const comms[] = {"world", "split", "shared", "two", NULL};

	if (strcmp(name, "ranks") == 0)
		run.ranks = (int) number(name, text, 2, MAX_RANKS);
	else if (strcmp(name, "channels") == 0)
		run.channels = (int) number(name, text, 1, 64);
	else if (strcmp(name, "protocol") == 0)
		run.protocol = protocols[one_of(name, text, protocols)];
	else if (strcmp(name, "algorithm") == 0)
		run.algorithm = algorithms[one_of(name, text, algorithms)];
	else if (strcmp(name, "transport") == 0)
		run.transport = text;
	else if (strcmp(name, "operation") == 0)
		run.operation = text;
	else if (strcmp(name, "release") == 0)
		run.release = text;
	else if (strcmp(name, "layout") == 0)
		run.layout = (enum layout) one_of(name, text, layouts);
	else if (strcmp(name, "comms") == 0)
		run.comms = (enum comms) one_of(name, text, comms);
	else if (strcmp(name, "blocking") == 0)
		run.is_nonblocking = !number(name, text, 0, 1);
	else if (strcmp(name, "manner") == 0)
		run.manner = (enum manner) one_of(name, text, manner_names);
	else if (strcmp(name, "overlap") == 0)
		run.is_overlapping = number(name, text, 0, 1);
	else if (strcmp(name, "rounds") == 0)
		run.rounds = (int) number(name, text, 1, 1 << 20);
	else if (strcmp(name, "most") == 0)
		run.most = (size_t) number(name, text, 64, 1 << 28);
	else if (strcmp(name, "seed") == 0)
		run.seed = (uint64_t) number(name, text, 0, INT64_MAX);
	else if (strcmp(name, "jitter") == 0)
		run.jitter = (int) number(name, text, 0, 1000000);
	else if (strcmp(name, "limit") == 0)
		run.limit_s = (int) number(name, text, 1, 3600);
	else if (strcmp(name, "spoil") == 0)
		run.is_spoilt = number(name, text, 0, 1);
	else
		misuse("there is no %s", name);
}

static void set_number(const char *name, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long) value);
	setenv(name, text, 1);
}

/* The networks, and whether ranks are on one node, where NCCL would not use one. */
static void set_transport(void)
{
	static const struct {
		const char *name;
		bool has_verbs;
		const char *ranks_per_node;
		bool has_p2p;
		bool has_nvlink;
		/* NCCL_CTA_POLICY, where buffers are windows. */
		const char *policy;
	} transports[] = {{"verbs", true, NULL, true, false, NULL},
			  {"socket", false, NULL, true, false, NULL},
			  {"p2p", true, "0", true, false, NULL},
			  {"shm", true, "0", false, false, NULL},
			  {"pairs", true, "2", true, false, NULL},
			  {"pxn", true, "2", true, true, NULL},
			  {"windows", true, "0", true, false, "0"},
			  {"copies", true, "0", true, false, "2"},
			  {NULL, false, NULL, false, false, NULL}};
	int i = 0;

	while (transports[i].name && strcmp(transports[i].name, run.transport) != 0)
		i++;
	if (!transports[i].name)
		misuse("transport=%s is none", run.transport);
	run.has_windows = transports[i].policy != NULL;
	if (getenv(SET))
		return;
	if (run.has_windows)
		setenv("NCCL_CTA_POLICY", transports[i].policy, 1);
	setenv("NCCL_IB_DISABLE", transports[i].has_verbs ? "0" : "1", 1);
	/* Who says another number has nodes of that size, or several of them. */
	if (transports[i].ranks_per_node)
		setenv("MININCCL_RANKS_PER_NODE", transports[i].ranks_per_node, 0);
	if (transports[i].has_nvlink)
		setenv("MININCCL_NVLINK", "1", 1);
	if (!transports[i].has_p2p)
		setenv("NCCL_P2P_DISABLE", "1", 1);
}

/*
 * Nodes of several ranks differ as NCCL's do, and not by a setting of the double's: a
 * process is on one of them.
 */
static void set_nodes(void)
{
	const char *each = getenv("MININCCL_RANKS_PER_NODE");

	if (!each || atoi(each) < 2)
		return;
	setenv(RANKS_PER_NODE, each, 1);
	setenv("MININCCL_RANKS_PER_NODE", "0", 1);
}

/*
 * The libraries are told all before they are loaded: the program begins anew, with the
 * doubles of the build that it lies in.
 */
static void begin_anew(char **argv)
{
	char path[4096];
	char *libraries;
	char *slash;
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	int i;

	set_transport();
	if (getenv(RANKS_PER_NODE))
		run.ranks_per_node = atoi(getenv(RANKS_PER_NODE));
	if (getenv(SET) || size < 0)
		return;
	set_nodes();
	path[size] = '\0';
	for (i = 0; i < 3; i++) {
		slash = strrchr(path, '/');
		if (slash)
			*slash = '\0';
	}
	if (asprintf(&libraries, "%s/doubles/verbs", path) < 0)
		exit(1);
	if (!getenv("LD_LIBRARY_PATH"))
		setenv("LD_LIBRARY_PATH", libraries, 1);
	free(libraries);
	if (!getenv("SOFTVERBS_FABRIC")) {
		snprintf(path, sizeof(path), "configuration.%d", (int) getpid());
		setenv("SOFTVERBS_FABRIC", path, 1);
	}
	setenv("NCCL_PROTO", run.protocol, 1);
	/* No other function has trees. */
	setenv("NCCL_ALGO",
	       strcmp(run.algorithm, "tree") == 0 ? "ring;allreduce:tree" : "ring", 1);
	set_number("NCCL_MIN_NCHANNELS", run.channels);
	set_number("NCCL_MAX_NCHANNELS", run.channels);
	set_number("DOUBLE_CUDA_DEVICES", MAX_RANKS);
	set_number("MININCCL_SEED", (int64_t) run.seed);
	set_number("MININCCL_JITTER_US", run.jitter);
	if (*run.release)
		setenv("MININCCL_RELEASE", run.release, 1);
	setenv(SET, "1", 1);
	execv("/proc/self/exe", argv);
	misuse("cannot begin anew: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static const struct sigaction action = {.sa_handler = give_up};
	int i;

	for (i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		char name[32];

		if (strcmp(argv[i], "--help") == 0) {
			fputs(help, stdout);
			return 0;
		}
		if (!value || value - argv[i] >= (ptrdiff_t) sizeof(name))
			misuse("%s is not NAME=VALUE", argv[i]);
		memcpy(name, argv[i], (size_t) (value - argv[i]));
		name[value - argv[i]] = '\0';
		parse(name, value + 1);
	}
	if (kind_of(run.operation) == KINDS && strcmp(run.operation, "any") != 0 &&
	    strcmp(run.operation, "each") != 0)
		misuse("operation=%s is none", run.operation);
	if (run.is_overlapping && run.comms == WORLD)
		misuse("overlap=1 is of two communicators");
	begin_anew(argv);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED)
		return 1;
	sigaction(SIGALRM, &action, NULL);
	if (run.layout == PROCESSES)
		return run_processes(1);
	if (run.ranks_per_node)
		return run_processes(run.ranks_per_node);
	return run_some(0, run.ranks);
}
