/* SPDX-License-Identifier: MIT */
/* What sockets.c exports besides libc's functions. */
#ifndef TAP_BENCH_SOCKETS_H
#define TAP_BENCH_SOCKETS_H

#include <sys/types.h>

extern int bench_socket; /* the descriptor whose calls do nothing */

#endif
