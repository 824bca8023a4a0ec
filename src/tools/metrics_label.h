/* SPDX-License-Identifier: MIT */
/*
 * Labels and values in Prometheus' text exposition. Hides what may be in a label: names
 * come from the memory of other processes.
 */
#ifndef TAP_TOOLS_METRICS_LABEL_H
#define TAP_TOOLS_METRICS_LABEL_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/*
 * Leaves out what is no part of a name.  Before names are compared, or two of them would
 * become the same label of two samples.
 */
static inline void tap_metrics_label_clean(char *word)
{
	char *to = word;

	for (; *word; word++)
		if ((*word >= 'a' && *word <= 'z') || (*word >= 'A' && *word <= 'Z') ||
		    (*word >= '0' && *word <= '9') || strchr("._-", *word))
			*to++ = *word;
	*to = '\0';
}

/* The word is clean. */
static inline void tap_metrics_label_word(FILE *out, const char *label, const char *word)
{
	fprintf(out, "%s=\"%s\"", label, word);
}

/* The labels of a process; rank -1: it has none. */
static inline void tap_metrics_label_rank(FILE *out, const char *host, int32_t rank)
{
	tap_metrics_label_word(out, "host", host);
	if (rank >= 0)
		fprintf(out, ",rank=\"%" PRId32 "\"", rank);
}

static inline void tap_metrics_value_ns(FILE *out, uint64_t ns)
{
	fprintf(out, " %" PRIu64 ".%09u\n", ns / 1000000000,
		(unsigned) (ns % 1000000000));
}

#endif
