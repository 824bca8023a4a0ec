/* SPDX-License-Identifier: MIT */
/*
 * Runs a program as an unprivileged container would: contained PROGRAM...  A filter refuses
 * the system calls that Docker's default profile refuses without capabilities, with the
 * same errors: EPERM, and ENOSYS for clone3(), so that libc falls back to clone().
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What makes a namespace. */
#define NAMESPACES                                                                      \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET)

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ANSWER(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define REFUSE(number, error) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), ANSWER(error)

static const struct sock_filter filter[] = {
	LOAD(nr),
	REFUSE(SYS_clone3, ENOSYS),
	REFUSE(SYS_acct, EPERM),
	REFUSE(SYS_add_key, EPERM),
	REFUSE(SYS_bpf, EPERM),
	REFUSE(SYS_clock_settime, EPERM),
	REFUSE(SYS_delete_module, EPERM),
	REFUSE(SYS_fanotify_init, EPERM),
	REFUSE(SYS_finit_module, EPERM),
	REFUSE(SYS_fsopen, EPERM),
	REFUSE(SYS_get_mempolicy, EPERM),
	REFUSE(SYS_init_module, EPERM),
	REFUSE(SYS_io_uring_setup, EPERM),
	REFUSE(SYS_kcmp, EPERM),
	REFUSE(SYS_kexec_load, EPERM),
	REFUSE(SYS_keyctl, EPERM),
	REFUSE(SYS_mbind, EPERM),
	REFUSE(SYS_migrate_pages, EPERM),
	REFUSE(SYS_mount, EPERM),
	REFUSE(SYS_move_mount, EPERM),
	REFUSE(SYS_move_pages, EPERM),
	REFUSE(SYS_open_by_handle_at, EPERM),
	REFUSE(SYS_open_tree, EPERM),
	REFUSE(SYS_perf_event_open, EPERM),
	REFUSE(SYS_pidfd_getfd, EPERM),
	REFUSE(SYS_pivot_root, EPERM),
	REFUSE(SYS_process_madvise, EPERM),
	REFUSE(SYS_quotactl, EPERM),
	REFUSE(SYS_reboot, EPERM),
	REFUSE(SYS_request_key, EPERM),
	REFUSE(SYS_set_mempolicy, EPERM),
	REFUSE(SYS_setns, EPERM),
	REFUSE(SYS_settimeofday, EPERM),
	REFUSE(SYS_swapoff, EPERM),
	REFUSE(SYS_swapon, EPERM),
	REFUSE(SYS_syslog, EPERM),
	REFUSE(SYS_umount2, EPERM),
	REFUSE(SYS_unshare, EPERM),
	REFUSE(SYS_userfaultfd, EPERM),
	REFUSE(SYS_vhangup, EPERM),
	/* A namespace of a new process. */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3),
	LOAD(args[0]),
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 0, 5),
	ANSWER(EPERM),
	/* Sockets of virtual machines. */
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
	LOAD(args[0]),
	REFUSE(AF_VSOCK, EPERM),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

int main(int argc, char **argv)
{
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = (struct sock_filter *) filter,
	};

	if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
		perror("contained");
		return 2;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
