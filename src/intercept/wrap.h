/* SPDX-License-Identifier: MIT */
/*
 * The macros that wrappers of all libraries share: NCCL's (nccl/nccl_wrap.h) and the CUDA
 * driver's (cuda/cuda.c).
 *
 * The exported names carry a version that is not their default one, in the first version
 * that the library defines.  The dynamic linker binds references to such a name as to any
 * other, but dlsym() ignores it: a program that looks NCCL up thus learns whether NCCL is
 * loaded (doc/decisions/0002).
 */
#ifndef TAP_INTERCEPT_WRAP_H
#define TAP_INTERCEPT_WRAP_H

#include "common/args.h"

/* clang-format off */

#define TAP_VERSION_NODE "CCLTAP_0"

#define TAP_EXPORT(sym) \
	__asm__(".symver tap_linked_" #sym ", " #sym "@" TAP_VERSION_NODE);

/* Reads what other threads may write: the switches and the real function. */
#define TAP_READ(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)

/* A call's arguments, and their declarations, to follow others in a list. */
#define TAP_MORE(...) ARGS_WALK(TAP_MORE_ARG, SEP_NONE, ##__VA_ARGS__)
#define TAP_MORE_ARG(t, n, k) , n
#define TAP_MORE_ARG_NONE
#define TAP_MORE_PARAMS(...) ARGS_WALK(TAP_MORE_PARAM, SEP_NONE, ##__VA_ARGS__)
#define TAP_MORE_PARAM(t, n, k) , t n
#define TAP_MORE_PARAM_NONE

#endif
