/* SPDX-License-Identifier: MIT */
/* One loop per type and operation; half precision goes through float. */
#include "reduce.h"

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

static float bits_to_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint32_t float_to_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float load_bf16(uint16_t half)
{
	return bits_to_float((uint32_t) half << 16);
}

/* To nearest, ties to even; a NaN must not round to infinity. */
static uint16_t store_bf16(float value)
{
	uint32_t bits = float_to_bits(value);

	if (value != value)
		return 0x7fff;
	return (uint16_t) ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

static float load_fp16(uint16_t half)
{
	uint32_t sign = (uint32_t) (half & 0x8000) << 16;
	uint32_t exponent = (half >> 10) & 0x1f;
	uint32_t mantissa = half & 0x3ff;
	/* 2^-24, the value of the last bit of a number without exponent. */
	float tiny = (float) mantissa * 0x1p-24f;

	if (exponent == 0)
		return sign ? -tiny : tiny;
	if (exponent == 31)
		return bits_to_float(sign | 0x7f800000 | mantissa << 13);
	return bits_to_float(sign | (exponent + 112) << 23 | mantissa << 13);
}

static uint16_t store_fp16(float value)
{
	uint32_t bits = float_to_bits(value);
	uint32_t sign = (bits >> 16) & 0x8000;
	uint32_t magnitude = bits & 0x7fffffff;
	uint32_t scaled;

	if (magnitude > 0x7f800000)
		return (uint16_t) (sign | 0x7fff);
	/* From 65520 on, the nearest is infinity. */
	if (magnitude >= 0x477ff000)
		return (uint16_t) (sign | 0x7c00);
	/*
	 * Below 2^-14 there is no exponent: adding 0.5 puts the last bit of the
	 * result at the last bit of a float, which rounds in hardware.
	 */
	if (magnitude < 0x38800000) {
		scaled = float_to_bits(bits_to_float(magnitude) + 0.5f);
		return (uint16_t) (sign | (scaled - float_to_bits(0.5f)));
	}
	magnitude += 0xfff + ((magnitude >> 13) & 1);
	return (uint16_t) (sign | ((magnitude - 0x38000000) >> 13));
}

/* clang-format off */
#define SAME(x) (x)

/*
 * `work` is the type of the arithmetic.  Unsigned for integers: it wraps
 * around, as on the GPU, and the stored bits are the same for both signs.
 */
#define REDUCE_LOOP(type, work, compare, load, store, op) \
	do { \
		type *a = into; \
		const type *b = from; \
		size_t i; \
		\
		for (i = 0; i < count; i++) { \
			compare x = (compare) load(a[i]); \
			compare y = (compare) load(b[i]); \
			\
			switch (op) { \
			case ncclProd: \
				a[i] = (type) store((work) x * (work) y); \
				break; \
			case ncclMax: \
				a[i] = x < y ? b[i] : a[i]; \
				break; \
			case ncclMin: \
				a[i] = y < x ? b[i] : a[i]; \
				break; \
			default: \
				a[i] = (type) store((work) x + (work) y); \
				break; \
			} \
		} \
		return; \
	} while (0)

#define DIVIDE_LOOP(type, work, load, store) \
	do { \
		type *a = data; \
		size_t i; \
		\
		for (i = 0; i < count; i++) \
			a[i] = (type) store((work) load(a[i]) / (work) nranks); \
		return; \
	} while (0)

void mini_reduce(void *into, const void *from, size_t count, ncclDataType_t type,
		 ncclRedOp_t op)
{
	switch (type) {
	case ncclInt8:
		REDUCE_LOOP(int8_t, uint32_t, int8_t, SAME, SAME, op);
	case ncclUint8:
		REDUCE_LOOP(uint8_t, uint32_t, uint8_t, SAME, SAME, op);
	case ncclInt32:
		REDUCE_LOOP(int32_t, uint32_t, int32_t, SAME, SAME, op);
	case ncclUint32:
		REDUCE_LOOP(uint32_t, uint32_t, uint32_t, SAME, SAME, op);
	case ncclInt64:
		REDUCE_LOOP(int64_t, uint64_t, int64_t, SAME, SAME, op);
	case ncclUint64:
		REDUCE_LOOP(uint64_t, uint64_t, uint64_t, SAME, SAME, op);
	case ncclFloat16:
		REDUCE_LOOP(uint16_t, float, float, load_fp16, store_fp16, op);
	case ncclBfloat16:
		REDUCE_LOOP(uint16_t, float, float, load_bf16, store_bf16, op);
	case ncclFloat32:
		REDUCE_LOOP(float, float, float, SAME, SAME, op);
	case ncclFloat64:
		REDUCE_LOOP(double, double, double, SAME, SAME, op);
	default:
		return;
	}
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
	case ncclFloat16:
		DIVIDE_LOOP(uint16_t, float, load_fp16, store_fp16);
	case ncclBfloat16:
		DIVIDE_LOOP(uint16_t, float, load_bf16, store_bf16);
	case ncclFloat32:
		DIVIDE_LOOP(float, float, SAME, SAME);
	case ncclFloat64:
		DIVIDE_LOOP(double, double, SAME, SAME);
	default:
		return;
	}
}
