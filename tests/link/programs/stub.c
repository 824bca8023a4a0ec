/* SPDX-License-Identifier: MIT */
/*
 * A stub as XLA's for NCCL: trampolines that look a function up once, keep what they
 * were given, and jump there with the arguments as they came.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

int stub_version(int *version);
void *stub_cached(void);
void *stub_resolve(void);

static void *cached __attribute__((used));

void *stub_cached(void)
{
	return cached;
}

void *stub_resolve(void)
{
	void *library = dlopen("copy1.so", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		abort();
	cached = dlsym(library, "ncclGetVersion");
	return cached;
}

#if defined(__x86_64__)
__asm__(".text\n"
	".globl stub_version\n"
	".type stub_version, @function\n"
	"stub_version:\n"
	"	movq cached(%rip), %rax\n"
	"	testq %rax, %rax\n"
	"	jnz 1f\n"
	"	pushq %rdi\n"
	"	call stub_resolve@PLT\n"
	"	popq %rdi\n"
	"1:	jmp *%rax\n"
	".size stub_version, .-stub_version\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl stub_version\n"
	".type stub_version, %function\n"
	"stub_version:\n"
	"	adrp x16, cached\n"
	"	ldr x16, [x16, #:lo12:cached]\n"
	"	cbnz x16, 1f\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	str x0, [sp, #16]\n"
	"	bl stub_resolve\n"
	"	mov x16, x0\n"
	"	ldr x0, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"1:	br x16\n"
	".size stub_version, .-stub_version\n");
#endif
