/* SPDX-License-Identifier: MIT */
/*
 * The clock of another host, preloaded into a program and the daemons that record it:
 * CLOCK_MONOTONIC and CLOCK_REALTIME are SKEW_NS ahead, and run faster by SKEW_PPM
 * millionths since SKEW_BASE, a time of the true CLOCK_MONOTONIC in ns.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long ahead_ns, base_ns;
static double rate;

__attribute__((constructor)) static void start(void)
{
	const char *ahead = getenv("SKEW_NS"), *ppm = getenv("SKEW_PPM"),
		   *base = getenv("SKEW_BASE");

	if (!ahead || !ppm || !base)
		return;
	ahead_ns = atoll(ahead);
	base_ns = atoll(base);
	rate = atof(ppm) / 1e6;
}

static long long in_ns(const struct timespec *time)
{
	return (long long) time->tv_sec * 1000000000 + time->tv_nsec;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	static int (*real)(clockid_t, struct timespec *);
	struct timespec now;
	long long ns;
	int ret;

	if (!real)
		real = (int (*)(clockid_t, struct timespec *)) dlsym(RTLD_NEXT,
								     "clock_gettime");
	ret = real ? real(clock, time) : (int) syscall(SYS_clock_gettime, clock, time);
	if (ret || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME))
		return ret;
	now = *time;
	if (clock == CLOCK_REALTIME && (real ? real(CLOCK_MONOTONIC, &now)
					     : (int) syscall(SYS_clock_gettime,
							     CLOCK_MONOTONIC, &now)))
		return 0;
	ns = in_ns(time) + ahead_ns + (long long) ((double) (in_ns(&now) - base_ns) * rate);
	time->tv_sec = ns / 1000000000;
	time->tv_nsec = ns % 1000000000;
	return 0;
}
