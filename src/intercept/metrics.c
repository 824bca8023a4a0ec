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
#include "intercept/layer.h"
#include "intercept/recorder.h"

_Static_assert(TAP_NCCL_NR <= TAP_METRICS_FUNCTIONS, "each row has a counter");

/* A profiler may send a signal each millisecond. */
#define ALLOCATE_TRIES 10

struct tap_metrics_page *tap_metrics_page;

/* UNDECIDED, or an enum tap_metrics_state. */
enum { UNDECIDED = -1 };
static int state = UNDECIDED;

bool tap_metrics_are_alone(void)
{
	const char *wish = getenv("CCLTAP_METRICS");

	return wish && !strcmp(wish, "alone");
}

static bool is_wanted(void)
{
	const char *wish = getenv("CCLTAP_METRICS");

	return wish && (!strcmp(wish, "1") || !strcmp(wish, "alone"));
}

static void copy_name(char *ret_name, const char *name)
{
	size_t length = strlen(name);

	if (length >= TAP_METRICS_NAME)
		length = TAP_METRICS_NAME - 1;
	memcpy(ret_name, name, length);
}

/* Code, and not a table, which would be relocated at the start of every process. */
static void fill_names(struct tap_metrics_page *page)
{
	/* clang-format off */
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) copy_name(page->names[TAP_##fn], #fn);
#define CALL_VOID(since, class, fn, ...) copy_name(page->names[TAP_##fn], #fn);
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
	if (!uname(&host))
		memcpy(page->host, host.nodename,
		       strnlen(host.nodename, sizeof(page->host) - 1));
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
 * Gives a file its size and all of its memory: where there is none, a later store would end
 * the process by SIGBUS.  The kernel gives up when a signal comes, so try again.
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
		if (page->used == TAP_METRICS_COMMS) {
			page->without++;
			return;
		}
		*room = &page->comms[page->used];
	}
	__atomic_store_n(&page->turn, page->turn + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	fold(page, *room);
	(*room)->life++;
	(*room)->key = 0;
	(*room)->nranks = (*room)->rank = -1;
	(*room)->use = TAP_METRICS_LIVE;
	if (*room == &page->comms[page->used])
		__atomic_store_n(&page->used, page->used + 1, __ATOMIC_RELEASE);
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

void tap_metrics_begin_shared(unsigned row, bool is_operation)
{
	struct tap_metrics_page *page = tap_metrics_page;

	if (!page)
		return;
	if (is_operation)
		__atomic_store_n(&page->is_operation[row], 1, __ATOMIC_RELAXED);
	tap_metrics_add_shared(&page->shared[row].begun, 1);
}

void tap_metrics_end_shared(unsigned row, bool has_failed, uint64_t bytes)
{
	struct tap_metrics_page *page = tap_metrics_page;

	if (!page)
		return;
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

/* ---- The layer ---- */

/*
 * The page is the parent's: the child makes its own at its next call.  If the fork was made
 * inside a call, the child returns from it and counts its end, so there must be memory.
 */
static void fork_child(void)
{
	if (tap_metrics_page)
		mmap(tap_metrics_page, sizeof(*tap_metrics_page), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	tap_metrics_page = NULL;
	__atomic_store_n(&state, UNDECIDED, __ATOMIC_RELEASE);
}

const struct tap_layer tap_layer_metrics = {
	.fork_child = fork_child,
};
