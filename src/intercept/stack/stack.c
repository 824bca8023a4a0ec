/* SPDX-License-Identifier: MIT */
/*
 * Walks stacks, and keeps the tables that shorten the second walk of the same stack.
 */
#include "intercept/stack/stack.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "common/lock.h"
#include "common/safe_read.h"
#include "common/thread.h"
#include "intercept/dl/libraries.h"
#include "intercept/layer.h"
#include "intercept/stack/cfi.h"
#include "intercept/trace.h"

#define DEPTH_MAX TAP_STACK_DEPTH_MAX

/* Known return addresses: twice as many as a large program has on its stacks. */
#define PLACE_BITS 13
#define NR_PLACES (1u << PLACE_BITS)

/* Different stacks, and their frames; two hash slots for each stack. */
#define NR_STACKS 4096u
#define NR_SLOTS (2 * NR_STACKS)
#define NR_FRAMES (NR_STACKS * 24)

/* Call sites whose last stack is remembered. */
#define CALLER_BITS 10

#define PAGE ((uintptr_t) 4096)
/* Pages that one walk may probe to extend the known part of the stack. */
#define PAGES_MAX 64

unsigned tap_stack_depth;

/*
 * A frame: its return address and the number of its library, 0 for none, in one word.
 * Addresses of code have at most 48 bits (AArch64), and there are 512 libraries.
 */
#define LIBRARY_BITS 16

static uintptr_t address_of(uint64_t frame)
{
	return frame >> LIBRARY_BITS;
}

static uint32_t library_of(uint64_t frame)
{
	return frame & ((1u << LIBRARY_BITS) - 1);
}

/* ---- Places: the unwind rules of return addresses ---- */

/*
 * All threads read and write it without a lock.  check is frame ^ rule, so that a reader
 * detects halves of two different entries.
 */
static struct place {
	uint64_t check, rule;
} places[NR_PLACES];

union packed_rule {
	struct tap_cfi_rule rule;
	uint64_t word;
};
_Static_assert(sizeof(struct tap_cfi_rule) == sizeof(uint64_t), "a rule is one word");

static unsigned hash_of_address(uintptr_t address, unsigned bits)
{
	return (unsigned) ((address * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits));
}

static struct place *place_of(uintptr_t address)
{
	return &places[hash_of_address(address, PLACE_BITS)];
}

#ifdef __aarch64__
/*
 * The kernel's code to which a signal handler returns has no table: unwinders know it by
 * its two instructions, mov x8, #__NR_rt_sigreturn and svc #0.
 */
static bool is_signal_return(uintptr_t address)
{
	uint32_t code[2];

	return tap_safe_read(code, (const void *) address, sizeof(code)) &&
	       code[0] == 0xd2801168 && code[1] == 0xd4000001;
}
#endif

tap_cold static uint64_t learn(uintptr_t address, struct tap_cfi_rule *ret_rule)
{
	union packed_rule packed = {.rule = {.cfa = TAP_CFA_UNKNOWN}};
	struct place *place = place_of(address);
	struct tap_cfi_tables tables;
	uint64_t offset, frame;
	uint32_t library;

	/* The instruction before the return address is the call. */
	library = tap_library_of((const void *) (address - 1), &offset);
	if (library && tap_library_has_code(library, address - 1)) {
		tables = tap_library_unwind(library);
		packed.rule = tap_cfi_find(&tables, address - 1);
	}
#ifdef __aarch64__
	if (packed.rule.cfa == TAP_CFA_UNKNOWN && is_signal_return(address))
		packed.rule.cfa = TAP_CFA_SIGNAL;
#endif
	frame = (uint64_t) address << LIBRARY_BITS | library;
	*ret_rule = packed.rule;
	/* A library without a number now may get one later: do not cache. */
	if (!library && tap_library_loaded((const void *) (address - 1)))
		return frame;
	__atomic_store_n(&place->rule, packed.word, __ATOMIC_RELAXED);
	__atomic_store_n(&place->check, frame ^ packed.word, __ATOMIC_RELAXED);
	return frame;
}

/* Fills in the rule that leads to the next frame; returns the frame. */
static inline uint64_t look_up(uintptr_t address, struct tap_cfi_rule *ret_rule)
{
	const struct place *place = place_of(address);
	union packed_rule packed = {
		.word = __atomic_load_n(&place->rule, __ATOMIC_RELAXED)};
	const uint64_t frame =
		__atomic_load_n(&place->check, __ATOMIC_RELAXED) ^ packed.word;
	const uint32_t library = library_of(frame);

	/* The library may have been replaced by another one. */
	if (likely(address_of(frame) == address &&
		   (!library || tap_library_has_code(library, address - 1)))) {
		*ret_rule = packed.rule;
		return frame;
	}
	return learn(address, ret_rule);
}

/* ---- Reading the stack ---- */

/*
 * The range of the thread's stack that was read before is mapped; each page beyond is
 * probed once.  So a walk of a damaged stack cannot fault.
 */
tap_cold static bool extend(uintptr_t sp, uintptr_t address)
{
	struct tap_thread *t = &tap_thread;
	unsigned pages;

	if (sp < t->stack_low && t->stack_low - sp < PAGES_MAX * PAGE) {
		for (pages = 0; t->stack_low > sp && tap_safe_page(t->stack_low - 1);
		     pages++)
			t->stack_low = (t->stack_low - 1) & -PAGE;
	}
	if (sp < t->stack_low || sp >= t->stack_high) {
		t->stack_low = sp & -PAGE;
		t->stack_high = t->stack_low + PAGE;
	}
	for (pages = 0; t->stack_high < address + 8; pages++) {
		if (pages == PAGES_MAX)
			return tap_safe_page(address) && tap_safe_page(address + 7);
		if (!tap_safe_page(t->stack_high))
			return false;
		t->stack_high += PAGE;
	}
	return true;
}

static inline bool read_word(uintptr_t sp, uintptr_t address, uintptr_t *ret_word)
{
	const struct tap_thread *t = &tap_thread;

	/* Below sp are frames that have returned. */
	if (address < sp || address > UINTPTR_MAX - 8)
		return false;
	if (unlikely(sp < t->stack_low || address + 8 > t->stack_high) &&
	    !extend(sp, address))
		return false;
	*ret_word = *(const uintptr_t *) address;
	return true;
}

/* ---- Walking ---- */

struct registers {
	uintptr_t pc, sp, fp;
#ifdef __aarch64__
	uintptr_t lr; /* the return address, where a function has not saved it; else 0 */
#endif
};

struct walk {
	uint64_t frames[DEPTH_MAX];
	struct tap_cfi_rule rules[DEPTH_MAX];
	unsigned nr;
	unsigned frame_pointers; /* steps that used a frame pointer */
	enum tap_stack_end end;
};

/*
 * A signal may interrupt the thread at any instruction: the saved address is not a return
 * address, so 1 is added to make it look like one.
 */
static bool step_over_signal(struct registers *regs)
{
	struct registers next;
#if defined(__x86_64__)
	const ucontext_t *saved = (const ucontext_t *) regs->sp;
	const greg_t *from = saved->uc_mcontext.gregs;

	if (!read_word(regs->sp, (uintptr_t) &from[REG_RIP], &next.pc) ||
	    !read_word(regs->sp, (uintptr_t) &from[REG_RSP], &next.sp) ||
	    !read_word(regs->sp, (uintptr_t) &from[REG_RBP], &next.fp))
		return false;
#elif defined(__aarch64__)
	const ucontext_t *saved = (const ucontext_t *) (regs->sp + sizeof(siginfo_t));
	const mcontext_t *from = &saved->uc_mcontext;

	if (!read_word(regs->sp, (uintptr_t) &from->pc, &next.pc) ||
	    !read_word(regs->sp, (uintptr_t) &from->sp, &next.sp) ||
	    !read_word(regs->sp, (uintptr_t) &from->regs[29], &next.fp) ||
	    !read_word(regs->sp, (uintptr_t) &from->regs[30], &next.lr))
		return false;
#endif
	next.pc++;
	*regs = next;
	return true;
}

#if defined(__x86_64__)
/* Goes from a frame to its caller; false where the stack is inconsistent. */
static inline bool step(struct registers *regs, struct tap_cfi_rule rule)
{
	uintptr_t cfa = (uintptr_t) (intptr_t) rule.cfa_offset;
	uintptr_t saved = (uintptr_t) (intptr_t) rule.fp_offset;
	const uintptr_t sp = regs->sp;

	if (unlikely(rule.cfa == TAP_CFA_SIGNAL))
		return step_over_signal(regs);
	/* Most functions are of this or the next kind; the branch is well predicted. */
	if (tap_cfi_is_frame_pointer(rule)) {
		cfa = regs->fp + 16;
		regs->sp = cfa;
		return cfa > sp && read_word(sp, cfa - 8, &regs->pc) &&
		       read_word(sp, cfa - 16, &regs->fp);
	}
	cfa += rule.cfa == TAP_CFA_SP ? sp : regs->fp;
	if (unlikely(rule.cfa == TAP_CFA_AT_FP) && !read_word(sp, cfa, &cfa))
		return false;
	/* A call always uses some of the stack. */
	if (cfa <= sp)
		return false;
	saved += rule.fp == TAP_FP_AT_CFA ? cfa : regs->fp;
	if (!read_word(sp, cfa - 8, &regs->pc) ||
	    (rule.fp != TAP_FP_SAME && !read_word(sp, saved, &regs->fp)))
		return false;
	regs->sp = cfa;
	return true;
}
#elif defined(__aarch64__)
/* Where an address is signed, the signature is in the bits that it does not need. */
static uintptr_t without_signature(uintptr_t address)
{
	return address & ((UINT64_C(1) << 48) - 1);
}

static inline bool step(struct registers *regs, struct tap_cfi_rule rule)
{
	const uintptr_t sp = regs->sp;
	const uintptr_t cfa = (uintptr_t) (intptr_t) rule.cfa_offset +
			      (rule.cfa == TAP_CFA_FP ? regs->fp : sp);
	const uintptr_t saved =
		cfa + (uintptr_t) ((intptr_t) rule.fp_offset * TAP_CFI_UNIT);
	uintptr_t pc = regs->lr;

	if (unlikely(rule.cfa == TAP_CFA_SIGNAL))
		return step_over_signal(regs);
	if (unlikely(rule.fp == TAP_FP_SAME)) {
		/* The innermost function, or one that a signal interrupted. */
		if (!pc || cfa < sp)
			return false;
	} else if (rule.fp == TAP_FP_AT_CFA) {
		if (cfa <= sp || !read_word(sp, saved + 8, &pc) ||
		    !read_word(sp, saved, &regs->fp))
			return false;
	} else if (rule.fp != TAP_FP_SAME_RA_AT_CFA || cfa <= sp ||
		   !read_word(sp, saved, &pc)) {
		return false;
	}
	regs->pc = without_signature(pc);
	regs->sp = cfa;
	regs->lr = 0;
	return true;
}
#endif

/*
 * Goes on to the caller; returns why the stack ends here, TAP_STACK_DEPTH if it does not
 * end.
 */
static inline enum tap_stack_end go_on(struct registers *regs, struct tap_cfi_rule rule)
{
	if (unlikely(rule.cfa == TAP_CFA_START))
		return TAP_STACK_START;
	if (unlikely(rule.cfa == TAP_CFA_UNKNOWN || !step(regs, rule)))
		return TAP_STACK_LOST;
	/* Some start functions mark the end by a return address of 0. */
	return likely(regs->pc) ? TAP_STACK_DEPTH : TAP_STACK_START;
}

static void walk(struct walk *w, struct registers regs)
{
	w->nr = w->frame_pointers = 0;
	do {
		struct tap_cfi_rule *rule = &w->rules[w->nr];

		w->frames[w->nr++] = look_up(regs.pc, rule);
		w->end = go_on(&regs, *rule);
		w->frame_pointers += tap_cfi_is_frame_pointer(*rule);
	} while (w->end == TAP_STACK_DEPTH && w->nr < tap_stack_depth);
}

#if defined(__x86_64__)
/*
 * Finds the program's registers at its call of the wrapper: all functions of the tracer
 * have frame pointers, if compiled as intended, and the outermost one returns to caller.
 */
static bool find_program(struct registers *ret_regs, const void *caller)
{
	uintptr_t frame = (uintptr_t) __builtin_frame_address(0), next;
	unsigned tries;

	for (tries = 0; tries < 8; tries++) {
		if (!read_word(frame, frame + 8, &ret_regs->pc) ||
		    !read_word(frame, frame, &next))
			return false;
		if (ret_regs->pc == (uintptr_t) caller) {
			ret_regs->sp = frame + 16;
			ret_regs->fp = next;
			return true;
		}
		if (next <= frame)
			return false;
		frame = next;
	}
	return false;
}
#elif defined(__aarch64__)
/*
 * Finds the program's registers at its call of the wrapper, by the unwind tables of our own
 * functions: a frame pointer alone does not tell where the caller's frame begins.
 */
static bool find_program(struct registers *ret_regs, const void *caller)
{
	struct registers regs;
	struct tap_cfi_rule rule;
	unsigned tries;

	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30"
			 : "=&r"(regs.pc), "=&r"(regs.sp), "=&r"(regs.fp),
			   "=&r"(regs.lr));
	regs.pc++; /* as if it were a return address */
	for (tries = 0; tries < 8; tries++) {
		look_up(regs.pc, &rule);
		if (go_on(&regs, rule) != TAP_STACK_DEPTH)
			return false;
		if (regs.pc == (uintptr_t) caller) {
			*ret_regs = regs;
			return true;
		}
	}
	return false;
}
#endif

/* ---- Known stacks ---- */

/* stacks[i] has the number i + 1. */
static struct stack {
	uint32_t hash;
	uint32_t first;	  /* index in frames */
	uint32_t unloads; /* tap_library_unloads when it was walked */
	uint8_t nr, frame_pointers, end;
} stacks[NR_STACKS];
static unsigned nr_stacks;
static struct frame {
	uint64_t word;
	struct tap_cfi_rule rule;
} frames[NR_FRAMES];
static unsigned nr_frames;
/* Numbers of stacks by their hash, written after the stack; 0: free. */
static uint32_t slots[NR_SLOTS];
/* Guards appending alone; a call that cannot take it soon gets no stack number. */
static struct tap_lock lock;
static bool has_reported_full, has_reported_frames;

static uint32_t hash_of(const struct walk *w)
{
	uint64_t hash = w->end;
	unsigned i;

	for (i = 0; i < w->nr; i++)
		hash = (hash ^ w->frames[i]) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t) (hash >> 32);
}

static bool is_same(const struct stack *s, const struct walk *w, uint32_t hash)
{
	unsigned i;

	if (s->hash != hash || s->nr != w->nr || s->end != w->end)
		return false;
	for (i = 0; i < w->nr && frames[s->first + i].word == w->frames[i]; i++)
		;
	return i == w->nr;
}

/*
 * Whether the thread is on this stack.  The rules of its frames are stored here, so the
 * processor need not load one address to find the rule of the next.
 */
static bool is_on(const struct stack *s, struct registers regs)
{
	const struct frame *frame = &frames[s->first], *end = frame + s->nr;
	enum tap_stack_end why;

	/* A library may have been replaced by another one. */
	if (__atomic_load_n(&s->unloads, __ATOMIC_RELAXED) !=
	    __atomic_load_n(&tap_library_unloads, __ATOMIC_RELAXED))
		return false;
	for (;;) {
		if (address_of(frame->word) != regs.pc)
			return false;
		why = go_on(&regs, frame->rule);
		if (++frame == end)
			return why == s->end;
		if (why != TAP_STACK_DEPTH)
			return false;
	}
}

/* The stack's number, or 0 and a free slot for it. */
static uint32_t find(const struct walk *w, uint32_t hash, uint32_t **ret_slot)
{
	unsigned i = hash % NR_SLOTS;
	uint32_t number;

	/* Half of the slots stay free. */
	for (;; i = (i + 1) % NR_SLOTS) {
		*ret_slot = &slots[i];
		number = __atomic_load_n(&slots[i], __ATOMIC_ACQUIRE);
		if (!number || is_same(&stacks[number - 1], w, hash))
			return number;
	}
}

static void write_stack(unsigned i, void (*write)(const struct tap_stack *))
{
	const struct stack *s = &stacks[i];
	uint64_t offsets[DEPTH_MAX];
	uint16_t libraries[DEPTH_MAX];
	const struct tap_stack about = {.stack_id = i + 1,
					.end = (enum tap_stack_end) s->end,
					.frame_pointers = s->frame_pointers,
					.nr_frames = s->nr,
					.libraries = libraries,
					.offsets = offsets};
	unsigned k;

	for (k = 0; k < s->nr; k++) {
		const uint64_t frame = frames[s->first + k].word;
		const uint32_t library = library_of(frame);

		libraries[k] = (uint16_t) library;
		offsets[k] =
			address_of(frame) - (library ? tap_library_address(library) : 0);
	}
	write(&about);
}

/* Under the lock.  Writes the event before any thread can use the number. */
static uint32_t append(const struct walk *w, uint32_t unloads, uint32_t hash,
		       uint32_t *slot)
{
	const unsigned i = nr_stacks;
	unsigned k;

	if (i == NR_STACKS || nr_frames + w->nr > NR_FRAMES) {
		if (!has_reported_full)
			tap_problem("not recorded", "stacks: there are too many", 1);
		has_reported_full = true;
		return 0;
	}
	stacks[i] = (struct stack){.hash = hash,
				   .first = nr_frames,
				   .unloads = unloads,
				   .nr = (uint8_t) w->nr,
				   .frame_pointers = (uint8_t) w->frame_pointers,
				   .end = (uint8_t) w->end};
	for (k = 0; k < w->nr; k++)
		frames[nr_frames + k] = (struct frame){w->frames[k], w->rules[k]};
	nr_frames += w->nr;
	write_stack(i, tap_events_table->stack);
	__atomic_store_n(&nr_stacks, i + 1, __ATOMIC_RELEASE);
	__atomic_store_n(slot, i + 1, __ATOMIC_RELEASE);
	return i + 1;
}

tap_cold static uint32_t find_or_append(const struct walk *w, uint32_t unloads,
					uint32_t hash)
{
	uint32_t number, *slot;

	if (!tap_lock_take(&lock))
		return 0;
	number = find(w, hash, &slot); /* Another thread may have been here first. */
	if (!number)
		number = append(w, unloads, hash, slot);
	tap_lock_drop(&lock);
	return number;
}

static tap_apart uint32_t walk_anew(struct registers regs)
{
	const uint32_t unloads = __atomic_load_n(&tap_library_unloads, __ATOMIC_ACQUIRE);
	uint32_t number, hash, *slot;
	struct walk w;

	walk(&w, regs);
	hash = hash_of(&w);
	number = find(&w, hash, &slot);
	if (!number)
		return find_or_append(&w, unloads, hash);
	__atomic_store_n(&stacks[number - 1].unloads, unloads, __ATOMIC_RELAXED);
	return number;
}

uint32_t tap_stack_of(const void *caller)
{
	/* The number of the last stack of each call site; usually its only one. */
	static uint32_t last[1u << CALLER_BITS];
	uint32_t *from = &last[hash_of_address((uintptr_t) caller, CALLER_BITS)];
	uint32_t number = __atomic_load_n(from, __ATOMIC_ACQUIRE);
	struct registers regs;

	if (unlikely(!find_program(&regs, caller))) {
		if (!__atomic_exchange_n(&has_reported_frames, true, __ATOMIC_RELAXED))
			tap_problem("not recorded",
				    "stacks: libccltap.so has no frame pointers", 1);
		return 0;
	}
	if (likely(number && is_on(&stacks[number - 1], regs)))
		return number;
	number = walk_anew(regs);
	__atomic_store_n(from, number, __ATOMIC_RELEASE);
	return number;
}

static unsigned write_all(void (*write)(const struct tap_stack *))
{
	const unsigned nr = __atomic_load_n(&nr_stacks, __ATOMIC_ACQUIRE);
	unsigned i;

	for (i = 0; i < nr; i++)
		write_stack(i, write);
	return nr;
}

/* ---- The layer ---- */

/* Reads CCLTAP_STACKS. */
static void prepare(void)
{
	const char *value = getenv("CCLTAP_STACKS");
	unsigned long depth;
	char *end;

	if (!value || !*value)
		return;
	depth = strtoul(value, &end, 10);
	if (*end || depth < 1 || depth > DEPTH_MAX) {
		tap_problem("not recorded",
			    "stacks: CCLTAP_STACKS is no number from 1 to 64", 1);
		return;
	}
	tap_stack_depth = (unsigned) depth;
}

static void announce(void)
{
	write_all(tap_events_table->stack);
}

static void write_statedump(struct tap_state_counts *counts)
{
	counts->stacks = write_all(tap_events_table->statedump_stack);
}

const struct tap_layer tap_layer_stack = {
	.prepare = prepare,
	.announce = announce,
	.write_statedump = write_statedump,
	.lock = &lock,
};
