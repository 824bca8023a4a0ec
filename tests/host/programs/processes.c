/* SPDX-License-Identifier: MIT */
/* Every way of making a process, or of becoming another program, around a call. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "moment.h"

extern char **environ;

static const char self[] = "/proc/self/exe";
static char *const one_call[] = {(char *) "processes", (char *) "once", NULL};
static char *const no_environment[] = {NULL};

static void once(void)
{
	call("once");
}

/* Two seconds of calls. */
static void linger(void)
{
	int failed = 0, i;

	for (i = 0; i < 200; i++) {
		failed += outcome();
		usleep(10000);
	}
	printf("failed %d\n", failed);
}

static void fork_and_call(void)
{
	pid_t child, grandchild;

	child = fork();
	if (!child) {
		call("child");
		grandchild = fork();
		if (!grandchild) {
			call("grandchild");
			_exit(4);
		}
		wait_for("grandchild", grandchild);
		exit(3);
	}
	wait_for("child", child);
}

static void fork_first(void)
{
	fork_and_call();
	call("parent");
}

static void fork_later(void)
{
	call("parent");
	fork_and_call();
	call("parent");
}

static void vfork_and_end(void)
{
	pid_t child;

	call("before");
	child = vfork();
	if (!child)
		_exit(5);
	wait_for("vfork", child);
	call("after");
}

static void vfork_and_exec(void)
{
	pid_t child;

	call("before");
	child = vfork();
	if (!child) {
		execv(self, one_call);
		_exit(127);
	}
	wait_for("vfork", child);
	call("after");
}

/* As who looks for a program along PATH does. */
static void vfork_and_fail(void)
{
	pid_t child;

	call("before");
	child = vfork();
	if (!child) {
		execv("/nonexistent", one_call);
		_exit(127);
	}
	wait_for("vfork", child);
	call("after");
}

/* Against the rules, and done: the child borrows everything of its parent's. */
static void vfork_and_call(void)
{
	pid_t child;

	call("before");
	child = vfork();
	if (!child)
		_exit(outcome());
	wait_for("vfork", child);
	call("after");
}

/* No handler of pthread_atfork() runs. */
static void bare_fork(void)
{
	pid_t child;

	call("before");
#ifdef SYS_fork
	child = (pid_t) syscall(SYS_fork);
#else /* aarch64 */
	child = (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
#endif
	if (!child)
		_exit(outcome());
	wait_for("fork", child);
	child = (pid_t) syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
	if (!child) {
		execv(self, one_call);
		_exit(127);
	}
	wait_for("clone", child);
	call("after");
}

static void spawn(char *const *environment)
{
	pid_t child;
	int error;

	call("before");
	error = posix_spawn(&child, self, NULL, NULL, one_call, environment);
	if (error)
		printf("not spawned: %s\n", strerror(error));
	else
		wait_for("spawned", child);
	call("after");
}

static void spawn_alike(void)
{
	spawn(environ);
}

static void spawn_without(void)
{
	spawn(no_environment);
}

static void spawn_nothing(void)
{
	pid_t child;

	call("before");
	printf("no such program: %d\n",
	       posix_spawnp(&child, "/nonexistent", NULL, NULL, one_call, environ));
	call("after");
}

static void shell(void)
{
	FILE *out;
	char line[64] = "";

	call("before");
	printf("system: %d\n", system("exit 6"));
	out = popen("echo from a shell", "r");
	if (out && fgets(line, sizeof(line), out))
		fputs(line, stdout);
	printf("popen: %d\n", out ? pclose(out) : -1);
	call("after");
}

static void exec_alike(void)
{
	call("before");
	execv(self, one_call);
}

static void exec_without(void)
{
	call("before");
	unsetenv("LD_PRELOAD");
	execv(self, one_call);
}

static void exec_empty(void)
{
	call("before");
	execve(self, one_call, no_environment);
}

static void exec_failing(void)
{
	call("before");
	printf("no such program: %d %d\n", execl("/nonexistent", "no", NULL), errno);
	call("after");
}

static void *call_and_exec(void *unused)
{
	call("thread");
	execv(self, one_call);
	return unused;
}

static void exec_in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, call_and_exec, NULL);
	for (;; usleep(10))
		outcome();
}

/* The unsetting comes too late for this process, and in time for its children. */
static void unset(void)
{
	unsetenv("LD_PRELOAD");
	call("unset");
	printf("system: %d\n", system("exit 6"));
	fork_and_call();
}

/* Twice forked, a session of its own, no descriptor but the one that says how it went. */
static void be_daemon(int result_fd)
{
	int fd, failed = 0, i;

	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
	for (fd = 0; fd < 256; fd++)
		if (fd != result_fd)
			close(fd);
	open("/dev/null", O_RDWR);
	dup(0);
	dup(0);
	if (chdir("/"))
		failed = 100;
	for (i = 0; i < 10; i++)
		failed += outcome();
	if (write(result_fd, &failed, sizeof(failed)) < 0)
		_exit(1);
	exit(0);
}

static void make_daemon(void)
{
	int ends[2], failed = -1;
	pid_t starter;

	if (pipe(ends))
		return;
	starter = fork();
	if (!starter)
		be_daemon(ends[1]);
	close(ends[1]);
	wait_for("starter", starter);
	if (read(ends[0], &failed, sizeof(failed)) != sizeof(failed))
		printf("no daemon\n");
	printf("daemon: %d failed\n", failed);
}

static void daemon_first(void)
{
	make_daemon();
	call("after");
}

static void daemon_later(void)
{
	call("before");
	make_daemon();
	call("after");
}

static int is_over;

static void *keep_calling(void *failed)
{
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		*(int *) failed += outcome();
		usleep(10);
	}
	return failed;
}

/* Children of one thread while two others are in the midst of a call. */
static void fork_while_calling(void)
{
	int failed[2] = {0}, failed_children = 0, status, i;
	pthread_t threads[2];

	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, keep_calling, &failed[i]);
	for (i = 0; i < 30; i++) {
		const pid_t child = fork();

		if (!child) {
			alarm(20);
			_exit(outcome());
		}
		if (waitpid(child, &status, 0) != child || status)
			failed_children++;
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("failed: %d %d, children %d\n", failed[0], failed[1], failed_children);
}

/* Many threads fork at once, their children fork, and all of them call. */
static void *fork_in_thread(void *failed)
{
	int status, i;

	for (i = 0; i < 4; i++) {
		const pid_t child = fork();

		if (!child) {
			const pid_t grandchild = fork();

			alarm(20);
			if (!grandchild)
				_exit(outcome());
			if (waitpid(grandchild, &status, 0) != grandchild)
				_exit(1);
			_exit(outcome() || status);
		}
		*(int *) failed += outcome();
		if (waitpid(child, &status, 0) != child || status)
			++*(int *) failed;
	}
	return failed;
}

static void fork_in_threads(void)
{
	int failed[8] = {0}, sum = 0, i;
	pthread_t threads[8];

	for (i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, fork_in_thread, &failed[i]);
	for (i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		sum += failed[i];
	}
	printf("failed: %d\n", sum);
}

static void *call_hard(void *unused)
{
	for (;;)
		outcome();
	return unused;
}

/* Killed at a moment of which half are in the midst of an event. */
static void kill_while_calling(void)
{
	pthread_t thread;
	int i;

	for (i = 0; i < 4; i++) {
		const pid_t child = fork();

		if (!child) {
			alarm(20);
			outcome();
			pthread_create(&thread, NULL, call_hard, NULL);
			call_hard(NULL);
		}
		usleep(60000);
		kill(child, SIGKILL);
		wait_for("child", child);
	}
}

int main(int argc, char **argv)
{
	static const struct moment moments[] = {
		{"once", once},
		{"linger", linger},
		{"fork-first", fork_first},
		{"fork-later", fork_later},
		{"vfork-end", vfork_and_end},
		{"vfork-exec", vfork_and_exec},
		{"vfork-fail", vfork_and_fail},
		{"vfork-call", vfork_and_call},
		{"bare-fork", bare_fork},
		{"spawn", spawn_alike},
		{"spawn-without", spawn_without},
		{"spawn-nothing", spawn_nothing},
		{"shell", shell},
		{"exec", exec_alike},
		{"exec-without", exec_without},
		{"exec-empty", exec_empty},
		{"exec-failing", exec_failing},
		{"exec-in-thread", exec_in_thread},
		{"unset", unset},
		{"daemon-first", daemon_first},
		{"daemon-later", daemon_later},
		{"fork-while-calling", fork_while_calling},
		{"fork-in-threads", fork_in_threads},
		{"kill-while-calling", kill_while_calling},
	};

	return RUN_MOMENT(argc, argv);
}
