/* SPDX-License-Identifier: MIT */
/*
 * What the driver double was asked and what it did, as a file that a test compares a
 * trace with, and the failures that a test asks for.  One write() a line, so that
 * threads and processes can share the file.
 */
#include "driver.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int log_fd = -1;
static atomic_ullong launches;
/* The number of the launch that fails, 0 for none, and how. */
static unsigned long long failing_launch;
static int failure;

static void read_settings(void)
{
	const char *path = getenv("DOUBLE_CUDA_LOG");
	const char *fail = getenv("DOUBLE_CUDA_FAIL");

	if (path && *path)
		log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fail && sscanf(fail, "%llu:%d", &failing_launch, &failure) != 2)
		failing_launch = 0;
}

static bool is_logging(void)
{
	pthread_once(&once, read_settings);
	return log_fd >= 0;
}

int64_t double_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t) now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((format(printf, 1, 2))) static void write_line(const char *format, ...)
{
	char line[1024];
	va_list arguments;
	ssize_t written;
	int size;

	va_start(arguments, format);
	size = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (size < 0)
		return;
	if ((size_t) size >= sizeof(line)) {
		size = (int) sizeof(line);
		line[sizeof(line) - 1] = '\n';
	}
	written = write(log_fd, line, (size_t) size);
	(void) written;
}

void double_log_ask(const char *symbol, int version, cuuint64_t flags, bool is_found)
{
	if (is_logging())
		write_line("ask pid=%d tid=%d ns=%lld symbol=%s version=%d flags=%llu "
			   "found=%d\n",
			   (int) getpid(), (int) gettid(), (long long) double_now_ns(),
			   *symbol ? symbol : "-", version, (unsigned long long) flags,
			   is_found);
}

static const char *type_name(const struct double_work *work)
{
	switch (work->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return "kernel";
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return "memcpy";
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return "memset";
	case CU_GRAPH_NODE_TYPE_HOST:
		return "host";
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return "event";
	case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return "memop";
	default:
		return "empty";
	}
}

static void describe(const struct double_work *work, char *text, size_t size)
{
	if (work->type == CU_GRAPH_NODE_TYPE_KERNEL)
		snprintf(text, size,
			 "kind=kernel name=%s grid=%ux%ux%u block=%ux%ux%u cluster=%u "
			 "cooperative=%d",
			 work->name, work->grid[0], work->grid[1], work->grid[2],
			 work->block[0], work->block[1], work->block[2], work->cluster,
			 work->is_cooperative);
	else if (work->type == CU_GRAPH_NODE_TYPE_HOST)
		snprintf(text, size, "kind=host name=%s function=%p", work->name,
			 work->function);
	else
		snprintf(text, size, "kind=%s name=%s bytes=%zu", type_name(work),
			 work->name, work->bytes);
}

int64_t double_log_work(const char *what, const struct double_work *work,
			uint64_t correlation, uint64_t node, uint64_t stream_id)
{
	int64_t now = double_now_ns();
	char text[256];

	if (!is_logging())
		return now;
	describe(work, text, sizeof(text));
	write_line("%s pid=%d tid=%d ns=%lld correlation=%llu queue=%llu node=%llu %s\n",
		   what, (int) getpid(), (int) gettid(), (long long) now,
		   (unsigned long long) correlation, (unsigned long long) stream_id,
		   (unsigned long long) node, text);
	return now;
}

void double_call_begin(struct double_call *call, const char *entry, CUstream stream)
{
	memset(call, 0, sizeof(*call));
	call->entry = entry;
	call->stream = stream;
	call->correlation = double_observe_number();
	double_observe_enter(call);
	call->begin_ns = double_now_ns();
}

void double_call_note(struct double_call *call, const struct double_work *work)
{
	call->work_count++;
	if (is_logging())
		describe(work, call->text, sizeof(call->text));
}

CUresult double_call_end(struct double_call *call, CUresult res)
{
	if (is_logging())
		write_line("call pid=%d tid=%d ns=%lld to=%lld correlation=%llu entry=%s "
			   "result=%d stream=0x%llx queue=%llu node=%llu graph=0x%llx "
			   "works=%u %s\n",
			   (int) getpid(), (int) gettid(), (long long) call->begin_ns,
			   (long long) double_now_ns(),
			   (unsigned long long) call->correlation, call->entry, (int) res,
			   (unsigned long long) (uintptr_t) call->stream,
			   (unsigned long long) call->stream_id,
			   (unsigned long long) call->node,
			   (unsigned long long) (uintptr_t) call->graph, call->work_count,
			   call->text);
	double_observe_leave(call, res);
	return res;
}

CUresult double_launch_failure(void)
{
	pthread_once(&once, read_settings);
	if (failing_launch && atomic_fetch_add(&launches, 1) + 1 == failing_launch)
		return (CUresult) failure;
	return CUDA_SUCCESS;
}
