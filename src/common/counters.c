/* SPDX-License-Identifier: MIT */
#include "common/counters.h"

#include "common/clock.h"

#include <string.h>

bool tap_counters_number(const char *text, uint64_t *ret)
{
	uint64_t number = 0;

	while (*text == ' ' || *text == '\t')
		text++;
	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		number = number * 10 + (uint64_t) (*text - '0');
	*ret = number;
	return true;
}

bool tap_counters_find(const char *text, const char *name, uint64_t *ret)
{
	const size_t length = strlen(name);
	const char *at;

	for (at = text; (at = strstr(at, name)); at += length)
		if ((at == text || at[-1] == '\n') && at[length] == ':')
			return tap_counters_number(at + length + 1, ret);
	return false;
}

void tap_counters_begin(const struct tap_counters *counters,
			struct tap_counters_sample *ret_sample, int64_t now_ns)
{
	ret_sample->now_ns = now_ns;
	ret_sample->interval_ns =
		counters->read_ns ? (uint64_t) (now_ns - counters->read_ns) : 0;
	ret_sample->names[0] = 0;
	ret_sample->used = 0;
	ret_sample->nr = 0;
}

void tap_counters_note(struct tap_counters *counters, struct tap_counters_sample *sample,
		       unsigned number, const char *name, uint64_t value)
{
	const uint64_t bit = UINT64_C(1) << number;
	const bool was_known = counters->is_known & bit;
	const uint64_t last = counters->last[number];
	const size_t length = strlen(name);

	counters->last[number] = value;
	counters->is_known |= bit;
	if ((was_known && value == last) || sample->nr == TAP_COUNTERS_MAX ||
	    length + 2 > sizeof(sample->names) - sample->used)
		return;
	if (sample->nr)
		sample->names[sample->used++] = ',';
	memcpy(sample->names + sample->used, name, length + 1);
	sample->used += length;
	sample->values[sample->nr] = value;
	/* A device that was reset counts from 0 again. */
	sample->growth[sample->nr++] = was_known && value > last ? value - last : 0;
}

bool tap_counters_end(struct tap_counters *counters,
		      const struct tap_counters_sample *sample)
{
	counters->read_ns = sample->now_ns;
	return sample->nr;
}

#define LOOK_MAX_NS (TAP_SECOND_NS / 10)
#define LONG_LOOKS_MAX 3

bool tap_counters_look(struct tap_counters_looks *looks)
{
	looks->begin_ns = tap_now_ns();
	return looks->nr_long < LONG_LOOKS_MAX;
}

bool tap_counters_look_is_long(const struct tap_counters_looks *looks)
{
	return tap_now_ns() - looks->begin_ns > LOOK_MAX_NS;
}

bool tap_counters_look_end(struct tap_counters_looks *looks)
{
	looks->nr_long = tap_counters_look_is_long(looks) ? looks->nr_long + 1 : 0;
	return looks->nr_long == LONG_LOOKS_MAX;
}
