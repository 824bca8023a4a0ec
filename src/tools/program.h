/* SPDX-License-Identifier: MIT */
/*
 * The program that is recorded, as a child in our process group.  To whoever signals,
 * stops or waits for ccltap it must look as if the program itself had been started.
 * Hides which signals are passed on and which have reached the program already.
 *
 * The child is forked before anything is prepared and waits at a gate, with the
 * signals as we got them.  So a signal to the whole group reaches it however early
 * it comes, and a recording that cannot begin leaves nothing started.
 */
#ifndef TAP_TOOLS_PROGRAM_H
#define TAP_TOOLS_PROGRAM_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A variable of the program's environment; those with no value stay as they are. */
struct tap_program_variable {
	const char *name, *value;
	bool is_default; /* one that is there already stays */
};

struct tap_program {
	pid_t pid;
	/* Our ends of two pipes: "go on", and why the program could not be run. */
	int gate_fd;
	int failure_fd;
};

/* How the child ended. */
struct tap_program_end {
	/* waitid's: CLD_EXITED with a status, or else a signal's number. */
	int code;
	int status;
	/* 0, or the errno value with which the program could not be run. */
	int exec_errno;
};

/*
 * Looks the program up as execvp does. Returns 0, -ENOENT where there is none, or
 * -EACCES where there is one that cannot be run; ret_path is where it is.
 */
int tap_program_find(const char *name, char *ret_path, size_t size);

/*
 * Forks the child, which will run argv.  From here on the signals that concern the
 * program wait for tap_program_wait(). Returns 0 or -errno.
 */
int tap_program_fork(struct tap_program *program, char **argv);

/* Opens the gate: argv is run with these variables. */
void tap_program_start(struct tap_program *program,
		       const struct tap_program_variable *variables, size_t count);

/* Ends a child whose gate was never opened. */
void tap_program_abandon(struct tap_program *program);

/* Passes signals on until the child has ended. */
void tap_program_wait(struct tap_program *program, struct tap_program_end *ret_end);

/*
 * Ends this process as the child ended, by the same signal if it was one, but
 * without a second core file. Async-signal-safe.
 */
void tap_program_end_alike(const struct tap_program_end *end) __attribute__((noreturn));

#endif
