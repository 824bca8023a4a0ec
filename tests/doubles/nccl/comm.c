/* SPDX-License-Identifier: MIT */
/* Making and unmaking communicators. */
#include "comm.h"

#include "arguments.h"
#include "copies.h"
#include "ras.h"
#include "release.h"
#include "result.h"
#include "settings.h"
#include "truth.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What ncclConfig_t begins with since there is one. */
#define CONFIG_MAGIC 0xcafebeef

ncclResult_t mini_comm_check(const struct ncclComm *comm, const char *function)
{
	if (!comm)
		return mini_fail(ncclInvalidArgument, "%s : comm argument is NULL",
				 function);
	if (comm->magic != MINI_COMM_MAGIC)
		return mini_fail(ncclInvalidArgument,
				 "%s : corrupted comm object detected", function);
	return ncclSuccess;
}

ncclResult_t mini_comm_state(const struct ncclComm *comm)
{
	int state = atomic_load(&comm->async_result);

	return state ? (ncclResult_t) state : mini_proxy_error(&comm->proxy);
}

ncclResult_t mini_comm_ensure_ready(struct ncclComm *comm, const char *function)
{
	ncclResult_t state = ncclSuccess;

	if (atomic_load(&comm->aborted))
		return ncclSuccess;
	/* Through the exported name, whatever the communicator, as NCCL does it. */
	ncclCommGetAsyncError(comm, &state);
	if (state == ncclInProgress)
		return mini_fail(ncclInvalidArgument,
				 "%s : communicator used before the previous operation "
				 "returned ncclSuccess",
				 function);
	return state != ncclSuccess ? state : comm->init_result;
}

/* What a program of an earlier release says nothing of, and what it leaves to NCCL. */
static bool has_field(const ncclConfig_t *config, size_t end)
{
	return config && config->size >= end;
}
#define FIELD(config, field) \
	(has_field(config, offsetof(ncclConfig_t, field) + sizeof((config)->field)) \
		 ? (config)->field \
		 : NCCL_CONFIG_UNDEF_INT)

static int split_share(const ncclConfig_t *config)
{
	return FIELD(config, splitShare);
}

static int shrink_share(const ncclConfig_t *config)
{
	return FIELD(config, shrinkShare);
}

static int cta_policy(const ncclConfig_t *config)
{
	return FIELD(config, CTAPolicy);
}

/* NULL where there is none. */
static const char *comm_name(const ncclConfig_t *config)
{
	size_t end = offsetof(ncclConfig_t, commName) + sizeof(config->commName);

	return has_field(config, end) ? config->commName : NULL;
}

static bool is_share(int value)
{
	return value == NCCL_CONFIG_UNDEF_INT || value == 0 || value == 1;
}

ncclResult_t mini_config_check(const ncclConfig_t *config)
{
	if (!config)
		return ncclSuccess;
	if (config->magic != CONFIG_MAGIC ||
	    config->size < sizeof(size_t) + 3 * sizeof(int))
		return mini_fail(ncclInvalidArgument,
				 "ncclConfig_t argument not initialized via "
				 "NCCL_CONFIG_INITIALIZER");
	if (config->blocking != NCCL_CONFIG_UNDEF_INT && config->blocking != 0 &&
	    config->blocking != 1)
		return mini_fail(ncclInvalidArgument,
				 "Invalid config blocking attribute "
				 "value %d",
				 config->blocking);
	if (!is_share(split_share(config)))
		return mini_fail(ncclInvalidArgument,
				 "Invalid config splitShare attribute value %d",
				 split_share(config));
	if (!is_share(shrink_share(config)))
		return mini_fail(ncclInvalidArgument,
				 "Invalid config shrinkShare attribute value %d",
				 shrink_share(config));
	if (cta_policy(config) != NCCL_CONFIG_UNDEF_INT &&
	    (cta_policy(config) < NCCL_CTA_POLICY_DEFAULT ||
	     cta_policy(config) > NCCL_CTA_POLICY_ZERO))
		return mini_fail(ncclInvalidArgument,
				 "Invalid config policy attribute value %d",
				 cta_policy(config));
	return ncclSuccess;
}

/*
 * The memory of communicators that are gone.  NCCL's allocator gives the next one
 * the address of the last one freed nearly always; here it is always so, and a
 * communicator that is used after its end is still found out.
 */
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ncclComm *spare;

static struct ncclComm *allocate(void)
{
	struct ncclComm *comm;

	pthread_mutex_lock(&spare_lock);
	comm = spare;
	if (comm)
		spare = comm->next_spare;
	pthread_mutex_unlock(&spare_lock);
	if (!comm)
		return calloc(1, sizeof(*comm));
	memset(comm, 0, sizeof(*comm));
	return comm;
}

static void release(struct ncclComm *comm)
{
	comm->magic = 0;
	pthread_mutex_lock(&spare_lock);
	comm->next_spare = spare;
	spare = comm;
	pthread_mutex_unlock(&spare_lock);
}

/*
 * One, unless NCCL_MIN_NCHANNELS wants more and NCCL_MAX_NCHANNELS allows it: how many
 * the real one has depends on the machine.
 */
static int channel_count(void)
{
	const char *least = getenv("NCCL_MIN_NCHANNELS");
	const char *most = getenv("NCCL_MAX_NCHANNELS");
	int count = least ? atoi(least) : 1;

	if (most && atoi(most) > 0 && count > atoi(most))
		count = atoi(most);
	/* NCCL's MAXCHANNELS grew. */
	if (count > (mini_release() < 22500 ? MINI_MAX_CHANNELS / 2 : MINI_MAX_CHANNELS))
		count = mini_release() < 22500 ? MINI_MAX_CHANNELS / 2
					       : MINI_MAX_CHANNELS;
	return count < 1 ? 1 : count;
}

/* The environment has the last word. */
static void configure(struct ncclComm *comm, const ncclConfig_t *config)
{
	comm->is_nonblocking = config && config->blocking == 0;
	comm->profile.name = comm_name(config);
	comm->cta_policy = (int) mini_number_or(SET_NCCL_CTA_POLICY, cta_policy(config));
	comm->shares_splits = mini_number_or(SET_NCCL_COMM_SPLIT_SHARE_RESOURCES,
					     split_share(config)) == 1;
	comm->shares_shrinks = mini_number_or(SET_NCCL_COMM_SHRINK_SHARE_RESOURCES,
					      shrink_share(config)) == 1;
}

ncclResult_t mini_comm_create(struct ncclComm **ret_comm, int nranks, int rank,
			      const ncclConfig_t *config, struct ncclComm *with)
{
	struct ncclComm *comm;
	CUcontext context;
	int device;
	ncclResult_t result;

	mini_settings_check();
	result = mini_driver_current(&context, &device);
	if (result != ncclSuccess)
		return result;
	comm = allocate();
	if (!comm)
		return mini_fail(ncclSystemError, "out of memory");
	comm->context = context;
	comm->device = device;
	comm->magic = MINI_COMM_MAGIC;
	comm->nranks = nranks;
	comm->rank = rank;
	comm->channels = channel_count();
	configure(comm, config);
	mini_bootstrap_prepare(&comm->bootstrap);
	pthread_mutex_init(&comm->lock, NULL);
	pthread_cond_init(&comm->idle, NULL);
	if (with) {
		mini_proxy_share(&comm->proxy, comm, &with->proxy);
	} else if (mini_proxy_open(&comm->proxy, comm)) {
		mini_comm_destroy(comm);
		return mini_fail(ncclSystemError, "cannot listen on loopback");
	}
	*ret_comm = comm;
	return ncclSuccess;
}

uint64_t mini_comm_child_hash(const struct ncclComm *parent, unsigned int count,
			      int color)
{
	uint64_t origin[3] = {parent->hash, count, (uint64_t) color};

	return mini_bootstrap_hash(origin, sizeof(origin));
}

/* Equal on one host, unless NCCL_HOSTID pretends otherwise. */
static uint64_t host_hash(void)
{
	const char *id = getenv("NCCL_HOSTID");
	char name[256] = "";

	if (!id) {
		gethostname(name, sizeof(name) - 1);
		id = name;
	}
	return mini_bootstrap_hash(id, strlen(id));
}

static ncclResult_t check_peers(const struct ncclComm *comm)
{
	const struct mini_peer *own = &comm->peers[comm->rank];
	int i;

	for (i = 0; i < comm->nranks; i++) {
		if (i == comm->rank || comm->peers[i].host_hash != own->host_hash ||
		    comm->peers[i].device != own->device)
			continue;
		return mini_fail(
			ncclInvalidUsage,
			"Duplicate GPU detected : rank %d and rank %d both on CUDA "
			"device %x",
			comm->rank, i, own->device);
	}
	return ncclSuccess;
}

/* Not of the device: to give that back one would wait for all that is on the device. */
static ncclResult_t make_device_comm(struct ncclComm *comm)
{
	comm->device_comm = calloc(1, sizeof(*comm->device_comm));
	if (!comm->device_comm)
		return mini_fail(ncclSystemError, "out of memory");
	comm->device_comm->comm = comm;
	return ncclSuccess;
}

/* Since 2.22 a connection is made when it is needed, unless that is not wanted. */
static bool connects_early(void)
{
	return mini_release() < 22200 || !mini_number(SET_NCCL_RUNTIME_CONNECT);
}

static void tell_sockets(const struct ncclComm *comm)
{
	if (comm->nranks == 1)
		return;
	mini_truth_socket(comm, "bootstrap", comm->bootstrap.next_fd);
	mini_truth_socket(comm, "bootstrap", comm->bootstrap.previous_fd);
}

ncclResult_t mini_comm_meet_peers(struct ncclComm *comm)
{
	int version;
	int err;
	ncclResult_t result;

	comm->peers = calloc((size_t) comm->nranks, sizeof(*comm->peers));
	if (!comm->peers)
		return mini_fail(ncclSystemError, "out of memory");
	/* NCCL asks itself, through the exported name, on the initialising thread. */
	ncclGetVersion(&version);
	comm->peers[comm->rank].address = comm->proxy.state->address;
	comm->peers[comm->rank].top_rank = mini_proxy_rank(&comm->proxy);
	comm->peers[comm->rank].bootstrap = comm->bootstrap.address;
	mini_ras_start(&comm->peers[comm->rank].ras);
	comm->peers[comm->rank].host_hash = host_hash();
	comm->peers[comm->rank].device = comm->device;
	comm->peers[comm->rank].pid = (int) getpid();
	err = mini_bootstrap_allgather(&comm->bootstrap, comm->peers,
				       sizeof(*comm->peers));
	result = mini_result(err);
	if (result == ncclSuccess) {
		tell_sockets(comm);
		mini_ras_add_ranks(comm);
		result = check_peers(comm);
	}
	if (result == ncclSuccess) {
		comm->topology = mini_topology_create(comm);
		if (!comm->topology)
			result = mini_fail(ncclSystemError, "out of memory");
	}
	if (result == ncclSuccess)
		result = make_device_comm(comm);
	if (result == ncclSuccess)
		mini_profiler_open(comm);
	if (result == ncclSuccess)
		result = mini_result(mini_proxy_start(&comm->proxy));
	if (result == ncclSuccess && connects_early())
		result = mini_result(mini_comm_connect_all(comm));
	return result;
}

static ncclResult_t init_by_ids(const struct mini_comm_request *request)
{
	struct ncclComm *comm = request->comm;
	int err;

	/* NCCL's too is made of the first one. */
	comm->hash = mini_bootstrap_hash(&request->ids[0], sizeof(request->ids[0]));
	err = mini_bootstrap_open(&comm->bootstrap, 0, comm->rank, comm->nranks,
				  &comm->aborted);
	if (!err)
		err = mini_bootstrap_meet(&comm->bootstrap, request->ids,
					  request->id_count);
	return err ? mini_result(err) : mini_comm_meet_peers(comm);
}

/* What the ranks of a communicator that is split tell each other. */
struct split_part {
	int color;
	int key;
	struct sockaddr_in address;
};

/* Ranks of a child follow the keys, then the parent's ranks. */
static bool is_before(const struct split_part *parts, int a, int b)
{
	return parts[a].key < parts[b].key || (parts[a].key == parts[b].key && a < b);
}

static int rank_in_child(const struct split_part *parts, int nparts, int i)
{
	int rank = 0;
	int j;

	for (j = 0; j < nparts; j++)
		rank += parts[j].color == parts[i].color && is_before(parts, j, i);
	return rank;
}

static int join_child(struct ncclComm *comm, const struct split_part *parts, int nparts,
		      int self)
{
	int next = 0;
	int i;

	comm->rank = rank_in_child(parts, nparts, self);
	comm->nranks = 0;
	for (i = 0; i < nparts; i++)
		comm->nranks += parts[i].color == parts[self].color;
	for (i = 0; i < nparts; i++) {
		if (parts[i].color == parts[self].color &&
		    rank_in_child(parts, nparts, i) == (comm->rank + 1) % comm->nranks)
			next = i;
	}
	comm->bootstrap.rank = comm->rank;
	comm->bootstrap.nranks = comm->nranks;
	return mini_bootstrap_join(&comm->bootstrap, &parts[next].address);
}

static ncclResult_t init_by_split(const struct mini_comm_request *request)
{
	struct ncclComm *parent = request->parent;
	struct ncclComm *comm = request->comm;
	struct split_part *parts;
	int err = 0;

	parts = calloc((size_t) parent->nranks, sizeof(*parts));
	if (!parts)
		return mini_fail(ncclSystemError, "out of memory");
	parts[parent->rank].color = request->color;
	parts[parent->rank].key = request->key;
	if (comm) {
		err = mini_bootstrap_open(&comm->bootstrap, comm->hash, 0, 1,
					  &comm->aborted);
		parts[parent->rank].address = comm->bootstrap.address;
	}
	if (!err)
		err = mini_bootstrap_allgather(&parent->bootstrap, parts, sizeof(*parts));
	if (!err && comm)
		err = join_child(comm, parts, parent->nranks, parent->rank);
	free(parts);
	if (err || !comm)
		return mini_result(err);
	return mini_comm_meet_peers(comm);
}

static bool is_excluded(const struct mini_comm_request *request, int rank)
{
	int i;

	for (i = 0; i < request->excluded_count; i++) {
		if (request->excluded[i] == rank)
			return true;
	}
	return false;
}

/* The next member of a shrunken parent, or the previous one. */
static int neighbour(const struct mini_comm_request *request, int step)
{
	int n = request->parent->nranks;
	int rank = request->parent->rank;

	do
		rank = (rank + step + n) % n;
	while (is_excluded(request, rank));
	return rank;
}

/*
 * Those that are left know who they are without a word from the others, so they
 * talk one to one: the ring of the parent may be broken.
 */
static ncclResult_t init_by_shrink(const struct mini_comm_request *request)
{
	struct ncclComm *parent = request->parent;
	struct ncclComm *comm = request->comm;
	int previous = neighbour(request, -1);
	struct sockaddr_in next;
	int rank;
	int err;

	comm->rank = 0;
	comm->nranks = 0;
	for (rank = 0; rank < parent->nranks; rank++) {
		if (rank == parent->rank)
			comm->rank = comm->nranks;
		comm->nranks += !is_excluded(request, rank);
	}
	err = mini_bootstrap_open(&comm->bootstrap, comm->hash, comm->rank, comm->nranks,
				  &comm->aborted);
	if (!err)
		err = mini_bootstrap_send(&parent->bootstrap,
					  &parent->peers[previous].bootstrap, comm->hash,
					  &comm->bootstrap.address, sizeof(next));
	if (!err)
		err = mini_bootstrap_receive(&parent->bootstrap, neighbour(request, 1),
					     comm->hash, &next, sizeof(next));
	if (!err)
		err = mini_bootstrap_join(&comm->bootstrap, &next);
	return err ? mini_result(err) : mini_comm_meet_peers(comm);
}

struct mini_comm_request *mini_comm_request(void)
{
	return calloc(1, sizeof(struct mini_comm_request));
}

ncclResult_t mini_comm_request_ids(struct mini_comm_request *request,
				   const ncclUniqueId *ids, int id_count)
{
	size_t size = (size_t) id_count * sizeof(*ids);

	if (id_count == 0)
		return ncclSuccess;
	request->ids = malloc(size);
	if (!request->ids)
		return mini_fail(ncclSystemError, "out of memory");
	memcpy(request->ids, ids, size);
	request->id_count = id_count;
	return ncclSuccess;
}

void mini_comm_request_free(struct mini_comm_request *request)
{
	free(request->ids);
	free(request->excluded);
	free(request);
}

static void set_child(struct ncclComm *parent, struct ncclComm *child)
{
	pthread_mutex_lock(&parent->lock);
	parent->child = child;
	if (child && atomic_load(&parent->aborted))
		atomic_store(&child->aborted, true);
	pthread_mutex_unlock(&parent->lock);
}

/*
 * What failed in a group stays, with its result, until the program takes it away:
 * NCCL undoes only an initialisation that was a call of its own.
 */
static void settle(struct mini_comm_request *request, ncclResult_t result)
{
	struct ncclComm *comm = request->comm;

	if (comm)
		comm->init_result = result;
	if (comm && result != ncclSuccess && request->is_undone) {
		*request->newcomm = NULL;
		mini_comm_destroy(comm);
	}
	mini_comm_request_free(request);
}

static bool is_child(const struct mini_comm_request *request)
{
	return request->parent && !request->growth;
}

static ncclResult_t init_child(const struct mini_comm_request *request)
{
	ncclResult_t result;

	set_child(request->parent, request->comm);
	result = request->excluded_count ? init_by_shrink(request)
					 : init_by_split(request);
	set_child(request->parent, NULL);
	/* The program is told of it only now. */
	__atomic_store_n(request->newcomm, request->comm, __ATOMIC_RELEASE);
	return result;
}

static void tell(const struct mini_comm_request *request)
{
	const struct mini_truth_comm told = {
		.comm = request->comm,
		.origin = request->growth	    ? "grow"
			  : !request->parent	    ? "init"
			  : request->excluded_count ? "shrink"
						    : "split",
		.parent_hash = request->parent ? request->parent->hash : 0,
		.proxy_hash = request->comm->proxy.state->hash,
	};

	mini_truth_comm(&told);
}

ncclResult_t mini_comm_init(void *argument)
{
	struct mini_comm_request *request = argument;
	struct ncclComm *parent = request->parent;
	CUcontext before = NULL;
	ncclResult_t result;

	mini_driver.CtxGetCurrent(&before);
	mini_driver.CtxSetCurrent(parent ? parent->context : request->comm->context);
	if (is_child(request))
		result = init_child(request);
	else if (request->growth)
		result = mini_comm_init_grown(request);
	else
		result = init_by_ids(request);
	mini_driver.CtxSetCurrent(before);
	if (result == ncclSuccess && request->comm)
		tell(request);
	settle(request, result);
	return result;
}

void mini_comm_cancel(void *argument)
{
	struct mini_comm_request *request = argument;

	/* Nobody was told of a child yet. */
	if (is_child(request) && request->comm) {
		mini_comm_destroy(request->comm);
		request->comm = NULL;
	}
	settle(request, ncclInvalidUsage);
}

void mini_comm_begin_job(struct ncclComm *comm)
{
	pthread_mutex_lock(&comm->lock);
	comm->jobs++;
	atomic_store(&comm->async_result, ncclInProgress);
	pthread_mutex_unlock(&comm->lock);
}

void mini_comm_end_job(struct ncclComm *comm, ncclResult_t result)
{
	pthread_mutex_lock(&comm->lock);
	atomic_store(&comm->async_result, (int) result);
	comm->jobs--;
	pthread_cond_broadcast(&comm->idle);
	pthread_mutex_unlock(&comm->lock);
}

static void wait_for_jobs(struct ncclComm *comm)
{
	pthread_mutex_lock(&comm->lock);
	while (comm->jobs > 0)
		pthread_cond_wait(&comm->idle, &comm->lock);
	pthread_mutex_unlock(&comm->lock);
}

ncclResult_t mini_comm_barrier(struct ncclComm *comm)
{
	char *there = calloc(1, (size_t) comm->nranks);
	int err;

	if (!there)
		return mini_fail(ncclSystemError, "out of memory");
	err = mini_bootstrap_allgather(&comm->bootstrap, there, 1);
	free(there);
	return mini_result(err);
}

ncclResult_t mini_comm_finish(void *argument)
{
	struct ncclComm *comm = argument;

	mini_proxy_drain(&comm->proxy);
	return ncclSuccess;
}

void mini_comm_restart(struct ncclComm *comm)
{
	mini_proxy_drain(&comm->proxy);
	mini_proxy_mark(&comm->proxy, false);
}

ncclResult_t mini_comm_quiesce(void *argument)
{
	struct ncclComm *comm = argument;

	mini_proxy_drain(&comm->proxy);
	mini_proxy_stop(&comm->proxy);
	mini_comm_restart(comm);
	return ncclSuccess;
}

ncclResult_t mini_comm_destroy(void *argument)
{
	struct ncclComm *comm = argument;

	wait_for_jobs(comm);
	mini_proxy_drain(&comm->proxy);
	mini_copies_close(comm);
	mini_windows_close(comm);
	mini_proxy_close(&comm->proxy);
	mini_profiler_close(comm);
	mini_bootstrap_close(&comm->bootstrap);
	free(comm->device_comm);
	pthread_cond_destroy(&comm->idle);
	pthread_mutex_destroy(&comm->lock);
	free(comm->peers);
	mini_topology_destroy(comm->topology);
	free(comm->scratch);
	mini_redops_free(&comm->redops);
	release(comm);
	return ncclSuccess;
}

void mini_comm_stop(struct ncclComm *comm)
{
	pthread_mutex_lock(&comm->lock);
	mini_proxy_mark(&comm->proxy, true);
	if (comm->child)
		atomic_store(&comm->child->aborted, true);
	pthread_mutex_unlock(&comm->lock);
}
