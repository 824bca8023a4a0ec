/* SPDX-License-Identifier: MIT */
/*
 * dlsym() and dlvsym() for x86-64: call tap_lookup(), and if it returns NULL jump to the
 * real function with the original stack, so that glibc finds the program's return
 * address.
 */
	.text

.macro STUB name, real
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	movq	24(%rsp), %rcx		/* the return address: the caller */
.ifc \name, dlsym
	xorl	%edx, %edx		/* no version */
.endif
	call	tap_lookup
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jnz	1f
	movq	\real(%rip), %rax
	testq	%rax, %rax
	jz	1f			/* no libc was found: return NULL */
	jmp	*%rax
1:	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

	STUB dlsym, tap_real_dlsym_at
	STUB dlvsym, tap_real_dlvsym_at

	.section .note.gnu.property, "a"	/* says that endbr64 is in place */
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
	.long	0xc0000002, 4, 3, 0

	.section .note.GNU-stack, "", @progbits
