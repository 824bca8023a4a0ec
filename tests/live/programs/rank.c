/* SPDX-License-Identifier: MIT */
/*
 * One rank of a job that may be killed at any time: makes calls one after the other, and
 * keeps in a file how many have returned.
 *
 * usage: rank LIBRARY COUNT-FILE CALLS PAUSE-US [RANKS]; with RANKS it makes the first call when
 * so many have come that have the same file
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *rank = getenv("RANK");
	/* Behind it, how many have come. */
	volatile long *count;
	int (*call)(int *);
	int fd, version, i;
	void *library;

	if (argc != 5 && argc != 6)
		return 1;
	fd = open(argv[2], O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 2 * sizeof(*count)))
		return 2;
	count = mmap(NULL, 2 * sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	library = dlopen(argv[1], RTLD_NOW);
	call = library ? (int (*)(int *)) dlsym(library, "ncclGetVersion") : NULL;
	if (count == MAP_FAILED || !call)
		return 3;
	__atomic_fetch_add(&count[1], 1, __ATOMIC_SEQ_CST);
	/* Not for ever: a recorder may fail. */
	for (i = 0; argc == 6 && count[1] < atoi(argv[5]) && i < 60000; i++)
		usleep(1000);
	for (i = 0; i < atoi(argv[3]); i++) {
		call(&version);
		*count = i + 1;
		usleep((useconds_t) atoi(argv[4]));
	}
	return 10 + (rank ? atoi(rank) : 0);
}
