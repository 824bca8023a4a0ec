/* SPDX-License-Identifier: MIT */
/*
 * An oracle for how often each call was made: preloaded, it counts and jumps on,
 * whatever the arguments are, and appends "name count" to the file that
 * COUNT_FILE names when the process ends.  It shares nothing with ccltap.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* clang-format off */
#define NAMES(DO) \
	DO(ncclGetVersion) DO(ncclGetUniqueId) DO(ncclCommInitRank) \
	DO(ncclCommInitRankConfig) DO(ncclCommInitAll) DO(ncclCommSplit) \
	DO(ncclCommFinalize) DO(ncclCommDestroy) DO(ncclCommAbort) DO(ncclCommCount) \
	DO(ncclCommCuDevice) DO(ncclCommUserRank) DO(ncclCommGetAsyncError) \
	DO(ncclGetErrorString) DO(ncclGetLastError) DO(ncclAllReduce) DO(ncclBroadcast) \
	DO(ncclBcast) DO(ncclReduce) DO(ncclAllGather) DO(ncclReduceScatter) DO(ncclSend) \
	DO(ncclRecv) DO(ncclGroupStart) DO(ncclGroupEnd) DO(ncclMemAlloc) DO(ncclMemFree) \
	DO(ncclCommRegister) DO(ncclCommDeregister)

/* Adds one, and jumps on with the arguments as they came. */
#if defined(__x86_64__)
#define COUNT_JUMP(name) "\tlock incq count_" name "(%rip)\n\tjmp *real_" name "(%rip)\n"
#elif defined(__aarch64__)
#define COUNT_JUMP(name) \
	"\tadrp x16, count_" name "\n\tadd x16, x16, #:lo12:count_" name "\n" \
	"1:\tldxr x17, [x16]\n\tadd x17, x17, #1\n\tstxr w15, x17, [x16]\n" \
	"\tcbnz w15, 1b\n\tadrp x16, real_" name "\n\tldr x16, [x16, #:lo12:real_" name "]\n" \
	"\tbr x16\n"
#endif

#define COUNT(name) \
	void *real_##name; \
	unsigned long count_##name; \
	__asm__(".globl " #name "\n.type " #name ", %function\n" #name ":\n" COUNT_JUMP(#name));
#pragma GCC visibility push(hidden)
NAMES(COUNT)
#pragma GCC visibility pop
/* clang-format on */

__attribute__((constructor)) static void start(void)
{
#define FIND(name) real_##name = dlsym(RTLD_NEXT, #name);
	NAMES(FIND)
}

__attribute__((destructor)) static void finish(void)
{
	const char *path = getenv("COUNT_FILE");
	const int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;

	if (fd < 0)
		return;
#define WRITE(name) \
	if (count_##name) \
		dprintf(fd, "%s %lu\n", #name, count_##name);
	NAMES(WRITE)
	close(fd);
}
