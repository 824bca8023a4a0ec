/* SPDX-License-Identifier: MIT */
/* A log line without stdio, allocation or a changed errno. */
#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

void tap_log(const char *format, ...)
{
	const int saved = errno;
	char line[512];
	va_list ap;
	int used, more;

	if (!secure_getenv("CCLTAP_DEBUG"))
		return;
	used = snprintf(line, sizeof(line), "ccltap[%d/%ld] ", (int) getpid(),
			syscall(SYS_gettid));
	va_start(ap, format);
	more = vsnprintf(line + used, sizeof(line) - (size_t) used, format, ap);
	va_end(ap);
	used += more > 0 ? more : 0;
	if (used > (int) sizeof(line) - 2)
		used = (int) sizeof(line) - 2;
	line[used++] = '\n';
	/* Ignores an error: there is nowhere to report it. */
	(void) !write(STDERR_FILENO, line, (size_t) used);
	errno = saved;
}
