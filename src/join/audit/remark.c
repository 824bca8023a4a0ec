/* SPDX-License-Identifier: MIT */
/* Remarks, the processes that they are about, and which calls are the program's. */
#include "join/audit/subject.h"

#include "join/findings/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Processes ---- */

int tap_audit_add_process(struct tap_audit_processes *processes,
			  const struct tap_process *process)
{
	const size_t number = process->number;

	if (number < processes->is_in.count && processes->is_in.items[number])
		return 0;
	if ((number >= processes->is_in.count &&
	     tap_vec_resize(&processes->is_in, number + 1)) ||
	    tap_vec_add(&processes->all, process))
		return -ENOMEM;
	processes->is_in.items[number] = true;
	return 0;
}

void tap_audit_free_processes(struct tap_audit_processes *processes)
{
	tap_vec_free(&processes->all);
	tap_vec_free(&processes->is_in);
}

static int compare_ranks(const void *left, const void *right)
{
	const int64_t a = *(const int64_t *) left, b = *(const int64_t *) right;

	return (a > b) - (a < b);
}

void tap_audit_add_processes(struct tap_buffer *text,
			     const struct tap_audit_processes *processes)
{
	const size_t count = processes->all.count;
	int64_t *ranks = count ? calloc(count, sizeof(*ranks)) : NULL;
	bool is_known = ranks;
	size_t i;

	for (i = 0; is_known && i < count; i++) {
		ranks[i] = tap_process_rank(processes->all.items[i]);
		is_known = ranks[i] >= 0;
	}
	if (is_known) {
		qsort(ranks, count, sizeof(*ranks), compare_ranks);
		tap_words_add_ranks(text, ranks, count);
	} else if (count == 1) {
		tap_view_add_process(text, processes->all.items[0]);
	} else {
		tap_buffer_add_unsigned(text, count);
		tap_buffer_add_string(text, " processes");
	}
	free(ranks);
}

int tap_audit_remark_on(struct tap_audit_remark *remark,
			const struct tap_audit_processes *processes)
{
	size_t i;

	for (i = 0; i < processes->all.count; i++)
		if (tap_audit_add_process(&remark->processes, processes->all.items[i]))
			return -ENOMEM;
	return 0;
}

/* ---- Remarks ---- */

struct tap_audit_remark *tap_audit_add(void *data, enum tap_audit_grade grade,
				       const char *kind, enum tap_known known)
{
	struct tap_audit_state *state = data;
	struct tap_audit_remark *remark;

	if (tap_vec_resize(&state->remarks, state->remarks.count + 1))
		return NULL;
	remark = &state->remarks.items[state->remarks.count - 1];
	remark->grade = grade;
	remark->kind = kind;
	remark->known = known;
	remark->count = 1;
	return remark;
}

const struct tap_rows *tap_audit_rows(const struct tap_audit_subject *subject,
				      const struct tap_audit_state *state)
{
	return subject->table.columns
		       ? (const void *) ((const char *) state + subject->table.rows)
		       : NULL;
}

const char *tap_audit_grade_name(enum tap_audit_grade grade)
{
	static const char *const names[] = {[TAP_AUDIT_OK] = "ok",
					    [TAP_AUDIT_NOTE] = "note",
					    [TAP_AUDIT_UNKNOWN] = "unknown",
					    [TAP_AUDIT_WARNING] = "warning",
					    [TAP_AUDIT_ERROR] = "error"};

	return names[grade];
}

enum tap_audit_grade tap_audit_grade_of(const struct tap_audit_state *state)
{
	enum tap_audit_grade worst = TAP_AUDIT_OK;
	size_t i;

	for (i = 0; i < state->remarks.count; i++)
		if (state->remarks.items[i].grade > worst)
			worst = state->remarks.items[i].grade;
	return worst;
}

/* There are few, and equal ones stay in order. */
void tap_audit_sort_remarks(struct tap_audit_state *state)
{
	struct tap_audit_remark *all = state->remarks.items;
	size_t i, j;

	for (i = 1; i < state->remarks.count; i++)
		for (j = i; j > 0 && all[j].grade > all[j - 1].grade; j--) {
			const struct tap_audit_remark remark = all[j];

			all[j] = all[j - 1];
			all[j - 1] = remark;
		}
}

/* How it is known, where that is not certain: what is exact needs no word. */
void tap_audit_add_remark(struct tap_buffer *text, const struct tap_audit_remark *remark)
{
	tap_buffer_add(text, remark->text.data, remark->text.used);
	if (remark->grade == TAP_AUDIT_UNKNOWN || remark->known == TAP_KNOWN_EXACT)
		return;
	tap_buffer_add_string(text, " (");
	tap_buffer_add_string(text, tap_known_name(remark->known));
	tap_buffer_add_char(text, ')');
}

static void add_remark_json(struct tap_json *json, const struct tap_audit_remark *remark)
{
	size_t i;

	tap_json_open(json, NULL, '{');
	tap_json_string(json, "kind", remark->kind);
	tap_json_string(json, "grade", tap_audit_grade_name(remark->grade));
	tap_json_string(json, "known",
			remark->grade == TAP_AUDIT_UNKNOWN
				? "unknown"
				: tap_known_name(remark->known));
	tap_json_unsigned(json, "count", remark->count);
	tap_json_open(json, "processes", '[');
	for (i = 0; i < remark->processes.all.count; i++)
		tap_json_unsigned(json, NULL, remark->processes.all.items[i]->number);
	tap_json_close(json);
	tap_buffer_add(&json->text, remark->text.data, remark->text.used);
	tap_json_text(json, "text");
	tap_json_close(json);
}

void tap_audit_add_remarks_json(struct tap_json *json,
				const struct tap_audit_state *state)
{
	size_t i;

	tap_json_open(json, "remarks", '[');
	for (i = 0; i < state->remarks.count; i++)
		add_remark_json(json, &state->remarks.items[i]);
	tap_json_close(json);
}

void tap_audit_free_remarks(struct tap_audit_state *state)
{
	size_t i;

	for (i = 0; i < state->remarks.count; i++) {
		tap_buffer_free(&state->remarks.items[i].text);
		tap_audit_free_processes(&state->remarks.items[i].processes);
	}
	tap_vec_free(&state->remarks);
}

/* ---- Calls ---- */

void tap_audit_add_count(struct tap_buffer *text, uint64_t count, const char *what)
{
	tap_buffer_add_unsigned(text, count);
	tap_buffer_add_char(text, ' ');
	tap_buffer_add_string(text, what);
	if (count != 1)
		tap_buffer_add_char(text, 's');
}

void tap_audit_add_most(struct tap_buffer *text, uint64_t most)
{
	tap_buffer_add_string(text, ", up to ");
	tap_audit_add_count(text, most, "time");
}

bool tap_audit_is_own_call(const struct tap_span *span)
{
	return span->name->is_nccl && !span->work.kind && !span->is_inner &&
	       !span->is_range;
}

bool tap_audit_is_own_cuda(const struct tap_span *span)
{
	return span->name->cuda != TAP_CUDA_NONE && !span->work.kind &&
	       !span->parent_id && !span->is_enclosed;
}

bool tap_audit_is_operation(const struct tap_span *span)
{
	return tap_audit_is_own_call(span) && span->operation.has_count;
}
