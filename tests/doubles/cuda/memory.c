/* SPDX-License-Identifier: MIT */
/*
 * Device memory of the fake driver: host memory that is known by its address,
 * so that a pointer that the device does not own is refused as on a GPU.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

#define FAKE_MEMORY_BYTES ((size_t) 80 << 30)
#define FAKE_ALIGNMENT 512

struct block {
	struct block *next;
	struct CUctx_st *context;
	CUdeviceptr address;
	size_t bytes;
};

struct copy {
	void *to;
	const void *from;
	size_t bytes;
};

struct fill {
	void *to;
	uint32_t value;
	size_t width;
	size_t count;
};

/* Under fake_lock. */
static struct block *blocks;
static size_t bytes_in_use;

static void *host_address(CUdeviceptr address)
{
	return (void *) (uintptr_t) address;
}

FAKE_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	struct CUctx_st *context;
	struct block *block;
	CUresult res = fake_require_context(&context);
	void *memory = NULL;

	if (res != CUDA_SUCCESS)
		return res;
	if (!dptr || bytesize == 0)
		return CUDA_ERROR_INVALID_VALUE;
	block = malloc(sizeof(*block));
	if (!block || bytesize > FAKE_MEMORY_BYTES ||
	    posix_memalign(&memory, FAKE_ALIGNMENT, bytesize)) {
		free(block);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	block->context = context;
	block->address = (uintptr_t) memory;
	block->bytes = bytesize;
	pthread_mutex_lock(&fake_lock);
	block->next = blocks;
	blocks = block;
	bytes_in_use += bytesize;
	pthread_mutex_unlock(&fake_lock);
	*dptr = block->address;
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemFree_v2(CUdeviceptr dptr)
{
	struct block **place;
	struct block *block;
	CUresult res = fake_require_init();

	if (res != CUDA_SUCCESS || !dptr)
		return res;
	pthread_mutex_lock(&fake_lock);
	for (place = &blocks; *place && (*place)->address != dptr;
	     place = &(*place)->next)
		;
	block = *place;
	if (block) {
		*place = block->next;
		bytes_in_use -= block->bytes;
	}
	pthread_mutex_unlock(&fake_lock);
	if (!block)
		return CUDA_ERROR_INVALID_VALUE;
	/* The real call waits for the device too, since work may still use it. */
	fake_context_drain(block->context);
	free(host_address(block->address));
	free(block);
	return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	struct CUctx_st *context;
	CUresult res = fake_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	if (!free_bytes || !total)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&fake_lock);
	*free_bytes = FAKE_MEMORY_BYTES - bytes_in_use;
	pthread_mutex_unlock(&fake_lock);
	*total = FAKE_MEMORY_BYTES;
	return CUDA_SUCCESS;
}

static bool is_device_memory(CUdeviceptr address, size_t bytes)
{
	const struct block *b;
	bool is_inside = false;

	pthread_mutex_lock(&fake_lock);
	for (b = blocks; b && !is_inside; b = b->next) {
		is_inside = address >= b->address && address - b->address <= b->bytes &&
			    bytes <= b->bytes - (address - b->address);
	}
	pthread_mutex_unlock(&fake_lock);
	return is_inside;
}

static void run_copy(void *data)
{
	struct copy *copy = data;

	memmove(copy->to, copy->from, copy->bytes);
	free(copy);
}

static void run_fill(void *data)
{
	struct fill *fill = data;
	uint32_t *words = fill->to;
	size_t i;

	if (fill->width == 1) {
		memset(fill->to, (int) fill->value, fill->count);
	} else {
		for (i = 0; i < fill->count; i++)
			words[i] = fill->value;
	}
	free(fill);
}

static CUresult enqueue(CUstream stream, void (*run)(void *), const void *task,
			size_t size)
{
	void *copy = malloc(size);
	CUresult res;

	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(copy, task, size);
	res = fake_stream_enqueue(stream, run, copy);
	if (res != CUDA_SUCCESS)
		free(copy);
	return res;
}

static CUresult enqueue_copy(CUstream stream, void *to, const void *from, size_t bytes)
{
	struct copy copy = {to, from, bytes};

	if (bytes == 0)
		return CUDA_SUCCESS;
	return enqueue(stream, run_copy, &copy, sizeof(copy));
}

static CUresult enqueue_fill(CUstream stream, CUdeviceptr to, uint32_t value,
			     size_t width, size_t count)
{
	struct fill fill = {host_address(to), value, width, count};

	if (to % width || count > SIZE_MAX / width ||
	    !is_device_memory(to, count * width))
		return CUDA_ERROR_INVALID_VALUE;
	return enqueue(stream, run_fill, &fill, sizeof(fill));
}

FAKE_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr dstDevice, const void *srcHost,
					  size_t ByteCount, CUstream hStream)
{
	if (!is_device_memory(dstDevice, ByteCount) || (!srcHost && ByteCount))
		return CUDA_ERROR_INVALID_VALUE;
	return enqueue_copy(hStream, host_address(dstDevice), srcHost, ByteCount);
}

FAKE_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *dstHost, CUdeviceptr srcDevice,
					  size_t ByteCount, CUstream hStream)
{
	if (!is_device_memory(srcDevice, ByteCount) || (!dstHost && ByteCount))
		return CUDA_ERROR_INVALID_VALUE;
	return enqueue_copy(hStream, dstHost, host_address(srcDevice), ByteCount);
}

FAKE_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr dstDevice, CUdeviceptr srcDevice,
					  size_t ByteCount, CUstream hStream)
{
	if (!is_device_memory(dstDevice, ByteCount) ||
	    !is_device_memory(srcDevice, ByteCount))
		return CUDA_ERROR_INVALID_VALUE;
	return enqueue_copy(hStream, host_address(dstDevice), host_address(srcDevice),
			    ByteCount);
}

FAKE_EXPORT CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N,
				     CUstream hStream)
{
	return enqueue_fill(hStream, dstDevice, uc, 1, N);
}

FAKE_EXPORT CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N,
				      CUstream hStream)
{
	return enqueue_fill(hStream, dstDevice, ui, sizeof(ui), N);
}

/*
 * A copy that returns when it is done is the asynchronous one in the default
 * stream and a wait for that stream.
 */
static CUresult wait_after(CUresult res, CUstream stream)
{
	return res == CUDA_SUCCESS ? cuStreamSynchronize(stream) : res;
}

/* clang-format off */
#define FAKE_SYNCHRONOUS(name, async, parameters, ...) \
	FAKE_EXPORT CUresult name parameters \
	{ \
		return wait_after(async(__VA_ARGS__, CU_STREAM_LEGACY), \
				  CU_STREAM_LEGACY); \
	} \
	FAKE_EXPORT CUresult name##_ptds parameters \
	{ \
		return wait_after(async(__VA_ARGS__, CU_STREAM_PER_THREAD), \
				  CU_STREAM_PER_THREAD); \
	}

FAKE_SYNCHRONOUS(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2,
	(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
	dstDevice, srcHost, ByteCount)
FAKE_SYNCHRONOUS(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2,
	(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),
	dstHost, srcDevice, ByteCount)
FAKE_SYNCHRONOUS(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2,
	(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
	dstDevice, srcDevice, ByteCount)
FAKE_SYNCHRONOUS(cuMemsetD8_v2, cuMemsetD8Async,
	(CUdeviceptr dstDevice, unsigned char uc, size_t N), dstDevice, uc, N)
FAKE_SYNCHRONOUS(cuMemsetD32_v2, cuMemsetD32Async,
	(CUdeviceptr dstDevice, unsigned int ui, size_t N), dstDevice, ui, N)

#define FAKE_PER_THREAD(name, parameters, ...) \
	FAKE_EXPORT CUresult name##_ptsz parameters \
	{ \
		return name(__VA_ARGS__, fake_per_thread(hStream)); \
	}

FAKE_PER_THREAD(cuMemcpyHtoDAsync_v2,
	(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),
	dstDevice, srcHost, ByteCount)
FAKE_PER_THREAD(cuMemcpyDtoHAsync_v2,
	(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
	dstHost, srcDevice, ByteCount)
FAKE_PER_THREAD(cuMemcpyDtoDAsync_v2,
	(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
	 CUstream hStream),
	dstDevice, srcDevice, ByteCount)
FAKE_PER_THREAD(cuMemsetD8Async,
	(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream),
	dstDevice, uc, N)
FAKE_PER_THREAD(cuMemsetD32Async,
	(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream),
	dstDevice, ui, N)
