/* SPDX-License-Identifier: MIT */
/* Two arrays by place. */
#include "join/nccl/op_times.h"

/* ---- Forgetting ---- */

/* Closes the gap at the beginning of an array once it is larger than the rest. */
#define CLOSE_GAP(vec, first) \
	do { \
		if ((first) > 64 && (first) > (vec)->count / 2) { \
			(vec)->count -= (first); \
			memmove((vec)->items, (vec)->items + (first), \
				(vec)->count * sizeof(*(vec)->items)); \
			(first) = 0; \
		} \
	} while (0)

void tap_op_times_forget_call(struct tap_op_times *times)
{
	if (times->first_call == times->calls.count)
		return;
	times->first_call++;
	CLOSE_GAP(&times->calls, times->first_call);
}

void tap_op_times_forget_kernel(struct tap_op_times *times)
{
	const struct tap_op_kernel *oldest;

	if (times->first_kernel == times->kernels.count)
		return;
	oldest = &times->kernels.items[times->first_kernel++];
	times->forgotten = oldest->last;
	times->forgotten_end_ns = oldest->end_ns;
	CLOSE_GAP(&times->kernels, times->first_kernel);
}

/* ---- Places ---- */

/* More changes of where places are than these are not remembered. */
#define SHIFTS_MAX 65536

/* Numbers from this one on have places that are this much later. */
static int shift(struct tap_op_times *times, uint64_t number, int64_t by)
{
	const size_t count = times->shifts.count;
	struct tap_op_shift *last = count ? &times->shifts.items[count - 1] : NULL;

	if (!last && number > 1 && tap_vec_add(&times->shifts, (struct tap_op_shift){0}))
		return -ENOMEM;
	if (last && last->number == number) {
		last->by += by;
		return 0;
	}
	/* Calls of several threads, of which one is captured: which is first, who knows.
	 */
	if (last && last->number > number) {
		times->is_irregular = true;
		return 0;
	}
	if (times->shifts.count >= SHIFTS_MAX) {
		times->shifts.count -= SHIFTS_MAX / 2;
		memmove(times->shifts.items, times->shifts.items + SHIFTS_MAX / 2,
			times->shifts.count * sizeof(*times->shifts.items));
	}
	by += last ? last->by : 0;
	return tap_vec_add(&times->shifts, ((struct tap_op_shift){number, by}));
}

uint64_t tap_op_times_place(const struct tap_op_times *times, uint64_t number)
{
	const size_t after =
		tap_vec_search(&times->shifts, 0, item, item->number > number);

	if (!times->shifts.count)
		return number;
	return after ? number + (uint64_t) times->shifts.items[after - 1].by : 0;
}

/* ---- Adding ---- */

static int add_call(struct tap_op_times *times, const struct tap_op_call *call)
{
	struct tap_op_call *items;
	size_t at;

	if (!times->lowest || call->place < times->lowest)
		times->lowest = call->place;
	if (call->place > times->last)
		times->last = call->place;
	times->has_messages |= call->is_messages;
	if (tap_vec_add(&times->calls, *call))
		return -ENOMEM;
	/* Calls of several threads may come in another order. */
	items = times->calls.items;
	for (at = times->calls.count - 1;
	     at > times->first_call && items[at - 1].place > call->place; at--)
		items[at] = items[at - 1];
	items[at] = *call;
	return 0;
}

int tap_op_times_call(struct tap_op_times *times, uint64_t number,
		      const struct tap_op_call *call)
{
	struct tap_op_call placed = *call;

	placed.place = tap_op_times_place(times, number);
	if (number > times->numbered)
		times->numbered = number;
	return placed.place ? add_call(times, &placed) : 0;
}

int tap_op_times_captured(struct tap_op_times *times, uint64_t number)
{
	if (number > times->numbered)
		times->numbered = number;
	return shift(times, number + 1, -1);
}

int tap_op_times_repeated(struct tap_op_times *times, const struct tap_op_call *call,
			  uint64_t *ret_place)
{
	struct tap_op_call placed = *call;

	placed.place = *ret_place = tap_op_times_place(times, times->numbered + 1);
	return shift(times, times->numbered + 1, 1) ? -ENOMEM : add_call(times, &placed);
}

static int64_t add(int64_t time_ns, int64_t error_ns)
{
	int64_t sum;

	return __builtin_add_overflow(time_ns, error_ns, &sum) ? INT64_MAX : sum;
}

static bool is_in_order(const struct tap_op_kernel *a, const struct tap_op_kernel *b,
			int64_t error_ns)
{
	return a->last < b->first && a->begin_ns <= add(b->begin_ns, 2 * error_ns) &&
	       a->end_ns <= add(b->end_ns, 2 * error_ns);
}

int tap_op_times_kernel(struct tap_op_times *times, const struct tap_op_kernel *kernel,
			int64_t error_ns)
{
	struct tap_op_kernel *items;
	size_t at;

	/* What is older than all that is known says nothing new. */
	if (times->is_irregular)
		return 0;
	if (kernel->first <= times->forgotten) {
		times->is_irregular |= kernel->end_ns > times->forgotten_end_ns;
		return 0;
	}
	if (tap_vec_add(&times->kernels, *kernel))
		return -ENOMEM;
	if (kernel->last > times->last)
		times->last = kernel->last;
	times->has_messages |= kernel->has_messages;
	items = times->kernels.items;
	for (at = times->kernels.count - 1;
	     at > times->first_kernel && items[at - 1].first > kernel->first; at--)
		items[at] = items[at - 1];
	items[at] = *kernel;
	if ((at > times->first_kernel &&
	     !is_in_order(&items[at - 1], kernel, error_ns)) ||
	    (at + 1 < times->kernels.count &&
	     !is_in_order(kernel, &items[at + 1], error_ns)))
		times->is_irregular = true;
	return 0;
}

/*
 * ---- Asking ----
 *
 * Wrong clocks may bring times of kernels out of order.  Then a search finds less, but
 * what it finds is as it says.
 */

/* The index of the first call, or kernel, that began after this time. */
static size_t first_call_after(const struct tap_op_times *times, int64_t time_ns)
{
	return tap_vec_search(&times->calls, times->first_call, item,
			      item->begin_ns > time_ns);
}

static size_t first_kernel_after(const struct tap_op_times *times, int64_t time_ns)
{
	return tap_vec_search(&times->kernels, times->first_kernel, item,
			      item->begin_ns > time_ns);
}

uint64_t tap_op_times_begun_after(const struct tap_op_times *times, int64_t time_ns,
				  int64_t error_ns)
{
	const size_t call = first_call_after(times, time_ns);
	const size_t kernel = first_kernel_after(times, add(time_ns, error_ns));
	uint64_t place = UINT64_MAX;

	if (call < times->calls.count)
		place = times->calls.items[call].place;
	if (kernel < times->kernels.count && times->kernels.items[kernel].first < place)
		place = times->kernels.items[kernel].first;
	return place;
}

uint64_t tap_op_times_called_after(const struct tap_op_times *times, int64_t time_ns)
{
	const size_t call = first_call_after(times, time_ns);

	return call < times->calls.count ? times->calls.items[call].place : UINT64_MAX;
}

uint64_t tap_op_times_ended_before(const struct tap_op_times *times, int64_t time_ns,
				   int64_t error_ns)
{
	const size_t after = tap_vec_search(&times->kernels, times->first_kernel, item,
					    add(item->end_ns, error_ns) >= time_ns);

	if (after > times->first_kernel)
		return times->kernels.items[after - 1].last;
	return times->forgotten && add(times->forgotten_end_ns, error_ns) < time_ns
		       ? times->forgotten
		       : 0;
}

bool tap_op_times_has_begun_after(const struct tap_op_times *times, int64_t time_ns,
				  int64_t error_ns)
{
	return first_kernel_after(times, add(time_ns, error_ns)) < times->kernels.count;
}

bool tap_op_times_has_ended_after(const struct tap_op_times *times, int64_t time_ns)
{
	return times->kernels.count > times->first_kernel &&
	       times->kernels.items[times->kernels.count - 1].end_ns >= time_ns;
}

/* The index of the first kernel, or call, with an operation from this place on. */
static size_t kernel_from(const struct tap_op_times *times, uint64_t place)
{
	return tap_vec_search_even(&times->kernels, times->first_kernel, last, place);
}

static size_t call_from(const struct tap_op_times *times, uint64_t place)
{
	return tap_vec_search_even(&times->calls, times->first_call, place, place);
}

uint64_t tap_op_times_next(const struct tap_op_times *times, uint64_t place)
{
	const size_t kernel = kernel_from(times, place), call = call_from(times, place);
	uint64_t next = UINT64_MAX;

	if (call < times->calls.count)
		next = times->calls.items[call].place;
	if (kernel < times->kernels.count && times->kernels.items[kernel].first < next)
		next = times->kernels.items[kernel].first;
	return next < place ? place : next;
}

const struct tap_op_kernel *tap_op_times_find_kernel(const struct tap_op_times *times,
						     uint64_t place)
{
	const size_t at = kernel_from(times, place);

	return at < times->kernels.count && times->kernels.items[at].first <= place
		       ? &times->kernels.items[at]
		       : NULL;
}

const struct tap_op_call *tap_op_times_find_call(const struct tap_op_times *times,
						 uint64_t place)
{
	const size_t at = call_from(times, place);

	return at < times->calls.count && times->calls.items[at].place == place
		       ? &times->calls.items[at]
		       : NULL;
}

void tap_op_times_empty(struct tap_op_times *times, uint64_t number)
{
	const uint64_t place = tap_op_times_place(times, number);
	const size_t at = call_from(times, place);

	if (place && at < times->calls.count && times->calls.items[at].place == place)
		times->calls.items[at].is_empty = true;
}

const struct tap_op_kernel *tap_op_times_find_one(const struct tap_op_times *times,
						  const struct tap_op_kernel *kernel)
{
	const struct tap_op_kernel *items = times->kernels.items;
	size_t at = tap_vec_search(&times->kernels, times->first_kernel, item,
				   item->begin_ns >= kernel->begin_ns);

	for (; at < times->kernels.count && items[at].begin_ns == kernel->begin_ns; at++)
		if (tap_op_kernels_are_one(&items[at], kernel))
			return &items[at];
	return NULL;
}

void tap_op_times_free(struct tap_op_times *times)
{
	tap_vec_free(&times->kernels);
	tap_vec_free(&times->calls);
	tap_vec_free(&times->shifts);
}
