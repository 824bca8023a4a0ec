/* SPDX-License-Identifier: MIT */
/* Probes each page with a system call that every seccomp filter allows. */
#include "common/safe_read.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The smallest page size; a larger page is probed more often than needed. */
#define PAGE ((uintptr_t) 4096)

/*
 * The kernel copies the signal set before it finds that the operation does not exist.
 * The set is the word at address, not the first one of the page, so that memory checkers
 * see no access beyond what is read.
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

/* How many of the size bytes at `at` lie in its first page. */
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

/* Reads byte by byte: a sanitizer may watch the memory behind the end of a string. */
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
