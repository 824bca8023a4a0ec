/* SPDX-License-Identifier: MIT */
/*
 * The cheapest send() and recv(): on one descriptor they move all that is asked for and do
 * nothing.  What is left when a call is timed is the cost of calling it.
 */
#include "sockets.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int bench_socket = -1;

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	if (fd != bench_socket)
		return syscall(SYS_sendto, fd, data, size, flags, NULL, 0);
	__asm__ volatile("" : : "r"(data) : "memory");
	return (ssize_t) size;
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	if (fd != bench_socket)
		return syscall(SYS_recvfrom, fd, data, size, flags, NULL, NULL);
	__asm__ volatile("" : : "r"(data) : "memory");
	return (ssize_t) size;
}
