/* SPDX-License-Identifier: MIT */
/*
 * What is wrong with a program, kept beside its trace: in why.txt, and as one line for
 * the user. Hides that `ccltap why` finds it, in a process of its own that gives way to
 * all others and whose time is bounded.
 */
#ifndef TAP_TOOLS_WHY_BESIDE_H
#define TAP_TOOLS_WHY_BESIDE_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts `ccltap why` on a trace in the recording in `folder`; it writes a file there that
 * tap_why_beside_end() then puts in place. Returns the process, or -errno.
 */
pid_t tap_why_beside_start(const char *folder, const char *trace);

/*
 * Waits for that process a few seconds, or until must_end(), which may be NULL, then ends
 * it. Returns its status, or -1.
 */
int tap_why_beside_wait(pid_t pid, bool (*must_end)(void));

/*
 * For that process once it has ended, with the status of waitpid(): replaces
 * folder/why.txt by what it wrote, if it found something.
 */
void tap_why_beside_end(const char *folder, int status);

/*
 * Runs `ccltap why` on a trace. Returns its first line if it found something, which the
 * caller frees, or else NULL: also when must_end() says that nobody wants to know.
 */
char *tap_why_first_line(const char *trace, bool (*must_end)(void));

/* The first line of folder/why.txt, which the caller frees; NULL: there is none. */
char *tap_why_beside_line(const char *folder);

#endif
