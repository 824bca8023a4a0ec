/* SPDX-License-Identifier: MIT */
/*
 * Communicators by handle, in mapped memory that only grows.
 */
#include "intercept/nccl/comm.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "calls/kinds.h"
#include "common/lock.h"
#include "common/safe_read.h"
#include "intercept/cuda/capture.h"
#include "intercept/dl/libraries.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/start.h"
#include "intercept/threads.h"
#include "intercept/trace.h"

#define NR_BUCKETS 1024
/*
 * A call on a communicator may return, and count, after another thread has aborted that
 * communicator.  So its memory is reused only after this many others were freed too, and
 * while no thread is in a call on it.
 */
#define NR_RESTING 64
#define CHUNK_BYTES (1 << 18)

static const struct tap_nccl_config no_config = {
	.blocking = INT_MIN,
	.cgaClusterSize = INT_MIN,
	.minCTAs = INT_MIN,
	.maxCTAs = INT_MIN,
	.splitShare = INT_MIN,
	.trafficClass = INT_MIN,
	.collnetEnable = INT_MIN,
	.CTAPolicy = INT_MIN,
	.shrinkShare = INT_MIN,
	.nvlsCTAs = INT_MIN,
	.nChannelsPerNetPeer = INT_MIN,
	.nvlinkCentricSched = INT_MIN,
	.graphUsageMode = INT_MIN,
	.numRmaCtx = INT_MIN,
	.maxP2pPeers = INT_MIN,
	.graphStreamOrdering = INT_MIN,
	.launchOrderImplicit = INT_MIN,
	.numRmaSig = INT_MIN,
	.rmaEagerInit = INT_MIN,
	.hostCftMode = INT_MIN,
	.nvlsHostMode = INT_MIN,
};

/* No program has this handle, so a lookup finds neither it nor a freed communicator. */
#define NO_HANDLE ((ncclComm_t) (void *) &tap_no_comm)
/* More ranks than any job has: a larger number is not a number of ranks. */
#define NRANKS_MAX (1 << 20)

struct tap_comm tap_no_comm = {.handle = NO_HANDLE};

/*
 * Guards all below, and the fields of a communicator that the hot path does not write: a
 * thread of LTTng reads them too, for state dumps.  The holder maps memory, writes events
 * and looks at threads, none of which calls back.  Readers of a bucket's list do not take
 * the lock: they check the handle of what they find, and search again with the lock if
 * they find nothing.
 */
static struct tap_lock lock;
static struct tap_comm *buckets[NR_BUCKETS];
static struct tap_comm *all; /* existing ones, newest first, through next */
static struct tap_comm *unused, **last_unused = &unused; /* through next, oldest first */
static unsigned nr_unused;
static char *chunk;
static size_t chunk_left;
static uint32_t last_id;

static bool take_lock(void)
{
	const bool is_taken = tap_lock_take(&lock);

	if (!is_taken)
		tap_problem("not recorded", "what became of a communicator", 1);
	return is_taken;
}

/*
 * How often a rank has made a communicator from one identifier.  With NCCL_COMM_ID all
 * communicators of a job have the same identifier, and a list of ranks may be excluded
 * twice.  New entries overwrite old ones: other identifiers are random and used once.
 */
static struct use {
	uint64_t hash;
	int rank;
	uint32_t count;
} uses[256];
static unsigned next_use;

/* ---- Keys ---- */

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit changes every bit. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t x = a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2));

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t not_zero(uint64_t key)
{
	return key ? key : 1;
}

static uint32_t count_use(uint64_t hash, int rank)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(uses); i++)
		if (uses[i].count && uses[i].hash == hash && uses[i].rank == rank)
			return ++uses[i].count;
	uses[next_use] = (struct use){.hash = hash, .rank = rank, .count = 1};
	next_use = (next_use + 1) % ARRAY_SIZE(uses);
	return 1;
}

/*
 * All ranks compute the same key from what all of them know: the identifier and the
 * number of its earlier uses, or the parent and the ordinal of the child.  The key of an
 * identifier's first use is NCCL's own hash, as in NCCL's log and in profilers.
 */
static void make_key(struct tap_comm *c, struct tap_comm *parent,
		     const struct tap_comm_made *made)
{
	struct tap_comm_state *about = &c->about;
	const uint64_t family = mix(parent ? parent->about.comm_key : 0, made->origin);
	uint64_t hash;

	switch (made->origin) {
	case TAP_COMM_INIT:
	case TAP_COMM_INIT_ALL:
		if (!made->hash)
			return;
		about->ordinal = count_use(made->hash, made->rank);
		about->comm_key =
			not_zero(about->ordinal == 1 ? made->hash
						     : mix(made->hash, about->ordinal));
		return;
	case TAP_COMM_GROW:
		/* A new rank knows only the identifier that another rank obtained. */
		if (!parent) {
			about->comm_key = not_zero(made->hash);
			return;
		}
		about->ordinal = ++parent->nr_grows;
		about->alias_key = parent->grow_key;
		parent->grow_key = 0;
		break;
	case TAP_COMM_SPLIT:
		if (!parent)
			return;
		about->ordinal = parent->nr_splits;
		break;
	case TAP_COMM_SHRINK:
		if (!parent)
			return;
		/* Excluded ranks do not call, so uses of each list are counted. */
		hash = mix(family, made->hash);
		about->ordinal = count_use(hash, (int) parent->id);
		if (parent->about.comm_key)
			about->comm_key = not_zero(mix(hash, about->ordinal));
		return;
	case TAP_COMM_UNKNOWN:
		return;
	}
	if (parent->about.comm_key)
		about->comm_key = not_zero(
			mix(mix(family, about->ordinal), (uint32_t) made->color));
}

/* ---- Queries to the library ---- */

static const struct tap_comm_questions no_questions;

static struct tap_comm_questions find_questions(const void *library)
{
	static const char *const names[] = {"ncclCommCount", "ncclCommUserRank",
					    "ncclCommCuDevice", "ncclCommGetAsyncError"};
	void *functions[ARRAY_SIZE(names)] = {NULL};

	tap_library_functions(library, NULL, names, functions, ARRAY_SIZE(names));
	return (struct tap_comm_questions){
		.count = (ncclResult_t(*)(ncclComm_t, int *)) functions[0],
		.user_rank = (ncclResult_t(*)(ncclComm_t, int *)) functions[1],
		.cu_device = (ncclResult_t(*)(ncclComm_t, int *)) functions[2],
		.state = (ncclResult_t(*)(ncclComm_t, ncclResult_t *)) functions[3],
	};
}

/* A query of a communicator that is not ready would leave an error in NCCL. */
static bool is_ready(const struct tap_comm_questions *questions, ncclComm_t handle)
{
	ncclResult_t reported = ncclSuccess;

	return !questions->state || (questions->state(handle, &reported) == ncclSuccess &&
				     reported == ncclSuccess);
}

static void ask(ncclResult_t (*question)(ncclComm_t, int *), ncclComm_t handle,
		int32_t *ret_answer)
{
	int answer;

	if (*ret_answer < 0 && question && question(handle, &answer) == ncclSuccess)
		*ret_answer = answer;
}

/* ---- One communicator ---- */

static void copy_string(char *ret_copy, size_t size, const char *string)
{
	snprintf(ret_copy, size, "%s", string ? string : "");
}

/* The program's structure has only the fields of the NCCL release it was compiled for. */
static void copy_config(struct tap_comm *c, const void *config)
{
	struct tap_config_copy copy;
	const struct {
		const void *config;
	} program = {tap_read_config(&copy, config)}, *a = &program;
	struct tap_nccl_config *to = &c->config;

	*to = no_config;
	to->head = (struct tap_nccl_head){sizeof(*to), TAP_NCCL_MAGIC, UINT_MAX};
#define COPY(field, since) \
	to->field = TAP_FIELD_OF(tap_nccl_config, config, field, since, INT_MIN)
	COPY(blocking, 0);
	COPY(cgaClusterSize, 0);
	COPY(minCTAs, 0);
	COPY(maxCTAs, 0);
	COPY(splitShare, 0);
	COPY(trafficClass, 22600);
	COPY(collnetEnable, 22700);
	COPY(CTAPolicy, 22700);
	COPY(shrinkShare, 22700);
	COPY(nvlsCTAs, 22700);
	COPY(nChannelsPerNetPeer, 22800);
	COPY(nvlinkCentricSched, 22800);
	COPY(graphUsageMode, 22900);
	COPY(numRmaCtx, 22900);
	COPY(maxP2pPeers, 23000);
	COPY(graphStreamOrdering, 23005);
	COPY(launchOrderImplicit, 23100);
	COPY(numRmaSig, 23100);
	COPY(rmaEagerInit, 23100);
	COPY(hostCftMode, 23100);
	COPY(nvlsHostMode, 23200);
#undef COPY
	copy_string(c->net_name, sizeof(c->net_name),
		    TAP_FIELD_OF(tap_nccl_config, config, netName, 0, NULL));
	copy_string(c->comm_name, sizeof(c->comm_name),
		    TAP_FIELD_OF(tap_nccl_config, config, commName, 22700, NULL));
	to->netName = c->net_name;
	to->commName = c->comm_name;
}

static struct tap_peers *map_peers(int32_t room)
{
	const size_t size =
		sizeof(struct tap_peers) + 2 * (size_t) room * sizeof(struct tap_peer);
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* The kernel replaces the pages by zeros unless the program has locked its memory. */
static void clear_peers(struct tap_peers *peers, int32_t room)
{
	const size_t size = sizeof(*peers) + 2 * (size_t) room * sizeof(struct tap_peer);

	if (madvise(peers, size, MADV_DONTNEED))
		memset(peers, 0, size);
}

/*
 * Mapped, so that unused peers take no memory; and never unmapped, since a thread may be
 * about to count there.  A mapping too small for the next use is abandoned for one of at
 * least twice the size, so all abandoned memory is no more than the memory in use.
 */
static void make_peers(struct tap_comm *c)
{
	const int32_t nr = c->about.nranks;
	int32_t room;

	if (c->peers || nr < 1 || nr > NRANKS_MAX)
		return;
	if (c->mapped_for < nr) {
		room = 2 * c->mapped_for > nr ? 2 * c->mapped_for : nr;
		c->mapped = map_peers(room);
		c->mapped_for = c->mapped ? room : 0;
	} else {
		clear_peers(c->mapped, c->mapped_for);
	}
	if (!c->mapped)
		return;
	__atomic_store_n(&c->mapped->nr, nr, __ATOMIC_RELAXED);
	__atomic_store_n(&c->peers, c->mapped, __ATOMIC_RELEASE);
}

/* Under the lock, as are the next functions. */
static const struct tap_comm_state *state_of(struct tap_comm *c)
{
	c->about.collectives = __atomic_load_n(&c->collectives, __ATOMIC_RELAXED);
	return &c->about;
}

static void describe_counts(struct tap_comm *c)
{
	if (c->counts)
		tap_metrics_describe(c->counts, c->about.comm_key, c->about.nranks,
				     c->about.rank, c->about.phase < TAP_COMM_DESTROYED);
}

/* One that was made before LTTng was loaded lacks the number of its library. */
static void number_library(struct tap_comm *c)
{
	if (!c->about.library_id && c->copy)
		c->about.library_id = tap_library_traced((const void *) c->copy, "nccl");
}

static void emit(struct tap_comm *c, uint64_t call_id)
{
	describe_counts(c);
	c->about.call_id = call_id;
	if (tap_has_events()) {
		number_library(c);
		tap_events_table->comm(state_of(c));
	}
	c->about.call_id = 0;
}

static void set_phase(struct tap_comm *c, enum tap_comm_phase phase)
{
	__atomic_store_n(&c->about.phase, phase, __ATOMIC_RELAXED);
}

static unsigned bucket_of(ncclComm_t handle)
{
	return (unsigned) (mix((uintptr_t) handle, 0) % NR_BUCKETS);
}

static struct tap_comm *search(ncclComm_t handle)
{
	struct tap_comm *c =
		__atomic_load_n(&buckets[bucket_of(handle)], __ATOMIC_ACQUIRE);

	while (c && __atomic_load_n(&c->handle, __ATOMIC_RELAXED) != handle)
		c = __atomic_load_n(&c->hash_next, __ATOMIC_ACQUIRE);
	return c;
}

/*
 * Of the communicators freed long enough ago, takes the first without a thread in a call
 * on it.
 */
static struct tap_comm *take_unused(void)
{
	struct tap_comm **at = &unused, *c;

	if (nr_unused <= NR_RESTING)
		return NULL;
	while (*at && tap_threads_are_on(*at))
		at = &(*at)->next;
	c = *at;
	if (!c)
		return NULL;
	*at = c->next;
	if (last_unused == &c->next)
		last_unused = at;
	nr_unused--;
	__atomic_store_n(&c->peers, NULL, __ATOMIC_RELEASE);
	return c;
}

static struct tap_comm *take_new(void)
{
	struct tap_comm *c;

	if (chunk_left < sizeof(*c)) {
		void *memory = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return NULL;
		chunk = memory;
		chunk_left = CHUNK_BYTES;
	}
	c = (struct tap_comm *) (void *) chunk;
	chunk += sizeof(*c);
	chunk_left -= sizeof(*c);
	return c;
}

/* Other threads may read c meanwhile, through a list that they entered earlier. */
static void hash_insert(struct tap_comm *c, ncclComm_t handle)
{
	struct tap_comm **bucket = &buckets[bucket_of(handle)];

	__atomic_store_n(&c->hash_next, *bucket, __ATOMIC_RELAXED);
	__atomic_store_n(&c->handle, handle, __ATOMIC_RELEASE);
	__atomic_store_n(bucket, c, __ATOMIC_RELEASE);
}

static void hash_remove(struct tap_comm *c)
{
	struct tap_comm **at = &buckets[bucket_of(c->handle)];

	while (*at && *at != c)
		at = &(*at)->hash_next;
	if (*at)
		__atomic_store_n(at, c->hash_next, __ATOMIC_RELEASE);
	__atomic_store_n(&c->handle, NO_HANDLE, __ATOMIC_RELEASE);
}

static void drop(struct tap_comm *c)
{
	struct tap_comm **at = &all;

	while (*at && *at != c)
		at = &(*at)->next;
	if (*at)
		*at = c->next;
	c->group_id = 0;
	c->next = NULL;
	*last_unused = c;
	last_unused = &c->next;
	nr_unused++;
}

/* Under the lock, as is the next function. */
static void evict(struct tap_comm *c)
{
	hash_remove(c);
	set_phase(c, TAP_COMM_GONE);
	emit(c, 0);
	drop(c);
}

/* Adds a communicator without a handle. */
static struct tap_comm *add(void)
{
	struct tap_comm *c = take_unused();

	if (!c)
		c = take_new();
	if (!c)
		return NULL;
	__atomic_store_n(&c->handle, NO_HANDLE, __ATOMIC_RELAXED);
	__atomic_store_n(&c->id, ++last_id, __ATOMIC_RELAXED);
	__atomic_store_n(&c->collectives, 0, __ATOMIC_RELAXED);
	c->group_id = 0;
	c->not_counted = 0;
	c->nr_splits = c->nr_grows = c->nr_pending = 0;
	c->newcomm = NULL;
	c->copy = 0;
	c->grow_key = 0;
	c->questions = no_questions;
	c->about = (struct tap_comm_state){
		.comm_id = last_id,
		.color = -1,
		.nranks = -1,
		.rank = -1,
		.device = -1,
		.config = &c->config,
	};
	copy_config(c, NULL);
	tap_metrics_give_room(&c->counts);
	c->next = all;
	all = c;
	return c;
}

static struct tap_comm *search_again(ncclComm_t handle)
{
	struct tap_comm *c;

	if (!tap_lock_take(&lock))
		return NULL;
	c = search(handle);
	if (!c) {
		c = add();
		if (c) {
			set_phase(c, TAP_COMM_READY);
			c->about.comm = (uintptr_t) handle;
			describe_counts(c);
			hash_insert(c, handle);
		}
	}
	tap_lock_drop(&lock);
	return c;
}

struct tap_comm *tap_comm_known(ncclComm_t handle)
{
	struct tap_comm *c = handle ? search(handle) : NULL;

	return c ? c : &tap_no_comm;
}

struct tap_comm *tap_comm_of(ncclComm_t handle)
{
	struct tap_guard guard;
	struct tap_comm *c;

	if (!handle)
		return &tap_no_comm;
	c = search(handle);
	if (likely(c))
		return c;
	guard = tap_guard_set();
	c = search_again(handle);
	tap_guard_clear(guard);
	return c ? c : &tap_no_comm;
}

/* Under the lock. */
static void set_handle(struct tap_comm *c, ncclComm_t handle)
{
	struct tap_comm *before = search(handle);

	if (before)
		evict(before);
	c->about.comm = (uintptr_t) handle;
	hash_insert(c, handle);
}

/* Under the lock. */
static struct tap_comm *make(const struct tap_comm_made *made, struct tap_comm *parent,
			     uint32_t library_id, struct tap_comm_questions questions)
{
	struct tap_comm *c = add();

	if (!c)
		return NULL;
	c->copy = tap_library_base(made->library);
	c->questions = questions;
	c->about.library_id = library_id;
	c->about.origin = made->origin;
	c->about.nranks = made->nranks;
	c->about.rank = made->rank;
	c->about.color = made->color;
	c->about.split_key = made->split_key;
	c->about.parent_comm_id = parent ? parent->id : 0;
	copy_config(c, made->config);
	make_key(c, parent, made);
	make_peers(c);
	return c;
}

static void add_pending(struct tap_comm *parent, int32_t more)
{
	const uint32_t nr = parent->nr_pending + (uint32_t) more;

	__atomic_store_n(&parent->nr_pending, nr, __ATOMIC_RELAXED);
}

struct tap_comm *tap_comm_made(ncclComm_t *newcomm, const struct tap_comm_made *made)
{
	struct tap_comm *c, *parent = made->parent ? tap_comm_of(made->parent) : NULL;
	const struct tap_comm_questions questions = find_questions(made->library);
	const uint32_t library_id =
		tap_has_events() ? tap_library_traced(made->library, "nccl") : 0;
	bool is_ready_now;

	tap_capture_find();
	if (!tap_lock_take(&lock)) {
		tap_problem("not recorded", "a communicator: too many made at once", 1);
		return &tap_no_comm;
	}
	c = make(made, parent, library_id, questions);
	if (c && made->handle) {
		set_handle(c, made->handle);
	} else if (c && parent) {
		c->newcomm = newcomm;
		add_pending(parent, 1);
	}
	is_ready_now = c && made->is_ready && !c->newcomm;
	if (c && !is_ready_now)
		emit(c, made->call_id);
	tap_lock_drop(&lock);
	if (!c) {
		tap_problem("not recorded", "a communicator: out of memory", 1);
		return &tap_no_comm;
	}
	if (is_ready_now)
		tap_comm_ready(c, made->call_id);
	return c;
}

/*
 * Under the lock: whether NCCL has written the handle.  If it never will, *newcomm is not
 * read again: the program may have reused that memory.
 */
static bool take_handle(struct tap_comm *c, struct tap_comm *parent, bool is_last)
{
	const ncclComm_t handle = tap_safe_pointer((void **) c->newcomm);

	if (!handle && !is_last)
		return false;
	if (parent)
		add_pending(parent, -1);
	c->newcomm = NULL;
	if (handle)
		set_handle(c, handle);
	else
		evict(c);
	return handle;
}

bool tap_comm_find_handle(struct tap_comm *c, bool is_last)
{
	struct tap_comm *parent;
	bool is_there = true;

	if (!take_lock())
		return false;
	if (c->newcomm) {
		for (parent = all; parent; parent = parent->next)
			if (parent->id == c->about.parent_comm_id)
				break;
		is_there = take_handle(c, parent, is_last);
	}
	tap_lock_drop(&lock);
	return is_there;
}

/*
 * Under the lock: the next of the parent's children with a handle.  A child made in a
 * group that is still open cannot have one: the parent's state is older than the group.
 */
static struct tap_comm *next_child(struct tap_comm *parent)
{
	struct tap_comm *c, *next;

	for (c = all; c; c = next) {
		next = c->next;
		if (c->newcomm && c->about.parent_comm_id == parent->id && !c->group_id &&
		    take_handle(c, parent, true))
			return c;
	}
	return NULL;
}

void tap_comm_find_children(struct tap_comm *parent, uint64_t call_id)
{
	struct tap_comm *c = NULL;

	while (tap_comm_has_pending(parent)) {
		if (!tap_lock_take(&lock))
			return;
		c = next_child(parent);
		tap_lock_drop(&lock);
		if (!c)
			return;
		tap_comm_ready(c, call_id);
	}
}

void tap_comm_set_grow_key(struct tap_comm *c, uint64_t hash)
{
	if (c == &tap_no_comm || !take_lock())
		return;
	c->grow_key = hash;
	tap_lock_drop(&lock);
}

void tap_comm_was_split(struct tap_comm *parent)
{
	if (!take_lock())
		return;
	parent->nr_splits++;
	tap_lock_drop(&lock);
}

void tap_comm_goes_on(struct tap_comm *c, uint64_t call_id)
{
	if (!call_id || !take_lock())
		return;
	emit(c, call_id);
	tap_lock_drop(&lock);
}

/* Queries what is not known yet, without the lock. */
void tap_comm_ready(struct tap_comm *c, uint64_t call_id)
{
	struct tap_comm_questions questions;
	int32_t nranks, rank, device;
	ncclComm_t handle;
	uint32_t id;
	bool is_done;

	if (c == &tap_no_comm || !take_lock())
		return;
	id = c->id;
	handle = c->handle;
	questions = c->questions;
	nranks = c->about.nranks;
	rank = c->about.rank;
	device = c->about.device;
	tap_lock_drop(&lock);
	is_done = is_ready(&questions, handle);
	if (is_done) {
		ask(questions.count, handle, &nranks);
		ask(questions.user_rank, handle, &rank);
		ask(questions.cu_device, handle, &device);
	}
	if (!take_lock())
		return;
	if (c->id == id) {
		c->about.nranks = nranks;
		c->about.rank = rank;
		c->about.device = device;
		make_peers(c);
		if (is_done && c->about.phase == TAP_COMM_INITIALISING)
			set_phase(c, TAP_COMM_READY);
		emit(c, call_id);
	}
	tap_lock_drop(&lock);
}

void tap_comm_set_phase(struct tap_comm *c, enum tap_comm_phase phase, uint64_t call_id)
{
	if (c == &tap_no_comm || tap_comm_phase(c) == phase || !take_lock())
		return;
	set_phase(c, phase);
	emit(c, call_id);
	tap_lock_drop(&lock);
}

bool tap_comm_set_error(struct tap_comm *c, int error, uint64_t call_id)
{
	bool is_first;

	if (c == &tap_no_comm || !take_lock())
		return false;
	is_first = !c->about.async_error;
	if (is_first) {
		c->about.async_error = error;
		emit(c, call_id);
	}
	tap_lock_drop(&lock);
	return is_first;
}

struct tap_comm *tap_comm_freeing(ncclComm_t handle)
{
	struct tap_comm *c = tap_comm_of(handle);

	if (c == &tap_no_comm || !tap_lock_take(&lock))
		return c;
	if (c->handle == handle)
		hash_remove(c);
	tap_lock_drop(&lock);
	return c;
}

/* Under the lock: drops children whose handles can no longer be found. */
static void drop_pending(struct tap_comm *parent)
{
	struct tap_comm *c, *next;

	for (c = all; c && parent->nr_pending; c = next) {
		next = c->next;
		if (c->newcomm && c->about.parent_comm_id == parent->id) {
			add_pending(parent, -1);
			c->newcomm = NULL;
			evict(c);
		}
	}
}

void tap_comm_freed(struct tap_comm *c, ncclComm_t handle, bool is_freed,
		    enum tap_comm_phase phase, uint64_t call_id)
{
	if (c == &tap_no_comm || !take_lock())
		return;
	if (is_freed) {
		set_phase(c, phase);
		emit(c, call_id);
		drop_pending(c);
		drop(c);
	} else {
		hash_insert(c, handle);
	}
	tap_lock_drop(&lock);
}

/* ---- The layer ---- */

static void expire(void)
{
	struct tap_comm *c;

	if (!tap_lock_take(&lock))
		return;
	for (c = all; c; c = c->next)
		if (!c->questions.count ||
		    !tap_library_loaded((const void *) c->questions.count))
			c->questions = no_questions;
	tap_lock_drop(&lock);
}

static void reconsider(void)
{
	struct tap_comm *c;

	if (!tap_has_started() || !take_lock())
		return;
	for (c = all; c; c = c->next)
		number_library(c);
	tap_lock_drop(&lock);
}

static void write_statedump(struct tap_state_counts *counts)
{
	struct tap_comm *c;

	if (!tap_lock_take(&lock)) {
		tap_problem("not recorded", "the state of communicators", 1);
		return;
	}
	for (c = all; c; c = c->next, counts->comms++)
		tap_events_table->statedump_comm(state_of(c));
	tap_lock_drop(&lock);
}

/* Communicators do not work in the child, so it drops all. */
static void fork_child(void)
{
	struct tap_comm *c;

	while (all) {
		c = all;
		if (c->handle != NO_HANDLE)
			hash_remove(c);
		drop(c);
	}
	/* Their counters were in the parent's page. */
	for (c = unused; c; c = c->next)
		c->counts = NULL;
}

const struct tap_layer tap_layer_comm = {
	.write_statedump = write_statedump,
	.reconsider = reconsider,
	.expire = expire,
	.lock = &lock,
	.is_locked_by_fork = true,
	.fork_child = fork_child,
};
