/* SPDX-License-Identifier: MIT */
/*
 * Reads .eh_frame as specified by the Linux Standard Base and DWARF 5, section 6.4: a
 * sorted table leads to the function's entry, whose instructions are run up to pc.
 */
#include "intercept/stack/cfi.h"

#include <stddef.h>
#include <string.h>

/* Pointer encodings: the format, and what the value is relative to. */
enum { ENC_ABSOLUTE = 0x00, ENC_UDATA4 = 0x03, ENC_SDATA4 = 0x0b, ENC_SDATA8 = 0x0c };
enum { ENC_FORMAT = 0x0f, ENC_PCREL = 0x10, ENC_DATAREL = 0x30, ENC_OMIT = 0xff };

/* DWARF's numbers of the registers that are followed. */
#if defined(__x86_64__)
enum { DWARF_FP = 6, DWARF_SP = 7, DWARF_RA = 16 };
#elif defined(__aarch64__)
enum { DWARF_FP = 29, DWARF_SP = 31, DWARF_RA = 30 };
#endif

/* The first three hold an operand in their low six bits. */
enum {
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	/* AArch64: the return address is signed from here on, or no longer. */
	CFA_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
};

/* The operations in the one kind of expression that compilers write for a CFA. */
enum { OP_DEREF = 0x06, OP_BREG_FP = 0x70 + DWARF_FP };

/* Nested CFA_REMEMBER_STATE; compilers nest one. */
#define STATES 8

/* A part of the tables; is_bad after a read that did not fit. */
struct reader {
	const uint8_t *at, *end;
	bool is_bad;
};

static uint64_t read_bytes(struct reader *r, unsigned size)
{
	uint64_t value = 0;

	if (r->end - r->at < (ptrdiff_t) size) {
		r->is_bad = true;
		r->at = r->end;
		return 0;
	}
	memcpy(&value, r->at, size);
	r->at += size;
	return value;
}

static uint64_t read_leb(struct reader *r, bool is_signed)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = read_bytes(r, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		value |= ~UINT64_C(0) << shift;
	return value;
}

static uint64_t read_uleb(struct reader *r)
{
	return read_leb(r, false);
}

static int64_t read_sleb(struct reader *r)
{
	return (int64_t) read_leb(r, true);
}

/* Reads a block, which begins with its length; r continues behind it. */
static struct reader read_block(struct reader *r)
{
	const uint64_t length = read_uleb(r);
	struct reader block = {.at = r->at, .end = r->at};

	if (length > (uint64_t) (r->end - r->at)) {
		r->is_bad = true;
	} else {
		block.end = r->at + length;
		r->at = block.end;
	}
	return block;
}

static uint64_t read_pointer(struct reader *r, uint8_t encoding)
{
	const uintptr_t place = (uintptr_t) r->at;
	uint64_t value;

	switch (encoding & ENC_FORMAT) {
	case ENC_UDATA4:
		value = read_bytes(r, 4);
		break;
	case ENC_SDATA4:
		value = (uint64_t) (int64_t) (int32_t) read_bytes(r, 4);
		break;
	case ENC_ABSOLUTE:
	case ENC_SDATA8:
		value = read_bytes(r, 8);
		break;
	default:
		r->is_bad = true;
		return 0;
	}
	switch (encoding & ~ENC_FORMAT & 0x7f) {
	case 0:
		return value;
	case ENC_PCREL:
		return value + place;
	}
	r->is_bad = true;
	return 0;
}

/* Reads an entry of .eh_frame, which its length precedes. */
static struct reader read_entry(const struct tap_cfi_tables *tables, uintptr_t at)
{
	struct reader r = {.at = (const uint8_t *) at,
			   .end = (const uint8_t *) tables->end};
	uint64_t length;

	if (at < tables->start || at >= tables->end) {
		r.end = r.at;
		r.is_bad = true;
		return r;
	}
	length = read_bytes(&r, 4);
	/* 0 ends the section; the long form is for sections above 4 GiB. */
	if (!length || length == UINT32_MAX || length > (uint64_t) (r.end - r.at))
		r.is_bad = true;
	else
		r.end = r.at + length;
	return r;
}

/* The common part of entries (CIE). */
struct common {
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t pointers; /* encoding of pointers */
	bool has_length;  /* FDEs have a block of augmentation data, which is skipped */
	bool is_signal;
	struct reader program;
};

static bool read_common(const struct tap_cfi_tables *tables, uintptr_t at,
			struct common *ret)
{
	struct reader r = read_entry(tables, at), more = {0};
	const char *letters;
	uint64_t version;

	*ret = (struct common){.pointers = ENC_ABSOLUTE};
	if (read_bytes(&r, 4)) /* a pointer to a CIE: this is an FDE */
		return false;
	version = read_bytes(&r, 1);
	letters = (const char *) r.at;
	while (read_bytes(&r, 1))
		;
	ret->code_factor = read_uleb(&r);
	ret->data_factor = read_sleb(&r);
	if ((version == 1 ? read_bytes(&r, 1) : read_uleb(&r)) != DWARF_RA || r.is_bad ||
	    (version != 1 && version != 3))
		return false;
	if (*letters == 'z') {
		ret->has_length = true;
		more = read_block(&r);
		letters++;
	}
	for (; *letters && !more.is_bad; letters++)
		switch (*letters) {
		case 'R':
			ret->pointers = (uint8_t) read_bytes(&more, 1);
			break;
		case 'L':
			read_bytes(&more, 1);
			break;
		case 'P':
			read_pointer(&more, (uint8_t) (read_bytes(&more, 1) & ~0x80));
			break;
		case 'S':
			ret->is_signal = true;
			break;
		case 'B': /* AArch64: which key signs return addresses */
		case 'G': /* AArch64: frames are tagged */
			break;
		default:
			return false;
		}
	ret->program = r;
	return !r.is_bad && !more.is_bad;
}

/* The register rules after the instructions run so far. */
struct state {
	struct tap_cfi_rule rule;
	bool is_cfa_other; /* uses a register or an expression that is not supported */
	bool is_fp_other;
	enum { RA_SAME, RA_AT_CFA, RA_NONE, RA_OTHER } ra;
	int64_t ra_offset;
};

static void set_cfa(struct state *s, uint64_t reg, int64_t offset)
{
	s->is_cfa_other =
		(reg != DWARF_SP && reg != DWARF_FP) || offset != (int32_t) offset;
	s->rule.cfa = reg == DWARF_FP ? TAP_CFA_FP : TAP_CFA_SP;
	s->rule.cfa_offset = (int32_t) offset;
}

static void set_cfa_offset(struct state *s, int64_t offset)
{
	s->is_cfa_other |= s->rule.cfa == TAP_CFA_AT_FP || offset != (int32_t) offset;
	s->rule.cfa_offset = (int32_t) offset;
}

static void set_fp_offset(struct state *s, int64_t offset)
{
	s->rule.fp_offset = (int16_t) (offset / TAP_CFI_UNIT);
	s->is_fp_other = (int64_t) s->rule.fp_offset * TAP_CFI_UNIT != offset;
}

static void set_saved(struct state *s, uint64_t reg, int64_t offset)
{
	if (reg == DWARF_FP) {
		s->rule.fp = TAP_FP_AT_CFA;
		set_fp_offset(s, offset);
	} else if (reg == DWARF_RA) {
		s->ra = RA_AT_CFA;
		s->ra_offset = offset;
	}
}

static void set_same(struct state *s, uint64_t reg)
{
	if (reg == DWARF_FP) {
		s->rule.fp = TAP_FP_SAME;
		s->is_fp_other = false;
	} else if (reg == DWARF_RA) {
		s->ra = RA_SAME;
	}
}

static void set_other(struct state *s, uint64_t reg)
{
	if (reg == DWARF_FP)
		s->is_fp_other = true;
	else if (reg == DWARF_RA)
		s->ra = RA_OTHER;
}

static void restore(struct state *s, const struct state *initial, uint64_t reg)
{
	if (reg == DWARF_FP) {
		s->rule.fp = initial->rule.fp;
		s->rule.fp_offset = initial->rule.fp_offset;
		s->is_fp_other = initial->is_fp_other;
	} else if (reg == DWARF_RA) {
		s->ra = initial->ra;
		s->ra_offset = initial->ra_offset;
	}
}

/* The function realigned the stack: the CFA is the word at the frame pointer + n. */
static void set_cfa_expression(struct state *s, struct reader block)
{
	int64_t offset = 0;

	s->rule.cfa = TAP_CFA_AT_FP;
	s->is_cfa_other = true;
	if (read_bytes(&block, 1) != OP_BREG_FP)
		return;
	offset = read_sleb(&block);
	s->rule.cfa_offset = (int32_t) offset;
	s->is_cfa_other = read_bytes(&block, 1) != OP_DEREF || block.at != block.end ||
			  block.is_bad || offset != (int32_t) offset;
}

/* Such a function saves the frame pointer at itself + n; other registers are ignored. */
static void set_expression(struct state *s, uint64_t reg, struct reader block)
{
	int64_t offset;

	set_other(s, reg);
	if (reg != DWARF_FP || read_bytes(&block, 1) != OP_BREG_FP)
		return;
	offset = read_sleb(&block);
	s->rule.fp = TAP_FP_AT_FP;
	set_fp_offset(s, offset);
	s->is_fp_other |= block.at != block.end || block.is_bad;
}

struct run {
	const struct common *common;
	uintptr_t location;
	struct state now, initial, kept[STATES];
	unsigned nr_kept;
};

static bool run_extended(struct run *run, struct reader *r, uint8_t code)
{
	const int64_t factor = run->common->data_factor;
	struct state *s = &run->now;
	uint64_t reg;

	switch (code) {
	case CFA_NOP:
		return true;
	case CFA_OFFSET_EXTENDED:
		reg = read_uleb(r);
		set_saved(s, reg, (int64_t) read_uleb(r) * factor);
		return true;
	case CFA_OFFSET_EXTENDED_SF:
		reg = read_uleb(r);
		set_saved(s, reg, read_sleb(r) * factor);
		return true;
	case CFA_RESTORE_EXTENDED:
		restore(s, &run->initial, read_uleb(r));
		return true;
	case CFA_UNDEFINED:
		reg = read_uleb(r);
		set_other(s, reg);
		if (reg == DWARF_RA)
			s->ra = RA_NONE;
		return true;
	case CFA_SAME_VALUE:
		set_same(s, read_uleb(r));
		return true;
	case CFA_REGISTER:
	case CFA_VAL_OFFSET:
		set_other(s, read_uleb(r));
		read_uleb(r);
		return true;
	case CFA_VAL_OFFSET_SF:
		set_other(s, read_uleb(r));
		read_sleb(r);
		return true;
	case CFA_VAL_EXPRESSION:
		set_other(s, read_uleb(r));
		read_block(r);
		return true;
	case CFA_EXPRESSION:
		reg = read_uleb(r);
		set_expression(s, reg, read_block(r));
		return true;
	case CFA_REMEMBER_STATE:
		if (run->nr_kept == STATES)
			return false;
		run->kept[run->nr_kept++] = *s;
		return true;
	case CFA_RESTORE_STATE:
		if (!run->nr_kept)
			return false;
		*s = run->kept[--run->nr_kept];
		return true;
	case CFA_DEF_CFA:
		reg = read_uleb(r);
		set_cfa(s, reg, (int64_t) read_uleb(r));
		return true;
	case CFA_DEF_CFA_SF:
		reg = read_uleb(r);
		set_cfa(s, reg, read_sleb(r) * factor);
		return true;
	case CFA_DEF_CFA_REGISTER:
		set_cfa(s, read_uleb(r), s->rule.cfa_offset);
		return true;
	case CFA_DEF_CFA_OFFSET:
		set_cfa_offset(s, (int64_t) read_uleb(r));
		return true;
	case CFA_DEF_CFA_OFFSET_SF:
		set_cfa_offset(s, read_sleb(r) * factor);
		return true;
	case CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(s, read_block(r));
		return true;
	case CFA_GNU_ARGS_SIZE:
		read_uleb(r);
		return true;
#ifdef __aarch64__
	/* A walk takes a signature off, whether there is one or not. */
	case CFA_NEGATE_RA_STATE:
	case CFA_NEGATE_RA_STATE_WITH_PC:
		return true;
#endif
	}
	return false;
}

/* Runs up to the instruction that holds pc.  Returns false on an unknown instruction. */
static bool run_program(struct run *run, struct reader r, uintptr_t pc)
{
	const uint64_t factor = run->common->code_factor;

	while (r.at < r.end && !r.is_bad) {
		const uint8_t code = (uint8_t) read_bytes(&r, 1);
		const uint8_t operand = code & 0x3f;

		switch (code & 0xc0) {
		case CFA_ADVANCE_LOC:
			run->location += operand * factor;
			break;
		case CFA_OFFSET:
			set_saved(&run->now, operand,
				  (int64_t) read_uleb(&r) * run->common->data_factor);
			break;
		case CFA_RESTORE:
			restore(&run->now, &run->initial, operand);
			break;
		default:
			if (code >= CFA_ADVANCE_LOC1 && code <= CFA_ADVANCE_LOC4)
				run->location +=
					read_bytes(&r, 1u << (code - CFA_ADVANCE_LOC1)) *
					factor;
			else if (!run_extended(run, &r, code))
				return false;
		}
		if (run->location > pc)
			return true;
	}
	return !r.is_bad;
}

/*
 * The entry (FDE) of the function that may hold pc: the last one that begins at or before
 * pc.
 */
static uintptr_t find_entry(const struct tap_cfi_tables *tables, uintptr_t pc)
{
	const uint8_t *header = tables->header;
	struct reader r = {.at = header, .end = (const uint8_t *) tables->end};
	const struct {
		int32_t begin, entry;
	} * table, *low, *middle;
	uint64_t count;
	uint8_t enc[4];
	unsigned i;

	for (i = 0; i < 4; i++)
		enc[i] = (uint8_t) read_bytes(&r, 1);
	/* Version 1 with this encoding, which every linker writes. */
	if (enc[0] != 1 || enc[2] == ENC_OMIT || enc[3] != (ENC_DATAREL | ENC_SDATA4))
		return 0;
	read_pointer(&r, enc[1]);
	count = read_pointer(&r, enc[2]);
	if (r.is_bad || !count || count > (uint64_t) (r.end - r.at) / sizeof(*table))
		return 0;
	table = (const void *) r.at;
	low = table;
	while (count > 1) {
		middle = low + count / 2;
		if ((uintptr_t) header + (uintptr_t) (intptr_t) middle->begin <= pc) {
			low = middle;
			count -= count / 2;
		} else {
			count /= 2;
		}
	}
	return (uintptr_t) header + (uintptr_t) (intptr_t) low->entry;
}

/* Finds where the return address is; false where that is in no rule. */
static bool finish(struct state *s)
{
	if (s->is_cfa_other || s->is_fp_other)
		return false;
#if defined(__x86_64__)
	return s->ra == RA_AT_CFA && s->ra_offset == -8;
#elif defined(__aarch64__)
	if (s->rule.cfa == TAP_CFA_AT_FP || s->rule.fp == TAP_FP_AT_FP)
		return false;
	if (s->ra == RA_SAME)
		return s->rule.fp == TAP_FP_SAME;
	if (s->ra != RA_AT_CFA)
		return false;
	if (s->rule.fp == TAP_FP_SAME) {
		set_fp_offset(s, s->ra_offset);
		s->rule.fp = TAP_FP_SAME_RA_AT_CFA;
		return !s->is_fp_other;
	}
	return s->rule.fp == TAP_FP_AT_CFA &&
	       (int64_t) s->rule.fp_offset * TAP_CFI_UNIT + 8 == s->ra_offset;
#endif
}

struct tap_cfi_rule tap_cfi_find(const struct tap_cfi_tables *tables, uintptr_t pc)
{
	const struct tap_cfi_rule unknown = {.cfa = TAP_CFA_UNKNOWN};
	struct common common;
	struct run run = {.common = &common};
	uintptr_t entry, place;
	uint64_t back, size;
	struct reader r;

	entry = tables->header ? find_entry(tables, pc) : 0;
	if (!entry)
		return unknown;
	r = read_entry(tables, entry);
	place = (uintptr_t) r.at;
	back = read_bytes(&r, 4);
	if (r.is_bad || !back || !read_common(tables, place - back, &common))
		return unknown;
	run.location = read_pointer(&r, common.pointers);
	size = read_pointer(&r, common.pointers & ENC_FORMAT);
	if (common.has_length)
		read_block(&r);
	if (r.is_bad || pc < run.location || pc - run.location >= size)
		return unknown;
	if (common.is_signal)
		return (struct tap_cfi_rule){.cfa = TAP_CFA_SIGNAL};
	if (!run_program(&run, common.program, UINTPTR_MAX))
		return unknown;
	run.initial = run.now;
	if (!run_program(&run, r, pc))
		return unknown;
	if (run.now.ra == RA_NONE)
		return (struct tap_cfi_rule){.cfa = TAP_CFA_START};
	return finish(&run.now) ? run.now.rule : unknown;
}
