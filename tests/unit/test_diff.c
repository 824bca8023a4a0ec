/* SPDX-License-Identifier: MIT */
/* Two runs compared: what changed is told, largest first, and noise is not. */
#include "join/report/diff.h"
#include "join/report/screen.h"
#include "unit/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tap_measures before, after;
static struct tap_buffer text;

static void collective(struct tap_measures *measures, const char *name, int64_t count,
		       int64_t ns, int64_t noise_ns)
{
	const struct tap_measure measure = {
		TAP_MEASURE_COLLECTIVE, name, "", count, ns, noise_ns, 50, 1000000000};

	tap_measures_add(measures, &measure);
}

static void rank(struct tap_measures *measures, const char *name, int64_t count,
		 int64_t percent)
{
	const struct tap_measure measure = {TAP_MEASURE_RANK, name, "", count, 1000, -1,
					    percent,	      -1};

	tap_measures_add(measures, &measure);
}

static void finding(struct tap_measures *measures, const char *name, const char *headline,
		    enum tap_severity severity)
{
	const struct tap_measure measure = {
		TAP_MEASURE_FINDING, name, headline, -1, 1000, -1, severity, -1};

	tap_measures_add(measures, &measure);
}

/* Compares, as text in a screen of so many lines, and forgets both runs. */
static const char *compared(size_t height)
{
	struct tap_diff diff = {0};

	text.used = 0;
	tap_diff_make(&diff, &before, &after);
	tap_diff_add_text(&text, &diff, 100, height);
	tap_buffer_add_char(&text, '\0');
	tap_diff_free(&diff);
	tap_measures_free(&before);
	tap_measures_free(&after);
	return text.data;
}

static bool is(const char *found, const char *expected)
{
	if (strcmp(found, expected))
		printf("# found:\n%s# expected:\n%s", found, expected);
	return !strcmp(found, expected);
}

static bool slower(void)
{
	collective(&before, "ncclAllReduce 256 KiB", 10, 65000000, 1000000);
	collective(&after, "ncclAllReduce 256 KiB", 10, 203000000, 2000000);
	collective(&before, "ncclBroadcast 1 KiB", 10, 2000000, 1000);
	collective(&after, "ncclBroadcast 1 KiB", 10, 1000000, 1000);
	return is(
		compared(24),
		"SLOWER   ncclAllReduce 256 KiB is 3.1 times as slow: 203 ms instead of 65 ms, "
		"waiting 50% instead of\n"
		"         50%, busbw 1.0 GB/s instead of 1.0 GB/s\n"
		"FASTER   ncclBroadcast 1 KiB is 2.0 times as fast: 1.0 ms instead of 2.0 ms, "
		"waiting 50% instead of\n"
		"         50%, busbw 1.0 GB/s instead of 1.0 GB/s\n"
		"\n0 measures differ by noise alone, 0 have too few values to tell, 0 are of one "
		"run only\n");
}

static bool noise(void)
{
	/* Within the deviation of one run, within the digits, and of two values. */
	collective(&before, "a", 10, 1000, 300);
	collective(&after, "a", 10, 1290, 10);
	collective(&before, "b", 10, 1000, 0);
	collective(&after, "b", 10, 1099, 0);
	collective(&before, "c", 2, 1000, 0);
	collective(&after, "c", 100, 9000, 0);
	collective(&before, "d", 100, 9000, 0);
	/* A rank that is last in 2 of 4 instead of 1 of 4 may be so by chance. */
	rank(&before, "rank 0", 4, 25);
	rank(&after, "rank 0", 4, 50);
	return is(
		compared(24),
		"No difference is larger than the noise of either run.\n"
		"\n3 measures differ by noise alone, 1 have too few values to tell, 1 are of one "
		"run only\n");
}

static bool findings(void)
{
	finding(&before, "slow a", "a is slow", TAP_SEVERITY_WARNING);
	finding(&before, "late b", "b is late", TAP_SEVERITY_WARNING);
	finding(&after, "late b", "b is late by other words", TAP_SEVERITY_WARNING);
	finding(&after, "missing c", "c did not come", TAP_SEVERITY_ERROR);
	rank(&before, "rank 2", 400, 10);
	rank(&after, "rank 2", 400, 91);
	collective(&before, "d", 10, 1000000, 1);
	collective(&after, "d", 10, 3000000, 1);
	return is(
		compared(24),
		"NEW      c did not come\n"
		"SLOWER   d is 3.0 times as slow: 3.0 ms instead of 1.0 ms, waiting 50% instead of "
		"50%, busbw 1.0\n"
		"         GB/s instead of 1.0 GB/s\n"
		"GONE     a is slow\n"
		"LATER    rank 2 is last in 91% instead of 10% of its collectives\n"
		"\n0 measures differ by noise alone, 0 have too few values to tell, 0 are of one "
		"run only\n");
}

static bool many(void)
{
	size_t i, lines = 0;
	char name[24];
	bool is_passed = true;

	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "finding %zu", i);
		finding(&after, name, name, TAP_SEVERITY_ERROR);
	}
	compared(10);
	for (i = 0; text.data[i]; i++)
		lines += text.data[i] == '\n';
	CHECK(lines <= 10);
	CHECK(strstr(text.data, "\nand 93 smaller changes"));
	return is_passed;
}

/* What is written is read again, whatever is in the names. */
static bool lines(void)
{
	char path[] = "/tmp/test_diff.XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	const struct tap_measure *found;
	bool is_passed = true;

	collective(&before, "ncclAllReduce 1.0 KiB to 1.5 KiB", 10, INT64_MAX, -1);
	finding(&before, "late", "a\ttab and\na line", TAP_SEVERITY_WARNING);
	text.used = 0;
	tap_measures_write(&text, &before);
	CHECK(file && fwrite(text.data, 1, text.used, file) == text.used &&
	      !fclose(file));
	CHECK(!tap_measures_read(&after, path));
	CHECK(after.rows.count == 2);
	found = tap_measures_find(&after, TAP_MEASURE_COLLECTIVE,
				  "ncclAllReduce 1.0 KiB to 1.5 KiB");
	CHECK(found && found->count == 10 && found->ns == INT64_MAX &&
	      found->noise_ns == -1 && found->bandwidth == 1000000000);
	found = tap_measures_find(&after, TAP_MEASURE_FINDING, "late");
	CHECK(found && !strcmp(found->text, "a tab and a line"));
	tap_measures_free(&after);
	file = fopen(path, "w");
	CHECK(file && fputs("no measure\n", file) >= 0 && !fclose(file));
	CHECK(tap_measures_read(&after, path) == -EINVAL);
	unlink(path);
	CHECK(tap_measures_read(&after, path) == -ENOENT);
	tap_measures_free(&before);
	tap_measures_free(&after);
	return is_passed;
}

static bool wraps(const char *in, size_t width, const char *expected)
{
	struct tap_buffer line = {0};
	bool is_right;

	text.used = 0;
	tap_buffer_add_string(&line, in);
	tap_screen_wrap(&text, &line, width, 2);
	tap_buffer_add_char(&text, '\0');
	is_right = is(text.data, expected);
	tap_buffer_free(&line);
	return is_right;
}

static bool wrapped(void)
{
	bool is_passed = true;

	CHECK(wraps("", 10, ""));
	CHECK(wraps("one two", 10, "one two\n"));
	CHECK(wraps("one two\n", 10, "one two\n"));
	CHECK(wraps("one two three four\nfive\n", 9, "one two\n  three\n  four\nfive\n"));
	CHECK(wraps("123456789 1", 9, "123456789\n  1\n"));
	CHECK(wraps("1234567890123", 5, "12345\n  678\n  901\n  23\n"));
	/* Characters count, and not bytes; what is no character is one. */
	CHECK(wraps("\xc3\xa4\xc3\xa4 \xc3\xa4\xff", 5,
		    "\xc3\xa4\xc3\xa4 \xc3\xa4\xff\n"));
	return is_passed;
}

int main(void)
{
	printf("1..6\n");
	report("what takes longer, and what does not any more, is told by its cost",
	       slower);
	report("noise is no difference", noise);
	report("findings that came or went are told, and ranks that are later", findings);
	report("a screen has the largest differences", many);
	report("measures that are written are read", lines);
	report("sentences are broken at blanks", wrapped);
	tap_buffer_free(&text);
	return 0;
}
