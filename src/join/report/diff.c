/* SPDX-License-Identifier: MIT */
/* Measures of one name are compared; what changed is a sentence. */
#include "join/report/diff.h"

#include "join/report/columns.h"
#include "join/report/screen.h"

#include <stdlib.h>
#include <string.h>

/* Fewer values tell nothing of the noise. */
#define VALUES_MIN 3

/* A smaller difference of medians, in per cent, is within the digits of a percentile. */
#define PERCENT_MIN 10

/* Where the text of a change begins. */
#define INDENT 9

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t distance(int64_t a, int64_t b)
{
	return a > b ? a - b : b - a;
}

/* ---- Comparing ---- */

/* Whether medians differ by more than the noise of either run. */
static bool is_other_time(const struct tap_measure *a, const struct tap_measure *b)
{
	const int64_t change = distance(a->ns, b->ns);

	return change > larger(a->noise_ns, b->noise_ns) &&
	       change > larger(a->ns, b->ns) / 100 * PERCENT_MIN;
}

/*
 * Whether shares of few events differ by more than chance: by two standard deviations of
 * a share, which is at most 50 / sqrt(count) per cent.
 */
static bool is_other_share(const struct tap_measure *a, const struct tap_measure *b)
{
	const int64_t change = distance(a->percent, b->percent);
	const int64_t count = a->count < b->count ? a->count : b->count;

	return change > PERCENT_MIN && change * change * count > 100 * 100;
}

static int add(struct tap_diff *diff, enum tap_change_kind kind,
	       const struct tap_measure *before, const struct tap_measure *after,
	       int64_t weight_ns)
{
	const struct tap_change change = {kind, before, after, weight_ns};

	return tap_vec_add(&diff->changes, change);
}

/* Compares a collective, a rank or a connection. */
static int compare(struct tap_diff *diff, const struct tap_measure *before,
		   const struct tap_measure *after)
{
	const bool is_rank = after->kind == TAP_MEASURE_RANK;
	int64_t weight;

	if (before->count < VALUES_MIN || after->count < VALUES_MIN || before->ns < 0 ||
	    after->ns < 0) {
		diff->too_few++;
		return 0;
	}
	if (!(is_rank ? is_other_share(before, after) : is_other_time(before, after))) {
		diff->same++;
		return 0;
	}
	if (is_rank)
		return add(diff,
			   after->percent > before->percent ? TAP_CHANGE_LATER
							    : TAP_CHANGE_EARLIER,
			   before, after, distance(before->ns, after->ns));
	if (__builtin_mul_overflow(distance(before->ns, after->ns), after->count,
				   &weight))
		weight = INT64_MAX - 1;
	return add(diff, after->ns > before->ns ? TAP_CHANGE_SLOWER : TAP_CHANGE_FASTER,
		   before, after, weight);
}

static int note_alone(struct tap_diff *diff, enum tap_change_kind kind,
		      const struct tap_measure *measure)
{
	const bool is_gone = kind == TAP_CHANGE_GONE;

	if (measure->kind != TAP_MEASURE_FINDING) {
		diff->only_once++;
		return 0;
	}
	return add(diff, kind, is_gone ? measure : NULL, is_gone ? NULL : measure,
		   measure->percent == TAP_SEVERITY_ERROR ? INT64_MAX : measure->ns);
}

/* What weighs most first; then by kind and name. */
static int compare_changes(const void *left, const void *right)
{
	const struct tap_change *a = left, *b = right;

	if (a->weight_ns != b->weight_ns)
		return a->weight_ns > b->weight_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return strcmp((a->after ? a->after : a->before)->name,
		      (b->after ? b->after : b->before)->name);
}

int tap_diff_make(struct tap_diff *diff, const struct tap_measures *before,
		  const struct tap_measures *after)
{
	const struct tap_measure *other;
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < after->rows.count; i++) {
		const struct tap_measure *measure = after->rows.all[i];

		other = tap_measures_find(before, measure->kind, measure->name);
		if (!other)
			ret = note_alone(diff, TAP_CHANGE_NEW, measure);
		else if (measure->kind != TAP_MEASURE_FINDING)
			ret = compare(diff, other, measure);
	}
	for (i = 0; !ret && i < before->rows.count; i++) {
		const struct tap_measure *measure = before->rows.all[i];

		if (!tap_measures_find(after, measure->kind, measure->name))
			ret = note_alone(diff, TAP_CHANGE_GONE, measure);
	}
	if (diff->changes.count)
		qsort(diff->changes.items, diff->changes.count,
		      sizeof(diff->changes.items[0]), compare_changes);
	return ret;
}

/* ---- Text ---- */

static const char *const words[] = {
	[TAP_CHANGE_NEW] = "new",	[TAP_CHANGE_GONE] = "gone",
	[TAP_CHANGE_SLOWER] = "slower", [TAP_CHANGE_FASTER] = "faster",
	[TAP_CHANGE_LATER] = "later",	[TAP_CHANGE_EARLIER] = "earlier",
};

/* "3.1": how many times the smaller one the larger one is. */
static void add_factor(struct tap_buffer *text, int64_t a, int64_t b)
{
	const int64_t small = a < b ? a : b, large = larger(a, b);
	const int64_t tenths =
		small ? (int64_t) ((double) large / (double) small * 10) : 0;

	tap_buffer_add_signed(text, tenths / 10);
	if (tenths >= 100)
		return;
	tap_buffer_add_char(text, '.');
	tap_buffer_add_signed(text, tenths % 10);
}

static void add_percents(struct tap_buffer *text, const char *what,
			 const struct tap_change *change)
{
	tap_buffer_add_string(text, what);
	tap_buffer_add_signed(text, change->after->percent);
	tap_buffer_add_string(text, "% instead of ");
	tap_buffer_add_signed(text, change->before->percent);
	tap_buffer_add_char(text, '%');
}

/* "ncclAllReduce 256 KiB is 3.1 times as slow: 203 ms instead of 65 ms, ..." */
static void add_time(struct tap_buffer *text, const struct tap_change *change)
{
	const struct tap_measure *before = change->before, *after = change->after;

	tap_buffer_add_string(text, after->name);
	if (before->ns && after->ns) {
		tap_buffer_add_string(text, " is ");
		add_factor(text, before->ns, after->ns);
		tap_buffer_add_string(text, change->kind == TAP_CHANGE_SLOWER
						    ? " times as slow: "
						    : " times as fast: ");
	} else {
		tap_buffer_add_string(text, ": ");
	}
	tap_columns_add_short(text, (uint64_t) after->ns);
	tap_buffer_add_string(text, " instead of ");
	tap_columns_add_short(text, (uint64_t) before->ns);
	if (before->percent >= 0 && after->percent >= 0)
		add_percents(text, ", waiting ", change);
	if (before->bandwidth < 0 || after->bandwidth < 0)
		return;
	tap_buffer_add_string(text, ", busbw ");
	tap_columns_add_speed(text, (uint64_t) after->bandwidth);
	tap_buffer_add_string(text, " instead of ");
	tap_columns_add_speed(text, (uint64_t) before->bandwidth);
}

static void add_sentence(struct tap_buffer *text, const struct tap_change *change)
{
	switch (change->kind) {
	case TAP_CHANGE_NEW:
		tap_buffer_add_visible(text, change->after->text);
		break;
	case TAP_CHANGE_GONE:
		tap_buffer_add_visible(text, change->before->text);
		break;
	case TAP_CHANGE_LATER:
	case TAP_CHANGE_EARLIER:
		tap_buffer_add_string(text, change->after->name);
		add_percents(text, " is last in ", change);
		tap_buffer_add_string(text, " of its collectives");
		break;
	default:
		add_time(text, change);
	}
}

/* Adds "SLOWER   " before the sentence. */
static void add_change(struct tap_buffer *text, const struct tap_change *change,
		       size_t width)
{
	struct tap_buffer line = {0};
	const char *word;

	for (word = words[change->kind]; *word; word++)
		tap_buffer_add_char(&line, (char) (*word - 'a' + 'A'));
	tap_buffer_fill(&line, 0, INDENT, ' ');
	add_sentence(&line, change);
	tap_screen_wrap(text, &line, width, INDENT);
	tap_buffer_free(&line);
}

/* "5 other measures differ by noise alone, 2 have too few values to tell." */
static void add_rest(struct tap_buffer *text, const struct tap_diff *diff)
{
	tap_buffer_add_unsigned(text, diff->same);
	tap_buffer_add_string(text, " measures differ by noise alone, ");
	tap_buffer_add_unsigned(text, diff->too_few);
	tap_buffer_add_string(text, " have too few values to tell, ");
	tap_buffer_add_unsigned(text, diff->only_once);
	tap_buffer_add_string(text, " are of one run only\n");
}

void tap_diff_add_text(struct tap_buffer *text, const struct tap_diff *diff, size_t width,
		       size_t height)
{
	/* The rest, its empty line, and the number of changes without room. */
	const size_t room = height > 6 ? height - 3 : 3;
	struct tap_buffer change = {0};
	size_t i, lines = 0, more;

	if (!diff->changes.count)
		tap_buffer_add_string(
			text, "No difference is larger than the noise of either run.\n");
	for (i = 0; i < diff->changes.count; i++) {
		change.used = 0;
		add_change(&change, &diff->changes.items[i], width);
		for (more = 0; more < change.used; more++)
			lines += change.data[more] == '\n';
		if (i && lines > room)
			break;
		tap_buffer_add(text, change.data, change.used);
		text->is_short |= change.is_short;
	}
	if (i < diff->changes.count) {
		tap_buffer_add_string(text, "and ");
		tap_buffer_add_unsigned(text, diff->changes.count - i);
		tap_buffer_add_string(text,
				      " smaller changes: ccltap report --diff --json\n");
	}
	tap_buffer_free(&change);
	tap_buffer_add_char(text, '\n');
	add_rest(text, diff);
}

/* ---- JSON ---- */

static void add_side_json(struct tap_json *json, const char *key,
			  const struct tap_measure *measure)
{
	if (!measure) {
		tap_json_null(json, key);
		return;
	}
	tap_json_open(json, key, '{');
	switch (measure->kind) {
	case TAP_MEASURE_FINDING:
		tap_json_string(json, "headline", measure->text);
		tap_json_not_negative(json, "cost_ns", measure->ns);
		break;
	case TAP_MEASURE_RANK:
		tap_json_not_negative(json, "collectives", measure->count);
		tap_json_not_negative(json, "waited_ns", measure->ns);
		tap_json_not_negative(json, "last_percent", measure->percent);
		break;
	default:
		tap_json_not_negative(json, "count", measure->count);
		tap_json_not_negative(json, "median_ns", measure->ns);
		tap_json_not_negative(json, "deviation_ns", measure->noise_ns);
		tap_json_not_negative(json, "waiting_percent", measure->percent);
		tap_json_not_negative(json, "bus_bandwidth", measure->bandwidth);
	}
	tap_json_close(json);
}

void tap_diff_add_json(struct tap_json *json, const struct tap_diff *diff)
{
	static const char *const kinds[] = {[TAP_MEASURE_FINDING] = "finding",
					    [TAP_MEASURE_COLLECTIVE] = "collective",
					    [TAP_MEASURE_RANK] = "rank",
					    [TAP_MEASURE_CONNECTION] = "connection"};
	size_t i;

	tap_json_open(json, "changes", '[');
	for (i = 0; i < diff->changes.count; i++) {
		const struct tap_change *change = &diff->changes.items[i];
		const struct tap_measure *measure =
			change->after ? change->after : change->before;

		tap_json_open(json, NULL, '{');
		tap_json_string(json, "kind", kinds[measure->kind]);
		tap_json_string(json, "change", words[change->kind]);
		tap_json_string(json, "name", measure->name);
		add_sentence(&json->text, change);
		tap_json_text(json, "text");
		add_side_json(json, "before", change->before);
		add_side_json(json, "after", change->after);
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_unsigned(json, "same", diff->same);
	tap_json_unsigned(json, "too_few", diff->too_few);
	tap_json_unsigned(json, "only_once", diff->only_once);
}

void tap_diff_free(struct tap_diff *diff)
{
	tap_vec_free(&diff->changes);
}
