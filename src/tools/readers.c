/* SPDX-License-Identifier: MIT */
/* Chunks of a trace, and what a flight recorder holds. */
#include "tools/readers.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/answer.h"
#include "tools/chunks.h"
#include "tools/peers.h"
#include "tools/recording.h"

/*
 * A chunk that was made for a reader grows to this size: one that looks every second
 * would leave thousands.
 */
#define CHUNK_BYTES (UINT64_C(8) << 20)

/* Joins the newest chunk to the one before it, if that was made for a reader, too. */
static void join_chunks(struct tap_recording *recording, bool is_alone)
{
	uint64_t most = recording->plan->max_bytes
				? recording->plan->max_bytes / TAP_BOUND_CHUNKS
				: UINT64_MAX;
	struct dirent **chunks;
	int count = tap_output_chunks(&recording->output, &chunks), i;
	char *joined = NULL, *archives;

	if (most > CHUNK_BYTES)
		most = CHUNK_BYTES;
	if (count > 1 && recording->readers.chunk &&
	    !strcmp(recording->readers.chunk, chunks[count - 2]->d_name) && is_alone &&
	    tap_output_size(&recording->output, recording->readers.chunk) < most &&
	    asprintf(&archives, "%s/archives", recording->output.absolute) >= 0) {
		joined = tap_chunks_join(archives, recording->readers.chunk,
					 chunks[count - 1]->d_name);
		free(archives);
	}
	free(recording->readers.chunk);
	recording->readers.chunk = joined      ? joined
				   : count > 0 ? strdup(chunks[count - 1]->d_name)
					       : NULL;
	for (i = 0; i < count; i++)
		free(chunks[i]);
	if (count >= 0)
		free(chunks);
}

void tap_readers_rotate(struct tap_recording *recording, const struct tap_peers *peers,
			const struct tap_peer *peer, struct tap_answer *answer)
{
	int ret = 0;

	/*
	 * A stopped session is complete as it is. LTTng 2.13 was seen to lose events recorded
	 * after the rotation of a stopped session.
	 */
	if (recording->state != TAP_RECORDING_RUNS && recording->was_started)
		return;
	tap_answer_fill_joined(answer, recording);
	/* What is sent is read where it is. */
	if (recording->plan->lttng.is_flight || !recording->was_started ||
	    recording->plan->relayd)
		return;
	ret = tap_session_rotate(recording->plan->session);
	if (ret < 0)
		tap_answer_refuse(answer, "LTTng: %s", tap_session_error(ret));
	else
		join_chunks(recording, !tap_peers_have_other_readers(peers, peer));
	/* The new chunk begins with it; whoever asked does not wait for that. */
	recording->readers.lacks_state = !ret;
}

void tap_readers_look(struct tap_recording *recording, const struct tap_peers *peers,
		      struct tap_peer *peer, struct tap_answer *answer)
{
	int ret;

	if (!recording->plan->lttng.is_flight || !recording->was_started ||
	    recording->state == TAP_RECORDING_ENDED) {
		tap_readers_rotate(recording, peers, peer, answer);
		return;
	}
	tap_answer_fill_joined(answer, recording);
	tap_peer_remove_look(peer, recording);
	/* A snapshot that stays would count, and there may be a thousand of them. */
	peer->look = ++recording->readers.looks;
	if (snprintf(answer->text, sizeof(answer->text), "%s/" TAP_OUTPUT_LOOK "%u",
		     recording->output.absolute,
		     peer->look) >= (int) sizeof(answer->text)) {
		tap_answer_refuse(answer, "its path is too long");
		return;
	}
	/* If this fails, the state is missing and the calls are there. */
	tap_session_regenerate_statedump(recording->plan->session);
	ret = tap_session_look(recording->plan->session, answer->text);
	if (ret < 0)
		tap_answer_refuse(answer, "LTTng cannot write what it holds into %s: %s",
				  recording->output.absolute, tap_session_error(ret));
}

void tap_readers_add_state(struct tap_recording *recording)
{
	if (recording->readers.lacks_state && recording->state == TAP_RECORDING_RUNS)
		tap_session_regenerate_statedump(recording->plan->session);
	recording->readers.lacks_state = false;
}
