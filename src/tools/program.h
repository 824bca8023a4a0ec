/* SPDX-License-Identifier: MIT */
/*
 * The program that is recorded, as a child in ccltap's process group. To a process that
 * signals, stops or waits for ccltap, the result must look as if the program itself had
 * been started. Hides which signals ccltap passes on and which have reached the program
 * already.
 *
 * ccltap forks the child before it prepares anything; the child waits at a gate, with the
 * signal state that ccltap got. So a signal to the whole group reaches the child however
 * early it comes, and a recording that cannot begin leaves nothing started.
 */
#ifndef TAP_TOOLS_PROGRAM_H
#define TAP_TOOLS_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A variable of the program's environment; one with the value NULL stays as it is. */
struct tap_program_variable {
	const char *name, *value;
	bool is_default; /* a value that is there already stays */
};

struct tap_program {
	pid_t pid;
	/* ccltap's ends of two pipes: "go on", and why the program could not be run. */
	int gate_fd;
	int failure_fd;
};

/* How the child ended. */
struct tap_program_end {
	/* of waitid(): CLD_EXITED with a status, or else a signal's number */
	int code;
	int status;
	/* 0, or the errno value of the failed exec. */
	int exec_errno;
};

/*
 * Looks the program up as execvp() does and sets ret_path. Returns 0, -ENOENT if there is
 * none, or -EACCES if it cannot be run.
 */
int tap_program_find(const char *name, char *ret_path, size_t size);

/*
 * Forks the child, which will run argv. From here on, signals for the program stay
 * pending until tap_program_wait(). Returns 0 or -errno.
 */
int tap_program_fork(struct tap_program *program, char **argv);

/* Opens the gate: the child runs argv with these variables. */
void tap_program_start(struct tap_program *program,
		       const struct tap_program_variable *variables, size_t count);

/* Ends a child whose gate was not opened. */
void tap_program_abandon(struct tap_program *program);

/* Passes signals on until the child has ended. */
void tap_program_wait(struct tap_program *program, struct tap_program_end *ret_end);

/*
 * Ends this process as the child ended, by the same signal if it was one, but without a
 * second core file. Async-signal-safe.
 */
void tap_program_end_alike(const struct tap_program_end *end) __attribute__((noreturn));

#endif
