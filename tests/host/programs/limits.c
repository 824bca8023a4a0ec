/* SPDX-License-Identifier: MIT */
/*
 * Runs a program with less than it is used to: limits "limit" PROGRAM...  What it is
 * denied is what LTTng asks for and a small program does not.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The system call fails with the error; all others are as ever. */
static int deny(unsigned int number, unsigned int error)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int limit(__rlimit_resource_t resource, rlim_t value)
{
	const struct rlimit both = {value, value};

	return setrlimit(resource, &both);
}

static int apply(const char *what)
{
	static const struct {
		const char *name;
		unsigned int number, error;
	} denied[] = {
		{"membarrier", SYS_membarrier, EPERM}, {"socket", SYS_socket, EPERM},
		{"connect", SYS_connect, EACCES},      {"clone3", SYS_clone3, ENOSYS},
		{"memfd", SYS_memfd_create, EPERM},    {"rseq", SYS_rseq, ENOSYS},

		{"getrandom", SYS_getrandom, ENOSYS},
	};
	static const struct {
		const char *name;
		__rlimit_resource_t resource;
		rlim_t value;
	} limits[] = {
		{"files-3", RLIMIT_NOFILE, 3},	    {"files-4", RLIMIT_NOFILE, 4},
		{"files-5", RLIMIT_NOFILE, 5},	    {"files-6", RLIMIT_NOFILE, 6},
		{"files-8", RLIMIT_NOFILE, 8},	    {"files-12", RLIMIT_NOFILE, 12},
		{"files-16", RLIMIT_NOFILE, 16},    {"files-24", RLIMIT_NOFILE, 24},
		{"memory-8", RLIMIT_AS, 8 << 20},   {"memory-12", RLIMIT_AS, 12 << 20},
		{"memory-16", RLIMIT_AS, 16 << 20}, {"memory-24", RLIMIT_AS, 24 << 20},
		{"memory-48", RLIMIT_AS, 48 << 20}, {"memory-96", RLIMIT_AS, 96 << 20},
		{"stack", RLIMIT_STACK, 64 << 10},  {"size", RLIMIT_FSIZE, 4096},
		{"locked", RLIMIT_MEMLOCK, 0},	    {"threads", RLIMIT_NPROC, 1},
		{"threads-2", RLIMIT_NPROC, 2},	    {"threads-3", RLIMIT_NPROC, 3},
	};
	unsigned int i;

	for (i = 0; i < sizeof(denied) / sizeof(denied[0]); i++)
		if (!strcmp(what, denied[i].name))
			return deny(denied[i].number, denied[i].error);
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (!strcmp(what, limits[i].name))
			return limit(limits[i].resource, limits[i].value);
	errno = EINVAL;
	return -1;
}

int main(int argc, char **argv)
{
	const char *preload = getenv("LIMITED_PRELOAD");

	if (argc < 3 || apply(argv[1])) {
		perror("limits");
		return 2;
	}
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	execv(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
