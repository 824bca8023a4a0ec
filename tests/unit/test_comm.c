/* SPDX-License-Identifier: MIT */
/*
 * Communicators that go while calls on them have not returned, and that others tell of
 * meanwhile.  Built with the thread sanitizer too (test_races.sh).
 */
#include "intercept/nccl/comm.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "intercept/cuda/capture.h"
#include "intercept/dl/libraries.h"
#include "intercept/layer.h"
#include "intercept/nccl/group.h"
#include "intercept/recorder.h"
#include "intercept/start.h"
#include "intercept/thread_state.h"
#include "intercept/threads.h"
#include "intercept/trace.h"
#include "unit/tap.h"

#define NR_OTHERS 200 /* more than rest */
#define TURNS 300

/* ---- What comm.c, group.c and threads.c need ---- */

static unsigned long seen;
static int32_t nr_ranks = 4;

/* All of it is read, as an event would. */
static void read_comm(const struct tap_comm_state *comm)
{
	const unsigned char *byte = (const unsigned char *) comm;
	unsigned long sum = 0;
	size_t i;

	for (i = 0; i < sizeof(*comm); i++)
		sum += byte[i];
	for (i = 0; comm->config && comm->config->commName[i]; i++)
		sum += (unsigned char) comm->config->commName[i];
	__atomic_fetch_add(&seen, sum, __ATOMIC_RELAXED);
}

static void read_thread(const struct tap_thread_state *thread)
{
	__atomic_fetch_add(&seen, thread->comm_id, __ATOMIC_RELAXED);
}

static const struct tap_events events = {
	.comm = read_comm,
	.statedump_comm = read_comm,
	.statedump_thread = read_thread,
};
const struct tap_events *tap_events_table = &events;

static ncclResult_t answer(ncclComm_t comm, int *ret_answer)
{
	(void) comm;
	*ret_answer = nr_ranks;
	return ncclSuccess;
}

void tap_library_functions(const void *address, const char *soname,
			   const char *const *names, void **ret_functions, unsigned nr)
{
	unsigned i;

	(void) address, (void) soname;
	for (i = 0; i < nr; i++)
		ret_functions[i] = strcmp(names[i], "ncclCommGetAsyncError")
					   ? (void *) answer
					   : NULL;
}

uintptr_t tap_library_base(const void *function)
{
	(void) function;
	return 4096;
}

uint32_t tap_library_traced(const void *address, const char *layer)
{
	(void) address, (void) layer;
	return 1;
}

bool tap_library_loaded(const void *address)
{
	(void) address;
	return true;
}

void tap_recorder_notify(const char *why)
{
	(void) why;
}

bool tap_recorder_send_page(int page_fd)
{
	(void) page_fd;
	return true;
}

bool tap_has_started(void)
{
	return true;
}

void tap_capture_find(void)
{
}

void tap_problem(const char *what, const char *detail, uint64_t count)
{
	printf("# %s: %s, %d\n", what, detail, (int) count);
}

extern const struct tap_layer tap_layer_comm, tap_layer_thread_state;
const struct tap_layer *const tap_layers[] = {&tap_layer_thread_state, &tap_layer_comm};
const unsigned tap_nr_layers = 2;

/* ---- Communicators ---- */

static uintptr_t last_handle;

static struct tap_comm *make(int32_t nranks)
{
	ncclComm_t handle = (ncclComm_t) (last_handle += 64);
	const struct tap_comm_made made = {
		.handle = handle,
		.origin = TAP_COMM_INIT,
		.hash = last_handle,
		.nranks = nranks,
		.rank = 0,
		.color = -1,
		.is_ready = true,
	};

	return tap_comm_made(&handle, &made);
}

static void end(struct tap_comm *c)
{
	const ncclComm_t handle = (ncclComm_t) c->about.comm;

	tap_comm_freed(tap_comm_freeing(handle), handle, true, TAP_COMM_ABORTED, 0);
}

static void make_and_end_others(int32_t nranks)
{
	int i;

	for (i = 0; i < NR_OTHERS; i++)
		end(make(nranks));
}

/* ---- A call that returns late ---- */

/* As a send does between finding its place and counting there. */
static bool test_memory_stays(void)
{
	struct tap_comm *c = make(4);
	struct tap_peer *send = tap_comm_peer(c, 1, false),
			*recv = tap_comm_peer(c, 3, true);
	bool is_passed = true;

	CHECK(send && recv);
	end(c);
	make_and_end_others(4);
	send->count++;
	recv->count++;
	make_and_end_others(1000);
	send->count++;
	recv->count++;
	return is_passed;
}

static pthread_barrier_t at_barrier;

static void *send_late(void *comm)
{
	tap_operation_begin("ncclSend",
			    (ncclComm_t) ((struct tap_comm *) comm)->about.comm);
	pthread_barrier_wait(&at_barrier);
	pthread_barrier_wait(&at_barrier);
	tap_p2p_end(1, false, 0);
	return NULL;
}

static bool test_late_send(void)
{
	struct tap_comm *c = make(4), *others[NR_OTHERS];
	bool is_passed = true;
	pthread_t sender;
	uint64_t sent = 0;
	int i;

	for (i = 0; i < NR_OTHERS; i++)
		others[i] = make(4);
	pthread_barrier_init(&at_barrier, NULL, 2);
	pthread_create(&sender, NULL, send_late, c);
	pthread_barrier_wait(&at_barrier);
	end(c);
	for (i = 0; i < NR_OTHERS; i++)
		end(others[i]);
	for (i = 0; i < NR_OTHERS; i++)
		others[i] = make(4);
	pthread_barrier_wait(&at_barrier);
	pthread_join(sender, NULL);
	for (i = 0; i < NR_OTHERS; i++) {
		CHECK(others[i] != c);
		sent += tap_comm_peer(others[i], 1, false)->count;
		end(others[i]);
	}
	CHECK(sent == 0);
	return is_passed;
}

static bool test_tables_are_used_again(void)
{
	static const int32_t sizes[] = {8, 3, 8, 100, 4, 1000, 2};
	bool is_passed = true;
	unsigned i;
	int n, peer;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (n = 0; n < NR_OTHERS; n++) {
			struct tap_comm *c = make(sizes[i]);

			for (peer = 0; peer < sizes[i]; peer++) {
				CHECK(!tap_comm_peer(c, peer, false)->count++);
				CHECK(!tap_comm_peer(c, peer, true)->count++);
			}
			CHECK(!tap_comm_peer(c, sizes[i], false));
			CHECK(!tap_comm_peer(c, -1, true));
			end(c);
		}
	return is_passed;
}

/* ---- Others that tell of communicators meanwhile ---- */

static int is_over;

/* A thread of LTTng's, and the one that keeps house. */
static void *emit(void *unused)
{
	struct tap_thread_seen open[4];
	struct tap_state_counts counts = {0};

	(void) unused;
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		TAP_LAYERS_CALL_BACK(write_statedump, &counts);
		tap_threads_look(0, open, 4);
		TAP_LAYERS_CALL_BACK(expire);
	}
	return NULL;
}

/* A program's watchdog. */
static void *watch(void *comm)
{
	struct tap_comm *c = comm;

	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		if (tap_comm_phase(c) == TAP_COMM_INITIALISING || tap_comm_has_pending(c))
			tap_comm_ready(c, 0);
		tap_comm_find_children(c, 0);
		tap_comm_set_error(c, 1, 0);
	}
	return NULL;
}

/* All that a thread of the program's does with one. */
static void use(struct tap_comm *parent)
{
	ncclComm_t handle = NULL, given = (ncclComm_t) (last_handle += 64);
	struct tap_comm_made split = {.origin = TAP_COMM_SPLIT,
				      .parent = (ncclComm_t) parent->about.comm,
				      .nranks = -1,
				      .rank = -1};
	struct tap_comm *c = make(-1), *child;

	tap_operation_begin("ncclAllReduce", (ncclComm_t) c->about.comm);
	tap_collective_end(0);
	tap_operation_begin("ncclSend", (ncclComm_t) c->about.comm);
	tap_p2p_end(1, false, 0);
	tap_comm_set_phase(c, TAP_COMM_FINALIZING, 1);
	tap_comm_set_error(c, 3, 1);
	tap_comm_set_grow_key(c, 5);
	end(c);
	tap_comm_was_split(parent);
	child = tap_comm_made(&handle, &split);
	__atomic_store_n(&handle, given, __ATOMIC_RELEASE);
	tap_comm_find_handle(child, true);
	tap_comm_ready(child, 2);
	end(child);
}

static bool test_reported_meanwhile(void)
{
	struct tap_comm *parent = make(-1);
	pthread_t teller, watchdog;
	bool is_passed = true;
	int i;

	pthread_create(&teller, NULL, emit, NULL);
	pthread_create(&watchdog, NULL, watch, parent);
	for (i = 0; i < TURNS; i++)
		use(parent);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	pthread_join(teller, NULL);
	pthread_join(watchdog, NULL);
	CHECK(parent->about.nranks == nr_ranks);
	CHECK(seen);
	end(parent);
	return is_passed;
}

/* LTTng comes while a communicator is being made, after all others were looked at. */
static bool test_made_late(void)
{
	struct tap_comm *c;
	bool is_passed = true;

	tap_events_table = NULL;
	c = make(2);
	CHECK(!c->about.library_id);
	tap_events_table = &events;
	tap_comm_goes_on(c, 1);
	CHECK(c->about.library_id == 1);
	end(c);
	return is_passed;
}

int main(void)
{
	report("what is counted late goes to memory that is there", test_memory_stays);
	report("and not to another communicator", test_late_send);
	report("what has room for the ranks is used again, empty",
	       test_tables_are_used_again);
	report("communicators are told of while they change", test_reported_meanwhile);
	report("one that is made as LTTng comes has its library", test_made_late);
	printf("1..%u\n", tap_number);
	return 0;
}
