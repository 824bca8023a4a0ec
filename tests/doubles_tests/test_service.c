/* SPDX-License-Identifier: MIT */
/*
 * What can be seen from outside of the NCCL double's threads and of its talk with its
 * service threads, in each release: how threads are created, by whom and with what, and
 * each byte of the requests and answers.  The numbers here are those of NVIDIA's
 * libraries, read from their DWARF for themselves.
 */
#include "../lib/tap.h"

#include <cuda.h>
#include <nccl.h>

#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 2, COUNT = 1000, MAX_CREATIONS = 64, MAX_STREAMS = 64, MAX_FD = 1024 };
#define STREAM_BYTES ((size_t) 256 << 10)

/* A connection between RANKS ranks asks for these; then both close. */
enum { INIT = 1, SHARED_INIT = 2, SETUP = 3, CONNECT = 4, CLOSE = 6, STOP = 8 };

struct release {
	const char *name;
	bool has_uds;
	bool has_std_threads;
	/* When ranks meet; else when they have something to say. */
	bool connects_early;
	/* Bytes. */
	int init_response;
	int setup;
	int connect_send;
	int connect_receive;
	int connect_response;
	bool has_result;
};

static const struct release releases[] = {
	{"2.18.3", false, false, true, 16, 36, 128, 4, 21040, false},
	{"2.19.3", false, false, true, 16, 36, 128, 4, 21040, true},
	{"2.20.5", true, false, true, 16, 36, 128, 4, 21040, true},
	{"2.21.5", true, false, true, 16, 36, 128, 4, 21040, true},
	{"2.22.3", true, false, false, 16, 36, 128, 4, 21040, true},
	{"2.23.4", true, false, false, 16, 36, 128, 4, 1480, true},
	{"2.24.3", true, false, false, 16, 36, 128, 4, 1480, true},
	{"2.25.1", true, false, false, 16, 36, 128, 4, 1480, true},
	{"2.26.2", true, false, false, 16, 36, 132, 4, 1400, true},
	{"2.27.7", true, false, false, 16, 36, 132, 4, 1400, true},
	{"2.28.9", true, false, false, 16, 36, 172, 48, 1400, true},
	{"2.29.7", true, true, false, 16, 36, 172, 48, 1400, true},
	{"2.30.7", true, true, false, 24, 40, 172, 48, 1400, true},
	{"2.31.2", true, true, false, 24, 40, 172, 48, 1400, true},
	{"2.32.3", true, true, false, 24, 40, 172, 48, 1400, true},
};

static const struct release *release;

/* What is not so is said, and fails the release. */
static bool is_right = true;

static void require(bool is_so, int line, long value)
{
	if (is_so)
		return;
	printf("# %s: line %d: %ld\n", release->name, line, value);
	is_right = false;
}
#define REQUIRE(condition, value) require(condition, __LINE__, (long) (value))

struct creation {
	pthread_t creator;
	pthread_t thread;
	void *start;
	void *argument;
	/* What a std::thread hands on: class, argument and function. */
	void *words[3];
};

static struct creation creations[MAX_CREATIONS];
static atomic_int creation_count;

static bool is_in(const void *address, const char *library)
{
	Dl_info info;

	return dladdr(address, &info) && strstr(info.dli_fname, library);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
		   void *argument)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);
	struct creation c = {.creator = pthread_self(), .argument = argument};
	int i = atomic_fetch_add(&creation_count, 1);
	int err;

	*(void **) &real = dlsym(RTLD_NEXT, "pthread_create");
	memcpy(&c.start, &start, sizeof(start));
	/* It is gone when the thread is. */
	if (is_in(c.start, "libstdc++"))
		memcpy(c.words, argument, sizeof(c.words));
	err = real(thread, attr, start, argument);
	c.thread = *thread;
	if (!err && i < MAX_CREATIONS)
		creations[i] = c;
	return err;
}

/* Both ways of a socket, from its making to its end. */
struct stream {
	char *out;
	char *in;
	size_t out_size;
	size_t in_size;
};

static struct stream streams[MAX_STREAMS];
static int stream_count;
/* Of descriptors: a stream's number and 1; 0 where there is none yet. */
static int stream_of[MAX_FD];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void append(int fd, const void *data, ssize_t size, bool is_out)
{
	struct stream *stream;
	size_t *end;

	if (size <= 0 || fd < 0 || fd >= MAX_FD)
		return;
	pthread_mutex_lock(&lock);
	if (!stream_of[fd] && stream_count < MAX_STREAMS) {
		stream = &streams[stream_count++];
		stream->out = malloc(STREAM_BYTES);
		stream->in = malloc(STREAM_BYTES);
		stream_of[fd] = stream_count;
	}
	if (stream_of[fd]) {
		stream = &streams[stream_of[fd] - 1];
		end = is_out ? &stream->out_size : &stream->in_size;
		if (*end + (size_t) size <= STREAM_BYTES)
			memcpy((is_out ? stream->out : stream->in) + *end, data,
			       (size_t) size);
		*end += (size_t) size;
	}
	pthread_mutex_unlock(&lock);
}

/* As NCCL's at either end, or the parts of an answer wait for each other. */
static void check_sends_at_once(int fd)
{
	int is_set = 0;
	socklen_t size = sizeof(is_set);

	REQUIRE(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &is_set, &size) == 0, errno);
	REQUIRE(is_set, fd);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	ssize_t (*real)(int, const void *, size_t, int);
	ssize_t sent;

	*(void **) &real = dlsym(RTLD_NEXT, "send");
	sent = real(fd, data, size, flags);
	if (sent > 0)
		check_sends_at_once(fd);
	append(fd, data, sent, true);
	return sent;
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	ssize_t (*real)(int, void *, size_t, int);
	ssize_t got;

	*(void **) &real = dlsym(RTLD_NEXT, "recv");
	got = real(fd, data, size, flags);
	append(fd, data, got, false);
	return got;
}

int close(int fd)
{
	int (*real)(int);

	*(void **) &real = dlsym(RTLD_NEXT, "close");
	if (fd >= 0 && fd < MAX_FD) {
		pthread_mutex_lock(&lock);
		stream_of[fd] = 0;
		pthread_mutex_unlock(&lock);
	}
	return real(fd);
}

static ncclComm_t comms[RANKS];

/* A sum, and a value from each to the other: connections of both kinds. */
static void use(void)
{
	CUcontext contexts[RANKS];
	CUdeviceptr memory[RANKS];
	CUstream streams_of_ranks[RANKS];
	int r;

	REQUIRE(ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess, 0);
	for (r = 0; r < RANKS; r++) {
		cuDevicePrimaryCtxRetain(&contexts[r], r);
		cuCtxSetCurrent(contexts[r]);
		cuStreamCreate(&streams_of_ranks[r], CU_STREAM_NON_BLOCKING);
		cuMemAlloc(&memory[r], COUNT * sizeof(int32_t));
		cuMemsetD32(memory[r], 1, COUNT);
	}
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		ncclAllReduce((void *) (uintptr_t) memory[r],
			      (void *) (uintptr_t) memory[r], COUNT, ncclInt32, ncclSum,
			      comms[r], streams_of_ranks[r]);
	REQUIRE(ncclGroupEnd() == ncclSuccess, 0);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++) {
		ncclSend((void *) (uintptr_t) memory[r], 1, ncclInt32, 1 - r, comms[r],
			 streams_of_ranks[r]);
		ncclRecv((void *) (uintptr_t) (memory[r] + 4), 1, ncclInt32, 1 - r,
			 comms[r], streams_of_ranks[r]);
	}
	REQUIRE(ncclGroupEnd() == ncclSuccess, 0);
	for (r = 0; r < RANKS; r++) {
		int32_t values[2] = {0, 0};

		cuCtxSetCurrent(contexts[r]);
		cuStreamSynchronize(streams_of_ranks[r]);
		cuMemcpyDtoH(values, memory[r], sizeof(values));
		REQUIRE(values[0] == RANKS && values[1] == RANKS, values[1]);
	}
	for (r = 0; r < RANKS; r++)
		REQUIRE(ncclCommDestroy(comms[r]) == ncclSuccess, r);
}

static void wait_until_ready(ncclComm_t comm)
{
	ncclResult_t state;

	do
		REQUIRE(ncclCommGetAsyncError(comm, &state) == ncclSuccess, 0);
	while (state == ncclInProgress);
	REQUIRE(state == ncclSuccess, state);
}

static bool is_ours(const struct creation *c);

/* The only one of the library's from `first` on that this thread has created. */
static const struct creation *only_creation(int first)
{
	const struct creation *found = NULL;
	int i;

	for (i = first; i < atomic_load(&creation_count); i++) {
		if (!is_ours(&creations[i]) ||
		    !pthread_equal(creations[i].creator, pthread_self()))
			continue;
		REQUIRE(!found, i);
		found = &creations[i];
	}
	REQUIRE(found, first);
	return found ? found : &creations[0];
}

/* Each group of a communicator that does not block has a thread, the caller's child. */
static void use_without_blocking(void)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	const struct creation *made;
	const struct creation *used;
	CUdeviceptr memory;
	ncclUniqueId id;
	ncclComm_t comm;
	int first;

	cuMemAlloc(&memory, COUNT);
	cuMemsetD8Async(memory, 0, COUNT, NULL);
	ncclGetUniqueId(&id);
	config.blocking = 0;
	first = atomic_load(&creation_count);
	ncclCommInitRankConfig(&comm, 1, id, 0, &config);
	wait_until_ready(comm);
	made = only_creation(first);
	/* It is this one that creates the service thread. */
	REQUIRE(pthread_equal(creations[first + 1].creator, made->thread), first);
	first = atomic_load(&creation_count);
	ncclGroupStart();
	ncclSend((void *) (uintptr_t) memory, 1, ncclInt32, 0, comm, NULL);
	ncclRecv((void *) (uintptr_t) (memory + 4), 1, ncclInt32, 0, comm, NULL);
	ncclGroupEnd();
	wait_until_ready(comm);
	used = only_creation(first);
	REQUIRE(used->start == made->start, 0);
	if (release->has_std_threads) {
		REQUIRE(used->words[0] == made->words[0], 0);
		REQUIRE(used->words[0] != creations[0].words[0], 0);
	}
	cuStreamSynchronize(NULL);
	REQUIRE(ncclCommDestroy(comm) == ncclSuccess, 0);
	cuMemFree(memory);
}

static void *argument_of(const struct creation *c)
{
	return release->has_std_threads ? c->words[1] : c->argument;
}

/* In the form of the release, whatever the thread is. */
static void check_form(const struct creation *c)
{
	if (!release->has_std_threads) {
		REQUIRE(is_in(c->start, "libnccl"), 0);
		return;
	}
	REQUIRE(is_in(c->start, "libstdc++"), 0);
	REQUIRE(is_in(c->words[0], "libnccl"), 0);
	REQUIRE(is_in(c->words[2], "libnccl"), 0);
}

static bool is_ours(const struct creation *c)
{
	return c->thread && !is_in(c->start, "libcuda") && !is_in(c->start, "libibverbs");
}

/* Threads with one argument: the service first, then UDS, then progress. */
static int check_proxy(int first)
{
	const struct creation *service = &creations[first];
	const struct creation *of_proxy[4] = {service};
	int count = 1;
	int expected = release->has_uds ? 3 : 2;
	int i;

	for (i = first + 1; i < atomic_load(&creation_count); i++) {
		if (is_ours(&creations[i]) && count < 4 &&
		    argument_of(&creations[i]) == argument_of(service))
			of_proxy[count++] = &creations[i];
	}
	if (count == 1)
		return 0;
	REQUIRE(count == expected, count);
	if (release->has_uds)
		REQUIRE(pthread_equal(of_proxy[1]->creator, service->creator), first);
	REQUIRE(pthread_equal(of_proxy[count - 1]->creator, service->thread), first);
	/* One class for them all, and another one for other arguments. */
	if (release->has_std_threads)
		REQUIRE(of_proxy[1]->words[0] == service->words[0], first);
	return 1;
}

static void check_threads(void)
{
	void *proxies[MAX_CREATIONS];
	int count = 0;
	int i;
	int j;

	for (i = 0; i < atomic_load(&creation_count); i++) {
		if (!is_ours(&creations[i]))
			continue;
		check_form(&creations[i]);
		for (j = 0; j < count && proxies[j] != argument_of(&creations[i]); j++)
			;
		if (j == count && check_proxy(i))
			proxies[count++] = argument_of(&creations[i]);
	}
	REQUIRE(count == RANKS, count);
}

/* Where a stream is read. */
struct reader {
	const char *data;
	size_t left;
};

static void take(struct reader *reader, void *to, size_t size)
{
	REQUIRE(reader->left >= size, reader->left);
	memset(to, 0, size);
	if (reader->left < size)
		size = reader->left;
	memcpy(to, reader->data, size);
	reader->data += size;
	reader->left -= size;
}

static int32_t take_int(struct reader *reader)
{
	int32_t value;

	take(reader, &value, sizeof(value));
	return value;
}

static uint64_t take_long(struct reader *reader)
{
	uint64_t value;

	take(reader, &value, sizeof(value));
	return value;
}

struct request {
	int type;
	uint64_t connection;
	int size;
	int response_size;
	int32_t data[64];
	uint64_t id;
};

static struct request next_request(struct reader *out)
{
	struct request request = {.type = take_int(out)};

	if (request.type == CLOSE || request.type == STOP)
		return request;
	request.connection = take_long(out);
	request.size = take_int(out);
	request.response_size = take_int(out);
	REQUIRE(request.size >= 0 && request.size <= (int) sizeof(request.data),
		request.size);
	if (request.size > 0 && request.size <= (int) sizeof(request.data))
		take(out, request.data, (size_t) request.size);
	request.id = take_long(out);
	return request;
}

/* Requests that wait for their answers, which may come in any order. */
struct waiting {
	struct request requests[16];
	int count;
};

static uint64_t next_answer(struct reader *in, struct waiting *waiting)
{
	static char body[32768];
	uint64_t id = take_long(in);
	uint64_t connection = 0;
	int result = release->has_result ? take_int(in) : 0;
	int size = take_int(in);
	int i;

	for (i = 0; i < waiting->count && waiting->requests[i].id != id; i++)
		;
	REQUIRE(i < waiting->count, id);
	REQUIRE(result == 0, result);
	if (i == waiting->count)
		return 0;
	REQUIRE(size == waiting->requests[i].response_size, size);
	if (size < 0 || (size_t) size > sizeof(body))
		return 0;
	take(in, body, (size_t) size);
	if (waiting->requests[i].type == INIT)
		memcpy(&connection, body, sizeof(connection));
	waiting->requests[i] = waiting->requests[--waiting->count];
	return connection;
}

/* One end: both its requests to set up are answered before the next one is asked. */
static uint64_t check_setup(struct reader *out, struct reader *in, bool is_send,
			    int index)
{
	struct waiting waiting = {.count = 1};
	struct request request = next_request(out);
	uint64_t connection;

	REQUIRE(request.type == INIT && request.size == 20, request.type);
	REQUIRE(request.connection == 0, request.connection);
	REQUIRE(request.response_size == release->init_response, request.response_size);
	/* NCCL's number of the network among the transports. */
	REQUIRE(request.data[0] == 2 && request.data[1] == is_send, request.data[0]);
	waiting.requests[0] = request;
	connection = next_answer(in, &waiting);
	REQUIRE(connection != 0, 0);

	request = next_request(out);
	REQUIRE(request.type == SETUP && request.size == release->setup, request.size);
	REQUIRE(request.connection == connection, request.type);
	REQUIRE(request.response_size == (is_send ? 0 : 128), request.response_size);
	/* Rank, the other one, whether it is shared; channel and index. */
	REQUIRE(request.data[0] == 1 - request.data[2], request.data[0]);
	REQUIRE(request.data[3] == index && request.data[7] == 0 &&
			request.data[8] == index,
		request.data[8]);
	waiting = (struct waiting){.requests = {request}, .count = 1};
	next_answer(in, &waiting);
	return connection;
}

static void check_connection(struct reader *out, struct reader *in, int index)
{
	uint64_t receive = check_setup(out, in, false, index);
	uint64_t send = check_setup(out, in, true, index);
	struct waiting waiting = {.count = 2};
	struct request request = next_request(out);

	REQUIRE(request.type == CONNECT && request.connection == send, request.type);
	REQUIRE(request.size == release->connect_send, request.size);
	REQUIRE(request.response_size == release->connect_response,
		request.response_size);
	waiting.requests[0] = request;
	/* The handle begins with an address of the loopback. */
	REQUIRE((request.data[0] & 0xffff) == AF_INET, request.data[0]);
	request = next_request(out);
	REQUIRE(request.type == CONNECT && request.connection == receive, request.type);
	REQUIRE(request.size == release->connect_receive, request.size);
	REQUIRE(request.response_size == release->connect_response,
		request.response_size);
	waiting.requests[1] = request;
	next_answer(in, &waiting);
	next_answer(in, &waiting);
}

/* Of what is sent point to point: asked for when all of the collectives is connected. */
static void check_pool(struct reader *out, struct reader *in)
{
	struct waiting waiting = {.count = 1};
	struct request request = next_request(out);
	uint64_t connection;

	REQUIRE(request.type == INIT && request.data[1] == 1, request.type);
	waiting.requests[0] = request;
	connection = next_answer(in, &waiting);
	request = next_request(out);
	REQUIRE(request.type == SHARED_INIT && request.size == 4, request.type);
	REQUIRE(request.connection == connection && request.response_size == 0,
		request.response_size);
	/* How many channels. */
	REQUIRE(request.data[0] >= 1, request.data[0]);
	waiting = (struct waiting){.requests = {request}, .count = 1};
	next_answer(in, &waiting);
}

static void check_stream(const struct stream *stream, int *asked, int *stopped)
{
	struct reader out = {stream->out, stream->out_size};
	struct reader in = {stream->in, stream->in_size};
	int32_t type;

	if (stream->out_size < 16)
		return;
	take_long(&out);
	/* NCCL's kind of sockets to service threads. */
	if (take_int(&out) != 2)
		return;
	memcpy(&type, out.data, sizeof(type));
	if (type == STOP) {
		++*stopped;
		REQUIRE(out.left == sizeof(type), out.left);
		return;
	}
	++*asked;
	check_connection(&out, &in, 0);
	if (release->connects_early)
		check_pool(&out, &in);
	check_connection(&out, &in, 1);
	REQUIRE(next_request(&out).type == CLOSE, 0);
	REQUIRE(out.left == 0, out.left);
	REQUIRE(in.left == 0, in.left);
}

static void check_streams(void)
{
	int asked = 0;
	int stopped = 0;
	int i;

	for (i = 0; i < stream_count; i++)
		check_stream(&streams[i], &asked, &stopped);
	REQUIRE(asked == RANKS, asked);
	REQUIRE(stopped == RANKS, stopped);
}

static void test_release(const struct release *tested)
{
	char sentence[64];
	pid_t child;
	int status = 1;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		int version = 0;

		release = tested;
		setenv("MININCCL_RELEASE", release->name, 1);
		cuInit(0);
		use();
		ncclGetVersion(&version);
		REQUIRE(version / 100 % 100 == atoi(release->name + 2), version);
		check_threads();
		check_streams();
		use_without_blocking();
		fflush(stdout);
		_exit(!is_right);
	}
	waitpid(child, &status, 0);
	snprintf(sentence, sizeof(sentence), "threads and requests are those of %s",
		 tested->name);
	ok(status == 0, sentence);
}

int main(void)
{
	size_t i;

	setenv("NCCL_IB_DISABLE", "1", 1);
	for (i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		test_release(&releases[i]);
	return tap_done();
}
