/* SPDX-License-Identifier: MIT */
/*
 * What the cores of the GPU double do with the data of two ranks: as fast as memory gives
 * and takes them, so that a test of much data waits for no arithmetic.  Hides which
 * instructions of the processor do it; each of them has the same result.
 */
#ifndef MINI_NCCL_ARITHMETIC_H
#define MINI_NCCL_ARITHMETIC_H

#include <nccl.h>

#include <stddef.h>
#include <stdint.h>

enum mini_operator { MINI_ADD, MINI_MULTIPLY, MINI_GREATER, MINI_SMALLER };

/* into[i] = into[i] op from[i]; integers wrap around, half precision goes through float.
 * What is not a type, and 8-bit floats, are left alone. */
void mini_combine(void *into, const void *from, size_t count, ncclDataType_t type,
		  enum mini_operator op);
/* The same as it is done on any processor. */
void mini_combine_plainly(void *into, const void *from, size_t count, ncclDataType_t type,
			  enum mini_operator op);

/* One number of half precision. */
float mini_load_fp16(uint16_t half);
uint16_t mini_store_fp16(float value);
float mini_load_bf16(uint16_t half);
uint16_t mini_store_bf16(float value);

#endif
