/* SPDX-License-Identifier: MIT */
/* One file per process, opened with its first line, written line by line. */
#include "truth.h"

#include "comm.h"
#include "settings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL

static pthread_once_t once = PTHREAD_ONCE_INIT;
static FILE *file;

uint64_t mini_truth_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * NS_PER_S + (uint64_t) now.tv_nsec;
}

static void open_file(void)
{
	const char *folder = mini_text(SET_MININCCL_TRUTH);
	char *path;

	if (!folder || asprintf(&path, "%s/truth.%d.jsonl", folder, (int) getpid()) < 0)
		return;
	file = fopen(path, "we");
	free(path);
	/* So that a process that is killed leaves what it knew. */
	if (file)
		setvbuf(file, NULL, _IOLBF, BUFSIZ);
}

bool mini_truth_is_wanted(void)
{
	pthread_once(&once, open_file);
	return file;
}

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(file, format, args);
	va_end(args);
}

/* Names of the library and of adapters need no quoting. */
static void say_text(const char *name, const char *text)
{
	if (text)
		say(",\"%s\":\"%s\"", name, text);
	else
		say(",\"%s\":null", name);
}

static void say_comm(const struct ncclComm *comm)
{
	if (comm)
		say(",\"comm\":\"%p\"", (const void *) comm);
	else
		say(",\"comm\":null");
}

/* False where nobody wants to know; else the line is this thread's until end(). */
static bool begin(const char *record)
{
	if (!mini_truth_is_wanted())
		return false;
	/* Several communicators write at once. */
	flockfile(file);
	say("{\"record\":\"%s\",\"pid\":%d", record, (int) getpid());
	return true;
}

static void end(void)
{
	say("}\n");
	funlockfile(file);
}

static void say_rank(const struct ncclComm *comm)
{
	say_comm(comm);
	if (comm)
		say(",\"comm_hash\":\"0x%016" PRIx64 "\",\"rank\":%d", comm->hash,
		    comm->rank);
}

void mini_truth_comm(const struct mini_truth_comm *told)
{
	if (!begin("communicator"))
		return;
	say_rank(told->comm);
	say(",\"nranks\":%d,\"device\":%d,\"channels\":%d", told->comm->nranks,
	    told->comm->device, told->comm->channels);
	say_text("origin", told->origin);
	say(",\"parent_hash\":\"0x%016" PRIx64 "\",\"proxy_hash\":\"0x%016" PRIx64 "\"",
	    told->parent_hash, told->proxy_hash);
	end();
}

void mini_truth_thread(enum mini_thread_role role, const struct ncclComm *comm)
{
	static const char *const names[] = {
		[MINI_THREAD_SERVICE] = "service",   [MINI_THREAD_UDS] = "uds",
		[MINI_THREAD_PROGRESS] = "progress", [MINI_THREAD_GROUP] = "group",
		[MINI_THREAD_ROOT] = "root",	     [MINI_THREAD_IB_ASYNC] = "ib-async",
		[MINI_THREAD_SOCKET] = "socket",     [MINI_THREAD_RAS] = "ras"};

	if (!begin("thread"))
		return;
	say_text("role", names[role]);
	say(",\"tid\":%d", (int) gettid());
	say_rank(comm);
	end();
}

static void say_qps(const struct mini_truth_connection *told)
{
	int i;

	say(",\"qps\":[");
	for (i = 0; i < told->qp_count; i++)
		say("%s{\"adapter\":\"%s\",\"number\":%u,\"remote\":%u,\"role\":\"%s\"}",
		    i ? "," : "", told->qps[i].adapter, told->qps[i].number,
		    told->qps[i].remote, told->qps[i].is_flush ? "flush" : "data");
	say("]");
}

/* Both ends by their addresses, which the other process and a tracer know, too. */
static void say_socket(const char *role, int fd)
{
	struct sockaddr_in own = {.sin_port = 0};
	struct sockaddr_in other = {.sin_port = 0};
	socklen_t size = sizeof(own);

	getsockname(fd, (struct sockaddr *) &own, &size);
	size = sizeof(other);
	getpeername(fd, (struct sockaddr *) &other, &size);
	say("{\"fd\":%d,\"role\":\"%s\",\"port\":%d,\"remote_port\":%d}", fd, role,
	    ntohs(own.sin_port), ntohs(other.sin_port));
}

static void say_regions(const struct mini_truth_connection *told)
{
	int i;

	say(",\"regions\":[");
	for (i = 0; i < told->region_count; i++)
		say("%s{\"what\":\"%s\",\"address\":\"%p\",\"size\":%zu}", i ? "," : "",
		    told->regions[i].what, told->regions[i].address,
		    told->regions[i].size);
	say("]");
}

static void say_end(const struct ncclComm *comm, uint64_t comm_hash, int rank,
		    int proxy_rank)
{
	say_comm(comm);
	say(",\"comm_hash\":\"0x%016" PRIx64 "\",\"rank\":%d,\"proxy_rank\":%d",
	    comm_hash, rank, proxy_rank);
}

static const char *direction(bool is_send)
{
	return is_send ? "send" : "recv";
}

void mini_truth_connection(const struct mini_truth_connection *told)
{
	int i;

	if (!begin("connection"))
		return;
	say_end(told->comm, told->comm_hash, told->rank, told->proxy_rank);
	say(",\"peer\":%d,\"channel\":%d,\"index\":%d", told->peer, told->channel,
	    told->index);
	say_text("direction", direction(told->is_send));
	say_text("transport", told->transport);
	say(",\"shared\":%s", told->is_shared ? "true" : "false");
	say_qps(told);
	say(",\"sockets\":[");
	for (i = 0; i < told->socket_count; i++) {
		say("%s", i ? "," : "");
		say_socket(told->sockets[i].role, told->sockets[i].fd);
	}
	say("]");
	say_regions(told);
	end();
}

void mini_truth_socket(const struct ncclComm *comm, const char *role, int fd)
{
	if (!begin("socket"))
		return;
	say_rank(comm);
	say(",\"socket\":");
	say_socket(role, fd);
	end();
}

void mini_truth_message(const struct mini_truth_message *told)
{
	const struct mini_way *way = told->way;
	int i;

	if (!begin("message"))
		return;
	say_end(told->comm, told->comm_hash, told->rank, told->proxy_rank);
	say(",\"op\":%" PRIu64, told->op);
	say_text("name", told->name);
	say(",\"channel\":%d,\"index\":%d,\"step\":%d,\"message\":%" PRIu64,
	    told->channel, told->index, told->step, told->ordinal);
	say_text("direction", direction(told->is_send));
	say(",\"peer\":%d,\"bytes\":%zu", told->peer, told->size);
	say_text("protocol", told->protocol);
	say(",\"wr_id\":%" PRIu64 ",\"qps\":[", way->wr_id);
	for (i = 0; i < way->qp_count; i++)
		say("%s%u", i ? "," : "", way->qp_nums[i]);
	say("],\"wanted_ns\":%" PRIu64 ",\"posted_ns\":%" PRIu64 ",\"done_ns\":%" PRIu64,
	    told->wanted_ns, way->posted_ns, way->done_ns);
	end();
}

static void say_op(const struct mini_truth_op *op)
{
	say("{\"op\":%" PRIu64, op->op);
	say_text("name", op->name);
	say_text("function", op->function);
	say_text("algorithm", op->algorithm);
	say_text("protocol", op->protocol);
	say(",\"channels\":\"0x%" PRIx64 "\",\"root\":%d,\"count\":%zu,\"bytes\":%zu}",
	    op->channels, op->root, op->count, op->bytes);
}

void mini_truth_launch(const struct mini_truth_launch *told)
{
	unsigned int i;

	if (!begin("launch"))
		return;
	say_rank(told->comm);
	say(",\"tid\":%d,\"ns\":%" PRIu64, (int) gettid(), mini_truth_now());
	say_text("kind", told->kind);
	say(",\"number\":%u", told->number);
	say_text("kernel", told->kernel);
	say(",\"stream\":\"%p\",\"channels\":\"0x%" PRIx64 "\",\"captured\":%s,"
	    "\"result\":%d,\"ops\":[",
	    (void *) told->stream, told->channels, told->is_captured ? "true" : "false",
	    told->result);
	for (i = 0; i < told->op_count; i++) {
		say("%s", i ? "," : "");
		say_op(&told->ops[i]);
	}
	say("]");
	end();
}
