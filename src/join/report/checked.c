/* SPDX-License-Identifier: MIT */
/* Counts of links and losses, the verdict that follows from them, and their two forms. */
#include "join/report/checked.h"

#include "common/compiler.h"
#include "join/model/comm.h"
#include "join/report/columns.h"

#include <string.h>

/* Different things that cannot be observed; the rest are counted together. */
#define UNOBSERVED_MAX 256

enum verdict { VERDICT_OK, VERDICT_INCOMPLETE, VERDICT_DOUBTFUL, VERDICT_BAD };

/* One line of the table: a kind of link. */
struct row {
	const char *kind;
	uint64_t exact, decoded, inferred, unmatched, outstanding;
	struct {
		const char *why;
		uint64_t count;
	} whys[TAP_WHY_COUNT];
	size_t why_count;
};

static const enum tap_view_colour colours[] = {[VERDICT_OK] = TAP_VIEW_GREEN,
					       [VERDICT_INCOMPLETE] = TAP_VIEW_YELLOW,
					       [VERDICT_DOUBTFUL] = TAP_VIEW_YELLOW,
					       [VERDICT_BAD] = TAP_VIEW_RED};
static const char *const verdicts[] = {[VERDICT_OK] = "ok",
				       [VERDICT_INCOMPLETE] = "incomplete",
				       [VERDICT_DOUBTFUL] = "doubtful",
				       [VERDICT_BAD] = "bad"};

/* All that is written, once the trace is over. */
struct judged {
	const struct tap_checked *checked;
	const struct tap_findings *findings;
	const struct tap_context *context;
	const struct tap_loss *loss;
	enum verdict verdict;
	struct row rows[TAP_LINK_SEND_RECV + 1 + TAP_MATCH_KINDS];
};

int tap_checked_problem(struct tap_checked *checked, const struct tap_problem *problem)
{
	return tap_unobserved_add(&checked->unobserved, UNOBSERVED_MAX, problem);
}

void tap_checked_connection(struct tap_checked *checked,
			    const struct tap_nccl_connection *connection)
{
	tap_check_connections_add(&checked->connections, connection);
}

void tap_checked_link(struct tap_checked *checked, const struct tap_link *link)
{
	struct tap_matches *calls;

	/* The join counts links of all other kinds itself. */
	if (link->kind > TAP_LINK_SEND_RECV)
		return;
	calls = &checked->calls[link->kind];
	if (link->known == TAP_KNOWN_EXACT)
		calls->exact++;
	else
		calls->inferred++;
}

void tap_checked_defect(struct tap_checked *checked, const struct tap_loss *loss,
			const struct tap_link *link)
{
	/* In a flight recorder's trace, overwritten calls look like missing ranks. */
	if (link->mismatch || link->is_pending || !loss->is_window)
		tap_defects_note(&checked->defects, link);
}

static void add_why(struct row *row, const char *why, uint64_t count)
{
	if (!count)
		return;
	row->whys[row->why_count].why = why;
	row->whys[row->why_count++].count = count;
}

/* The line of a kind of operations.  Missing operations are not counted by kind. */
static struct row row_of_calls(const struct tap_checked *checked, enum tap_link_kind kind,
			       const struct tap_loss *loss)
{
	const struct tap_matches *calls = &checked->calls[kind];
	struct row row = {.kind = tap_link_kind_name(kind),
			  .exact = calls->exact,
			  .inferred = calls->inferred};

	add_why(&row, "not-returned", calls->inferred);
	if (kind != TAP_LINK_COLLECTIVE_RANKS)
		return row;
	row.unmatched = loss->unmatched_operations + loss->missing_operations +
			loss->not_recorded_operations + loss->ambiguous_operations +
			loss->unsure_operations;
	add_why(&row, "one-rank-only", loss->unmatched_operations);
	add_why(&row, "missing", loss->missing_operations);
	add_why(&row, "not-recorded", loss->not_recorded_operations);
	add_why(&row, "ambiguous", loss->ambiguous_operations);
	add_why(&row, "unsure", loss->unsure_operations);
	return row;
}

static struct row row_of_work(const struct tap_matches *matches, enum tap_match_kind kind)
{
	struct row row = {.kind = tap_match_name(kind),
			  .exact = matches->exact,
			  .decoded = matches->decoded,
			  .inferred = matches->inferred,
			  .unmatched = matches->unmatched,
			  .outstanding = matches->outstanding};
	enum tap_why why;

	for (why = TAP_WHY_NONE + 1; why < TAP_WHY_COUNT; why++)
		add_why(&row, tap_why_name(why), matches->why[why]);
	return row;
}

/* Whether the cause may be that a flight recorder has overwritten one half of a match. */
static bool is_overwritten(enum tap_why why)
{
	return why == TAP_WHY_POST_LOST || why == TAP_WHY_COMPLETION_LOST ||
	       why == TAP_WHY_PEER_MISSING || why == TAP_WHY_NOT_RECORDED ||
	       why == TAP_WHY_BEFORE;
}

static enum verdict judge_matches(const struct tap_matches *matches, bool is_window)
{
	enum verdict verdict = VERDICT_OK;
	enum tap_why why;

	for (why = TAP_WHY_NONE + 1; why < TAP_WHY_COUNT; why++) {
		if (!matches->why[why] || (is_window && is_overwritten(why)))
			continue;
		if (why == TAP_WHY_CONTRADICTED || why == TAP_WHY_POST_LOST ||
		    why == TAP_WHY_COMPLETION_LOST)
			return VERDICT_BAD;
		/* A failed request is known to have reached nobody. */
		if (why != TAP_WHY_FAILED && why != TAP_WHY_FLUSHED)
			verdict = VERDICT_DOUBTFUL;
	}
	return verdict;
}

/* Whether losses are of the kinds that a flight recorder causes on purpose. */
static bool has_lost_old(const struct tap_checked *checked, const struct tap_loss *loss)
{
	return loss->lost_exits || loss->lost_entries || loss->missing_operations ||
	       loss->not_recorded_operations || loss->unsure_operations ||
	       loss->unmatched_operations > loss->incomplete_alone ||
	       checked->defects.count > checked->defects.program;
}

/*
 * The verdict on the trace.  Bad: something unknown is missing, or the trace contradicts
 * itself.  Doubtful: something is uncertain, or could not be observed.
 */
static enum verdict judge(const struct tap_checked *checked,
			  const struct tap_context *context, const struct tap_loss *loss)
{
	const struct tap_matches *matches = context->matches;
	enum verdict verdict = VERDICT_OK, one;
	unsigned int kind;

	if (loss->discarded_events || loss->discarded_unknown || loss->damaged_streams ||
	    loss->malformed_events || loss->relay_gaps || loss->gpu_dropped ||
	    loss->mixed_clocks || (loss->discarded_packets && !loss->is_window))
		return VERDICT_BAD;
	/*
	 * A program may leave a call by a jump, or have entered it before the recording
	 * began.
	 */
	if ((!loss->is_window && has_lost_old(checked, loss)) || loss->evicted_calls ||
	    loss->ignored_fields || loss->removed_chunks || loss->unrecorded ||
	    loss->ambiguous_operations || loss->gpu_zero_times || loss->gpu_unknown ||
	    checked->unobserved.kinds.count || context->gpu_times.clock_errors)
		verdict = VERDICT_DOUBTFUL;
	for (kind = 0; kind < TAP_MATCH_KINDS; kind++) {
		/*
		 * The owner of the memory does not show whether something is missing, nor
		 * does a message for which the times leave several kernels.
		 */
		if (kind == TAP_MATCH_REQUEST_MEMORY || kind == TAP_MATCH_MESSAGE_KERNEL)
			continue;
		one = judge_matches(&matches[kind], loss->is_window);
		if (one > verdict)
			verdict = one;
	}
	return verdict;
}

/* ---- What is wrong with the program ---- */

static bool is_incomplete(const struct judged *judged)
{
	return tap_findings_lack_of_program(judged->findings) ||
	       judged->checked->defects.program;
}

/* Those that are no operation's, and so have no line among the defects. */
static void add_findings_text(const struct judged *judged, struct tap_buffer *line)
{
	const struct tap_finding *finding;
	size_t i;

	for (i = 0; i < tap_findings_count(judged->findings); i++) {
		finding = tap_findings_at(judged->findings, i);
		if (!tap_finding_is_of_program(finding) ||
		    (finding->comm && finding->op_number))
			continue;
		tap_buffer_add_string(line, "program: ");
		tap_buffer_add(line, finding->headline.data, finding->headline.used);
		tap_buffer_add_char(line, '\n');
	}
}

static void add_findings_json(const struct judged *judged, struct tap_json *json)
{
	size_t i;

	if (!is_incomplete(judged))
		return;
	if (!judged->checked->defects.count)
		tap_json_string(json, "program", "incomplete");
	tap_json_open(json, "findings", '[');
	for (i = 0; i < tap_findings_count(judged->findings); i++)
		if (tap_finding_is_of_program(tap_findings_at(judged->findings, i)))
			tap_finding_add_json(json, tap_findings_at(judged->findings, i));
	tap_json_close(json);
}

/* ---- Columns of the links ---- */

static void add_kind(struct tap_buffer *text, const void *data)
{
	const struct row *row = data;

	tap_buffer_add_string(text, row->kind);
}

static void add_whys(struct tap_buffer *line, const void *data)
{
	const struct row *row = data;
	size_t i;

	for (i = 0; i < row->why_count; i++) {
		tap_buffer_add_string(line, i ? ", " : "");
		tap_buffer_add_string(line, row->whys[i].why);
		tap_buffer_add_char(line, ' ');
		tap_buffer_add_unsigned(line, row->whys[i].count);
	}
}

#define COLUMN(key, width, member) \
	TAP_COLUMN(key, key, width, TAP_UNIT_COUNT, struct row, member)

static const struct tap_column row_columns[] = {
	TAP_COLUMN_TEXT("kind", "links", 18, add_kind),
	COLUMN("exact", 12, exact),
	COLUMN("decoded", 12, decoded),
	COLUMN("inferred", 12, inferred),
	COLUMN("unmatched", 12, unmatched),
	COLUMN("outstanding", 13, outstanding),
	TAP_COLUMN_TEXT(NULL, "why", 0, add_whys),
	TAP_COLUMNS_END,
};

/* ---- Text ---- */

/* Work that seems to begin before its launch has the time of the GPU's clock. */
static void add_times_text(struct tap_buffer *line, const struct tap_gpu_times *times)
{
	if (times->clock_errors) {
		tap_buffer_add_string(line, "clock errors: ");
		tap_buffer_add_unsigned(line, times->clock_errors);
		tap_buffer_add_string(line, " began before their launches, by up to ");
		tap_view_add_duration(line, times->clock_error_max_ns);
		tap_buffer_add_char(line, '\n');
	}
	if (times->has_residual) {
		tap_buffer_add_string(line, "GPU clock: known to ");
		tap_view_add_duration(line, times->residual_max_ns > INT64_MAX
						    ? INT64_MAX
						    : (int64_t) times->residual_max_ns);
		tap_buffer_add_char(line, '\n');
	}
}

static void add_text(struct tap_buffer *line, const struct judged *judged,
		     bool has_colour)
{
	const struct tap_unobserved *unobserved = &judged->checked->unobserved;
	const struct tap_context *context = judged->context;
	const struct tap_loss *loss = judged->loss;
	size_t i;

	tap_buffer_add_string(line, "verdict: ");
	tap_view_add_word(line, verdicts[judged->verdict], colours[judged->verdict],
			  has_colour);
	if (judged->verdict == VERDICT_INCOMPLETE)
		tap_buffer_add_string(line,
				      ": the trace is complete, the program is not");
	tap_buffer_add_string(line, "\nevents: ");
	tap_buffer_add_unsigned(line, context->event_count);
	tap_buffer_add_char(line, '\n');
	tap_view_add_snapshots_text(line, context);
	tap_view_add_clocks_text(line, context);
	if (loss->is_window)
		tap_buffer_add_string(line,
				      "window: a flight recorder overwrites what is "
				      "older on purpose; what belongs to that has "
				      "no match here\n");
	add_findings_text(judged, line);
	tap_defects_add_text(&judged->checked->defects, line);
	tap_buffer_add_char(line, '\n');
	tap_columns_add_headers(line, row_columns);
	tap_buffer_add_char(line, '\n');
	for (i = 0; i < ARRAY_SIZE(judged->rows); i++) {
		tap_columns_add_cells(line, row_columns, &judged->rows[i]);
		tap_buffer_add_char(line, '\n');
	}
	tap_buffer_add_char(line, '\n');
	add_times_text(line, &context->gpu_times);
	tap_check_connections_text(&judged->checked->connections, line);
	for (i = 0; i < unobserved->kinds.count; i++) {
		tap_buffer_add_string(line, "not observable: ");
		tap_unobserved_add_kind(line, &unobserved->kinds.items[i]);
		tap_buffer_add_char(line, '\n');
	}
	if (unobserved->others) {
		tap_buffer_add_string(line, "not observable: ");
		tap_buffer_add_unsigned(line, unobserved->others);
		tap_buffer_add_string(line, " more\n");
	}
	tap_view_add_loss_text(line, loss);
}

/* ---- JSON ---- */

static void add_row_json(struct tap_json *json, const struct row *row)
{
	size_t i;

	tap_json_open(json, NULL, '{');
	tap_columns_add_members(json, row_columns, row);
	tap_json_open(json, "why", '{');
	for (i = 0; i < row->why_count; i++)
		tap_json_unsigned(json, row->whys[i].why, row->whys[i].count);
	tap_json_close(json);
	tap_json_close(json);
}

static void add_unobserved_json(struct tap_json *json,
				const struct tap_unobserved_kind *kind)
{
	const bool is_several = kind->processes.count > 1;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "what", kind->what);
	tap_json_string(json, "why", is_several ? kind->why : kind->detail);
	tap_json_unsigned(json, "count", kind->count);
	tap_json_unsigned(json, "processes", kind->processes.count);
	tap_json_close(json);
}

static void add_json(struct tap_json *json, const struct judged *judged, bool has_streams)
{
	const struct tap_checked *checked = judged->checked;
	const struct tap_context *context = judged->context;
	const struct tap_gpu_times *times = &context->gpu_times;
	const struct tap_loss *loss = judged->loss;
	size_t i;

	tap_json_string(json, "verdict", verdicts[judged->verdict]);
	add_findings_json(judged, json);
	tap_defects_add_json(&checked->defects, json);
	if (context->clocks.count > 1)
		tap_view_add_hosts_json(json, context);
	tap_view_add_snapshots_json(json, context);
	if (loss->is_window)
		tap_json_bool(json, "window", true);
	tap_json_unsigned(json, "events", context->event_count);
	tap_json_unsigned(json, "discarded", loss->discarded_events);
	tap_json_open(json, "links", '[');
	for (i = 0; i < ARRAY_SIZE(judged->rows); i++)
		add_row_json(json, &judged->rows[i]);
	tap_json_close(json);
	tap_check_connections_json(&checked->connections, json);
	tap_json_open(json, "clock_errors", '{');
	tap_json_unsigned(json, "count", times->clock_errors);
	tap_json_signed(json, "max_ns", times->clock_error_max_ns);
	if (times->has_residual)
		tap_json_unsigned(json, "residual_ns", times->residual_max_ns);
	else
		tap_json_null(json, "residual_ns");
	tap_json_close(json);
	tap_json_open(json, "not_observable", '[');
	for (i = 0; i < checked->unobserved.kinds.count; i++)
		add_unobserved_json(json, &checked->unobserved.kinds.items[i]);
	tap_json_close(json);
	tap_json_unsigned(json, "other_not_observable", checked->unobserved.others);
	tap_view_add_loss_json(json, loss, has_streams);
}

static struct judged make_judged(const struct tap_checked *checked,
				 const struct tap_view *view,
				 const struct tap_findings *findings,
				 const struct tap_loss *loss)
{
	/* The order of the table. */
	static const enum tap_match_kind kinds[] = {
		TAP_MATCH_API_LAUNCH,	     TAP_MATCH_LAUNCH_KERNEL,
		TAP_MATCH_KERNEL_COLLECTIVE, TAP_MATCH_POST_COMPLETION,
		TAP_MATCH_SEND_RECEIVE,	     TAP_MATCH_CTS_MESSAGE,
		TAP_MATCH_FLUSH_MESSAGE,     TAP_MATCH_SOCKET_MESSAGE,
		TAP_MATCH_MESSAGE_KERNEL,    TAP_MATCH_REQUEST_MEMORY,
	};
	struct judged judged = {.checked = checked,
				.findings = findings,
				.context = view->context,
				.loss = loss,
				.verdict = judge(checked, view->context, loss)};
	struct row *row = judged.rows;
	size_t i;

	_Static_assert(ARRAY_SIZE(kinds) == TAP_MATCH_KINDS, "each kind has a line");
	*row++ = row_of_calls(checked, TAP_LINK_COLLECTIVE_RANKS, loss);
	*row++ = row_of_calls(checked, TAP_LINK_SEND_RECV, loss);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		*row++ = row_of_work(&view->context->matches[kinds[i]], kinds[i]);
	if (judged.verdict == VERDICT_OK && is_incomplete(&judged))
		judged.verdict = VERDICT_INCOMPLETE;
	return judged;
}

void tap_checked_add_text(struct tap_buffer *line, const struct tap_checked *checked,
			  const struct tap_view *view,
			  const struct tap_findings *findings,
			  const struct tap_loss *loss)
{
	const struct judged judged = make_judged(checked, view, findings, loss);

	add_text(line, &judged, view->settings.has_colour);
}

void tap_checked_add_json(struct tap_json *json, const struct tap_checked *checked,
			  const struct tap_view *view,
			  const struct tap_findings *findings,
			  const struct tap_loss *loss, bool has_streams)
{
	const struct judged judged = make_judged(checked, view, findings, loss);

	add_json(json, &judged, has_streams);
}

void tap_checked_free(struct tap_checked *checked)
{
	tap_unobserved_free(&checked->unobserved);
}
