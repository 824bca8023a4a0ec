/* SPDX-License-Identifier: MIT */
/* Stream memory operations of the driver double: words that a stream writes or waits for.
 */
#include "driver.h"

#include <time.h>

struct memop_work {
	struct double_work work;
	unsigned int count;
	CUstreamBatchMemOpParams ops[];
};

static bool is_reached(const CUstreamBatchMemOpParams *op)
{
	bool is_wide = op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
	void *place = (void *) (uintptr_t) op->waitValue.address;
	uint64_t now = is_wide ? __atomic_load_n((uint64_t *) place, __ATOMIC_ACQUIRE)
			       : __atomic_load_n((uint32_t *) place, __ATOMIC_ACQUIRE);
	uint64_t value = is_wide ? op->waitValue.value64 : op->waitValue.value;

	switch (op->waitValue.flags & 3) {
	case CU_STREAM_WAIT_VALUE_GEQ:
		/* Cyclic, so that a counter may wrap. */
		return is_wide ? (int64_t) (now - value) >= 0
			       : (int32_t) ((uint32_t) now - (uint32_t) value) >= 0;
	case CU_STREAM_WAIT_VALUE_EQ:
		return now == value;
	case CU_STREAM_WAIT_VALUE_AND:
		return (now & value) != 0;
	default:
		return is_wide ? ~(now | value) != 0 : (uint32_t) ~(now | value) != 0;
	}
}

static void run_op(const CUstreamBatchMemOpParams *op)
{
	const struct timespec pause = {.tv_nsec = 50000};
	void *place = (void *) (uintptr_t) op->writeValue.address;

	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
		while (!is_reached(op))
			nanosleep(&pause, NULL);
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		__atomic_store_n((uint32_t *) place, op->writeValue.value,
				 __ATOMIC_RELEASE);
		break;
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		__atomic_store_n((uint64_t *) place, op->writeValue.value64,
				 __ATOMIC_RELEASE);
		break;
	default:
		break;
	}
}

static void run_memops(struct double_work *work)
{
	struct memop_work *memops = (struct memop_work *) work;
	unsigned int i;

	for (i = 0; i < memops->count; i++)
		run_op(&memops->ops[i]);
}

static CUresult check_op(const CUstreamBatchMemOpParams *op)
{
	size_t align = op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
				       op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64
			       ? 8
			       : 4;

	if (op->operation < CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
	    op->operation > CU_STREAM_MEM_OP_BARRIER)
		return CUDA_ERROR_INVALID_VALUE;
	if (op->operation == CU_STREAM_MEM_OP_BARRIER ||
	    op->operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES)
		return CUDA_SUCCESS;
	if (!op->writeValue.address || op->writeValue.address % align)
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult batch(const char *entry, unsigned int count,
		      const CUstreamBatchMemOpParams *ops, unsigned int flags,
		      CUstream stream)
{
	struct memop_work *memops;
	struct double_call call;
	CUresult res = CUDA_SUCCESS;
	unsigned int i;

	double_call_begin(&call, entry, stream);
	if (flags || !ops || count == 0 || count > 256)
		return double_call_end(&call, CUDA_ERROR_INVALID_VALUE);
	for (i = 0; i < count && res == CUDA_SUCCESS; i++)
		res = check_op(&ops[i]);
	if (res != CUDA_SUCCESS)
		return double_call_end(&call, res);
	memops = double_work_new(sizeof(*memops) + count * sizeof(*ops),
				 CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, "values", run_memops);
	if (!memops)
		return double_call_end(&call, CUDA_ERROR_OUT_OF_MEMORY);
	memops->count = count;
	for (i = 0; i < count; i++)
		memops->ops[i] = ops[i];
	return double_call_end(&call,
			       double_stream_enqueue(&call, stream, &memops->work));
}

static CUresult value32(const char *entry, CUstreamBatchMemOpType type, CUdeviceptr addr,
			cuuint32_t value, unsigned int flags, CUstream stream)
{
	CUstreamBatchMemOpParams op = {.pad = {0}};

	op.operation = type;
	op.waitValue.address = addr;
	op.waitValue.value = value;
	op.waitValue.flags = flags;
	return batch(entry, 1, &op, 0, stream);
}

static CUresult value64(const char *entry, CUstreamBatchMemOpType type, CUdeviceptr addr,
			cuuint64_t value, unsigned int flags, CUstream stream)
{
	CUstreamBatchMemOpParams op = {.pad = {0}};

	op.operation = type;
	op.waitValue.address = addr;
	op.waitValue.value64 = value;
	op.waitValue.flags = flags;
	return batch(entry, 1, &op, 0, stream);
}

/* clang-format off */
#define PARAMETERS(width) \
	(CUstream hStream, CUdeviceptr addr, cuuint##width##_t value, unsigned int flags)
#define VALUE_ENTRY(name, width, type) \
	DOUBLE_STREAM_ENTRY(name, value##width, PARAMETERS(width), type, addr, value, flags) \
	DOUBLE_STREAM_ENTRY(name##_v2, value##width, PARAMETERS(width), type, addr, value, flags)
#define BATCH_ENTRY(name) \
	DOUBLE_STREAM_ENTRY(name, batch, (CUstream hStream, unsigned int count, \
		CUstreamBatchMemOpParams *paramArray, unsigned int flags), \
		count, paramArray, flags)

/* The second version is for all devices, the first had to be allowed: here they are one. */
VALUE_ENTRY(cuStreamWaitValue32, 32, CU_STREAM_MEM_OP_WAIT_VALUE_32)
VALUE_ENTRY(cuStreamWaitValue64, 64, CU_STREAM_MEM_OP_WAIT_VALUE_64)
VALUE_ENTRY(cuStreamWriteValue32, 32, CU_STREAM_MEM_OP_WRITE_VALUE_32)
VALUE_ENTRY(cuStreamWriteValue64, 64, CU_STREAM_MEM_OP_WRITE_VALUE_64)
BATCH_ENTRY(cuStreamBatchMemOp)
BATCH_ENTRY(cuStreamBatchMemOp_v2)
/* clang-format on */
