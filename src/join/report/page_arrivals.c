/* SPDX-License-Identifier: MIT */
/* A row of cells for each rank; where the columns are full, each two become one. */
#include "join/report/page_arrivals.h"

#include "join/report/columns.h"
#include "join/views/filters.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>

/* What a cell has that is not a lateness in ns. */
enum {
	CELL_NONE = -2, /* the rank has no part in it, or its time may not be compared */
	CELL_MISSING = -1 /* the others called, and no call of this rank was seen */
};

/* More pairs than are shown, so that the largest sums are among them. */
#define PAIRS_MAX (16 * TAP_PAGE_WAITS)

struct arrival_rank {
	size_t index; /* in the order in which they came */
	const struct tap_process *process;
	int64_t device;
	bool has_kernels; /* sums of kernels are not mixed with those of calls */
	bool is_shown;
	int64_t weight; /* all lateness, and what is missing */
	int64_t cells[TAP_PAGE_ARRIVAL_COLUMNS];
};

/* How long one waited for another. */
struct pair {
	const struct arrival_rank *waits, *last;
	uint64_t times, times_by_calls, messages;
	int64_t ns, ns_by_calls, message_ns;
	bool are_messages_inferred;
};

/* ---- Ranks ---- */

/* Gets the rank into *ret, NULL when there are too many.  Returns 0 or -ENOMEM. */
static int get_rank(struct tap_page_arrivals *arrivals, const struct tap_process *process,
		    int64_t device, struct arrival_rank **ret)
{
	struct arrival_rank *rank =
		tap_rows_find(&arrivals->ranks, process->number, (uint64_t) device);
	size_t i;

	*ret = rank;
	if (rank)
		return 0;
	if (arrivals->ranks.count == TAP_PAGE_RANKS) {
		arrivals->unranked++;
		return 0;
	}
	rank = tap_rows_add(&arrivals->ranks, process->number, (uint64_t) device,
			    sizeof(*rank));
	if (!rank)
		return -ENOMEM;
	rank->index = arrivals->ranks.count - 1;
	rank->process = process;
	rank->device = device;
	for (i = 0; i < TAP_PAGE_ARRIVAL_COLUMNS; i++)
		rank->cells[i] = CELL_NONE;
	*ret = rank;
	return 0;
}

static int rank_of(struct tap_page_arrivals *arrivals, const struct tap_arrival *arrival,
		   struct arrival_rank **ret)
{
	const struct tap_member *member = arrival->end.member;

	return get_rank(arrivals, arrival->end.process, member ? member->device : -1,
			ret);
}

/* ---- Columns ---- */

/* What is missing is worse than any lateness. */
static int64_t worse(int64_t a, int64_t b)
{
	if (a == CELL_MISSING || b == CELL_MISSING)
		return CELL_MISSING;
	return a > b ? a : b;
}

static void join_two(struct tap_page_column *to, const struct tap_page_column *from)
{
	to->last_ns = from->last_ns;
	to->has_calls |= from->has_calls;
}

/* Makes one column of each two. */
static void halve(struct tap_page_arrivals *arrivals)
{
	struct tap_page_column *columns = arrivals->columns.items;
	const size_t count = arrivals->columns.count / 2;
	struct arrival_rank *rank;
	size_t i, j;

	for (i = 0; i < count; i++) {
		columns[i] = columns[2 * i];
		join_two(&columns[i], &columns[2 * i + 1]);
	}
	for (j = 0; j < arrivals->ranks.count; j++) {
		rank = arrivals->ranks.all[j];
		for (i = 0; i < count; i++)
			rank->cells[i] =
				worse(rank->cells[2 * i], rank->cells[2 * i + 1]);
		for (; i < 2 * count; i++)
			rank->cells[i] = CELL_NONE;
	}
	arrivals->columns.count = count;
	arrivals->in_column *= 2;
}

/* The column of the next operation; -ENOMEM when memory is short. */
static int next_column(struct tap_page_arrivals *arrivals,
		       const struct tap_page_column *column)
{
	const uint64_t before = arrivals->operations++;

	if (!arrivals->in_column)
		arrivals->in_column = 1;
	if (before % arrivals->in_column) {
		join_two(&arrivals->columns.items[arrivals->columns.count - 1], column);
		return 0;
	}
	if (arrivals->columns.count == TAP_PAGE_ARRIVAL_COLUMNS)
		halve(arrivals);
	return tap_vec_add(&arrivals->columns, *column);
}

static void set_cell(struct tap_page_arrivals *arrivals, struct arrival_rank *rank,
		     int64_t value)
{
	int64_t *cell = &rank->cells[arrivals->columns.count - 1];

	*cell = *cell == CELL_NONE ? value : worse(*cell, value);
}

static bool has_arrived(const struct tap_collective *collective,
			const struct tap_member *member)
{
	size_t i;

	for (i = 0; i < collective->count; i++)
		if (collective->arrivals[i].end.process == member->process &&
		    (!collective->arrivals[i].end.member ||
		     collective->arrivals[i].end.member->device == member->device))
			return true;
	return false;
}

static int note_missing(struct tap_page_arrivals *arrivals,
			const struct tap_collective *collective)
{
	const struct tap_member *member =
		collective->comm ? collective->comm->members : NULL;
	struct arrival_rank *rank;
	int ret = 0;

	for (; !ret && member; member = member->next) {
		if (has_arrived(collective, member))
			continue;
		ret = get_rank(arrivals, member->process, member->device, &rank);
		if (!ret && rank)
			set_cell(arrivals, rank, CELL_MISSING);
	}
	return ret;
}

static int add_column(struct tap_page_arrivals *arrivals,
		      const struct tap_collective *collective)
{
	const struct tap_arrival *first = &collective->arrivals[collective->first];
	const struct tap_page_column column = {.comm = collective->comm,
					       .name = collective->name,
					       .number = collective->number,
					       .first_ns = first->start_ns,
					       .last_ns = first->start_ns,
					       .has_calls = !collective->has_kernels};
	struct arrival_rank *rank;
	int ret = next_column(arrivals, &column);
	size_t i;

	for (i = 0; !ret && i < collective->count; i++) {
		const struct tap_arrival *arrival = &collective->arrivals[i];

		ret = rank_of(arrivals, arrival, &rank);
		if (!ret && rank && arrival->is_comparable)
			set_cell(arrivals, rank,
				 tap_since_ns(arrival->start_ns, first->start_ns));
	}
	if (!ret && !collective->is_complete)
		ret = note_missing(arrivals, collective);
	return ret;
}

/* ---- Who waits for whom ---- */

/* A damaged trace may have waits whose sum overflows. */
static void add_up(int64_t *sum, int64_t ns)
{
	if (__builtin_add_overflow(*sum, ns, sum))
		*sum = INT64_MAX;
}

static void count_wait(struct pair *pair, const struct tap_collective *collective,
		       int64_t wait_ns)
{
	if (collective->is_message) {
		pair->messages++;
		add_up(&pair->message_ns, wait_ns);
		pair->are_messages_inferred |= !collective->has_kernels;
	} else if (collective->has_kernels) {
		pair->times++;
		add_up(&pair->ns, wait_ns);
	} else {
		pair->times_by_calls++;
		add_up(&pair->ns_by_calls, wait_ns);
	}
}

static int add_wait(struct tap_page_arrivals *arrivals,
		    const struct tap_collective *collective,
		    const struct arrival_rank *rank, const struct arrival_rank *last,
		    int64_t wait_ns)
{
	struct pair *pair = tap_rows_find(&arrivals->pairs, rank->index, last->index);

	if (!pair && arrivals->pairs.count == PAIRS_MAX) {
		arrivals->other_waits++;
		return 0;
	}
	if (!pair)
		pair = tap_rows_add(&arrivals->pairs, rank->index, last->index,
				    sizeof(*pair));
	if (!pair)
		return -ENOMEM;
	pair->waits = rank;
	pair->last = last;
	count_wait(pair, collective, wait_ns);
	return 0;
}

static int add_waits(struct tap_page_arrivals *arrivals,
		     const struct tap_collective *collective)
{
	struct arrival_rank *rank, *last;
	int ret = rank_of(arrivals, &collective->arrivals[collective->last], &last);
	int64_t wait_ns;
	size_t i;

	for (i = 0; !ret && last && i < collective->count; i++) {
		wait_ns = tap_collective_wait_ns(collective, &collective->arrivals[i]);
		if (wait_ns < 0)
			continue;
		ret = rank_of(arrivals, &collective->arrivals[i], &rank);
		if (ret || !rank)
			continue;
		if (!collective->is_message && collective->has_kernels)
			rank->has_kernels = true;
		if (rank != last)
			ret = add_wait(arrivals, collective, rank, last, wait_ns);
	}
	return ret;
}

static bool is_wanted(const struct tap_context *context,
		      const struct tap_filters *filters,
		      const struct tap_collective *collective)
{
	const int64_t begin_ns = collective->arrivals[collective->first].start_ns;
	struct tap_period period;

	if (!filters)
		return true;
	period = tap_filters_period(filters, context->first_ns);
	return tap_filters_pass_communicator(filters, collective->comm) &&
	       (!collective->name || tap_filters_pass_name(filters, collective->name)) &&
	       tap_filters_pass_number(filters, collective->number) &&
	       begin_ns >= period.begin_ns && begin_ns <= period.end_ns;
}

int tap_page_arrivals_add(struct tap_page_arrivals *arrivals,
			  const struct tap_context *context,
			  const struct tap_filters *filters,
			  const struct tap_collective *collective)
{
	int ret = 0;

	if (!collective->is_timed || !is_wanted(context, filters, collective))
		return 0;
	if (!collective->is_message)
		ret = add_column(arrivals, collective);
	return ret ? ret : add_waits(arrivals, collective);
}

/* ---- JSON ---- */

/* A rank of the job, as the first screen has it; filters may have left out its row. */
static int64_t number_of(const struct arrival_rank *rank,
			 const struct tap_overview *overview)
{
	size_t i;

	for (i = 0; i < overview->ranks.count; i++) {
		const struct tap_overview_rank *row = overview->ranks.all[i];

		if (row->sums.process == rank->process &&
		    row->sums.device == rank->device && row->sums.rank >= 0)
			return row->sums.rank;
	}
	return tap_process_rank(rank->process);
}

static int compare_weight(const void *left, const void *right)
{
	const struct arrival_rank *a = *(const struct arrival_rank *const *) left;
	const struct arrival_rank *b = *(const struct arrival_rank *const *) right;

	return a->weight != b->weight ? (a->weight < b->weight ? 1 : -1)
				      : tap_rows_compare(a->index, b->index);
}

static void weigh(struct arrival_rank *rank, size_t columns)
{
	size_t i;

	for (i = 0; i < columns; i++) {
		if (rank->cells[i] == CELL_MISSING)
			rank->weight = INT64_MAX;
		else if (rank->cells[i] > 0)
			add_up(&rank->weight, rank->cells[i]);
	}
}

/* Of too many ranks those that are latest are shown. */
static void choose(struct tap_page_arrivals *arrivals)
{
	const struct tap_rows *ranks = &arrivals->ranks;
	struct arrival_rank **sorted = malloc((ranks->count + 1) * sizeof(*sorted));
	size_t i;

	for (i = 0; i < ranks->count; i++)
		weigh(ranks->all[i], arrivals->columns.count);
	for (i = 0; sorted && i < ranks->count; i++)
		sorted[i] = ranks->all[i];
	if (sorted)
		qsort(sorted, ranks->count, sizeof(*sorted), compare_weight);
	for (i = 0; i < ranks->count && i < TAP_PAGE_ARRIVAL_ROWS; i++)
		(sorted ? sorted[i] : (struct arrival_rank *) ranks->all[i])->is_shown =
			true;
	free(sorted);
}

static void add_ranks(struct tap_json *json, const struct tap_page_arrivals *arrivals,
		      const struct tap_overview *overview)
{
	size_t i;

	tap_json_open(json, "ranks", '[');
	for (i = 0; i < arrivals->ranks.count; i++) {
		const struct arrival_rank *rank = arrivals->ranks.all[i];

		tap_json_open(json, NULL, '{');
		tap_json_not_negative(json, "rank", number_of(rank, overview));
		tap_json_unsigned(json, "process", rank->process->number);
		tap_json_not_negative(json, "device", rank->device);
		tap_json_close(json);
	}
	tap_json_close(json);
}

static void add_column_json(struct tap_json *json, const struct tap_page_column *column,
			    const struct tap_context *context)
{
	tap_json_open(json, NULL, '{');
	tap_json_string(json, "name", column->name ? column->name->name : NULL);
	tap_json_unsigned(json, "op_number", column->number);
	tap_json_key(json, "comm_key", column->comm ? column->comm->key : 0);
	tap_json_signed(json, "begin", tap_since_ns(column->first_ns, context->first_ns));
	tap_json_signed(json, "until", tap_since_ns(column->last_ns, context->first_ns));
	tap_json_string(json, "known",
			tap_known_name(column->has_calls ? TAP_KNOWN_INFERRED
							 : TAP_KNOWN_EXACT));
	tap_json_close(json);
}

static void add_row_json(struct tap_json *json, const struct arrival_rank *rank,
			 size_t columns)
{
	size_t i;

	tap_json_open(json, NULL, '{');
	tap_json_unsigned(json, "rank", rank->index);
	tap_json_open(json, "late_ns", '[');
	for (i = 0; i < columns; i++)
		tap_json_signed(json, NULL, rank->cells[i]);
	tap_json_close(json);
	tap_json_close(json);
}

static void add_arrivals(struct tap_json *json, struct tap_page_arrivals *arrivals,
			 const struct tap_context *context)
{
	const size_t columns = arrivals->columns.count;
	size_t i, shown = 0;

	choose(arrivals);
	tap_json_open(json, "arrivals", '{');
	tap_json_unsigned(json, "operations", arrivals->operations);
	tap_json_unsigned(json, "operations_in_column", arrivals->in_column);
	tap_json_open(json, "columns", '[');
	for (i = 0; i < columns; i++)
		add_column_json(json, &arrivals->columns.items[i], context);
	tap_json_close(json);
	tap_json_open(json, "rows", '[');
	for (i = 0; i < arrivals->ranks.count; i++) {
		const struct arrival_rank *rank = arrivals->ranks.all[i];

		if (!rank->is_shown)
			continue;
		add_row_json(json, rank, columns);
		shown++;
	}
	tap_json_close(json);
	tap_json_unsigned(json, "other_ranks", arrivals->ranks.count - shown);
	tap_json_unsigned(json, "unranked", arrivals->unranked);
	tap_json_close(json);
}

static int64_t waited_ns(const struct pair *pair)
{
	return pair->waits->has_kernels ? pair->ns : pair->ns_by_calls;
}

static int compare_pairs(const void *left, const void *right)
{
	const struct pair *a = *(const struct pair *const *) left;
	const struct pair *b = *(const struct pair *const *) right;
	int64_t of_a = waited_ns(a), of_b = waited_ns(b);
	int order;

	add_up(&of_a, a->message_ns);
	add_up(&of_b, b->message_ns);
	if (of_a != of_b)
		return of_a < of_b ? 1 : -1;
	order = tap_rows_compare(a->waits->index, b->waits->index);
	return order ? order : tap_rows_compare(a->last->index, b->last->index);
}

static void add_pair(struct tap_json *json, const struct pair *pair)
{
	const bool has_kernels = pair->waits->has_kernels;

	tap_json_open(json, NULL, '{');
	tap_json_unsigned(json, "rank", pair->waits->index);
	tap_json_unsigned(json, "waits_for", pair->last->index);
	tap_json_signed(json, "waited_ns", waited_ns(pair));
	tap_json_unsigned(json, "times",
			  has_kernels ? pair->times : pair->times_by_calls);
	tap_json_string(json, "known",
			tap_known_name(has_kernels ? TAP_KNOWN_EXACT
						   : TAP_KNOWN_INFERRED));
	tap_json_signed(json, "message_ns", pair->message_ns);
	tap_json_unsigned(json, "messages", pair->messages);
	tap_json_string(json, "messages_known",
			tap_known_name(pair->are_messages_inferred ? TAP_KNOWN_INFERRED
								   : TAP_KNOWN_EXACT));
	tap_json_close(json);
}

static void add_waits_json(struct tap_json *json, struct tap_page_arrivals *arrivals)
{
	const size_t count = arrivals->pairs.count;
	size_t i;

	tap_rows_sort(&arrivals->pairs, compare_pairs);
	tap_json_open(json, "waits", '{');
	tap_json_open(json, "pairs", '[');
	for (i = 0; i < count && i < TAP_PAGE_WAITS; i++)
		add_pair(json, arrivals->pairs.all[i]);
	tap_json_close(json);
	tap_json_unsigned(json, "other_pairs", count - i);
	tap_json_unsigned(json, "other_waits", arrivals->other_waits);
	tap_json_close(json);
}

void tap_page_arrivals_add_json(struct tap_json *json, struct tap_page_arrivals *arrivals,
				const struct tap_context *context,
				const struct tap_overview *overview)
{
	add_ranks(json, arrivals, overview);
	add_arrivals(json, arrivals, context);
	add_waits_json(json, arrivals);
}

void tap_page_arrivals_free(struct tap_page_arrivals *arrivals)
{
	tap_rows_free(&arrivals->ranks);
	tap_rows_free(&arrivals->pairs);
	tap_vec_free(&arrivals->columns);
}
