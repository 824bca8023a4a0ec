/* SPDX-License-Identifier: MIT */
/*
 * Communicators that are never made because a rank does not come: to the initialisation,
 * to a split or to a shrink.
 *
 * Nothing describes such a communicator but the calls of the ranks that came, which are
 * open, or have returned with the work still to be done.  Calls with one key belong
 * together: the hash of the identifier or, of a split, the parent.
 */
#include "join/findings/analysis.h"
#include "join/findings/words.h"

#include <errno.h>
#include <stdlib.h>

#include "common/vec.h"

/* The tracer reports calls that are open for as long; see missing.c. */
#define HUNG_NS INT64_C(1000000000)

/* Ranks that came; the rest are counted, so that a damaged trace cannot fill the memory.
 */
#define CAME_MAX 65536

/* A communicator of more ranks is one of a damaged trace. */
#define RANKS_MAX 1048576

/* How many processes the details describe. */
#define DESCRIBED_MAX 4

enum setup_kind { SETUP_INIT, SETUP_SPLIT, SETUP_SHRINK };

/* The calls that make communicators, and where they say of which rank they are. */
static const struct row {
	const char *name, *hash, *nranks, *rank;
	enum setup_kind kind;
} rows[] = {
	{"ncclCommInitRank", "commId_hash", "nranks", "rank", SETUP_INIT},
	{"ncclCommInitRankConfig", "commId_hash", "nranks", "rank", SETUP_INIT},
	{"ncclCommInitRankScalable", "commIds_hash", "nranks", "myrank", SETUP_INIT},
	{"ncclCommSplit", NULL, NULL, NULL, SETUP_SPLIT},
	{"ncclCommShrink", NULL, NULL, NULL, SETUP_SHRINK},
};

/* Of the enumerations of tap:comm. */
#define ORIGIN_INIT 1
#define PHASE_INITIALISING 0

/* A rank that came. */
struct came {
	uint64_t key; /* of the identifier; 0: the parent identifies */
	const struct tap_comm *parent;
	const struct row *row; /* NULL: known by its communicator */
	const struct tap_name *name;
	int64_t nranks;
	struct tap_link_end end;
	bool is_excluding; /* a shrink, which some ranks of the parent do not call */
	bool is_returned;  /* it counts if its communicator is not made */
	bool is_counted;
};

struct setup {
	struct tap_analysis_state state;
	TAP_VEC(struct came) came;
	TAP_VEC(int64_t) excluded; /* of the last shrink */
};

static const struct row *find_row(const struct tap_name *name)
{
	size_t i;

	/* Of most calls the row says that they make nothing. */
	if (!name->is_nccl || (name->row && name->row->class != TAP_CLASS_SETUP))
		return NULL;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(name->name, rows[i].name))
			return &rows[i];
	return NULL;
}

static int64_t number(const struct tap_fields *fields, const char *name)
{
	int64_t value;

	return tap_fields_get_signed(fields, name, &value) ? -1 : value;
}

/* The ranks that a shrink leaves out, which all its callers name alike. */
static int note_excluded(struct setup *setup, const struct tap_span *span)
{
	const struct tap_field *list = tap_fields_find(&span->entry, "excludeRanksList");
	const uint64_t *ranks;
	size_t i;
	int ret = 0;

	setup->excluded.count = 0;
	if (!list || list->kind != TAP_FIELD_ARRAY)
		return 0;
	ranks = tap_fields_array(&span->entry, list);
	for (i = 0; !ret && i < list->value.data.length; i++)
		ret = tap_vec_add(&setup->excluded, (int64_t) ranks[i]);
	return ret;
}

/*
 * Notes a call that is open, or that began an initialisation which goes on behind it: in
 * a group, or of a communicator that does not block.
 */
static int note_span(void *data, struct tap_span *span)
{
	struct setup *setup = data;
	const struct row *row;
	struct came came = {0};

	if (span->is_inner || setup->came.count >= CAME_MAX)
		return 0;
	row = find_row(span->name);
	if (!row || (span->state != TAP_SPAN_OPEN &&
		     (row->kind != SETUP_INIT || span->state != TAP_SPAN_COMPLETE)))
		return 0;
	came.is_returned = span->state == TAP_SPAN_COMPLETE;
	came.row = row;
	came.name = span->name;
	came.nranks = row->nranks ? number(&span->entry, row->nranks) : -1;
	came.key = row->hash ? tap_fields_number(&span->entry, row->hash) : 0;
	came.end.process = span->process;
	came.end.name = span->name;
	came.end.call_id = span->call_id;
	came.end.rank = row->rank ? number(&span->entry, row->rank) : -1;
	came.end.facts.begin_ns = span->begin_ns;
	came.end.facts.end_ns = -1;
	came.end.facts.tid = span->tid;
	came.end.facts.operation = TAP_OPERATION_NONE;
	came.end.facts.caller_number = span->caller_number;
	came.end.facts.caller = span->caller;
	came.end.facts.caller_offset = span->caller_offset;
	came.end.facts.stack = span->stack;
	if (row->kind != SETUP_INIT) {
		if (!span->member)
			return 0;
		came.parent = tap_member_comm(span->member);
		came.end.member = span->member;
		came.end.rank = span->member->rank;
		came.nranks = came.parent->nranks;
		came.is_excluding = row->kind == SETUP_SHRINK;
		if (came.is_excluding && note_excluded(setup, span))
			return -ENOMEM;
	} else if (!came.key) {
		return 0;
	}
	return tap_vec_add(&setup->came, came);
}

/* ---- Communicators that are not ready, though the calls that make them returned ---- */

static bool has_come(const struct setup *setup, uint64_t key, int64_t rank)
{
	size_t i;

	for (i = 0; i < setup->came.count; i++)
		if (setup->came.items[i].key == key &&
		    setup->came.items[i].end.rank == rank)
			return true;
	return false;
}

static int add_member(struct setup *setup, const struct tap_comm *comm,
		      const struct tap_member *member)
{
	const struct came came = {
		.key = comm->key,
		.nranks = comm->nranks,
		.end = {.process = member->process,
			.member = member,
			.rank = member->rank,
			.facts = {.begin_ns = -1,
				  .end_ns = -1,
				  .tid = -1,
				  .operation = TAP_OPERATION_NONE}},
	};

	return has_come(setup, comm->key, member->rank) ? 0
							: tap_vec_add(&setup->came, came);
}

static bool is_initialising(const struct tap_member *member)
{
	return number(&member->about, "origin") == ORIGIN_INIT &&
	       number(&member->about, "phase") == PHASE_INITIALISING;
}

/* Whether some of its members, or open calls, are still making the communicator. */
static bool is_unmade(const struct setup *setup, const struct tap_comm *comm)
{
	const struct tap_member *member;
	size_t i;

	for (member = comm->members; member; member = member->next)
		if (is_initialising(member))
			return true;
	for (i = 0; i < setup->came.count; i++)
		if (setup->came.items[i].key == comm->key &&
		    !setup->came.items[i].is_returned)
			return true;
	return false;
}

static int add_members(struct setup *setup, const struct tap_comm *comm)
{
	const struct tap_member *member;
	size_t i;
	int ret = 0;

	if (!is_unmade(setup, comm))
		return 0;
	for (i = 0; i < setup->came.count; i++)
		if (setup->came.items[i].key == comm->key)
			setup->came.items[i].is_returned = false;
	for (member = comm->members; !ret && member; member = member->next)
		ret = add_member(setup, comm, member);
	return ret;
}

/* Those that returned, and whose communicators were made. */
static void drop_returned(struct setup *setup)
{
	size_t i, kept = 0;

	for (i = 0; i < setup->came.count; i++)
		if (!setup->came.items[i].is_returned)
			setup->came.items[kept++] = setup->came.items[i];
	setup->came.count = kept;
}

/* ---- One communicator ---- */

/* What is known of one that is not made. */
struct unmade {
	const struct came *first;
	struct tap_finding *finding;
	int64_t waited_ns;
};

static bool is_same(const struct came *a, const struct came *b)
{
	return a->parent ? a->parent == b->parent && a->row == b->row
			 : !b->parent && a->key == b->key;
}

static int compare_came(const void *left, const void *right)
{
	const struct came *a = left, *b = right;

	return a->end.rank < b->end.rank ? -1 : a->end.rank > b->end.rank;
}

/* Since when the rank waits: in the call, or since it was made. */
static void measure(const struct setup *setup, struct unmade *unmade,
		    const struct came *came)
{
	const struct tap_end_state *end =
		tap_findings_end_of(setup->state.findings, came->end.process);
	const int64_t begin_ns = came->end.facts.begin_ns;
	int64_t waited_ns;

	if (!end || begin_ns < 0)
		return;
	waited_ns = end->seen_ns > begin_ns ? end->seen_ns - begin_ns : 0;
	unmade->finding->cost_ns += waited_ns;
	if (waited_ns > unmade->waited_ns)
		unmade->waited_ns = waited_ns;
	if (unmade->finding->time_ns < 0 || begin_ns < unmade->finding->time_ns)
		unmade->finding->time_ns = begin_ns;
}

static int add_came(struct setup *setup, struct unmade *unmade)
{
	struct came *came;
	size_t i;

	for (i = 0; i < setup->came.count; i++) {
		came = &setup->came.items[i];
		if (!is_same(came, unmade->first))
			continue;
		came->is_counted = true;
		if (!unmade->finding->operation)
			unmade->finding->operation = came->name;
		measure(setup, unmade, came);
		if (tap_finding_add_waiting(unmade->finding, came->end.rank) ||
		    tap_finding_add_site(unmade->finding, &came->end))
			return -ENOMEM;
	}
	return 0;
}

static bool is_waiting(const struct tap_finding *finding, int64_t rank)
{
	size_t i;

	for (i = 0; i < finding->waiting.count; i++)
		if (finding->waiting.items[i] == rank)
			return true;
	return false;
}

static bool is_excluded(const struct setup *setup, const struct unmade *unmade,
			int64_t rank)
{
	size_t i;

	for (i = 0; unmade->first->is_excluding && i < setup->excluded.count; i++)
		if (setup->excluded.items[i] == rank)
			return true;
	return false;
}

/*
 * The process of a rank that did not come: a member of the parent or, where the ranks
 * that came are the job's own ranks, the process of that rank.
 */
static const struct tap_end_state *find_process(const struct setup *setup,
						const struct unmade *unmade, int64_t rank)
{
	const struct tap_findings *findings = setup->state.findings;
	const struct tap_processes *processes =
		&tap_findings_context(findings)->processes;
	const struct tap_member *member;
	size_t i;

	if (unmade->first->parent) {
		for (member = unmade->first->parent->members; member;
		     member = member->next)
			if (member->rank == rank)
				return tap_findings_end_of(findings, member->process);
		return NULL;
	}
	for (i = 0; i < unmade->finding->sites.count; i++)
		if (unmade->finding->sites.items[i].process->rank !=
		    unmade->finding->sites.items[i].rank)
			return NULL;
	for (i = 0; i < processes->count; i++)
		if (processes->all[i]->rank == rank && !processes->all[i]->is_foreign)
			return tap_findings_end_of(findings, processes->all[i]);
	return NULL;
}

static int add_missing(struct setup *setup, struct unmade *unmade)
{
	struct tap_finding *finding = unmade->finding;
	const struct tap_end_state *end;
	int64_t rank;

	for (rank = 0; rank < unmade->first->nranks; rank++) {
		if (is_waiting(finding, rank) || is_excluded(setup, unmade, rank))
			continue;
		end = find_process(setup, unmade, rank);
		if (tap_finding_add_rank(finding, rank) ||
		    tap_finding_add_at_fault(finding, end ? end->process : NULL))
			return -ENOMEM;
		if (end && end->end != TAP_END_NOT_SEEN)
			finding->severity = TAP_SEVERITY_ERROR;
	}
	return 0;
}

/* ---- Words ---- */

static void add_place(const struct setup *setup, struct tap_buffer *text,
		      const struct tap_end_state *end)
{
	if (end)
		tap_words_add_place(text, tap_findings_context(setup->state.findings),
				    end, NULL);
	else
		tap_buffer_add_string(text, "no process of it is in the trace");
}

/* "ncclCommInitRank of 0xaf59..: 3 of 4 ranks came and wait for 2.0 s and more; MISSING"
 */
static void add_headline(const struct setup *setup, const struct unmade *unmade)
{
	const struct tap_finding *finding = unmade->finding;
	struct tap_buffer *text = &unmade->finding->headline;

	tap_words_add_operation(text, finding->operation, 0, finding->comm);
	tap_buffer_add_string(text, ": ");
	tap_buffer_add_unsigned(text, finding->waiting.count);
	tap_buffer_add_string(text, " of ");
	tap_buffer_add_unsigned(text, finding->waiting.count + finding->ranks.count);
	tap_buffer_add_string(text, " ranks came");
	if (unmade->waited_ns) {
		tap_buffer_add_string(text, " and wait for ");
		tap_words_add_about(text, unmade->waited_ns);
		tap_buffer_add_string(text, " and more");
	}
	tap_buffer_add_string(text, "; MISSING ");
	tap_words_add_ranks(text, finding->ranks.items, finding->ranks.count);
	if (finding->ranks.count != 1)
		return;
	tap_buffer_add_string(text, " (");
	add_place(setup, text, find_process(setup, unmade, finding->ranks.items[0]));
	tap_buffer_add_char(text, ')');
}

static void add_described(const struct setup *setup, const struct unmade *unmade,
			  int64_t rank)
{
	const struct tap_end_state *end = find_process(setup, unmade, rank);
	struct tap_buffer *text = &unmade->finding->detail;

	if (!end)
		return;
	tap_words_add_ranks(text, &rank, 1);
	tap_buffer_add_string(text, ": ");
	tap_words_add_since(text, tap_findings_context(setup->state.findings), end);
	tap_buffer_add_char(text, '\n');
}

/* Processes that did not come, where nobody can tell which of them has which rank. */
static void add_candidates(const struct setup *setup, const struct unmade *unmade)
{
	const struct tap_findings *findings = setup->state.findings;
	const struct tap_context *context = tap_findings_context(findings);
	struct tap_buffer *text = &unmade->finding->detail;
	const struct tap_end_state *end;
	size_t i, described = 0;

	for (i = 0; i < context->processes.count && described < DESCRIBED_MAX; i++) {
		end = tap_findings_end_of(findings, context->processes.all[i]);
		if (!end || context->processes.all[i]->is_foreign ||
		    tap_finding_is_about(unmade->finding, context->processes.all[i]))
			continue;
		tap_buffer_add_string(text, described++ ? "; " : "did not come: ");
		tap_words_add_place(text, context, end, NULL);
	}
	if (described)
		tap_buffer_add_char(text, '\n');
}

static void add_detail(const struct setup *setup, const struct unmade *unmade)
{
	const struct tap_finding *finding = unmade->finding;
	const struct tap_call_facts *facts = &finding->sites.items[0].facts;
	struct tap_buffer *text = &unmade->finding->detail;
	size_t i;

	tap_words_add_ranks(text, finding->waiting.items, finding->waiting.count);
	tap_buffer_add_string(text, finding->waiting.count == 1 ? " waits" : " wait");
	if (facts->caller_number)
		tap_buffer_add_string(text, " at ");
	tap_words_add_caller(text, facts->caller, facts->caller_number,
			     facts->caller_offset);
	tap_buffer_add_char(text, '\n');
	for (i = 0; i < finding->ranks.count && i < DESCRIBED_MAX; i++)
		add_described(setup, unmade, finding->ranks.items[i]);
	if (finding->at_fault.count < finding->ranks.count)
		add_candidates(setup, unmade);
	text->used--;
}

static void add_next(const struct setup *setup, const struct unmade *unmade)
{
	const int64_t rank = unmade->finding->ranks.items[0];
	const struct tap_end_state *end = find_process(setup, unmade, rank);
	struct tap_buffer *text = &unmade->finding->next;

	if (end) {
		tap_words_add_next(text, end, rank);
		return;
	}
	tap_buffer_add_string(text, "was ");
	tap_words_add_ranks(text, &rank, 1);
	tap_buffer_add_string(text, " started, and does it get as far as ");
	tap_buffer_add_visible(text, unmade->finding->operation->name);
	tap_buffer_add_char(text, '?');
}

static int add_finding(struct setup *setup, const struct came *first)
{
	struct unmade unmade = {.first = first};
	struct tap_finding *finding =
		tap_findings_add(setup->state.findings, TAP_FINDING_MISSING,
				 TAP_SEVERITY_NOTE);

	if (!finding)
		return -ENOMEM;
	unmade.finding = finding;
	finding->cause = TAP_CAUSE_OF_WAIT;
	finding->comm = first->parent;
	finding->comm_key = first->key;
	if (add_came(setup, &unmade) || add_missing(setup, &unmade) ||
	    tap_finding_add_evidence(finding, "waited_ns", unmade.waited_ns,
				     TAP_KNOWN_EXACT) ||
	    tap_finding_add_evidence(finding, "ranks_came",
				     (int64_t) finding->waiting.count, TAP_KNOWN_EXACT) ||
	    tap_finding_add_evidence(finding, "ranks_expected",
				     (int64_t) (finding->waiting.count +
						finding->ranks.count),
				     TAP_KNOWN_EXACT))
		return -ENOMEM;
	if (unmade.waited_ns >= HUNG_NS)
		finding->severity = TAP_SEVERITY_ERROR;
	/* A caller of unknown rank may be any of the missing ranks. */
	if (!finding->ranks.count || !finding->operation ||
	    finding->waiting.items[0] < 0) {
		tap_findings_drop(setup->state.findings);
		return 0;
	}
	add_headline(setup, &unmade);
	add_detail(setup, &unmade);
	add_next(setup, &unmade);
	return 0;
}

static int conclude(void *data, const struct tap_loss *loss)
{
	struct setup *setup = data;
	const struct tap_comms *comms =
		&tap_findings_context(setup->state.findings)->comms;
	int ret = 0;
	size_t i;

	/*
	 * An open call whose event is lost looks like a rank that did not come, and so does a
	 * process that is not in the trace.
	 */
	if (tap_findings_may_lack_calls(loss) || loss->unrecorded)
		return 0;
	for (i = 0; !ret && i < comms->count; i++)
		if (comms->all[i]->key && !comms->all[i]->united)
			ret = add_members(setup, comms->all[i]);
	drop_returned(setup);
	if (setup->came.count)
		qsort(setup->came.items, setup->came.count, sizeof(*setup->came.items),
		      compare_came);
	for (i = 0; !ret && i < setup->came.count; i++)
		if (!setup->came.items[i].is_counted &&
		    setup->came.items[i].nranks <= RANKS_MAX)
			ret = add_finding(setup, &setup->came.items[i]);
	return ret;
}

static void free_all(void *data)
{
	struct setup *setup = data;

	tap_vec_free(&setup->came);
	tap_vec_free(&setup->excluded);
}

const struct tap_analysis tap_setup_analysis = {
	.name = "setup",
	.size = sizeof(struct setup),
	.takes = {.span_ended = note_span},
	.conclude = conclude,
	.free = free_all,
};
