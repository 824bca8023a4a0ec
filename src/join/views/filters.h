/* SPDX-License-Identifier: MIT */
/*
 * What a user wants to see of a trace: of which ranks, hosts, communicators, operations,
 * layers and calls, in which period, failures only, the longest spans.
 *
 * Hides how each filter is written, and which processes, calls and times pass it.  A
 * filter that is not given lets everything pass; of those given, all must.
 */
#ifndef TAP_JOIN_VIEWS_FILTERS_H
#define TAP_JOIN_VIEWS_FILTERS_H

#include "common/vec.h"
#include "join/base/json.h"
#include "join/model/comm.h"
#include "join/model/span.h"

enum tap_filter {
	TAP_FILTER_RANK,
	TAP_FILTER_HOST,
	TAP_FILTER_COMM,
	TAP_FILTER_OP,
	TAP_FILTER_LAYER,
	TAP_FILTER_CALL,
	TAP_FILTER_BEGIN,
	TAP_FILTER_END,
	TAP_FILTER_LAST,
	TAP_FILTER_ERRORS,
	TAP_FILTER_SLOWEST,
	TAP_FILTERS,
};

struct tap_filter_range {
	uint64_t first, last;
};

struct tap_filter_ranges {
	struct tap_filter_range *items;
	size_t count, room;
};

/* A moment as the user writes it. */
struct tap_filter_time {
	enum { TAP_TIME_SINCE_FIRST, TAP_TIME_OF_DAY, TAP_TIME_DATE } kind;
	int64_t ns; /* since the first event, since midnight, since the Unix epoch */
};

/* All zero lets everything pass. */
struct tap_filters {
	char *given[TAP_FILTERS]; /* as the user wrote it; NULL: not given */
	struct tap_filter_ranges ranks, operations;
	unsigned int layers; /* a bit for each that passes */
	struct tap_filter_time begin, end;
	int64_t last_ns;
	uint64_t slowest;
};

/* A period in ns since the Unix epoch, its ends included. */
struct tap_period {
	int64_t begin_ns, end_ns;
};

/* "rank", "host", ...: the name of the option, of the parameter and in the output. */
const char *tap_filter_name(enum tap_filter filter);

/*
 * Sets a filter from what the user wrote.  Returns 0, -ENOMEM, or -EINVAL with what is
 * wrong in *problem, which continues "filter rank, \"x\": ".
 */
int tap_filters_set(struct tap_filters *filters, enum tap_filter filter,
		    const char *value, const char **problem);
bool tap_filters_are_given(const struct tap_filters *filters);
void tap_filters_free(struct tap_filters *filters);

/* By host. */
bool tap_filters_pass_host(const struct tap_filters *filters,
			   const struct tap_process *process);
/* By layer and call. */
bool tap_filters_pass_name(const struct tap_filters *filters,
			   const struct tap_name *name);
/*
 * By communicator: of a member, or of a key where the member is NULL; 0 is no
 * communicator.
 */
bool tap_filters_pass_comm(const struct tap_filters *filters,
			   const struct tap_member *member, uint64_t comm_key);
bool tap_filters_pass_communicator(const struct tap_filters *filters,
				   const struct tap_comm *comm);
/* By the number of the operation; 0 is no operation. */
bool tap_filters_pass_number(const struct tap_filters *filters, uint64_t number);
/* By rank of the job; -1 is unknown. */
bool tap_filters_pass_rank(const struct tap_filters *filters, int64_t rank);

/*
 * The period of begin and end, in a trace whose first event has this time. Times of day
 * without a date are those nearest to it.
 */
struct tap_period tap_filters_period(const struct tap_filters *filters, int64_t first_ns);

/* Whether a call never returned, or work was not completed that should have been. */
bool tap_filters_is_pending(const struct tap_span *span);
/* Whether a span that is over failed, or is pending. */
bool tap_filters_is_failure(const struct tap_span *span);

/* "rank 2, op 5..6" */
void tap_filters_add_text(struct tap_buffer *text, const struct tap_filters *filters);
/* "filters":{"rank":"2","op":"5..6"} */
void tap_filters_add_json(struct tap_json *json, const struct tap_filters *filters);

#endif
