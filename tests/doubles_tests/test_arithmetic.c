/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of the GPU double: each type and operation against what is worked out
 * one by one, the same on a processor with vectors and on any other, and how fast it is,
 * which is told and not judged.
 */
#include "../doubles/nccl/arithmetic.h"
#include "../lib/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Not a multiple of any vector, so that there is a rest. */
#define COUNT 4099

static const struct {
	const char *name;
	ncclDataType_t type;
	size_t size;
} types[] = {
	{"int8", ncclInt8, 1},	     {"uint8", ncclUint8, 1},
	{"int32", ncclInt32, 4},     {"uint32", ncclUint32, 4},
	{"int64", ncclInt64, 8},     {"uint64", ncclUint64, 8},
	{"float16", ncclFloat16, 2}, {"bfloat16", ncclBfloat16, 2},
	{"float32", ncclFloat32, 4}, {"float64", ncclFloat64, 8},
};
#define TYPES (sizeof(types) / sizeof(types[0]))

static const char *const operators[] = {"add", "multiply", "greater", "smaller"};

static uint64_t state = 1;

/* xorshift64, of Marsaglia. */
static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* The value of a half, by the definition of its bits. */
static double half_value(uint16_t bits, int exponent_bits)
{
	int mantissa_bits = 15 - exponent_bits;
	int exponent = bits >> mantissa_bits & ((1 << exponent_bits) - 1);
	int mantissa = bits & ((1 << mantissa_bits) - 1);
	int bias = (1 << (exponent_bits - 1)) - 1;
	double value;

	if (exponent == (1 << exponent_bits) - 1)
		value = mantissa ? NAN : INFINITY;
	else if (!exponent)
		value = ldexp(mantissa, 1 - bias - mantissa_bits);
	else
		value = ldexp((1 << mantissa_bits) + mantissa,
			      exponent - bias - mantissa_bits);
	return bits & 0x8000 ? -value : value;
}

/* The bits count up with the value, so the neighbours of a half are those beside it. */
static bool is_nearest(double value, uint16_t bits, int exponent_bits)
{
	double error = fabs(half_value(bits, exponent_bits) - value);
	double most = half_value((uint16_t) (((1 << exponent_bits) - 1)
					     << (15 - exponent_bits)) -
					 1,
				 exponent_bits);
	double beyond = most + (most - half_value((uint16_t) (((1 << exponent_bits) - 1)
							      << (15 - exponent_bits)) -
							  2,
						  exponent_bits));
	int step;

	if (isnan(value))
		return isnan(half_value(bits, exponent_bits));
	if (signbit(value) != (bits >> 15))
		return false;
	/* Infinity stands where the next number would be. */
	if (fabs(value) >= (most + beyond) / 2)
		return isinf(half_value(bits, exponent_bits));
	for (step = -1; step <= 1; step += 2) {
		uint16_t beside = (uint16_t) (bits + step);
		double other = fabs(half_value(beside, exponent_bits) - value);

		if ((beside & 0x8000) != (bits & 0x8000) ||
		    isinf(half_value(beside, exponent_bits)))
			continue;
		if (other < error || (other == error && (bits & 1)))
			return false;
	}
	return true;
}

static void test_halves(void)
{
	bool is_right = true;
	uint32_t bits;
	int i;

	for (bits = 0; bits < 0x10000; bits++) {
		double fp16 = half_value((uint16_t) bits, 5);
		double bf16 = half_value((uint16_t) bits, 8);

		is_right &= isnan(fp16) ? isnan(mini_load_fp16((uint16_t) bits))
					: mini_load_fp16((uint16_t) bits) == fp16;
		is_right &= isnan(bf16) ? isnan(mini_load_bf16((uint16_t) bits))
					: mini_load_bf16((uint16_t) bits) == bf16;
	}
	ok(is_right, "each of the 65,536 halves has its value");
	for (i = 0; i < 1000000; i++) {
		uint32_t random = (uint32_t) draw();
		float value;

		/* Half of them where halves are, and ties. */
		if (i % 2)
			random = (random & 0x8000ffff) |
				 ((uint32_t) (100 + random % 60) << 23);
		if (i % 4 == 3)
			random &= 0xfffff000;
		memcpy(&value, &random, sizeof(value));
		is_right &= is_nearest(value, mini_store_fp16(value), 5) &&
			    is_nearest(value, mini_store_bf16(value), 8);
	}
	ok(is_right, "a number becomes the half that is nearest, the even one of two");
}

/* One element of the result, by other means. */
static bool is_right_one(size_t t, enum mini_operator op, const char *a, const char *b,
			 const char *result)
{
	bool is_signed = types[t].type == ncclInt8 || types[t].type == ncclInt32 ||
			 types[t].type == ncclInt64;
	int shift = 64 - 8 * (int) types[t].size;
	uint64_t x = 0;
	uint64_t y = 0;
	uint64_t z = 0;
	bool is_less;

	memcpy(&x, a, types[t].size);
	memcpy(&y, b, types[t].size);
	memcpy(&z, result, types[t].size);
	if (op == MINI_ADD)
		return z == (x + y) << shift >> shift;
	if (op == MINI_MULTIPLY)
		return z == (x * y) << shift >> shift;
	is_less = is_signed ? (int64_t) (x << shift) < (int64_t) (y << shift) : x < y;
	return z == ((op == MINI_GREATER) == is_less ? y : x);
}

static double floating(size_t t, const char *from)
{
	uint16_t half;
	double twice;
	float single;

	memcpy(&half, from, sizeof(half));
	if (types[t].type == ncclFloat16)
		return half_value(half, 5);
	if (types[t].type == ncclBfloat16)
		return half_value(half, 8);
	if (types[t].type == ncclFloat32) {
		memcpy(&single, from, sizeof(single));
		return single;
	}
	memcpy(&twice, from, sizeof(twice));
	return twice;
}

static bool is_right_floating(size_t t, enum mini_operator op, const char *a,
			      const char *b, const char *result)
{
	double x = floating(t, a);
	double y = floating(t, b);
	double z = floating(t, result);
	double value = op == MINI_ADD	     ? x + y
		       : op == MINI_MULTIPLY ? x * y
		       : op == MINI_GREATER  ? (x < y ? y : x)
					     : (y < x ? y : x);
	uint16_t half;

	if (isnan(value))
		return isnan(z);
	if (types[t].size == 8)
		return z == value;
	/* First to the type of the arithmetic. */
	value = (float) value;
	memcpy(&half, result, sizeof(half));
	if (types[t].size == 2)
		return is_nearest(value, half, types[t].type == ncclFloat16 ? 5 : 8);
	return z == value;
}

static bool is_each_right(size_t t, enum mini_operator op, const char *a, const char *b,
			  const char *result)
{
	bool is_floating = t >= 6;
	size_t at;
	size_t i;

	for (i = 0; i < COUNT; i++) {
		at = i * types[t].size;
		if (is_floating ? !is_right_floating(t, op, a + at, b + at, result + at)
				: !is_right_one(t, op, a + at, b + at, result + at))
			return false;
	}
	return true;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

static void fill(char *data, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		data[i] = (char) draw();
}

static void test_operations(void)
{
	static char a[COUNT * 8];
	static char b[COUNT * 8];
	static char result[COUNT * 8];
	static char plain[COUNT * 8];
	char sentence[64];
	bool is_same = true;
	bool is_right;
	size_t t;
	int op;

	for (t = 0; t < TYPES; t++) {
		is_right = true;
		for (op = MINI_ADD; op <= MINI_SMALLER; op++) {
			fill(a, sizeof(a));
			fill(b, sizeof(b));
			memcpy(result, a, sizeof(a));
			memcpy(plain, a, sizeof(a));
			mini_combine(result, b, COUNT, types[t].type,
				     (enum mini_operator) op);
			mini_combine_plainly(plain, b, COUNT, types[t].type,
					     (enum mini_operator) op);
			is_right &=
				is_each_right(t, (enum mini_operator) op, a, b, result);
			is_same &= is_each_right(t, (enum mini_operator) op, a, b, plain);
			/* Not beyond the last. */
			is_right &= !memcmp(result + COUNT * types[t].size,
					    a + COUNT * types[t].size,
					    sizeof(a) - COUNT * types[t].size);
		}
		snprintf(sentence, sizeof(sentence), "%s: each operation is right",
			 types[t].name);
		ok(is_right, sentence);
	}
	ok(is_same, "and so they are on a processor without wide vectors");
}

static void tell_speed(void)
{
	enum { BYTES = 1 << 24, TIMES = 4 };
	char *a = calloc(1, BYTES);
	char *b = calloc(1, BYTES);
	double begin;
	size_t t;
	int op;
	int i;

	memset(a, 1, BYTES);
	memset(b, 1, BYTES);
	begin = now();
	for (i = 0; i < TIMES; i++)
		memcpy(a, b, BYTES);
	printf("# GB/s of 16 MB: memcpy %.1f\n", TIMES * BYTES / 1e9 / (now() - begin));
	for (t = 0; t < TYPES; t++) {
		printf("# %-8s", types[t].name);
		for (op = MINI_ADD; op <= MINI_SMALLER; op++) {
			begin = now();
			for (i = 0; i < TIMES; i++)
				mini_combine(a, b, BYTES / types[t].size, types[t].type,
					     (enum mini_operator) op);
			printf("  %s %.1f", operators[op],
			       TIMES * BYTES / 1e9 / (now() - begin));
		}
		printf("\n");
	}
	free(a);
	free(b);
}

int main(void)
{
	test_halves();
	test_operations();
	tell_speed();
	return tap_done();
}
