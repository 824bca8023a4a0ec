/* SPDX-License-Identifier: MIT */
/*
 * A sample of a series of any length, in bounded memory: of few values all, of more some,
 * each of them with the same probability.  Medians of it are exact as long as all values
 * fit.
 *
 * Hides which values are kept; two readings of one trace keep the same.
 */
#ifndef TAP_JOIN_FINDINGS_SAMPLE_H
#define TAP_JOIN_FINDINGS_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

/* Draws the values that are kept.  All zero is a series without values. */
struct tap_draw {
	uint64_t seen, state;
};

/*
 * Where the next value of the series goes in an array of `size` values: an index, at
 * which it replaces a value that is there already; or `size`: nowhere.
 */
size_t tap_draw_next(struct tap_draw *draw, size_t size);

#define TAP_SAMPLE_SIZE 128

/* All zero is empty. */
struct tap_sample {
	struct tap_draw draw;
	int64_t values[TAP_SAMPLE_SIZE];
};

void tap_sample_add(struct tap_sample *sample, int64_t value);
/* -1 of an empty sample. */
int64_t tap_sample_median(const struct tap_sample *sample);
/* Likewise: a tenth of the values are below it. */
int64_t tap_sample_decile(const struct tap_sample *sample);
/* The median of how far the values are from their median; -1 of an empty sample. */
int64_t tap_sample_deviation(const struct tap_sample *sample);

/*
 * The lower median of values, which it sorts; -1 of none.
 */
int64_t tap_median(int64_t *values, size_t count);
/* The median of how far the values are from `center`; it overwrites them. */
int64_t tap_median_deviation(int64_t *values, size_t count, int64_t center);

#endif
