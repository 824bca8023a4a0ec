/* SPDX-License-Identifier: MIT */
#include "tracepoints/own_fd.h"

#include <sys/resource.h>
#include <unistd.h>

/*
 * LTTng exports these for its own libraries; no installed header declares them.  The lock
 * nests, and a fork takes it.
 */
void lttng_ust_lock_fd_tracker(void);
void lttng_ust_unlock_fd_tracker(void);
int lttng_ust_add_fd_to_tracker(int fd);
void lttng_ust_delete_fd_from_tracker(int fd);
int lttng_ust_safe_close_fd(int fd, int (*close_cb)(int fd));

/* The hard limit when LTTng was loaded; its list has no room for more. */
static rlim_t limit;

__attribute__((constructor)) static void read_limit(void)
{
	struct rlimit current;

	if (!getrlimit(RLIMIT_NOFILE, &current))
		limit = current.rlim_max;
}

static int do_nothing(int fd)
{
	(void) fd;
	return 0;
}

/* LTTng aborts where one that is in its list, or has no room there, is added. */
static bool may_be_listed(int fd)
{
	return fd >= 0 && (rlim_t) fd < limit && !lttng_ust_safe_close_fd(fd, do_nothing);
}

struct tap_own_fd tap_tp_own_fd_open(int (*open)(const char *path), const char *path)
{
	struct tap_own_fd own = {0};

	lttng_ust_lock_fd_tracker();
	own.fd = open(path);
	if (may_be_listed(own.fd)) {
		own.fd = lttng_ust_add_fd_to_tracker(own.fd);
		own.is_listed = own.fd >= 0;
	}
	lttng_ust_unlock_fd_tracker();
	return own;
}

void tap_tp_own_fd_close(struct tap_own_fd own)
{
	lttng_ust_lock_fd_tracker();
	if (own.is_listed)
		lttng_ust_delete_fd_from_tracker(own.fd);
	if (own.fd >= 0)
		close(own.fd);
	lttng_ust_unlock_fd_tracker();
}
