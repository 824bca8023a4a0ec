/* SPDX-License-Identifier: MIT */
/*
 * Threads that poll one completion queue at once: each completion counts for its own
 * queue pair, and each poll that found nothing is told once.  With the thread sanitizer
 * nothing of it is read or written by two without order.
 */
#include "verbs/objects.h"

#include <pthread.h>

#include "common/thread.h"
#include "unit/tap.h"
#include "verbs/entry_point.h"

#define NR_THREADS 4
#define NR_POLLS 60000

struct tap_comm {
	int unused;
};
struct tap_comm tap_no_comm;

static int is_wanted;
const int *tap_verbs_on[TAP_VERBS_HOT_NR] = {
	[0 ... TAP_VERBS_HOT_NR - 1] = &is_wanted,
};

static uint64_t reported_empty, reported_found;
static struct tap_qp *qps[NR_THREADS];
static struct ibv_cq at;
static pthread_barrier_t barrier;
static __thread uint32_t qp_num, nr_polled;

void tap_verbs_write(enum tap_verbs_hot event, const void *record, size_t length)
{
	const struct tap_verbs_poll *poll = record;

	(void) event;
	(void) length;
	__atomic_fetch_add(&reported_empty, poll->empty_polls, __ATOMIC_RELAXED);
	__atomic_fetch_add(&reported_found, poll->num_wc, __ATOMIC_RELAXED);
}

/* The provider: each other poll finds one completion, of the queue pair of the thread. */
static int poll_cq(struct ibv_cq *cq, int nr, struct ibv_wc *wc)
{
	(void) cq;
	(void) nr;
	if (nr_polled++ % 2 == 0)
		return 0;
	*wc = (struct ibv_wc){.status = IBV_WC_SUCCESS,
			      .opcode = IBV_WC_RDMA_WRITE,
			      .qp_num = qp_num};
	return 1;
}

static void *poll_often(void *data)
{
	struct ibv_wc wc;
	int i;

	qp_num = 1 + *(const uint32_t *) data;
	nr_polled = 0;
	pthread_barrier_wait(&barrier);
	for (i = 0; i < NR_POLLS; i++)
		tap_on_poll_cq(&at, 1, &wc);
	return NULL;
}

static void make_queues(void)
{
	struct tap_cq *cq = tap_table_make(&tap_cqs);
	uint32_t i;

	cq->poll = poll_cq;
	cq->about.context_id = 1;
	tap_table_show(&tap_cqs, cq, &at);
	for (i = 0; i < NR_THREADS; i++) {
		qps[i] = tap_table_make(&tap_qps);
		qps[i]->generation = 1;
		qps[i]->about.qp_num = i + 1;
		qps[i]->about.context_id = 1;
		tap_qp_show(qps[i], (void *) (uintptr_t) (64 * (i + 1)));
	}
}

static bool polls_are_counted(void)
{
	uint32_t number[NR_THREADS], i;
	pthread_t threads[NR_THREADS];
	bool is_passed = true;

	reported_empty = reported_found = 0;
	for (i = 0; i < NR_THREADS; i++) {
		qps[i]->counts.send_completed = 0;
		number[i] = i;
		pthread_create(&threads[i], NULL, poll_often, &number[i]);
	}
	for (i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < NR_THREADS; i++)
		CHECK(qps[i]->counts.send_completed == NR_POLLS / 2);
	return is_passed;
}

static bool events_tell_all(void)
{
	bool is_passed = true;
	struct ibv_wc wc;

	is_wanted = 1;
	/* What was before them. */
	qp_num = 1;
	nr_polled = 1;
	tap_on_poll_cq(&at, 1, &wc);
	CHECK(polls_are_counted());
	/* What came after the last event is told by the next one. */
	nr_polled = 1;
	tap_on_poll_cq(&at, 1, &wc);
	CHECK(reported_empty == NR_THREADS * NR_POLLS / 2);
	CHECK(reported_found == NR_THREADS * NR_POLLS / 2 + 1);
	return is_passed;
}

int main(void)
{
	pthread_barrier_init(&barrier, NULL, NR_THREADS);
	make_queues();
	report("completions count for their own queue pairs", polls_are_counted);
	report("and events tell them and the polls without any", events_tell_all);
	printf("1..%u\n", tap_number);
	return 0;
}
