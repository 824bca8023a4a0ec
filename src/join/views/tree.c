/* SPDX-License-Identifier: MIT */
/*
 * The view of operations as trees, as text or as JSON lines: each tree when all of it has
 * come.
 */
#include "join/views/filtered.h"
#include "join/views/filters.h"
#include "join/views/tree_view.h"

#include <errno.h>
#include <stdlib.h>

static void begin(struct tap_tree_view *view)
{
	if (view->has_begun)
		return;
	view->has_begun = true;
	view->trees.context = view->view.context;
	tap_outfile_begin_headless(view->view.output);
}

static int take_tree(void *data, const struct tap_tree *tree)
{
	struct tap_tree_view *view = data;
	int ret;

	/* A group whose calls were not recorded. */
	if (!tap_tree_is_wanted(view, tree))
		return 0;
	ret = tap_tree_path_find(&view->path, tree);
	if (ret)
		return ret;
	return view->view.settings.is_json ? tap_tree_write_json(view, tree)
					   : tap_tree_write_text(view, tree);
}

static int take_begun(void *data, struct tap_span *span)
{
	struct tap_tree_view *view = data;

	begin(view);
	return tap_trees_begun(&view->trees, span);
}

static int take_ended(void *data, struct tap_span *span)
{
	struct tap_tree_view *view = data;

	begin(view);
	return tap_trees_ended(&view->trees, span);
}

static int take_link(void *data, const struct tap_link *link)
{
	struct tap_tree_view *view = data;

	begin(view);
	return tap_trees_link(&view->trees, link);
}

static void add_end_text(struct tap_tree_view *view, const struct tap_loss *loss)
{
	struct tap_buffer *line = &view->view.line;

	if (view->shown)
		tap_buffer_add_char(line, '\n');
	tap_buffer_add_unsigned(line, view->shown);
	tap_buffer_add_string(line, view->shown == 1 ? " tree" : " trees");
	tap_buffer_add_string(line, "; messages in none: ");
	tap_buffer_add_unsigned(line, view->trees.left_out);
	tap_buffer_add_char(line, '\n');
	tap_filtered_add_filters(line, &view->view);
	tap_view_add_loss_text(line, loss);
}

static void add_end_json(struct tap_tree_view *view, const struct tap_loss *loss)
{
	struct tap_json *json = &view->json;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "trace");
	tap_json_unsigned(json, "schema", TAP_VIEW_SCHEMA);
	tap_view_add_hosts_json(json, view->view.context);
	tap_json_string(json, "time_base", "unix-epoch-ns");
	if (view->view.filters)
		tap_filters_add_json(json, view->view.filters);
	tap_json_unsigned(json, "messages_in_no_tree", view->trees.left_out);
	tap_view_add_loss_json(json, loss, false);
	tap_json_end_line(json, &view->view.line);
}

static int finish(void *data, const struct tap_loss *loss)
{
	struct tap_tree_view *view = data;
	int ret;

	begin(view);
	ret = tap_trees_finish(&view->trees);
	if (ret)
		return ret;
	if (view->view.settings.is_json)
		add_end_json(view, loss);
	else
		add_end_text(view, loss);
	return tap_outfile_finish(view->view.output, &view->view.line);
}

static void destroy(struct tap_view *base)
{
	struct tap_tree_view *view = (struct tap_tree_view *) base;

	tap_trees_free(&view->trees);
	tap_tree_path_free(&view->path);
	tap_fields_free(&view->fields);
	tap_json_free(&view->json);
	tap_buffer_free(&base->line);
	free(view);
}

static const struct tap_consumer consumer = {
	.span_begun = take_begun,
	.span_ended = take_ended,
	.link = take_link,
	.finish = finish,
};

/* Filters choose among trees, of which all parts are needed. */
static const struct tap_consumer all = {
	.span_begun = take_begun,
	.span_ended = take_ended,
	.link = take_link,
};

static const struct tap_consumer passed = {.finish = finish};

struct tap_view *tap_tree_create(void)
{
	struct tap_tree_view *view = calloc(1, sizeof(*view));

	if (!view)
		return NULL;
	view->view.consumer = &consumer;
	view->view.all = &all;
	view->view.passed = &passed;
	view->view.destroy = destroy;
	view->trees.take = take_tree;
	view->trees.data = view;
	return &view->view;
}
