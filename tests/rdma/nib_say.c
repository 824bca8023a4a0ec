/* SPDX-License-Identifier: MIT */
/* How the programs that run NCCL's network code end early: with one line, after their
 * name. */
#include "nib.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void __attribute__((format(printf, 1, 0)))
say(const char *format, va_list arguments)
{
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void nib_die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(1);
}

void nib_cannot(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say(format, arguments);
	va_end(arguments);
	exit(NIB_CANNOT);
}
