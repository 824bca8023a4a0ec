/* SPDX-License-Identifier: MIT */
/*
 * The view that says whether what was collected from several hosts is whole: whether all
 * ranks are there, whether they are of one job, and whether their times can be compared.
 * How far a trace can be trusted is said by check.c.
 */
#include "join/findings/words.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/vec.h"

/* Communicators that are named; the others are counted. */
#define COMMS_MAX 8

/* A larger number is no rank. */
#define RANKS_MAX (1 << 20)

struct complete {
	struct tap_view view;
	struct tap_buffer said;
	/* By rank, as the launcher set it: a process that has it, NULL none. */
	TAP_VEC(const struct tap_process *) by_rank;
	TAP_VEC(char) here; /* of one communicator, by rank */
	TAP_VEC(int64_t) missing;
};

/* "3 hosts" */
static void add_count(struct tap_buffer *text, uint64_t count, const char *one,
		      const char *many)
{
	tap_buffer_add_unsigned(text, count);
	tap_buffer_add_char(text, ' ');
	tap_buffer_add_string(text, count == 1 ? one : many);
}

static void add_host(struct tap_buffer *text, const struct tap_process *process)
{
	tap_buffer_add_visible(text, *process->host ? process->host : "?");
}

/* ---- The ranks of each communicator ---- */

static int find_missing(struct complete *complete, const struct tap_comm *comm)
{
	const struct tap_member *member;
	int64_t rank;

	complete->here.count = complete->missing.count = 0;
	if (tap_vec_resize(&complete->here, (size_t) comm->nranks))
		return -ENOMEM;
	for (member = comm->members; member; member = member->next)
		if (member->rank >= 0 && member->rank < comm->nranks)
			complete->here.items[member->rank] = 1;
	for (rank = 0; rank < comm->nranks; rank++)
		if (!complete->here.items[rank] && tap_vec_add(&complete->missing, rank))
			return -ENOMEM;
	return 0;
}

static void add_comm(struct complete *complete, const struct tap_comm *comm)
{
	struct tap_buffer *text = &complete->said;

	tap_buffer_add_string(text, "ranks: communicator ");
	tap_view_add_key(text, comm->key);
	tap_buffer_add_string(text, ": ");
	tap_buffer_add_unsigned(text, (uint64_t) comm->nranks - complete->missing.count);
	tap_buffer_add_string(text, " of ");
	add_count(text, (uint64_t) comm->nranks, "rank", "ranks");
	tap_buffer_add_string(text, " are here; not here: ");
	tap_words_add_ranks(text, complete->missing.items, complete->missing.count);
	tap_buffer_add_char(text, '\n');
}

static bool is_counted(const struct tap_comm *comm)
{
	return comm->key && !comm->united && comm->nranks > 0 &&
	       comm->nranks <= RANKS_MAX;
}

/* Returns how many communicators there are, or -ENOMEM. */
static int64_t look_at_comms(struct complete *complete)
{
	const struct tap_comms *comms = &complete->view.context->comms;
	uint64_t short_of = 0;
	int64_t count = 0;
	size_t i;

	for (i = 0; i < comms->count; i++) {
		if (!is_counted(comms->all[i]))
			continue;
		count++;
		if (find_missing(complete, comms->all[i]))
			return -ENOMEM;
		if (complete->missing.count && short_of++ < COMMS_MAX)
			add_comm(complete, comms->all[i]);
	}
	if (short_of > COMMS_MAX) {
		tap_buffer_add_string(&complete->said, "ranks: not all of ");
		add_count(&complete->said, short_of - COMMS_MAX, "communicator",
			  "communicators");
		tap_buffer_add_string(&complete->said, " more are here\n");
	}
	return count;
}

/* ---- The ranks as the launcher set them ---- */

static int64_t world_size(const struct tap_process *process)
{
	int64_t size = -1;

	tap_fields_get_signed(&process->about, "world_size", &size);
	return size > 0 && size <= RANKS_MAX ? size : -1;
}

/* Two jobs, or two runs of one, have the same ranks. */
static void add_twice(struct tap_buffer *text, const struct tap_process *one,
		      const struct tap_process *other)
{
	tap_buffer_add_string(text, "jobs: rank ");
	tap_buffer_add_signed(text, one->rank);
	tap_buffer_add_string(text, " is on ");
	add_host(text, one);
	tap_buffer_add_string(text, " and on ");
	add_host(text, other);
	tap_buffer_add_string(text, ": this is more than one job, or run\n");
}

static void add_sizes(struct tap_buffer *text, const struct tap_process *one,
		      const struct tap_process *other)
{
	tap_buffer_add_string(text, "jobs: ");
	add_host(text, one);
	tap_buffer_add_string(text, " is of a job of ");
	add_count(text, (uint64_t) world_size(one), "rank", "ranks");
	tap_buffer_add_string(text, ", ");
	add_host(text, other);
	tap_buffer_add_string(text, " of one of ");
	tap_buffer_add_signed(text, world_size(other));
	tap_buffer_add_char(text, '\n');
}

/* Keeps a process by its rank; says once that there are several jobs. */
static int add_process(struct complete *complete, const struct tap_process *process,
		       const struct tap_process **first, bool *is_mixed)
{
	const struct tap_process *other;

	if (process->is_foreign || process->rank < 0 || process->rank > RANKS_MAX ||
	    world_size(process) < 0)
		return 0;
	if (!*first)
		*first = process;
	if (complete->by_rank.count <= (size_t) process->rank &&
	    tap_vec_resize(&complete->by_rank, (size_t) process->rank + 1))
		return -ENOMEM;
	other = complete->by_rank.items[process->rank];
	complete->by_rank.items[process->rank] = process;
	if (*is_mixed)
		return 0;
	*is_mixed = true;
	if (world_size(*first) != world_size(process))
		add_sizes(&complete->said, *first, process);
	else if (other && strcmp(other->host, process->host) != 0)
		add_twice(&complete->said, other, process);
	else
		*is_mixed = false;
	return 0;
}

static int look_at_processes(struct complete *complete, bool is_told)
{
	const struct tap_processes *processes = &complete->view.context->processes;
	const struct tap_process *first = NULL;
	struct tap_buffer *text = &complete->said;
	bool is_mixed = false;
	int64_t rank;
	size_t i;

	for (i = 0; i < processes->count; i++)
		if (add_process(complete, processes->all[i], &first, &is_mixed))
			return -ENOMEM;
	/* A communicator that lacks them has said it already. */
	if (!first || is_mixed || is_told)
		return 0;
	complete->missing.count = 0;
	for (rank = 0; rank < world_size(first); rank++)
		if (((size_t) rank >= complete->by_rank.count ||
		     !complete->by_rank.items[rank]) &&
		    tap_vec_add(&complete->missing, rank))
			return -ENOMEM;
	if (!complete->missing.count)
		return 0;
	tap_buffer_add_string(text, "ranks: of the job's ");
	add_count(text, (uint64_t) world_size(first), "rank", "ranks");
	tap_buffer_add_string(text, " not here: ");
	tap_words_add_ranks(text, complete->missing.items, complete->missing.count);
	tap_buffer_add_char(text, '\n');
	return 0;
}

/* ---- The clocks ---- */

static void look_at_clocks(struct complete *complete)
{
	const struct tap_clocks *clocks = &complete->view.context->clocks;
	size_t i;

	for (i = 0; clocks->count > 1 && i < clocks->count; i++)
		if (clocks->all[i]->how == TAP_CLOCK_APART)
			break;
	if (clocks->count > 1 && i < clocks->count)
		tap_view_add_clocks_text(&complete->said, complete->view.context);
}

/* ---- All of it ---- */

static uint64_t count_processes(const struct tap_processes *processes)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < processes->count; i++)
		count +=
			processes->all[i]->is_announced && !processes->all[i]->is_foreign;
	return count;
}

static void write_head(struct complete *complete, int64_t comms)
{
	const struct tap_context *context = complete->view.context;
	struct tap_buffer *line = &complete->view.line;
	const bool is_whole = !complete->said.used;

	tap_view_add_word(line, is_whole ? "complete" : "incomplete",
			  is_whole ? TAP_VIEW_GREEN : TAP_VIEW_YELLOW,
			  complete->view.settings.has_colour);
	tap_buffer_add_string(line, ": ");
	add_count(line, tap_view_host_count(context), "host", "hosts");
	tap_buffer_add_string(line, ", ");
	add_count(line, count_processes(&context->processes), "process", "processes");
	tap_buffer_add_string(line, ", ");
	add_count(line, (uint64_t) comms, "communicator", "communicators");
	tap_buffer_add_char(line, '\n');
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct complete *complete = data;
	struct tap_buffer *line = &complete->view.line;
	const int64_t comms = look_at_comms(complete);

	if (comms < 0 || look_at_processes(complete, complete->said.used))
		return -ENOMEM;
	look_at_clocks(complete);
	write_head(complete, comms);
	tap_buffer_add(line, complete->said.data, complete->said.used);
	if (!tap_loss_is_none(loss))
		tap_view_add_loss_text(line, loss);
	return tap_outfile_finish(complete->view.output, line);
}

static void destroy(struct tap_view *view)
{
	struct complete *complete = (struct complete *) view;

	tap_vec_free(&complete->by_rank);
	tap_vec_free(&complete->here);
	tap_vec_free(&complete->missing);
	tap_buffer_free(&complete->said);
	tap_buffer_free(&view->line);
	free(complete);
}

static const struct tap_consumer consumer = {.finish = finish};

struct tap_view *tap_complete_create(void)
{
	struct complete *complete = calloc(1, sizeof(*complete));

	if (!complete)
		return NULL;
	complete->view.consumer = &consumer;
	complete->view.destroy = destroy;
	return &complete->view;
}
