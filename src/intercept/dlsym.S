/* SPDX-License-Identifier: MIT */
/*
 * dlsym() and dlvsym(): call tap_lookup(), and if it returns NULL jump to the real function
 * with the original stack and return address, so that glibc finds the program's caller.
 */
	.text

#if defined(__x86_64__)

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

#elif defined(__aarch64__)

.macro STUB name, real
	.globl	\name
	.type	\name, %function
	.p2align 4
\name:
	.cfi_startproc
	hint	#34			/* bti c */
	stp	x29, x30, [sp, #-48]!
	.cfi_def_cfa_offset 48
	.cfi_offset x29, -48
	.cfi_offset x30, -40
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	str	x2, [sp, #32]
	mov	x3, x30			/* the return address: the caller */
.ifc \name, dlsym
	mov	x2, xzr			/* no version */
.endif
	bl	tap_lookup
	cbnz	x0, 1f
	adrp	x16, \real
	ldr	x16, [x16, #:lo12:\real]
	cbz	x16, 1f			/* no libc was found: return NULL */
	ldr	x2, [sp, #32]
	ldp	x0, x1, [sp, #16]
	ldp	x29, x30, [sp], #48
	.cfi_remember_state
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	br	x16			/* the register that "bti c" of the real one takes */
1:	.cfi_restore_state
	ldp	x29, x30, [sp], #48
	.cfi_restore x30
	.cfi_restore x29
	.cfi_def_cfa_offset 0
	ret
	.cfi_endproc
	.size	\name, . - \name
.endm

#else
#error "no stub of dlsym() for this processor"
#endif

	STUB dlsym, tap_real_dlsym_at
	STUB dlvsym, tap_real_dlvsym_at

	/* Says that each function begins with the mark of an indirect branch's target. */
	.section .note.gnu.property, "a"
	.p2align 3
	.long	4, 16, 5
	.asciz	"GNU"
#if defined(__x86_64__)
	.long	0xc0000002, 4, 3, 0
#else
	.long	0xc0000000, 4, 1, 0
#endif

	.section .note.GNU-stack, "", %progbits
