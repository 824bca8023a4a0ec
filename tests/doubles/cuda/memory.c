/* SPDX-License-Identifier: MIT */
/*
 * Device memory of the driver double: host memory that is known by its address,
 * so that a pointer that the device does not own is refused as on a GPU.
 */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

#define DOUBLE_MEMORY_BYTES ((size_t) 80 << 30)
#define DOUBLE_ALIGNMENT 512

struct block {
	struct block *next;
	struct CUctx_st *context;
	CUdeviceptr address;
	size_t bytes;
};

/* One to three dimensions, rows of bytes at their pitches. */
struct copy_work {
	struct double_work work;
	char *to;
	const char *from;
	size_t row;
	size_t rows;
	size_t slices;
	size_t to_pitch;
	size_t from_pitch;
	size_t to_slice;
	size_t from_slice;
};

struct fill_work {
	struct double_work work;
	CUDA_MEMSET_NODE_PARAMS fill;
};

/* Under double_lock. */
static struct block *blocks;
static size_t bytes_in_use;

static void *host_address(CUdeviceptr address)
{
	return (void *) (uintptr_t) address;
}

DOUBLE_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize)
{
	struct CUctx_st *context;
	struct block *block;
	CUresult res = double_require_context(&context);
	void *memory = NULL;

	if (res != CUDA_SUCCESS)
		return res;
	if (!dptr || bytesize == 0)
		return CUDA_ERROR_INVALID_VALUE;
	block = malloc(sizeof(*block));
	if (!block || bytesize > DOUBLE_MEMORY_BYTES ||
	    posix_memalign(&memory, DOUBLE_ALIGNMENT, bytesize)) {
		free(block);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	block->context = context;
	block->address = (uintptr_t) memory;
	block->bytes = bytesize;
	pthread_mutex_lock(&double_lock);
	block->next = blocks;
	blocks = block;
	bytes_in_use += bytesize;
	pthread_mutex_unlock(&double_lock);
	*dptr = block->address;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuMemFree_v2(CUdeviceptr dptr)
{
	struct block **place;
	struct block *block;
	CUresult res = double_require_init();

	if (res != CUDA_SUCCESS || !dptr)
		return res;
	pthread_mutex_lock(&double_lock);
	for (place = &blocks; *place && (*place)->address != dptr;
	     place = &(*place)->next)
		;
	block = *place;
	if (block) {
		*place = block->next;
		bytes_in_use -= block->bytes;
	}
	pthread_mutex_unlock(&double_lock);
	if (!block)
		return CUDA_ERROR_INVALID_VALUE;
	/* The real call waits for the device too, since work may still use it. */
	double_context_drain(block->context);
	free(host_address(block->address));
	free(block);
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
	struct CUctx_st *context;
	CUresult res = double_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	if (!free_bytes || !total)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	*free_bytes = DOUBLE_MEMORY_BYTES - bytes_in_use;
	pthread_mutex_unlock(&double_lock);
	*total = DOUBLE_MEMORY_BYTES;
	return CUDA_SUCCESS;
}

static bool is_device_memory(CUdeviceptr address, size_t bytes)
{
	const struct block *b;
	bool is_inside = false;
	CUdeviceptr base = 0;
	size_t size = 0;

	pthread_mutex_lock(&double_lock);
	for (b = blocks; b && !is_inside; b = b->next) {
		is_inside = address >= b->address && address - b->address <= b->bytes &&
			    bytes <= b->bytes - (address - b->address);
	}
	if (!is_inside && double_virtual_find(address, &base, &size))
		is_inside = bytes <= size - (address - base);
	pthread_mutex_unlock(&double_lock);
	return is_inside;
}

DOUBLE_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize,
					       CUdeviceptr dptr)
{
	const struct block *b;
	CUdeviceptr base = 0;
	size_t size = 0;
	bool is_there;

	pthread_mutex_lock(&double_lock);
	for (b = blocks; b && (dptr < b->address || dptr - b->address >= b->bytes);
	     b = b->next)
		;
	is_there = b || double_virtual_find(dptr, &base, &size);
	if (b) {
		base = b->address;
		size = b->bytes;
	}
	pthread_mutex_unlock(&double_lock);
	if (!is_there)
		return CUDA_ERROR_NOT_FOUND;
	if (pbase)
		*pbase = base;
	if (psize)
		*psize = size;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult cuMemAllocHost_v2(void **pp, size_t bytesize)
{
	struct CUctx_st *context;
	CUresult res = double_require_context(&context);

	if (res != CUDA_SUCCESS)
		return res;
	if (!pp || bytesize == 0)
		return CUDA_ERROR_INVALID_VALUE;
	*pp = malloc(bytesize);
	return *pp ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

DOUBLE_EXPORT CUresult cuMemFreeHost(void *p)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	free(p);
	return CUDA_SUCCESS;
}

static void run_copy(struct double_work *work)
{
	const struct copy_work *copy = (struct copy_work *) work;
	size_t slice;
	size_t row;

	for (slice = 0; slice < copy->slices; slice++) {
		for (row = 0; row < copy->rows; row++)
			memmove(copy->to + slice * copy->to_slice + row * copy->to_pitch,
				copy->from + slice * copy->from_slice +
					row * copy->from_pitch,
				copy->row);
	}
}

static CUresult flat_copy(const char *name, void *to, const void *from, size_t bytes,
			  struct double_work **ret_work)
{
	struct copy_work *copy =
		double_work_new(sizeof(*copy), CU_GRAPH_NODE_TYPE_MEMCPY, name, run_copy);

	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	copy->to = to;
	copy->from = from;
	copy->row = bytes;
	copy->rows = 1;
	copy->slices = 1;
	copy->work.bytes = bytes;
	copy->work.from_device = is_device_memory((uintptr_t) from, 1);
	copy->work.to_device = is_device_memory((uintptr_t) to, 1);
	*ret_work = &copy->work;
	return CUDA_SUCCESS;
}

static CUresult check_place(CUmemorytype type, const void *host, CUdeviceptr device,
			    const char **ret_base)
{
	if (type == CU_MEMORYTYPE_HOST)
		*ret_base = host;
	else if (type == CU_MEMORYTYPE_DEVICE || type == CU_MEMORYTYPE_UNIFIED)
		*ret_base = host_address(device);
	else
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!*ret_base || (type == CU_MEMORYTYPE_DEVICE && !is_device_memory(device, 1)))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static const char *copy_name(CUmemorytype from, CUmemorytype to)
{
	if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED)
		return "unified";
	if (from == CU_MEMORYTYPE_HOST)
		return to == CU_MEMORYTYPE_HOST ? "HtoH" : "HtoD";
	return to == CU_MEMORYTYPE_HOST ? "DtoH" : "DtoD";
}

CUresult double_copy_work(const CUDA_MEMCPY3D *c, struct double_work **ret_work)
{
	struct copy_work *copy;
	const char *from;
	const char *to;
	CUresult res = check_place(c->srcMemoryType, c->srcHost, c->srcDevice, &from);

	if (res == CUDA_SUCCESS)
		res = check_place(c->dstMemoryType, c->dstHost, c->dstDevice, &to);
	if (res != CUDA_SUCCESS)
		return res;
	copy = double_work_new(sizeof(*copy), CU_GRAPH_NODE_TYPE_MEMCPY,
			       copy_name(c->srcMemoryType, c->dstMemoryType), run_copy);
	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	copy->row = c->WidthInBytes;
	copy->rows = c->Height;
	copy->slices = c->Depth;
	copy->from_pitch = c->srcPitch ? c->srcPitch : c->WidthInBytes;
	copy->to_pitch = c->dstPitch ? c->dstPitch : c->WidthInBytes;
	copy->from_slice = copy->from_pitch * (c->srcHeight ? c->srcHeight : c->Height);
	copy->to_slice = copy->to_pitch * (c->dstHeight ? c->dstHeight : c->Height);
	copy->from = from + c->srcXInBytes + c->srcY * copy->from_pitch +
		     c->srcZ * copy->from_slice;
	copy->to = (char *) (uintptr_t) to + c->dstXInBytes + c->dstY * copy->to_pitch +
		   c->dstZ * copy->to_slice;
	copy->work.bytes = copy->row * copy->rows * copy->slices;
	copy->work.from_device = is_device_memory((uintptr_t) from, 1);
	copy->work.to_device = is_device_memory((uintptr_t) to, 1);
	*ret_work = &copy->work;
	return CUDA_SUCCESS;
}

/* What is filled already is copied behind it, twice as much each time. */
static void fill_row(char *to, unsigned int value, unsigned int width, size_t count)
{
	size_t bytes = count * width;
	size_t filled = bytes < width ? bytes : width;
	size_t more;

	memcpy(to, &value, filled);
	for (; filled < bytes; filled += more) {
		more = bytes - filled < filled ? bytes - filled : filled;
		memcpy(to + filled, to, more);
	}
}

static void run_fill(struct double_work *work)
{
	const CUDA_MEMSET_NODE_PARAMS *fill = &((struct fill_work *) work)->fill;
	char *to = host_address(fill->dst);
	size_t row;

	for (row = 0; row < fill->height; row++)
		fill_row(to + row * fill->pitch, fill->value, fill->elementSize,
			 fill->width);
}

CUresult double_fill_work(const CUDA_MEMSET_NODE_PARAMS *fill,
			  struct double_work **ret_work)
{
	size_t width = fill->elementSize;
	struct fill_work *work;

	if ((width != 1 && width != 2 && width != 4) || fill->dst % width ||
	    fill->height == 0 || fill->width > SIZE_MAX / width ||
	    !is_device_memory(fill->dst,
			      (fill->height - 1) * fill->pitch + fill->width * width))
		return CUDA_ERROR_INVALID_VALUE;
	work = double_work_new(sizeof(*work), CU_GRAPH_NODE_TYPE_MEMSET, "set", run_fill);
	if (!work)
		return CUDA_ERROR_OUT_OF_MEMORY;
	work->fill = *fill;
	work->work.value = fill->value;
	work->work.to_device = true;
	work->work.bytes = fill->width * width * fill->height;
	*ret_work = &work->work;
	return CUDA_SUCCESS;
}

/* Enqueues what the constructor of the work said, and waits for it if it is to. */
static CUresult finish(struct double_call *call, CUresult res, struct double_work **work,
		       CUstream stream, bool wait)
{
	if (res == CUDA_SUCCESS)
		res = double_stream_enqueue(call, stream, *work);
	if (res == CUDA_SUCCESS && wait)
		res = double_stream_wait(stream);
	return double_call_end(call, res);
}

enum way { ANY, TO_DEVICE, FROM_DEVICE, ON_DEVICE };

static bool is_allowed(enum way way, const void *to, const void *from, size_t bytes)
{
	if (bytes && (!to || !from))
		return false;
	if ((way == TO_DEVICE || way == ON_DEVICE) &&
	    !is_device_memory((uintptr_t) to, bytes))
		return false;
	return (way != FROM_DEVICE && way != ON_DEVICE) ||
	       is_device_memory((uintptr_t) from, bytes);
}

/* The contexts are NULL where the call names none. */
static CUresult copy_between(const char *entry, enum way way, void *to,
			     CUcontext to_context, const void *from,
			     CUcontext from_context, size_t bytes, bool wait,
			     CUstream stream)
{
	static const char *const names[] = {"unified", "HtoD", "DtoH", "DtoD"};
	struct double_work *work = NULL;
	struct double_call call;
	CUresult res;

	double_call_begin(&call, entry, stream);
	if (!is_allowed(way, to, from, bytes))
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	if (bytes == 0)
		return double_call_end(&call, CUDA_SUCCESS);
	res = flat_copy(names[way], to, from, bytes, &work);
	if (res == CUDA_SUCCESS && to_context != from_context) {
		work->from.context = from_context->id;
		work->from.device = (uint32_t) from_context->device;
		work->to.context = to_context->id;
		work->to.device = (uint32_t) to_context->device;
	}
	return finish(&call, res, &work, stream, wait);
}

static CUresult copy(const char *entry, enum way way, void *to, const void *from,
		     size_t bytes, bool wait, CUstream stream)
{
	return copy_between(entry, way, to, NULL, from, NULL, bytes, wait, stream);
}

static CUresult copy_3d(const char *entry, const CUDA_MEMCPY3D *pCopy, CUstream stream)
{
	struct double_work *work = NULL;
	struct double_call call;

	double_call_begin(&call, entry, stream);
	if (!pCopy)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	return finish(&call, double_copy_work(pCopy, &work), &work, stream, false);
}

static CUresult copy_2d(const char *entry, const CUDA_MEMCPY2D *c, CUstream stream)
{
	CUDA_MEMCPY3D copy = {
		.srcXInBytes = c->srcXInBytes,
		.srcY = c->srcY,
		.srcMemoryType = c->srcMemoryType,
		.srcHost = c->srcHost,
		.srcDevice = c->srcDevice,
		.srcPitch = c->srcPitch,
		.dstXInBytes = c->dstXInBytes,
		.dstY = c->dstY,
		.dstMemoryType = c->dstMemoryType,
		.dstHost = c->dstHost,
		.dstDevice = c->dstDevice,
		.dstPitch = c->dstPitch,
		.WidthInBytes = c->WidthInBytes,
		.Height = c->Height,
		.Depth = 1,
	};

	return copy_3d(entry, &copy, stream);
}

/* All at once or none: what is wrong is found before the first is enqueued. */
static CUresult copy_batch(const char *entry, const CUdeviceptr *dsts,
			   const CUdeviceptr *srcs, const size_t *sizes, size_t count,
			   size_t *fail, CUstream stream)
{
	struct double_work *work = NULL;
	struct double_call call;
	CUresult res = CUDA_SUCCESS;
	size_t i;

	double_call_begin(&call, entry, stream);
	if (!dsts || !srcs || !sizes || count == 0)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	if (fail)
		*fail = SIZE_MAX;
	for (i = 0; i < count; i++) {
		if (dsts[i] && srcs[i])
			continue;
		if (fail)
			*fail = i;
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	}
	for (i = 0; i < count && res == CUDA_SUCCESS; i++) {
		res = flat_copy("batch", host_address(dsts[i]), host_address(srcs[i]),
				sizes[i], &work);
		if (res == CUDA_SUCCESS)
			res = double_stream_enqueue(&call, stream, work);
	}
	return double_call_end(&call, res);
}

static CUresult fill(const char *entry, CUdeviceptr to, size_t pitch, unsigned int value,
		     unsigned int element, size_t width, size_t height, bool wait,
		     CUstream stream)
{
	CUDA_MEMSET_NODE_PARAMS params = {to, pitch, value, element, width, height};
	struct double_work *work = NULL;
	struct double_call call;

	double_call_begin(&call, entry, stream);
	return finish(&call, double_fill_work(&params, &work), &work, stream, wait);
}

/* clang-format off */
/* A call that returns when it is done waits in the stream that it means by NULL. */
#define DOUBLE_SYNCHRONOUS(name, body, parameters, ...) 	DOUBLE_EXPORT CUresult name parameters 	{ 		return body(__func__, __VA_ARGS__, true, CU_STREAM_LEGACY); 	} 	DOUBLE_EXPORT CUresult name##_ptds parameters 	{ 		return body(__func__, __VA_ARGS__, true, CU_STREAM_PER_THREAD); 	}
#define AT(address) host_address(address)

DOUBLE_SYNCHRONOUS(cuMemcpy, copy, (CUdeviceptr dst, CUdeviceptr src, size_t ByteCount),
	ANY, AT(dst), AT(src), ByteCount)
DOUBLE_SYNCHRONOUS(cuMemcpyHtoD_v2, copy,
	(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount),
	TO_DEVICE, AT(dstDevice), srcHost, ByteCount)
DOUBLE_SYNCHRONOUS(cuMemcpyDtoH_v2, copy,
	(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount),
	FROM_DEVICE, dstHost, AT(srcDevice), ByteCount)
DOUBLE_SYNCHRONOUS(cuMemcpyDtoD_v2, copy,
	(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount),
	ON_DEVICE, AT(dstDevice), AT(srcDevice), ByteCount)
DOUBLE_SYNCHRONOUS(cuMemsetD8_v2, fill,
	(CUdeviceptr dstDevice, unsigned char uc, size_t N), dstDevice, 0, uc, 1, N, 1)
DOUBLE_SYNCHRONOUS(cuMemsetD16_v2, fill,
	(CUdeviceptr dstDevice, unsigned short us, size_t N), dstDevice, 0, us, 2, N, 1)
DOUBLE_SYNCHRONOUS(cuMemsetD32_v2, fill,
	(CUdeviceptr dstDevice, unsigned int ui, size_t N), dstDevice, 0, ui, 4, N, 1)

DOUBLE_STREAM_ENTRY(cuMemcpyAsync, copy,
	(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream),
	ANY, AT(dst), AT(src), ByteCount, false)
DOUBLE_STREAM_ENTRY(cuMemcpyHtoDAsync_v2, copy,
	(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount, CUstream hStream),
	TO_DEVICE, AT(dstDevice), srcHost, ByteCount, false)
DOUBLE_STREAM_ENTRY(cuMemcpyDtoHAsync_v2, copy,
	(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream),
	FROM_DEVICE, dstHost, AT(srcDevice), ByteCount, false)
DOUBLE_STREAM_ENTRY(cuMemcpyDtoDAsync_v2, copy,
	(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
	 CUstream hStream),
	ON_DEVICE, AT(dstDevice), AT(srcDevice), ByteCount, false)
DOUBLE_STREAM_ENTRY(cuMemcpy2DAsync_v2, copy_2d,
	(const CUDA_MEMCPY2D *pCopy, CUstream hStream), pCopy)
DOUBLE_STREAM_ENTRY(cuMemcpy3DAsync_v2, copy_3d,
	(const CUDA_MEMCPY3D *pCopy, CUstream hStream), pCopy)

/* All devices are one memory. */
#define PEER_PARAMETERS (CUdeviceptr dstDevice, CUcontext dstContext, 	CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount, CUstream hStream)
static CUresult copy_peer(const char *entry, CUdeviceptr dstDevice, CUcontext dstContext,
	CUdeviceptr srcDevice, CUcontext srcContext, size_t bytes, CUstream stream)
{
	if (!dstContext || !srcContext)
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy_between(entry, ON_DEVICE, AT(dstDevice), dstContext, AT(srcDevice),
		srcContext, bytes, false, stream);
}
DOUBLE_STREAM_ENTRY(cuMemcpyPeerAsync, copy_peer, PEER_PARAMETERS,
	dstDevice, dstContext, srcDevice, srcContext, ByteCount)

/* CUDA 13 dropped the index of what failed. */
#define BATCH_PARAMETERS CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, 	size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs
#define BATCH_BODY(entry, fail, stream) 	(void) attrs; 	(void) attrsIdxs; 	(void) numAttrs; 	return copy_batch(entry, dsts, srcs, sizes, count, fail, stream)

DOUBLE_EXPORT CUresult cuMemcpyBatchAsync(BATCH_PARAMETERS, size_t *failIdx,
	CUstream hStream)
{
	BATCH_BODY(__func__, failIdx, hStream);
}

DOUBLE_EXPORT CUresult cuMemcpyBatchAsync_ptsz(BATCH_PARAMETERS, size_t *failIdx,
	CUstream hStream)
{
	BATCH_BODY(__func__, failIdx, double_per_thread(hStream));
}

DOUBLE_EXPORT CUresult cuMemcpyBatchAsync_v2(BATCH_PARAMETERS, CUstream hStream)
{
	BATCH_BODY(__func__, NULL, hStream);
}

DOUBLE_EXPORT CUresult cuMemcpyBatchAsync_v2_ptsz(BATCH_PARAMETERS, CUstream hStream)
{
	BATCH_BODY(__func__, NULL, double_per_thread(hStream));
}

DOUBLE_STREAM_ENTRY(cuMemsetD8Async, fill,
	(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream),
	dstDevice, 0, uc, 1, N, 1, false)
DOUBLE_STREAM_ENTRY(cuMemsetD16Async, fill,
	(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream),
	dstDevice, 0, us, 2, N, 1, false)
DOUBLE_STREAM_ENTRY(cuMemsetD32Async, fill,
	(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream),
	dstDevice, 0, ui, 4, N, 1, false)
DOUBLE_STREAM_ENTRY(cuMemsetD2D8Async, fill,
	(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width,
	 size_t Height, CUstream hStream),
	dstDevice, dstPitch, uc, 1, Width, Height, false)
DOUBLE_STREAM_ENTRY(cuMemsetD2D16Async, fill,
	(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width,
	 size_t Height, CUstream hStream),
	dstDevice, dstPitch, us, 2, Width, Height, false)
DOUBLE_STREAM_ENTRY(cuMemsetD2D32Async, fill,
	(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width,
	 size_t Height, CUstream hStream),
	dstDevice, dstPitch, ui, 4, Width, Height, false)
/* clang-format on */
