/* SPDX-License-Identifier: MIT */
/*
 * One loop per type and operation, without a branch in it, so that the compiler makes
 * vectors of it; twice, for any processor and for one with AVX2 and F16C.
 */
#include "arithmetic.h"

#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#define WIDE __attribute__((target("avx2,f16c")))
#endif

/* What is built to be debugged computes, too. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE float bits_to_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

INLINE uint32_t float_to_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

INLINE float load_bf16(uint16_t half)
{
	return bits_to_float((uint32_t) half << 16);
}

/* To nearest, ties to even; a NaN must not round to infinity. */
INLINE uint16_t store_bf16(float value)
{
	uint32_t bits = float_to_bits(value);
	uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;

	return (uint16_t) ((bits & 0x7fffffff) > 0x7f800000 ? 0x7fff : rounded);
}

/* The exponents of the two begin 112 apart; one that is all ones stays so. */
INLINE float load_fp16(uint16_t half)
{
	uint32_t sign = (uint32_t) (half & 0x8000) << 16;
	uint32_t shifted = (uint32_t) (half & 0x7fff) << 13;
	uint32_t finite = float_to_bits(bits_to_float(shifted) * 0x1p112f);
	uint32_t special = shifted | 0x7f800000;

	return bits_to_float(sign | (shifted >= 0x0f800000 ? special : finite));
}

INLINE uint16_t store_fp16(float value)
{
	uint32_t bits = float_to_bits(value);
	uint32_t sign = (bits >> 16) & 0x8000;
	uint32_t magnitude = bits & 0x7fffffff;
	/* Below 2^-14 there is no exponent: adding 0.5 puts the last bit of the result at
	 * the last bit of a float, which rounds in hardware. */
	uint32_t tiny = float_to_bits(bits_to_float(magnitude) + 0.5f) - 0x3f000000;
	uint32_t normal =
		(magnitude + 0xfff + ((magnitude >> 13) & 1) - 0x38000000) >> 13;
	uint32_t result = magnitude < 0x38800000 ? tiny : normal;

	/* From 65520 on, the nearest is infinity. */
	result = magnitude >= 0x477ff000 ? 0x7c00 : result;
	result = magnitude > 0x7f800000 ? 0x7fff : result;
	return (uint16_t) (sign | result);
}

float mini_load_fp16(uint16_t half)
{
	return load_fp16(half);
}

uint16_t mini_store_fp16(float value)
{
	return store_fp16(value);
}

float mini_load_bf16(uint16_t half)
{
	return load_bf16(half);
}

uint16_t mini_store_bf16(float value)
{
	return store_bf16(value);
}

/* clang-format off */
#define SAME(x) (x)

#define LOOP(result) \
	for (i = 0; i < count; i++) { \
		a[i] = (result); \
	} \
	break

/*
 * `work` is the type of the arithmetic, unsigned for integers, so that they wrap around as
 * on the GPU; `order` that of comparisons.
 */
#define COMBINE(type, work, order, load, store) \
	do { \
		type *a = into; \
		const type *b = from; \
		size_t i; \
		\
		switch (op) { \
		case MINI_ADD: \
			LOOP((type) store((work) load(a[i]) + (work) load(b[i]))); \
		case MINI_MULTIPLY: \
			LOOP((type) store((work) load(a[i]) * (work) load(b[i]))); \
		case MINI_GREATER: \
			LOOP((order) load(a[i]) < (order) load(b[i]) ? b[i] : a[i]); \
		case MINI_SMALLER: \
			LOOP((order) load(b[i]) < (order) load(a[i]) ? b[i] : a[i]); \
		} \
	} while (0)
/* clang-format on */

INLINE void combine(void *into, const void *from, size_t count, ncclDataType_t type,
		    enum mini_operator op)
{
	switch (type) {
	case ncclInt8:
		COMBINE(int8_t, uint8_t, int8_t, SAME, SAME);
		break;
	case ncclUint8:
		COMBINE(uint8_t, uint8_t, uint8_t, SAME, SAME);
		break;
	case ncclInt32:
		COMBINE(int32_t, uint32_t, int32_t, SAME, SAME);
		break;
	case ncclUint32:
		COMBINE(uint32_t, uint32_t, uint32_t, SAME, SAME);
		break;
	case ncclInt64:
		COMBINE(int64_t, uint64_t, int64_t, SAME, SAME);
		break;
	case ncclUint64:
		COMBINE(uint64_t, uint64_t, uint64_t, SAME, SAME);
		break;
	case ncclFloat16:
		COMBINE(uint16_t, float, float, load_fp16, store_fp16);
		break;
	case ncclBfloat16:
		COMBINE(uint16_t, float, float, load_bf16, store_bf16);
		break;
	case ncclFloat32:
		COMBINE(float, float, float, SAME, SAME);
		break;
	case ncclFloat64:
		COMBINE(double, double, double, SAME, SAME);
		break;
	default:
		break;
	}
}

#ifdef WIDE
WIDE static __m256 load_eight(const uint16_t *halves)
{
	return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *) halves));
}

/* The processor would keep what a NaN says; a GPU does not. */
WIDE static void store_eight(uint16_t *halves, __m256 values)
{
	__m256 is_nan = _mm256_cmp_ps(values, values, _CMP_UNORD_Q);
	__m256 all_ones = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));

	values = _mm256_or_ps(values, _mm256_and_ps(is_nan, all_ones));
	_mm_storeu_si128((__m128i *) halves,
			 _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT));
}

/* How many are done; the last few are left. */
WIDE static size_t combine_halves(uint16_t *a, const uint16_t *b, size_t count,
				  enum mini_operator op)
{
	size_t i;

	for (i = 0; i + 8 <= count && op == MINI_ADD; i += 8)
		store_eight(a + i, _mm256_add_ps(load_eight(a + i), load_eight(b + i)));
	for (; i + 8 <= count && op == MINI_MULTIPLY; i += 8)
		store_eight(a + i, _mm256_mul_ps(load_eight(a + i), load_eight(b + i)));
	return i;
}

WIDE static void combine_wide(void *into, const void *from, size_t count,
			      ncclDataType_t type, enum mini_operator op)
{
	size_t done = 0;

	if (type == ncclFloat16)
		done = combine_halves(into, from, count, op);
	combine((uint16_t *) into + done, (const uint16_t *) from + done, count - done,
		type, op);
}
#endif

void mini_combine(void *into, const void *from, size_t count, ncclDataType_t type,
		  enum mini_operator op)
{
#ifdef WIDE
	/* Each processor with AVX2 has F16C, too, which clang 14 cannot ask for. */
	if (__builtin_cpu_supports("avx2")) {
		combine_wide(into, from, count, type, op);
		return;
	}
#endif
	combine(into, from, count, type, op);
}

void mini_combine_plainly(void *into, const void *from, size_t count, ncclDataType_t type,
			  enum mini_operator op)
{
	combine(into, from, count, type, op);
}
