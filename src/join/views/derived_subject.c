/* SPDX-License-Identifier: MIT */
/* A table of calls, and a ring that says which came first. */
#include "join/views/derived_subject.h"

#include "join/views/perfetto_name.h"

#include <errno.h>
#include <stdlib.h>

/* A graph repeats calls that were captured long before: about 20 MB. */
#define CALLS_MAX 131072

struct tap_subject tap_subject_of_call(const struct tap_span *span)
{
	return (struct tap_subject){.name = span->name,
				    .operation = span->operation,
				    .member = span->member};
}

int tap_subjects_add(struct tap_subjects *subjects, const struct tap_span *span)
{
	const struct tap_known_id id =
		tap_known_span(span->process, &span->work, span->call_id);
	struct tap_subject *subject =
		tap_table_find(&subjects->by_id, id.process, id.number);
	struct tap_known_id *slot;

	if (subject) {
		*subject = tap_subject_of_call(span);
		return 0;
	}
	if (!subjects->ring)
		subjects->ring = malloc(CALLS_MAX * sizeof(*subjects->ring));
	subject = malloc(sizeof(*subject));
	if (!subjects->ring || !subject ||
	    tap_table_set(&subjects->by_id, id.process, id.number, subject)) {
		free(subject);
		return -ENOMEM;
	}
	*subject = tap_subject_of_call(span);
	slot = &subjects->ring[subjects->next % CALLS_MAX];
	if (subjects->next++ >= CALLS_MAX)
		free(tap_table_remove(&subjects->by_id, slot->process, slot->number));
	*slot = id;
	return 0;
}

const struct tap_subject *tap_subjects_find(const struct tap_subjects *subjects,
					    const struct tap_process *process,
					    uint64_t call_id)
{
	return tap_table_find(&subjects->by_id, process->number, call_id);
}

void tap_subjects_free(struct tap_subjects *subjects)
{
	size_t i;

	for (i = 0; i < subjects->by_id.size; i++)
		free(subjects->by_id.slots[i].value);
	tap_table_free(&subjects->by_id);
	free(subjects->ring);
}

void tap_subject_add_label(struct tap_buffer *label, const struct tap_subject *subject,
			   const struct tap_span *span)
{
	/* Of a call, the name needs no more than this. */
	const struct tap_span call = {.name = subject->name,
				      .operation = subject->operation};

	tap_perfetto_add_name(label, subject->name ? &call : span);
}
