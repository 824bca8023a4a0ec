/* SPDX-License-Identifier: MIT */
/* A tree for a person: a line for each part, indented, and the critical path. */
#include "join/views/tree_view.h"

#include "join/model/link.h"
#include "join/model/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of a long path so many hops of its end and of its beginning are shown. */
#define HOPS_SHOWN 8

static void add_operation_text(struct tap_buffer *line,
			       const struct tap_tree_operation *operation)
{
	tap_buffer_add_visible(line, operation->name ? operation->name->name
						     : "different functions");
	tap_buffer_add_char(line, ' ');
	tap_tree_add_key(line, operation);
	tap_buffer_add_string(line, " on ");
	tap_view_add_key(line, operation->comm ? operation->comm->key : 0);
	tap_buffer_add_string(line, ": ");
	tap_buffer_add_unsigned(line, operation->ranks);
	if (operation->sender < 0 && operation->nranks >= 0) {
		tap_buffer_add_string(line, " of ");
		tap_buffer_add_signed(line, operation->nranks);
	}
	tap_buffer_add_string(line, operation->ranks == 1 ? " rank" : " ranks");
	if (operation->is_linked && operation->known != TAP_KNOWN_EXACT) {
		tap_buffer_add_string(line, ", ");
		tap_buffer_add_string(line, tap_known_name(operation->known));
	}
	tap_buffer_add_char(line, '\n');
}

static void add_time(struct tap_buffer *line, int64_t ns, size_t width)
{
	const size_t start = line->used;

	if (ns < 0)
		tap_buffer_add_char(line, '-');
	else
		tap_view_add_duration(line, ns);
	tap_buffer_align_right(line, start, width);
}

static void add_fields(struct tap_buffer *line, const struct tap_fields *fields)
{
	size_t i;

	for (i = 0; i < fields->count; i++) {
		tap_buffer_add_char(line, ' ');
		tap_buffer_add_visible(line, fields->list[i].name);
		tap_buffer_add_char(line, '=');
		tap_view_add_value(line, fields, &fields->list[i]);
	}
}

static int write_part(struct tap_tree_view *view, const struct tap_tree_part *part,
		      int64_t origin_ns, unsigned int depth)
{
	struct tap_buffer *line = &view->view.line;
	const int64_t begin_ns = tap_tree_begin_ns(part), end_ns = tap_tree_end_ns(part);
	tap_tree_parts below = {0};
	unsigned int i;
	size_t at;
	int ret;

	add_time(line, begin_ns < 0 ? -1 : begin_ns - origin_ns, 14);
	add_time(line, begin_ns < 0 || end_ns < begin_ns ? -1 : end_ns - begin_ns, 12);
	for (i = 0; i <= depth; i++)
		tap_buffer_add_string(line, "  ");
	tap_buffer_add_string(line, tap_tree_event(part));
	tap_buffer_add_char(line, ' ');
	tap_tree_add_id(line, part);
	tap_fields_clear(&view->fields);
	tap_tree_fields(part, &view->fields);
	add_fields(line, &view->fields);
	if (part->parent && part->known != TAP_KNOWN_EXACT) {
		tap_buffer_add_string(line, " [");
		tap_buffer_add_string(line, tap_known_name(part->known));
		tap_buffer_add_char(line, ']');
	}
	tap_buffer_add_char(line, '\n');
	ret = tap_outfile_write(view->view.output, line);
	if (!ret)
		ret = tap_tree_below(part, &below);
	for (at = 0; !ret && at < below.count; at++)
		ret = write_part(view, below.items[at], origin_ns, depth + 1);
	tap_vec_free(&below);
	return ret;
}

static int write_ranks(struct tap_tree_view *view, const struct tap_tree *tree,
		       int64_t origin_ns)
{
	struct tap_buffer *line = &view->view.line;
	const struct tap_tree_part *before = NULL;
	tap_tree_parts firsts = {0};
	size_t i;
	int ret = tap_tree_firsts(view, tree, &firsts);

	for (i = 0; !ret && i < firsts.count; before = firsts.items[i++]) {
		if (!before || before->process != firsts.items[i]->process ||
		    tap_tree_rank(before) != tap_tree_rank(firsts.items[i])) {
			tap_buffer_add_string(line, "  rank ");
			tap_buffer_add_signed(line, tap_tree_rank(firsts.items[i]));
			tap_buffer_add_string(line, ", ");
			tap_view_add_pid(line, firsts.items[i]->process);
			tap_buffer_add_char(line, '\n');
		}
		ret = write_part(view, firsts.items[i], origin_ns, 0);
	}
	tap_vec_free(&firsts);
	return ret;
}

static void add_hop(struct tap_buffer *line, const struct tap_tree_hop *hop,
		    int64_t origin_ns)
{
	add_time(line, hop->time_ns - origin_ns, 14);
	tap_buffer_add_string(line, "  rank ");
	tap_buffer_add_signed(line, tap_tree_rank(hop->part));
	tap_buffer_add_string(line, "  ");
	tap_buffer_add_string(line, tap_tree_event(hop->part));
	tap_buffer_add_char(line, ' ');
	tap_tree_add_id(line, hop->part);
	tap_buffer_add_char(line, ' ');
	tap_buffer_add_string(line, tap_tree_moment_name(hop->moment));
	tap_buffer_add_char(line, '\n');
}

static int write_path(struct tap_tree_view *view, int64_t origin_ns)
{
	const struct tap_tree_path *path = &view->path;
	struct tap_buffer *line = &view->view.line;
	size_t i;

	if (!path->hops.count)
		return 0;
	tap_buffer_add_string(line, "  critical path, inferred; the end first\n");
	for (i = 0; i < path->hops.count; i++) {
		if (i == HOPS_SHOWN && path->hops.count > 2 * HOPS_SHOWN + 1) {
			tap_buffer_add_string(line, "           ...  ");
			tap_buffer_add_unsigned(line, path->hops.count - 2 * HOPS_SHOWN);
			tap_buffer_add_string(line, " more\n");
			i = path->hops.count - HOPS_SHOWN;
		}
		add_hop(line, &path->hops.items[i], origin_ns);
	}
	if (path->is_cut)
		tap_buffer_add_string(line,
				      "             -  before that another host, whose "
				      "clock cannot be compared\n");
	return tap_outfile_write(view->view.output, line);
}

int tap_tree_write_text(struct tap_tree_view *view, const struct tap_tree *tree)
{
	struct tap_buffer *line = &view->view.line;
	const int64_t origin_ns = tap_tree_origin_ns(tree);
	size_t i;
	int ret;

	if (view->shown++)
		tap_buffer_add_char(line, '\n');
	for (i = 0; i < tree->operations.count; i++)
		add_operation_text(line, &tree->operations.items[i]);
	ret = tap_outfile_write(view->view.output, line);
	if (!ret)
		ret = write_ranks(view, tree, origin_ns);
	return ret ? ret : write_path(view, origin_ns);
}
