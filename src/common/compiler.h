/* SPDX-License-Identifier: MIT */
/* What we ask of the compiler beyond C, under short names. */
#ifndef TAP_COMMON_COMPILER_H
#define TAP_COMMON_COMPILER_H

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define tap_cold __attribute__((cold, noinline))
#define tap_apart __attribute__((noinline))
/* Begins a cache line, so that it takes as long whatever stands before it. */
#define tap_hot __attribute__((aligned(64)))
#define tap_within __attribute__((always_inline))
#define tap_hidden __attribute__((visibility("hidden")))
#define tap_exported __attribute__((visibility("default")))
#define tap_printf(f, a) __attribute__((format(printf, f, a)))
/* Seen by no compiler warning; the row makes it, not every reader uses it. */
#define tap_maybe_unused __attribute__((unused))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#endif
