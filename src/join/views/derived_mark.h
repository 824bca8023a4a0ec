/* SPDX-License-Identifier: MIT */
/*
 * An event of the derived trace, as ccltap-trace(5) describes it.
 *
 * Hides what an event is made of from what writes it: all that it says is in it.
 */
#ifndef TAP_JOIN_VIEWS_DERIVED_MARK_H
#define TAP_JOIN_VIEWS_DERIVED_MARK_H

#include "join/model/link.h"
#include "join/views/derived_subject.h"

/* Of what travels, a work request or a message, there are events of its own. */
enum tap_mark_kind {
	TAP_MARK_BEGIN,
	TAP_MARK_END, /* of a span, with its state; not of a call that has not returned */
	TAP_MARK_WIRE_BEGIN,
	TAP_MARK_WIRE_END,
	TAP_MARK_LINK,
};

/* One end of a link. */
struct tap_mark_link {
	uint64_t number; /* from 1 */
	size_t part;	 /* from 1 */
	size_t count;
	enum tap_link_kind kind;
	enum tap_known known;
	bool is_mismatch;
	const struct tap_name *operation; /* NULL unknown */
	uint64_t comm_key;
	uint64_t op_number;
	int64_t nranks;
	char op_key[72]; /* "": none */
	int64_t rank;
	uint64_t call_id;
	struct tap_work work;
};

/* One event; it belongs to the view until the function returns. */
struct tap_mark {
	enum tap_mark_kind kind;
	int64_t time_ns; /* not before that of the previous event */
	const struct tap_process *process;
	const char *who; /* the name of the process, the same as long as it lives */
	int64_t rank;	 /* -1 unknown */

	/*
	 * Of a beginning and an end.  The place of a span without a beginning is not set.
	 */
	const struct tap_span *span;
	const struct tap_subject *subject; /* what it works for */
	const char *row;
	int64_t peer;	    /* -1 unknown */
	int64_t bytes;	    /* -1 unknown */
	int64_t open_bytes; /* from now on, of the process's calls or work requests */
	unsigned int shade; /* how much is open in the row from now on */
	/* Of an end: the span may have another by now. */
	enum tap_span_state state;
	bool is_end_bound;

	const struct tap_mark_link *link; /* of a link */
};

/* The receiver of the events; each function returns 0 or -errno. */
struct tap_mark_taker {
	int (*mark)(void *data, const struct tap_mark *mark);
	int (*finish)(void *data, const struct tap_loss *loss);
	void *data;
};

#endif
