/* SPDX-License-Identifier: MIT */
/*
 * A program that says "ready PID", then "signal N" for each signal that it gets, and ends
 * at SIGUSR1 with a line that counts them.  Signals are waited for one at a time, the
 * lowest number first, so that nothing is merged but what the kernel merges.
 */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(void)
{
	static const int awaited[] = {
		SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH,
	};
	int counts[NSIG] = { 0 };
	sigset_t set;
	int number;

	/* A signal that never comes is to fail a test, not to hang it. */
	alarm(60);
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(awaited) / sizeof(awaited[0]); i++)
		sigaddset(&set, awaited[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready %d\n", getpid());
	do {
		if (sigwait(&set, &number))
			return 1;
		counts[number]++;
		printf("signal %d\n", number);
	} while (number != SIGUSR1);
	printf("counts: INT %d TERM %d HUP %d USR2 %d\n", counts[SIGINT], counts[SIGTERM],
	       counts[SIGHUP], counts[SIGUSR2]);
	return 5;
}
