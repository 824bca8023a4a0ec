/* SPDX-License-Identifier: MIT */
/*
 * The identity of this process: host, namespaces, job, rank, command.  It is gathered for
 * each event, since a fork changes some of it.
 *
 * It hides which launcher sets which environment variable, and which files of /proc hold
 * the rest.  Unknown values are empty, 0 or -1.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/launcher.h"
#include "common/lock.h"
#include "intercept/layer.h"
#include "intercept/own_fd.h"
#include "intercept/trace.h"

/* Reads a file's beginning as a string and replaces inner NULs by spaces. */
static void read_start(const char *path, char *ret_text, size_t size)
{
	size_t used = tap_own_fd_read(path, ret_text, size), i;

	while (used && (ret_text[used - 1] == '\0' || ret_text[used - 1] == '\n'))
		used--;
	for (i = 0; i < used; i++)
		if (ret_text[i] == '\0')
			ret_text[i] = ' ';
	ret_text[used] = '\0';
}

static uint64_t inode(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

/* The buffers are static because the caller's stack may be small; the lock guards them.
 */
static void gather(void (*write)(const struct tap_process *))
{
	static char boot_id[64], command[4096], executable[PATH_MAX];
	struct tap_process p = {0};
	struct tap_launcher launcher;
	struct utsname host;
	ssize_t len;

	p.pid = getpid();
	p.ppid = getppid();
	p.uid = getuid();
	p.pid_namespace = inode("/proc/self/ns/pid");
	p.time_namespace = inode("/proc/self/ns/time");
	p.host = uname(&host) ? "" : host.nodename;
	read_start("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
	p.boot_id = boot_id;
	len = readlink("/proc/self/exe", executable, sizeof(executable) - 1);
	executable[len < 0 ? 0 : len] = '\0';
	p.executable = executable;
	read_start("/proc/self/cmdline", command, sizeof(command));
	p.command = command;
	p.job_id = tap_launcher_job();
	p.version = PACKAGE_VERSION;
	p.nvtx_injection = getenv("NVTX_INJECTION64_PATH");
	if (!p.nvtx_injection)
		p.nvtx_injection = "";
	launcher = tap_launcher_ask();
	p.rank = launcher.rank;
	p.world_size = launcher.world_size;
	p.local_rank = launcher.local_rank;
	p.rank_from = launcher.rank_from;
	write(&p);
}

/* Free in a fork's child, which does not have the thread that held it (layer.h). */
static struct tap_lock lock;

static void write_process(void (*write)(const struct tap_process *))
{
	if (!tap_lock_take(&lock)) {
		tap_problem("not recorded", "what the process is", 1);
		return;
	}
	gather(write);
	tap_lock_drop(&lock);
}

static void announce(void)
{
	write_process(tap_events_table->process);
}

static void write_statedump(struct tap_state_counts *counts)
{
	(void) counts;
	write_process(tap_events_table->statedump_process);
}

const struct tap_layer tap_layer_process = {
	.announce = announce,
	.write_statedump = write_statedump,
	.lock = &lock,
};
