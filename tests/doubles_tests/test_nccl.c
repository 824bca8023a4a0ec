/* SPDX-License-Identifier: MIT */
/*
 * The NCCL double with all ranks in one process: right values, the order that
 * streams and groups promise and no other, results of wrong use, and the threads.
 */
#include "../lib/tap.h"

#include <cuda.h>
#include <nccl.h>

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RANKS 3
#define MAX_CREATIONS 1024
/* More than one loop of the ring even for the smallest type. */
#define BYTES ((size_t) 2000003 * 8)

static CUcontext contexts[RANKS];
static CUstream streams[RANKS];
static CUdeviceptr sends[RANKS];
static CUdeviceptr recvs[RANKS];
static ncclComm_t comms[RANKS];
static char *host;
static sem_t gate;

/* How the library's threads came to be: seen here, since this program's comes first. */
struct creation {
	pthread_t creator;
	pthread_t thread;
	void *argument;
};

static struct creation creations[MAX_CREATIONS];
static atomic_int creation_count;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
		   void *argument)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*) (void *), void *);
	int i = atomic_fetch_add(&creation_count, 1);
	int err;

	*(void **) &real = dlsym(RTLD_NEXT, "pthread_create");
	err = real(thread, attr, start, argument);
	if (!err && i < MAX_CREATIONS)
		creations[i] = (struct creation){pthread_self(), *thread, argument};
	return err;
}

/* Lengths of what the progress threads handed to send(), in order. */
static size_t sent[64];
static atomic_int sent_count;

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	ssize_t (*real)(int, const void *, size_t, int);
	int i;

	*(void **) &real = dlsym(RTLD_NEXT, "send");
	if (flags & MSG_DONTWAIT) {
		i = atomic_fetch_add(&sent_count, 1);
		if (i < 64)
			sent[i] = size;
	}
	return real(fd, data, size, flags);
}

/* Seen here as well: the library's own calls of what it exports. */
static atomic_int questions;

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state)
{
	atomic_fetch_add(&questions, 1);
	return pncclCommGetAsyncError(comm, state);
}

static void *at(CUdeviceptr memory)
{
	return (void *) (uintptr_t) memory;
}

static bool all_succeed(const ncclResult_t *results)
{
	int r;

	for (r = 0; r < RANKS; r++) {
		if (results[r] != ncclSuccess)
			return false;
	}
	return true;
}

/* What a stream holds before the collective: the data arrives behind the gate. */
struct arrival {
	void *to;
	void *from;
	size_t bytes;
};

static void arrive(void *data)
{
	const struct arrival *arrival = data;

	while (sem_wait(&gate))
		;
	memcpy(arrival->to, arrival->from, arrival->bytes);
}

static void synchronize(void)
{
	int r;

	for (r = 0; r < RANKS; r++) {
		cuCtxSetCurrent(contexts[r]);
		cuStreamSynchronize(streams[r]);
	}
}

static size_t type_size(ncclDataType_t type)
{
	static const size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

	return sizes[type];
}

/* A small whole number in each type, written without the double's conversions. */
static void encode(void *to, ncclDataType_t type, int value)
{
	float single = (float) value;
	double twice = value;
	uint64_t integer = (uint64_t) value;
	uint32_t bits;
	uint16_t half;

	memcpy(&bits, &single, sizeof(bits));
	if (type == ncclFloat32) {
		memcpy(to, &single, sizeof(single));
	} else if (type == ncclFloat64) {
		memcpy(to, &twice, sizeof(twice));
	} else if (type == ncclBfloat16) {
		half = (uint16_t) (bits >> 16);
		memcpy(to, &half, sizeof(half));
	} else if (type == ncclFloat16) {
		/* 112 is the difference of the exponents' origins. */
		half = value ? (uint16_t) ((bits >> 13) - (112 << 10)) : 0;
		memcpy(to, &half, sizeof(half));
	} else {
		memcpy(to, &integer, type_size(type));
	}
}

/*
 * NCCL multiplies by a third before it adds, which is not exact, but is so where what is
 * multiplied is a multiple of three.
 */
static int factor = 1;

static int value_of(int rank, size_t i)
{
	return factor * ((int) (i % 5) + rank);
}

/* Over the ranks 0 to 2 every operation gives a whole number. */
static int result_of(ncclRedOp_t op, size_t i)
{
	int v = (int) (i % 5);

	switch (op) {
	case ncclSum:
		return 3 * v + 3;
	case ncclProd:
		return v * (v + 1) * (v + 2);
	case ncclMax:
		return v + 2;
	case ncclMin:
		return v;
	default:
		return factor * (v + 1);
	}
}

static void fill(ncclDataType_t type, size_t count)
{
	size_t i;
	int r;

	for (r = 0; r < RANKS; r++) {
		for (i = 0; i < count; i++)
			encode(host + i * type_size(type), type, value_of(r, i));
		cuCtxSetCurrent(contexts[r]);
		cuMemcpyHtoD(sends[r], host, count * type_size(type));
		cuMemsetD8(recvs[r], 0x5a, count * type_size(type));
	}
}

/* Whether element `at_index` and on of a rank's buffer are value(i), i from `first`. */
static bool holds(CUdeviceptr memory, ncclDataType_t type, size_t count,
		  int (*value)(int which, size_t i), int which, size_t first)
{
	char expected[8];
	size_t i;

	cuMemcpyDtoH(host, memory, count * type_size(type));
	for (i = 0; i < count; i++) {
		encode(expected, type, value(which, first + i));
		if (memcmp(expected, host + i * type_size(type), type_size(type)) != 0)
			return false;
	}
	return true;
}

static int reduced(int op, size_t i)
{
	return result_of((ncclRedOp_t) op, i);
}

static bool all_reduce_is_right(ncclDataType_t type, ncclRedOp_t op, size_t count,
				bool in_place)
{
	bool is_right = true;
	int r;

	fill(type, count);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		ncclAllReduce(at(sends[r]), at(in_place ? sends[r] : recvs[r]), count,
			      type, op, comms[r], streams[r]);
	is_right = ncclGroupEnd() == ncclSuccess;
	synchronize();
	for (r = 0; r < RANKS; r++)
		is_right &= holds(in_place ? sends[r] : recvs[r], type, count, reduced,
				  (int) op, 0);
	return is_right;
}

static void test_all_reduce(void)
{
	static const char *const types[] = {
		"int8",	  "uint8",   "int32",	"uint32",  "int64",
		"uint64", "float16", "float32", "float64", "bfloat16",
	};
	static const char *const ops[] = {"sum", "product", "maximum", "minimum",
					  "average"};
	char sentence[80];
	int type;
	int op;

	for (type = 0; type < 10; type++) {
		for (op = 0; op < 5; op++) {
			snprintf(sentence, sizeof(sentence), "%s of %s", ops[op],
				 types[type]);
			factor = op == ncclAvg ? 3 : 1;
			ok(all_reduce_is_right((ncclDataType_t) type, (ncclRedOp_t) op,
					       1003, op % 2),
			   sentence);
			factor = 1;
		}
	}
	ok(all_reduce_is_right(ncclInt32, ncclSum, 1, false),
	   "one element on three ranks");
	ok(all_reduce_is_right(ncclFloat64, ncclSum, 2000003, true),
	   "several loops of the ring, in place");
	ok(ncclAllReduce(NULL, NULL, 0, ncclInt8, ncclSum, comms[0], streams[0]) ==
		   ncclSuccess,
	   "no elements are no work");
}

/* Sums of two raw values, the third rank adding nothing. */
static uint16_t half_sum(ncclDataType_t type, uint16_t a, uint16_t b)
{
	uint16_t values[RANKS] = {a, b, 0};
	uint16_t sum = 0;
	int r;

	ncclGroupStart();
	for (r = 0; r < RANKS; r++) {
		cuMemcpyHtoD(sends[r], &values[r], sizeof(values[r]));
		ncclAllReduce(at(sends[r]), at(recvs[r]), 1, type, ncclSum, comms[r],
			      streams[r]);
	}
	ncclGroupEnd();
	synchronize();
	cuMemcpyDtoH(&sum, recvs[1], sizeof(sum));
	return sum;
}

static void test_rounding(void)
{
	ok(half_sum(ncclFloat16, 0x6800, 0x3c00) == 0x6800,
	   "2048 + 1 rounds to even in float16");
	ok(half_sum(ncclFloat16, 0x6801, 0x3c00) == 0x6802,
	   "2050 + 1 rounds to even in float16");
	ok(half_sum(ncclFloat16, 0x0001, 0x0001) == 0x0002,
	   "the smallest float16 doubles");
	ok(half_sum(ncclFloat16, 0x03ff, 0x0001) == 0x0400, "a float16 becomes normal");
	ok(half_sum(ncclFloat16, 0x7bff, 0x7bff) == 0x7c00,
	   "float16 overflows to infinity");
	ok(half_sum(ncclFloat16, 0xbc00, 0x3800) == 0xb800,
	   "-1 + 0.5 is -0.5 in float16");
	ok(half_sum(ncclBfloat16, 0x4380, 0x3f80) == 0x4380,
	   "256 + 1 rounds to even in bfloat16");
}

static int twice_reduced(int op, size_t i)
{
	return 2 * reduced(op, i);
}

/* Sums of what each rank has, times two. */
static bool multiplies(ncclDataType_t type, const ncclRedOp_t *ops)
{
	bool is_right;
	int r;

	fill(type, 1003);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		ncclAllReduce(at(sends[r]), at(recvs[r]), 1003, type, ops[r], comms[r],
			      streams[r]);
	is_right = ncclGroupEnd() == ncclSuccess;
	synchronize();
	for (r = 0; r < RANKS; r++)
		is_right &= holds(recvs[r], type, 1003, twice_reduced, ncclSum, 0);
	return is_right;
}

static void test_pre_mul_sum(void)
{
	ncclRedOp_t ops[RANKS];
	CUdeviceptr scalar;
	float single = 2;
	int r;

	for (r = 0; r < RANKS; r++)
		ncclRedOpCreatePreMulSum(&ops[r], &single, ncclFloat32,
					 ncclScalarHostImmediate, comms[r]);
	single = 5;
	ok(multiplies(ncclFloat32, ops), "an operator of a program multiplies first");
	ok(ncclAllReduce(at(sends[0]), at(recvs[0]), 1, ncclFloat64, ops[0], comms[0],
			 streams[0]) == ncclInvalidArgument,
	   "only data of its type");
	ok(ncclAllReduce(at(sends[1]), at(recvs[1]), 1, ncclFloat32, ops[0], comms[1],
			 streams[1]) == ncclInvalidArgument,
	   "and only in its communicator");
	for (r = 0; r < RANKS; r++)
		ncclRedOpDestroy(ops[r], comms[r]);
	ok(ncclRedOpDestroy(ops[0], comms[0]) == ncclInvalidArgument &&
		   ncclRedOpDestroy(ncclSum, comms[0]) == ncclInvalidArgument,
	   "it is destroyed once, and those that there are always never");

	cuMemAlloc(&scalar, 4);
	cuMemsetD32(scalar, 7, 1);
	for (r = 0; r < RANKS; r++)
		ncclRedOpCreatePreMulSum(&ops[r], at(scalar), ncclInt32, ncclScalarDevice,
					 comms[r]);
	cuMemsetD32(scalar, 2, 1);
	ok(multiplies(ncclInt32, ops), "what is on the device is read when it runs");
	for (r = 0; r < RANKS; r++)
		ncclRedOpDestroy(ops[r], comms[r]);
	cuMemFree(scalar);
}

static int own(int rank, size_t i)
{
	return value_of(rank, i);
}

static void test_rooted(void)
{
	const size_t count = 300001;
	bool is_right = true;
	int r;

	fill(ncclInt32, count);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		ncclBroadcast(r == 1 ? at(sends[r]) : NULL, at(recvs[r]), count,
			      ncclInt32, 1, comms[r], streams[r]);
	ncclGroupEnd();
	synchronize();
	for (r = 0; r < RANKS; r++)
		is_right &= holds(recvs[r], ncclInt32, count, own, 1, 0);
	ok(is_right, "all have the data of the root after a broadcast");

	fill(ncclInt32, count);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		ncclBcast(at(sends[r]), count, ncclInt32, 2, comms[r], streams[r]);
	ncclGroupEnd();
	synchronize();
	ok(holds(sends[0], ncclInt32, count, own, 2, 0),
	   "the old form of broadcast works in place");

	fill(ncclInt32, count);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		ncclReduce(at(sends[r]), r == 1 ? at(recvs[r]) : NULL, count, ncclInt32,
			   ncclSum, 1, comms[r], streams[r]);
	ncclGroupEnd();
	synchronize();
	ok(holds(recvs[1], ncclInt32, count, reduced, ncclSum, 0),
	   "the root has the sum after a reduce");
}

static void test_parts(void)
{
	const size_t part = 200003;
	bool is_right = true;
	int other;
	int r;

	fill(ncclInt32, RANKS * part);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		ncclAllGather(at(sends[r]), at(recvs[r]), part, ncclInt32, comms[r],
			      streams[r]);
	ncclGroupEnd();
	synchronize();
	for (r = 0; r < RANKS; r++) {
		for (other = 0; other < RANKS; other++)
			is_right &= holds(recvs[r] + (size_t) other * part * 4, ncclInt32,
					  part, own, other, 0);
	}
	ok(is_right, "all have all parts after an all-gather");

	is_right = true;
	fill(ncclInt32, RANKS * part);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		ncclReduceScatter(at(sends[r]), at(recvs[r]), part, ncclInt32, ncclAvg,
				  comms[r], streams[r]);
	ncclGroupEnd();
	synchronize();
	for (r = 0; r < RANKS; r++)
		is_right &= holds(recvs[r], ncclInt32, part, reduced, ncclAvg,
				  (size_t) r * part);
	ok(is_right, "each has its part of the average after a reduce-scatter");

	is_right = true;
	fill(ncclInt32, RANKS * part);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		ncclAlltoAll(at(sends[r]), at(recvs[r]), part, ncclInt32, comms[r],
			     streams[r]);
	ncclGroupEnd();
	synchronize();
	for (r = 0; r < RANKS; r++) {
		for (other = 0; other < RANKS; other++)
			is_right &= holds(recvs[r] + (size_t) other * part * 4, ncclInt32,
					  part, own, other, (size_t) r * part);
	}
	ok(is_right, "each has its part of all after an all-to-all");

	is_right = true;
	fill(ncclInt32, RANKS * part);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++) {
		ncclGather(at(sends[r]), at(recvs[r]), part, ncclInt32, 0, comms[r],
			   streams[r]);
		ncclScatter(at(sends[r]), at(recvs[r] + RANKS * part * 4), part,
			    ncclInt32, 2, comms[r], streams[r]);
	}
	ncclGroupEnd();
	synchronize();
	for (r = 0; r < RANKS; r++) {
		is_right &= holds(recvs[0] + (size_t) r * part * 4, ncclInt32, part, own,
				  r, 0);
		is_right &= holds(recvs[r] + RANKS * part * 4, ncclInt32, part, own, 2,
				  (size_t) r * part);
	}
	ok(is_right, "gather and scatter in one group do both");
}

static void test_point_to_point(void)
{
	const size_t count = 150001;
	bool is_right = true;
	ncclResult_t res;
	int r;

	fill(ncclInt32, 3 * count);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++) {
		/* Sent before anything is received, twice to one peer, and to itself. */
		ncclSend(at(sends[r]), count, ncclInt32, (r + 1) % RANKS, comms[r],
			 streams[r]);
		ncclSend(at(sends[r] + 4), count, ncclInt32, (r + 1) % RANKS, comms[r],
			 streams[r]);
		ncclSend(at(sends[r] + 8), count, ncclInt32, r, comms[r], streams[r]);
		ncclRecv(at(recvs[r]), count, ncclInt32, (r + 2) % RANKS, comms[r],
			 streams[r]);
		ncclRecv(at(recvs[r] + count * 4), count, ncclInt32, (r + 2) % RANKS,
			 comms[r], streams[r]);
		ncclRecv(at(recvs[r] + count * 8), count, ncclInt32, r, comms[r],
			 streams[r]);
	}
	res = ncclGroupEnd();
	synchronize();
	for (r = 0; r < RANKS; r++) {
		is_right &= holds(recvs[r], ncclInt32, count, own, (r + 2) % RANKS, 0);
		is_right &= holds(recvs[r] + count * 4, ncclInt32, count, own,
				  (r + 2) % RANKS, 1);
		is_right &= holds(recvs[r] + count * 8, ncclInt32, count, own, r, 2);
	}
	ok(res == ncclSuccess && is_right,
	   "sends and receives of a group do not wait for each other, in order");
	ok(ncclSend(at(sends[0]), 1, ncclInt8, 0, comms[0], streams[0]) ==
		   ncclInvalidUsage,
	   "a send to itself alone is wrong usage");
}

/* Gives what is not in order the time to show it, and then opens the gate. */
static void open_gate(void)
{
	int i;

	for (i = 0; i < 2000; i++)
		sched_yield();
	sem_post(&gate);
}

static void test_order(void)
{
	const size_t count = 1000;
	struct arrival arrival = {at(sends[0]), NULL, count * 4};
	int32_t last = 0;
	CUstream other;
	bool is_late;
	int r;

	arrival.from = malloc(arrival.bytes);
	fill(ncclInt32, count);
	cuMemcpyDtoH(arrival.from, sends[0], arrival.bytes);
	cuCtxSetCurrent(contexts[0]);
	cuMemsetD8(sends[0], 0x11, arrival.bytes);
	cuLaunchHostFunc(streams[0], arrive, &arrival);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++)
		ncclAllReduce(at(sends[r]), at(recvs[r]), count, ncclInt32, ncclSum,
			      comms[r], streams[r]);
	ncclGroupEnd();
	cuCtxSetCurrent(contexts[1]);
	is_late = cuStreamQuery(streams[1]) == CUDA_ERROR_NOT_READY;
	open_gate();
	synchronize();
	ok(is_late && holds(recvs[1], ncclInt32, count, reduced, ncclSum, 0),
	   "a collective waits for what is in the stream of any rank before it");

	cuCtxSetCurrent(contexts[0]);
	cuMemsetD8(sends[0], 0x11, arrival.bytes);
	cuMemsetD8(recvs[0], 0x11, arrival.bytes);
	cuStreamCreate(&other, CU_STREAM_NON_BLOCKING);
	cuLaunchHostFunc(other, arrive, &arrival);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++) {
		ncclAllReduce(at(sends[r]), at(recvs[r]), count, ncclInt32, ncclSum,
			      comms[r], streams[r]);
		ncclAllReduce(at(recvs[r]), at(recvs[r] + count * 4), 1, ncclInt32,
			      ncclSum, comms[r], r == 0 ? other : streams[r]);
	}
	ncclGroupEnd();
	cuCtxSetCurrent(contexts[0]);
	cuMemcpyDtoHAsync(&last, recvs[0] + (count - 1) * 4, 4, other);
	open_gate();
	cuStreamSynchronize(other);
	synchronize();
	ok(last == reduced(ncclSum, count - 1) &&
		   holds(recvs[1], ncclInt32, count, reduced, ncclSum, 0),
	   "a group over two streams comes after and before what is in either");
	cuCtxSetCurrent(contexts[0]);
	cuStreamDestroy(other);
	free(arrival.from);
}

static bool has_sent(size_t size, int first, int end)
{
	int i;

	for (i = first; i < end; i++) {
		if (sent[i] == size)
			return true;
	}
	return false;
}

/*
 * Three ranks in a ring: an all-reduce has four chunks per rank, of two messages each,
 * and a chunk is a multiple of 16 bytes; what is left over for the last of them is
 * nothing.
 */
static void test_messages(void)
{
	int count;
	int r;

	atomic_store(&sent_count, 0);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++) {
		ncclAllReduce(at(sends[r] + 64), at(recvs[r] + 64), 300, ncclInt32,
			      ncclSum, comms[r], streams[r]);
		ncclAllReduce(at(sends[r]), at(recvs[r]), 3, ncclInt32, ncclSum, comms[r],
			      streams[r]);
	}
	ncclGroupEnd();
	synchronize();
	count = atomic_load(&sent_count);
	ok(count == RANKS * (2 * 8 + 4) && has_sent(400, 0, count) &&
		   has_sent(4 + 12, 0, count),
	   "the size goes before the data, and with it when there is little");
	ok(sent[0] == 4 || sent[0] == 4 + 12,
	   "of like collectives of a group the smaller goes first");
}

static void test_arguments(void)
{
	void *buffer = at(sends[0]);
	ncclComm_t comm = comms[0];
	CUstream stream = streams[0];
	ncclComm_t unused = NULL;
	ncclUniqueId id;
	int value = -1;

	ncclGetUniqueId(&id);
	ok(ncclCommInitRank(&unused, 2, id, 2) == ncclInvalidArgument &&
		   ncclCommInitRank(&unused, 2, id, -1) == ncclInvalidArgument &&
		   ncclCommInitRank(&unused, 0, id, 0) == ncclInvalidArgument &&
		   ncclCommInitRank(NULL, 1, id, 0) == ncclInvalidArgument,
	   "a rank that does not exist cannot be initialised");
	ok(strstr(ncclGetLastError(comm), "NULL") != NULL, "the last error can be read");
	ok(ncclAllReduce(buffer, buffer, 1, ncclNumTypes, ncclSum, comm, stream) ==
			   ncclInvalidArgument &&
		   ncclAllReduce(buffer, buffer, 1, ncclInt8, ncclNumOps, comm, stream) ==
			   ncclInvalidArgument,
	   "an unknown type or operation is an invalid argument");
	ok(ncclBroadcast(buffer, buffer, 1, ncclInt8, RANKS, comm, stream) ==
			   ncclInvalidArgument &&
		   ncclReduce(buffer, buffer, 1, ncclInt8, ncclSum, -1, comm, stream) ==
			   ncclInvalidArgument &&
		   ncclSend(buffer, 1, ncclInt8, RANKS, comm, stream) ==
			   ncclInvalidArgument,
	   "so is a root or peer that does not exist");
	ok(ncclAllReduce(buffer, buffer, 1, ncclFloat8e4m3, ncclSum, comm, stream) ==
		   ncclInvalidArgument,
	   "and the sum of 8-bit floats on a GPU that cannot do it");
	atomic_store(&questions, 0);
	ncclAllReduce(NULL, NULL, 0, ncclInt8, ncclSum, comm, stream);
	ok(atomic_load(&questions) == 1,
	   "each call asks for the state of its communicator, as any program would");
	ok(ncclCommCount(comm, &value) == ncclSuccess && value == RANKS &&
		   ncclCommUserRank(comms[2], &value) == ncclSuccess && value == 2 &&
		   ncclCommCuDevice(comms[1], &value) == ncclSuccess && value == 1,
	   "a communicator knows its size, rank and device");
	ncclGroupStart();
	ncclSend(buffer, 1, ncclInt8, RANKS, comm, stream);
	ncclCommInitRank(&unused, 1, id, 0);
	ok(ncclGroupEnd() == ncclInvalidArgument && unused &&
		   ncclCommCount(unused, &value) != ncclSuccess,
	   "a group that failed before its end makes nothing that can be used");
	ok(ncclCommAbort(unused) == ncclSuccess, "but that can be aborted");
}

static void test_split(void)
{
	ncclComm_t children[RANKS] = {NULL, comms[0], NULL};
	ncclResult_t results[RANKS];
	int count = 0;
	int rank = 0;
	int r;

	fill(ncclInt32, 100);
	ncclGroupStart();
	for (r = 0; r < RANKS; r++) {
		cuCtxSetCurrent(contexts[r]);
		ncclCommSplit(comms[r], r == 1 ? NCCL_SPLIT_NOCOLOR : 4, -r, &children[r],
			      NULL);
	}
	ok(!children[0] && !children[1] && !children[2],
	   "a child is not there before the ranks have met");
	ok(ncclGroupEnd() == ncclSuccess && !children[1] && children[0] && children[2],
	   "a split gives communicators to those who have a colour");
	ncclCommCount(children[0], &count);
	ncclCommUserRank(children[0], &rank);
	ok(count == 2 && rank == 1, "whose ranks follow the keys");
	ncclGroupStart();
	for (r = 0; r < RANKS; r += 2)
		ncclBroadcast(at(sends[r]), at(recvs[r]), 100, ncclInt32, 0, children[r],
			      streams[r]);
	ncclGroupEnd();
	synchronize();
	ok(holds(recvs[0], ncclInt32, 100, own, 2, 0), "and can be used");
	for (r = 0; r < RANKS; r++)
		results[r] = ncclCommDestroy(children[r]);
	ok(all_succeed(results), "they are destroyed like others");
}

static int twice_own(int rank, size_t i)
{
	return 2 * own(rank, i);
}

static void test_alone(void)
{
	int32_t factor_of_two = 2;
	ncclRedOp_t twice;
	ncclComm_t comm;
	ncclUniqueId id;

	fill(ncclInt32, 10);
	cuCtxSetCurrent(contexts[0]);
	ncclGetUniqueId(&id);
	ncclCommInitRank(&comm, 1, id, 0);
	ncclGroupStart();
	ncclAllReduce(at(sends[0]), at(recvs[0]), 10, ncclInt32, ncclSum, comm,
		      streams[0]);
	cuStreamSynchronize(streams[0]);
	ok(holds(recvs[0], ncclInt32, 10, own, 0, 0),
	   "a communicator of one rank copies at once, even inside a group");
	ncclGroupEnd();
	ncclRedOpCreatePreMulSum(&twice, &factor_of_two, ncclInt32,
				 ncclScalarHostImmediate, comm);
	ncclAllReduce(at(sends[0]), at(sends[0]), 10, ncclInt32, twice, comm, streams[0]);
	cuStreamSynchronize(streams[0]);
	ok(holds(sends[0], ncclInt32, 10, twice_own, 0, 0),
	   "and multiplies, where that is wanted, in place");
	ncclCommDestroy(comm);
}

static void test_nonblocking(void)
{
	ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
	ncclResult_t state;
	ncclUniqueId id;
	ncclComm_t comm = NULL;
	int count;

	cuCtxSetCurrent(contexts[0]);
	config.blocking = 2;
	ncclGetUniqueId(&id);
	ok(ncclCommInitRankConfig(&comm, 2, id, 0, &config) == ncclInvalidArgument,
	   "a configuration is checked");
	config.blocking = 0;
	ok(ncclCommInitRankConfig(&comm, 2, id, 0, &config) == ncclInProgress && comm,
	   "a nonblocking initialisation returns while the other rank is missing");
	ok(ncclCommGetAsyncError(comm, &state) == ncclSuccess && state == ncclInProgress,
	   "and says that it is in progress");
	ok(ncclCommCount(comm, &count) == ncclInvalidArgument,
	   "until then it cannot be used");
	ok(ncclCommAbort(comm) == ncclSuccess, "but aborted");

	fill(ncclInt32, 10);
	ncclGetUniqueId(&id);
	ncclCommInitRankConfig(&comm, 1, id, 0, &config);
	do
		ncclCommGetAsyncError(comm, &state);
	while (state == ncclInProgress);
	ok(state == ncclSuccess, "with all ranks there it succeeds");
	ncclGroupStart();
	ncclSend(at(sends[0]), 10, ncclInt32, 0, comm, streams[0]);
	ncclRecv(at(recvs[0]), 10, ncclInt32, 0, comm, streams[0]);
	ok(ncclGroupEnd() == ncclInProgress, "its groups go on in the background too");
	do
		ncclCommGetAsyncError(comm, &state);
	while (state == ncclInProgress);
	cuStreamSynchronize(streams[0]);
	ok(state == ncclSuccess && holds(recvs[0], ncclInt32, 10, own, 0, 0),
	   "and do their work");
	ncclCommDestroy(comm);
}

static void test_duplicates(void)
{
	ncclComm_t same[2] = {NULL, NULL};
	ncclUniqueId id;
	int r;

	cuCtxSetCurrent(contexts[0]);
	ncclGetUniqueId(&id);
	ncclGroupStart();
	for (r = 0; r < 2; r++)
		ncclCommInitRank(&same[r], 2, id, r);
	ok(ncclGroupEnd() == ncclInvalidUsage && same[0] && same[1],
	   "two ranks cannot be on one GPU of one host");
	for (r = 0; r < 2; r++)
		ncclCommAbort(same[r]);
}

/* As many as a long job makes, each in the place of the one before. */
static void test_addresses(void)
{
	ncclComm_t first = NULL;
	ncclComm_t comm = NULL;
	ncclUniqueId id;
	int reused = 0;
	int count;
	int i;

	cuCtxSetCurrent(contexts[0]);
	for (i = 0; i < 1000; i++) {
		ncclGetUniqueId(&id);
		if (ncclCommInitRank(&comm, 1, id, 0) != ncclSuccess)
			break;
		first = first ? first : comm;
		reused += comm == first;
		if (ncclCommDestroy(comm) != ncclSuccess)
			break;
	}
	ok(i == 1000 && reused == 1000,
	   "the next communicator has the address of the one destroyed before");
	ok(ncclCommCount(comm, &count) == ncclInvalidArgument,
	   "which is none when nothing is there");
}

/* From this creation on: threads and arguments of before may be where others were. */
static bool has_creation(int first, pthread_t creator, const void *argument,
			 struct creation *ret_creation)
{
	int count = atomic_load(&creation_count);
	int i;

	for (i = first; i < count && i < MAX_CREATIONS; i++) {
		if (pthread_equal(creations[i].creator, creator) &&
		    creations[i].argument == argument) {
			*ret_creation = creations[i];
			return true;
		}
	}
	return false;
}

/* Of one communicator: two creations with one argument, and one by the first of them. */
static void test_threads(void)
{
	ncclComm_t comm;
	ncclUniqueId id;
	struct creation service;
	struct creation uds;
	struct creation progress = {.argument = NULL};
	char name[16] = "";
	bool is_there;
	int first;

	setenv("NCCL_SET_THREAD_NAME", "1", 1);
	cuCtxSetCurrent(contexts[0]);
	ncclGetUniqueId(&id);
	first = atomic_load(&creation_count);
	ncclCommInitRank(&comm, 1, id, 0);
	service = creations[first];
	uds = creations[first + 1];
	ok(atomic_load(&creation_count) == first + 2 &&
		   service.argument == uds.argument &&
		   pthread_equal(service.creator, pthread_self()),
	   "the initialising thread creates two service threads with one argument");
	ok(pthread_getname_np(service.thread, name, sizeof(name)) == 0 &&
		   strcmp(name, "NCCL Service  0") == 0,
	   "which have names where these are asked for");
	ncclGroupStart();
	ncclSend(at(sends[0]), 10, ncclInt32, 0, comm, streams[0]);
	ncclRecv(at(recvs[0]), 10, ncclInt32, 0, comm, streams[0]);
	ncclGroupEnd();
	is_there = has_creation(first, service.thread, service.argument, &progress);
	ok(is_there,
	   "the first of them creates the progress thread, with the same argument");
	/* NCCL 2.28.9, proxy.cc:1014. */
	ok(is_there && pthread_getname_np(progress.thread, name, sizeof(name)) == 0 &&
		   strcmp(name, "NCCL Progress 1") == 0,
	   "whose name has the number of ranks of its node");
	cuStreamSynchronize(streams[0]);
	ncclCommDestroy(comm);
	unsetenv("NCCL_SET_THREAD_NAME");
}

static void set_up(void)
{
	int r;

	sem_init(&gate, 0, 0);
	host = malloc(BYTES);
	setenv("NCCL_ALGO", "ring", 1);
	setenv("NCCL_PROTO", "simple", 1);
	cuInit(0);
	for (r = 0; r < RANKS; r++) {
		cuDevicePrimaryCtxRetain(&contexts[r], r);
		cuCtxSetCurrent(contexts[r]);
		cuStreamCreate(&streams[r], CU_STREAM_NON_BLOCKING);
		cuMemAlloc(&sends[r], BYTES);
		cuMemAlloc(&recvs[r], BYTES);
	}
	ok(host && ncclCommInitAll(comms, RANKS, NULL) == ncclSuccess,
	   "one call makes the communicators of all devices");
}

static void tear_down(void)
{
	ncclResult_t results[RANKS];
	int r;

	ok(ncclCommFinalize(comms[0]) == ncclSuccess &&
		   ncclCommFinalize(comms[0]) == ncclInvalidArgument,
	   "a communicator is finalised once");
	for (r = 0; r < RANKS; r++) {
		results[r] = ncclCommDestroy(comms[r]);
		cuCtxSetCurrent(contexts[r]);
		cuMemFree(sends[r]);
		cuMemFree(recvs[r]);
		cuStreamDestroy(streams[r]);
		cuDevicePrimaryCtxRelease(r);
	}
	ok(all_succeed(results), "and destroyed");
	free(host);
}

int main(void)
{
	/* Over TCP wherever this runs; test_nccl_verbs.sh is for the other network. */
	setenv("NCCL_IB_DISABLE", "1", 1);
	set_up();
	test_all_reduce();
	test_rounding();
	test_pre_mul_sum();
	test_rooted();
	test_parts();
	test_point_to_point();
	test_order();
	test_messages();
	test_arguments();
	test_split();
	test_alone();
	test_nonblocking();
	test_duplicates();
	test_threads();
	/* Last of those that create threads, since it creates so many. */
	test_addresses();
	tear_down();
	return tap_done();
}
