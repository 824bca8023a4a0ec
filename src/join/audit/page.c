/* SPDX-License-Identifier: MIT */
/* First each subject gets one remark, in the order of the sections, then each the rest.
 */
#include "join/audit/page.h"

#include "join/base/quantity.h"
#include "join/report/columns.h"
#include "join/report/screen.h"

#include <string.h>

/* Where the text of a remark begins. */
#define INDENT 12
#define SECTIONS_MAX 32
#define BRIEF_REMARKS 50
#define MORE "more: ccltap audit --full; ccltap why; ccltap report"

static const struct {
	const char *word;
	enum tap_view_colour colour;
} words[] = {
	[TAP_AUDIT_OK] = {"ok", TAP_VIEW_GREEN},
	[TAP_AUDIT_NOTE] = {"note", TAP_VIEW_GREEN},
	[TAP_AUDIT_UNKNOWN] = {"CANNOT TELL", TAP_VIEW_YELLOW},
	[TAP_AUDIT_WARNING] = {"MEND", TAP_VIEW_RED},
	[TAP_AUDIT_ERROR] = {"ERROR", TAP_VIEW_RED},
};

static void add_word(struct tap_buffer *line, enum tap_audit_grade grade, bool has_colour)
{
	size_t i;

	tap_view_add_word(line, words[grade].word, words[grade].colour, has_colour);
	for (i = strlen(words[grade].word); i < INDENT; i++)
		tap_buffer_add_char(line, ' ');
}

static uint64_t count_remarks(const struct tap_audit_section *sections, size_t count,
			      enum tap_audit_grade from, enum tap_audit_grade to)
{
	uint64_t sum = 0;
	size_t i, j;

	for (i = 0; i < count; i++)
		for (j = 0; j < sections[i].state->remarks.count; j++)
			sum += sections[i].state->remarks.items[j].grade >= from &&
			       sections[i].state->remarks.items[j].grade <= to;
	return sum;
}

/* "3 to mend, 1 cannot be told; 2 processes, 1.2 s" */
static void add_headline(struct tap_buffer *line, const struct tap_audit_shared *shared,
			 const struct tap_audit_section *sections, size_t count)
{
	const struct tap_context *context = shared->view->context;
	uint64_t processes = 0, unknown;
	size_t i;

	tap_buffer_add_unsigned(line, count_remarks(sections, count, TAP_AUDIT_WARNING,
						    TAP_AUDIT_ERROR));
	tap_buffer_add_string(line, " to mend");
	unknown = count_remarks(sections, count, TAP_AUDIT_UNKNOWN, TAP_AUDIT_UNKNOWN);
	if (unknown) {
		tap_buffer_add_string(line, ", ");
		tap_buffer_add_unsigned(line, unknown);
		tap_buffer_add_string(line, " that the trace does not tell");
	}
	for (i = 0; i < context->processes.count; i++)
		processes += context->processes.all[i]->is_reported &&
			     !context->processes.all[i]->is_foreign;
	tap_buffer_add_string(line, "; ");
	tap_buffer_add_unsigned(line, processes);
	tap_buffer_add_string(line, processes == 1 ? " process, " : " processes, ");
	tap_quantity_add_duration(line, context->last_ns - context->first_ns);
}

static void add_title(struct tap_buffer *text, const struct tap_audit_section *section,
		      size_t left_out, const struct tap_view_settings *settings,
		      size_t columns)
{
	struct tap_buffer line = {0};

	add_word(&line, section->grade, settings->has_colour);
	tap_buffer_add_string(&line, section->subject->title);
	tap_buffer_add_string(&line, ": ");
	if (section->subject->summary)
		section->subject->summary(section->state, &line);
	if (left_out) {
		tap_buffer_add_string(&line, " (");
		tap_buffer_add_unsigned(&line, left_out);
		tap_buffer_add_string(&line, " more: --full)");
	}
	tap_screen_cut(text, &line, columns, 1);
	tap_buffer_free(&line);
}

static void add_remark(struct tap_buffer *text, const struct tap_audit_remark *remark,
		       const struct tap_view_settings *settings, bool has_word)
{
	struct tap_buffer line = {0};

	tap_buffer_fill(&line, 0, has_word ? 2 : INDENT, ' ');
	if (has_word) {
		tap_buffer_add_string(&line, words[remark->grade].word);
		tap_buffer_add_string(&line, ": ");
	}
	tap_audit_add_remark(&line, remark);
	tap_screen_wrap(text, &line, settings->columns, has_word ? 4 : INDENT + 2);
	tap_buffer_free(&line);
}

static size_t count_lines(const struct tap_audit_remark *remark,
			  const struct tap_view_settings *settings)
{
	struct tap_buffer text = {0};
	size_t i, count = 0;

	add_remark(&text, remark, settings, false);
	for (i = 0; i < text.used; i++)
		count += text.data[i] == '\n';
	tap_buffer_free(&text);
	return count;
}

/* How many of the section's remarks are worth a line of the screen: they are sorted. */
static size_t worth_showing(const struct tap_audit_section *section)
{
	size_t i;

	for (i = 0; i < section->state->remarks.count; i++)
		if (section->state->remarks.items[i].grade < TAP_AUDIT_UNKNOWN)
			break;
	return i;
}

/* Lets the section show its next remarks, up to so many in all, while there are lines. */
static void show_next(const struct tap_audit_section *section, size_t *shown, size_t most,
		      size_t *lines, const struct tap_view_settings *settings)
{
	const size_t worth = worth_showing(section);
	size_t wanted;

	while (*shown < worth && *shown < most) {
		wanted = count_lines(&section->state->remarks.items[*shown], settings);
		if (wanted > *lines)
			return;
		*lines -= wanted;
		++*shown;
	}
}

static void add_screen(struct tap_buffer *text, const struct tap_audit_shared *shared,
		       const struct tap_audit_section *sections, size_t count)
{
	const struct tap_view_settings *settings = &shared->view->settings;
	/* The headline, the last line, and an empty one each; a title for each section.
	 */
	const size_t fixed = count + 4;
	size_t lines = settings->lines > fixed ? settings->lines - fixed : 1;
	size_t shown[SECTIONS_MAX] = {0}, i, j;

	for (i = 0; i < count; i++)
		show_next(&sections[i], &shown[i], 1, &lines, settings);
	for (i = 0; i < count; i++)
		show_next(&sections[i], &shown[i], SIZE_MAX, &lines, settings);
	add_headline(text, shared, sections, count);
	tap_buffer_add_string(text, "\n\n");
	for (i = 0; i < count; i++) {
		add_title(text, &sections[i], worth_showing(&sections[i]) - shown[i],
			  settings, settings->columns);
		for (j = 0; j < shown[i]; j++)
			add_remark(text, &sections[i].state->remarks.items[j], settings,
				   false);
	}
	tap_buffer_add_string(text, "\n" MORE "\n");
}

static void add_section(struct tap_buffer *text, const struct tap_audit_section *section,
			const struct tap_view_settings *settings)
{
	const struct tap_rows *rows = tap_audit_rows(section->subject, section->state);
	struct tap_buffer table = {0};
	size_t i;

	add_title(text, section, 0, settings, SIZE_MAX);
	for (i = 0; i < section->state->remarks.count; i++)
		add_remark(text, &section->state->remarks.items[i], settings, true);
	if (rows && rows->count)
		tap_columns_add_text(&table, section->subject->table.columns, rows);
	if (section->subject->text)
		section->subject->text(section->state, &table);
	/* Without the blanks behind the last cells. */
	tap_screen_cut(text, &table, SIZE_MAX, SIZE_MAX);
	tap_buffer_free(&table);
	tap_buffer_add_char(text, '\n');
}

void tap_audit_add_page(struct tap_buffer *text, const struct tap_audit_shared *shared,
			const struct tap_audit_section *sections, size_t count,
			bool is_full)
{
	size_t i;

	if (!is_full) {
		add_screen(text, shared, sections, count);
		return;
	}
	add_headline(text, shared, sections, count);
	tap_buffer_add_string(text, "\n\n");
	for (i = 0; i < count; i++)
		add_section(text, &sections[i], &shared->view->settings);
	tap_view_add_loss_text(text, shared->loss);
}

static void add_grade_json(struct tap_json *json, enum tap_audit_grade grade)
{
	tap_json_string(json, "grade", tap_audit_grade_name(grade));
	tap_json_string(json, "word", words[grade].word);
}

static void add_section_json(struct tap_json *json,
			     const struct tap_audit_section *section)
{
	const size_t count = section->state->remarks.count;
	size_t i;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "key", section->subject->key);
	tap_json_string(json, "title", section->subject->title);
	add_grade_json(json, section->grade);
	if (section->subject->summary)
		section->subject->summary(section->state, &json->text);
	tap_json_text(json, "summary");
	tap_json_open(json, "remarks", '[');
	for (i = 0; i < count && i < BRIEF_REMARKS; i++) {
		tap_json_open(json, NULL, '{');
		add_grade_json(json, section->state->remarks.items[i].grade);
		tap_audit_add_remark(&json->text, &section->state->remarks.items[i]);
		tap_json_text(json, "text");
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_unsigned(json, "other_remarks", count - i);
	tap_json_close(json);
}

void tap_audit_add_brief_json(struct tap_json *json,
			      const struct tap_audit_shared *shared,
			      const struct tap_audit_section *sections, size_t count)
{
	size_t i;

	add_headline(&json->text, shared, sections, count);
	tap_json_text(json, "headline");
	tap_json_open(json, "sections", '[');
	for (i = 0; i < count; i++)
		add_section_json(json, &sections[i]);
	tap_json_close(json);
}
