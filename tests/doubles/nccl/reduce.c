/* SPDX-License-Identifier: MIT */
/* One loop per type and operation; half precision goes through float. */
#include "reduce.h"

#include "arithmetic.h"

#include <stdint.h>
#include <string.h>

size_t mini_type_size(ncclDataType_t type)
{
	switch (type) {
	case ncclInt8:
	case ncclUint8:
	case ncclFloat8e4m3:
	case ncclFloat8e5m2:
		return 1;
	case ncclFloat16:
	case ncclBfloat16:
		return 2;
	case ncclInt32:
	case ncclUint32:
	case ncclFloat32:
		return 4;
	case ncclInt64:
	case ncclUint64:
	case ncclFloat64:
		return 8;
	default:
		return 0;
	}
}

/* clang-format off */
#define SAME(x) (x)

#define DIVIDE_LOOP(type, work, load, store) \
	do { \
		type *a = data; \
		size_t i; \
		\
		for (i = 0; i < count; i++) \
			a[i] = (type) store((work) load(a[i]) / (work) nranks); \
		return; \
	} while (0)

/* clang-format on */

static enum mini_operator operator_of(const struct mini_operation *operation)
{
	if (operation->kind == MINI_PROD)
		return MINI_MULTIPLY;
	if (operation->kind == MINI_MIN_MAX)
		return operation->is_max ? MINI_GREATER : MINI_SMALLER;
	return MINI_ADD;
}

void mini_reduce(void *into, const void *from, size_t count, ncclDataType_t type,
		 const struct mini_operation *operation)
{
	mini_combine(into, from, count, type, operator_of(operation));
}

void mini_reduce_divide(void *data, size_t count, ncclDataType_t type, int nranks)
{
	switch (type) {
	case ncclInt8:
		DIVIDE_LOOP(int8_t, int, SAME, SAME);
	case ncclUint8:
		DIVIDE_LOOP(uint8_t, int, SAME, SAME);
	case ncclInt32:
		DIVIDE_LOOP(int32_t, int32_t, SAME, SAME);
	case ncclUint32:
		DIVIDE_LOOP(uint32_t, uint32_t, SAME, SAME);
	case ncclInt64:
		DIVIDE_LOOP(int64_t, int64_t, SAME, SAME);
	case ncclUint64:
		DIVIDE_LOOP(uint64_t, uint64_t, SAME, SAME);
	default:
		return;
	}
}

/* clang-format off */
#define MULTIPLY_LOOP(type, work, load, store) \
	do { \
		type *a = data; \
		type scalar; \
		work factor; \
		size_t i; \
		\
		memcpy(&scalar, value, sizeof(scalar)); \
		factor = (work) load(scalar); \
		for (i = 0; i < count; i++) \
			a[i] = (type) store((work) load(a[i]) * factor); \
		return; \
	} while (0)
/* clang-format on */

void mini_reduce_multiply(void *data, size_t count, ncclDataType_t type,
			  const struct mini_operation *operation)
{
	/* The program's is read when the kernel runs. */
	const void *value =
		operation->scalar_at ? operation->scalar_at : &operation->scalar;

	switch (type) {
	case ncclInt8:
	case ncclUint8:
		MULTIPLY_LOOP(uint8_t, uint32_t, SAME, SAME);
	case ncclInt32:
	case ncclUint32:
		MULTIPLY_LOOP(uint32_t, uint32_t, SAME, SAME);
	case ncclInt64:
	case ncclUint64:
		MULTIPLY_LOOP(uint64_t, uint64_t, SAME, SAME);
	case ncclFloat16:
		MULTIPLY_LOOP(uint16_t, float, mini_load_fp16, mini_store_fp16);
	case ncclBfloat16:
		MULTIPLY_LOOP(uint16_t, float, mini_load_bf16, mini_store_bf16);
	case ncclFloat32:
		MULTIPLY_LOOP(float, float, SAME, SAME);
	case ncclFloat64:
		MULTIPLY_LOOP(double, double, SAME, SAME);
	default:
		return;
	}
}

uint64_t mini_reduce_share(ncclDataType_t type, int n)
{
	float single = (float) (1.0 / n);
	double twice = 1.0 / n;
	uint16_t half =
		type == ncclFloat16 ? mini_store_fp16(single) : mini_store_bf16(single);
	uint64_t bits = 0;

	if (type == ncclFloat64)
		memcpy(&bits, &twice, sizeof(twice));
	else if (type == ncclFloat32)
		memcpy(&bits, &single, sizeof(single));
	else
		memcpy(&bits, &half, sizeof(half));
	return bits;
}
