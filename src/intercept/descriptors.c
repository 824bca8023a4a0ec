/* SPDX-License-Identifier: MIT */
/*
 * close_range() and closefrom(): keep LTTng's descriptors open, as LTTng's own guard
 * (liblttng-ust-fd) does for close().  Otherwise LTTng's threads would read and write
 * files that the program opens under the same numbers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/compiler.h"
#include "intercept/dl/real.h"
#include "intercept/guard.h"
#include "intercept/trace.h"

typedef int (*close_range_function)(unsigned int, unsigned int, int);
typedef void (*closefrom_function)(int);

struct range {
	close_range_function real;
	unsigned int begin, next, last; /* begin to next - 1 are still to be closed */
	int result;
};

/*
 * For LTTng's callback, which has no argument; nested when a signal handler closes a
 * range.
 */
static __thread struct range *range __attribute__((tls_model("initial-exec")));

static void close_gathered(void)
{
	if (range->begin < range->next && range->real(range->begin, range->next - 1, 0))
		range->result = -errno;
}

/* LTTng calls it, in ascending order, for each number that is not one of LTTng's. */
static int gather(int fd)
{
	const unsigned int number = (unsigned int) fd;

	if (number > range->last) {
		errno = ECANCELED; /* ends LTTng's loop */
		return -1;
	}
	if (number != range->next) {
		close_gathered();
		range->begin = number;
	}
	range->next = number + 1;
	return 0;
}

static int do_nothing(int fd)
{
	(void) fd;
	return 0;
}

/* Returns 0 or -errno. */
static int close_sparing(close_range_function real, unsigned int first, unsigned int last)
{
	struct range r = {.real = real, .begin = first, .next = first, .last = last};
	struct range *const outer = range;

	range = &r;
	tap_events_table->close_from((int) first, gather);
	close_gathered();
	/* LTTng stops at the limit that it reads; open descriptors may lie above. */
	while (r.next <= last && tap_events_table->close_one((int) r.next, do_nothing))
		r.next++;
	if (r.next <= last && real(r.next, last, 0))
		r.result = -errno;
	range = outer;
	return r.result;
}

tap_cold static int early_close_range(unsigned int first, unsigned int last, int flags)
{
	return (int) syscall(SYS_close_range, first, last, flags);
}

tap_cold static void early_closefrom(int first)
{
	struct rlimit limit;
	rlim_t fd = first < 0 ? 0 : (rlim_t) first;

	/* A kernel before 5.9 has no ranges, and a filter may allow none. */
	if (!syscall(SYS_close_range, (unsigned int) fd, UINT_MAX, 0) ||
	    getrlimit(RLIMIT_NOFILE, &limit))
		return;
	for (; fd < limit.rlim_cur; fd++)
		syscall(SYS_close, (int) fd);
}

static close_range_function real_close_range = early_close_range;
static closefrom_function real_closefrom = early_closefrom;

/*
 * Before the other constructors, one of which starts a thread: the linker's lock is not
 * to be waited for in a call of the program's.  Its own libraries' constructors come
 * earlier: what they call goes to the kernel, as in net.c.
 */
__attribute__((constructor(101))) static void prepare(void)
{
	void *found = tap_real_dlsym(RTLD_NEXT, "close_range");

	if (found)
		real_close_range = (close_range_function) found;
	found = tap_real_dlsym(RTLD_NEXT, "closefrom");
	if (found)
		real_closefrom = (closefrom_function) found;
}

/*
 * With flags, close_range() closes nothing now, or only in a table that LTTng does not
 * use.
 */
tap_exported int close_range(unsigned int first, unsigned int last, int flags)
{
	struct tap_guard guard;
	int result;

	if (!tap_has_events() || flags || first > last || first > INT_MAX)
		return real_close_range(first, last, flags);
	guard = tap_guard_set();
	result = close_sparing(real_close_range, first, last);
	tap_guard_clear(guard);
	if (!result)
		return 0;
	errno = -result;
	return -1;
}

tap_exported void closefrom(int first)
{
	struct tap_guard guard;

	if (!tap_has_events()) {
		real_closefrom(first);
		return;
	}
	guard = tap_guard_set();
	if (first < 0)
		first = 0;
	/* A kernel before 5.9 has no ranges, and a filter may allow none. */
	if (close_sparing(real_close_range, (unsigned int) first, UINT_MAX))
		tap_events_table->close_from(first, close);
	tap_guard_clear(guard);
}
