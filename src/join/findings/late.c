/* SPDX-License-Identifier: MIT */
/*
 * Ranks that come late to collectives.  A rank's lateness in an operation is the time
 * from the median start of the others to its own, if it is the last to start: so long
 * does half of them wait at least, also where two ranks are late together.
 *
 * A finding is made of a pattern (lateness.h).  It is a warning where it costs a tenth of
 * the time from the communicator's first operation to its last, and a note from a
 * fiftieth on; and a warning of a single operation where it alone costs a fifth of that
 * time, or a second. What is lost in less than 20 ms altogether is not worth a warning,
 * nor a pause of less than 300 ms, which any busy machine makes.  The first operation of
 * a communicator is no finding by itself: it waits for whatever each rank sets up.
 *
 * Messages between two ranks are left out: a receiver that waits is what a pipeline is
 * made of.
 */
#include "join/findings/analysis.h"

#include "common/vec.h"
#include "join/base/spread.h"
#include "join/base/table.h"
#include "join/base/time.h"
#include "join/findings/collective.h"
#include "join/findings/lateness.h"
#include "join/findings/sample.h"
#include "join/base/quantity.h"
#include "join/findings/words.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* So many operations of a communicator are kept, at random when there are more. */
#define KEPT 256
/* The most ranks and communicators: a damaged trace cannot fill the memory. */
#define RANKS_MAX 65536
#define COMMS_MAX 4096
/* The most findings of a communicator. */
#define PATTERNS_MAX 4

#define WARNING_SHARE 0.1
#define NOTE_SHARE 0.02
#define WARNING_NS 20000000
#define ONCE_SHARE 0.2
#define ONCE_NS 300000000
#define ONCE_ALWAYS_NS 1000000000
/* By so much a single operation stands out from all others. */
#define ONCE_TIMES 4

/* Where a rank lost its time. */
enum where { BEFORE_CALL, IN_CALL, IN_QUEUE, WHERES };

/* An operation that is kept. */
struct kept {
	struct tap_lateness lateness; /* first: see compare_kept() */
	const struct tap_name *name;
	int64_t bytes;
	bool has_wheres;
	/* By how much more the last rank took there than the median of the others. */
	int64_t wheres[WHERES];
	int64_t gap_ns, before_ns, blocked_ns;
	const struct tap_name *before;
	const char *blocker;
	struct tap_link_end end; /* the last rank's call */
};

/* What is known of each rank, of all operations. */
struct rank {
	int64_t rank;
	uint64_t times_last;
	int64_t lost_ns;  /* the sum of its lateness */
	int64_t cost_ns;  /* what the others waited together */
	int64_t ended_ns; /* its kernel of the operation before */
};

struct comm {
	const struct tap_comm *comm;
	struct rank *ranks;
	unsigned int nranks;
	uint64_t timed; /* operations whose last rank is known */
	uint64_t by_kernels;
	uint64_t ended; /* the number of the operation before with kernels, 0 none */
	int64_t first_ns, last_ns; /* of all of them */
	int64_t uncertainty_ns;
	struct tap_draw draw;
	TAP_VEC(struct kept) kept;
	struct kept worst; /* the single operation with the largest lateness */
	int64_t second_ns; /* the next largest lateness */
	struct tap_sample transfers;
};

/* A pattern, or a single operation, and what it costs. */
struct found {
	struct comm *comm;
	enum tap_severity severity;
	struct tap_late_pattern pattern;
	const struct kept *single; /* NULL: the pattern */
	uint64_t times_last; /* of all operations, also of those that are not kept */
	int64_t lost_ns, cost_ns;
	const struct tap_name *name; /* of nearly all that are late; NULL: of several */
	const struct kept *example;
	bool has_where;
	enum where where;
	int64_t where_ns; /* there, of each */
	size_t few;	  /* one of so many operations is kept */
	size_t repeats;	  /* communicators in which the same rank is late, too */
};

struct late {
	struct tap_analysis_state state;
	struct tap_table comms; /* by number */
	TAP_VEC(struct found) found;
	int64_t *scratch; /* a number of each rank */
	size_t scratch_room;
};

/* ---- Counting ---- */

static int get_comm(struct late *late, const struct tap_collective *collective,
		    struct comm **ret)
{
	struct comm *comm = tap_table_find(&late->comms, collective->comm->number, 0);

	*ret = comm;
	if (comm || late->comms.count == COMMS_MAX)
		return 0;
	comm = calloc(1, sizeof(*comm));
	if (!comm)
		return -ENOMEM;
	comm->comm = collective->comm;
	comm->nranks = (unsigned int) collective->nranks;
	comm->first_ns = INT64_MAX;
	comm->last_ns = INT64_MIN;
	comm->ranks = calloc(comm->nranks, sizeof(*comm->ranks));
	if (!comm->ranks ||
	    tap_table_set(&late->comms, collective->comm->number, 0, comm)) {
		free(comm->ranks);
		free(comm);
		return -ENOMEM;
	}
	*ret = comm;
	return 0;
}

/*
 * The median of a time of all comparable ranks but the last; -1 where one of them is
 * unknown.
 */
static int64_t median_of_others(struct late *late,
				const struct tap_collective *collective,
				int64_t (*get)(const struct tap_arrival *arrival))
{
	size_t i, count = 0;

	for (i = 0; i < collective->count; i++) {
		if (i == collective->last || !collective->arrivals[i].is_comparable)
			continue;
		late->scratch[count] = get(&collective->arrivals[i]);
		if (late->scratch[count++] < 0)
			return -1;
	}
	return tap_median(late->scratch, count);
}

static int64_t start_of(const struct tap_arrival *arrival)
{
	return arrival->start_ns;
}

static int64_t call_of(const struct tap_arrival *arrival)
{
	return arrival->end.facts.begin_ns;
}

static int64_t launch_of(const struct tap_arrival *arrival)
{
	return arrival->launch_begin_ns;
}

/* Tells where the last rank lost its time: each begin is compared with the others' one.
 */
static void find_where(struct late *late, const struct tap_collective *collective,
		       struct kept *kept)
{
	const struct tap_arrival *last = &collective->arrivals[collective->last];
	const int64_t call_ns = median_of_others(late, collective, call_of);
	const int64_t launch_ns = median_of_others(late, collective, launch_of);
	int64_t called_ns, launched_ns;

	if (!collective->has_kernels || call_ns < 0 || launch_ns < 0 ||
	    call_of(last) < 0 || launch_of(last) < 0)
		return;
	called_ns = tap_since_ns(call_of(last), call_ns);
	launched_ns = tap_since_ns(launch_of(last), launch_ns);
	kept->wheres[BEFORE_CALL] = called_ns;
	kept->wheres[IN_CALL] = tap_since_ns(launched_ns, called_ns);
	kept->wheres[IN_QUEUE] = tap_since_ns(kept->lateness.lateness_ns, launched_ns);
	kept->has_wheres = true;
}

/* Looks at those that came with the last rank, and at the others. */
static void find_company(const struct tap_collective *collective,
			 struct tap_lateness *lateness)
{
	const struct tap_arrival *arrivals = collective->arrivals;
	const int64_t middle_ns = tap_since_ns(arrivals[collective->last].start_ns,
					       lateness->lateness_ns / 2);
	int64_t latest_ns = arrivals[collective->first].start_ns;
	size_t i;

	for (i = 0; i < collective->count; i++) {
		if (!arrivals[i].is_comparable)
			continue;
		if (arrivals[i].start_ns > middle_ns)
			lateness->together++;
		else if (arrivals[i].start_ns > latest_ns)
			latest_ns = arrivals[i].start_ns;
	}
	lateness->is_clear =
		tap_since_ns(latest_ns, arrivals[collective->first].start_ns) <=
		lateness->lateness_ns / 2;
}

static void fill(struct late *late, const struct tap_collective *collective,
		 int64_t lateness_ns, struct kept *kept)
{
	const struct tap_arrival *last = &collective->arrivals[collective->last];

	*kept = (struct kept){
		.lateness = {.number = collective->number,
			     .time_ns = last->start_ns,
			     .lateness_ns = lateness_ns,
			     .last = (unsigned int) collective->last},
		.name = collective->name,
		.bytes = collective->bytes,
		.gap_ns = last->gap_ns,
		.before = last->before,
		.before_ns = last->before_ns,
		.blocked_ns = last->blocked_ns,
		.blocker = last->blocker,
		.end = last->end,
	};
	find_company(collective, &kept->lateness);
	find_where(late, collective, kept);
}

static int keep(struct late *late, struct comm *comm,
		const struct tap_collective *collective, int64_t lateness_ns)
{
	const size_t at = tap_draw_next(&comm->draw, KEPT);

	if (comm->timed > 1 && lateness_ns > comm->worst.lateness.lateness_ns) {
		comm->second_ns = comm->worst.lateness.lateness_ns;
		fill(late, collective, lateness_ns, &comm->worst);
	} else if (comm->timed > 1 && lateness_ns > comm->second_ns) {
		comm->second_ns = lateness_ns;
	}
	if (at == KEPT)
		return 0;
	if (at == comm->kept.count && tap_vec_resize(&comm->kept, at + 1))
		return -ENOMEM;
	fill(late, collective, lateness_ns, &comm->kept.items[at]);
	return 0;
}

/* Whether the operation before, and when each rank came out of it, is known. */
static bool has_before(const struct comm *comm, const struct tap_collective *collective)
{
	return collective->has_kernels && comm->ended &&
	       comm->ended + 1 == collective->number;
}

/* By how much the last rank came out of the operation before later than the median. */
static int64_t carried(struct late *late, const struct comm *comm,
		       const struct tap_collective *collective)
{
	int64_t carried_ns;
	size_t i, count = 0;

	if (!has_before(comm, collective))
		return 0;
	for (i = 0; i < collective->count; i++)
		if (i != collective->last)
			late->scratch[count++] = comm->ranks[i].ended_ns;
	carried_ns = tap_since_ns(comm->ranks[collective->last].ended_ns,
				  tap_median(late->scratch, count));
	return carried_ns > 0 ? carried_ns : 0;
}

static void count_rank(struct comm *comm, const struct tap_collective *collective,
		       int64_t lateness_ns)
{
	struct rank *rank = &comm->ranks[collective->last];
	int64_t wait_ns, carried_ns;
	size_t i;

	rank->times_last++;
	rank->lost_ns += lateness_ns;
	for (i = 0; i < collective->count; i++) {
		wait_ns = tap_collective_wait_ns(collective, &collective->arrivals[i]);
		carried_ns =
			has_before(comm, collective)
				? tap_since_ns(rank->ended_ns, comm->ranks[i].ended_ns)
				: 0;
		if (carried_ns > 0)
			wait_ns = tap_since_ns(wait_ns, carried_ns);
		if (wait_ns > 0)
			rank->cost_ns += wait_ns;
	}
}

static void note_ends(struct comm *comm, const struct tap_collective *collective)
{
	size_t i;

	if (!collective->has_kernels)
		return;
	comm->ended = collective->number;
	for (i = 0; i < collective->count; i++)
		comm->ranks[i].ended_ns = collective->arrivals[i].kernel_end_ns;
}

static void count_span(struct comm *comm, const struct tap_collective *collective)
{
	const struct tap_arrival *arrivals = collective->arrivals;
	const int64_t first_ns = arrivals[collective->first].start_ns;
	const int64_t last_ns = arrivals[collective->last].start_ns;
	const int64_t end_ns =
		collective->end_ns > last_ns ? collective->end_ns : last_ns;
	size_t i;

	for (i = 0; i < collective->count; i++)
		comm->ranks[i].rank = arrivals[i].end.rank;
	if (first_ns < comm->first_ns)
		comm->first_ns = first_ns;
	if (end_ns > comm->last_ns)
		comm->last_ns = end_ns;
	if (collective->has_kernels)
		tap_sample_add(&comm->transfers, tap_since_ns(end_ns, last_ns));
	if (collective->uncertainty_ns > comm->uncertainty_ns)
		comm->uncertainty_ns = collective->uncertainty_ns;
	comm->by_kernels += collective->has_kernels;
}

/*
 * Forgets what calls said when the first kernels come: one operation whose kernels are
 * missing, among others, tells how far a rank's host runs ahead, not that it is late.
 */
static void forget_calls(struct comm *comm)
{
	const struct comm fresh = {.comm = comm->comm,
				   .ranks = comm->ranks,
				   .nranks = comm->nranks,
				   .first_ns = INT64_MAX,
				   .last_ns = INT64_MIN};

	tap_vec_free(&comm->kept);
	memset(comm->ranks, 0, comm->nranks * sizeof(*comm->ranks));
	*comm = fresh;
}

static int count(void *state, const struct tap_collective *collective)
{
	struct late *late = state;
	int64_t lateness_ns;
	struct comm *comm;
	int ret;

	if (collective->is_message || !collective->is_complete || !collective->is_timed ||
	    collective->nranks < 2 || collective->nranks > RANKS_MAX ||
	    (uint64_t) collective->nranks != collective->count)
		return 0;
	if (tap_array_reserve(late->scratch, late->scratch_room, collective->count))
		return -ENOMEM;
	ret = get_comm(late, collective, &comm);
	if (ret || !comm || comm->nranks != collective->count)
		return ret;
	if (comm->by_kernels && !collective->has_kernels)
		return 0;
	if (comm->timed && !comm->by_kernels && collective->has_kernels)
		forget_calls(comm);
	lateness_ns = tap_since_ns(collective->arrivals[collective->last].start_ns,
				   median_of_others(late, collective, start_of));
	lateness_ns = tap_since_ns(lateness_ns, carried(late, comm, collective));
	count_span(comm, collective);
	/* What may be an error of the clocks is nobody's lateness. */
	if (lateness_ns < 0 || lateness_ns <= collective->uncertainty_ns)
		lateness_ns = 0;
	comm->timed++;
	if (lateness_ns)
		count_rank(comm, collective, lateness_ns);
	note_ends(comm, collective);
	return keep(late, comm, collective, lateness_ns);
}

/* ---- What is found ---- */

static bool is_of(const struct found *found, const struct kept *kept)
{
	const struct tap_late_pattern *pattern = &found->pattern;
	size_t i;

	if (found->single)
		return kept == found->single;
	if (kept->lateness.lateness_ns < pattern->lateness_ns / 2)
		return false;
	for (i = 0; i < pattern->rank_count; i++)
		if (kept->lateness.last == pattern->ranks[i])
			return true;
	return false;
}

/* Takes of the operations that are late the place where most of the time was lost. */
static void sum_wheres(struct late *late, struct found *found)
{
	const struct comm *comm = found->comm;
	size_t i, where, counted;
	int64_t median_ns;

	for (where = 0; where < WHERES; where++) {
		counted = 0;
		for (i = 0; i < comm->kept.count; i++)
			if (is_of(found, &comm->kept.items[i]) &&
			    comm->kept.items[i].has_wheres)
				late->scratch[counted++] =
					comm->kept.items[i].wheres[where];
		if (found->single && found->single->has_wheres) {
			counted = 1;
			late->scratch[0] = found->single->wheres[where];
		}
		if (!counted)
			return;
		median_ns = tap_median(late->scratch, counted);
		if (where && median_ns <= found->where_ns)
			continue;
		found->where = (enum where) where;
		found->where_ns = median_ns;
	}
	found->has_where = found->where_ns > 0;
}

/* The function that nearly all late operations have; and the one that is most typical. */
static void find_example(struct found *found)
{
	const struct comm *comm = found->comm;
	const int64_t median_ns = found->pattern.lateness_ns;
	size_t i, same = 0, all = 0;
	int64_t away, nearest = INT64_MAX;

	if (found->single) {
		found->example = found->single;
		found->name = found->single->name;
		return;
	}
	for (i = 0; i < comm->kept.count; i++) {
		const struct kept *kept = &comm->kept.items[i];

		if (!is_of(found, kept))
			continue;
		away = tap_since_ns(kept->lateness.lateness_ns, median_ns);
		away = away < 0 ? -away : away;
		if (away < nearest) {
			nearest = away;
			found->example = kept;
		}
	}
	for (i = 0; found->example && i < comm->kept.count; i++) {
		if (!is_of(found, &comm->kept.items[i]))
			continue;
		all++;
		same += comm->kept.items[i].name == found->example->name;
	}
	if (found->example && 10 * same >= 9 * all)
		found->name = found->example->name;
}

static void sum_ranks(struct found *found)
{
	size_t i;

	for (i = 0; i < found->pattern.rank_count; i++) {
		const struct rank *rank = &found->comm->ranks[found->pattern.ranks[i]];

		found->times_last += rank->times_last;
		found->lost_ns += rank->lost_ns;
		found->cost_ns += rank->cost_ns;
	}
}

/* ---- Words ---- */

/* "9 of 11", of all operations; an estimate where not all are kept. */
static void add_counts(struct tap_buffer *text, const struct found *found, bool is_exact)
{
	uint64_t late = found->pattern.late, of = found->pattern.of;

	if (is_exact) {
		late = found->times_last;
		of = found->comm->timed;
	} else if (found->few > 1) {
		tap_buffer_add_string(text, "about ");
		late = tap_spread_round(late * found->few);
		of = tap_spread_round(of * found->few);
	}
	tap_buffer_add_unsigned(text, late);
	tap_buffer_add_string(text, " of ");
	tap_buffer_add_unsigned(text, of);
	tap_buffer_add_string(text, " collectives");
}

/* "12.3 s": since the first event. */
static void add_moment(struct tap_buffer *text, const struct tap_context *context,
		       int64_t ns)
{
	const int64_t since_ns = tap_since_ns(ns, context->first_ns);
	const uint64_t tenths = since_ns > 0 ? (uint64_t) since_ns / 100000000 : 0;

	tap_buffer_add_unsigned(text, tenths / 10);
	tap_buffer_add_char(text, '.');
	tap_buffer_add_unsigned(text, tenths % 10);
	tap_buffer_add_string(text, " s");
}

static void add_headline(struct tap_buffer *text, const struct tap_context *context,
			 const struct found *found, const struct tap_finding *finding)
{
	const struct tap_late_pattern *pattern = &found->pattern;
	const bool is_one = finding->ranks.count == 1;

	tap_words_begin_with_ranks(text, finding->ranks.items, finding->ranks.count);
	if (context->comms.count > 1) {
		tap_buffer_add_string(text, " of ");
		tap_view_add_key(text, found->comm->comm->key);
	}
	if (found->single) {
		tap_buffer_add_string(text, " was late once: ");
		tap_quantity_add_duration(text, found->single->lateness.lateness_ns);
		tap_buffer_add_string(text, " after the others to ");
		tap_buffer_add_visible(text,
				       found->name ? found->name->name : "operation");
		tap_buffer_add_string(text, " #");
		tap_buffer_add_unsigned(text, found->single->lateness.number);
		tap_buffer_add_string(text, ", at ");
		add_moment(text, context, found->single->lateness.time_ns);
		tap_buffer_add_char(text, '.');
		return;
	}
	tap_buffer_add_string(text, is_one ? " is late" : " are late");
	switch (pattern->course) {
	case TAP_LATE_ALWAYS:
	case TAP_LATE_SOMETIMES:
		tap_buffer_add_string(text, ": ");
		break;
	case TAP_LATE_SINCE:
	case TAP_LATE_UNTIL:
		tap_buffer_add_string(text, pattern->course == TAP_LATE_SINCE
						    ? " since "
						    : " until ");
		add_moment(text, context, pattern->change_ns);
		tap_buffer_add_string(text, ": ");
		break;
	case TAP_LATE_PERIOD:
		tap_buffer_add_string(text, " to every ");
		tap_quantity_add_ordinal(text, pattern->period);
		tap_buffer_add_string(text, " collective: ");
		break;
	}
	tap_buffer_add_string(text,
			      is_one ? "last to start " : "one of them last to start ");
	add_counts(text, found, pattern->course == TAP_LATE_ALWAYS);
	tap_buffer_add_string(text, ", by ");
	tap_quantity_add_duration(text, pattern->lateness_ns);
	tap_buffer_add_string(text, " each.");
}

static void add_where(struct tap_buffer *text, const struct found *found)
{
	static const char *const wheres[WHERES] = {
		[BEFORE_CALL] = " of it before it calls",
		[IN_CALL] = " of it from the call to the launch of the kernel",
		[IN_QUEUE] = " of it in the GPU's queue, after the launch"};
	const struct kept *example = found->example;

	if (!found->has_where)
		return;
	tap_buffer_add_string(text, "\nThe late rank loses ");
	tap_quantity_add_duration(text, found->where_ns);
	tap_buffer_add_string(text, wheres[found->where]);
	if (found->where == BEFORE_CALL && example->before &&
	    example->before_ns > found->where_ns / 2) {
		tap_buffer_add_string(text, ", most in ");
		tap_buffer_add_visible(text, example->before->name);
	}
	if (found->where == IN_QUEUE && example->blocker &&
	    example->blocked_ns > found->where_ns / 2) {
		tap_buffer_add_string(text, ", behind ");
		tap_buffer_add_visible(text, example->blocker);
	}
	tap_buffer_add_char(text, '.');
}

static void add_detail(struct tap_buffer *text, const struct found *found,
		       const struct tap_finding *finding)
{
	const bool by_kernels = found->comm->by_kernels > 0;
	const size_t waiting = finding->waiting.count;

	tap_buffer_add_string(text, waiting == 1 ? "The other rank waits about "
						 : "The other ranks wait about ");
	tap_quantity_add_duration(text, waiting ? found->cost_ns / (int64_t) waiting : 0);
	tap_buffer_add_string(text, waiting > 1 ? " each" : "");
	tap_buffer_add_string(text, by_kernels ? " inside NCCL kernels."
					       : ", as the calls show.");
	add_where(text, found);
	if (!found->repeats)
		return;
	tap_buffer_add_string(text, "\nIt is late in ");
	tap_buffer_add_unsigned(text, found->repeats);
	tap_buffer_add_string(text, found->repeats == 1 ? " other communicator, too."
							: " other communicators, too.");
}

static void add_rules_out(struct tap_buffer *text, const struct found *found)
{
	const int64_t transfer_ns = tap_sample_median(&found->comm->transfers);
	const int64_t late_ns = found->single ? found->single->lateness.lateness_ns
					      : found->pattern.lateness_ns;

	if (transfer_ns < 0 || transfer_ns > late_ns / 5)
		return;
	tap_buffer_add_string(text, "The transfer is not the problem: ");
	tap_quantity_add_duration(text, transfer_ns);
	tap_buffer_add_string(text, " from the last rank's start.");
}

static void add_next(struct tap_buffer *text, const struct found *found,
		     const struct tap_finding *finding)
{
	const struct kept *example = found->example;
	const struct tap_call_facts *facts = &example->end.facts;
	const int64_t rank = finding->ranks.items[0];

	if (found->has_where && found->where == IN_QUEUE) {
		tap_buffer_add_string(text, "what runs on the GPU of ");
		tap_words_add_ranks(text, &rank, 1);
		tap_buffer_add_string(text, " before the kernel of ");
	} else {
		tap_buffer_add_string(text, "what does ");
		tap_words_add_ranks(text, &rank, 1);
		tap_buffer_add_string(text, " do before ");
	}
	tap_buffer_add_visible(text, example->end.name->name);
	if (facts->caller_number) {
		tap_buffer_add_string(text, " (");
		tap_view_add_caller(text, facts->caller, facts->caller_number,
				    facts->caller_offset);
		tap_buffer_add_char(text, ')');
	}
	tap_buffer_add_char(text, '?');
}

/* ---- Evidence ---- */

static int add_evidence(struct tap_finding *finding, const struct found *found)
{
	static const char *const wheres[WHERES] = {[BEFORE_CALL] = "before_call_ns",
						   [IN_CALL] = "in_call_ns",
						   [IN_QUEUE] = "in_queue_ns"};
	const struct comm *comm = found->comm;
	const enum tap_known known =
		comm->by_kernels == comm->timed ? TAP_KNOWN_EXACT : TAP_KNOWN_INFERRED;
	const enum tap_known counted = found->few > 1 ? TAP_KNOWN_INFERRED : known;
	const struct tap_late_pattern *pattern = &found->pattern;
	const struct {
		const char *name;
		int64_t value; /* negative: left out */
		enum tap_known known;
	} all[] = {
		{"lateness_ns",
		 found->single ? found->single->lateness.lateness_ns
			       : pattern->lateness_ns,
		 counted},
		{"deviation_ns", found->single ? -1 : pattern->deviation_ns, counted},
		{"times_last", (int64_t) found->times_last, known},
		{"collectives", (int64_t) comm->timed, known},
		{"waited_ns", found->cost_ns, known},
		{"lost_ns", found->lost_ns, known},
		{"span_ns", tap_since_ns(comm->last_ns, comm->first_ns), known},
		{"transfer_ns", tap_sample_median(&comm->transfers), known},
		{"period", pattern->period ? (int64_t) pattern->period : -1, counted},
		{wheres[found->where], found->has_where ? found->where_ns : -1, counted},
		{"gap_ns", found->example->gap_ns, known},
		{"uncertainty_ns", comm->uncertainty_ns ? comm->uncertainty_ns : -1,
		 known},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].value >= 0 &&
		    tap_finding_add_evidence(finding, all[i].name, all[i].value,
					     all[i].known))
			return -ENOMEM;
	return 0;
}

static int compare_int64(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *) left, b = *(const int64_t *) right;

	return (a > b) - (a < b);
}

static int add_sides(struct tap_finding *finding, const struct found *found)
{
	unsigned int i;
	size_t j;

	for (i = 0; i < found->comm->nranks; i++) {
		bool is_late = false;
		int ret;

		for (j = 0; j < found->pattern.rank_count; j++)
			is_late |= found->pattern.ranks[j] == i;
		ret = is_late ? tap_finding_add_rank(finding, found->comm->ranks[i].rank)
			      : tap_finding_add_waiting(finding,
							found->comm->ranks[i].rank);
		if (ret)
			return ret;
	}
	qsort(finding->ranks.items, finding->ranks.count, sizeof(int64_t), compare_int64);
	return tap_finding_add_site(finding, &found->example->end);
}

static int report(struct late *late, const struct found *found)
{
	const struct tap_context *context = tap_findings_context(late->state.findings);
	struct tap_finding *finding =
		tap_findings_add(late->state.findings, TAP_FINDING_LATE, found->severity);

	if (!finding || add_sides(finding, found) || add_evidence(finding, found))
		return -ENOMEM;
	finding->comm = tap_comm_root((struct tap_comm *) found->comm->comm);
	finding->operation = found->name;
	if (found->single)
		finding->op_number = found->single->lateness.number;
	finding->cost_ns = found->cost_ns;
	finding->time_ns = found->single ? found->single->lateness.time_ns
					 : found->pattern.change_ns;
	add_headline(&finding->headline, context, found, finding);
	add_detail(&finding->detail, found, finding);
	add_rules_out(&finding->rules_out, found);
	add_next(&finding->next, found, finding);
	return 0;
}

/* ---- The end ---- */

/* The share of the communicator's time. */
static double share_of(const struct comm *comm, int64_t ns)
{
	const int64_t span_ns = tap_since_ns(comm->last_ns, comm->first_ns);

	return span_ns > 0 ? (double) ns / (double) span_ns : 0;
}

static int conclude_pattern(struct late *late, struct comm *comm,
			    const struct tap_late_pattern *pattern, bool *has_found)
{
	struct found found = {.comm = comm, .pattern = *pattern, .few = 1};
	double share;

	if (comm->timed > KEPT)
		found.few = (size_t) (comm->timed / KEPT);
	sum_ranks(&found);
	sum_wheres(late, &found);
	find_example(&found);
	share = share_of(comm, found.lost_ns);
	if (share < NOTE_SHARE || !found.example)
		return 0;
	*has_found = true;
	found.severity = share >= WARNING_SHARE && found.lost_ns >= WARNING_NS &&
					 !pattern->is_faint
				 ? TAP_SEVERITY_WARNING
				 : TAP_SEVERITY_NOTE;
	return tap_vec_add(&late->found, found);
}

/* One long pause, which stands out from all else. */
static int conclude_single(struct late *late, struct comm *comm)
{
	const int64_t ns = comm->worst.lateness.lateness_ns;
	struct found found = {.comm = comm, .single = &comm->worst, .few = 1};

	if (ns < ONCE_NS || ns / ONCE_TIMES < comm->second_ns ||
	    (ns < ONCE_ALWAYS_NS && share_of(comm, ns) < ONCE_SHARE))
		return 0;
	found.pattern.ranks[0] = comm->worst.lateness.last;
	found.pattern.rank_count = 1;
	found.times_last = 1;
	found.lost_ns = ns;
	found.cost_ns = ns * (int64_t) (comm->nranks - 1);
	sum_wheres(late, &found);
	find_example(&found);
	found.severity = TAP_SEVERITY_WARNING;
	return tap_vec_add(&late->found, found);
}

static int compare_kept(const void *left, const void *right)
{
	const struct tap_lateness *a = left, *b = right;

	return a->number < b->number ? -1 : a->number > b->number;
}

static int conclude_comm(struct late *late, struct comm *comm)
{
	const size_t count = comm->kept.count;
	struct tap_late_pattern pattern;
	struct tap_lateness *series;
	bool has_found = false;
	int ret = 1;
	size_t i;

	if (!count)
		return 0;
	qsort(comm->kept.items, count, sizeof(*comm->kept.items), compare_kept);
	series = calloc(count, sizeof(*series));
	if (!series || tap_array_reserve(late->scratch, late->scratch_room, count)) {
		free(series);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++)
		series[i] = comm->kept.items[i].lateness;
	for (i = 0; ret == 1 && i < PATTERNS_MAX; i++) {
		ret = tap_late_find(series, count, comm->nranks, &pattern);
		if (ret == 1 && conclude_pattern(late, comm, &pattern, &has_found))
			ret = -ENOMEM;
	}
	free(series);
	if (ret < 0)
		return ret;
	return has_found ? 0 : conclude_single(late, comm);
}

/* What costs most first. */
static int compare_found(const void *left, const void *right)
{
	const struct found *a = left, *b = right;

	if (a->severity != b->severity)
		return a->severity > b->severity ? -1 : 1;
	if (a->cost_ns != b->cost_ns)
		return a->cost_ns > b->cost_ns ? -1 : 1;
	return a->comm->comm->number < b->comm->comm->number ? -1 : 1;
}

/* Whether the second is a pattern of the same rank in another communicator. */
static bool is_same_gpu(const struct found *a, const struct found *b)
{
	const struct tap_link_end *left = &a->example->end, *right;

	if (a->comm == b->comm || b->single || !b->example)
		return false;
	right = &b->example->end;
	return left->process == right->process &&
	       (!left->member || !right->member ||
		left->member->device == right->member->device);
}

/* A rank that is late in several communicators is one finding, that of the worst. */
static int report_all(struct late *late)
{
	struct found *all = late->found.items;
	const size_t count = late->found.count;
	size_t i, j;
	int ret = 0;

	if (count)
		qsort(all, count, sizeof(*all), compare_found);
	for (i = 0; !ret && i < count; i++) {
		if (!all[i].example)
			continue;
		for (j = i + 1; j < count; j++) {
			if (!is_same_gpu(&all[i], &all[j]))
				continue;
			all[i].repeats++;
			all[j].example = NULL;
		}
		ret = report(late, &all[i]);
	}
	return ret;
}

static int conclude(void *state, const struct tap_loss *loss)
{
	struct late *late = state;
	int ret = 0;
	size_t i;

	(void) loss;
	for (i = 0; !ret && i < late->comms.size; i++)
		if (late->comms.slots[i].value)
			ret = conclude_comm(late, late->comms.slots[i].value);
	return ret ? ret : report_all(late);
}

static void free_all(void *state)
{
	struct late *late = state;
	size_t i;

	for (i = 0; i < late->comms.size; i++) {
		struct comm *comm = late->comms.slots[i].value;

		if (!comm)
			continue;
		tap_vec_free(&comm->kept);
		free(comm->ranks);
		free(comm);
	}
	tap_table_free(&late->comms);
	tap_vec_free(&late->found);
	free(late->scratch);
}

const struct tap_analysis tap_late_analysis = {
	.name = "late",
	.size = sizeof(struct late),
	.collective = count,
	.conclude = conclude,
	.free = free_all,
};
