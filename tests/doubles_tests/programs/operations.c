/* SPDX-License-Identifier: MIT */
/* Each operation of NCCL: its data before, its call, and what its data has to be after.
 */
#include "configured.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The sends of one rank to one peer in one operation, of unlike sizes: more than one. */
#define SENDS 3
#ifdef CONFIGURATION_PREMULSUM
#define OPERATORS (ncclNumOps + 1)
#else
#define OPERATORS ncclNumOps
#endif
/* By which PreMulSum multiplies. */
#define FACTOR 2
/* What nobody has put there. */
#define UNTOUCHED 0xa5

const char *const kind_names[KINDS] = {"all-reduce", "all-gather", "reduce-scatter",
				       "broadcast",  "reduce",	   "send-recv",
				       "all-to-all", "gather",	   "scatter"};

uint64_t draw(uint64_t *state, uint64_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 11) % below;
}

static bool reduces(enum kind kind)
{
	return kind == ALL_REDUCE || kind == REDUCE_SCATTER || kind == REDUCE;
}

static bool has_parts(enum kind kind)
{
	return kind != ALL_REDUCE && kind != BROADCAST && kind != REDUCE;
}

/* Nothing, next to nothing, and from there on anything up to the most. */
static size_t draw_count(uint64_t *state, size_t most)
{
	unsigned int bits = 1;

	if (draw(state, 16) == 0 || !most)
		return 0;
	while (most >> bits)
		bits++;
	return 1 + (size_t) draw(state, most) % ((size_t) 2 << draw(state, bits));
}

struct op draw_op(uint64_t *state, enum kind kind, int nranks, size_t most_bytes)
{
	static const ncclDataType_t types[] = {ncclInt8,    ncclUint8,	 ncclInt32,
					       ncclUint32,  ncclInt64,	 ncclUint64,
					       ncclFloat16, ncclFloat32, ncclFloat64,
					       ncclBfloat16};
	struct op op = {.kind = kind};
	size_t most;

	op.type = types[draw(state, sizeof(types) / sizeof(types[0]))];
	op.redop = reduces(kind) ? (ncclRedOp_t) draw(state, OPERATORS) : ncclSum;
	most = most_bytes / type_size(op.type);
	op.count = draw_count(state, has_parts(kind) ? most / (size_t) nranks : most);
	op.root = (int) draw(state, 1 << 20);
	op.is_in_place = draw(state, 3) == 0 && kind <= REDUCE;
	op.salt = (unsigned int) draw(state, 1 << 20);
	return op;
}

/* What a rank has at a place of its data. */
static long value(const struct op *op, int nranks, int rank, size_t i)
{
	long at = (long) (i % 4093) + op->salt % 101;
	bool is_fraction = op->type >= ncclFloat16;

	switch (op->redop) {
	case ncclProd:
		return at % nranks == rank ? 2 : 1;
	case ncclMax:
	case ncclMin:
		return (at * 3 + rank * 37) % 101;
	case ncclAvg:
		return (at + rank) % 4 * (is_fraction ? nranks : 1);
	default:
		return (at * 5 + rank * 7) % (reduces(op->kind) ? 4 : 113);
	}
}

static double reduced(const struct op *op, int nranks, size_t i)
{
	long result = value(op, nranks, 0, i);
	int r;

	for (r = 1; r < nranks; r++) {
		long other = value(op, nranks, r, i);

		if (op->redop == ncclProd)
			result *= other;
		else if (op->redop == ncclMax)
			result = other > result ? other : result;
		else if (op->redop == ncclMin)
			result = other < result ? other : result;
		else
			result += other;
	}
	if (op->redop == ncclNumOps)
		return (double) result * FACTOR;
	/* Integers are cut off. */
	return (double) (op->redop == ncclAvg ? result / nranks : result);
}

/* Bytes that the operation takes and gives on a rank. */
static size_t taken(const struct op *op, int nranks)
{
	size_t parts = op->kind == REDUCE_SCATTER || op->kind == ALL_TO_ALL ||
				       op->kind == SCATTER || op->kind == SEND_RECV
			       ? (size_t) nranks
			       : 1;

	return parts * op->count * type_size(op->type);
}

static size_t given(const struct op *op, int nranks)
{
	size_t parts = op->kind == ALL_GATHER || op->kind == ALL_TO_ALL ||
				       op->kind == GATHER || op->kind == SEND_RECV
			       ? (size_t) nranks
			       : 1;

	return parts * op->count * type_size(op->type);
}

static bool reserve(struct buffers *buffers, size_t size)
{
	CUdeviceptr send = 0;
	CUdeviceptr recv = 0;

	if (buffers->room) {
		buffers->size = size;
		return size <= buffers->room;
	}
	if (size <= buffers->size)
		return true;
	if (buffers->send)
		cuMemFree((CUdeviceptr) (uintptr_t) buffers->send);
	if (buffers->recv)
		cuMemFree((CUdeviceptr) (uintptr_t) buffers->recv);
	if (cuMemAlloc(&send, size) || cuMemAlloc(&recv, size)) {
		fprintf(stderr, "no memory on the device\n");
		return false;
	}
	buffers->send = (char *) (uintptr_t) send;
	buffers->recv = (char *) (uintptr_t) recv;
	buffers->size = size;
	return true;
}

static char *part(const struct op *op, char *data, int rank)
{
	return data + (size_t) rank * op->count * type_size(op->type);
}

/* In place the one buffer lies in the other, or is it. */
static char *source(const struct member *member, int slot, const struct op *op)
{
	const struct buffers *buffers = &member->buffers[slot];

	if (!op->is_in_place)
		return buffers->send;
	return op->kind == ALL_GATHER ? part(op, buffers->recv, member->rank)
				      : buffers->recv;
}

char *target(const struct member *member, int slot, const struct op *op)
{
	const struct buffers *buffers = &member->buffers[slot];

	return op->is_in_place && op->kind == REDUCE_SCATTER
		       ? part(op, buffers->recv, member->rank)
		       : buffers->recv;
}

bool prepare(struct member *member, int slot, const struct op *op)
{
	struct buffers *buffers = &member->buffers[slot];
	size_t in = taken(op, member->nranks);
	size_t out = given(op, member->nranks);
	size_t i;
	char *data;

	cuCtxSetCurrent(member->context);
	if (!reserve(buffers, (in > out ? in : out) + 64))
		return false;
	memset(buffers->send, UNTOUCHED, buffers->size);
	memset(buffers->recv, UNTOUCHED, buffers->size);
	data = source(member, slot, op);
	for (i = 0; i < in / type_size(op->type); i++)
		put(op->type, data, i, value(op, member->nranks, member->rank, i));
	return true;
}

ncclResult_t settled(const struct member *member, ncclResult_t result)
{
	ncclResult_t state = result;

	if (!member->is_nonblocking ||
	    (result != ncclSuccess && result != ncclInProgress))
		return result;
	do {
		/* Each call is an event where it is recorded. */
		usleep(50);
		result = ncclCommGetAsyncError(member->comm, &state);
	} while (result == ncclSuccess && state == ncclInProgress);
	return result == ncclSuccess ? state : result;
}

/* Drawn for communicators of all sizes. */
static int root_of(const struct op *op, const struct member *member)
{
	return op->root % member->nranks;
}

/* Where the k-th of several sends between two ranks begins. */
static size_t share_begin(const struct op *op, int k)
{
	return k == SENDS ? op->count : op->count / 8 * (size_t) k;
}

static ncclResult_t send_and_receive(struct member *member, int slot, const struct op *op)
{
	size_t size = type_size(op->type);
	ncclResult_t result = ncclGroupStart();
	int distance;
	int k;

	for (distance = 0; distance < member->nranks && result == ncclSuccess;
	     distance++) {
		int to = (member->rank + distance) % member->nranks;
		int from = (member->rank + member->nranks - distance) % member->nranks;

		for (k = 0; k < SENDS && result == ncclSuccess; k++) {
			size_t begin = share_begin(op, k);
			size_t count = share_begin(op, k + 1) - begin;

			result = ncclSend(part(op, member->buffers[slot].send, to) +
						  begin * size,
					  count, op->type, to, member->comm,
					  member->stream);
			if (result == ncclSuccess || result == ncclInProgress)
				result = ncclRecv(part(op, member->buffers[slot].recv,
						       from) +
							  begin * size,
						  count, op->type, from, member->comm,
						  member->stream);
			if (result == ncclInProgress)
				result = ncclSuccess;
		}
	}
	if (result == ncclSuccess)
		return ncclGroupEnd();
	ncclGroupEnd();
	return result;
}

static ncclResult_t call(struct member *m, int slot, const struct op *op,
			 ncclRedOp_t redop)
{
	const char *from = source(m, slot, op);
	char *to = target(m, slot, op);

	switch (op->kind) {
	case ALL_REDUCE:
		return ncclAllReduce(from, to, op->count, op->type, redop, m->comm,
				     m->stream);
	case ALL_GATHER:
		return ncclAllGather(from, to, op->count, op->type, m->comm, m->stream);
	case REDUCE_SCATTER:
		return ncclReduceScatter(from, to, op->count, op->type, redop, m->comm,
					 m->stream);
	case BROADCAST:
		return ncclBroadcast(from, to, op->count, op->type, root_of(op, m),
				     m->comm, m->stream);
	case REDUCE:
		return ncclReduce(from, to, op->count, op->type, redop, root_of(op, m),
				  m->comm, m->stream);
	case ALL_TO_ALL:
		return ncclAlltoAll(from, to, op->count, op->type, m->comm, m->stream);
	case GATHER:
		return ncclGather(from, to, op->count, op->type, root_of(op, m), m->comm,
				  m->stream);
	case SCATTER:
		return ncclScatter(from, to, op->count, op->type, root_of(op, m), m->comm,
				   m->stream);
	default:
		return send_and_receive(m, slot, op);
	}
}

bool enqueue(struct member *member, int slot, const struct op *op)
{
	ncclRedOp_t redop = op->redop;
	uint64_t factor = 0;
	ncclResult_t result = ncclSuccess;

	cuCtxSetCurrent(member->context);
	put(op->type, &factor, 0, FACTOR);
#ifdef CONFIGURATION_PREMULSUM
	if (op->redop == ncclNumOps)
		result = ncclRedOpCreatePreMulSum(&redop, &factor, op->type,
						  ncclScalarHostImmediate, member->comm);
#endif
	if (result == ncclSuccess)
		result = call(member, slot, op, redop);
#ifdef CONFIGURATION_PREMULSUM
	if (op->redop == ncclNumOps && result != ncclInvalidArgument)
		ncclRedOpDestroy(redop, member->comm);
#endif
	if (result == ncclSuccess || result == ncclInProgress)
		return true;
	fprintf(stderr, "rank %d: %s: %s: %s\n", member->rank, kind_names[op->kind],
		ncclGetErrorString(result), ncclGetLastError(member->comm));
	return false;
}

/* What a rank has to have at a place of what the operation gave. */
static double expected(const struct op *op, const struct member *m, size_t i)
{
	int from = op->count ? (int) (i / op->count) : 0;
	size_t at = op->count ? i % op->count : 0;
	size_t own = (size_t) m->rank * op->count;

	switch (op->kind) {
	case ALL_REDUCE:
	case REDUCE:
		return reduced(op, m->nranks, i);
	case REDUCE_SCATTER:
		return reduced(op, m->nranks, own + i);
	case ALL_GATHER:
	case GATHER:
		return (double) value(op, m->nranks, from, at);
	case BROADCAST:
		return (double) value(op, m->nranks, root_of(op, m), i);
	case SCATTER:
		return (double) value(op, m->nranks, root_of(op, m), own + i);
	default:
		return (double) value(op, m->nranks, from, own + at);
	}
}

/* NCCL multiplies fractions by 1/n before it adds them: that is not exact. */
static bool is_near(const struct op *op, double is, double should)
{
	bool is_rounded = op->redop == ncclAvg && op->type >= ncclFloat16;

	return fabs(is - should) <= (is_rounded ? fabs(should) / 32 : 0);
}

static bool is_untouched(const char *from, const char *to)
{
	while (from < to && *from == (char) UNTOUCHED)
		from++;
	return from == to;
}

bool verify(struct member *member, int slot, const struct op *op)
{
	size_t size = given(op, member->nranks);
	const char *data = target(member, slot, op);
	const struct buffers *buffers = &member->buffers[slot];
	bool is_given = member->rank == root_of(op, member) ||
			(op->kind != REDUCE && op->kind != GATHER);
	size_t i;

	for (i = 0; is_given && i < size / type_size(op->type); i++) {
		double is = get(op->type, data, i);
		double should = expected(op, member, i);

		if (is_near(op, is, should))
			continue;
		fprintf(stderr,
			"rank %d of %d: %s of %zu elements of type %d, operator %d, root "
			"%d, in place %d: element %zu is %g, not %g\n",
			member->rank, member->nranks, kind_names[op->kind], op->count,
			(int) op->type, (int) op->redop, root_of(op, member),
			op->is_in_place, i, is, should);
		return false;
	}
	if (!op->is_in_place &&
	    !is_untouched(data + (is_given ? size : 0), buffers->recv + buffers->size)) {
		fprintf(stderr, "rank %d: %s wrote where it may not\n", member->rank,
			kind_names[op->kind]);
		return false;
	}
	return true;
}
