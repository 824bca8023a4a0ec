/* SPDX-License-Identifier: MIT */
/* One-line messages on stderr; hides how a line is kept whole and printable. */
#include "tools/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Of whom the messages are, "" this process alone. */
static char subject[256];

void tap_message_set_subject(const char *name)
{
	snprintf(subject, sizeof(subject), "%s", name);
}

static char *kept;
static size_t kept_size;

void tap_message_keep(char *text, size_t size)
{
	kept = text;
	kept_size = size;
}

void tap_message_write(const char *format, ...)
{
	int saved_errno = errno;
	char *text = NULL, *line = NULL;
	int length;
	va_list args;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0)
		goto out;
	if (kept) {
		snprintf(kept, kept_size, "%s", text);
		goto out;
	}
	length = asprintf(&line, "ccltap: %s%s%s\n", subject, *subject ? ": " : "", text);
	if (length < 0) {
		line = NULL;
		goto out;
	}
	for (int i = 0; i < length - 1; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	/* If nobody reads stderr, there is nobody left to inform. */
	if (write(STDERR_FILENO, line, length) < 0)
		goto out;
out:
	free(line);
	free(text);
	errno = saved_errno;
}
