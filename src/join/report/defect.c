/* SPDX-License-Identifier: MIT */
/* A ring of the latest defects, with as many ranks as there is room for. */
#include "join/report/defect.h"

static void note_ranks(struct tap_defect *defect, const struct tap_link *link)
{
	size_t i, kept = 0;
	int64_t rank;

	for (i = 0; i < TAP_RANKS_MAX; i++) {
		defect->ranks_present[i] = i < link->count ? link->ends[i].rank : -1;
		defect->called[i] = i < link->count ? link->ends[i].name : NULL;
		defect->ranks_missing[i] = -1;
	}
	if (defect->is_message || !defect->missing)
		return;
	/* An end of unknown rank, which is last, may be any missing rank. */
	if (link->ends[link->count - 1].rank < 0)
		return;
	for (rank = 0; rank < link->nranks && kept < TAP_RANKS_MAX; rank++)
		if (!tap_link_has_rank(link, rank))
			defect->ranks_missing[kept++] = rank;
}

void tap_defects_note(struct tap_defects *defects, const struct tap_link *link)
{
	struct tap_defect *defect = &defects->latest[defects->count % TAP_DEFECTS_MAX];
	const bool is_message = link->kind == TAP_LINK_SEND_RECV;

	/* Whether a rank is missing is unknown. */
	if (!is_message && !link->mismatch && link->nranks < 0)
		return;
	*defect = (struct tap_defect){
		.comm = link->comm,
		.name = link->ends[0].name,
		.is_message = is_message,
		.mismatch = link->mismatch,
		.is_mismatch = link->is_mismatch,
		.is_program = link->mismatch || link->is_pending,
		.op_number = link->op_number,
		.peer = link->peer,
		.there = link->count,
	};
	if (is_message)
		defect->missing = link->count < 2;
	else if (link->nranks > (int64_t) link->count)
		defect->missing = (uint64_t) link->nranks - link->count;
	note_ranks(defect, link);
	defects->count++;
	defects->program += defect->is_program;
}

/* The index of the oldest kept defect; the caller counts it up to defects->count. */
static uint64_t first(const struct tap_defects *defects)
{
	return defects->count > TAP_DEFECTS_MAX ? defects->count - TAP_DEFECTS_MAX : 0;
}

/* ---- Text ---- */

/* "rank 0 ncclAllReduce, rank 1 ncclBroadcast" */
static void add_called(struct tap_buffer *line, const struct tap_defect *defect)
{
	uint64_t i;

	for (i = 0; i < defect->there && i < TAP_RANKS_MAX; i++) {
		tap_buffer_add_string(line, i ? ", " : "");
		tap_ranks_add_one(line, defect->ranks_present[i]);
		tap_buffer_add_char(line, ' ');
		tap_buffer_add_visible(line, defect->called[i]->name);
	}
	if (defect->there > i)
		tap_buffer_add_string(line, ", ...");
}

static void add_defect(struct tap_buffer *line, const struct tap_defect *defect)
{
	const bool is_receive = defect->name->kind == TAP_NAME_RECEIVE;

	tap_buffer_add_string(line, defect->is_program ? "program: " : "trace: ");
	if (defect->is_mismatch)
		tap_buffer_add_string(line, "operation");
	else
		tap_buffer_add_visible(line, defect->name->name);
	tap_buffer_add_string(line, " #");
	tap_buffer_add_unsigned(line, defect->op_number);
	tap_buffer_add_string(line, " of ");
	tap_view_add_key(line, defect->comm->key);
	tap_buffer_add_string(line, ": ");
	if (defect->mismatch && !defect->is_mismatch) {
		tap_buffer_add_string(line, "the ranks differ in ");
		tap_buffer_add_string(line, tap_mismatch_name(defect->mismatch));
	}
	if (defect->is_message && defect->missing) {
		tap_ranks_add_one(line, defect->ranks_present[0]);
		tap_buffer_add_string(line, is_receive ? " from " : " to ");
		tap_ranks_add_one(line, defect->peer);
		tap_buffer_add_string(line, is_receive ? ", missing its ncclSend"
						       : ", missing its ncclRecv");
	}
	if (defect->is_mismatch)
		add_called(line, defect);
	if (defect->mismatch && defect->missing)
		tap_buffer_add_string(line, ", ");
	if (!defect->is_message && defect->missing) {
		tap_buffer_add_string(line, defect->missing == 1 ? "missing rank"
								 : "missing ranks");
		tap_ranks_add_text(line, defect->ranks_missing, defect->missing);
	}
	if (!defect->is_program)
		tap_buffer_add_string(line, ", or the call is not in the trace");
	tap_buffer_add_char(line, '\n');
}

void tap_defects_add_text(const struct tap_defects *defects, struct tap_buffer *line)
{
	uint64_t i = first(defects);

	if (i) {
		tap_buffer_add_unsigned(line, i);
		tap_buffer_add_string(line,
				      " operations before these are not complete\n");
	}
	for (; i < defects->count; i++)
		add_defect(line, &defects->latest[i % TAP_DEFECTS_MAX]);
}

/* ---- JSON ---- */

void tap_defects_add_json(const struct tap_defects *defects, struct tap_json *json)
{
	uint64_t i = first(defects);

	if (!defects->count)
		return;
	tap_json_string(json, "program", defects->program ? "incomplete" : "ok");
	tap_json_open(json, "defects", '[');
	for (; i < defects->count; i++) {
		const struct tap_defect *defect = &defects->latest[i % TAP_DEFECTS_MAX];

		tap_json_open(json, NULL, '{');
		tap_json_string(json, "of", defect->is_program ? "program" : "trace");
		tap_json_key(json, "comm_key", defect->comm->key);
		tap_json_unsigned(json, "op_number", defect->op_number);
		tap_json_string(json, "op_kind", tap_operation_kind(defect->name));
		tap_json_string(json, "name",
				defect->is_mismatch ? NULL : defect->name->name);
		tap_json_bool(json, "mismatch", defect->is_mismatch);
		tap_json_string(json, "differ_in", tap_mismatch_name(defect->mismatch));
		tap_json_unsigned(json, "ranks_present", defect->there);
		tap_json_unsigned(json, "ranks_missing", defect->missing);
		tap_ranks_add_json(json, "present", defect->ranks_present);
		tap_ranks_add_json(json, "missing", defect->ranks_missing);
		tap_json_not_negative(json, "peer",
				      defect->is_message ? defect->peer : -1);
		tap_json_close(json);
	}
	tap_json_close(json);
	tap_json_unsigned(json, "other_defects", first(defects));
}
