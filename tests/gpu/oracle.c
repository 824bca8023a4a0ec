/* SPDX-License-Identifier: MIT */
/*
 * A profiler plugin of NCCL's, for tests alone: it writes down NCCL's own events, with which
 * tests/gpu/oracle.py compares what ccltap says of the same run.  NCCL_PROFILER_PLUGIN names
 * it, ORACLE_LOG the folder; each process writes oracle.PID there when NCCL unloads it or the
 * process ends, a line of JSON for each event.  Without ORACLE_LOG it wants no event.
 *
 * The interface is version 5, which NCCL has had since 2.28 and later releases still take
 * (ext-profiler/README.md and src/include/plugin/profiler/profiler_v5.h of NCCL).
 */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	GROUP,
	COLL,
	P2P,
	PROXY_OP,
	PROXY_STEP,
	PROXY_CTRL,
	KERNEL_CH,
	NET_PLUGIN,
	GROUP_API,
	COLL_API,
	P2P_API,
	KERNEL_LAUNCH,
	NR_EVENTS
};

static const char *const event_names[NR_EVENTS] = {
	"Group",     "Coll",	   "P2p",	"ProxyOp", "ProxyStep", "ProxyCtrl",
	"KernelCh",  "NetPlugin",  "GroupApi",	"CollApi", "P2pApi",	"KernelLaunch",
};

#define FIRST_STATE 8
#define PROXY_IDLE 13
#define PROXY_ACTIVE 14
#define APPEND_END 18
#define KERNEL_CH_STOP 22
static const char *const state_names[] = {
	"SendGPUWait", "SendWait", "RecvWait", "RecvFlushWait", "RecvGPUWait",	   "Idle",
	"Active",      "Sleep",	   "Wakeup",   "Append",	"AppendEnd",	   "InProgress",
	"SendPeerWait", "NetPluginUpdate", "KernelChStop", "GroupStartApiStop", "GroupEndApiStart",
};

/* ---- The interface ---- */

struct descriptor {
	uint64_t type; /* a bit, 1 << PROXY_OP ... */
	void *parent;
	int rank;
	union {
		struct {
			bool is_captured;
			int depth;
		} group_api;
		struct {
			const char *function;
			size_t count;
			const char *datatype;
			int root;
			void *stream;
			bool is_captured;
		} coll_api;
		struct {
			const char *function;
			size_t count;
			const char *datatype;
			void *stream;
			bool is_captured;
		} p2p_api;
		struct {
			void *stream;
		} kernel_launch;
		struct {
			uint64_t number;
			const char *function;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *datatype;
			uint8_t channels;
			uint8_t warps;
			const char *algorithm;
			const char *protocol;
			void *group;
		} coll;
		struct {
			const char *function;
			void *buffer;
			const char *datatype;
			size_t count;
			int peer;
			uint8_t channels;
			void *group;
		} p2p;
		struct {
			pid_t pid;
			uint8_t channel;
			int peer;
			int steps;
			int chunk_bytes;
			int is_send;
		} proxy_op;
		struct {
			int step;
		} proxy_step;
		struct {
			uint8_t channel;
			uint64_t timer;
		} kernel_ch;
	};
};

union arguments {
	size_t bytes;	 /* of a step */
	int appended;	 /* operations */
	uint64_t timer;	 /* of the GPU */
};

/* What happened to NCCL's results does not matter to it. */
#define SUCCESS 0

/* ---- What is kept until the end ---- */

#define FIELDS_BYTES 320
#define STATES 8

struct state {
	int64_t time_ns;
	uint64_t value;
	int number;
};

struct event {
	struct event *earlier;
	const struct event *parent;
	uint64_t id;
	int64_t begin_ns, end_ns; /* CLOCK_MONOTONIC; 0: not stopped */
	unsigned context;
	int type, rank;
	pid_t tid;
	unsigned nr_states;
	struct state states[STATES];
	char fields[FIELDS_BYTES]; /* of JSON */
};

struct context {
	unsigned number;
};

static struct event *latest;
static uint64_t last_id;
static unsigned last_context;
static const char *folder;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void keep(struct event *event)
{
	event->earlier = __atomic_load_n(&latest, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&latest, &event->earlier, event, true,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

#define FIELDS(...) snprintf(event->fields, sizeof(event->fields), __VA_ARGS__)

static const char *text(const char *string)
{
	return string ? string : "";
}

static void describe(struct event *event, const struct descriptor *d)
{
	switch (event->type) {
	case GROUP_API:
		FIELDS("\"graphCaptured\":%d,\"groupDepth\":%d", d->group_api.is_captured,
		       d->group_api.depth);
		break;
	case COLL_API:
		FIELDS("\"func\":\"%s\",\"count\":%zu,\"datatype\":\"%s\",\"root\":%d,"
		       "\"stream\":\"%p\",\"graphCaptured\":%d",
		       text(d->coll_api.function), d->coll_api.count,
		       text(d->coll_api.datatype), d->coll_api.root, d->coll_api.stream,
		       d->coll_api.is_captured);
		break;
	case P2P_API:
		FIELDS("\"func\":\"%s\",\"count\":%zu,\"datatype\":\"%s\",\"stream\":\"%p\","
		       "\"graphCaptured\":%d",
		       text(d->p2p_api.function), d->p2p_api.count,
		       text(d->p2p_api.datatype), d->p2p_api.stream,
		       d->p2p_api.is_captured);
		break;
	case KERNEL_LAUNCH:
		FIELDS("\"stream\":\"%p\"", d->kernel_launch.stream);
		break;
	case COLL:
		FIELDS("\"seqNumber\":%" PRIu64 ",\"func\":\"%s\",\"sendBuff\":\"%p\","
		       "\"recvBuff\":\"%p\",\"count\":%zu,\"root\":%d,\"datatype\":\"%s\","
		       "\"nChannels\":%d,\"nWarps\":%d,\"algo\":\"%s\",\"proto\":\"%s\"",
		       d->coll.number, text(d->coll.function), d->coll.send, d->coll.recv,
		       d->coll.count, d->coll.root, text(d->coll.datatype),
		       d->coll.channels, d->coll.warps, text(d->coll.algorithm),
		       text(d->coll.protocol));
		break;
	case P2P:
		FIELDS("\"func\":\"%s\",\"buff\":\"%p\",\"datatype\":\"%s\",\"count\":%zu,"
		       "\"peer\":%d,\"nChannels\":%d",
		       text(d->p2p.function), d->p2p.buffer, text(d->p2p.datatype),
		       d->p2p.count, d->p2p.peer, d->p2p.channels);
		break;
	case PROXY_OP:
		FIELDS("\"pid\":%d,\"channelId\":%d,\"peer\":%d,\"nSteps\":%d,"
		       "\"chunkSize\":%d,\"isSend\":%d",
		       d->proxy_op.pid, d->proxy_op.channel, d->proxy_op.peer,
		       d->proxy_op.steps, d->proxy_op.chunk_bytes, d->proxy_op.is_send);
		break;
	case PROXY_STEP:
		FIELDS("\"step\":%d", d->proxy_step.step);
		break;
	case KERNEL_CH:
		FIELDS("\"channelId\":%d,\"pTimer\":%" PRIu64, d->kernel_ch.channel,
		       d->kernel_ch.timer);
		break;
	default:
		break;
	}
}

/* The parent of another process's operation, which a rank serves for it, is not here. */
static bool has_parent_here(const struct event *event, const struct descriptor *d)
{
	return event->type != PROXY_OP || d->proxy_op.pid == getpid();
}

/* ---- What NCCL calls ---- */

static int init(void **ret_context, uint64_t comm_id, int *ret_wanted, const char *comm_name,
		int nodes, int nranks, int rank, void *log)
{
	struct context *context = calloc(1, sizeof(*context));
	struct event *event = calloc(1, sizeof(*event));

	(void) log;
	folder = getenv("ORACLE_LOG");
	*ret_context = context;
	*ret_wanted = folder && context && event ? (1 << NR_EVENTS) - 1 : 0;
	if (!*ret_wanted) {
		free(event);
		return SUCCESS;
	}
	context->number = __atomic_add_fetch(&last_context, 1, __ATOMIC_RELAXED);
	event->context = context->number;
	event->type = -1;
	event->rank = rank;
	event->tid = (pid_t) syscall(SYS_gettid);
	event->begin_ns = event->end_ns = now_ns();
	FIELDS("\"commId\":\"0x%" PRIx64 "\",\"commName\":\"%.64s\",\"nNodes\":%d,\"nranks\":%d",
	       comm_id, text(comm_name), nodes, nranks);
	keep(event);
	return SUCCESS;
}

static int start(void *context, void **ret_event, struct descriptor *descriptor)
{
	struct event *event = calloc(1, sizeof(*event));

	*ret_event = event;
	if (!event)
		return SUCCESS;
	event->begin_ns = now_ns();
	event->id = __atomic_add_fetch(&last_id, 1, __ATOMIC_RELAXED);
	event->context = context ? ((struct context *) context)->number : 0;
	event->type = __builtin_ctzll(descriptor->type);
	event->rank = descriptor->rank;
	event->tid = (pid_t) syscall(SYS_gettid);
	if (has_parent_here(event, descriptor))
		event->parent = descriptor->parent;
	describe(event, descriptor);
	if (event->type != PROXY_CTRL)
		keep(event);
	return SUCCESS;
}

/* A progress thread turns idle and active too often for each time to be kept. */
static bool is_kept_at_end(const struct event *event)
{
	return !event->nr_states || (event->states[0].number != PROXY_IDLE &&
				     event->states[0].number != PROXY_ACTIVE);
}

static int stop(void *handle)
{
	struct event *event = handle;

	if (!event)
		return SUCCESS;
	event->end_ns = now_ns();
	if (event->type != PROXY_CTRL)
		return SUCCESS;
	if (is_kept_at_end(event))
		keep(event);
	else
		free(event);
	return SUCCESS;
}

static uint64_t value_of(int state, const union arguments *arguments)
{
	if (!arguments)
		return 0;
	if (state == APPEND_END)
		return (uint64_t) arguments->appended;
	return state == KERNEL_CH_STOP ? arguments->timer : arguments->bytes;
}

static int record(void *handle, int state, union arguments *arguments)
{
	struct event *event = handle;

	if (!event || state < FIRST_STATE || event->nr_states == STATES)
		return SUCCESS;
	/* NCCL says each time that it looks in vain for the peer. */
	if (event->nr_states && event->states[event->nr_states - 1].number == state)
		return SUCCESS;
	event->states[event->nr_states++] =
		(struct state){now_ns(), value_of(state, arguments), state};
	return SUCCESS;
}

static int finalize(void *context)
{
	free(context);
	return SUCCESS;
}

/* ---- The log ---- */

static void write_states(FILE *file, const struct event *event)
{
	unsigned i, number;

	for (i = 0; i < event->nr_states; i++) {
		number = (unsigned) event->states[i].number - FIRST_STATE;
		fprintf(file, "%s[\"%s\",%" PRId64 ",%" PRIu64 "]", i ? "," : "",
			number < sizeof(state_names) / sizeof(state_names[0])
				? state_names[number]
				: "?",
			event->states[i].time_ns, event->states[i].value);
	}
}

static void write_event(FILE *file, const struct event *event)
{
	const char *name = event->type < 0		? "init"
			   : event->type < NR_EVENTS	? event_names[event->type]
							: "?";

	fprintf(file, "{\"event\":\"%s\",\"id\":%" PRIu64 ",\"parent\":", name, event->id);
	if (event->parent)
		fprintf(file, "%" PRIu64, event->parent->id);
	else
		fputs("null", file);
	fprintf(file, ",\"context\":%u,\"rank\":%d,\"tid\":%d,\"begin_ns\":%" PRId64
		",\"end_ns\":%" PRId64 ",\"fields\":{%s},\"states\":[",
		event->context, event->rank, event->tid, event->begin_ns, event->end_ns,
		event->fields);
	write_states(file, event);
	fputs("]}\n", file);
}

/* The earliest event first. */
static struct event *in_order(void)
{
	struct event *event, *first = NULL;

	while ((event = latest)) {
		latest = event->earlier;
		event->earlier = first;
		first = event;
	}
	return first;
}

__attribute__((destructor)) static void write_log(void)
{
	const struct event *event = in_order();
	char path[PATH_MAX];
	FILE *file;

	if (!event)
		return;
	snprintf(path, sizeof(path), "%s/oracle.%d", folder, getpid());
	file = fopen(path, "a");
	if (!file)
		return;
	for (; event; event = event->earlier)
		write_event(file, event);
	fclose(file);
}

const struct {
	const char *name;
	int (*init)(void **context, uint64_t comm_id, int *wanted, const char *comm_name,
		    int nodes, int nranks, int rank, void *log);
	int (*start)(void *context, void **event, struct descriptor *descriptor);
	int (*stop)(void *event);
	int (*record)(void *event, int state, union arguments *arguments);
	int (*finalize)(void *context);
} ncclProfiler_v5 = {"ccltap-oracle", init, start, stop, record, finalize};
