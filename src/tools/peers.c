/* SPDX-License-Identifier: MIT */
/* A list of connections. */
#include "tools/peers.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "tools/answer.h"
#include "tools/descriptor.h"
#include "tools/recording.h"
#include "tools/remains.h"

static bool is_recorded(const struct tap_peer *peer)
{
	return peer->is_member && ((peer->link >= 0 && !peer->is_waiting) ||
				   (peer->link < 0 && peer->pidfd >= 0));
}

size_t tap_peers_count_recorded(const struct tap_peers *peers)
{
	size_t count = 0;

	for (size_t i = 0; i < peers->all.count; i++)
		count += is_recorded(&peers->all.items[i]);
	return count;
}

void tap_peers_add(struct tap_peers *peers, int link)
{
	const struct tap_peer peer = {.link = link, .pidfd = -1, .rank = -1};

	if (tap_vec_add(&peers->all, peer))
		close(link);
}

void tap_peer_remove_look(const struct tap_peer *peer, struct tap_recording *recording)
{
	char name[32];

	if (!peer->look)
		return;
	snprintf(name, sizeof(name), TAP_OUTPUT_LOOK "%u", peer->look);
	tap_output_remove_look(&recording->output, name);
}

void tap_peers_drop_gone(struct tap_peers *peers, struct tap_recording *recording)
{
	size_t kept = 0;

	for (size_t i = 0; i < peers->all.count; i++)
		if (peers->all.items[i].link >= 0 || peers->all.items[i].pidfd >= 0)
			peers->all.items[kept++] = peers->all.items[i];
		else
			tap_peer_remove_look(&peers->all.items[i], recording);
	peers->all.count = kept;
}

void tap_peer_name(const struct tap_peer *peer, char *ret_name, size_t size)
{
	if (peer->rank >= 0)
		snprintf(ret_name, size, "rank %d (process %d)", peer->rank, peer->pid);
	else
		snprintf(ret_name, size, "process %d", peer->pid);
}

void tap_peers_join(struct tap_peers *peers, struct tap_peer *peer,
		    struct tap_recording *recording, const struct tap_question *question,
		    int pidfd, struct tap_answer *answer)
{
	const struct tap_job *job = &recording->plan->job;

	if (question->job != job->key || (!peer->is_maker && !job->is_shared)) {
		answer->error = TAP_LINK_OTHER;
		if (pidfd >= 0)
			close(pidfd);
		return;
	}
	peer->is_member = true;
	peers->programs++;
	peer->pid = question->pid;
	peer->rank = question->rank;
	tap_descriptor_close(&peer->pidfd);
	peer->pidfd = pidfd;
	tap_output_note_rank(&recording->output, peer->rank);
	tap_answer_fill_joined(answer, recording);
}

void tap_peers_answer_joined(struct tap_peers *peers, struct tap_peer *peer,
			     const struct tap_recording *recording,
			     const struct tap_answer *answer)
{
	if (tap_link_answer(peer->link, answer)) {
		tap_descriptor_close(&peer->link);
		tap_descriptor_close(&peer->pidfd);
	} else if (!peers->has_joined && peer->is_member) {
		peers->has_joined = true;
		tap_remains_note_joined(recording->remains_fd);
	}
}

void tap_peer_look_at_end(const struct tap_peer *peer, struct tap_recording *recording,
			  const struct tap_question *question)
{
	char name[64], reason[160];

	tap_peer_name(peer, name, sizeof(name));
	if (question->code != CLD_EXITED)
		snprintf(reason, sizeof(reason), "%s died by signal %d", name,
			 question->status);
	else if (question->status)
		snprintf(reason, sizeof(reason), "%s ended with status %d", name,
			 question->status);
	else
		return;
	tap_flight_want(recording, reason, true);
}

bool tap_peers_have_other_readers(const struct tap_peers *peers,
				  const struct tap_peer *peer)
{
	for (size_t i = 0; i < peers->all.count; i++)
		if (&peers->all.items[i] != peer && !peers->all.items[i].is_member &&
		    peers->all.items[i].link >= 0)
			return true;
	return false;
}
