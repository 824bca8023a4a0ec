/* SPDX-License-Identifier: MIT */
/* The oldest chunks go first. */
#include "tools/bound.h"

#include <dirent.h>
#include <stdlib.h>

#include "common/clock.h"
#include "tools/recording.h"

#define LOOK_MS 1000

void tap_bound_remove_oldest(struct tap_recording *recording)
{
	struct dirent **chunks;
	int count = tap_output_chunks(&recording->output, &chunks), i;
	uint64_t total = tap_output_size(&recording->output, NULL), size;
	unsigned before = recording->bound.removed;

	for (i = 0; i < count; i++) {
		size = tap_output_size(&recording->output, chunks[i]->d_name);
		if (total > recording->plan->max_bytes &&
		    total - size >= recording->plan->max_bytes / 4 &&
		    !tap_output_remove_chunk(&recording->output, chunks[i]->d_name)) {
			recording->bound.removed++;
			total -= size;
		}
		free(chunks[i]);
	}
	if (count >= 0)
		free(chunks);
	if (recording->bound.removed != before)
		tap_output_note_removed(&recording->output,
					recording->bound.removed - before);
}

void tap_bound_keep(struct tap_recording *recording)
{
	uint64_t size;

	if (!recording->plan->max_bytes || recording->plan->lttng.is_flight ||
	    recording->state != TAP_RECORDING_RUNS ||
	    tap_now_ms() < recording->bound.next_look_ms)
		return;
	recording->bound.next_look_ms = tap_now_ms() + LOOK_MS;
	size = tap_output_size(&recording->output, NULL);
	if (size < recording->bound.size_at_rotation +
			   recording->plan->max_bytes / TAP_BOUND_CHUNKS)
		return;
	/* The new chunk must be readable by itself after the older ones are removed. */
	if (!tap_session_rotate(recording->plan->session))
		tap_session_regenerate_statedump(recording->plan->session);
	tap_bound_remove_oldest(recording);
	recording->bound.size_at_rotation = tap_output_size(&recording->output, NULL);
}
