/* SPDX-License-Identifier: MIT */
/* The page of counters: an anonymous file in memory, mapped once. */
#include "intercept/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "calls/nccl_calls.h"
#include "common/launcher.h"
#include "common/lock.h"
#include "intercept/layer.h"
#include "intercept/recorder.h"

_Static_assert(TAP_NCCL_NR <= TAP_METRICS_FUNCTIONS, "each row has a counter");

/* A profiler may send a signal each millisecond. */
#define ALLOCATE_TRIES 10

struct tap_metrics_page *tap_metrics_page;

/*
 * How many rooms of the page are given.  The page has copies, for the supervisor: a
 * program may write anything there.
 */
static struct {
	uint32_t comms, devices, queues;
} used;

/* UNDECIDED, or an enum tap_metrics_state. */
enum { UNDECIDED = -1 };
static int state = UNDECIDED;

bool tap_metrics_are_alone(void)
{
	const char *wish = getenv("CCLTAP_METRICS");

	return wish && !strcmp(wish, "alone");
}

static const int no_wish = TAP_METRICS_NO_WISH;

const int *tap_metrics_wish(void)
{
	const struct tap_metrics_page *page =
		__atomic_load_n(&tap_metrics_page, __ATOMIC_ACQUIRE);

	return page ? &page->wish : &no_wish;
}

/* A program may write anything over its page: that is no wish. */
bool tap_metrics_is_wished(void)
{
	return __atomic_load_n(tap_metrics_wish(), __ATOMIC_RELAXED) == TAP_METRICS_WISH;
}

/* For the page of a child of fork(), too. */
static enum tap_metrics_attached attached;

void tap_metrics_tell(enum tap_metrics_attached how_far)
{
	struct tap_metrics_page *page =
		__atomic_load_n(&tap_metrics_page, __ATOMIC_ACQUIRE);

	__atomic_store_n(&attached, how_far, __ATOMIC_RELAXED);
	if (page)
		__atomic_store_n(&page->attached, how_far, __ATOMIC_RELAXED);
}

static bool is_wanted(void)
{
	const char *wish = getenv("CCLTAP_METRICS");

	return wish && (!strcmp(wish, "1") || !strcmp(wish, "alone"));
}

static void copy_name(char *ret_name, size_t size, const char *name)
{
	memcpy(ret_name, name, strnlen(name, size - 1));
}

/* Code, and not a table, which would be relocated at the start of every process. */
static void fill_names(struct tap_metrics_page *page)
{
	/* clang-format off */
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) copy_name(page->names[TAP_##fn], TAP_METRICS_NAME, #fn);
#define CALL_VOID(since, class, fn, ...) copy_name(page->names[TAP_##fn], TAP_METRICS_NAME, #fn);
#include "calls/nccl.def"
#undef CALL
#undef CALL_VOID
	/* clang-format on */
}

static void fill(struct tap_metrics_page *page)
{
	struct utsname host;

	memcpy(page->magic, TAP_METRICS_MAGIC, sizeof(page->magic));
	page->version = TAP_METRICS_VERSION;
	page->bytes = sizeof(*page);
	page->nr_functions = TAP_METRICS_FUNCTIONS;
	page->nr_comms = TAP_METRICS_COMMS;
	page->pid = getpid();
	page->rank = tap_launcher_ask().rank;
	page->calls_timed = TAP_METRICS_CALLS_TIMED;
	page->requests_timed = TAP_METRICS_REQUESTS_TIMED;
	if (!uname(&host))
		copy_name(page->host, sizeof(page->host), host.nodename);
	page->attached = __atomic_load_n(&attached, __ATOMIC_RELAXED);
	fill_names(page);
}

/* What makes a file larger than its process may gets SIGXFSZ, which ends it. */
static bool may_have_file_of(size_t size)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) &&
	       (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
}

/*
 * Gives a file its size and all of its memory: where there is none, a later store would
 * end the process by SIGBUS.  The kernel gives up when a signal comes, so try again.
 */
static bool allocate(int fd, size_t size)
{
	int ret = ftruncate(fd, (off_t) size);

	for (int tries = 0; !ret && tries < ALLOCATE_TRIES; tries++) {
		ret = fallocate(fd, 0, 0, (off_t) size);
		if (!ret)
			return true;
		if (errno == EINTR)
			ret = 0;
	}
	return false;
}

/*
 * The supervisor reads the file and knows by its seals when no process maps it any more.
 * Its size is sealed, so that no reader is killed.
 */
static struct tap_metrics_page *make(void)
{
	struct tap_metrics_page *page = MAP_FAILED;
	int fd;

	if (!may_have_file_of(sizeof(*page)))
		return NULL;
	fd = memfd_create("ccltap-metrics", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return NULL;
	if (allocate(fd, sizeof(*page)) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
		page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    0);
	if (page != MAP_FAILED) {
		fill(page);
		if (!tap_recorder_send_page(fd)) {
			munmap(page, sizeof(*page));
			page = MAP_FAILED;
		}
	}
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

enum tap_metrics_state tap_metrics_begin(void)
{
	int seen = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
	struct tap_metrics_page *page;
	int saved_errno;

	if (likely(seen != UNDECIDED))
		return (enum tap_metrics_state) seen;
	if (!__atomic_compare_exchange_n(&state, &seen, TAP_METRICS_MAKING, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return (enum tap_metrics_state) seen;
	saved_errno = errno;
	page = is_wanted() ? make() : NULL;
	errno = saved_errno;
	__atomic_store_n(&tap_metrics_page, page, __ATOMIC_RELEASE);
	seen = page ? TAP_METRICS_ON : TAP_METRICS_OFF;
	__atomic_store_n(&state, seen, __ATOMIC_RELEASE);
	/* Of a child that is forked too early; its parent gave its own reason. */
	if (page && page->attached == TAP_METRICS_UNABLE)
		tap_recorder_notify("LTTng was not loaded when its parent forked it");
	/* Entry points that were called before have no wish to look at. */
	if (page && tap_metrics_are_alone())
		TAP_LAYERS_CALL(reconsider);
	return (enum tap_metrics_state) seen;
}

/* What the communicator before had counts on as that of no communicator. */
static void fold(struct tap_metrics_page *page, struct tap_metrics_comm *room)
{
	unsigned i;

	for (i = 0; i < TAP_METRICS_FUNCTIONS; i++) {
		struct tap_metrics_slot *from = &room->of[i], *to = &page->shared[i];

		if (!from->begun)
			continue;
		__atomic_store_n(&page->is_operation[i], 1, __ATOMIC_RELAXED);
		tap_metrics_add_shared(&to->begun, from->begun);
		tap_metrics_add_shared(&to->ended, from->ended);
		tap_metrics_add_shared(&to->failed, from->failed);
		tap_metrics_add_shared(&to->bytes, from->bytes);
		__atomic_fetch_add(&to->timed, from->timed, __ATOMIC_RELAXED);
		tap_metrics_add_shared(&to->timed_ns, from->timed_ns);
		*from = (struct tap_metrics_slot){0};
	}
	tap_metrics_add_shared(&page->dropped, room->dropped);
	room->dropped = 0;
}

void tap_metrics_give_room(struct tap_metrics_comm **room)
{
	struct tap_metrics_page *page = tap_metrics_page;

	if (!page)
		return;
	if (!*room) {
		if (used.comms == TAP_METRICS_COMMS) {
			page->without++;
			return;
		}
		*room = &page->comms[used.comms++];
	}
	__atomic_store_n(&page->turn, page->turn + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	fold(page, *room);
	(*room)->life++;
	(*room)->key = 0;
	(*room)->nranks = (*room)->rank = -1;
	(*room)->use = TAP_METRICS_LIVE;
	__atomic_store_n(&page->used, used.comms, __ATOMIC_RELEASE);
	__atomic_store_n(&page->turn, page->turn + 1, __ATOMIC_RELEASE);
}

void tap_metrics_describe(struct tap_metrics_comm *room, uint64_t key, int32_t nranks,
			  int32_t rank, bool is_live)
{
	__atomic_store_n(&room->key, key, __ATOMIC_RELAXED);
	__atomic_store_n(&room->nranks, nranks, __ATOMIC_RELAXED);
	__atomic_store_n(&room->rank, rank, __ATOMIC_RELAXED);
	__atomic_store_n(&room->use, is_live ? TAP_METRICS_LIVE : TAP_METRICS_GONE,
			 __ATOMIC_RELAXED);
}

struct tap_metrics_call tap_metrics_begin_shared(unsigned row, bool is_operation)
{
	struct tap_metrics_page *page = tap_metrics_page;
	struct tap_metrics_call call = {0};

	if (!page)
		return call;
	if (is_operation)
		__atomic_store_n(&page->is_operation[row], 1, __ATOMIC_RELAXED);
	if (__atomic_fetch_add(&page->shared[row].begun, 1, __ATOMIC_RELAXED) %
		    TAP_METRICS_CALLS_TIMED ==
	    0)
		call.begin_ns = tap_now_ns();
	return call;
}

void tap_metrics_end_shared(const struct tap_metrics_call *call, unsigned row,
			    bool has_failed, uint64_t bytes)
{
	struct tap_metrics_page *page = tap_metrics_page;

	if (!page)
		return;
	if (call->begin_ns) {
		tap_metrics_add_shared(&page->shared[row].timed_ns,
				       (uint64_t) (tap_now_ns() - call->begin_ns));
		__atomic_fetch_add(&page->shared[row].timed, 1, __ATOMIC_RELAXED);
	}
	if (has_failed)
		tap_metrics_add_shared(&page->shared[row].failed, 1);
	else if (bytes)
		tap_metrics_add_shared(&page->shared[row].bytes, bytes);
	tap_metrics_add_shared(&page->shared[row].ended, 1);
}

void tap_metrics_drop(struct tap_metrics_comm *room, uint64_t operations)
{
	struct tap_metrics_page *page = tap_metrics_page;

	if (room)
		tap_metrics_add(&room->dropped, operations);
	else if (page)
		tap_metrics_add_shared(&page->dropped, operations);
}

/* ---- Queues of devices ---- */

/* Guards who has which room. */
static struct tap_lock lock;

/* Under the lock, as is the next function.  NULL: there is no room. */
static struct tap_metrics_device *find_device(struct tap_metrics_page *page,
					      const char *name)
{
	struct tap_metrics_device *device;
	uint32_t i;

	for (i = 0; i < used.devices; i++)
		if (!strncmp(page->devices[i].name, name, TAP_METRICS_DEVICE_NAME - 1))
			return &page->devices[i];
	if (used.devices == TAP_METRICS_DEVICES)
		return NULL;
	device = &page->devices[used.devices];
	copy_name(device->name, sizeof(device->name), name);
	device->rest.device = used.devices++;
	__atomic_store_n(&page->devices_used, used.devices, __ATOMIC_RELEASE);
	return device;
}

static struct tap_metrics_queue *find_queue(struct tap_metrics_page *page,
					    uint32_t device)
{
	struct tap_metrics_queue *room;
	uint32_t i;

	for (i = 0; i < used.queues; i++)
		if (!__atomic_load_n(&page->queues[i].use, __ATOMIC_ACQUIRE) &&
		    page->queues[i].device == device)
			return &page->queues[i];
	if (used.queues == TAP_METRICS_QUEUES)
		return NULL;
	room = &page->queues[used.queues++];
	room->device = device;
	__atomic_store_n(&page->queues_used, used.queues, __ATOMIC_RELEASE);
	return room;
}

struct tap_metrics_room tap_metrics_take_room(const char *name)
{
	struct tap_metrics_page *page = tap_metrics_page;
	struct tap_metrics_room room = {0};

	if (!page)
		return room;
	if (tap_lock_take(&lock)) {
		room.device = find_device(page, name);
		if (room.device)
			room.queue = find_queue(page, room.device->rest.device);
		if (room.queue) {
			room.queue->use = 1;
			room.is_own = true;
		} else if (room.device) {
			room.queue = &room.device->rest;
		}
		tap_lock_drop(&lock);
	}
	if (!room.queue)
		__atomic_fetch_add(&page->queues_without, 1, __ATOMIC_RELAXED);
	return room;
}

void tap_metrics_return_room(const struct tap_metrics_room *room)
{
	if (room->is_own)
		__atomic_store_n(&room->queue->use, 0, __ATOMIC_RELEASE);
}

/* ---- NCCL's threads and kernels ---- */

/* What the page counts of a thread: bits of tap_ccl_thread.counted. */
enum { IS_THERE = 1, IS_ASLEEP = 2 };

void tap_metrics_proxy_rests(struct tap_ccl_thread *thread, bool is_asleep)
{
	struct tap_metrics_page *page = tap_metrics_page;

	if (!page)
		return;
	if (!(thread->counted & IS_THERE)) {
		thread->counted |= IS_THERE;
		__atomic_fetch_add(&page->proxies, 1, __ATOMIC_RELAXED);
	}
	if (is_asleep == !!(thread->counted & IS_ASLEEP))
		return;
	thread->counted ^= IS_ASLEEP;
	__atomic_fetch_add(&page->proxies_asleep, is_asleep ? 1 : -1u, __ATOMIC_RELAXED);
}

void tap_metrics_proxy_yields(struct tap_ccl_thread *thread)
{
	struct tap_metrics_page *page = tap_metrics_page;

	tap_metrics_proxy_rests(thread, false);
	if (page)
		tap_metrics_add_shared(&page->proxy_yields, TAP_METRICS_YIELDS);
}

/* A thread that is cancelled in its sleep ends asleep. */
void tap_metrics_proxy_ends(struct tap_ccl_thread *thread)
{
	struct tap_metrics_page *page = tap_metrics_page;

	if (!page || !(thread->counted & IS_THERE))
		return;
	tap_metrics_proxy_rests(thread, false);
	thread->counted = 0;
	__atomic_fetch_sub(&page->proxies, 1, __ATOMIC_RELAXED);
}

void tap_metrics_count_kernel(uint64_t ns)
{
	struct tap_metrics_page *page = tap_metrics_page;

	if (!page)
		return;
	tap_metrics_add_shared(&page->kernel_ns, ns);
	tap_metrics_add_shared(&page->kernels, 1);
}

/* ---- The layer ---- */

/*
 * The page is the parent's: the child makes its own at its next call.  If the fork was
 * made inside a call, the child returns from it and counts its end, so there must be
 * memory.
 */
static void fork_child(void)
{
	if (tap_metrics_page)
		mmap(tap_metrics_page, sizeof(*tap_metrics_page), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	tap_metrics_page = NULL;
	memset(&used, 0, sizeof(used));
	tap_thread.ccl.counted = 0;
	__atomic_store_n(&state, UNDECIDED, __ATOMIC_RELEASE);
}

const struct tap_layer tap_layer_metrics = {
	.lock = &lock,
	.fork_child = fork_child,
};
