/* SPDX-License-Identifier: MIT */
/*
 * The part of the CUDA driver API that the doubles offer and the bundled
 * program uses, so that both build where there is no toolkit.  The names, the
 * values and the binary interface are those of the real header: a file that
 * includes <cuda.h> compiles against either, and tests/doubles_tests/test_headers.sh
 * has it compiled against both.
 */
#ifndef DOUBLE_CUDA_H
#define DOUBLE_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_VERSION 13000

typedef uint64_t cuuint64_t;
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUevent_st *CUevent;
typedef struct CUstream_st *CUstream;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUkern_st *CUkernel;
typedef struct CUlib_st *CUlibrary;
typedef struct CUarray_st *CUarray;
typedef uint32_t cuuint32_t;
typedef void (*CUhostFn)(void *userData);

typedef enum cudaError_enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_IMAGE = 200,
	CUDA_ERROR_INVALID_CONTEXT = 201,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_LAUNCH_FAILED = 719,
	CUDA_ERROR_NOT_SUPPORTED = 801,
	CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
	CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
	CUDA_ERROR_CAPTURED_EVENT = 907,
	CUDA_ERROR_UNKNOWN = 999
} CUresult;

typedef enum CUdevice_attribute_enum {
	CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
	CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
	CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
	CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
	CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
	CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
	CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
	CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
} CUdevice_attribute;

typedef enum CUstream_flags_enum {
	CU_STREAM_DEFAULT = 0x0,
	CU_STREAM_NON_BLOCKING = 0x1
} CUstream_flags;

typedef enum CUstreamCaptureMode_enum {
	CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
	CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
	CU_STREAM_CAPTURE_MODE_RELAXED = 2
} CUstreamCaptureMode;

typedef enum CUstreamCaptureStatus_enum {
	CU_STREAM_CAPTURE_STATUS_NONE = 0,
	CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
	CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2
} CUstreamCaptureStatus;

#define CU_STREAM_LEGACY ((CUstream) 0x1)
#define CU_STREAM_PER_THREAD ((CUstream) 0x2)

typedef enum CUevent_flags_enum {
	CU_EVENT_DEFAULT = 0x0,
	CU_EVENT_BLOCKING_SYNC = 0x1,
	CU_EVENT_DISABLE_TIMING = 0x2
} CUevent_flags;

typedef enum CUdriverProcAddress_flags_enum {
	CU_GET_PROC_ADDRESS_DEFAULT = 0,
	CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,
	CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2
} CUdriverProcAddress_flags;

typedef enum CUdriverProcAddressQueryResult_enum {
	CU_GET_PROC_ADDRESS_SUCCESS = 0,
	CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
	CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
} CUdriverProcAddressQueryResult;

#define CU_LAUNCH_PARAM_END ((void *) 0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *) 0x01)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *) 0x02)

typedef struct CUctxCreateParams_st CUctxCreateParams;
typedef void (*CUstreamCallback)(CUstream hStream, CUresult status, void *userData);

typedef enum CUlaunchAttributeID_enum {
	CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
	CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
	CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
	CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
	CU_LAUNCH_ATTRIBUTE_PRIORITY = 8,
	CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10
} CUlaunchAttributeID;

/* Only the members that the doubles read or set. */
typedef union CUlaunchAttributeValue_union {
	char pad[64];
	int cooperative;
	struct {
		unsigned int x;
		unsigned int y;
		unsigned int z;
	} clusterDim;
	int programmaticStreamSerializationAllowed;
	int priority;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute_st {
	CUlaunchAttributeID id;
	char pad[8 - sizeof(CUlaunchAttributeID)];
	CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
	unsigned int gridDimX;
	unsigned int gridDimY;
	unsigned int gridDimZ;
	unsigned int blockDimX;
	unsigned int blockDimY;
	unsigned int blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;

typedef struct CUuuid_st {
	char bytes[16];
} CUuuid;

typedef enum CUjit_option_enum { CU_JIT_MAX_REGISTERS = 0 } CUjit_option;
typedef enum CUlibraryOption_enum {
	CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE = 0
} CUlibraryOption;

typedef enum CUmoduleLoadingMode_enum {
	CU_MODULE_EAGER_LOADING = 0x1,
	CU_MODULE_LAZY_LOADING = 0x2
} CUmoduleLoadingMode;

typedef enum CUmemorytype_enum {
	CU_MEMORYTYPE_HOST = 0x01,
	CU_MEMORYTYPE_DEVICE = 0x02,
	CU_MEMORYTYPE_ARRAY = 0x03,
	CU_MEMORYTYPE_UNIFIED = 0x04
} CUmemorytype;

typedef struct CUDA_MEMCPY2D_st {
	size_t srcXInBytes;
	size_t srcY;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	size_t srcPitch;
	size_t dstXInBytes;
	size_t dstY;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	size_t dstPitch;
	size_t WidthInBytes;
	size_t Height;
} CUDA_MEMCPY2D;

typedef struct CUDA_MEMCPY3D_st {
	size_t srcXInBytes;
	size_t srcY;
	size_t srcZ;
	size_t srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	void *reserved0;
	size_t srcPitch;
	size_t srcHeight;
	size_t dstXInBytes;
	size_t dstY;
	size_t dstZ;
	size_t dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	void *reserved1;
	size_t dstPitch;
	size_t dstHeight;
	size_t WidthInBytes;
	size_t Height;
	size_t Depth;
} CUDA_MEMCPY3D;

typedef enum CUmemLocationType_enum {
	CU_MEM_LOCATION_TYPE_INVALID = 0x0,
	CU_MEM_LOCATION_TYPE_DEVICE = 0x1
} CUmemLocationType;

typedef struct CUmemLocation_st {
	CUmemLocationType type;
	int id;
} CUmemLocation;

typedef unsigned long long CUmemGenericAllocationHandle;

typedef enum CUmemAllocationType_enum {
	CU_MEM_ALLOCATION_TYPE_PINNED = 0x1
} CUmemAllocationType;

typedef enum CUmemAllocationHandleType_enum {
	CU_MEM_HANDLE_TYPE_NONE = 0x0,
	CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 0x1
} CUmemAllocationHandleType;

typedef enum CUmemAllocationGranularity_flags_enum {
	CU_MEM_ALLOC_GRANULARITY_MINIMUM = 0x0,
	CU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 0x1
} CUmemAllocationGranularity_flags;

typedef enum CUmemAccess_flags_enum {
	CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 0x3
} CUmemAccess_flags;

typedef struct CUmemAllocationProp_st {
	CUmemAllocationType type;
	CUmemAllocationHandleType requestedHandleTypes;
	CUmemLocation location;
	void *win32HandleMetaData;
	struct {
		unsigned char compressionType;
		unsigned char gpuDirectRDMACapable;
		unsigned short usage;
		unsigned char reserved[4];
	} allocFlags;
} CUmemAllocationProp;

typedef struct CUmemAccessDesc_st {
	CUmemLocation location;
	CUmemAccess_flags flags;
} CUmemAccessDesc;

typedef enum CUmemcpySrcAccessOrder_enum {
	CU_MEMCPY_SRC_ACCESS_ORDER_STREAM = 0x1
} CUmemcpySrcAccessOrder;

typedef enum CUmemcpyFlags_enum {
	CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE = 0x1
} CUmemcpyFlags;

typedef struct CUmemcpyAttributes_st {
	CUmemcpySrcAccessOrder srcAccessOrder;
	CUmemLocation srcLocHint;
	CUmemLocation dstLocHint;
	unsigned int flags;
} CUmemcpyAttributes;

typedef enum CUstreamWaitValue_flags_enum {
	CU_STREAM_WAIT_VALUE_GEQ = 0x0,
	CU_STREAM_WAIT_VALUE_EQ = 0x1,
	CU_STREAM_WAIT_VALUE_AND = 0x2,
	CU_STREAM_WAIT_VALUE_NOR = 0x3
} CUstreamWaitValue_flags;

typedef enum CUstreamBatchMemOpType_enum {
	CU_STREAM_MEM_OP_WAIT_VALUE_32 = 1,
	CU_STREAM_MEM_OP_WRITE_VALUE_32 = 2,
	CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES = 3,
	CU_STREAM_MEM_OP_WAIT_VALUE_64 = 4,
	CU_STREAM_MEM_OP_WRITE_VALUE_64 = 5,
	CU_STREAM_MEM_OP_BARRIER = 6
} CUstreamBatchMemOpType;

typedef union CUstreamBatchMemOpParams_union {
	CUstreamBatchMemOpType operation;
	struct {
		CUstreamBatchMemOpType operation;
		CUdeviceptr address;
		union {
			cuuint32_t value;
			cuuint64_t value64;
		};
		unsigned int flags;
		CUdeviceptr alias;
	} waitValue, writeValue;
	cuuint64_t pad[6];
} CUstreamBatchMemOpParams;

typedef enum CUgraphNodeType_enum {
	CU_GRAPH_NODE_TYPE_KERNEL = 0,
	CU_GRAPH_NODE_TYPE_MEMCPY = 1,
	CU_GRAPH_NODE_TYPE_MEMSET = 2,
	CU_GRAPH_NODE_TYPE_HOST = 3,
	CU_GRAPH_NODE_TYPE_EMPTY = 5,
	CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
	CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12
} CUgraphNodeType;

typedef struct CUgraphEdgeData_st {
	unsigned char from_port;
	unsigned char to_port;
	unsigned char type;
	unsigned char reserved[5];
} CUgraphEdgeData;

typedef struct CUDA_KERNEL_NODE_PARAMS_st {
	CUfunction func;
	unsigned int gridDimX;
	unsigned int gridDimY;
	unsigned int gridDimZ;
	unsigned int blockDimX;
	unsigned int blockDimY;
	unsigned int blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct CUDA_KERNEL_NODE_PARAMS_v2_st {
	CUfunction func;
	unsigned int gridDimX;
	unsigned int gridDimY;
	unsigned int gridDimZ;
	unsigned int blockDimX;
	unsigned int blockDimY;
	unsigned int blockDimZ;
	unsigned int sharedMemBytes;
	void **kernelParams;
	void **extra;
	CUkernel kern;
	CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS_v2;
typedef CUDA_KERNEL_NODE_PARAMS_v2 CUDA_KERNEL_NODE_PARAMS;

typedef struct CUDA_MEMSET_NODE_PARAMS_st {
	CUdeviceptr dst;
	size_t pitch;
	unsigned int value;
	unsigned int elementSize;
	size_t width;
	size_t height;
} CUDA_MEMSET_NODE_PARAMS;

typedef struct CUDA_HOST_NODE_PARAMS_st {
	CUhostFn fn;
	void *userData;
} CUDA_HOST_NODE_PARAMS;

/* Functions with a default stream come twice: NULL is the legacy or the thread's. */
#define DOUBLE_PTSZ(name, ...) \
	CUresult name(__VA_ARGS__); \
	CUresult name##_ptsz(__VA_ARGS__)
#define DOUBLE_PTDS(name, ...) \
	CUresult name(__VA_ARGS__); \
	CUresult name##_ptds(__VA_ARGS__)

CUresult cuInit(unsigned int Flags);
CUresult cuDriverGetVersion(int *driverVersion);
CUresult cuGetErrorName(CUresult error, const char **pStr);
CUresult cuGetErrorString(CUresult error, const char **pStr);
CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId);
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
			     cuuint64_t flags,
			     CUdriverProcAddressQueryResult *symbolStatus);

CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetName(char *name, int len, CUdevice dev);
CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev);
CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice dev);
CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev);
CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active);
CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev);
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice dev);
CUresult cuCtxCreate_v2(CUcontext *pctx, unsigned int flags, CUdevice dev);
CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams,
			unsigned int flags, CUdevice dev);
CUresult cuCtxDestroy_v2(CUcontext ctx);
CUresult cuCtxSetCurrent(CUcontext ctx);
CUresult cuCtxGetCurrent(CUcontext *pctx);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxSynchronize(void);

CUresult cuMemAlloc_v2(CUdeviceptr *dptr, size_t bytesize);
CUresult cuMemAllocHost_v2(void **pp, size_t bytesize);
CUresult cuMemFree_v2(CUdeviceptr dptr);
CUresult cuMemFreeHost(void *p);
CUresult cuMemGetInfo_v2(size_t *free, size_t *total);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr);
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
		     const CUmemAllocationProp *prop, unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr);
CUresult cuMemExportToShareableHandle(void *shareableHandle,
				      CUmemGenericAllocationHandle handle,
				      CUmemAllocationHandleType handleType,
				      unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
					void *osHandle,
					CUmemAllocationHandleType shHandleType);
CUresult cuMemGetAllocationGranularity(size_t *granularity,
				       const CUmemAllocationProp *prop,
				       CUmemAllocationGranularity_flags option);
CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment,
			     CUdeviceptr addr, unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size);
CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
		  CUmemGenericAllocationHandle handle, unsigned long long flags);
CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc,
			size_t count);
CUresult cuMemUnmap(CUdeviceptr ptr, size_t size);
DOUBLE_PTDS(cuMemcpy, CUdeviceptr dst, CUdeviceptr src, size_t ByteCount);
DOUBLE_PTDS(cuMemcpyHtoD_v2, CUdeviceptr dstDevice, const void *srcHost,
	    size_t ByteCount);
DOUBLE_PTDS(cuMemcpyDtoH_v2, void *dstHost, CUdeviceptr srcDevice, size_t ByteCount);
DOUBLE_PTDS(cuMemcpyDtoD_v2, CUdeviceptr dstDevice, CUdeviceptr srcDevice,
	    size_t ByteCount);
DOUBLE_PTSZ(cuMemcpyAsync, CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
	    CUstream hStream);
DOUBLE_PTSZ(cuMemcpyPeerAsync, CUdeviceptr dstDevice, CUcontext dstContext,
	    CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
	    CUstream hStream);
DOUBLE_PTSZ(cuMemcpyHtoDAsync_v2, CUdeviceptr dstDevice, const void *srcHost,
	    size_t ByteCount, CUstream hStream);
DOUBLE_PTSZ(cuMemcpyDtoHAsync_v2, void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
	    CUstream hStream);
DOUBLE_PTSZ(cuMemcpyDtoDAsync_v2, CUdeviceptr dstDevice, CUdeviceptr srcDevice,
	    size_t ByteCount, CUstream hStream);
DOUBLE_PTSZ(cuMemcpy2DAsync_v2, const CUDA_MEMCPY2D *pCopy, CUstream hStream);
DOUBLE_PTSZ(cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D *pCopy, CUstream hStream);
DOUBLE_PTSZ(cuMemcpyBatchAsync, CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
	    size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
	    size_t *failIdx, CUstream hStream);
DOUBLE_PTSZ(cuMemcpyBatchAsync_v2, CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes,
	    size_t count, CUmemcpyAttributes *attrs, size_t *attrsIdxs, size_t numAttrs,
	    CUstream hStream);
DOUBLE_PTDS(cuMemsetD8_v2, CUdeviceptr dstDevice, unsigned char uc, size_t N);
DOUBLE_PTDS(cuMemsetD16_v2, CUdeviceptr dstDevice, unsigned short us, size_t N);
DOUBLE_PTDS(cuMemsetD32_v2, CUdeviceptr dstDevice, unsigned int ui, size_t N);
DOUBLE_PTSZ(cuMemsetD8Async, CUdeviceptr dstDevice, unsigned char uc, size_t N,
	    CUstream hStream);
DOUBLE_PTSZ(cuMemsetD16Async, CUdeviceptr dstDevice, unsigned short us, size_t N,
	    CUstream hStream);
DOUBLE_PTSZ(cuMemsetD32Async, CUdeviceptr dstDevice, unsigned int ui, size_t N,
	    CUstream hStream);
DOUBLE_PTSZ(cuMemsetD2D8Async, CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
	    size_t Width, size_t Height, CUstream hStream);
DOUBLE_PTSZ(cuMemsetD2D16Async, CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
	    size_t Width, size_t Height, CUstream hStream);
DOUBLE_PTSZ(cuMemsetD2D32Async, CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
	    size_t Width, size_t Height, CUstream hStream);

DOUBLE_PTSZ(cuStreamWaitValue32, CUstream stream, CUdeviceptr addr, cuuint32_t value,
	    unsigned int flags);
DOUBLE_PTSZ(cuStreamWaitValue64, CUstream stream, CUdeviceptr addr, cuuint64_t value,
	    unsigned int flags);
DOUBLE_PTSZ(cuStreamWriteValue32, CUstream stream, CUdeviceptr addr, cuuint32_t value,
	    unsigned int flags);
DOUBLE_PTSZ(cuStreamWriteValue64, CUstream stream, CUdeviceptr addr, cuuint64_t value,
	    unsigned int flags);
DOUBLE_PTSZ(cuStreamBatchMemOp, CUstream stream, unsigned int count,
	    CUstreamBatchMemOpParams *paramArray, unsigned int flags);
DOUBLE_PTSZ(cuStreamWaitValue32_v2, CUstream stream, CUdeviceptr addr, cuuint32_t value,
	    unsigned int flags);
DOUBLE_PTSZ(cuStreamWaitValue64_v2, CUstream stream, CUdeviceptr addr, cuuint64_t value,
	    unsigned int flags);
DOUBLE_PTSZ(cuStreamWriteValue32_v2, CUstream stream, CUdeviceptr addr, cuuint32_t value,
	    unsigned int flags);
DOUBLE_PTSZ(cuStreamWriteValue64_v2, CUstream stream, CUdeviceptr addr, cuuint64_t value,
	    unsigned int flags);
DOUBLE_PTSZ(cuStreamBatchMemOp_v2, CUstream stream, unsigned int count,
	    CUstreamBatchMemOpParams *paramArray, unsigned int flags);

CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags);
CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority);
CUresult cuStreamDestroy_v2(CUstream hStream);
DOUBLE_PTSZ(cuStreamSynchronize, CUstream hStream);
DOUBLE_PTSZ(cuStreamQuery, CUstream hStream);
DOUBLE_PTSZ(cuStreamGetId, CUstream hStream, unsigned long long *streamId);
DOUBLE_PTSZ(cuStreamWaitEvent, CUstream hStream, CUevent hEvent, unsigned int Flags);
DOUBLE_PTSZ(cuStreamAddCallback, CUstream hStream, CUstreamCallback callback,
	    void *userData, unsigned int flags);
DOUBLE_PTSZ(cuStreamBeginCapture_v2, CUstream hStream, CUstreamCaptureMode mode);
DOUBLE_PTSZ(cuStreamEndCapture, CUstream hStream, CUgraph *phGraph);
DOUBLE_PTSZ(cuStreamIsCapturing, CUstream hStream, CUstreamCaptureStatus *captureStatus);
DOUBLE_PTSZ(cuStreamGetCaptureInfo, CUstream hStream,
	    CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out);
DOUBLE_PTSZ(cuStreamGetCaptureInfo_v2, CUstream hStream,
	    CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
	    CUgraph *graph_out, const CUgraphNode **dependencies_out,
	    size_t *numDependencies_out);
DOUBLE_PTSZ(cuStreamGetCaptureInfo_v3, CUstream hStream,
	    CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
	    CUgraph *graph_out, const CUgraphNode **dependencies_out,
	    const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out);
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode);

CUresult cuGraphCreate(CUgraph *phGraph, unsigned int flags);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *phGraphNode, CUgraph hGraph,
				 const CUgraphNode *dependencies, size_t numDependencies,
				 const CUDA_KERNEL_NODE_PARAMS_v2 *nodeParams);
CUresult cuGraphAddMemcpyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
			      const CUgraphNode *dependencies, size_t numDependencies,
			      const CUDA_MEMCPY3D *copyParams, CUcontext ctx);
CUresult cuGraphAddMemsetNode(CUgraphNode *phGraphNode, CUgraph hGraph,
			      const CUgraphNode *dependencies, size_t numDependencies,
			      const CUDA_MEMSET_NODE_PARAMS *memsetParams, CUcontext ctx);
CUresult cuGraphAddHostNode(CUgraphNode *phGraphNode, CUgraph hGraph,
			    const CUgraphNode *dependencies, size_t numDependencies,
			    const CUDA_HOST_NODE_PARAMS *nodeParams);
CUresult cuGraphAddEmptyNode(CUgraphNode *phGraphNode, CUgraph hGraph,
			     const CUgraphNode *dependencies, size_t numDependencies);
CUresult cuGraphGetNodes(CUgraph hGraph, CUgraphNode *nodes, size_t *numNodes);
CUresult cuGraphNodeGetType(CUgraphNode hNode, CUgraphNodeType *type);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *phGraphExec, CUgraph hGraph,
				     unsigned long long flags);
DOUBLE_PTSZ(cuGraphUpload, CUgraphExec hGraphExec, CUstream hStream);
DOUBLE_PTSZ(cuGraphLaunch, CUgraphExec hGraphExec, CUstream hStream);
CUresult cuGraphExecDestroy(CUgraphExec hGraphExec);
CUresult cuGraphDestroy(CUgraph hGraph);

CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags);
CUresult cuEventDestroy_v2(CUevent hEvent);
DOUBLE_PTSZ(cuEventRecord, CUevent hEvent, CUstream hStream);
DOUBLE_PTSZ(cuEventRecordWithFlags, CUevent hEvent, CUstream hStream, unsigned int flags);
CUresult cuEventSynchronize(CUevent hEvent);
CUresult cuEventQuery(CUevent hEvent);
CUresult cuEventElapsedTime_v2(float *pMilliseconds, CUevent hStart, CUevent hEnd);

DOUBLE_PTSZ(cuLaunchHostFunc, CUstream hStream, CUhostFn fn, void *userData);
DOUBLE_PTSZ(cuLaunchKernel, CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
	    unsigned int gridDimZ, unsigned int blockDimX, unsigned int blockDimY,
	    unsigned int blockDimZ, unsigned int sharedMemBytes, CUstream hStream,
	    void **kernelParams, void **extra);
DOUBLE_PTSZ(cuLaunchKernelEx, const CUlaunchConfig *config, CUfunction f,
	    void **kernelParams, void **extra);
DOUBLE_PTSZ(cuLaunchCooperativeKernel, CUfunction f, unsigned int gridDimX,
	    unsigned int gridDimY, unsigned int gridDimZ, unsigned int blockDimX,
	    unsigned int blockDimY, unsigned int blockDimZ, unsigned int sharedMemBytes,
	    CUstream hStream, void **kernelParams);

CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions,
			    CUjit_option *options, void **optionValues);
CUresult cuModuleUnload(CUmodule hmod);
CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name);
CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule mod);
CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int numFunctions,
				    CUmodule mod);
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode);
CUresult cuFuncGetName(const char **name, CUfunction hfunc);
CUresult cuFuncGetModule(CUmodule *hmod, CUfunction hfunc);
CUresult cuFuncGetParamInfo(CUfunction func, size_t paramIndex, size_t *paramOffset,
			    size_t *paramSize);
CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions,
			   void **jitOptionsValues, unsigned int numJitOptions,
			   CUlibraryOption *libraryOptions, void **libraryOptionValues,
			   unsigned int numLibraryOptions);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name);
CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library);
CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary lib);
CUresult cuKernelGetFunction(CUfunction *pFunc, CUkernel kernel);
CUresult cuKernelGetName(const char **name, CUkernel hfunc);

/* The older forms. */
#ifdef __CUDA_API_VERSION_INTERNAL
CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion,
			  cuuint64_t flags);
CUresult cuDevicePrimaryCtxRelease(CUdevice dev);
CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev);
CUresult cuCtxDestroy(CUcontext ctx);
CUresult cuStreamDestroy(CUstream hStream);
DOUBLE_PTSZ(cuStreamBeginCapture, CUstream hStream);
CUresult cuEventDestroy(CUevent hEvent);
CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd);
CUresult cuGraphAddKernelNode(CUgraphNode *phGraphNode, CUgraph hGraph,
			      const CUgraphNode *dependencies, size_t numDependencies,
			      const CUDA_KERNEL_NODE_PARAMS_v1 *nodeParams);
#endif

/* A program that names no version gets the newest, as from the real header. */
#ifndef __CUDA_API_VERSION_INTERNAL
#define cuCtxCreate cuCtxCreate_v4
#define cuCtxDestroy cuCtxDestroy_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuEventElapsedTime cuEventElapsedTime_v2
#define cuGetProcAddress cuGetProcAddress_v2
#define cuGraphAddKernelNode cuGraphAddKernelNode_v2
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#define cuMemAlloc cuMemAlloc_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemFree cuMemFree_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuStreamDestroy cuStreamDestroy_v2
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define DOUBLE_API_PTDS(name) name##_ptds
#define DOUBLE_API_PTSZ(name) name##_ptsz
#define cuEventRecord cuEventRecord_ptsz
#define cuGraphLaunch cuGraphLaunch_ptsz
#define cuLaunchHostFunc cuLaunchHostFunc_ptsz
#define cuLaunchKernel cuLaunchKernel_ptsz
#define cuLaunchKernelEx cuLaunchKernelEx_ptsz
#define cuMemsetD32Async cuMemsetD32Async_ptsz
#define cuStreamEndCapture cuStreamEndCapture_ptsz
#define cuStreamSynchronize cuStreamSynchronize_ptsz
#define cuStreamWaitEvent cuStreamWaitEvent_ptsz
#else
#define DOUBLE_API_PTDS(name) name
#define DOUBLE_API_PTSZ(name) name
#endif
#define cuMemcpyBatchAsync DOUBLE_API_PTSZ(cuMemcpyBatchAsync_v2)
#define cuMemcpyDtoD DOUBLE_API_PTDS(cuMemcpyDtoD_v2)
#define cuMemcpyDtoDAsync DOUBLE_API_PTSZ(cuMemcpyDtoDAsync_v2)
#define cuMemcpyDtoH DOUBLE_API_PTDS(cuMemcpyDtoH_v2)
#define cuMemcpyDtoHAsync DOUBLE_API_PTSZ(cuMemcpyDtoHAsync_v2)
#define cuMemcpyHtoD DOUBLE_API_PTDS(cuMemcpyHtoD_v2)
#define cuMemcpyHtoDAsync DOUBLE_API_PTSZ(cuMemcpyHtoDAsync_v2)
#define cuMemsetD32 DOUBLE_API_PTDS(cuMemsetD32_v2)
#define cuMemsetD8 DOUBLE_API_PTDS(cuMemsetD8_v2)
#define cuStreamBatchMemOp DOUBLE_API_PTSZ(cuStreamBatchMemOp_v2)
#define cuStreamBeginCapture DOUBLE_API_PTSZ(cuStreamBeginCapture_v2)
#define cuStreamGetCaptureInfo DOUBLE_API_PTSZ(cuStreamGetCaptureInfo_v3)
#define cuStreamWaitValue32 DOUBLE_API_PTSZ(cuStreamWaitValue32_v2)
#define cuStreamWaitValue64 DOUBLE_API_PTSZ(cuStreamWaitValue64_v2)
#define cuStreamWriteValue32 DOUBLE_API_PTSZ(cuStreamWriteValue32_v2)
#define cuStreamWriteValue64 DOUBLE_API_PTSZ(cuStreamWriteValue64_v2)
#endif

#ifdef __cplusplus
}
#endif

#endif
