/* SPDX-License-Identifier: MIT */
/*
 * What NET/Socket needs where there is no GPU.  Connect and accept ask the CUDA runtime which
 * GPU the thread uses, for the names of threads alone; without a driver that fails, after all
 * has been prepared but for the first socket.  That one is made here by the functions that
 * NCCL would call next, and the state says so: NCCL's code goes on as if it had made it.
 *
 * What is known of NCCL's structures here is in the DWARF of each release.
 */
#include "nib.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC 0x564ab9f2fc4b9d6cULL

/* enum ncclNetSocketCommState, enum ncclSocketType: alike from 2.18 to 2.32. */
enum { STATE_START = 0, STATE_CONNECT = 1, STATE_ACCEPT = 3 };
enum { TYPE_UNKNOWN = 0, TYPE_NET_SOCKET = 3 };

/* struct ncclNetSocketCommStage, likewise. */
struct stage {
	int state;
	uint8_t iteration;
	void *socket;
	void *comm;
};

/* struct ncclNetSocketHandle, likewise. */
struct handle {
	unsigned char address[28];
	uint64_t magic;
	int num_sockets;
	int num_threads;
	struct stage stage;
};

/* The beginning of struct ncclAsyncJob, likewise. */
struct job {
	struct job *next;
	pthread_t thread;
	int result;
	int (*run)(struct job *job);
	char rest[256];
	int (*function)(void *data);
	void *data;
	int returned;
};

typedef int init_fn(void *socket, const void *address, uint64_t magic, int type,
		    volatile uint32_t *aborted, int is_async, int retry);

/* sizeof(struct ncclSocket) of a release. */
size_t nib_socket_bytes(struct nib_net *net)
{
	static const struct {
		int version;
		size_t bytes;
	} sizes[] = {{21803, 88}, {22809, 96}, {23007, 96}, {23203, 104}};
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (sizes[i].version == nib_version(net))
			return sizes[i].bytes;
	nib_cannot("%s: how long its sockets are is not known", nib_describe(net));
}

bool nib_socket_connect(struct nib_net *net, void *opaque)
{
	init_fn *const init = (init_fn *) nib_function(net, "_Z14ncclSocketInit");
	int (*const start)(void *) = (int (*)(void *)) nib_function(net, "_Z17ncclSocketConnect");
	struct handle *handle = opaque;
	struct stage *stage = &handle->stage;

	if (stage->state != STATE_START || !stage->comm)
		return false;
	/* The first of its members is the last of its sockets; the others follow. */
	stage->socket = handle->num_sockets ? (char *) stage->comm + nib_socket_bytes(net)
					    : stage->comm;
	stage->state = STATE_CONNECT;
	stage->iteration = 0;
	return !init(stage->socket, handle->address, handle->magic, TYPE_NET_SOCKET, NULL, 1,
		     0) &&
	       !start(stage->socket);
}

bool nib_socket_accept(struct nib_net *net, void *listening)
{
	init_fn *const init = (init_fn *) nib_function(net, "_Z14ncclSocketInit");
	int (*const start)(void *, void *, bool) =
		(int (*)(void *, void *, bool)) nib_function(net, "_Z16ncclSocketAccept");
	const size_t bytes = nib_socket_bytes(net);
	struct stage *stage = (struct stage *) ((char *) listening + bytes);

	if (stage->state != STATE_START || !stage->comm)
		return false;
	stage->socket = calloc(1, bytes);
	if (!stage->socket)
		nib_die("no memory");
	stage->state = STATE_ACCEPT;
	stage->iteration = 0;
	return !init(stage->socket, NULL, MAGIC, TYPE_UNKNOWN, NULL, 0, 0) &&
	       !start(stage->socket, listening, true);
}

static int run_job(struct job *job)
{
	job->returned = job->function(job->data);
	return 0;
}

int nib_in_thread(struct nib_net *net, int (*function)(void *data), void *data)
{
	void *(*const routine)(void *) =
		(void *(*) (void *) ) nib_function(net, "_Z16ncclAsyncJobMain");
	struct job *job = calloc(1, sizeof(*job));
	int returned;

	if (!job)
		nib_die("no memory");
	job->run = run_job;
	job->function = function;
	job->data = data;
	if (pthread_create(&job->thread, NULL, routine, job) ||
	    pthread_join(job->thread, NULL))
		nib_die("no thread");
	returned = job->returned;
	free(job);
	return returned;
}
