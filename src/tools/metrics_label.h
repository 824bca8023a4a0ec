/* SPDX-License-Identifier: MIT */
/*
 * Labels and values in Prometheus' text exposition. Hides what may be in a label: names
 * come from the memory of other processes, from users and from batch systems.
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

/* Any text: what is no part of a name becomes %XX, so that two texts stay two. */
static inline void tap_metrics_label_text(FILE *out, const char *label, const char *text,
					  size_t length)
{
	fprintf(out, "%s=\"", label);
	for (size_t i = 0; i < length; i++) {
		const unsigned char c = (unsigned char) text[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || (c && strchr("._-+:@[]", c)))
			fputc(c, out);
		else
			fprintf(out, "%%%02X", c);
	}
	fputc('"', out);
}

/*
 * The labels of a host and of the recording ("": none), and of a process; rank -1: it has
 * none.
 */
static inline void tap_metrics_label_rank(FILE *out, const char *host,
					  const char *recording, int32_t rank)
{
	tap_metrics_label_word(out, "host", host);
	fprintf(out, "%s%s", *recording ? "," : "", recording);
	if (rank >= 0)
		fprintf(out, ",rank=\"%" PRId32 "\"", rank);
}

/* A metric of which each recording has one series. */
static inline void tap_metrics_value_one(FILE *out, const char *name,
					 const char *recording, uint64_t value)
{
	if (*recording)
		fprintf(out, "%s{%s} %" PRIu64 "\n", name, recording, value);
	else
		fprintf(out, "%s %" PRIu64 "\n", name, value);
}

static inline void tap_metrics_value_ns(FILE *out, uint64_t ns)
{
	fprintf(out, " %" PRIu64 ".%09u\n", ns / 1000000000,
		(unsigned) (ns % 1000000000));
}

#endif
