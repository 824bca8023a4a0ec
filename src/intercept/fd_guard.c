/* SPDX-License-Identifier: MIT */
#include "intercept/fd_guard.h"

#include <dlfcn.h>
#include <limits.h>
#include <sys/resource.h>

#include "common/log.h"
#include "intercept/dl/libraries.h"
#include "intercept/dl/real.h"

/* Most processes have fewer. */
#define NUMBERS 1024

#define COMMON_FILE "liblttng-ust-common.so.1"

const struct tap_fd_list *tap_fd_list;

/*
 * The copy that LTTng will use: the program's own, else the one beside us, of a portable
 * folder, else the system's.  It stays, as its constructor has allocated.
 */
static void *load_common(void)
{
	char path[PATH_MAX];
	void *handle = dlopen(COMMON_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);

	if (!handle && !tap_library_beside(COMMON_FILE, path, sizeof(path)))
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	return handle ? handle
		      : dlopen(COMMON_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* No installed header declares these, which LTTng exports for its own library. */
static bool find_all(void *handle, struct tap_fd_list *list)
{
#define FIND(member, name) \
	(list->member = (__typeof__(list->member)) tap_real_dlsym(handle, \
								  "lttng_ust_" name))
	return FIND(lock, "lock_fd_tracker") && FIND(unlock, "unlock_fd_tracker") &&
	       FIND(add, "add_fd_to_tracker") &&
	       FIND(remove, "delete_fd_from_tracker") &&
	       FIND(close_one, "safe_close_fd") &&
	       FIND(close_from, "safe_closefrom_fd") &&
	       FIND(close_stream, "safe_fclose_stream");
#undef FIND
}

/* LTTng's list has room up to the hard limit of when it is loaded. */
static int count_numbers(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return limit.rlim_max < NUMBERS ? (int) limit.rlim_max : NUMBERS;
}

void tap_fd_guard_load(void)
{
	static struct tap_fd_list list;
	void *handle = load_common();

	list.numbers = count_numbers();
	if (handle && find_all(handle, &list))
		__atomic_store_n(&tap_fd_list, &list, __ATOMIC_RELEASE);
	else
		tap_log("start: LTTng's descriptors are not guarded: "
			"%s has no list of them",
			COMMON_FILE);
}

void tap_fd_guard_forget(void)
{
	tap_fd_list = NULL;
}

/* LTTng calls it, under its lock, for a number that is not one of LTTng's. */
static int note_foreign(int fd)
{
	(void) fd;
	return 0;
}

bool tap_fd_guard_has(int fd)
{
	const struct tap_fd_list *list = __atomic_load_n(&tap_fd_list, __ATOMIC_ACQUIRE);

	return list && list->close_one(fd, note_foreign);
}
