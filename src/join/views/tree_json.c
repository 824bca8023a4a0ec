/* SPDX-License-Identifier: MIT */
/* A tree as JSON lines: the tree, its nodes, each after its parent, and its path. */
#include "join/views/tree_view.h"

#include "join/model/link.h"
#include "join/model/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int end_line(struct tap_tree_view *view)
{
	tap_json_end_line(&view->json, &view->view.line);
	return tap_outfile_write(view->view.output, &view->view.line);
}

static void add_id(struct tap_json *json, const char *name,
		   const struct tap_tree_part *part)
{
	if (!part) {
		tap_json_null(json, name);
		return;
	}
	tap_tree_add_id(&json->text, part);
	tap_json_text(json, name);
}

static int write_tree_json(struct tap_tree_view *view, const struct tap_tree *tree)
{
	const struct tap_tree_operation *operation = tree->operations.items;
	struct tap_json *json = &view->json;
	size_t i;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "tree");
	tap_json_unsigned(json, "tree", tree->number);
	tap_json_open(json, "operations", '[');
	for (i = 0; i < tree->operations.count; i++, operation++) {
		tap_json_open(json, NULL, '{');
		tap_json_string(json, "name",
				operation->name ? operation->name->name : NULL);
		tap_json_key(json, "comm_key",
			     operation->comm ? operation->comm->key : 0);
		tap_tree_add_key(&json->text, operation);
		tap_json_text(json, "op_key");
		tap_json_unsigned(json, "ranks", operation->ranks);
		tap_json_not_negative(json, "nranks", operation->nranks);
		tap_json_string(json, "known",
				operation->is_linked ? tap_known_name(operation->known)
						     : NULL);
		tap_json_close(json);
	}
	tap_json_close(json);
	return end_line(view);
}

static int write_node(struct tap_tree_view *view, const struct tap_tree_part *part)
{
	struct tap_json *json = &view->json;
	size_t i;

	tap_fields_clear(&view->fields);
	tap_tree_fields(part, &view->fields);
	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "node");
	tap_json_unsigned(json, "tree", part->tree->number);
	add_id(json, "id", part);
	add_id(json, "parent", part->parent);
	tap_json_string(json, "known", part->parent ? tap_known_name(part->known) : NULL);
	tap_json_string(json, "event", tap_tree_event(part));
	tap_json_unsigned(json, "process", part->process->number);
	tap_json_not_negative(json, "rank", tap_tree_rank(part));
	tap_json_not_negative(json, "begin_ns", tap_tree_begin_ns(part));
	tap_json_not_negative(json, "end_ns", tap_tree_end_ns(part));
	tap_json_open(json, "fields", '{');
	for (i = 0; i < view->fields.count; i++)
		tap_json_field(json, &view->fields, &view->fields.list[i]);
	tap_json_close(json);
	return end_line(view);
}

static int write_nodes(struct tap_tree_view *view, const struct tap_tree_part *part)
{
	tap_tree_parts below = {0};
	size_t i;
	int ret = write_node(view, part);

	if (!ret)
		ret = tap_tree_below(part, &below);
	for (i = 0; !ret && i < below.count; i++)
		ret = write_nodes(view, below.items[i]);
	tap_vec_free(&below);
	return ret;
}

static int write_path_json(struct tap_tree_view *view, const struct tap_tree *tree)
{
	const struct tap_tree_path *path = &view->path;
	struct tap_json *json = &view->json;
	size_t i;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "type", "path");
	tap_json_unsigned(json, "tree", tree->number);
	tap_json_string(json, "known", tap_known_name(TAP_KNOWN_INFERRED));
	tap_json_bool(json, "is_cut", path->is_cut);
	tap_json_open(json, "hops", '[');
	for (i = 0; i < path->hops.count; i++) {
		const struct tap_tree_hop *hop = &path->hops.items[i];

		tap_json_open(json, NULL, '{');
		tap_json_signed(json, "time_ns", hop->time_ns);
		tap_json_not_negative(json, "rank", tap_tree_rank(hop->part));
		tap_json_string(json, "event", tap_tree_event(hop->part));
		add_id(json, "id", hop->part);
		tap_json_string(json, "moment", tap_tree_moment_name(hop->moment));
		tap_json_close(json);
	}
	tap_json_close(json);
	return end_line(view);
}

int tap_tree_write_json(struct tap_tree_view *view, const struct tap_tree *tree)
{
	tap_tree_parts firsts = {0};
	size_t i;
	int ret = write_tree_json(view, tree);

	if (!ret)
		ret = tap_tree_firsts(view, tree, &firsts);
	for (i = 0; !ret && i < firsts.count; i++)
		ret = write_nodes(view, firsts.items[i]);
	tap_vec_free(&firsts);
	return ret ? ret : write_path_json(view, tree);
}
