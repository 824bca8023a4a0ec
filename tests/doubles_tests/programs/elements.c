/* SPDX-License-Identifier: MIT */
/* Small whole numbers in each data type of NCCL. */
#include "configured.h"

#include <string.h>

size_t type_size(ncclDataType_t type)
{
	static const size_t sizes[ncclNumTypes] = {
		[ncclInt8] = 1,	    [ncclUint8] = 1,	  [ncclInt32] = 4,
		[ncclUint32] = 4,   [ncclInt64] = 8,	  [ncclUint64] = 8,
		[ncclFloat16] = 2,  [ncclFloat32] = 4,	  [ncclFloat64] = 8,
		[ncclBfloat16] = 2, [ncclFloat8e4m3] = 1, [ncclFloat8e5m2] = 1};

	return sizes[type];
}

/* As IEEE 754 has it; not every compiler has a type for it. */
static uint16_t half_of(double value)
{
	const uint16_t sign = value < 0 ? 0x8000 : 0;
	double rest = value < 0 ? -value : value;
	int exponent = 0;
	uint32_t bits;

	if (rest == 0)
		return sign;
	for (; rest >= 2; rest /= 2)
		exponent++;
	for (; rest < 1 && exponent > -14; rest *= 2)
		exponent--;
	if (exponent > 15)
		return sign | 0x7c00;
	/* To the nearest, and of two to the even one. */
	bits = (uint32_t) (rest * 1024);
	rest = rest * 1024 - bits;
	bits += rest > 0.5 || (rest == 0.5 && (bits & 1));
	return sign | (uint16_t) (bits + ((uint32_t) (exponent + 14) << 10));
}

static double of_half(uint16_t half)
{
	int exponent = half >> 10 & 31;
	double value = exponent ? 1024 + (half & 1023) : half & 1023;

	for (exponent = exponent ? exponent - 25 : -24; exponent < 0; exponent++)
		value /= 2;
	for (; exponent > 0; exponent--)
		value *= 2;
	return half & 0x8000 ? -value : value;
}

static void put_bfloat(uint16_t *at, float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	*at = (uint16_t) (bits >> 16);
}

static float get_bfloat(uint16_t half)
{
	uint32_t bits = (uint32_t) half << 16;
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

void put(ncclDataType_t type, void *data, size_t i, long value)
{
	switch (type) {
	case ncclInt32:
	case ncclUint32:
		((int32_t *) data)[i] = (int32_t) value;
		break;
	case ncclInt64:
	case ncclUint64:
		((int64_t *) data)[i] = value;
		break;
	case ncclFloat16:
		((uint16_t *) data)[i] = half_of((double) value);
		break;
	case ncclFloat32:
		((float *) data)[i] = (float) value;
		break;
	case ncclFloat64:
		((double *) data)[i] = (double) value;
		break;
	case ncclBfloat16:
		put_bfloat((uint16_t *) data + i, (float) value);
		break;
	default:
		((uint8_t *) data)[i] = (uint8_t) value;
	}
}

double get(ncclDataType_t type, const void *data, size_t i)
{
	switch (type) {
	case ncclInt32:
	case ncclUint32:
		return ((const int32_t *) data)[i];
	case ncclInt64:
	case ncclUint64:
		return (double) ((const int64_t *) data)[i];
	case ncclFloat16:
		return of_half(((const uint16_t *) data)[i]);
	case ncclFloat32:
		return ((const float *) data)[i];
	case ncclFloat64:
		return ((const double *) data)[i];
	case ncclBfloat16:
		return get_bfloat(((const uint16_t *) data)[i]);
	default:
		return ((const uint8_t *) data)[i];
	}
}
