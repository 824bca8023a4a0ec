/* SPDX-License-Identifier: MIT */
/*
 * A row keeps up to twice as many spans as it may, then drops the shorter half.  What is
 * shorter than all of them is dropped at once, so that most spans of a long trace cost a
 * comparison.
 */
#include "join/report/page_spans.h"

#include "join/base/time.h"
#include "join/model/context.h"
#include "join/views/perfetto_name.h"
#include "join/views/span_row.h"
#include "join/views/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* While the trace is read: rows, spans in one row and in all, and arrows. */
#define ROWS_MAX 4096
#define ROW_MAX 2000
#define KEPT_MAX 200000
#define ARROWS_MAX (8 * TAP_PAGE_ARROWS)

/* A row counts its spans by when they begin, in so many equal periods. */
#define BINS 256

/* What is told of a span; bits, and as a number how it is known. */
enum {
	SPAN_OPEN = 1,	     /* it never returned */
	SPAN_BEGIN_LOST = 2, /* it began before what is shown */
	SPAN_END_LOST = 4,   /* when it returned is not known */
	SPAN_FAILED = 8,
	SPAN_END_BOUND = 16,	/* it was over by its end */
	SPAN_IS_OPERATION = 32, /* its number and peer are part of its name */
	SPAN_IS_SEND = 64,
	SPAN_KNOWN_SHIFT = 7, /* enum tap_known, and 3: not known */
};

struct kept {
	struct tap_known_id id;
	int64_t begin_ns, end_ns;
	int64_t weight; /* its duration; INT64_MAX: never dropped for a shorter one */
	uint64_t op_number, bytes;
	int32_t peer;
	uint32_t name;
	uint32_t flags;
	uint32_t number; /* in the page, from 1 */
};

struct tap_page_row {
	struct tap_span_row what;
	TAP_VEC(struct kept *) spans;
	int64_t least;	    /* what weighs less is dropped at once */
	uint64_t count;	    /* all spans */
	unsigned int shift; /* a period has 2^shift ns */
	uint32_t bins[BINS];
	unsigned int importance;
	bool is_whole; /* all that it keeps is drawn */
};

/* ---- Rows ---- */

static struct tap_page_row *find_row(const struct tap_page_spans *spans,
				     struct tap_span_row_key key)
{
	return tap_table_find(&spans->by_key, key.kind_and_process, key.number);
}

/* Gets the row into *ret, NULL when there are too many.  Returns 0 or -ENOMEM. */
static int get_row(struct tap_page_spans *spans, const struct tap_span *span,
		   struct tap_page_row **ret)
{
	const struct tap_span_row_key key = tap_span_row_key(span);
	struct tap_page_row *row = find_row(spans, key);

	*ret = row;
	if (row || spans->rows.count == ROWS_MAX)
		return 0;
	row = calloc(1, sizeof(*row));
	if (!row || tap_vec_reserve(&spans->rows, spans->rows.count + 1) ||
	    tap_table_set(&spans->by_key, key.kind_and_process, key.number, row)) {
		free(row);
		return -ENOMEM;
	}
	row->what = tap_span_row_of(span);
	row->shift = 16;
	spans->rows.items[spans->rows.count++] = row;
	*ret = row;
	return 0;
}

/* Counts a span in its period; where the time is too long, each two become one. */
static void count_in_period(struct tap_page_row *row, uint64_t since_ns)
{
	size_t i;

	while (since_ns >> row->shift >= BINS) {
		for (i = 0; i < BINS / 2; i++)
			row->bins[i] = row->bins[2 * i] + row->bins[2 * i + 1];
		memset(row->bins + BINS / 2, 0, BINS / 2 * sizeof(row->bins[0]));
		row->shift++;
	}
	row->bins[since_ns >> row->shift]++;
}

/* ---- Dropping ---- */

static int compare_kept(const void *left, const void *right)
{
	const struct kept *a = *(const struct kept *const *) left;
	const struct kept *b = *(const struct kept *const *) right;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static void drop(struct tap_page_spans *spans, struct kept *kept)
{
	/* In a damaged trace two may have one id. */
	if (tap_table_find(&spans->by_id, kept->id.process, kept->id.number) == kept)
		tap_table_remove(&spans->by_id, kept->id.process, kept->id.number);
	free(kept);
	spans->kept--;
}

/* Keeps so many of the spans of a row, those that weigh most. */
static void thin(struct tap_page_spans *spans, struct tap_page_row *row, size_t max)
{
	if (row->spans.count <= max)
		return;
	qsort(row->spans.items, row->spans.count, sizeof(*row->spans.items),
	      compare_kept);
	while (row->spans.count > max)
		drop(spans, row->spans.items[--row->spans.count]);
	/* Of those that never returned, the first stay. */
	if (max)
		row->least = row->spans.items[max - 1]->weight;
}

static void thin_all(struct tap_page_spans *spans)
{
	size_t i;

	while (spans->kept > KEPT_MAX && spans->row_max > 1) {
		spans->row_max /= 2;
		for (i = 0; i < spans->rows.count; i++)
			thin(spans, spans->rows.items[i], spans->row_max);
	}
}

/* ---- Names ---- */

/* The index of the name in spans->name; the last one stands for all that have no room. */
static int get_name(struct tap_page_spans *spans, uint32_t *ret)
{
	struct tap_buffer *name = &spans->name;
	uint64_t hash;
	void *found;
	char *copy;

	if (name->used > TAP_PAGE_NAME) {
		name->used = TAP_PAGE_NAME;
		/* Not within a character. */
		while (name->used && (name->data[name->used] & 0xc0) == 0x80)
			name->used--;
	}
	tap_buffer_add_char(name, '\0');
	if (name->is_short)
		return -ENOMEM;
	hash = tap_table_hash(name->data);
	found = tap_table_find(&spans->by_name, hash, 0);
	if (found || spans->names.count >= TAP_PAGE_NAMES) {
		*ret = found ? (uint32_t) ((uintptr_t) found - 1) : TAP_PAGE_NAMES;
		return 0;
	}
	copy = strdup(name->data);
	if (!copy || tap_vec_add(&spans->names, copy)) {
		free(copy);
		return -ENOMEM;
	}
	*ret = (uint32_t) spans->names.count - 1;
	return tap_table_set(&spans->by_name, hash, 0,
			     (void *) (uintptr_t) spans->names.count);
}

/* ---- Spans ---- */

static unsigned int known_of(const struct tap_span *span)
{
	const char *known = tap_fields_get_string(&span->entry, "message_known");

	if (!known)
		known = tap_fields_get_string(&span->exit, "message_known");
	if (!known)
		return TAP_KNOWN_EXACT;
	return strcmp(known, "inferred") != 0 ? TAP_KNOWN_INFERRED + 1
					      : TAP_KNOWN_INFERRED;
}

static uint32_t flags_of(const struct tap_span *span, struct tap_perfetto_subject subject)
{
	uint32_t flags = known_of(span) << SPAN_KNOWN_SHIFT;

	if (span->state == TAP_SPAN_OPEN || span->state == TAP_SPAN_RUNNING)
		flags |= SPAN_OPEN;
	if (span->state == TAP_SPAN_BEGIN_LOST)
		flags |= SPAN_BEGIN_LOST;
	if (span->state == TAP_SPAN_END_LOST)
		flags |= SPAN_END_LOST;
	if (tap_span_is_failure(tap_span_result(span)))
		flags |= SPAN_FAILED;
	if (span->is_end_bound)
		flags |= SPAN_END_BOUND;
	if (subject.is_operation)
		flags |= SPAN_IS_OPERATION;
	if (subject.is_send)
		flags |= SPAN_IS_SEND;
	return flags;
}

static int64_t begin_of(const struct tap_span *span)
{
	return span->state == TAP_SPAN_BEGIN_LOST ? span->end_ns : span->begin_ns;
}

/* How much it matters that the span is drawn. */
static int64_t weigh(const struct tap_span *span)
{
	int64_t duration_ns;

	if (span->state == TAP_SPAN_OPEN || tap_span_is_failure(tap_span_result(span)))
		return INT64_MAX;
	if (span->state != TAP_SPAN_COMPLETE)
		return 0;
	duration_ns = tap_since_ns(span->end_ns, span->begin_ns);
	return duration_ns > 0 ? duration_ns : 0;
}

static int fill(struct tap_page_spans *spans, const struct tap_span *span,
		struct kept *kept)
{
	struct tap_perfetto_subject subject;
	int64_t bytes;

	spans->name.used = 0;
	subject = tap_perfetto_add_subject(&spans->name, span);
	bytes = subject.has_bytes ? tap_perfetto_bytes(span) : 0;
	kept->id = tap_known_span(span->process, &span->work, span->call_id);
	kept->begin_ns = begin_of(span);
	kept->end_ns = span->state == TAP_SPAN_COMPLETE ? span->end_ns : kept->begin_ns;
	kept->op_number = span->operation.number;
	kept->bytes = bytes > 0 ? (uint64_t) bytes : 0;
	kept->peer =
		span->operation.peer > INT32_MAX ? -1 : (int32_t) span->operation.peer;
	kept->flags = flags_of(span, subject);
	return get_name(spans, &kept->name);
}

static int keep(struct tap_page_spans *spans, struct tap_page_row *row,
		const struct tap_span *span, int64_t weight)
{
	struct kept *kept = calloc(1, sizeof(*kept));
	int ret = kept ? fill(spans, span, kept) : -ENOMEM;

	if (!ret)
		ret = tap_table_set(&spans->by_id, kept->id.process, kept->id.number,
				    kept);
	if (!ret)
		ret = tap_vec_add(&row->spans, kept);
	if (ret) {
		if (kept)
			tap_table_remove(&spans->by_id, kept->id.process,
					 kept->id.number);
		free(kept);
		return ret;
	}
	kept->weight = weight;
	spans->kept++;
	if (row->spans.count > 2 * spans->row_max)
		thin(spans, row, spans->row_max);
	if (spans->kept > 2 * KEPT_MAX)
		thin_all(spans);
	return 0;
}

int tap_page_spans_end(struct tap_page_spans *spans, const struct tap_context *context,
		       const struct tap_span *span)
{
	const int64_t since_ns = tap_since_ns(begin_of(span), context->first_ns);
	const int64_t weight = weigh(span);
	struct tap_page_row *row;
	int ret = get_row(spans, span, &row);

	spans->count++;
	if (!spans->row_max)
		spans->row_max = ROW_MAX;
	if (ret || !row) {
		spans->beyond += !ret;
		return ret;
	}
	row->count++;
	count_in_period(row, since_ns > 0 ? (uint64_t) since_ns : 0);
	/* What is kept is as long as the shortest, or there is room. */
	if (weight < row->least ||
	    (weight == row->least && row->spans.count >= spans->row_max))
		return 0;
	return keep(spans, row, span, weight);
}

void tap_page_spans_thread(struct tap_page_spans *spans,
			   const struct tap_nccl_thread *thread)
{
	struct tap_span_row_key keys[TAP_SPAN_ROWS_OF_THREAD];
	struct tap_page_row *row;
	size_t i;

	tap_span_row_keys_of_thread(thread, keys);
	for (i = 0; i < TAP_SPAN_ROWS_OF_THREAD; i++) {
		row = find_row(spans, keys[i]);
		if (row)
			row->what.role = thread->role;
	}
}

void tap_page_spans_connection(struct tap_page_spans *spans,
			       const struct tap_nccl_connection *connection)
{
	struct tap_span_row_key keys[TAP_SPAN_ROWS_OF_CONNECTION];
	struct tap_page_row *row;
	size_t i;

	tap_span_row_keys_of_connection(connection, keys);
	for (i = 0; i < TAP_SPAN_ROWS_OF_CONNECTION; i++) {
		row = find_row(spans, keys[i]);
		if (row)
			row->what.about = *connection;
	}
}

/* ---- Arrows ---- */

static struct kept *find_kept(const struct tap_page_spans *spans, struct tap_known_id id)
{
	return tap_table_find(&spans->by_id, id.process, id.number);
}

/*
 * Whether both ends are kept, or may be: a call that launches goes on, and what flushes a
 * message begins after the link.
 */
static bool may_be_drawn(const struct tap_page_spans *spans,
			 const struct tap_page_arrow *arrow)
{
	if (!find_kept(spans, arrow->from) && arrow->kind != TAP_LINK_API_LAUNCH)
		return false;
	return find_kept(spans, arrow->to) || arrow->kind == TAP_LINK_FLUSH_MESSAGE;
}

static void drop_arrows(struct tap_page_spans *spans)
{
	struct tap_page_arrow *arrows = spans->arrows.items;
	size_t i, kept = 0;

	for (i = 0; i < spans->arrows.count; i++)
		if (may_be_drawn(spans, &arrows[i]))
			arrows[kept++] = arrows[i];
		else
			spans->other_arrows++;
	spans->arrows.count = kept;
}

static int add_arrow(struct tap_page_spans *spans, const struct tap_link *link,
		     const struct tap_link_end *from, const struct tap_link_end *to)
{
	const struct tap_page_arrow arrow = {
		.from = tap_known_span(from->process, &from->work, from->call_id),
		.to = tap_known_span(to->process, &to->work, to->call_id),
		.kind = (unsigned char) link->kind,
		.known = (unsigned char) link->known,
	};

	if (!may_be_drawn(spans, &arrow)) {
		spans->other_arrows++;
		return 0;
	}
	if (spans->arrows.count == ARROWS_MAX)
		drop_arrows(spans);
	/* The rest would be looked at for each arrow. */
	if (spans->arrows.count > ARROWS_MAX / 2 && spans->arrows.count % 2) {
		spans->other_arrows++;
		return 0;
	}
	return tap_vec_add(&spans->arrows, arrow);
}

/* From the first end to each of the others, or back. */
static int add_star(struct tap_page_spans *spans, const struct tap_link *link, size_t hub,
		    size_t from, bool is_back)
{
	const struct tap_link_end *ends = link->ends;
	int ret = 0;
	size_t i;

	for (i = from; !ret && i < link->count; i++)
		ret = is_back ? add_arrow(spans, link, &ends[i], &ends[hub])
			      : add_arrow(spans, link, &ends[hub], &ends[i]);
	return ret;
}

int tap_page_spans_link(struct tap_page_spans *spans, const struct tap_link *link)
{
	int ret;

	switch (link->kind) {
	case TAP_LINK_COLLECTIVE_RANKS: /* no rank's call is the cause of another's */
	case TAP_LINK_SEND_RECV:
	case TAP_LINK_POST_COMPLETION: /* one span */
	case TAP_LINK_PROXY_OP:	       /* which has them around it */
		return 0;
	case TAP_LINK_CTS_MESSAGE:
		ret = add_star(spans, link, 1, 2, false);
		return ret ? ret : add_arrow(spans, link, &link->ends[0], &link->ends[1]);
	case TAP_LINK_KERNEL_COLLECTIVE:
		return add_star(spans, link, 0, 1, true);
	case TAP_LINK_MESSAGE_KERNEL:
		/* The message itself has a link of its own. */
		ret = add_arrow(spans, link, &link->ends[0], &link->ends[1]);
		return ret ? ret : add_arrow(spans, link, &link->ends[2], &link->ends[3]);
	default:
		return add_star(spans, link, 0, 1, false);
	}
}

/* ---- What is drawn ---- */

static int compare_rows(const struct tap_page_row *a, const struct tap_page_row *b)
{
	/* An unknown rank, -1, is the largest unsigned one. */
	const uint64_t of_a = (uint64_t) tap_process_rank(a->what.process);
	const uint64_t of_b = (uint64_t) tap_process_rank(b->what.process);
	int64_t place;

	if (of_a != of_b)
		return of_a < of_b ? -1 : 1;
	if (a->what.process != b->what.process)
		return a->what.process->number < b->what.process->number ? -1 : 1;
	place = tap_span_row_place(&a->what) - tap_span_row_place(&b->what);
	return (place > 0) - (place < 0);
}

static int compare_places(const void *left, const void *right)
{
	return compare_rows(*(const struct tap_page_row *const *) left,
			    *(const struct tap_page_row *const *) right);
}

static int compare_importance(const void *left, const void *right)
{
	const struct tap_page_row *a = *(const struct tap_page_row *const *) left;
	const struct tap_page_row *b = *(const struct tap_page_row *const *) right;

	if (a->importance != b->importance)
		return a->importance < b->importance ? 1 : -1;
	return compare_rows(a, b);
}

/* Rows of processes at fault, then calls and streams, then what is below them. */
static unsigned int importance_of(const struct tap_page_row *row,
				  const struct tap_findings *findings)
{
	const enum tap_span_row_kind kind = row->what.kind;
	unsigned int importance = kind == TAP_ROW_STREAM		     ? 3
				  : kind == TAP_ROW_CALLS && !row->what.role ? 2
				  : kind == TAP_ROW_MESSAGES		     ? 1
									     : 0;
	size_t i;

	for (i = 0; i < tap_findings_count(findings); i++)
		if (tap_finding_blames(tap_findings_at(findings, i), row->what.process))
			return importance + 4;
	return importance;
}

static void free_row(struct tap_page_spans *spans, struct tap_page_row *row)
{
	while (row->spans.count)
		drop(spans, row->spans.items[--row->spans.count]);
	tap_vec_free(&row->spans);
	free(row);
}

static void choose_rows(struct tap_page_spans *spans, const struct tap_findings *findings)
{
	struct tap_page_row **rows = spans->rows.items;
	const size_t count = spans->rows.count;
	size_t i;

	if (!count)
		return;
	for (i = 0; i < count; i++)
		rows[i]->importance = importance_of(rows[i], findings);
	qsort(rows, count, sizeof(*rows), compare_importance);
	while (spans->rows.count > TAP_PAGE_ROWS) {
		struct tap_page_row *row = rows[--spans->rows.count];

		spans->beyond += row->count;
		free_row(spans, row);
	}
	tap_table_free(&spans->by_key);
	memset(&spans->by_key, 0, sizeof(spans->by_key));
	qsort(rows, spans->rows.count, sizeof(*rows), compare_places);
}

/* Gives each row an equal share of the spans, and what others do not need. */
static void share_out(struct tap_page_spans *spans)
{
	size_t rest = TAP_PAGE_SPANS, waiting = spans->rows.count, before, each, i;

	do {
		before = waiting;
		each = waiting ? rest / waiting : 0;
		for (i = 0; i < spans->rows.count; i++) {
			struct tap_page_row *row = spans->rows.items[i];

			if (row->is_whole || row->spans.count > each)
				continue;
			row->is_whole = true;
			rest -= row->spans.count;
			waiting--;
		}
	} while (waiting && waiting < before);
	for (i = 0; waiting && i < spans->rows.count; i++)
		if (!spans->rows.items[i]->is_whole)
			thin(spans, spans->rows.items[i], each);
}

static int compare_begins(const void *left, const void *right)
{
	const struct kept *a = *(const struct kept *const *) left;
	const struct kept *b = *(const struct kept *const *) right;

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	/* What is around others comes first. */
	return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

static void number_spans(struct tap_page_spans *spans)
{
	uint32_t number = 0;
	size_t i, j;

	for (i = 0; i < spans->rows.count; i++) {
		struct tap_page_row *row = spans->rows.items[i];

		if (row->spans.count)
			qsort(row->spans.items, row->spans.count,
			      sizeof(*row->spans.items), compare_begins);
		for (j = 0; j < row->spans.count; j++)
			row->spans.items[j]->number = ++number;
	}
}

/* ---- JSON ---- */

static int64_t until(const struct kept *kept, const struct tap_context *context)
{
	return kept->flags & (SPAN_OPEN | SPAN_END_LOST) ? context->last_ns
							 : kept->end_ns;
}

/* [begin, duration, name, flags, op_number, bytes, peer] */
static void add_span(struct tap_json *json, const struct kept *kept,
		     const struct tap_context *context)
{
	tap_json_open(json, NULL, '[');
	tap_json_signed(json, NULL, tap_since_ns(kept->begin_ns, context->first_ns));
	tap_json_signed(json, NULL, tap_since_ns(until(kept, context), kept->begin_ns));
	tap_json_unsigned(json, NULL, kept->name);
	tap_json_unsigned(json, NULL, kept->flags);
	tap_json_unsigned(json, NULL, kept->op_number);
	tap_json_unsigned(json, NULL, kept->bytes);
	tap_json_signed(json, NULL, kept->peer);
	tap_json_close(json);
}

static void add_bins(struct tap_json *json, const struct tap_page_row *row)
{
	size_t i, count = BINS;

	while (count && !row->bins[count - 1])
		count--;
	tap_json_signed(json, "bin_ns", INT64_C(1) << row->shift);
	tap_json_open(json, "bins", '[');
	for (i = 0; i < count; i++)
		tap_json_unsigned(json, NULL, row->bins[i]);
	tap_json_close(json);
}

static void add_row(struct tap_json *json, struct tap_page_row *row,
		    const struct tap_context *context)
{
	static const char *const kinds[] = {
		[TAP_ROW_CALLS] = "calls",	 [TAP_ROW_RANGES] = "ranges",
		[TAP_ROW_CTRL] = "thread",	 [TAP_ROW_STREAM] = "stream",
		[TAP_ROW_OPS] = "proxy",	 [TAP_ROW_MESSAGES] = "messages",
		[TAP_ROW_REQUESTS] = "requests",
	};
	size_t i;

	tap_json_open(json, NULL, '{');
	tap_json_unsigned(json, "process", row->what.process->number);
	tap_json_string(json, "kind", kinds[row->what.kind]);
	tap_span_row_add_name(&json->text, &row->what);
	tap_json_text(json, "name");
	tap_json_unsigned(json, "count", row->count);
	tap_json_open(json, "spans", '[');
	for (i = 0; i < row->spans.count; i++)
		add_span(json, row->spans.items[i], context);
	tap_json_close(json);
	/* Counts stand for the spans that are not there. */
	if (row->count > row->spans.count)
		add_bins(json, row);
	tap_json_close(json);
}

static uint32_t number_of(const struct tap_page_spans *spans, struct tap_known_id id)
{
	const struct kept *kept = find_kept(spans, id);

	return kept ? kept->number : 0;
}

/* [from, to, kind, known], of spans as they are numbered from 0. */
static void add_arrows(struct tap_json *json, struct tap_page_spans *spans)
{
	uint32_t from, to;
	size_t i, count = 0;

	tap_json_open(json, "arrows", '[');
	for (i = 0; i < spans->arrows.count; i++) {
		const struct tap_page_arrow *arrow = &spans->arrows.items[i];

		from = number_of(spans, arrow->from);
		to = number_of(spans, arrow->to);
		if (!from || !to || count == TAP_PAGE_ARROWS) {
			spans->other_arrows++;
			continue;
		}
		count++;
		tap_json_open(json, NULL, '[');
		tap_json_unsigned(json, NULL, from - 1);
		tap_json_unsigned(json, NULL, to - 1);
		tap_json_unsigned(json, NULL, arrow->kind);
		tap_json_unsigned(json, NULL, arrow->known);
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_unsigned(json, "other_arrows", spans->other_arrows);
}

static void add_names(struct tap_json *json, const struct tap_page_spans *spans)
{
	unsigned int kind;
	size_t i;

	tap_json_open(json, "names", '[');
	for (i = 0; i < spans->names.count; i++)
		tap_json_string(json, NULL, spans->names.items[i]);
	if (spans->names.count == TAP_PAGE_NAMES)
		tap_json_string(json, NULL, "(one of too many names)");
	tap_json_close(json);
	tap_json_open(json, "link_kinds", '[');
	for (kind = 0; kind <= TAP_LINK_PROXY_OP; kind++)
		tap_json_string(json, NULL, tap_link_kind_name(kind));
	tap_json_close(json);
}

void tap_page_spans_add_json(struct tap_json *json, struct tap_page_spans *spans,
			     const struct tap_context *context,
			     const struct tap_findings *findings)
{
	const size_t rows = spans->rows.count;
	size_t i;

	choose_rows(spans, findings);
	share_out(spans);
	number_spans(spans);
	tap_json_open(json, "timeline", '{');
	tap_json_unsigned(json, "spans", spans->count);
	tap_json_unsigned(json, "spans_drawn", spans->kept);
	tap_json_unsigned(json, "spans_of_other_rows", spans->beyond);
	tap_json_unsigned(json, "other_rows", rows - spans->rows.count);
	add_names(json, spans);
	tap_json_open(json, "rows", '[');
	for (i = 0; i < spans->rows.count; i++)
		add_row(json, spans->rows.items[i], context);
	tap_json_close(json);
	add_arrows(json, spans);
	tap_json_close(json);
}

void tap_page_spans_free(struct tap_page_spans *spans)
{
	size_t i;

	for (i = 0; i < spans->rows.count; i++)
		free_row(spans, spans->rows.items[i]);
	for (i = 0; i < spans->names.count; i++)
		free(spans->names.items[i]);
	tap_vec_free(&spans->rows);
	tap_vec_free(&spans->names);
	tap_vec_free(&spans->arrows);
	tap_table_free(&spans->by_key);
	tap_table_free(&spans->by_id);
	tap_table_free(&spans->by_name);
	tap_buffer_free(&spans->name);
}
