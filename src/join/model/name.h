/* SPDX-License-Identifier: MIT */
/*
 * The names of calls, each kept once, so that all other parts compare pointers.
 * Hides what a name says of its call: that it is an operation, or closes a group, or what
 * the CUDA driver is asked for.
 */
#ifndef TAP_JOIN_MODEL_NAME_H
#define TAP_JOIN_MODEL_NAME_H

#include "join/base/table.h"

#include <stdbool.h>

/* What a call is to its communicator. */
enum tap_name_kind {
	TAP_NAME_COLLECTIVE, /* any call that has the number of an operation */
	TAP_NAME_SEND,
	TAP_NAME_RECEIVE,
	TAP_NAME_GROUP_START,
	TAP_NAME_GROUP_END,
};

/* What a function of the CUDA driver, or of HIP, does. */
enum tap_cuda_kind {
	TAP_CUDA_NONE, /* it is none */
	TAP_CUDA_KERNEL,
	TAP_CUDA_GRAPH, /* the launch of one */
	TAP_CUDA_HOST_FUNCTION,
	TAP_CUDA_COPY,
	TAP_CUDA_SET,
	TAP_CUDA_STREAM, /* events, and values that are written and waited for */
	TAP_CUDA_SYNCHRONIZE,
	TAP_CUDA_OTHER,
};

/* A call's name.  One per (layer, name), so pointers may be compared. */
struct tap_name {
	char *layer;
	char *name;
	unsigned int number;   /* from 0 */
	struct tap_name *next; /* with the same hash */
	enum tap_name_kind kind;
	const struct tap_name *operation; /* ncclBcast is ncclBroadcast; often itself */
	enum tap_cuda_kind cuda;
	bool is_cuda_wait; /* the caller waits until it is done */
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

/* The name of a function of the driver without what all of them begin with. */
const char *tap_name_of_cuda(const struct tap_name *name);
/* Whether it is put on a stream, and has one event, after the call. */
bool tap_name_is_work(const struct tap_name *name);
/* Whether that does something there, but for order and values. */
bool tap_name_is_launch(const struct tap_name *name);

void tap_names_free(struct tap_names *names);

#endif
