/* SPDX-License-Identifier: MIT */
/*
 * The rows of nccl.def, cuda.def and hip.def as a table: a row suffices for a call to
 * appear in every view.  Calls of the CUDA runtime and of libibverbs have no events of
 * their own, and are not in the table.
 *
 * Hides how a row is read, and which field of which call is its stream.
 */
#ifndef TAP_JOIN_MODEL_CALL_H
#define TAP_JOIN_MODEL_CALL_H

#include "join/base/field.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The column `class`. Rows of nccl.def have the first two values, those of the other
 * files all but the first.
 */
enum tap_call_class {
	TAP_CLASS_HOT,
	TAP_CLASS_SETUP,
	TAP_CLASS_WORK, /* puts work on a stream: one event, after the call */
	TAP_CLASS_WAIT,
	TAP_CLASS_CAPTURE,
	TAP_CLASS_CAPTURED,
	TAP_CLASS_UNLOAD,
};

/* What a call means to its communicator; follows from its hook (calls/kinds.h). */
enum tap_name_kind {
	TAP_NAME_COLLECTIVE, /* any call with an operation number */
	TAP_NAME_SEND,
	TAP_NAME_RECEIVE,
	TAP_NAME_GROUP_START,
	TAP_NAME_GROUP_END,
};

/* What a function of the CUDA driver, or of HIP, does: the column `does`. */
enum tap_cuda_kind {
	TAP_CUDA_NONE, /* not a function of either */
	TAP_CUDA_KERNEL,
	TAP_CUDA_GRAPH, /* the launch of a graph */
	TAP_CUDA_HOST_FUNCTION,
	TAP_CUDA_COPY,
	TAP_CUDA_SET,
	TAP_CUDA_STREAM, /* records or waits for an event, writes or waits for a value */
	TAP_CUDA_SYNCHRONIZE,
	TAP_CUDA_OTHER,
	/* These put no work on a stream: they capture, make and destroy graphs. */
	TAP_CUDA_BEGIN_CAPTURE,
	TAP_CUDA_BEGIN_CAPTURE_TO_GRAPH,
	TAP_CUDA_END_CAPTURE,
	TAP_CUDA_INSTANTIATE_GRAPH,
	TAP_CUDA_UPDATE_GRAPH,
	TAP_CUDA_CLONE_GRAPH,
	TAP_CUDA_ADD_TO_GRAPH,
	TAP_CUDA_DESTROY_GRAPH,
	TAP_CUDA_DESTROY_GRAPH_EXEC,
};

/* What a field means to its call: ROLE_K of its argument's kind (calls/kinds.h). */
enum tap_call_role {
	TAP_ROLE_NONE,
	TAP_ROLE_COMM, /* the communicator's address */
	TAP_ROLE_COMM_ID,
	TAP_ROLE_COMM_KEY,
	TAP_ROLE_PEER,
	TAP_ROLE_COUNT,
	TAP_ROLE_DATATYPE,
	TAP_ROLE_REDOP,
	TAP_ROLE_ROOT,
	TAP_ROLE_STREAM,
	TAP_ROLE_BYTES,
	TAP_ROLE_FUNCTION, /* a kernel's address */
	TAP_ROLE_GRID,	   /* the number of blocks, its first component */
	TAP_ROLE_GRAPH,
	TAP_ROLE_GRAPH_EXEC,
	TAP_ROLE_MADE_GRAPH,	  /* which the call returns */
	TAP_ROLE_MADE_GRAPH_EXEC, /* the same */
	TAP_ROLE_NR,
};

struct tap_call_row {
	const char *layer, *name;
	enum tap_call_class class;
	enum tap_name_kind kind;
	enum tap_cuda_kind does;
	const char *field[TAP_ROLE_NR]; /* NULL: the call has none of this role */
};

/* The row at this index, from 0; NULL behind the last. */
const struct tap_call_row *tap_call_row(size_t at);

/* The call's row, or NULL. */
const struct tap_call_row *tap_call_find(const char *layer, const char *name);

/*
 * For a call without a row: the row with the longest name that begins the call's name, or
 * NULL. A newer tracer's cuMemcpyAsync_v9 does what cuMemcpyAsync does.
 */
const struct tap_call_row *tap_call_find_earlier(const char *layer, const char *name);

/*
 * The call of NCCL that does the same work under another name (ALSO in nccl.def), or
 * NULL.
 */
const char *tap_call_operation(const char *name);

/*
 * Whether NCCL may carry out a call on the GPU by messages, or by copies, instead of a
 * kernel that is named like the call.
 */
enum tap_call_made { TAP_MADE_OF_MESSAGES, TAP_MADE_OF_COPIES };
bool tap_call_is_made_of(const char *name, enum tap_call_made made);

/*
 * Whether programs make the call again and again while they wait for something else
 * (POLLED in nccl.def).
 */
bool tap_call_is_polled(const char *name);

/*
 * The role of a field of the call.  Without a row the name that the field has in most
 * calls decides: calls that NVTX reports and those of newer tracers have no rows.
 */
enum tap_call_role tap_call_role(const struct tap_call_row *row, const char *field);

/*
 * Gets the number of the field with this role into *ret.  Returns 0, or an error where
 * there is none.
 */
int tap_call_get(const struct tap_call_row *row, enum tap_call_role role,
		 const struct tap_fields *fields, uint64_t *ret);

#endif
