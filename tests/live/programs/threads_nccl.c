/* SPDX-License-Identifier: MIT */
/*
 * A library that creates threads where NCCL does, and in its ways: pthread_create() or,
 * with -DSTD, the function of libstdc++ that std::thread calls, with a state as GCC makes
 * it.  It moves nothing.  Each thread writes a line to the file THREADS_LOG,
 *	TID ROLE CREATOR
 * which is what the tracer must find out.
 *
 * Of the library's threads, those of a communicator end with it, in this order; that of
 * ncclGetUniqueId() when a communicator is made; that of RAS with the process.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HELPERS 2
#define YIELDS 3
#define IN_PROGRESS 7
#define FAILED 2 /* ncclSystemError */

typedef struct {
	char internal[128];
} ncclUniqueId;

struct proxy {
	int rank;
	int orders[2]; /* of the service thread: 'p' makes the progress thread */
	int closes[2]; /* of the thread for descriptors */
	pthread_t service, uds, progress, helpers[HELPERS];
	bool has_progress, has_helpers;
	int helper_gates[HELPERS][2];
	pthread_mutex_t lock;
	pthread_cond_t wake, done;
	int posted, finished;
	bool is_over;
};

/* The head of a communicator; `job` is the thread of a call that does not block. */
struct comm {
	struct proxy *proxy;
	int rank, nranks;
	bool is_blocking;
	pthread_t job;
	bool has_job;
	int result;
};

typedef struct comm *ncclComm_t;

/* ---- Threads ---- */

typedef void *(*routine)(void *);

static void tell(const char *role, int creator)
{
	static int log = -1;
	char line[64];
	int length;

	if (log < 0 && getenv("THREADS_LOG"))
		log = open(getenv("THREADS_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0666);
	length = snprintf(line, sizeof(line), "%d %s %d\n", gettid(), role, creator);
	if (log >= 0 && write(log, line, (size_t) length) != length)
		abort();
}

#ifdef STD
/* As GCC's <thread> has it: a class with two destructors and a function to run. */
struct state;
struct table {
	void (*end)(struct state *), (*end_and_free)(struct state *);
	void (*run)(struct state *);
};
struct state {
	const struct table *table;
	void *argument;
	routine function;
};

static void end_state(struct state *state)
{
	(void) state;
}

static void free_state(struct state *state)
{
	free(state);
}

static void run_state(struct state *state)
{
	state->function(state->argument);
}

static const struct table table = {end_state, free_state, run_state};

/* std::thread::_M_start_thread(std::unique_ptr<_State>, void (*)()) */
#define START \
	_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE
void START(pthread_t *thread, struct state **state, void (*depend)(void));

static void create(pthread_t *thread, routine function, void *argument)
{
	struct state *state = malloc(sizeof(*state));

	*state = (struct state){&table, argument, function};
	START(thread, &state, NULL);
	free(state); /* which the thread has taken: NULL */
}
#else
static void create(pthread_t *thread, routine function, void *argument)
{
	if (pthread_create(thread, NULL, function, argument))
		abort();
}
#endif

static int wait_byte(int fd)
{
	char byte;
	ssize_t got;

	while ((got = read(fd, &byte, 1)) < 0 && errno == EINTR)
		;
	return got == 1 ? byte : 0;
}

static void send_byte(int fd, char byte)
{
	if (write(fd, &byte, 1) != 1)
		abort();
}

static void make_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC))
		abort();
}

/* ---- What each thread does ---- */

static int bootstraps[2] = {-1, -1};

static void *run_bootstrap(void *argument)
{
	tell("bootstrap", *(int *) argument);
	free(argument);
	wait_byte(bootstraps[0]);
	return NULL;
}

static void *run_ras(void *nothing)
{
	tell("ras", 0);
	pause();
	return nothing;
}

struct help {
	struct proxy *proxy;
	int number, creator;
};

static void *run_helper(void *argument)
{
	struct help help = *(struct help *) argument;

	free(argument);
	tell("socket-helper", help.creator);
	wait_byte(help.proxy->helper_gates[help.number][0]);
	return NULL;
}

static void make_helpers(struct proxy *proxy)
{
	int i;

	for (i = 0; i < HELPERS; i++) {
		struct help *help = malloc(sizeof(*help));

		*help = (struct help){proxy, i, gettid()};
		make_pipe(proxy->helper_gates[i]);
		create(&proxy->helpers[i], run_helper, help);
	}
	proxy->has_helpers = true;
}

static void expect_error(long result, int error)
{
	if (result != -1 || errno != error)
		abort();
}

/* A network plugin's code runs on this thread, too: what it does wrong is for libc to say. */
static void call_wildly(void)
{
	struct iovec *wild_iov = (void *) 16;
	struct msghdr *wild = (void *) 16;
	struct msghdr message = {.msg_iov = wild_iov, .msg_iovlen = 1};
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		abort();
	expect_error(sendmsg(pair[0], wild, 0), EFAULT);
	expect_error(recvmsg(pair[0], wild, MSG_DONTWAIT), EFAULT);
	expect_error(sendmsg(pair[0], &message, 0), EFAULT);
	expect_error(recvmsg(pair[0], &message, MSG_DONTWAIT), EFAULT);
	/* Without a byte to receive the kernel does not look where it is to go. */
	if (send(pair[1], "", 1, 0) != 1)
		abort();
	expect_error(recv(pair[0], wild, 1, MSG_DONTWAIT), EFAULT);
	expect_error(send(pair[0], wild, 1, 0), EFAULT);
	expect_error(connect(pair[0], (void *) wild, 16), EFAULT);
	expect_error(accept(pair[0], NULL, NULL), EINVAL);
	close(pair[0]);
	close(pair[1]);
	message = (struct msghdr){0};
	expect_error(sendmsg(-1, &message, 0), EBADF);
	expect_error(close(-1), EBADF);
}

static void *run_progress(void *argument)
{
	struct proxy *proxy = argument;
	int i;

	tell("progress", 0);
	/* An emulator finds other faults in them than the kernel does. */
	if (!getenv("CCLTAP_EMULATED"))
		call_wildly();
	pthread_mutex_lock(&proxy->lock);
	for (;;) {
		while (proxy->posted == proxy->finished && !proxy->is_over)
			pthread_cond_wait(&proxy->wake, &proxy->lock);
		if (proxy->is_over)
			break;
		if (!proxy->has_helpers)
			make_helpers(proxy);
		for (i = 0; i < YIELDS; i++)
			sched_yield();
		proxy->finished++;
		pthread_cond_broadcast(&proxy->done);
	}
	pthread_mutex_unlock(&proxy->lock);
	return NULL;
}

static void *run_service(void *argument)
{
	struct proxy *proxy = argument;
	int order;

	tell("service", 0);
	while ((order = wait_byte(proxy->orders[0])) == 'p') {
		create(&proxy->progress, run_progress, proxy);
		send_byte(proxy->closes[1], 'r');
	}
	return NULL;
}

/* It ends as some threads do: not by returning. */
static void *run_uds(void *argument)
{
	struct proxy *proxy = argument;

	tell("uds", 0);
	while (wait_byte(proxy->closes[0]) == 'r') {
		pthread_mutex_lock(&proxy->lock);
		proxy->has_progress = true;
		pthread_cond_broadcast(&proxy->done);
		pthread_mutex_unlock(&proxy->lock);
	}
	pthread_exit(argument);
}

/* ---- Communicators ---- */

static struct proxy *make_proxy(int rank)
{
	struct proxy *proxy = calloc(1, sizeof(*proxy));

	proxy->rank = rank;
	pthread_mutex_init(&proxy->lock, NULL);
	pthread_cond_init(&proxy->wake, NULL);
	pthread_cond_init(&proxy->done, NULL);
	make_pipe(proxy->orders);
	make_pipe(proxy->closes);
	create(&proxy->service, run_service, proxy);
	if (!getenv("THREADS_OLD"))
		create(&proxy->uds, run_uds, proxy);
	return proxy;
}

/* The first operation makes the progress thread, as a transport's connection does. */
static void operate(struct proxy *proxy)
{
	static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
	int number;

	pthread_mutex_lock(&first);
	pthread_mutex_lock(&proxy->lock);
	if (!proxy->has_progress && !getenv("THREADS_OLD")) {
		send_byte(proxy->orders[1], 'p');
		while (!proxy->has_progress)
			pthread_cond_wait(&proxy->done, &proxy->lock);
	} else if (!proxy->has_progress) {
		send_byte(proxy->orders[1], 'p');
		proxy->has_progress = wait_byte(proxy->closes[0]) == 'r';
	}
	number = ++proxy->posted;
	pthread_cond_signal(&proxy->wake);
	while (proxy->finished < number)
		pthread_cond_wait(&proxy->done, &proxy->lock);
	pthread_mutex_unlock(&proxy->lock);
	pthread_mutex_unlock(&first);
}

static void end_proxy(struct proxy *proxy)
{
	void *result = NULL;
	int i;

	pthread_mutex_lock(&proxy->lock);
	proxy->is_over = true;
	pthread_cond_signal(&proxy->wake);
	pthread_mutex_unlock(&proxy->lock);
	if (proxy->has_progress)
		pthread_join(proxy->progress, NULL);
	for (i = 0; proxy->has_helpers && i < HELPERS; i++) {
		send_byte(proxy->helper_gates[i][1], 'q');
		pthread_join(proxy->helpers[i], NULL);
	}
	send_byte(proxy->orders[1], 'q');
	pthread_join(proxy->service, NULL);
	if (!getenv("THREADS_OLD")) {
		send_byte(proxy->closes[1], 'q');
		pthread_join(proxy->uds, &result);
#ifndef STD
		if (result != proxy)
			abort();
#endif
	}
	free(proxy);
}

/* ---- What a program calls ---- */

#define EXPORT(name, params) \
	int name params; \
	int p##name params __attribute__((alias(#name))); \
	int name params

EXPORT(ncclGetVersion, (int *version))
{
	*version = 22809;
	return 0;
}

EXPORT(ncclGetUniqueId, (ncclUniqueId * id))
{
	static int ids;
	int *creator = malloc(sizeof(*creator));
	pthread_t thread;

	memset(id, 0, sizeof(*id));
	snprintf(id->internal, sizeof(id->internal), "%d.%d", getpid(), ++ids);
	if (bootstraps[0] < 0)
		make_pipe(bootstraps);
	*creator = gettid();
	create(&thread, run_bootstrap, creator);
	pthread_detach(thread);
	return 0;
}

EXPORT(ncclCommInitRank, (ncclComm_t * comm, int nranks, ncclUniqueId id, int rank))
{
	static bool has_ras;
	pthread_t ras;

	(void) id;
	*comm = calloc(1, sizeof(**comm));
	**comm = (struct comm){.rank = rank, .nranks = nranks, .is_blocking = true};
	if (!has_ras && !getenv("THREADS_OLD"))
		create(&ras, run_ras, NULL);
	has_ras = true;
	(*comm)->proxy = make_proxy(rank);
	send_byte(bootstraps[1], 'q');
	return 0;
}

struct job {
	struct comm *comm;
	int creator;
};

static void *run_init(void *argument)
{
	struct job job = *(struct job *) argument;

	tell("job", job.creator);
	free(argument);
	job.comm->proxy = make_proxy(job.comm->rank);
	send_byte(bootstraps[1], 'q');
	__atomic_store_n(&job.comm->result, 0, __ATOMIC_RELEASE);
	return NULL;
}

static void *run_operation(void *argument)
{
	struct job job = *(struct job *) argument;

	tell("job", job.creator);
	free(argument);
	operate(job.comm->proxy);
	__atomic_store_n(&job.comm->result, 0, __ATOMIC_RELEASE);
	return NULL;
}

static int make_job(struct comm *comm, routine run)
{
	struct job *job = malloc(sizeof(*job));

	if (comm->has_job)
		pthread_join(comm->job, NULL);
	comm->has_job = true;
	*job = (struct job){comm, gettid()};
	__atomic_store_n(&comm->result, IN_PROGRESS, __ATOMIC_RELEASE);
	create(&comm->job, run, job);
	return IN_PROGRESS;
}

/* The configuration is not read: such a communicator does not block. */
EXPORT(ncclCommInitRankConfig,
       (ncclComm_t * comm, int nranks, ncclUniqueId id, int rank, void *config))
{
	(void) id;
	(void) config;
	*comm = calloc(1, sizeof(**comm));
	**comm = (struct comm){.rank = rank, .nranks = nranks};
	return make_job(*comm, run_init);
}

EXPORT(ncclCommGetAsyncError, (ncclComm_t comm, int *error))
{
	*error = __atomic_load_n(&comm->result, __ATOMIC_ACQUIRE);
	return 0;
}

EXPORT(ncclAllReduce, (const void *send, void *recv, size_t count, int datatype, int op,
		       ncclComm_t comm, void *stream))
{
	(void) send;
	(void) recv;
	(void) count;
	(void) datatype;
	(void) op;
	(void) stream;
	if (!comm->is_blocking)
		return make_job(comm, run_operation);
	operate(comm->proxy);
	return 0;
}

EXPORT(ncclCommDestroy, (ncclComm_t comm))
{
	if (comm->has_job)
		pthread_join(comm->job, NULL);
	end_proxy(comm->proxy);
	free(comm);
	return 0;
}

EXPORT(ncclCommCount, (ncclComm_t comm, int *count))
{
	*count = comm->nranks;
	return 0;
}

EXPORT(ncclCommUserRank, (ncclComm_t comm, int *rank))
{
	*rank = comm->rank;
	return 0;
}

EXPORT(ncclCommCuDevice, (ncclComm_t comm, int *device))
{
	*device = comm->rank;
	return 0;
}
