/* SPDX-License-Identifier: MIT */
/*
 * A line of the template that is nothing but %%NAME%% stands for a file beside it, or for
 * one of the blocks of data.
 */
#include "join/report/page.h"

#include "common/compiler.h"
#include "join/base/time.h"
#include "join/report/page_traffic.h"
#include "join/views/filtered.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEMPLATE "page.html"
#define MARK "%%"

/* Bytes of a command line. */
#define COMMAND_MAX 200

/* ---- The template ---- */

static int add_path(struct tap_buffer *text, const char *path)
{
	size_t length;
	FILE *file;
	char *room;
	int ret;

	file = fopen(path, "re");
	if (!file)
		return -errno;
	do {
		room = tap_buffer_reserve(text, BUFSIZ);
		length = room ? fread(room, 1, BUFSIZ, file) : 0;
		text->used += length;
	} while (length);
	ret = ferror(file) ? -EIO : 0;
	fclose(file);
	return text->is_short ? -ENOMEM : ret;
}

static int add_file(struct tap_buffer *text, const char *folder, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int) sizeof(path))
		return -ENAMETOOLONG;
	return add_path(text, path);
}

/* Takes the next line with its newline from the text; false: there is none. */
static bool take_line(const struct tap_buffer *text, size_t *at, const char **ret_line,
		      size_t *ret_length)
{
	const char *end;

	if (*at >= text->used)
		return false;
	*ret_line = text->data + *at;
	end = memchr(*ret_line, '\n', text->used - *at);
	*ret_length = end ? (size_t) (end - *ret_line) + 1 : text->used - *at;
	*at += *ret_length;
	return true;
}

/* The name on the line of a mark into `name`; false: it is another line. */
static bool is_mark(const char *line, size_t length, char *name, size_t size)
{
	const size_t mark = strlen(MARK);

	if (length < 2 * mark + 2 || length - 2 * mark > size ||
	    memcmp(line, MARK, mark) != 0 ||
	    memcmp(line + length - 1 - mark, MARK "\n", mark + 1) != 0)
		return false;
	length -= 2 * mark + 1;
	memcpy(name, line + mark, length);
	name[length] = '\0';
	return true;
}

/* Puts the files in the place of their marks: they alone have a dot in their names. */
static int insert_files(struct tap_buffer *text, const struct tap_buffer *template,
			const char *folder)
{
	const char *line;
	char name[64];
	size_t at = 0, length;
	int ret = 0;

	while (!ret && take_line(template, &at, &line, &length)) {
		if (!is_mark(line, length, name, sizeof(name)) || !strchr(name, '.'))
			tap_buffer_add(text, line, length);
		else
			ret = strchr(name, '/') ? -EINVAL : add_file(text, folder, name);
	}
	return text->is_short ? -ENOMEM : ret;
}

static int copy_string(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

int tap_page_open(struct tap_page *page, const char *folder, const char *title,
		  const char *baseline)
{
	struct tap_buffer template = {0};
	int ret = add_file(&template, folder, TEMPLATE);

	if (!ret)
		ret = insert_files(&page->template, &template, folder);
	tap_buffer_free(&template);
	if (!ret)
		ret = copy_string(&page->title, title);
	return ret ? ret : copy_string(&page->baseline, baseline);
}

int tap_page_add_audit(struct tap_page *page, const char *path)
{
	return add_path(&page->audit, path);
}

/* ---- Blocks of data ---- */

struct writer {
	struct tap_page *page;
	const struct tap_page_content *content;
};

/* A string of a trace, at most so many bytes of it. */
static void add_cut(struct tap_json *json, const char *name, const char *string,
		    size_t max)
{
	size_t length = strlen(string);

	if (length <= max) {
		tap_json_string(json, name, string);
		return;
	}
	while (max && (string[max] & 0xc0) == 0x80)
		max--;
	tap_buffer_add(&json->text, string, max);
	tap_buffer_add_string(&json->text, "...");
	tap_json_text(json, name);
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* As report --json has it, but for what the page does not show. */
static int add_report(struct tap_json *json, const struct writer *writer)
{
	const struct tap_screen *screen = writer->content->screen;
	const struct tap_view *view = screen->view;
	struct tap_overview shown = *screen->overview;
	size_t i;

	shown.operations.count = smaller(shown.operations.count, TAP_PAGE_COLLECTIVES);
	shown.ranks.count = smaller(shown.ranks.count, TAP_PAGE_RANKS);
	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "report");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_view_add_hosts_json(json, view->context);
	tap_filtered_add_json(json, view);
	tap_view_add_snapshots_json(json, view->context);
	tap_overview_add_summary_json(json, screen->overview, view->context);
	tap_json_open(json, "findings", '[');
	for (i = 0; i < tap_findings_count(screen->findings) && i < TAP_PAGE_FINDINGS;
	     i++)
		tap_finding_add_json(json, tap_findings_at(screen->findings, i));
	tap_json_close(json);
	tap_overview_add_tables_json(json, &shown);
	tap_json_unsigned(json, "never_returned", screen->overview->never_returned);
	tap_view_add_loss_json(json, screen->loss, false);
	tap_json_close(json);
	return 0;
}

static int add_check(struct tap_json *json, const struct writer *writer)
{
	const struct tap_screen *screen = writer->content->screen;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "check");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_checked_add_json(json, &writer->page->checked, screen->view, screen->findings,
			     screen->loss, false);
	tap_json_close(json);
	return 0;
}

/* What the audit has written, as it is. */
static int add_audit(struct tap_json *json, const struct writer *writer)
{
	const struct tap_buffer *audit = &writer->page->audit;

	if (audit->used)
		tap_buffer_add(&json->line, audit->data, audit->used);
	else
		tap_json_null(json, NULL);
	return 0;
}

static int add_diff(struct tap_json *json, const struct writer *writer)
{
	struct tap_diff *diff = writer->content->diff;
	size_t count;

	if (!diff) {
		tap_json_null(json, NULL);
		return 0;
	}
	count = diff->changes.count;
	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "report-diff");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	diff->changes.count = smaller(count, TAP_PAGE_CHANGES);
	tap_diff_add_json(json, diff);
	tap_json_unsigned(json, "other_changes", count - diff->changes.count);
	diff->changes.count = count;
	tap_json_close(json);
	return 0;
}

/* What stands before and beside the findings, as text of ours. */
static void add_findings(struct tap_json *json, const struct tap_screen *screen)
{
	const size_t count = tap_findings_count(screen->findings);
	const struct tap_context *context = screen->view->context;
	size_t i;

	tap_json_open(json, "findings", '[');
	for (i = 0; i < count && i < TAP_PAGE_FINDINGS; i++) {
		const struct tap_finding *finding = tap_findings_at(screen->findings, i);

		tap_json_open(json, NULL, '{');
		tap_json_string(json, "word", tap_finding_word(finding));
		if (finding->time_ns < 0)
			tap_json_null(json, "time");
		else
			tap_json_signed(json, "time",
					tap_since_ns(finding->time_ns,
						     context->first_ns));
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_unsigned(json, "other_findings", count - i);
}

static void add_processes(struct tap_json *json, const struct tap_page_content *content)
{
	size_t i;

	tap_json_open(json, "processes", '[');
	for (i = 0; i < content->process_count && i < TAP_PAGE_PROCESSES; i++) {
		const struct tap_process *process = content->processes[i];

		tap_json_open(json, NULL, '{');
		tap_json_unsigned(json, "process", process->number);
		add_cut(json, "host", process->host, COMMAND_MAX);
		tap_json_not_negative(json, "pid", process->pid);
		tap_json_not_negative(json, "rank", tap_process_rank(process));
		add_cut(json, "command", tap_view_command(process), COMMAND_MAX);
		tap_json_close(json);
	}
	tap_json_close(json);
}

/* The name that the program gave, in any of its processes; NULL: none. */
static const char *name_of(const struct tap_comm *comm)
{
	const struct tap_member *member;
	const char *name = NULL;

	for (member = comm->members; member && !(name && *name); member = member->next)
		name = tap_fields_get_string(&member->about, "config_commName");
	return name && *name ? name : NULL;
}

/* Those that have a name; of the others the key says all. */
static void add_communicators(struct tap_json *json, const struct tap_comms *comms)
{
	size_t i, count = 0;

	tap_json_open(json, "communicators", '[');
	for (i = 0; i < comms->count && count < TAP_PAGE_COMMUNICATORS; i++) {
		const struct tap_comm *comm = comms->all[i];
		const char *name = comm->united ? NULL : name_of(comm);

		if (!name)
			continue;
		count++;
		tap_json_open(json, NULL, '{');
		tap_json_key(json, "comm_key", comm->key);
		add_cut(json, "name", name, COMMAND_MAX);
		tap_json_close(json);
	}
	tap_json_close(json);
}

static uint64_t beyond(size_t count, size_t max)
{
	return count > max ? count - max : 0;
}

static int add_page(struct tap_json *json, const struct writer *writer)
{
	const struct tap_page_content *content = writer->content;
	const struct tap_screen *screen = content->screen;
	const struct tap_context *context = screen->view->context;
	struct tap_page *page = writer->page;
	int ret;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "page");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	add_cut(json, "title", page->title ? page->title : "", COMMAND_MAX);
	add_cut(json, "baseline", page->baseline ? page->baseline : "", COMMAND_MAX);
	tap_json_signed(json, "duration_ns",
			tap_since_ns(context->last_ns, context->first_ns));
	tap_screen_add_headline(&json->text, screen);
	tap_json_text(json, "headline");
	tap_overview_add_failures(&json->text, screen->overview);
	tap_json_text(json, "failures");
	add_findings(json, screen);
	add_processes(json, content);
	tap_json_unsigned(json, "other_processes",
			  beyond(content->process_count, TAP_PAGE_PROCESSES));
	add_communicators(json, &context->comms);
	tap_json_unsigned(json, "other_collectives",
			  beyond(screen->overview->operations.count,
				 TAP_PAGE_COLLECTIVES));
	tap_json_unsigned(json, "other_rows_of_ranks",
			  beyond(screen->overview->ranks.count, TAP_PAGE_RANKS));
	tap_page_arrivals_add_json(json, &page->arrivals, context, screen->overview);
	ret = tap_page_traffic_add_json(json, content->net, screen->work);
	tap_page_spans_add_json(json, &page->spans, context, screen->findings);
	tap_json_close(json);
	return ret;
}

/* Adds JSON that cannot end the element around it, nor begin a comment in it. */
static void add_escaped(struct tap_buffer *text, const struct tap_buffer *json)
{
	const char *at = json->data, *end = at + json->used, *next;

	text->is_short |= json->is_short;
	for (; at < end; at = next) {
		next = memchr(at, '<', (size_t) (end - at));
		next = next ? next : end;
		tap_buffer_add(text, at, (size_t) (next - at));
		if (next == end)
			break;
		tap_buffer_add_string(text, "\\u003c");
		next++;
	}
	tap_buffer_add_char(text, '\n');
}

/* Adds the block of this name, or nothing where there is none. */
static int add_block(struct tap_buffer *text, const char *name,
		     const struct writer *writer)
{
	static const struct {
		const char *name;
		int (*add)(struct tap_json *json, const struct writer *writer);
	} blocks[] = {{"report", add_report},
		      {"check", add_check},
		      {"audit", add_audit},
		      {"diff", add_diff},
		      {"page", add_page}};
	struct tap_json json = {0};
	int ret = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(blocks); i++) {
		if (strcmp(blocks[i].name, name) != 0)
			continue;
		ret = blocks[i].add(&json, writer);
		add_escaped(text, &json.line);
	}
	tap_json_free(&json);
	return ret;
}

int tap_page_write(struct tap_page *page, const struct tap_page_content *content,
		   struct tap_buffer *text)
{
	const struct writer writer = {page, content};
	const char *line;
	char name[64];
	size_t at = 0, length;
	int ret = 0;

	while (!ret && take_line(&page->template, &at, &line, &length)) {
		if (is_mark(line, length, name, sizeof(name)))
			ret = add_block(text, name, &writer);
		else
			tap_buffer_add(text, line, length);
	}
	return text->is_short ? -ENOMEM : ret;
}

void tap_page_free(struct tap_page *page)
{
	tap_buffer_free(&page->template);
	free(page->title);
	free(page->baseline);
	tap_buffer_free(&page->audit);
	tap_checked_free(&page->checked);
	tap_page_arrivals_free(&page->arrivals);
	tap_page_spans_free(&page->spans);
}
