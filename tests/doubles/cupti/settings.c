/* SPDX-License-Identifier: MIT */
/* The environment of the CUPTI double: what it is to be like, and the log of what it did.
 */
#include "double.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FAILURES = 64 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct double_settings settings;
static int log_fd = -1;
static struct {
	char name[64];
	int result;
	/* Which call of it fails; 0: every one. */
	unsigned int which;
	atomic_uint calls;
} failures[MAX_FAILURES];

static unsigned long number(const char *name)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : 0;
}

static void read_failures(const char *text)
{
	size_t count = 0;
	int used;

	while (text && *text && count < MAX_FAILURES) {
		used = 0;
		if (sscanf(text, "%63[^:,]:%d%n", failures[count].name,
			   &failures[count].result, &used) != 2)
			return;
		text += used;
		used = 0;
		if (sscanf(text, ":%u%n", &failures[count].which, &used) == 1)
			text += used;
		count++;
		text += *text == ',';
	}
}

static void read_settings(void)
{
	const char *path = getenv("DOUBLE_CUPTI_LOG");

	if (path && *path)
		log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	settings.busy = getenv("DOUBLE_CUPTI_BUSY");
	settings.busy_after = number("DOUBLE_CUPTI_BUSY_AFTER");
	settings.busy_result = (int) number("DOUBLE_CUPTI_BUSY_RESULT");
	if (!settings.busy_result)
		settings.busy_result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	settings.drop = number("DOUBLE_CUPTI_DROP");
	settings.zero = number("DOUBLE_CUPTI_ZERO");
	settings.delay_ns = (int64_t) number("DOUBLE_CUPTI_DELAY_MS") * 1000000;
	read_failures(getenv("DOUBLE_CUPTI_FAIL"));
}

const struct double_settings *double_settings(void)
{
	pthread_once(&once, read_settings);
	return &settings;
}

void double_log(const char *format, ...)
{
	char line[512];
	va_list arguments;
	ssize_t written;
	int head;
	int size;

	double_settings();
	if (log_fd < 0)
		return;
	head = snprintf(line, sizeof(line), "pid=%d tid=%d ns=%lld ", (int) getpid(),
			(int) gettid(), (long long) double_monotonic());
	va_start(arguments, format);
	size = vsnprintf(line + head, sizeof(line) - (size_t) head - 1, format,
			 arguments);
	va_end(arguments);
	size = size < (int) sizeof(line) - head - 1 ? size + head
						    : (int) sizeof(line) - 2;
	line[size++] = '\n';
	written = write(log_fd, line, (size_t) size);
	(void) written;
}

CUptiResult double_begin(const char *function)
{
	unsigned int call;
	size_t i;

	double_settings();
	for (i = 0; i < MAX_FAILURES && failures[i].name[0]; i++) {
		if (strcmp(failures[i].name, function) != 0)
			continue;
		call = atomic_fetch_add(&failures[i].calls, 1) + 1;
		if (failures[i].which && failures[i].which != call)
			continue;
		double_log("fail function=%s result=%d", function, failures[i].result);
		return (CUptiResult) failures[i].result;
	}
	return CUPTI_SUCCESS;
}
