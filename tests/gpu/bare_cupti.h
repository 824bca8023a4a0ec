/* SPDX-License-Identifier: MIT */
/*
 * A client of CUPTI that asks for what a tracer of kernels asks for and throws away what
 * it is given: what that costs a program is CUPTI's own share, whoever traces.
 */
#ifndef GPU_BARE_CUPTI_H
#define GPU_BARE_CUPTI_H

/* Before cuInit().  `path` is that of libcupti; the program ends where it refuses. */
void begin_bare_cupti(const char *path);

/* Has it hand over all records; how many bytes of them there were since the start. */
unsigned long end_bare_cupti(void);

#endif
