/* SPDX-License-Identifier: MIT */
/*
 * Collects the messages of all connections of two ranks with the kernels that each may be
 * of, and divides them where kernels follow one another of which the bytes are known.
 */
#include "join/nccl/net_total.h"

#include <errno.h>

#include "join/model/comm.h"
#include "join/nccl/net_served.h"

/* More messages that may be of any kernel say nothing. */
#define DOUBTS_MAX 4096
/* Of so many latest operations messages may still come. */
#define LATER 64
/* So many operations before them show whether sums are right here. */
#define EARLIER 64

/* A kernel of both ranks. */
struct tap_total_op {
	const struct tap_op_kernel *from, *to;
	uint64_t bytes;
	bool is_known; /* its bytes are, and no message may be of it that is not here */
	bool is_followed;   /* a message is of it or of the next one */
	bool is_mixed;	    /* its kernel is of several kinds of numbers */
	bool has_left_over; /* other operations' sums left a message to it */
	size_t part;	    /* of its stretch */
};

/* One that is here, and which kernels it may be of. */
struct tap_total_message {
	struct tap_routed_message *message;
	size_t lane;
	const struct tap_op_kernel *first, *last; /* the sender's */
	size_t runs;				  /* from first to last */
	size_t least, most;			  /* the same, among all operations */
};

/* A message that may be of any kernel that times allow. */
struct tap_total_doubt {
	int64_t posted_ns, arrived_ns;
};

/* ---- Bytes ---- */

static bool add_sends(const struct tap_op_kernel *kernel,
		      const struct tap_rank_pair *pair, uint64_t *bytes)
{
	const struct tap_message_facts any = {.bytes = TAP_BYTES_UNKNOWN};
	const struct tap_op_transfers *transfers = &kernel->transfers;
	unsigned int i;

	*bytes = 0;
	if (kernel->has_others || transfers->is_cut)
		return false;
	for (i = 0; i < transfers->count; i++) {
		const struct tap_op_transfer *transfer = &transfers->items[i];

		if (!tap_candidate_may_be_sent(transfer, pair, &any))
			continue;
		/* What is nothing has a message all the same. */
		if (!transfer->bytes || transfer->bytes > TAP_SEND_BYTES_MAX)
			return false;
		*bytes += transfer->bytes;
	}
	return *bytes;
}

/* What the kernel sends between the ranks; false: that is not known. */
static bool find_bytes(const struct tap_op_kernel *kernel,
		       const struct tap_rank_pair *pair, bool is_messages,
		       uint64_t *bytes)
{
	const struct tap_op_total *total = &kernel->total;
	const int64_t ranks = tap_member_comm(pair->from)->nranks;

	if (is_messages)
		return add_sends(kernel, pair, bytes);
	*bytes = total->bytes;
	if (!*bytes || *bytes > TAP_SEND_BYTES_MAX || ranks < 2 || ranks > INT16_MAX)
		return false;
	switch (total->function) {
	case TAP_CCL_BROADCAST:
		if (pair->to->rank == total->root)
			*bytes = 0;
		return total->root >= 0;
	case TAP_CCL_REDUCE:
		if (pair->from->rank == total->root)
			*bytes = 0;
		return total->root >= 0;
	case TAP_CCL_ALL_GATHER:
	case TAP_CCL_REDUCE_SCATTER:
		*bytes *= (uint64_t) ranks - 1;
		return true;
	default:
		return false;
	}
}

/* ---- Connections ---- */

static bool is_of(const struct tap_net_route *route, const struct tap_rank_pair *pair)
{
	size_t i;

	for (i = 0; i < route->pairs.count; i++)
		if (route->pairs.items[i].from == pair->from &&
		    route->pairs.items[i].to == pair->to)
			return true;
	return false;
}

/* Whether it is of these two ranks alone, and all its messages have been here. */
static bool is_clear(const struct tap_net_route *route)
{
	const struct tap_routed_message *last = route->messages.last;
	const uint64_t number = last ? last->number + last->requests - 1 : 0;

	return route->pairs.count == 1 && !route->pairs.items[0].made_for &&
	       !route->is_unsummed && !route->is_shared && !route->is_part &&
	       !route->is_of_data && !route->epoch &&
	       route->taken == (number > route->gone ? number : route->gone);
}

static int add_doubt(struct tap_net_totals *totals,
		     const struct tap_routed_message *message)
{
	const struct tap_message_facts facts = tap_net_route_facts(message);
	const struct tap_total_doubt doubt = {facts.posted_ns, facts.arrived_ns};

	return totals->doubts.count < DOUBTS_MAX ? tap_vec_add(&totals->doubts, doubt)
						 : -EAGAIN;
}

static bool has_both(const struct tap_served_run *about)
{
	return about->from && about->to &&
	       tap_op_kernels_are_same(about->from, about->to);
}

static int add_ops(struct tap_net_totals *totals, const struct tap_serving *serving,
		   const struct tap_rank_pair *pair, bool is_messages)
{
	size_t i;

	for (i = 0; i + 1 < serving->lanes.about.count; i++) {
		const struct tap_served_run *about = &serving->lanes.about.items[i];
		struct tap_total_op op = {.from = about->from,
					  .to = about->to,
					  .is_mixed = about->is_mixed};

		if (!has_both(about))
			continue;
		op.is_known = !about->is_mixed &&
			      find_bytes(op.from, pair, is_messages, &op.bytes);
		if (tap_vec_add(&totals->ops, op))
			return -ENOMEM;
	}
	return 0;
}

/* Adds a message with the runs that it may be of; *run is one of the first of these. */
static int add_message(struct tap_net_totals *totals, const struct tap_serving *serving,
		       struct tap_routed_message *message, size_t *run)
{
	const struct tap_net_run *runs = serving->lanes.runs.items;
	const struct tap_served_run *about = serving->lanes.about.items;
	const size_t count = serving->lanes.runs.count;
	struct tap_total_message added = {.message = message,
					  .lane = totals->lanes.count - 1};
	size_t at;

	while (*run + 1 < count && runs[*run + 1].begin_most <= message->number)
		++*run;
	for (at = *run; at < count && runs[at].begin_least <= message->number; at++) {
		if (at + 1 == count || !has_both(&about[at]))
			return add_doubt(totals, message);
		added.last = about[at].from;
		added.runs++;
	}
	/* It may be from before the first one. */
	if (!added.runs || runs[0].begin_most > message->number ||
	    message->facts.bytes == TAP_BYTES_UNKNOWN)
		return add_doubt(totals, message);
	added.first = about[*run].from;
	return tap_vec_add(&totals->messages, added);
}

static int add_messages(struct tap_net_totals *totals, struct tap_serving *serving,
			const struct tap_candidate_world *world,
			struct tap_net_route *route)
{
	const bool is_messages = route->order.series == TAP_SERIES_MESSAGES;
	size_t i, run = 0;
	int ret = tap_served_bound(serving, world, route);

	if (!ret && serving->served.count < route->held)
		ret = -EAGAIN;
	if (!ret)
		ret = add_ops(totals, serving, route->pairs.items, is_messages);
	for (i = 0; !ret && i < serving->served.count; i++)
		ret = serving->served.items[i].verdict
			      ? -EAGAIN
			      : add_message(totals, serving,
					    serving->served.items[i].message, &run);
	return ret;
}

/* Adds a connection that may be of these ranks; -EAGAIN: too little is known of it. */
static int add_lane(struct tap_net_totals *totals, struct tap_serving *serving,
		    const struct tap_candidate_world *world, struct tap_net_route *route,
		    enum tap_series series)
{
	const enum tap_series found = tap_serving_find_series(world, route);
	const struct tap_routed_message *message;
	int ret = 0;

	if (found && found != series)
		return 0;
	if (!is_clear(route))
		return -EAGAIN;
	if (totals->lanes.count == TAP_FIT_LANES_MAX)
		return -EAGAIN;
	if (tap_vec_add(&totals->lanes, route))
		return -ENOMEM;
	if (found)
		return route->messages.first ? add_messages(totals, serving, world, route)
					     : 0;
	for (message = route->messages.first; message && !ret;
	     message = message->of_route.after)
		ret = add_doubt(totals, message);
	return ret;
}

/* ---- Operations ---- */

/*
 * Adds those before all that are there, of which every message is ascribed.  Of sends
 * another kind of numbers may have the same kernels, so that these show nothing.
 */
static int add_earlier(struct tap_net_totals *totals,
		       const struct tap_candidate_world *world,
		       const struct tap_rank_pair *pair)
{
	const struct tap_rank_series series =
		tap_rank_series_find(world->ranks, pair, false);
	const struct tap_op_times *from = series.from;
	const struct tap_op_kernel *first = totals->ops.items[0].from;
	size_t at, left = EARLIER;

	if (!from || !series.to)
		return 0;
	at = tap_vec_search(&from->kernels, from->first_kernel, item,
			    item->first >= first->first);
	while (left-- && at > from->first_kernel) {
		const struct tap_op_kernel *kernel = &from->kernels.items[--at];
		struct tap_total_op op = {.from = kernel,
					  .to = tap_op_times_find_kernel(series.to,
									 kernel->first)};

		if (!op.to || !tap_op_kernels_are_same(op.from, op.to))
			continue;
		op.is_known = find_bytes(op.from, pair, false, &op.bytes);
		if (tap_vec_add(&totals->ops, op))
			return -ENOMEM;
	}
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct tap_total_op *a = left, *b = right;

	if (a->from->begin_ns != b->from->begin_ns)
		return a->from->begin_ns < b->from->begin_ns ? -1 : 1;
	return a->from->work.run.number < b->from->work.run.number
		       ? -1
		       : a->from->work.run.number > b->from->work.run.number;
}

static void merge_op(struct tap_total_op *op, const struct tap_total_op *other)
{
	op->is_known &= other->is_known;
	op->is_mixed |= other->is_mixed;
}

/* Puts them in their order, each once. */
static void sort_ops(struct tap_net_totals *totals)
{
	struct tap_total_op *ops = totals->ops.items;
	size_t i, count = 0;

	if (!totals->ops.count)
		return;
	qsort(ops, totals->ops.count, sizeof(*ops), compare);
	for (i = 1; i < totals->ops.count; i++)
		if (ops[i].from == ops[count].from)
			merge_op(&ops[count], &ops[i]);
		else
			ops[++count] = ops[i];
	totals->ops.count = count + 1;
}

/* Whether a message may be of the operation that is not here, or no longer. */
static bool may_lack(const struct tap_net_totals *totals,
		     const struct tap_candidate_world *world,
		     const struct tap_total_op *op)
{
	const int64_t begin_ns = op->from->begin_ns - world->error_ns;
	const int64_t end_ns = op->to->end_ns + world->error_ns;
	size_t i;

	if (totals->ledger.has_forgotten && begin_ns <= totals->ledger.forgotten_ns)
		return true;
	for (i = 0; i < totals->lanes.count; i++)
		if (totals->lanes.items[i]->has_left &&
		    begin_ns <= totals->lanes.items[i]->left_ns)
			return true;
	for (i = 0; i < totals->doubts.count; i++)
		if (begin_ns <= totals->doubts.items[i].posted_ns &&
		    end_ns >= totals->doubts.items[i].arrived_ns)
			return true;
	return false;
}

static size_t place_of(const struct tap_net_totals *totals,
		       const struct tap_op_kernel *from)
{
	size_t at = tap_vec_search(&totals->ops, 0, item,
				   item->from->begin_ns >= from->begin_ns);

	while (at < totals->ops.count && totals->ops.items[at].from != from)
		at++;
	return at;
}

/* Finds the operations of each message, and which ones these join. */
static bool join_ops(struct tap_net_totals *totals)
{
	size_t i, at;

	for (i = 0; i < totals->messages.count; i++) {
		struct tap_total_message *message = &totals->messages.items[i];

		message->least = place_of(totals, message->first);
		message->most = place_of(totals, message->last);
		/* Other connections may be of kernels in between that this one is not. */
		if (message->most >= totals->ops.count ||
		    message->most - message->least + 1 != message->runs)
			return false;
		for (at = message->least; at < message->most; at++)
			totals->ops.items[at].is_followed = true;
	}
	return true;
}

/* ---- Stretches of operations that messages join ---- */

/* The bytes of a function with which sums were right; none where most is 0. */
struct right {
	uint64_t least, most;
};

/* Which operations of a stretch have sums that tell of others. */
struct view {
	size_t first, last;
	const struct right *right; /* by function; NULL: all have */
};

/*
 * An algorithm other than the ring is chosen by the bytes (NCCL 2.28.9, graph/tuning.cc),
 * but not for a broadcast or a reduce.  Less data use no more channels, so that the
 * connections that had all of more have all of less.
 */
static bool is_believed(const struct tap_total_op *op, const struct right *right)
{
	const enum tap_ccl_function function = op->from->total.function;

	return right[function].most && op->bytes <= right[function].most &&
	       (op->bytes >= right[function].least || function == TAP_CCL_BROADCAST ||
		function == TAP_CCL_REDUCE);
}

static bool is_open(const struct tap_total_op *op, const struct view *view)
{
	return !op->is_known || (view->right && !is_believed(op, view->right));
}

static void add_certain(const struct tap_net_totals *totals, struct tap_total_op *op,
			struct tap_fit_op *added)
{
	size_t lane;

	for (lane = 0; lane < totals->lanes.count; lane++) {
		const struct tap_fit_sum sum =
			tap_net_ledger_find(&totals->ledger,
					    totals->lanes.items[lane]->connection,
					    op->from, &op->has_left_over);

		added->certain.bytes += sum.bytes;
		added->certain.messages += sum.messages;
		added->certain.bits |= sum.bits;
		added->has_data[lane] = sum.messages;
	}
}

/* Those whose bytes are not known are one part as long as they follow each other. */
static int fill_ops(struct tap_net_totals *totals, const struct view *view)
{
	size_t i;

	totals->fit_ops.count = 0;
	for (i = view->first; i <= view->last; i++) {
		struct tap_total_op *op = &totals->ops.items[i];
		struct tap_fit_op added = {.bytes = op->bytes,
					   .is_open = is_open(op, view)};
		const size_t count = totals->fit_ops.count;
		const bool is_more = added.is_open && count &&
				     totals->fit_ops.items[count - 1].is_open;

		op->part = is_more ? count - 1 : count;
		if (!added.is_open)
			add_certain(totals, op, &added);
		if (!is_more && tap_vec_add(&totals->fit_ops, added))
			return -ENOMEM;
	}
	return 0;
}

static bool is_in(const struct tap_total_message *message, const struct view *view)
{
	return message->least >= view->first && message->most <= view->last;
}

static int fill_messages(struct tap_net_totals *totals, const struct view *view)
{
	const struct tap_total_op *ops = totals->ops.items;
	size_t i;

	totals->fit_messages.count = 0;
	for (i = 0; i < totals->messages.count; i++) {
		const struct tap_total_message *message = &totals->messages.items[i];
		struct tap_fit_message added = {.lane = message->lane,
						.bytes = message->message->bytes};

		if (!is_in(message, view))
			continue;
		added.least = ops[message->least].part;
		added.most = ops[message->most].part;
		if (tap_vec_add(&totals->fit_messages, added))
			return -ENOMEM;
	}
	return 0;
}

/* The operation of this part that the message may be of; NULL: there are several. */
static const struct tap_total_op *only_one(const struct tap_net_totals *totals,
					   const struct tap_total_message *message,
					   size_t part)
{
	const struct tap_total_op *found = NULL, *ops = totals->ops.items;
	size_t i;

	for (i = message->least; i <= message->most; i++) {
		if (ops[i].part != part)
			continue;
		if (found)
			return NULL;
		found = &ops[i];
	}
	return found;
}

static int take_found(struct tap_net_totals *totals, const struct view *view)
{
	const struct tap_fit_message *fit = totals->fit_messages.items;
	const struct tap_total_op *op;
	size_t i;

	for (i = 0; i < totals->messages.count; i++) {
		const struct tap_total_message *message = &totals->messages.items[i];
		struct tap_served served = {.message = message->message,
					    .verdict = TAP_VERDICT_SERVED,
					    .pair = *message->message->route->pairs.items,
					    .step = TAP_STEP_UNKNOWN,
					    .known = TAP_KNOWN_INFERRED,
					    .why = TAP_WHY_ORDER};

		if (!is_in(message, view))
			continue;
		op = message->least < message->most && fit->op != TAP_FIT_NONE
			     ? only_one(totals, message, fit->op)
			     : NULL;
		fit++;
		if (!op)
			continue;
		served.from = op->from;
		served.to = op->to;
		served.is_mixed = op->is_mixed;
		served.is_left_over = view->right;
		if (tap_vec_add(&totals->found, served))
			return -ENOMEM;
	}
	return 0;
}

static int divide(struct tap_net_totals *totals, const struct view *view,
		  enum tap_fit *ret_fit)
{
	int ret = fill_ops(totals, view);

	if (!ret)
		ret = fill_messages(totals, view);
	if (ret)
		return ret;
	*ret_fit = tap_fit_find(totals->fit_ops.items, totals->fit_ops.count,
				totals->fit_messages.items, totals->fit_messages.count);
	return *ret_fit == TAP_FIT_YES ? take_found(totals, view) : 0;
}

/* What the stretches have shown. */
struct shown {
	struct right right[TAP_CCL_REDUCE + 1];
	bool is_unfit, is_fit; /* a stretch does not fit; one with bytes does: */
	size_t first_unfit, last_fit;
	bool is_too_much;
};

static void widen(struct right *right, uint64_t bytes)
{
	if (!right->most || bytes < right->least)
		right->least = bytes;
	if (bytes > right->most)
		right->most = bytes;
}

static void note_fit(const struct tap_net_totals *totals, const struct view *view,
		     struct shown *shown)
{
	const struct tap_total_op *ops = totals->ops.items;
	size_t i;

	for (i = view->first; i <= view->last; i++) {
		if (!ops[i].bytes || is_open(&ops[i], view))
			continue;
		shown->is_fit = true;
		shown->last_fit = i;
		if (!view->right && !ops[i].has_left_over)
			widen(&shown->right[ops[i].from->total.function], ops[i].bytes);
	}
}

static void note(const struct tap_net_totals *totals, const struct view *view,
		 enum tap_fit fit, struct shown *shown)
{
	shown->is_too_much = fit == TAP_FIT_TOO_MANY;
	if (fit == TAP_FIT_YES)
		note_fit(totals, view, shown);
	if (fit == TAP_FIT_NO && !(shown->is_unfit && shown->first_unfit < view->first))
		shown->first_unfit = view->first;
	shown->is_unfit |= fit == TAP_FIT_NO;
}

/* Whether the sums of a stretch tell of its messages. */
static bool is_telling(const struct tap_net_totals *totals, const struct view *view)
{
	const struct tap_total_op *ops = totals->ops.items;
	size_t i, known = 0, believed = 0;
	const size_t count = view->last - view->first + 1;

	for (i = view->first; i <= view->last; i++) {
		known += ops[i].is_known;
		believed += !is_open(&ops[i], view);
	}
	return count <= TAP_FIT_OPS_MAX &&
	       (view->right ? known < count && believed : known == count);
}

/*
 * Divides the stretches of which all sums are known; or the others, by the sums that are
 * believed.
 */
static int divide_some(struct tap_net_totals *totals, size_t due,
		       const struct right *right, struct shown *shown)
{
	const struct tap_total_op *ops = totals->ops.items;
	struct view view = {.right = right};
	enum tap_fit fit = TAP_FIT_NO;
	int ret = 0;

	for (; !ret && view.first < due && !shown->is_too_much;
	     view.first = view.last + 1) {
		view.last = view.first;
		while (ops[view.last].is_followed)
			view.last++;
		if (view.last >= due)
			break;
		if (!is_telling(totals, &view))
			continue;
		ret = divide(totals, &view, &fit);
		note(totals, &view, fit, shown);
	}
	return ret;
}

/*
 * Divides all stretches.  Where one does not fit, the sums are others here; unless it is
 * one of the last, whose messages may be still to come.  Sums of sends tell nothing of
 * other sends: LL is decided on for each.
 */
static int divide_all(struct tap_net_totals *totals, enum tap_series series, bool is_over)
{
	const size_t count = totals->ops.count;
	const size_t due = is_over ? count : count > LATER ? count - LATER : 0;
	struct shown shown = {0};
	size_t i;
	int ret = divide_some(totals, due, NULL, &shown);

	if (!ret && series == TAP_SERIES_COLLECTIVES)
		ret = divide_some(totals, due, shown.right, &shown);
	if (shown.is_unfit &&
	    (is_over || (shown.is_fit && shown.last_fit > shown.first_unfit))) {
		totals->found.count = 0;
		for (i = 0; i < totals->lanes.count; i++)
			totals->lanes.items[i]->is_unsummed = true;
	}
	return ret;
}

/* ---- All of it ---- */

static void clear(struct tap_net_totals *totals)
{
	totals->lanes.count = 0;
	totals->ops.count = 0;
	totals->messages.count = 0;
	totals->doubts.count = 0;
	totals->found.count = 0;
}

int tap_net_totals_find(struct tap_net_totals *totals, struct tap_serving *serving,
			const struct tap_candidate_world *world,
			const struct tap_net_route *route)
{
	const enum tap_series series = route->order.series;
	const struct tap_rank_ops *rank;
	struct tap_rank_pair pair;
	size_t i;
	int ret = 0;

	clear(totals);
	if (!world->is_whole || !series || !is_clear(route))
		return 0;
	pair = route->pairs.items[0];
	rank = tap_table_find(&world->ranks->by_member, pair.from->number, 0);
	for (i = 0; rank && i < rank->routes.count && !ret; i++)
		if (is_of(rank->routes.items[i], &pair))
			ret = add_lane(totals, serving, world, rank->routes.items[i],
				       series);
	if (ret)
		return ret == -EAGAIN ? 0 : ret;
	sort_ops(totals);
	if (totals->ops.count && series == TAP_SERIES_COLLECTIVES) {
		ret = add_earlier(totals, world, &pair);
		if (ret)
			return ret;
		sort_ops(totals);
	}
	for (i = 0; i < totals->ops.count; i++)
		totals->ops.items[i].is_known &=
			!may_lack(totals, world, &totals->ops.items[i]);
	return join_ops(totals) ? divide_all(totals, series, world->is_over) : 0;
}

void tap_net_totals_free(struct tap_net_totals *totals)
{
	tap_net_ledger_free(&totals->ledger);
	tap_vec_free(&totals->lanes);
	tap_vec_free(&totals->ops);
	tap_vec_free(&totals->messages);
	tap_vec_free(&totals->doubts);
	tap_vec_free(&totals->fit_ops);
	tap_vec_free(&totals->fit_messages);
	tap_vec_free(&totals->found);
}
