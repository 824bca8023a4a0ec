/* SPDX-License-Identifier: MIT */
/*
 * What a profiler plugin, here the program itself, is told of groups within groups, of
 * graphs that have nothing to send, of names, of what it does not want (any more), and of
 * all.
 */
#include "ranks.h"

#define PROFILER_VERSION 5
#include "programs/profiler_event.h"

enum { GROUP_START_STOP = 23, GROUP_END_START = 24, MOST_EVENTS = 4096 };

/* Of this rank's process; a handle is one of these. */
static struct told {
	struct event event;
	/* How many states it had, and the last one. */
	int states;
	int state;
	bool is_over;
} events[MOST_EVENTS];
static atomic_int event_count;
static const char *last_name;
static int *wanted;
static int comm_count;
/* What the calling threads tell, which tests look at while others run. */
static int mask_at_first =
	GROUP | COLL | P2P | GROUP_API | COLL_API | P2P_API | KERNEL_LAUNCH;

static int init_plugin(void **context, uint64_t hash, int *mask, const char *name,
		       int nnodes, int nranks, int rank, void (*log)(void))
{
	(void) hash;
	(void) nnodes;
	(void) nranks;
	(void) rank;
	(void) log;
	*context = &comm_count;
	comm_count++;
	last_name = name;
	wanted = mask;
	*mask = mask_at_first;
	return 0;
}

static int start_event(void *context, void **handle, const struct event *event)
{
	int number = atomic_fetch_add(&event_count, 1);

	(void) context;
	if (number >= MOST_EVENTS)
		abort();
	events[number] = (struct told){.event = *event};
	*handle = &events[number];
	return 0;
}

static int stop_event(void *handle)
{
	((struct told *) handle)->is_over = true;
	return 0;
}

static int record_state(void *handle, int state, const union argument *argument)
{
	struct told *told = handle;

	(void) argument;
	told->states++;
	told->state = state;
	return 0;
}

static int finalize(void *context)
{
	(void) context;
	comm_count--;
	return 0;
}

/* Found by its name, however the program is compiled. */
__attribute__((visibility("default"))) const struct {
	const char *name;
	__typeof__(init_plugin) *init;
	__typeof__(start_event) *start;
	__typeof__(stop_event) *stop;
	__typeof__(record_state) *record;
	__typeof__(finalize) *finalize;
} ncclProfiler_v5 = {
	"test", init_plugin, start_event, stop_event, record_state, finalize,
};

static int count(uint64_t type)
{
	int number = 0;
	int i;

	for (i = 0; i < atomic_load(&event_count); i++)
		number += events[i].event.type == type;
	return number;
}

/* The number-th of a type. */
static struct told *nth(uint64_t type, int number)
{
	int i;

	for (i = 0; i < atomic_load(&event_count); i++) {
		if (events[i].event.type == type && number-- == 0)
			return &events[i];
	}
	abort();
}

static void forget(void)
{
	atomic_store(&event_count, 0);
}

static void add_up(ncclComm_t comm, int rank)
{
	REQUIRE(ncclAllReduce(memory(), memory(), COUNT, ncclInt32, ncclSum, comm,
			      stream) == ncclSuccess);
}

/* The end of the inner group is taken for that of the outer one, as NCCL counts. */
static void nest_groups(int rank)
{
	ncclComm_t comm = init(rank, 2, NULL);
	int i;

	REQUIRE(ncclGroupStart() == ncclSuccess);
	add_up(comm, rank);
	REQUIRE(count(GROUP_API) == 1 && count(COLL_API) == 1);
	REQUIRE(nth(GROUP_API, 0)->event.groupApi.groupDepth == 2);
	REQUIRE(nth(GROUP_API, 0)->state == GROUP_START_STOP);
	REQUIRE(ncclGroupStart() == ncclSuccess);
	add_up(comm, rank);
	REQUIRE(!nth(GROUP_API, 0)->is_over);
	REQUIRE(ncclGroupEnd() == ncclSuccess);
	REQUIRE(nth(GROUP_API, 0)->is_over && nth(GROUP_API, 0)->states == 2);
	REQUIRE(nth(GROUP_API, 0)->state == GROUP_END_START);
	REQUIRE(count(KERNEL_LAUNCH) == 0);
	REQUIRE(ncclGroupEnd() == ncclSuccess);
	REQUIRE(count(GROUP_API) == 1 && count(KERNEL_LAUNCH) == 1 && count(COLL) == 2);
	for (i = 0; i < 2; i++) {
		REQUIRE(nth(COLL_API, i)->event.parentObj == nth(GROUP_API, 0));
		REQUIRE(nth(COLL, i)->event.coll.seqNumber == (uint64_t) i);
		REQUIRE(nth(COLL, i)->is_over);
	}
	/* What comes next is a group of its own. */
	add_up(comm, rank);
	REQUIRE(count(GROUP_API) == 2 && nth(GROUP_API, 1)->is_over);
	REQUIRE(nth(GROUP_API, 1)->event.groupApi.groupDepth == 1);
	REQUIRE(nth(COLL, 2)->event.coll.seqNumber == 2);
	cuStreamSynchronize(stream);
	leave(comm, rank, 2);
}

/* Nothing is given to the proxy at each launch, so that the capture is all that is told.
 */
static void capture_copy(int rank)
{
	ncclComm_t comm = init(rank, 2, NULL);
	int32_t *half = (int32_t *) memory() + COUNT / 2;
	CUgraphExec program;
	CUgraph graph;

	REQUIRE(!cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	REQUIRE(ncclGroupStart() == ncclSuccess);
	REQUIRE(ncclSend(memory(), COUNT / 2, ncclInt32, rank, comm, stream) ==
		ncclSuccess);
	REQUIRE(ncclRecv(half, COUNT / 2, ncclInt32, rank, comm, stream) == ncclSuccess);
	REQUIRE(ncclGroupEnd() == ncclSuccess);
	REQUIRE(!cuStreamEndCapture(stream, &graph));
	REQUIRE(!cuGraphInstantiate(&program, graph, 0));
	REQUIRE(nth(GROUP_API, 0)->event.groupApi.graphCaptured);
	REQUIRE(nth(P2P_API, 1)->event.p2pApi.graphCaptured);
	REQUIRE(count(KERNEL_LAUNCH) == 1 && count(GROUP) == 1 && count(P2P) == 2);
	REQUIRE(strcmp(nth(P2P, 0)->event.p2p.func, "Send") == 0);
	REQUIRE(strcmp(nth(P2P, 1)->event.p2p.func, "Recv") == 0);
	REQUIRE(nth(P2P, 1)->event.p2p.peer == rank);
	forget();
	REQUIRE(!cuGraphLaunch(program, stream) && !cuGraphLaunch(program, stream));
	REQUIRE(!cuStreamSynchronize(stream));
	REQUIRE(atomic_load(&event_count) == 0);
	cuGraphExecDestroy(program);
	cuGraphDestroy(graph);
	leave(comm, rank, 2);
}

static void name_comms(int rank)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclComm_t child = NULL;
	ncclComm_t comm;

	config.commName = "tensors";
	comm = init(rank, 2, &config);
	REQUIRE(last_name == config.commName);
	last_name = NULL;
	REQUIRE(ncclCommSplit(comm, 0, rank, &child, NULL) == ncclSuccess);
	REQUIRE(last_name == config.commName && comm_count == 2);
	REQUIRE(ncclCommDestroy(child) == ncclSuccess);
	REQUIRE(comm_count == 1);
	leave(comm, rank, 2);
	REQUIRE(comm_count == 0);
}

/* A progress thread looks at it meanwhile. */
static void want(int mask)
{
	__atomic_store_n(wanted, mask, __ATOMIC_RELAXED);
}

/* What is wanted is asked for at each call. */
static void want_less(int rank)
{
	ncclComm_t comm = init(rank, 2, NULL);

	want(COLL);
	add_up(comm, rank);
	/* Those that are asked for by what is wanted below them are begun as well. */
	REQUIRE(count(GROUP_API) == 1 && count(COLL_API) == 1 && count(GROUP) == 1);
	REQUIRE(count(COLL) == 1 && count(KERNEL_LAUNCH) == 0);
	forget();
	want(0);
	add_up(comm, rank);
	REQUIRE(atomic_load(&event_count) == 0);
	want(COLL);
	add_up(comm, rank);
	REQUIRE(nth(COLL, 0)->event.coll.seqNumber == 2);
	cuStreamSynchronize(stream);
	leave(comm, rank, 2);
}

/* Looked at when no thread is left. */
static void want_all(int rank)
{
	ncclComm_t comm;
	int steps = 0;
	int i;

	mask_at_first = 0xfff;
	comm = init(rank, 2, NULL);
	for (i = 0; i < 3; i++)
		add_up(comm, rank);
	cuStreamSynchronize(stream);
	leave(comm, rank, 2);
	for (i = 0; i < atomic_load(&event_count); i++) {
		REQUIRE(events[i].is_over);
		if (events[i].event.type == PROXY_OP)
			steps += events[i].event.proxyOp.nSteps;
	}
	REQUIRE(count(COLL) == 3 && count(KERNEL_CH) == 3 && count(PROXY_OP) == 6);
	REQUIRE(count(PROXY_STEP) == steps && count(PROXY_CTRL) > 0);
}

int main(void)
{
	if (!prepare_ranks())
		return 1;
	setenv("NCCL_PROFILER_PLUGIN", "static_plugin", 1);
	ok(in_processes(2, nest_groups), "a group within a group");
	ok(in_processes(2, capture_copy), "a graph that has nothing to send");
	ok(in_processes(2, name_comms), "names of communicators");
	ok(in_processes(2, want_less), "what is not wanted is not told");
	ok(in_processes(2, want_all), "all that is begun is over in the end");
	return tap_done();
}
