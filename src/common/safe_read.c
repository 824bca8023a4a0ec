/* SPDX-License-Identifier: MIT */
/* Asks the kernel with a system call that every filter of system calls allows. */
#include "common/safe_read.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The smallest page there is: a larger one is asked about more often. */
#define PAGE ((uintptr_t) 4096)

/*
 * The kernel copies the set before it finds that there is no such operation.  It is the
 * word at address, and not the first of the page, for the sake of those who watch memory.
 */
bool tap_safe_page(uintptr_t address)
{
	const int saved_errno = errno;
	const bool is_there =
		syscall(SYS_rt_sigprocmask, ~0L, address & -(uintptr_t) 8, NULL, 8) < 0 &&
		errno == EINVAL;

	errno = saved_errno;
	return is_there;
}

/* How many of size bytes at `at` lie in its page. */
static size_t left_in_page(uintptr_t at, size_t size)
{
	const size_t left = PAGE - at % PAGE;

	return size < left ? size : left;
}

void *tap_safe_read(void *ret_copy, const void *from, size_t size)
{
	uintptr_t at = (uintptr_t) from;
	const uintptr_t end = at + size;

	if (!from || end < at)
		return NULL;
	for (; at < end; at += left_in_page(at, end - at))
		if (!tap_safe_page(at))
			return NULL;
	return memcpy(ret_copy, from, size);
}

void *tap_safe_pointer(void *const *from)
{
	const uintptr_t at = (uintptr_t) from, last = at + sizeof(*from) - 1;

	if (!from || last < at || !tap_safe_page(at) || !tap_safe_page(last))
		return NULL;
	return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

/* Byte by byte: what lies behind the end of a string may be watched by a sanitizer. */
char *tap_safe_read_string(char *ret_copy, size_t size, const char *from)
{
	size_t used = 0, end = 0;

	while (from && used < size - 1) {
		if (used == end) {
			if (!tap_safe_page((uintptr_t) (from + used)))
				break;
			end += left_in_page((uintptr_t) (from + used), size);
		}
		if (!from[used])
			break;
		ret_copy[used] = from[used];
		used++;
	}
	ret_copy[used] = '\0';
	return ret_copy;
}
