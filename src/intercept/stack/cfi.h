/* SPDX-License-Identifier: MIT */
/*
 * Finds a function's caller by the function's unwind table: the call frame information in
 * .eh_frame, which a compiler writes for every function that can be on the stack.
 *
 * It hides the encoding, and what a stack walk does not need: it follows only the stack
 * pointer, the frame pointer and the return address.  It calls no function and allocates
 * nothing, so it can be used anywhere.
 */
#ifndef TAP_INTERCEPT_STACK_CFI_H
#define TAP_INTERCEPT_STACK_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "intercept/dl/libraries.h"

/*
 * How to compute the caller's registers from those at one place in the code.  The
 * canonical frame address (CFA) is what the stack pointer is after the return.  A call
 * writes the return address to the word below it (x86-64), or leaves it in a register
 * that the function saves beside the frame pointer (AArch64).
 */
struct tap_cfi_rule {
	int32_t cfa_offset;
	int16_t fp_offset; /* in units of TAP_CFI_UNIT bytes */
	uint8_t cfa;	   /* enum tap_cfi_cfa */
	uint8_t fp;	   /* enum tap_cfi_fp */
};

enum tap_cfi_cfa {
	TAP_CFA_UNKNOWN, /* no table covers the place, or the rule is not one of these */
	TAP_CFA_SP,	 /* the stack pointer + cfa_offset */
	TAP_CFA_FP,	 /* the frame pointer + cfa_offset */
	TAP_CFA_AT_FP,	 /* the word at the frame pointer + cfa_offset: the function
			    realigned the stack */
	TAP_CFA_SIGNAL,	 /* the stack pointer points to what a signal saved */
	TAP_CFA_START,	 /* no caller: a thread or program starts here */
};

enum tap_cfi_fp {
	TAP_FP_SAME,  /* AArch64: and the return address is in its register */
	TAP_FP_AT_CFA, /* saved at CFA + fp_offset; AArch64: the return address behind it */
	TAP_FP_AT_FP,  /* saved at the frame pointer + fp_offset */
	TAP_FP_SAME_RA_AT_CFA, /* the return address alone is saved, at CFA + fp_offset */
};

#ifdef __aarch64__
/* The frame pointer is saved at the lower end of the frame, which may be large. */
#define TAP_CFI_UNIT 8
#else
#define TAP_CFI_UNIT 1
#endif

/* The rule at the instruction that holds pc; TAP_CFA_UNKNOWN where there is none. */
struct tap_cfi_rule tap_cfi_find(const struct tap_cfi_tables *tables,
				 uintptr_t pc) tap_hidden;

/* Whether the function has a conventional frame pointer at that place. */
static inline bool tap_cfi_is_frame_pointer(struct tap_cfi_rule rule)
{
#ifdef __aarch64__
	return rule.cfa == TAP_CFA_FP && rule.fp == TAP_FP_AT_CFA;
#else
	return rule.cfa == TAP_CFA_FP && rule.cfa_offset == 16 &&
	       rule.fp == TAP_FP_AT_CFA && rule.fp_offset == -16;
#endif
}

#endif
