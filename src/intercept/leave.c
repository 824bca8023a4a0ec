/* SPDX-License-Identifier: MIT */
/*
 * _exit() and exec: the ends of a process that LTTng does not notice.  The tracer shuts
 * the gate before, since a thread that writes an event would leave it unfinished in a
 * buffer shared by all processes of the user.  exit() needs no wrapper: LTTng's own
 * destructor waits.
 *
 * They are called in signal handlers, in children of vfork() that share the parent's
 * memory, and before the tracer is initialised.  So they lock and allocate nothing, and
 * such a child leaves the gate as it is.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/gate.h"
#include "intercept/dl/real.h"
#include "intercept/guard.h"
#include "intercept/trace.h"

typedef void (*exit_function)(int);
typedef int (*execv_function)(const char *, char *const *);
typedef int (*execve_function)(const char *, char *const *, char *const *);
typedef int (*fexecve_function)(int, char *const *, char *const *);
typedef int (*execveat_function)(int, const char *, char *const *, char *const *, int);

/* X(name): the functions to wrap that are separate functions in libc. */
/* clang-format off */
#define REAL(X) \
	X(_exit) X(_Exit) X(execv) X(execve) X(execvp) X(execvpe) X(fexecve) X(execveat)
#define NUMBER(name) NR_##name,
#define NAME(name) #name,
/* clang-format on */
enum { REAL(NUMBER) NR_REAL };

static const char *const names[] = {REAL(NAME)};
static void *functions[NR_REAL];

static void *real(int nr)
{
	void *function = __atomic_load_n(&functions[nr], __ATOMIC_RELAXED);

	if (unlikely(!function)) {
		function = tap_real_dlsym(RTLD_NEXT, names[nr]);
		__atomic_store_n(&functions[nr], function, __ATOMIC_RELAXED);
	}
	return function;
}

static void shut_for_good(void)
{
	(void) tap_gate_shut();
}

/*
 * Registered before the program's handlers, so run after them; quick_exit() runs no other
 * code.
 */
__attribute__((constructor)) static void prepare(void)
{
	int i;

	for (i = 0; i < NR_REAL; i++)
		(void) real(i);
	(void) at_quick_exit(shut_for_good);
}

/* Called when exec has failed; keeps errno. */
static void come_back(bool was_shut)
{
	struct tap_guard guard;
	uint64_t nr_refused;

	if (!was_shut)
		return;
	guard = tap_guard_set();
	nr_refused = tap_gate_open();
	if (nr_refused && !guard.was_inside)
		tap_problem("not recorded",
			    "events written while another program was to be executed",
			    nr_refused);
	tap_guard_clear(guard);
}

static _Noreturn void leave(exit_function function, int status)
{
	shut_for_good();
	if (function)
		function(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

tap_exported _Noreturn void _exit(int status)
{
	leave((exit_function) real(NR__exit), status);
}

tap_exported _Noreturn void _Exit(int status)
{
	leave((exit_function) real(NR__Exit), status);
}

/* clang-format off */
#define EXEC(name, type, params, ...) \
	tap_exported int name params \
	{ \
		const type function = (type) real(NR_##name); \
		bool was_shut; \
		int result; \
\
		if (!function) { \
			errno = ENOSYS; \
			return -1; \
		} \
		was_shut = tap_gate_shut(); \
		result = function(__VA_ARGS__); \
		come_back(was_shut); \
		return result; \
	}

EXEC(execv, execv_function, (const char *path, char *const argv[]), path, argv)
EXEC(execve, execve_function, (const char *path, char *const argv[], char *const env[]),
     path, argv, env)
EXEC(execvp, execv_function, (const char *file, char *const argv[]), file, argv)
EXEC(execvpe, execve_function, (const char *file, char *const argv[], char *const env[]),
     file, argv, env)
EXEC(fexecve, fexecve_function, (int fd, char *const argv[], char *const env[]),
     fd, argv, env)
EXEC(execveat, execveat_function,
     (int fd, const char *path, char *const argv[], char *const env[], int flags),
     fd, path, argv, env, flags)
/* clang-format on */

/* Counts the terminating NULL too. */
static size_t count(va_list list)
{
	size_t nr = 1;

	while (va_arg(list, char *))
		nr++;
	return nr;
}

static void gather(va_list list, const char *first, size_t nr, char **ret_argv)
{
	size_t i;

	ret_argv[0] = (char *) first;
	for (i = 1; i < nr; i++)
		ret_argv[i] = va_arg(list, char *);
}

/*
 * Points `argv` to the arguments, beginning with `first`, copied to the stack, as libc
 * does; `list` then stands behind them.
 */
#define GATHER(list, first, argv) \
	va_start(list, first); \
	nr = 1 + count(list); \
	va_end(list); \
	va_start(list, first); \
	argv = __builtin_alloca(nr * sizeof(*argv)); \
	gather(list, first, nr, argv)

#define EXEC_LIST(name, with_vector) \
	tap_exported int name(const char *file, const char *first, ...) \
	{ \
		char **argv; \
		va_list list; \
		size_t nr; \
\
		GATHER(list, first, argv); \
		va_end(list); \
		return with_vector(file, argv); \
	}

EXEC_LIST(execl, execv)
EXEC_LIST(execlp, execvp)

tap_exported int execle(const char *path, const char *first, ...)
{
	char **argv, **env;
	va_list list;
	size_t nr;

	GATHER(list, first, argv);
	env = va_arg(list, char **);
	va_end(list);
	return execve(path, argv, env);
}
