/* SPDX-License-Identifier: MIT */
/* A ring of lines, some of which may still grow; those behind them wait. */
#include "join/views/fold.h"

#include "join/model/pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lines that wait: a few screens, since somebody may wait for the first one. */
#define HELD_MAX 1000

/* A watchdog polls a few communicators in turn. */
#define POLLS_MAX 8

struct tap_fold_item {
	struct tap_fold_line line;
	bool is_open; /* it may grow */
};

/* The open items of a thread. */
struct thread {
	uint64_t items[POLLS_MAX];
	size_t count;
};

int tap_fold_init(struct tap_fold *fold, bool is_off, tap_fold_take take, void *data)
{
	memset(fold, 0, sizeof(*fold));
	fold->ring = calloc(HELD_MAX, sizeof(*fold->ring));
	if (!fold->ring)
		return -ENOMEM;
	fold->is_off = is_off;
	fold->take = take;
	fold->data = data;
	return 0;
}

static struct tap_fold_item *item_of(const struct tap_fold *fold, uint64_t number)
{
	return &fold->ring[number % HELD_MAX];
}

static bool is_foldable(const struct tap_fold *fold, const struct tap_span *span)
{
	return !fold->is_off && span->tid >= 0 && span->state == TAP_SPAN_COMPLETE &&
	       tap_name_is_poll(span->name);
}

/* Whether the lines of the two would differ in their times alone. */
static bool are_alike(const struct tap_span *a, const struct tap_span *b)
{
	return a->name == b->name && a->depth == b->depth && a->is_inner == b->is_inner &&
	       a->is_from_nvtx == b->is_from_nvtx && a->is_late == b->is_late &&
	       a->member == b->member && a->caller_number == b->caller_number &&
	       a->caller_offset == b->caller_offset && a->stack_id == b->stack_id &&
	       tap_fields_are_equal(&a->entry, &b->entry) &&
	       tap_fields_are_equal(&a->exit, &b->exit);
}

static struct thread *thread_of(const struct tap_fold *fold, const struct tap_span *span)
{
	return tap_table_find(&fold->threads, span->process->number,
			      (uint64_t) span->tid);
}

/* The thread does something else. */
static void close_thread(struct tap_fold *fold, const struct tap_span *span)
{
	struct thread *thread = tap_table_remove(
		&fold->threads, span->process->number, (uint64_t) span->tid);
	size_t i;

	for (i = 0; thread && i < thread->count; i++)
		item_of(fold, thread->items[i])->is_open = false;
	free(thread);
}

/* Its line is written: the item can no longer grow. */
static void close_item(struct tap_fold *fold, uint64_t number)
{
	struct tap_fold_item *item = item_of(fold, number);
	struct thread *thread = item->is_open ? thread_of(fold, item->line.span) : NULL;
	size_t i, kept = 0;

	item->is_open = false;
	if (!thread)
		return;
	for (i = 0; i < thread->count; i++)
		if (thread->items[i] != number)
			thread->items[kept++] = thread->items[i];
	thread->count = kept;
	if (!kept)
		close_thread(fold, item->line.span);
}

/* Gives the lines that no open one precedes, and others until at most `most` are held. */
static int flush(struct tap_fold *fold, uint64_t most)
{
	struct tap_fold_item *item;
	int ret = 0;

	while (!ret && fold->first < fold->next) {
		item = item_of(fold, fold->first);
		if (item->is_open && fold->next - fold->first <= most)
			break;
		close_item(fold, fold->first++);
		ret = fold->take(fold->data, &item->line);
		tap_span_put(item->line.span);
	}
	return ret;
}

/* Adds the span to an open line of its thread.  Returns whether there is one like it. */
static bool extend(struct tap_fold *fold, const struct thread *thread,
		   const struct tap_span *span)
{
	struct tap_fold_line *line;
	size_t i;

	for (i = 0; i < thread->count; i++) {
		line = &item_of(fold, thread->items[i])->line;
		if (!are_alike(line->span, span))
			continue;
		line->count++;
		if (span->end_ns > line->end_ns)
			line->end_ns = span->end_ns;
		return true;
	}
	return false;
}

/* Opens the item that comes next, of a thread that has others open, or not. */
static int open_item(struct tap_fold *fold, const struct tap_span *span)
{
	struct thread *thread = thread_of(fold, span);

	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread || tap_table_set(&fold->threads, span->process->number,
					     (uint64_t) span->tid, thread)) {
			free(thread);
			return -ENOMEM;
		}
	}
	thread->items[thread->count++] = fold->next;
	return 0;
}

int tap_fold_add(struct tap_fold *fold, struct tap_span *span)
{
	const bool is_foldable_now = is_foldable(fold, span);
	const struct thread *thread = span->tid < 0 ? NULL : thread_of(fold, span);
	int ret;

	if (thread && is_foldable_now && extend(fold, thread, span))
		return 0;
	if (thread && (!is_foldable_now || thread->count == POLLS_MAX))
		close_thread(fold, span);
	ret = flush(fold, HELD_MAX - 1);
	if (!ret && is_foldable_now)
		ret = open_item(fold, span);
	if (ret)
		return ret;
	*item_of(fold, fold->next++) = (struct tap_fold_item){
		.line = {.span = tap_span_get(span), .count = 1, .end_ns = span->end_ns},
		.is_open = is_foldable_now};
	return flush(fold, HELD_MAX);
}

int tap_fold_finish(struct tap_fold *fold)
{
	return flush(fold, 0);
}

void tap_fold_free(struct tap_fold *fold)
{
	for (; fold->first < fold->next; fold->first++) {
		close_item(fold, fold->first);
		tap_span_put(item_of(fold, fold->first)->line.span);
	}
	tap_table_free(&fold->threads);
	free(fold->ring);
	memset(fold, 0, sizeof(*fold));
}
