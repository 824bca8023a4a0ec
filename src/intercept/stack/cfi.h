/* SPDX-License-Identifier: MIT */
/*
 * Finds a function's caller by the function's unwind table: the call frame information in
 * .eh_frame, which a compiler writes for every function that can be on the stack.
 *
 * It hides the encoding, and what a stack walk does not need: it follows only the
 * registers rsp, rbp and the return address.  It calls no function and allocates nothing,
 * so it can be used anywhere.
 */
#ifndef TAP_INTERCEPT_STACK_CFI_H
#define TAP_INTERCEPT_STACK_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "intercept/dl/libraries.h"

/*
 * How to compute the caller's registers from those at one place in the code.  The
 * canonical frame address (CFA) is what rsp is after the return; the return address lies
 * below it.
 */
struct tap_cfi_rule {
	int32_t cfa_offset;
	int16_t rbp_offset;
	uint8_t cfa; /* enum tap_cfi_cfa */
	uint8_t rbp; /* enum tap_cfi_rbp */
};

enum tap_cfi_cfa {
	TAP_CFA_UNKNOWN, /* no table covers the place, or the rule is not one of these */
	TAP_CFA_RSP,	 /* rsp + cfa_offset */
	TAP_CFA_RBP,	 /* rbp + cfa_offset */
	TAP_CFA_AT_RBP,	 /* the word at rbp + cfa_offset: the function realigned the
			    stack */
	TAP_CFA_SIGNAL,	 /* rsp points to the registers that a signal saved */
	TAP_CFA_START,	 /* no caller: a thread or program starts here */
};

enum tap_cfi_rbp {
	TAP_RBP_SAME,
	TAP_RBP_AT_CFA, /* saved at CFA + rbp_offset */
	TAP_RBP_AT_RBP, /* saved at rbp + rbp_offset */
};

/* The rule at the instruction that holds pc; TAP_CFA_UNKNOWN where there is none. */
struct tap_cfi_rule tap_cfi_find(const struct tap_cfi_tables *tables,
				 uintptr_t pc) tap_hidden;

/* Whether the function has a conventional frame pointer at that place. */
static inline bool tap_cfi_is_frame_pointer(struct tap_cfi_rule rule)
{
	return rule.cfa == TAP_CFA_RBP && rule.cfa_offset == 16 &&
	       rule.rbp == TAP_RBP_AT_CFA && rule.rbp_offset == -16;
}

#endif
