/* SPDX-License-Identifier: MIT */
/*
 * A job of several ranks, one process each, that does ordinary work with NCCL and CUDA,
 * and has one fault, as its arguments say.  It knows nothing of the tracer.
 *
 * usage: faulty FOLDER FAULT RANKS RANK MOMENT SEED
 *
 * Each rank writes FOLDER/rank.N as it goes, a JSON object on each line; all times are of
 * CLOCK_MONOTONIC.  Where a rank is late, or none, FOLDER/cuda.N beside it is the log of
 * the driver double.  An object begins with
 *
 * - "init": the rank joins the others;
 * - "op": the number of the operation in the plan, its call, its number in the
 *   communicator, whether all ranks are in it and it has a kernel here, the call's ends;
 * - "work": the ends of a kernel of its own before that operation in the stream;
 * - "fault": what the rank with the fault does wrong from now on;
 * - "failed": what call failed, after which the rank exits;
 * - "done": the rank has done all that it was to do.
 */
#include "plan.h"

#include "double_image.h"

#include <cuda.h>
#include <nccl.h>

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the processes share. */
static struct board {
	ncclUniqueId id;
	atomic_int has_id;
} * board;

static struct plan plan;
static int rank;
static FILE *log_file;
static ncclComm_t comms[2];
static CUstream stream;
static CUfunction work_kernel, stuck_kernel;
static CUdeviceptr memory_out, memory_in;
static uint64_t jitter;
/* How many collectives each communicator had, and messages to and from each rank. */
static int collectives[2], sends[2][MAX_RANKS], receives[2][MAX_RANKS];
static volatile sig_atomic_t is_over;

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

static void nap_us(unsigned int us)
{
	const struct timespec time = {.tv_sec = us / 1000000,
				      .tv_nsec = (long) (us % 1000000) * 1000};

	nanosleep(&time, NULL);
}

static void need(int result, const char *call, int line)
{
	if (!result)
		return;
	fprintf(stderr, "faulty: rank %d: line %d: %s: %d\n", rank, line, call, result);
	fprintf(log_file, "{\"failed\":\"%s\",\"result\":%d,\"ns\":%" PRId64 "}\n", call,
		result, now());
	_exit(1);
}

#define OK(call) need((int) (call), #call, __LINE__)

/* ---- Kernels ---- */

struct work {
	int64_t ns;
	int64_t op;
};

static void run_work(const void *arguments, size_t size)
{
	const struct work *work = arguments;
	const int64_t begin = now();

	(void) size;
	nap_us((unsigned int) (work->ns / 1000));
	fprintf(log_file,
		"{\"work\":%" PRId64 ",\"begin_ns\":%" PRId64 ",\"end_ns\":%" PRId64
		"}\n",
		work->op, begin, now());
}

static void run_stuck(const void *arguments, size_t size)
{
	(void) arguments;
	(void) size;
	for (;;)
		pause();
}

static const size_t work_parameters[] = {sizeof(int64_t), sizeof(int64_t)};
static const struct double_kernel kernels[] = {
	{"_Z8gradientll", run_work, work_parameters, 2},
	{"_Z9wait_flagll", run_stuck, work_parameters, 2},
};
static const struct double_image image = {DOUBLE_IMAGE_MAGIC, 2, kernels};

static void launch(CUfunction kernel, int64_t ns, int op)
{
	struct work work = {.ns = ns, .op = op};
	void *parameters[] = {&work.ns, &work.op};

	OK(cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, parameters, NULL));
}

/* ---- Operations ---- */

static const char *call_of(enum op_kind kind)
{
	static const char *const calls[] = {
		[ALL_REDUCE] = "ncclAllReduce",
		[BROADCAST] = "ncclBroadcast",
		[ALL_GATHER] = "ncclAllGather",
		[REDUCE] = "ncclReduce",
		[REDUCE_SCATTER] = "ncclReduceScatter",
		[TWO] = "ncclAllReduce",
		[EXCHANGE] = "ncclSend",
		[PAIR] = "ncclSend",
		[SPLIT] = "ncclCommSplit",
	};

	return calls[kind];
}

static int size_of(const struct op *op)
{
	return op->comm == CHILD ? child_size(&plan, rank) : plan.ranks;
}

static int rank_of(const struct op *op)
{
	return op->comm == CHILD ? child_rank(&plan, rank) : rank;
}

static void all_reduce(const struct op *op)
{
	collectives[op->comm]++;
	OK(ncclAllReduce((void *) memory_out, (void *) memory_in, op->count,
			 (ncclDataType_t) op->type, ncclSum, comms[op->comm], stream));
}

static void send_to(const struct op *op, int peer)
{
	sends[op->comm][peer]++;
	OK(ncclSend((void *) memory_out, op->count, (ncclDataType_t) op->type, peer,
		    comms[op->comm], stream));
}

static void receive_from(const struct op *op, int peer)
{
	receives[op->comm][peer]++;
	OK(ncclRecv((void *) memory_in, op->count, (ncclDataType_t) op->type, peer,
		    comms[op->comm], stream));
}

static void exchange(const struct op *op)
{
	const int size = size_of(op), own = rank_of(op);

	OK(ncclGroupStart());
	send_to(op, (own + 1) % size);
	receive_from(op, (own + size - 1) % size);
	OK(ncclGroupEnd());
}

static void split(void)
{
	int count, own;

	OK(ncclCommSplit(comms[WORLD], child_color(&plan, rank), plan.ranks - rank,
			 &comms[CHILD], NULL));
	OK(ncclCommCount(comms[CHILD], &count));
	OK(ncclCommUserRank(comms[CHILD], &own));
	OK(count != child_size(&plan, rank) || own != child_rank(&plan, rank));
}

static void two(const struct op *op)
{
	OK(ncclGroupStart());
	all_reduce(op);
	all_reduce(op);
	OK(ncclGroupEnd());
}

static void do_call(const struct op *op)
{
	void *const out = (void *) memory_out, *const in = (void *) memory_in;
	const ncclDataType_t type = (ncclDataType_t) op->type;
	ncclComm_t comm = comms[op->comm];

	collectives[op->comm] += op->kind != ALL_REDUCE && op->kind < COLLECTIVES;
	switch (op->kind) {
	case ALL_REDUCE:
		all_reduce(op);
		break;
	case BROADCAST:
		OK(ncclBroadcast(out, in, op->count, type, op->root, comm, stream));
		break;
	case ALL_GATHER:
		OK(ncclAllGather(out, in, op->count, type, comm, stream));
		break;
	case REDUCE:
		OK(ncclReduce(out, in, op->count, type, ncclSum, op->root, comm, stream));
		break;
	case REDUCE_SCATTER:
		OK(ncclReduceScatter(out, in, op->count, type, ncclSum, comm, stream));
		break;
	case TWO:
		two(op);
		break;
	case EXCHANGE:
		exchange(op);
		break;
	case PAIR:
		if (rank == op->root)
			send_to(op, op->peer);
		else if (rank == op->peer)
			receive_from(op, op->root);
		break;
	case SPLIT:
		split();
		break;
	default:
		abort();
	}
}

/* Waits as PyTorch's watchdog does: it looks from time to time. */
static void poll_stream(void)
{
	ncclResult_t state;

	while (cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) {
		OK(ncclCommGetAsyncError(comms[WORLD], &state));
		OK(state);
		nap_us(2000);
		/* Only here: who is killed while an event is written spoils others. */
		if (is_over)
			raise(SIGKILL);
	}
}

static void synchronize(void)
{
	if (plan.is_polling)
		poll_stream();
	else
		OK(cuStreamSynchronize(stream));
}

/* ---- The fault ---- */

static void say_fault(const struct op *op, const char *call, int number)
{
	fprintf(log_file,
		"{\"fault\":\"%s\",\"rank\":%d,\"op\":%d,\"call\":\"%s\",\"number\":%d,"
		"\"comm\":\"%s\",\"comm_rank\":%d,\"comm_size\":%d,\"root\":%d,"
		"\"peer\":%d,\"is_sender\":%d,\"late_ms\":%ld,\"ns\":%" PRId64 "}\n",
		fault_names[plan.fault], rank, plan.at, call, number,
		op && op->comm == CHILD ? "child" : "world", op ? rank_of(op) : rank,
		op ? size_of(op) : plan.ranks, op ? op->root : -1,
		plan.fault == SLOW_LINK ? plan.link_peer
		: op			? op->peer
					: -1,
		plan.is_sender, plan.late_ms, now());
}

static void __attribute__((noreturn)) stay_away(void)
{
	for (;;)
		pause();
}

/* Before any call of NCCL: what the libraries are told. */
static void prepare_fault(void)
{
	char text[64];

	if (plan.fault == SLOW_LINK && (rank == plan.guilty || rank == plan.link_peer)) {
		snprintf(text, sizeof(text), "delay-to=%d:%ld",
			 rank == plan.guilty ? plan.link_peer : plan.guilty,
			 plan.late_ms * 100);
		setenv("SOFTVERBS_FAULTS", text, 1);
	}
	if (plan.fault == BROKEN_QP && rank == plan.guilty) {
		snprintf(text, sizeof(text), "%s@%d", plan.is_sender ? "retry" : "flush",
			 4 + (int) (plan.seed % 12));
		setenv("SOFTVERBS_FAULTS", text, 1);
	}
	if ((plan.fault == SLOW_LINK || plan.fault == BROKEN_QP) && rank == plan.guilty)
		say_fault(NULL, "", 0);
	if (plan.fault == MISSING_IN_INIT && rank == plan.guilty) {
		say_fault(NULL, "ncclCommInitRank", 0);
		stay_away();
	}
}

static void say_op_fault(const struct op *op)
{
	int number = collectives[op->comm] + 1;

	if (op->kind == PAIR)
		number = 1 + (plan.is_sender ? receives[op->comm][op->root]
					     : sends[op->comm][op->peer]);
	say_fault(op,
		  op->kind == PAIR && !plan.is_sender ? "ncclRecv" : call_of(op->kind),
		  op->kind == SPLIT ? 0 : number);
}

/* Returns whether the operation was done, in some way. */
static bool do_fault(const struct op *op)
{
	const bool is_there = &plan.ops[plan.at] == op;
	struct op other;

	switch (plan.fault) {
	case MISSING:
	case MISSING_IN_SPLIT:
	case POLLING:
		stay_away();
	case KILLED:
		raise(SIGKILL);
		return false;
	case HALF_PAIR:
		return true;
	case STUCK_KERNEL:
		launch(stuck_kernel, 0, plan.at);
		return false;
	case LATE_HOST:
		nap_us((unsigned int) plan.late_ms * 1000);
		return false;
	case LATE_GPU:
		launch(work_kernel, plan.late_ms * 1000000, (int) (op - plan.ops));
		return false;
	default:
		break;
	}
	other = wrong_op(&plan);
	if (!is_there)
		other = plan.ops[plan.at];
	do_call(&other);
	return true;
}

/* Whether the rank with the fault gets this one wrong. */
static bool is_faulty(int i)
{
	if (rank != plan.guilty || plan.at < 0)
		return false;
	switch (plan.fault) {
	case LATE_HOST:
	case LATE_GPU:
		return i >= plan.at && is_of_all(&plan.ops[i]);
	case OTHER_ORDER:
		return i == plan.at || i == plan.at + 1;
	default:
		return i == plan.at;
	}
}

/* ---- A rank ---- */

static bool has_kernel(const struct op *op)
{
	return op->kind != SPLIT &&
	       (op->kind != PAIR || rank == op->root || rank == op->peer);
}

static void do_op(int i)
{
	const struct op *op = &plan.ops[i];
	int64_t begin;
	bool is_done = false;

	nap_us(draw_below(&jitter, 1500));
	if (draw_below(&jitter, 2))
		launch(work_kernel, 1000 * draw_below(&jitter, 1000), i);
	if (is_faulty(i)) {
		if (i == plan.at)
			say_op_fault(op);
		is_done = do_fault(op);
	}
	begin = now();
	if (!is_done)
		do_call(op);
	fprintf(log_file,
		"{\"op\":%d,\"call\":\"%s\",\"comm\":\"%s\",\"number\":%d,"
		"\"of_all\":%d,\"kernels\":%d,\"begin_ns\":%" PRId64
		",\"end_ns\":%" PRId64 "}\n",
		i, call_of(op->kind), op->comm == CHILD ? "child" : "world",
		collectives[op->comm], is_of_all(op), has_kernel(op), begin, now());
	if (op->is_synced)
		synchronize();
}

static void open_device(void)
{
	const size_t bytes = (size_t) MAX_COUNT * sizeof(double) * MAX_RANKS * 2;
	CUcontext context;
	CUmodule module;

	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, rank));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc(&memory_out, bytes));
	OK(cuMemAlloc(&memory_in, bytes));
	OK(cuModuleLoadData(&module, &image));
	OK(cuModuleGetFunction(&work_kernel, module, kernels[0].name));
	OK(cuModuleGetFunction(&stuck_kernel, module, kernels[1].name));
}

static void get_id(void)
{
	if (rank == 0) {
		OK(ncclGetUniqueId(&board->id));
		atomic_store(&board->has_id, 1);
	}
	while (!atomic_load(&board->has_id))
		nap_us(500);
}

static void end_soon(int signal)
{
	(void) signal;
	is_over = 1;
	/* In a call that does not end nobody looks at it. */
	alarm(1);
}

static void open_log(const char *folder)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/rank.%d", folder, rank);
	log_file = fopen(path, "we");
	if (!log_file) {
		perror(path);
		_exit(1);
	}
	setvbuf(log_file, NULL, _IOLBF, BUFSIZ);
}

static void __attribute__((noreturn)) run(const char *folder)
{
	char host[16], path[512];
	int i;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (plan.is_polling)
		signal(SIGTERM, end_soon);
	open_log(folder);
	jitter = plan.seed * MAX_RANKS + (uint64_t) rank;
	snprintf(host, sizeof(host), "%d", rank);
	setenv("SOFTVERBS_HOST", host, 1);
	if (plan.fault == LATE_HOST || plan.fault == LATE_GPU || plan.fault == HEALTHY) {
		snprintf(path, sizeof(path), "%s/cuda.%d", folder, rank);
		setenv("DOUBLE_CUDA_LOG", path, 1);
	}
	open_device();
	get_id();
	prepare_fault();
	fprintf(log_file, "{\"init\":%" PRId64 "}\n", now());
	OK(ncclCommInitRank(&comms[WORLD], plan.ranks, board->id, rank));
	for (i = 0; i < OPS; i++)
		do_op(i);
	synchronize();
	OK(ncclCommDestroy(comms[CHILD]));
	OK(ncclCommDestroy(comms[WORLD]));
	OK(cuMemFree(memory_in));
	OK(cuMemFree(memory_out));
	fprintf(log_file, "{\"done\":%" PRId64 "}\n", now());
	exit(0);
}

static enum fault_kind fault_named(const char *name)
{
	int fault;

	for (fault = 0; fault < FAULTS; fault++)
		if (!strcmp(fault_names[fault], name))
			return (enum fault_kind) fault;
	fprintf(stderr, "faulty: there is no fault %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	int status, failed = 0, i;

	if (argc != 7) {
		fprintf(stderr, "usage: faulty FOLDER FAULT RANKS RANK MOMENT SEED\n");
		return 2;
	}
	draw_plan(&plan, atoi(argv[3]), fault_named(argv[2]), atoi(argv[4]),
		  (unsigned int) atoi(argv[5]), strtoull(argv[6], NULL, 10));
	if (plan.ranks < 2 || plan.ranks > MAX_RANKS || plan.guilty >= plan.ranks) {
		fprintf(stderr, "faulty: 2 to %d ranks\n", MAX_RANKS);
		return 2;
	}
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (rank = 0; rank < plan.ranks; rank++)
		if (fork() == 0)
			run(argv[1]);
	for (i = 0; i < plan.ranks; i++)
		if (wait(&status) > 0 && status)
			failed = 1;
	return failed;
}
