/* SPDX-License-Identifier: MIT */
/* A list of all runs, and chains of those that wait for the same launch. */
#include "join/gpu/gpu_run.h"

#include <errno.h>
#include <stdlib.h>

#include "join/base/chain.h"

struct tap_gpu_run *tap_gpu_runs_add(struct tap_gpu_runs *runs, struct tap_span *span)
{
	struct tap_gpu_run *run = runs->unused;

	if (run)
		runs->unused = run->next;
	else
		run = malloc(sizeof(*run));
	if (!run)
		return NULL;
	*run = (struct tap_gpu_run){.span = span};
	tap_list_append(&runs->all, run, all);
	runs->count++;
	return run;
}

void tap_gpu_runs_drop(struct tap_gpu_runs *runs, struct tap_context *context,
		       struct tap_gpu_run *run)
{
	tap_list_remove(&runs->all, run, all);
	runs->count--;
	if (run->launch)
		tap_gpu_launch_put(run->launch);
	if (run->root)
		tap_gpu_launch_put(run->root);
	tap_pairs_put(&context->pairs, run->span);
	run->next = runs->unused;
	runs->unused = run;
}

int tap_gpu_runs_wait(struct tap_gpu_runs *runs, struct tap_gpu_run *run)
{
	if (tap_chain_append(&runs->waiting, run->span->process->number, run->number, run,
			     next))
		return -ENOMEM;
	if (!runs->waiting_count++ || run->span->begin_ns < runs->waiting_min_ns)
		runs->waiting_min_ns = run->span->begin_ns;
	return 0;
}

void tap_gpu_runs_wait_no_more(struct tap_gpu_runs *runs, struct tap_gpu_run *run)
{
	tap_chain_remove(&runs->waiting, run->span->process->number, run->number, run,
			 next);
	runs->waiting_count--;
}

struct tap_gpu_run *tap_gpu_runs_waiting(const struct tap_gpu_runs *runs,
					 const struct tap_process *process,
					 uint64_t number)
{
	return tap_table_find(&runs->waiting, process->number, number);
}

int64_t tap_gpu_runs_horizon(const struct tap_gpu_runs *runs)
{
	return runs->waiting_count ? runs->waiting_min_ns : INT64_MAX;
}

void tap_gpu_runs_free(struct tap_gpu_runs *runs, struct tap_context *context)
{
	struct tap_gpu_run *run;

	while (runs->all.first)
		tap_gpu_runs_drop(runs, context, runs->all.first);
	while ((run = runs->unused)) {
		runs->unused = run->next;
		free(run);
	}
	tap_table_free(&runs->waiting);
}
