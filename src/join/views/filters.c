/* SPDX-License-Identifier: MIT */
/* Each filter: how it is read, and what passes it. */
#include "join/views/filters.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000)

/* More could not be held, or read by a person. */
#define SLOWEST_MAX 100000

static const char *const names[] = {
	[TAP_FILTER_RANK] = "rank",	[TAP_FILTER_HOST] = "host",
	[TAP_FILTER_COMM] = "comm",	[TAP_FILTER_OP] = "op",
	[TAP_FILTER_LAYER] = "layer",	[TAP_FILTER_CALL] = "call",
	[TAP_FILTER_BEGIN] = "begin",	[TAP_FILTER_END] = "end",
	[TAP_FILTER_LAST] = "last",	[TAP_FILTER_ERRORS] = "errors",
	[TAP_FILTER_SLOWEST] = "slowest",
};

static const char *const layers[] = {"nccl", "cuda",  "gpu", "verbs",
				     "net",  "proxy", "nvtx"};

#define LAYER_COUNT (sizeof(layers) / sizeof(layers[0]))

const char *tap_filter_name(enum tap_filter filter)
{
	return names[filter];
}

/* ---- Reading ---- */

static const char digits[] = "0123456789";

/* Reads a number and goes on behind it.  Returns whether there is one that fits. */
static bool read_number(const char **at, uint64_t *number)
{
	char *end;

	if (!**at || !strchr(digits, **at))
		return false;
	errno = 0;
	*number = strtoull(*at, &end, 10);
	*at = end;
	return !errno;
}

/* Reads "7", "2-5" or "2..5". */
static bool read_range(const char **at, struct tap_filter_range *range)
{
	if (!read_number(at, &range->first))
		return false;
	range->last = range->first;
	if (**at == '-')
		*at += 1;
	else if (!strncmp(*at, "..", 2))
		*at += 2;
	else
		return true;
	return read_number(at, &range->last) && range->first <= range->last;
}

/* Reads "0,2-5".  Returns 0, -EINVAL or -ENOMEM. */
static int read_ranges(struct tap_filter_ranges *ranges, const char *value)
{
	struct tap_filter_range range;

	for (ranges->count = 0;; value++) {
		if (!read_range(&value, &range))
			return -EINVAL;
		if (tap_vec_add(ranges, range))
			return -ENOMEM;
		if (*value != ',')
			return *value ? -EINVAL : 0;
	}
}

static int read_layers(struct tap_filters *filters, const char *value)
{
	size_t length, i;

	for (filters->layers = 0;; value += length + 1) {
		length = strcspn(value, ",");
		for (i = 0; i < LAYER_COUNT; i++)
			if (strlen(layers[i]) == length &&
			    !strncmp(layers[i], value, length))
				break;
		if (i == LAYER_COUNT)
			return -EINVAL;
		filters->layers |= 1u << i;
		if (!value[length])
			return 0;
	}
}

/* A key is told from a name by "0x"; the text shows the first digits of one, and "..". */
static bool is_key(const char *value)
{
	return !strncmp(value, "0x", 2);
}

static size_t key_length(const char *value)
{
	return strspn(value + 2, "0123456789abcdefABCDEF");
}

static int read_comm(const char *value)
{
	size_t length;

	if (!is_key(value))
		return *value ? 0 : -EINVAL;
	length = key_length(value);
	if (!length || length > 16 ||
	    (value[2 + length] && strcmp(value + 2 + length, "..")))
		return -EINVAL;
	return 0;
}

/* Reads a fraction of a unit behind the point.  Returns whether it is one. */
static bool read_fraction(const char **at, int64_t unit_ns, int64_t *ns)
{
	if (**at != '.')
		return true;
	for (++*at; **at && strchr(digits, **at); ++*at) {
		*ns += unit_ns / 10 * (**at - '0');
		unit_ns /= 10;
	}
	return (*at)[-1] != '.';
}

/* Reads "1.5", a number of units, and goes on behind it. */
static bool read_decimal(const char **at, int64_t unit_ns, int64_t *ns)
{
	uint64_t whole;

	if (!read_number(at, &whole) ||
	    whole > (uint64_t) (INT64_MAX / 4 / (unit_ns > SECOND_NS ? unit_ns : SECOND_NS)))
		return false;
	*ns = (int64_t) whole * unit_ns;
	return read_fraction(at, unit_ns, ns);
}

/* Reads "2.5s", "200ms" or, of seconds, "2.5". */
static bool read_duration(const char *value, int64_t *ns)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"", SECOND_NS},	  {"s", SECOND_NS}, {"ms", 1000000},
		     {"us", 1000},	  {"ns", 1},	    {"min", 60 * SECOND_NS},
		     {"h", 3600 * SECOND_NS}};
	const char *unit = value + strspn(value, "0123456789.");
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(unit, units[i].name))
			return read_decimal(&value, units[i].ns, ns) && value == unit;
	return false;
}

/* Reads "HH:MM", "HH:MM:SS" or with a fraction of the second, as ns since midnight. */
static bool read_clock(const char *value, int64_t *ns)
{
	uint64_t hour, minute, second = 0;
	int64_t fraction_ns = 0;

	if (!read_number(&value, &hour) || hour > 23 || *value++ != ':' ||
	    !read_number(&value, &minute) || minute > 59)
		return false;
	if (*value == ':') {
		value++;
		if (!read_number(&value, &second) || second > 60 ||
		    !read_fraction(&value, SECOND_NS, &fraction_ns))
			return false;
	}
	*ns = (int64_t) (hour * 3600 + minute * 60 + second) * SECOND_NS + fraction_ns;
	return !*value;
}


/* The moment of a day: hours are counted by the clock, also where it is put back. */
static int64_t moment_of(struct tm day, int days_later, int64_t clock_ns)
{
	const int64_t second = clock_ns / SECOND_NS;

	day.tm_hour = (int) (second / 3600);
	day.tm_min = (int) (second / 60 % 60);
	day.tm_sec = (int) (second % 60);
	day.tm_mday += days_later;
	day.tm_isdst = -1;
	return (int64_t) mktime(&day) * SECOND_NS + clock_ns % SECOND_NS;
}

/* Reads "2.5", seconds since the first event, "10:00:05" or "2026-11-22 10:00:05". */
static bool read_time(const char *value, struct tap_filter_time *time)
{
	const bool is_before = *value == '-';
	struct tm day = {0};
	const char *rest;

	if (!strchr(value, ':')) {
		time->kind = TAP_TIME_SINCE_FIRST;
		if (!read_duration(value + is_before, &time->ns))
			return false;
		if (is_before)
			time->ns = -time->ns;
		return true;
	}
	rest = strptime(value, "%Y-%m-%d", &day);
	if (!rest) {
		time->kind = TAP_TIME_OF_DAY;
		return read_clock(value, &time->ns);
	}
	time->kind = TAP_TIME_DATE;
	if ((*rest != ' ' && *rest != 'T') || !read_clock(rest + 1, &time->ns))
		return false;
	time->ns = moment_of(day, 0, time->ns);
	return true;
}

static int read_slowest(struct tap_filters *filters, const char *value)
{
	return read_number(&value, &filters->slowest) && !*value && filters->slowest &&
			       filters->slowest <= SLOWEST_MAX
		       ? 0
		       : -EINVAL;
}

static int read_value(struct tap_filters *filters, enum tap_filter filter,
		      const char *value)
{
	switch (filter) {
	case TAP_FILTER_RANK:
		return read_ranges(&filters->ranks, value);
	case TAP_FILTER_OP:
		return read_ranges(&filters->operations, value);
	case TAP_FILTER_COMM:
		return read_comm(value);
	case TAP_FILTER_LAYER:
		return read_layers(filters, value);
	case TAP_FILTER_BEGIN:
		return read_time(value, &filters->begin) ? 0 : -EINVAL;
	case TAP_FILTER_END:
		return read_time(value, &filters->end) ? 0 : -EINVAL;
	case TAP_FILTER_LAST:
		return read_duration(value, &filters->last_ns) && filters->last_ns > 0
			       ? 0
			       : -EINVAL;
	case TAP_FILTER_SLOWEST:
		return read_slowest(filters, value);
	case TAP_FILTER_HOST:
	case TAP_FILTER_CALL:
		return *value ? 0 : -EINVAL;
	default:
		return 0;
	}
}

int tap_filters_set(struct tap_filters *filters, enum tap_filter filter,
		    const char *value, const char **problem)
{
	static const char *const wanted[] = {
		[TAP_FILTER_RANK] = "give ranks, as 0,2-5",
		[TAP_FILTER_HOST] = "give the name of a host",
		[TAP_FILTER_COMM] =
			"give the first digits of a key, as 0x1f2e, or a name",
		[TAP_FILTER_OP] = "give numbers of operations, as 5 or 5..6",
		[TAP_FILTER_LAYER] =
			"give some of nccl, cuda, gpu, verbs, net, proxy and nvtx, apart by commas",
		[TAP_FILTER_CALL] = "give the name of a call, or a pattern, as 'nccl*'",
		[TAP_FILTER_BEGIN] =
			"give seconds since the first event, or a time of day as 10:00:05",
		[TAP_FILTER_END] =
			"give seconds since the first event, or a time of day as 10:00:05",
		[TAP_FILTER_LAST] = "give a duration, as 2.5, 200ms or 5min",
		[TAP_FILTER_ERRORS] = "it has no value",
		[TAP_FILTER_SLOWEST] = "give how many, from 1 to 100000",
	};
	char *copy = strdup(value);
	int ret = copy ? read_value(filters, filter, value) : -ENOMEM;

	if (ret) {
		free(copy);
		*problem = wanted[filter];
		return ret;
	}
	free(filters->given[filter]);
	filters->given[filter] = copy;
	return 0;
}

bool tap_filters_are_given(const struct tap_filters *filters)
{
	size_t i;

	for (i = 0; i < TAP_FILTERS; i++)
		if (filters->given[i])
			return true;
	return false;
}

void tap_filters_free(struct tap_filters *filters)
{
	size_t i;

	for (i = 0; i < TAP_FILTERS; i++)
		free(filters->given[i]);
	tap_vec_free(&filters->ranks);
	tap_vec_free(&filters->operations);
	memset(filters, 0, sizeof(*filters));
}

/* ---- What passes ---- */

static bool is_in(const struct tap_filter_ranges *ranges, uint64_t number)
{
	size_t i;

	for (i = 0; i < ranges->count; i++)
		if (number >= ranges->items[i].first && number <= ranges->items[i].last)
			return true;
	return false;
}

bool tap_filters_pass_rank(const struct tap_filters *filters, int64_t rank)
{
	return !filters->given[TAP_FILTER_RANK] ||
	       (rank >= 0 && is_in(&filters->ranks, (uint64_t) rank));
}

bool tap_filters_pass_host(const struct tap_filters *filters,
			   const struct tap_process *process)
{
	const char *host = filters->given[TAP_FILTER_HOST];

	return !host || !strcmp(host, process->host);
}

static bool pass_layer(const struct tap_filters *filters, const char *layer)
{
	size_t i;

	for (i = 0; i < LAYER_COUNT; i++)
		if (!strcmp(layer, layers[i]))
			return filters->layers >> i & 1;
	return false;
}

bool tap_filters_pass_name(const struct tap_filters *filters, const struct tap_name *name)
{
	const char *call = filters->given[TAP_FILTER_CALL];

	return (!filters->given[TAP_FILTER_LAYER] || pass_layer(filters, name->layer)) &&
	       (!call || !fnmatch(call, name->name, 0));
}

/* Whether the key begins with the digits behind "0x". */
static bool begins_with(uint64_t key, const char *value)
{
	const size_t length = key_length(value);
	uint64_t wanted = strtoull(value, NULL, 16);
	unsigned int have = 0;

	while (have < 16 && key >> have * 4)
		have++;
	return key && length <= have && key >> (have - length) * 4 == wanted;
}

/* Whether the program gave the communicator this name. */
static bool is_named(const struct tap_member *member, const char *wanted)
{
	const char *name = tap_fields_get_string(&member->about, "config_commName");

	return name && !strcmp(name, wanted);
}

bool tap_filters_pass_comm(const struct tap_filters *filters,
			   const struct tap_member *member, uint64_t comm_key)
{
	const char *comm = filters->given[TAP_FILTER_COMM];

	if (!comm)
		return true;
	if (is_key(comm))
		return begins_with(member ? tap_member_comm(member)->key : comm_key,
				   comm);
	return member && is_named(member, comm);
}

bool tap_filters_pass_communicator(const struct tap_filters *filters,
				   const struct tap_comm *comm)
{
	const char *wanted = filters->given[TAP_FILTER_COMM];
	const struct tap_member *member;

	while (comm->united)
		comm = comm->united;
	if (!wanted || is_key(wanted))
		return !wanted || begins_with(comm->key, wanted);
	for (member = comm->members; member; member = member->next)
		if (is_named(member, wanted))
			return true;
	return false;
}

bool tap_filters_pass_number(const struct tap_filters *filters, uint64_t number)
{
	return !filters->given[TAP_FILTER_OP] ||
	       (number && is_in(&filters->operations, number));
}

/* The time of day nearest to a moment. */
static int64_t nearest(int64_t clock_ns, int64_t first_ns)
{
	const time_t second = (time_t) (first_ns / SECOND_NS);
	int64_t found_ns = first_ns, ns;
	struct tm day;
	int later;

	if (!localtime_r(&second, &day))
		return first_ns;
	for (later = -1; later <= 1; later++) {
		ns = moment_of(day, later, clock_ns);
		if (later == -1 || llabs(ns - first_ns) < llabs(found_ns - first_ns))
			found_ns = ns;
	}
	return found_ns;
}

static int64_t resolve(const struct tap_filter_time *time, int64_t first_ns)
{
	int64_t ns;

	if (time->kind == TAP_TIME_DATE)
		return time->ns;
	if (time->kind == TAP_TIME_OF_DAY)
		return nearest(time->ns, first_ns);
	if (!__builtin_add_overflow(first_ns, time->ns, &ns))
		return ns;
	return time->ns < 0 ? INT64_MIN : INT64_MAX;
}

struct tap_period tap_filters_period(const struct tap_filters *filters, int64_t first_ns)
{
	return (struct tap_period){
		.begin_ns = filters->given[TAP_FILTER_BEGIN]
				    ? resolve(&filters->begin, first_ns)
				    : INT64_MIN,
		.end_ns = filters->given[TAP_FILTER_END]
				  ? resolve(&filters->end, first_ns)
				  : INT64_MAX,
	};
}

bool tap_filters_is_pending(const struct tap_span *span)
{
	const struct tap_field *signaled;

	if (span->state != TAP_SPAN_OPEN || span->work.kind == TAP_WORK_RECEIVE ||
	    tap_work_is_proxy(&span->work))
		return false;
	/* A request that is not signaled asks for no completion. */
	signaled = span->work.kind == TAP_WORK_SEND
			   ? tap_fields_find(&span->entry, "signaled_seq")
			   : NULL;
	return !signaled || signaled->value.u;
}

bool tap_filters_is_failure(const struct tap_span *span)
{
	return tap_filters_is_pending(span) || span->work.kind == TAP_WORK_REFUSED ||
	       tap_span_is_failure(tap_span_result(span)) ||
	       /* What ncclCommGetAsyncError() returns besides its result. */
	       tap_span_is_failure(tap_fields_find(&span->exit, "asyncError"));
}

/* ---- Output ---- */

void tap_filters_add_text(struct tap_buffer *text, const struct tap_filters *filters)
{
	const char *separator = "";
	size_t i;

	for (i = 0; i < TAP_FILTERS; i++) {
		if (!filters->given[i])
			continue;
		tap_buffer_add_string(text, separator);
		tap_buffer_add_string(text, names[i]);
		if (i != TAP_FILTER_ERRORS) {
			tap_buffer_add_char(text, ' ');
			tap_buffer_add_visible(text, filters->given[i]);
		}
		separator = ", ";
	}
}

void tap_filters_add_json(struct tap_json *json, const struct tap_filters *filters)
{
	size_t i;

	tap_json_open(json, "filters", '{');
	for (i = 0; i < TAP_FILTERS; i++)
		if (filters->given[i] && i == TAP_FILTER_ERRORS)
			tap_json_bool(json, names[i], true);
		else if (filters->given[i])
			tap_json_string(json, names[i], filters->given[i]);
	tap_json_close(json);
}
