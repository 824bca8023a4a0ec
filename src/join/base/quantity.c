/* SPDX-License-Identifier: MIT */
/* Numbers as a person reads them. */
#include "join/base/quantity.h"

#include "common/compiler.h"
#include "join/base/spread.h"

/* A number of tenths, without ".0" from 10 on. */
static void add_tenths(struct tap_buffer *text, uint64_t tenths)
{
	tap_buffer_add_unsigned(text, tenths / 10);
	if (tenths >= 100)
		return;
	tap_buffer_add_char(text, '.');
	tap_buffer_add_unsigned(text, tenths % 10);
}

void tap_quantity_add_duration(struct tap_buffer *text, int64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{1000000000, " s"}, {1000000, " ms"}, {1000, " us"}};
	const uint64_t rounded = tap_spread_round(ns > 0 ? (uint64_t) ns : 0);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (rounded < units[i].ns)
			continue;
		add_tenths(text, rounded / (units[i].ns / 10));
		tap_buffer_add_string(text, units[i].name);
		return;
	}
	tap_buffer_add_unsigned(text, rounded);
	tap_buffer_add_string(text, " ns");
}

void tap_quantity_add_bytes(struct tap_buffer *text, int64_t bytes)
{
	static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
	uint64_t number = bytes > 0 ? (uint64_t) bytes : 0, below = 0;
	size_t i = 0;

	while (number >= 1024 && i + 1 < ARRAY_SIZE(units)) {
		below = number % 1024;
		number /= 1024;
		i++;
	}
	if (number < 10 && below)
		add_tenths(text, number * 10 + below * 10 / 1024);
	else
		tap_buffer_add_unsigned(text, number);
	tap_buffer_add_string(text, units[i]);
}

void tap_quantity_add_ordinal(struct tap_buffer *text, uint64_t number)
{
	static const char *const ends[] = {"th", "st", "nd", "rd"};
	const uint64_t last = number % 10;

	tap_buffer_add_unsigned(text, number);
	tap_buffer_add_string(text,
			      number / 10 % 10 == 1 || last > 3 ? ends[0] : ends[last]);
}
