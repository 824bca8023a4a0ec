/* SPDX-License-Identifier: MIT */
/*
 * The connections to a supervisor: recorded programs, and those that have another
 * request. Hides when a program counts as recorded: its recorder may be killed before it.
 */
#ifndef TAP_TOOLS_PEERS_H
#define TAP_TOOLS_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/vec.h"
#include "tools/control_socket.h"

struct tap_recording;

struct tap_peer {
	int link;  /* -1: closed */
	int pidfd; /* -1: the program has ended, or there is none */
	pid_t pid;
	int rank;
	bool is_maker; /* the first member, for which the recording was made */
	bool is_member;
	bool is_waiting; /* sent DONE and waits for an answer */
	unsigned look;	 /* number of what it asked to look at, 0: none */
};

/* All zero: none. */
struct tap_peers {
	TAP_VEC(struct tap_peer) all;
	size_t programs; /* that were run or may still run */
	bool has_joined; /* one of them, at any time */
};

/* Takes over the connection. */
void tap_peers_add(struct tap_peers *peers, int link);
/* Of programs. */
size_t tap_peers_count_recorded(const struct tap_peers *peers);
/* Whether somebody else than `peer` reads the recording, or may. */
bool tap_peers_have_other_readers(const struct tap_peers *peers,
				  const struct tap_peer *peer);

/* Makes it a member if it is of the recording's job. Takes over pidfd. */
void tap_peers_join(struct tap_peers *peers, struct tap_peer *peer,
		    struct tap_recording *recording, const struct tap_question *question,
		    int pidfd, struct tap_answer *answer);
/* From here on its program may run. */
void tap_peers_answer_joined(struct tap_peers *peers, struct tap_peer *peer,
			     const struct tap_recording *recording,
			     const struct tap_answer *answer);

void tap_peer_name(const struct tap_peer *peer, char *ret_name, size_t size);
/* Its program ended as the question says, which may be a reason for a snapshot. */
void tap_peer_look_at_end(const struct tap_peer *peer, struct tap_recording *recording,
			  const struct tap_question *question);
/* A reader removes what it looked at, unless it was killed. */
void tap_peer_remove_look(const struct tap_peer *peer, struct tap_recording *recording);

/* Forgets those with neither a connection nor a program. */
void tap_peers_drop_gone(struct tap_peers *peers, struct tap_recording *recording);

#endif
