/* SPDX-License-Identifier: MIT */
/*
 * The names of calls, each kept once, so that all other parts compare pointers.
 * Hides what a name says of its call: that it is an operation, or closes a group.
 */
#ifndef TAP_JOIN_NAME_H
#define TAP_JOIN_NAME_H

#include "join/table.h"

/* What a call is to its communicator. */
enum tap_name_kind {
	TAP_NAME_COLLECTIVE, /* any call that has the number of an operation */
	TAP_NAME_SEND,
	TAP_NAME_RECEIVE,
	TAP_NAME_GROUP_START,
	TAP_NAME_GROUP_END,
};

/* A call's name.  One per (layer, name), so pointers may be compared. */
struct tap_name {
	char *layer;
	char *name;
	unsigned int number;   /* from 0 */
	struct tap_name *next; /* with the same hash */
	enum tap_name_kind kind;
	const struct tap_name *operation; /* ncclBcast is ncclBroadcast; often itself */
};

/* All zero is no name. */
struct tap_names {
	struct tap_table by_hash;
	unsigned int count;
};

/* The one structure of (layer, name).  Returns NULL when memory is short. */
const struct tap_name *tap_names_get(struct tap_names *names, const char *layer,
				     size_t layer_length, const char *name,
				     size_t name_length);

/* The same, NULL when there is none yet. */
const struct tap_name *tap_names_find(const struct tap_names *names, const char *layer,
				      size_t layer_length, const char *name,
				      size_t name_length);

void tap_names_free(struct tap_names *names);

#endif
