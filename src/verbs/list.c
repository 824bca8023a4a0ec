/* SPDX-License-Identifier: MIT */
/*
 * Memory for long lists.  A thread holds one of a few rooms only while it posts, so
 * nothing is to be freed when the thread ends.  A thread that is cancelled in the real
 * call, or whose signal handler jumps out of it, keeps its room until the thread is gone
 * and no other room is free.  A handler that posts in the middle of a post takes another
 * room.
 */
#include "verbs/list.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/thread.h"
#include "verbs/entry_point.h"

#define NR_ROOMS 64
#define LEAST_BYTES ((size_t) 64 << 10)
#define MOST_BYTES ((size_t) 16 << 20)

static struct tap_list_room rooms[NR_ROOMS];

static bool take(struct tap_list_room *room, pid_t before, pid_t self)
{
	return __atomic_load_n(&room->tid, __ATOMIC_RELAXED) == before &&
	       __atomic_compare_exchange_n(&room->tid, &before, self, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Tries first the room that this thread is likely to have had before. */
static struct tap_list_room *take_any(void)
{
	const pid_t self = (pid_t) syscall(SYS_gettid);
	const size_t first = (uintptr_t) &tap_thread >> 12;
	struct tap_list_room *room;
	pid_t before;
	size_t i;

	for (i = 0; i < NR_ROOMS; i++) {
		room = &rooms[(first + i) % NR_ROOMS];
		if (take(room, 0, self))
			return room;
	}
	for (i = 0; i < NR_ROOMS; i++) {
		before = __atomic_load_n(&rooms[i].tid, __ATOMIC_RELAXED);
		if (before && tap_thread_is_gone(before) && take(&rooms[i], before, self))
			return &rooms[i];
	}
	return NULL;
}

/* Sizes are powers of two, so that a room seldom grows. */
static bool make_larger(struct tap_list_room *room, size_t bytes)
{
	size_t size = LEAST_BYTES;
	void *memory;

	while (size < bytes)
		size *= 2;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return false;
	if (room->memory)
		munmap(room->memory, room->size);
	room->memory = memory;
	room->size = size;
	return true;
}

static struct tap_list_room *take_room(size_t bytes)
{
	struct tap_list_room *room = bytes <= MOST_BYTES ? take_any() : NULL;

	if (room && room->size < bytes && !make_larger(room, bytes)) {
		tap_list_give_back(room);
		return NULL;
	}
	return room;
}

void *tap_list_grow(struct tap_list *list, uint32_t nr, size_t other_bytes)
{
	const size_t marks = nr * sizeof(struct tap_mark);
	const int saved = errno;

	list->room = take_room(marks + other_bytes);
	errno = saved;
	if (!list->room)
		return NULL;
	list->marks = (void *) list->room->memory;
	list->nr_marks = nr;
	return list->room->memory + marks;
}

void tap_list_give_back(struct tap_list_room *room)
{
	__atomic_store_n(&room->tid, 0, __ATOMIC_RELEASE);
}

static void emit(const struct tap_list *list, const char *what, const char *why)
{
	const struct tap_verbs_events *events;
	struct tap_guard guard;

	events = tap_verbs_begin_emit(&guard);
	if (events)
		events->unobserved(list->context_id, what, why);
	tap_guard_clear(guard);
}

/*
 * The last mark in [begin, end) of the request at this address; `end` if there is none.
 */
static uint32_t find_last(const struct tap_list *list, const void *at, uint32_t begin,
			  uint32_t end)
{
	uint32_t i;

	for (i = end; i > begin; i--)
		if (list->marks[i - 1].at == at)
			return i - 1;
	return end;
}

/*
 * A list that leads back to itself has each request more than once, and a provider
 * accepts as many as the queue has room for: so the last match within the queue's depth
 * counts.
 */
bool tap_list_accepted(const struct tap_list *list, const void *bad,
		       uint32_t *ret_accepted)
{
	const uint32_t known = list->nr < list->nr_marks ? list->nr : list->nr_marks;
	const uint32_t room = list->depth < known ? list->depth + 1 : known;
	uint32_t found = find_last(list, bad, 0, room);

	if (found == room)
		found = find_last(list, bad, room, known);
	*ret_accepted = found;
	if (found < known)
		return true;
	*ret_accepted = list->nr;
	if (list->rest && bad == list->rest)
		return false;
	*ret_accepted = 0;
	if (known == list->nr)
		return true;
	*ret_accepted = known - 1;
	emit(list, "requests of a list that failed",
	     "no memory to know which were accepted");
	return false;
}

void tap_list_emit_forgotten(const struct tap_list *list)
{
	emit(list, "requests of a long list", "no memory to keep them");
}

void tap_list_emit_unread(const struct tap_list *list)
{
	emit(list, "requests of a list", "accepted although their queue has no room");
}
