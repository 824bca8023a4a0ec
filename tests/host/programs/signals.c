/* SPDX-License-Identifier: MIT */
/* Signals at all moments of a call, and handlers that call themselves. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "moment.h"

int ncclGroupStart(void);
int ncclGroupEnd(void);
int ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count, int datatype,
		  int op, void *comm, void *stream);
extern int slow_go;

#define PAGE 4096

static volatile sig_atomic_t nr_handled, nr_failed;
static sigjmp_buf away;

static void call_in_handler(int signal_number)
{
	const int saved = errno;

	(void) signal_number;
	nr_failed += outcome();
	nr_handled++;
	errno = saved;
}

static void call_and_let_go(int signal_number)
{
	call_in_handler(signal_number);
	__atomic_store_n(&slow_go, 1, __ATOMIC_RELEASE);
}

static void jump_away(int signal_number)
{
	siglongjmp(away, signal_number);
}

static void handle(int signal_number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	sigemptyset(&action.sa_mask);
	sigaction(signal_number, &action, NULL);
}

static void tick_every(int microseconds)
{
	const struct itimerval interval = {
		.it_interval = {.tv_usec = microseconds},
		.it_value = {.tv_usec = microseconds},
	};

	setitimer(ITIMER_REAL, &interval, NULL);
}

/* The handler's call is the first. */
static void first(void)
{
	handle(SIGUSR1, call_in_handler, 0);
	raise(SIGUSR1);
	printf("handled %d failed %d\n", (int) nr_handled, (int) nr_failed);
	call("after");
}

/* Calls interrupt calls, also the first, which takes long. */
static void often(void)
{
	int failed = 0, i;

	handle(SIGALRM, call_in_handler, SA_RESTART);
	tick_every(200);
	for (i = 0; i < 20000 || nr_handled < 200; i++)
		failed += outcome();
	tick_every(0);
	printf("failed %d, in handlers %d\n", failed, (int) nr_failed);
}

static void *signal_main(void *thread)
{
	usleep(50000);
	pthread_kill(*(pthread_t *) thread, SIGUSR1);
	return thread;
}

static void be_signalled(void (*handler)(int))
{
	pthread_t self = pthread_self(), thread;

	handle(SIGUSR1, handler, 0);
	pthread_create(&thread, NULL, signal_main, &self);
	if (!sigsetjmp(away, 1))
		printf("result %d errno %d\n", ncclGroupStart(), errno);
	else
		printf("jumped away\n");
	pthread_join(thread, NULL);
}

static void interrupt(void)
{
	be_signalled(call_and_let_go);
	printf("handled %d failed %d\n", (int) nr_handled, (int) nr_failed);
	printf("result %d\n", ncclGroupEnd());
	call("after");
}

/* The call never returns.  Afterwards the thread is as good as before. */
static void *leave_a_call(void *unused)
{
	be_signalled(jump_away);
	call("after");
	__atomic_store_n(&slow_go, 1, __ATOMIC_RELEASE);
	printf("result %d\n", ncclGroupStart());
	printf("result %d\n", ncclGroupEnd());
	__atomic_store_n(&slow_go, 0, __ATOMIC_RELEASE);
	if (!sigsetjmp(away, 1)) {
		alarm(1);
		ncclAllReduce(NULL, NULL, 1, 0, 0, &away, NULL);
	}
	__atomic_store_n(&slow_go, 1, __ATOMIC_RELEASE);
	printf("result %d\n", ncclAllReduce(NULL, NULL, 1, 0, 0, &away, NULL));
	pthread_cancel(pthread_self());
	pthread_testcancel();
	printf("not cancelled\n");
	return unused;
}

static void jump(void)
{
	pthread_t thread;
	sigset_t alarms;
	void *result;

	handle(SIGALRM, jump_away, 0);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_create(&thread, NULL, leave_a_call, NULL);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	pthread_join(thread, &result);
	printf("cancelled %d\n", result == PTHREAD_CANCELED);
	call("another thread");
}

/*
 * A stack of the smallest size that the kernel allows, and what glibc itself has always
 * added to it, below it a page that nobody may touch.
 */
static void small_stack(void)
{
	/* The emulator of aarch64 does not say; this is glibc's own for that processor. */
	const size_t least = getauxval(AT_MINSIGSTKSZ) ?: 5120;
	const size_t size = (least + 8192 + PAGE - 1) / PAGE * PAGE;
	char *memory = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const stack_t stack = {.ss_sp = memory + PAGE, .ss_size = size};

	mprotect(memory, PAGE, PROT_NONE);
	if (sigaltstack(&stack, NULL))
		printf("no stack: %s\n", strerror(errno));
	handle(SIGUSR1, call_in_handler, SA_ONSTACK);
}

static void stack_first(void)
{
	small_stack();
	raise(SIGUSR1);
	raise(SIGUSR1);
	printf("handled %d failed %d\n", (int) nr_handled, (int) nr_failed);
	call("after");
}

static void stack_later(void)
{
	call("before");
	stack_first();
}

/* A signal to the process finds the thread that waits for it, and nobody of ours. */
static void wait_for_signals(void)
{
	const struct timespec limit = {.tv_sec = 5};
	sigset_t set;
	int i;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGALRM);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGPROF);
	sigprocmask(SIG_BLOCK, &set, NULL);
	call("before");
	for (i = 0; i < 3; i++) {
		kill(getpid(), i == 1 ? SIGTERM : i ? SIGPROF : SIGUSR1);
		printf("signal %d\n", sigtimedwait(&set, NULL, &limit));
		call("between");
	}
	tick_every(1000);
	printf("signal %d\n", sigtimedwait(&set, NULL, &limit));
}

/* What is blocked, handled and pending afterwards. */
static void leave_alone(void)
{
	struct sigaction action;
	sigset_t before, after, pending;
	int differs = 0, i;

	handle(SIGUSR2, SIG_IGN, 0);
	sigemptyset(&before);
	sigaddset(&before, SIGHUP);
	sigprocmask(SIG_BLOCK, &before, NULL);
	raise(SIGHUP);
	sigprocmask(SIG_BLOCK, NULL, &before);
	call("once");
	sigprocmask(SIG_BLOCK, NULL, &after);
	sigpending(&pending);
	for (i = 1; i < 65; i++) {
		differs += sigismember(&before, i) != sigismember(&after, i);
		if (i != SIGUSR2 && !sigaction(i, NULL, &action))
			differs += action.sa_handler != SIG_DFL;
	}
	sigaction(SIGUSR2, NULL, &action);
	printf("differs %d, ignored %d, pending %d\n", differs,
	       action.sa_handler == SIG_IGN, sigismember(&pending, SIGHUP));
}

/* One that ends the program in the midst of a call. */
static void die(void)
{
	alarm(1);
	ncclGroupStart();
}

int main(int argc, char **argv)
{
	static const struct moment moments[] = {
		{"first", first},
		{"often", often},
		{"interrupt", interrupt},
		{"jump", jump},
		{"stack-first", stack_first},
		{"stack-later", stack_later},
		{"wait", wait_for_signals},
		{"leave-alone", leave_alone},
		{"die", die},
	};

	return RUN_MOMENT(argc, argv);
}
