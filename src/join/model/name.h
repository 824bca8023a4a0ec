/* SPDX-License-Identifier: MIT */
/*
 * The names of calls, each stored once, so that all other parts compare pointers.
 *
 * Hides what a call's name says about the call: its row does or, where it has none, the
 * rows of similar names.
 */
#ifndef TAP_JOIN_MODEL_NAME_H
#define TAP_JOIN_MODEL_NAME_H

#include "join/base/table.h"
#include "join/model/call.h"

#include <stdbool.h>

/* A call's name.  One per (layer, name), so pointers may be compared. */
struct tap_name {
	char *layer;
	char *name;
	unsigned int number;		/* from 0 */
	struct tap_name *next;		/* with the same hash */
	const struct tap_call_row *row; /* NULL: none */
	enum tap_name_kind kind;
	const struct tap_name *operation; /* of ncclBcast ncclBroadcast; of most itself */
	enum tap_cuda_kind cuda;
	bool is_cuda_wait; /* the call returns when its work is done */
	bool is_poll;
	bool is_nccl;		  /* a function of NCCL */
	bool is_made_of_messages; /* tap_call_is_made_of() */
};

/* All zero is no name. */
struct tap_names {
	struct tap_table by_hash;
	unsigned int count;
};

/*
 * The one structure of (layer, name), made when new.  Returns NULL when memory is short.
 */
const struct tap_name *tap_names_get(struct tap_names *names, const char *layer,
				     size_t layer_length, const char *name,
				     size_t name_length);

/* Likewise, but returns NULL when the name is new. */
const struct tap_name *tap_names_find(const struct tap_names *names, const char *layer,
				      size_t layer_length, const char *name,
				      size_t name_length);

/* Whether the call puts work on a stream, and has one event, after the call. */
bool tap_name_is_work(const struct tap_name *name);
/* Whether the call launches work: not one that only orders work or writes values. */
bool tap_name_is_launch(const struct tap_name *name);

/*
 * Whether programs make the call again and again while they wait for something else: a
 * thread that is in it, or made it last, waits for another call.
 */
bool tap_name_is_poll(const struct tap_name *name);

void tap_names_free(struct tap_names *names);

#endif
