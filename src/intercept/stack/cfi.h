/* SPDX-License-Identifier: MIT */
/*
 * Where a function's caller is, as the function's own unwind tables say: the call frame
 * information in .eh_frame, which a compiler writes for every function that can be on
 * the stack.
 *
 * It hides the encoding, and all that is no concern of a walk of the stack: of the
 * registers only rsp, rbp and the return address are followed.  Calls nothing and
 * allocates nothing, so it can be used anywhere.
 */
#ifndef TAP_INTERCEPT_STACK_CFI_H
#define TAP_INTERCEPT_STACK_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "intercept/dl/libraries.h"

/*
 * From the registers at one place in the code to those of its caller.  The canonical
 * frame address (CFA) is what rsp is after the return; the return address lies below it.
 */
struct tap_cfi_rule {
	int32_t cfa_offset;
	int16_t rbp_offset;
	uint8_t cfa; /* enum tap_cfi_cfa */
	uint8_t rbp; /* enum tap_cfi_rbp */
};

enum tap_cfi_cfa {
	TAP_CFA_UNKNOWN, /* no table covers the place, or it says what we do not follow */
	TAP_CFA_RSP,	 /* rsp + cfa_offset */
	TAP_CFA_RBP,	 /* rbp + cfa_offset */
	TAP_CFA_AT_RBP,	 /* what lies at rbp + cfa_offset: the stack was aligned anew */
	TAP_CFA_SIGNAL,	 /* rsp points to what a signal saved */
	TAP_CFA_START,	 /* nobody called this: a thread or program starts here */
};

enum tap_cfi_rbp {
	TAP_RBP_SAME,
	TAP_RBP_AT_CFA, /* saved at CFA + rbp_offset */
	TAP_RBP_AT_RBP, /* saved at rbp + rbp_offset */
};

/* The rule at the instruction that holds pc; TAP_CFA_UNKNOWN where there is none. */
struct tap_cfi_rule tap_cfi_find(const struct tap_cfi_tables *tables,
				 uintptr_t pc) tap_hidden;

/* Whether a function keeps a frame pointer there in the usual way. */
static inline bool tap_cfi_is_frame_pointer(struct tap_cfi_rule rule)
{
	return rule.cfa == TAP_CFA_RBP && rule.cfa_offset == 16 &&
	       rule.rbp == TAP_RBP_AT_CFA && rule.rbp_offset == -16;
}

#endif
