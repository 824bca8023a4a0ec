/* SPDX-License-Identifier: MIT */
/*
 * How each kind of argument of cuda.def and hip.def is recorded.  For calls with two
 * events it adds kinds to those of kinds.h; it has all kinds for calls with one, packed
 * event.
 *
 * A kind K of a packed event has these lines: PACK_K(M, n), its fields as M(type, name,
 * base of the number when shown); STORE_K(n), which fills in those fields of the record r
 * from the argument n; and MEANS_K(n), which notes in w which argument is the stream, the
 * function, the buffer of arguments.  ROLE_K(n) gives the roles of fields, for both sorts
 * of calls.  The rules are those of kinds.h.
 *
 * It hides which fields an argument becomes.
 */
#ifndef TAP_CALLS_CUDA_KINDS_H
#define TAP_CALLS_CUDA_KINDS_H

#include "calls/cuda_types.h"
#include "calls/hip_types.h"
#include "calls/kinds.h"

static inline uint64_t tap_cuda_bytes2d(const CUDA_MEMCPY2D *copy)
{
	return copy ? copy->WidthInBytes * copy->Height : 0;
}

static inline uint64_t tap_cuda_bytes3d(const CUDA_MEMCPY3D *copy)
{
	return copy ? copy->WidthInBytes * copy->Height * copy->Depth : 0;
}

/*
 * A batch may be long: only its first sizes are added up, and the event has the count,
 * too.
 */
#define TAP_CUDA_SIZES_MAX 256

static inline uint64_t tap_cuda_sum(const size_t *sizes, size_t count)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; sizes && i < count && i < TAP_CUDA_SIZES_MAX; i++)
		sum += sizes[i];
	return sum;
}

/* The dimensions of the cluster; 0 if the launch asks for none. */
static inline void tap_cuda_cluster(const CUlaunchConfig *config,
				    uint32_t *ret_dimensions)
{
	unsigned i;

	ret_dimensions[0] = ret_dimensions[1] = ret_dimensions[2] = 0;
	for (i = 0; config->attrs && i < config->numAttrs; i++) {
		if (config->attrs[i].id != TAP_CUDA_ATTRIBUTE_CLUSTER)
			continue;
		ret_dimensions[0] = config->attrs[i].value.clusterDim.x;
		ret_dimensions[1] = config->attrs[i].value.clusterDim.y;
		ret_dimensions[2] = config->attrs[i].value.clusterDim.z;
	}
}

/* clang-format off */

/* ---- Calls with two events ---- */

#define READ_SKIP(ON_ENTRY, ON_EXIT, n)
#define ENTRY_SKIP(n)
#define EXIT_SKIP(n)
#define READ_DPTR(ON_ENTRY, ON_EXIT, n)
#define ENTRY_DPTR(n) lttng_ust_field_integer_hex(uint64_t, n, a->n)
#define EXIT_DPTR(n)
#define READ_COPY2D(ON_ENTRY, ON_EXIT, n) ON_ENTRY(TAP_READ_BYTES(n, true))
#define ENTRY_COPY2D(n) lttng_ust_field_integer(uint64_t, n##_bytes, tap_cuda_bytes2d(a->n))
#define EXIT_COPY2D(n)
#define READ_COPY3D(ON_ENTRY, ON_EXIT, n) ON_ENTRY(TAP_READ_BYTES(n, true))
#define ENTRY_COPY3D(n) lttng_ust_field_integer(uint64_t, n##_bytes, tap_cuda_bytes3d(a->n))
#define EXIT_COPY3D(n)
#define READ_KERNEL_NODE(ON_ENTRY, ON_EXIT, n) ON_ENTRY(TAP_READ_BYTES(n, true))
#define ENTRY_KERNEL_NODE(n) \
	lttng_ust_field_integer_hex(uint64_t, n##_func, (uintptr_t) (a->n ? a->n->func : NULL)) \
	lttng_ust_field_integer(uint32_t, n##_gridDimX, a->n ? a->n->gridDimX : 0)
#define EXIT_KERNEL_NODE(n)
#define READ_HIP_KERNEL_NODE(ON_ENTRY, ON_EXIT, n) ON_ENTRY(TAP_READ_BYTES(n, true))
#define ENTRY_HIP_KERNEL_NODE(n) \
	lttng_ust_field_integer_hex(uint64_t, n##_func, (uintptr_t) (a->n ? a->n->func : NULL)) \
	lttng_ust_field_integer(uint32_t, n##_gridDimX, a->n ? a->n->gridDim.x : 0)
#define EXIT_HIP_KERNEL_NODE(n)
#define READ_NODE(ON_ENTRY, ON_EXIT, n) ON_ENTRY(TAP_READ_BYTES(n, true))
#define ENTRY_NODE(n) lttng_ust_field_integer(int32_t, n##_type, a->n ? a->n->type : -1)
#define EXIT_NODE(n)

/* Arguments that the reader finds by their role, recorded as pointers or numbers. */
#define READ_BYTES READ_U64
#define ENTRY_BYTES ENTRY_U64
#define EXIT_BYTES EXIT_U64
#define READ_GRAPH READ_PTR
#define ENTRY_GRAPH ENTRY_PTR
#define EXIT_GRAPH EXIT_PTR
#define READ_GRAPH_EXEC READ_PTR
#define ENTRY_GRAPH_EXEC ENTRY_PTR
#define EXIT_GRAPH_EXEC EXIT_PTR
#define READ_OUT_GRAPH READ_OUT_PTR
#define ENTRY_OUT_GRAPH ENTRY_OUT_PTR
#define EXIT_OUT_GRAPH EXIT_OUT_PTR
#define READ_OUT_GRAPH_EXEC READ_OUT_PTR
#define ENTRY_OUT_GRAPH_EXEC ENTRY_OUT_PTR
#define EXIT_OUT_GRAPH_EXEC EXIT_OUT_PTR

/* ---- Calls with one event ---- */

#define PACK_SKIP(M, n)
#define STORE_SKIP(n)
#define PACK_PTR(M, n) M(uint64_t, n, 16)
#define STORE_PTR(n) r->n = (uintptr_t) n;
#define PACK_DPTR(M, n) M(uint64_t, n, 16)
#define STORE_DPTR(n) r->n = n;
#define PACK_U64(M, n) M(uint64_t, n, 10)
#define STORE_U64(n) r->n = n;
#define PACK_U32(M, n) M(uint32_t, n, 10)
#define STORE_U32(n) r->n = n;
#define PACK_U16(M, n) M(uint16_t, n, 10)
#define STORE_U16(n) r->n = n;
#define PACK_U8(M, n) M(uint8_t, n, 10)
#define STORE_U8(n) r->n = n;
#define PACK_I32(M, n) M(int32_t, n, 10)
#define STORE_I32(n) r->n = n;
#define PACK_STREAM PACK_PTR
#define STORE_STREAM STORE_PTR
#define PACK_BYTES PACK_U64
#define STORE_BYTES STORE_U64
#define PACK_GRAPH_EXEC PACK_PTR
#define STORE_GRAPH_EXEC STORE_PTR
#define PACK_GRID PACK_U32
#define STORE_GRID STORE_U32
#define PACK_FUNCTION PACK_PTR
#define STORE_FUNCTION STORE_PTR
#define PACK_MODULE_FUNCTION PACK_PTR
#define STORE_MODULE_FUNCTION STORE_PTR
#define PACK_HOST_FUNCTION PACK_PTR
#define STORE_HOST_FUNCTION STORE_PTR
#define PACK_PARAMETERS PACK_SKIP
#define STORE_PARAMETERS STORE_SKIP
#define PACK_EXTRA PACK_SKIP
#define STORE_EXTRA STORE_SKIP

#define PACK_LAUNCH_CONFIG(M, n) \
	M(uint32_t, gridDimX, 10) M(uint32_t, gridDimY, 10) M(uint32_t, gridDimZ, 10) \
	M(uint32_t, blockDimX, 10) M(uint32_t, blockDimY, 10) M(uint32_t, blockDimZ, 10) \
	M(uint32_t, sharedMemBytes, 10) M(uint64_t, hStream, 16) M(uint32_t, numAttrs, 10) \
	M(uint32_t, clusterDimX, 10) M(uint32_t, clusterDimY, 10) M(uint32_t, clusterDimZ, 10)
#define STORE_LAUNCH_CONFIG(n) do { \
	static const CUlaunchConfig nothing; \
	const CUlaunchConfig *c = n ? n : &nothing; \
	uint32_t cluster[3]; \
	tap_cuda_cluster(c, cluster); \
	r->gridDimX = c->gridDimX; r->gridDimY = c->gridDimY; r->gridDimZ = c->gridDimZ; \
	r->blockDimX = c->blockDimX; r->blockDimY = c->blockDimY; r->blockDimZ = c->blockDimZ; \
	r->sharedMemBytes = c->sharedMemBytes; r->hStream = (uintptr_t) c->hStream; \
	r->numAttrs = c->numAttrs; \
	r->clusterDimX = cluster[0]; r->clusterDimY = cluster[1]; r->clusterDimZ = cluster[2]; \
	} while (0);

/* HIP's two configurations, without clusters. */
#define PACK_HIP_CONFIG(M, n) \
	M(uint32_t, gridDimX, 10) M(uint32_t, gridDimY, 10) M(uint32_t, gridDimZ, 10) \
	M(uint32_t, blockDimX, 10) M(uint32_t, blockDimY, 10) M(uint32_t, blockDimZ, 10) \
	M(uint64_t, sharedMemBytes, 10) M(uint64_t, hStream, 16) M(uint32_t, numAttrs, 10)
#define STORE_HIP_CONFIG(n) do { \
	static const tap_hip_config nothing; \
	const tap_hip_config *c = n ? n : &nothing; \
	r->gridDimX = c->gridDim.x; r->gridDimY = c->gridDim.y; r->gridDimZ = c->gridDim.z; \
	r->blockDimX = c->blockDim.x; r->blockDimY = c->blockDim.y; r->blockDimZ = c->blockDim.z; \
	r->sharedMemBytes = c->dynamicSmemBytes; r->hStream = (uintptr_t) c->stream; \
	r->numAttrs = c->numAttrs; \
	} while (0);
#define PACK_HIP_DRIVER_CONFIG PACK_HIP_CONFIG
#define STORE_HIP_DRIVER_CONFIG(n) do { \
	static const tap_hip_driver_config nothing; \
	const tap_hip_driver_config *c = n ? n : &nothing; \
	r->gridDimX = c->gridDimX; r->gridDimY = c->gridDimY; r->gridDimZ = c->gridDimZ; \
	r->blockDimX = c->blockDimX; r->blockDimY = c->blockDimY; r->blockDimZ = c->blockDimZ; \
	r->sharedMemBytes = c->sharedMemBytes; r->hStream = (uintptr_t) c->hStream; \
	r->numAttrs = c->numAttrs; \
	} while (0);

/* Structures by value. */
#define PACK_DIM3(M, n) M(uint32_t, n##X, 10) M(uint32_t, n##Y, 10) M(uint32_t, n##Z, 10)
#define STORE_DIM3(n) r->n##X = n.x; r->n##Y = n.y; r->n##Z = n.z;
#define PACK_GRID3 PACK_DIM3
#define STORE_GRID3 STORE_DIM3
#define PACK_PITCHED(M, n) M(uint64_t, n, 16) M(uint64_t, n##_pitch, 10)
#define STORE_PITCHED(n) r->n = (uintptr_t) n.ptr; r->n##_pitch = n.pitch;
#define PACK_EXTENT(M, n) \
	M(uint64_t, n##_width, 10) M(uint64_t, n##_height, 10) M(uint64_t, n##_depth, 10)
#define STORE_EXTENT(n) \
	r->n##_width = n.width; r->n##_height = n.height; r->n##_depth = n.depth;

#define PACK_COPY2D(M, n) M(uint64_t, n##_bytes, 10)
#define STORE_COPY2D(n) r->n##_bytes = tap_cuda_bytes2d(n);
#define PACK_COPY3D(M, n) M(uint64_t, n##_bytes, 10)
#define STORE_COPY3D(n) r->n##_bytes = tap_cuda_bytes3d(n);
/* The sum of count copies, or of the first 256. */
#define PACK_SIZES_count(M, n) M(uint64_t, n##_bytes, 10)
#define STORE_SIZES_count(n) r->n##_bytes = tap_cuda_sum(n, count);

/* ---- What an argument means ---- */

#define MEANS_SKIP(n)
#define MEANS_PTR(n)
#define MEANS_DPTR(n)
#define MEANS_U64(n)
#define MEANS_U32(n)
#define MEANS_U16(n)
#define MEANS_U8(n)
#define MEANS_I32(n)
#define MEANS_BYTES(n)
#define MEANS_GRAPH_EXEC(n)
#define MEANS_GRID(n)
#define MEANS_DIM3(n)
#define MEANS_GRID3(n)
#define MEANS_PITCHED(n)
#define MEANS_EXTENT(n)
#define MEANS_FUNCTION(n) w.function = n;
#define MEANS_MODULE_FUNCTION(n) w.function = n; w.asked = TAP_FUNCTION_OF_MODULE;
#define MEANS_HOST_FUNCTION(n) w.function = (CUfunction) (uintptr_t) n; w.asked = TAP_FUNCTION_OF_HOST;
#define MEANS_PARAMETERS(n) w.parameters = n;
#define MEANS_EXTRA(n) w.extra = n;
#define MEANS_STREAM(n) w.has_stream = true; w.stream = n;
#define MEANS_LAUNCH_CONFIG(n) w.has_stream = true; w.stream = n ? n->hStream : NULL;
#define MEANS_HIP_CONFIG(n) w.has_stream = true; w.stream = n ? n->stream : NULL;
#define MEANS_HIP_DRIVER_CONFIG MEANS_LAUNCH_CONFIG
#define MEANS_COPY2D(n)
#define MEANS_COPY3D(n)
#define MEANS_SIZES_count(n)

/* ---- The roles of fields ---- */

#define ROLE_SKIP(n)
#define ROLE_DPTR(n)
#define ROLE_U16(n)
#define ROLE_U8(n)
#define ROLE_PARAMETERS(n)
#define ROLE_EXTRA(n)
#define ROLE_DIM3(n)
#define ROLE_PITCHED(n)
#define ROLE_EXTENT(n)
#define ROLE_NODE(n)
#define ROLE_KERNEL_NODE(n)
#define ROLE_HIP_KERNEL_NODE(n)
#define ROLE_BYTES(n) TAP_ROLE(BYTES, #n)
#define ROLE_COPY2D(n) TAP_ROLE(BYTES, #n "_bytes")
#define ROLE_COPY3D ROLE_COPY2D
#define ROLE_SIZES_count ROLE_COPY2D
#define ROLE_FUNCTION(n) TAP_ROLE(FUNCTION, #n)
#define ROLE_MODULE_FUNCTION ROLE_FUNCTION
#define ROLE_HOST_FUNCTION ROLE_FUNCTION
#define ROLE_GRID(n) TAP_ROLE(GRID, #n)
#define ROLE_GRID3(n) TAP_ROLE(GRID, #n "X")
#define ROLE_LAUNCH_CONFIG(n) TAP_ROLE(GRID, "gridDimX") TAP_ROLE(STREAM, "hStream")
#define ROLE_HIP_CONFIG ROLE_LAUNCH_CONFIG
#define ROLE_HIP_DRIVER_CONFIG ROLE_LAUNCH_CONFIG
#define ROLE_GRAPH(n) TAP_ROLE(GRAPH, #n)
#define ROLE_GRAPH_EXEC(n) TAP_ROLE(GRAPH_EXEC, #n)
#define ROLE_OUT_GRAPH(n) TAP_ROLE(MADE_GRAPH, #n)
#define ROLE_OUT_GRAPH_EXEC(n) TAP_ROLE(MADE_GRAPH_EXEC, #n)
/* clang-format on */

#endif
