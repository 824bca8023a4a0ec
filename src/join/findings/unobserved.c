/* SPDX-License-Identifier: MIT */
#include "join/findings/unobserved.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *why_of(const struct tap_problem *problem)
{
	return problem->why ? problem->why : problem->detail;
}

static struct tap_unobserved_kind *find(struct tap_unobserved *unobserved,
					const struct tap_problem *problem)
{
	size_t i;

	for (i = 0; i < unobserved->kinds.count; i++) {
		struct tap_unobserved_kind *kind = &unobserved->kinds.items[i];

		if (!strcmp(kind->what, problem->what) &&
		    !strcmp(kind->why, why_of(problem)))
			return kind;
	}
	return NULL;
}

static int count(struct tap_unobserved_kind *kind, const struct tap_problem *problem)
{
	size_t i;

	kind->count++;
	for (i = 0; i < kind->processes.count; i++)
		if (kind->processes.items[i] == problem->process)
			return 0;
	return tap_vec_add(&kind->processes, problem->process);
}

int tap_unobserved_add(struct tap_unobserved *unobserved, size_t most,
		       const struct tap_problem *problem)
{
	struct tap_unobserved_kind *kind;

	if (!problem->is_unobserved)
		return 0;
	kind = find(unobserved, problem);
	if (kind)
		return count(kind, problem);
	if (unobserved->kinds.count == most) {
		unobserved->others++;
		return 0;
	}
	if (tap_vec_resize(&unobserved->kinds, unobserved->kinds.count + 1))
		return -ENOMEM;
	kind = &unobserved->kinds.items[unobserved->kinds.count - 1];
	kind->what = strdup(problem->what);
	kind->why = strdup(why_of(problem));
	kind->detail = strdup(problem->detail);
	if (!kind->what || !kind->why || !kind->detail)
		return -ENOMEM;
	return count(kind, problem);
}

/* When it was differs from process to process, so it is left out where there are several. */
void tap_unobserved_add_kind(struct tap_buffer *text, const struct tap_unobserved_kind *kind)
{
	const bool is_several = kind->processes.count > 1;
	const char *why = is_several ? kind->why : kind->detail;

	tap_buffer_add_visible(text, kind->what);
	if (*why) {
		tap_buffer_add_string(text, ": ");
		tap_buffer_add_visible(text, why);
	}
	if (kind->count == 1)
		return;
	tap_buffer_add_string(text, " (");
	tap_buffer_add_unsigned(text, is_several ? kind->processes.count : kind->count);
	tap_buffer_add_string(text, is_several ? " processes)" : " times)");
}

void tap_unobserved_free(struct tap_unobserved *unobserved)
{
	size_t i;

	for (i = 0; i < unobserved->kinds.count; i++) {
		free(unobserved->kinds.items[i].what);
		free(unobserved->kinds.items[i].why);
		free(unobserved->kinds.items[i].detail);
		tap_vec_free(&unobserved->kinds.items[i].processes);
	}
	tap_vec_free(&unobserved->kinds);
}
