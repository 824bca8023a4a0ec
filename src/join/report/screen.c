/* SPDX-License-Identifier: MIT */
/* Each part is built by itself, and gets lines as it matters. */
#include "join/report/screen.h"

#include "join/report/columns.h"
#include "join/views/filtered.h"
#include "join/views/view.h"

#include <string.h>

/* Where the text of a finding begins. */
#define INDENT 9

/* The lines that parts share where the screen is tiny. */
#define LEAST 7

#define MORE \
	"more: ccltap report --full | --comm | --net | --gpu | --calls; ccltap timeline"

/* ---- Lines ---- */

static size_t count_lines(const struct tap_buffer *text)
{
	size_t i, count = 0;

	for (i = 0; i < text->used; i++)
		count += text->data[i] == '\n';
	return count;
}

/* The bytes of the character at `at`, of any bytes. */
static size_t step(const struct tap_buffer *text, size_t at)
{
	unsigned char character[5] = {0};
	size_t rest = text->used - at, length;

	memcpy(character, text->data + at, rest < 4 ? rest : 4);
	length = tap_buffer_character_length(character);
	return length ? length : 1;
}

/*
 * The bytes of the escape sequence at `at` that colours what follows, which takes no room;
 * 0: there is none.  Text of a trace has none.
 */
static size_t skip_colour(const struct tap_buffer *text, size_t at)
{
	size_t end = at;

	if (text->data[at] != '\033')
		return 0;
	while (end < text->used && text->data[end] != 'm')
		end++;
	return end < text->used ? end + 1 - at : 0;
}

/*
 * The end of the part of a line that fits into `width` characters: a blank, the line's
 * end, or where no blank is, any character.
 */
static size_t break_at(const struct tap_buffer *lines, size_t at, size_t width)
{
	size_t blank = 0, count = 0, i = at;

	while (i < lines->used && lines->data[i] != '\n') {
		if (skip_colour(lines, i)) {
			i += skip_colour(lines, i);
			continue;
		}
		if (lines->data[i] == ' ' && count && lines->data[i - 1] != ' ')
			blank = i;
		if (count == width)
			return blank > at ? blank : i;
		i += step(lines, i);
		count++;
	}
	return i;
}

void tap_screen_wrap(struct tap_buffer *text, const struct tap_buffer *lines,
		     size_t width, size_t indent)
{
	size_t at = 0, end, start, used = 0;

	text->is_short |= lines->is_short;
	while (at < lines->used) {
		end = break_at(lines, at, width - used);
		tap_buffer_add(text, lines->data + at, end - at);
		tap_buffer_add_char(text, '\n');
		used = 0;
		at = end;
		if (at < lines->used && lines->data[at] == '\n') {
			at++;
			continue;
		}
		while (at < lines->used && lines->data[at] == ' ')
			at++;
		if (at == lines->used)
			continue;
		start = text->used;
		tap_buffer_fill(text, start, indent, ' ');
		used = indent;
	}
}

void tap_screen_cut(struct tap_buffer *text, const struct tap_buffer *lines, size_t width,
		    size_t count)
{
	size_t at = 0, characters, length;

	text->is_short |= lines->is_short;
	for (; count && at < lines->used; count--) {
		for (characters = 0; at < lines->used && lines->data[at] != '\n';
		     at += length) {
			length = skip_colour(lines, at);
			if (length) {
				tap_buffer_add(text, lines->data + at, length);
				continue;
			}
			length = step(lines, at);
			if (characters++ < width)
				tap_buffer_add(text, lines->data + at, length);
		}
		while (text->used && text->data[text->used - 1] == ' ')
			text->used--;
		tap_buffer_add_char(text, '\n');
		at++;
	}
}

/* ---- Parts ---- */

/* What the trace lacks; the defects of the program are findings. */
static void add_lost(struct tap_buffer *line, const struct tap_loss *loss)
{
	const size_t start = line->used;
	size_t none;

	tap_buffer_add_string(line, " LOST:");
	none = line->used;
	tap_view_add_lost(line, loss);
	if (line->used > none) {
		tap_buffer_add_string(line, "; see ccltap check.");
		return;
	}
	line->used = start;
	tap_buffer_add_string(line,
			      loss->is_window
				      ? " The latest events, as a flight recorder keeps "
					"them; nothing else is lost."
				      : " Trace complete, nothing lost.");
}

void tap_screen_add_headline(struct tap_buffer *line, const struct tap_screen *screen)
{
	tap_filtered_add_text(line, screen->view);
	tap_view_add_snapshots_text(line, screen->view->context);
	tap_overview_add_headline(line, screen->overview);
	add_lost(line, screen->loss);
}

static void add_headline(struct tap_buffer *text, const struct tap_screen *screen)
{
	const size_t width = screen->view->settings.columns;
	struct tap_buffer line = {0};

	tap_screen_add_headline(&line, screen);
	tap_screen_wrap(text, &line, width, 2);
	tap_buffer_free(&line);
}

static void add_finding(struct tap_buffer *text, const struct tap_finding *finding,
			const struct tap_view_settings *settings)
{
	struct tap_buffer lines = {0};

	tap_finding_add_text(&lines, finding, settings->has_colour);
	tap_screen_wrap(text, &lines, settings->columns, INDENT);
	tap_buffer_free(&lines);
}

/* Adds the first line of each finding from this one on, as many as there is room for. */
static void add_others(struct tap_buffer *text, const struct tap_screen *screen,
		       size_t next, size_t lines)
{
	const size_t count = tap_findings_count(screen->findings);
	struct tap_buffer finding = {0};

	for (; next < count && (lines > 1 || (lines == 1 && next + 1 == count)); next++) {
		finding.used = 0;
		tap_finding_add_text(&finding, tap_findings_at(screen->findings, next),
				     screen->view->settings.has_colour);
		tap_screen_cut(text, &finding, screen->view->settings.columns, 1);
		lines--;
	}
	if (next < count && lines) {
		tap_buffer_add_string(text, "         and ");
		tap_buffer_add_unsigned(text, count - next);
		tap_buffer_add_string(text, " more: ccltap why\n");
	}
	tap_buffer_free(&finding);
}

/*
 * Adds the findings in at most so many lines: all in full, or the first one in full as
 * far as it fits, and what the others are.
 */
static void add_findings(struct tap_buffer *text, const struct tap_screen *screen,
			 size_t lines)
{
	const size_t count = tap_findings_count(screen->findings);
	const size_t width = screen->view->settings.columns;
	const size_t wanted = count > 3 ? 3 : count - 1;
	struct tap_buffer all = {0}, first = {0};
	size_t i, used;

	for (i = 0; i < count; i++)
		add_finding(&all, tap_findings_at(screen->findings, i), &screen->view->settings);
	add_finding(&first, tap_findings_at(screen->findings, 0), &screen->view->settings);
	used = count_lines(&first);
	if (used + wanted > lines)
		used = lines > wanted ? lines - wanted : lines;
	if (count_lines(&all) <= lines) {
		tap_screen_cut(text, &all, width, lines);
	} else {
		tap_screen_cut(text, &first, width, used);
		add_others(text, screen, 1, lines - used);
	}
	tap_buffer_free(&all);
	tap_buffer_free(&first);
}

static size_t findings_lines(const struct tap_screen *screen)
{
	struct tap_buffer all = {0};
	size_t i, count;

	for (i = 0; i < tap_findings_count(screen->findings); i++)
		add_finding(&all, tap_findings_at(screen->findings, i), &screen->view->settings);
	count = count_lines(&all);
	tap_buffer_free(&all);
	return count;
}

/* Adds the collectives, or else the calls, or else the queue pairs. */
static void add_work(struct tap_buffer *text, const struct tap_screen *screen,
		     size_t lines)
{
	const size_t start = text->used;

	if (screen->overview->operations.count)
		tap_overview_add_operations(text, screen->overview, lines);
	else
		tap_report_calls_busiest(screen->calls, lines, text);
	if (text->used == start)
		tap_report_work_top(screen->work, lines, text);
}

static size_t work_lines(const struct tap_screen *screen)
{
	struct tap_buffer all = {0};
	size_t count;

	add_work(&all, screen, SIZE_MAX);
	count = count_lines(&all);
	tap_buffer_free(&all);
	return count;
}

/* Where to look next: at the operation of the first finding that has one. */
static void add_more(struct tap_buffer *text, const struct tap_screen *screen)
{
	const struct tap_finding *finding;
	size_t i;

	tap_buffer_add_string(text, MORE);
	for (i = 0; i < tap_findings_count(screen->findings); i++) {
		finding = tap_findings_at(screen->findings, i);
		if (!finding->op_number)
			continue;
		tap_buffer_add_string(text, " --op ");
		tap_buffer_add_unsigned(text, finding->op_number);
		break;
	}
	tap_buffer_add_char(text, '\n');
}

/* ---- The screen ---- */

/* How many lines each part gets. */
struct shares {
	size_t findings, work, ranks;
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/*
 * Findings get half, collectives half of the rest, and each what others do not need; but
 * a table with rows has one, a header, and the number of its other rows.
 */
static struct shares share(const struct tap_screen *screen, size_t lines)
{
	const size_t ranks = screen->overview->ranks.count;
	const size_t want_ranks = ranks ? ranks + 1 : 0, want_work = work_lines(screen);
	struct shares shares;
	const size_t others = want_ranks + want_work;
	const size_t least = smaller(want_ranks, 3) + smaller(want_work, 3);

	shares.findings = larger(lines / 2, lines > others ? lines - others : 0);
	shares.findings = smaller(shares.findings, lines - least);
	shares.findings = smaller(shares.findings, findings_lines(screen));
	lines -= shares.findings;
	shares.work =
		smaller(want_work,
			larger(lines / 2, lines > want_ranks ? lines - want_ranks : 0));
	shares.work = smaller(shares.work, lines - smaller(want_ranks, 3));
	shares.ranks = smaller(want_ranks, lines - shares.work);
	return shares;
}

void tap_screen_add(struct tap_buffer *text, const struct tap_screen *screen)
{
	const struct tap_view_settings *settings = &screen->view->settings;
	struct tap_buffer all = {0};
	struct shares shares;
	size_t fixed;

	add_headline(&all, screen);
	/* Four empty lines, and the last two. */
	fixed = count_lines(&all) + 6;
	shares = share(screen, settings->lines > fixed + LEAST ? settings->lines - fixed
								: LEAST);
	tap_buffer_add_char(&all, '\n');
	add_findings(&all, screen, shares.findings);
	tap_buffer_add_char(&all, '\n');
	add_work(&all, screen, shares.work);
	if (shares.work)
		tap_buffer_add_char(&all, '\n');
	tap_overview_add_ranks(&all, screen->overview, shares.ranks);
	if (shares.ranks)
		tap_buffer_add_char(&all, '\n');
	tap_overview_add_failures(&all, screen->overview);
	add_more(&all, screen);
	tap_screen_cut(text, &all, settings->columns, SIZE_MAX);
	tap_buffer_free(&all);
}
