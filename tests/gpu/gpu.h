/* SPDX-License-Identifier: MIT */
/*
 * What the programs of make check-gpu share.  They are built where there is neither CUDA
 * nor NCCL, and run where there is a GPU, with whatever libraries that machine has: so
 * nothing is linked, and each function is looked up by the name that the library exports.
 * They know nothing of ccltap; what they did they write down (log_line()).
 */
#ifndef GPU_H
#define GPU_H

#include <cuda.h>
#include <nccl.h>

#include <stddef.h>
#include <stdint.h>

/* Of names with several versions those that every driver since 11.0 has. */
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd);

/* clang-format off */
#define CUDA_FUNCTIONS(F) \
	F(cuInit) F(cuDriverGetVersion) F(cuGetErrorName) F(cuDeviceGetCount) \
	F(cuDeviceGet) F(cuDeviceGetName) F(cuDevicePrimaryCtxRetain) \
	F(cuDevicePrimaryCtxRelease) F(cuCtxSetCurrent) F(cuCtxSynchronize) \
	F(cuStreamCreate) F(cuStreamDestroy) F(cuStreamSynchronize) F(cuStreamQuery) \
	F(cuMemAlloc) F(cuMemFree) F(cuMemcpyHtoD) F(cuMemcpyDtoH) F(cuMemsetD8) \
	F(cuMemcpyHtoDAsync) F(cuMemcpyDtoDAsync) F(cuMemcpyDtoHAsync) \
	F(cuMemsetD32Async) F(cuModuleLoadData) F(cuModuleGetFunction) \
	F(cuLaunchKernel) F(cuLaunchHostFunc) F(cuEventCreate) F(cuEventDestroy) \
	F(cuEventRecord) F(cuEventElapsedTime) F(cuStreamBeginCapture) \
	F(cuStreamEndCapture) F(cuGraphInstantiate) F(cuGraphLaunch) \
	F(cuGraphExecDestroy) F(cuGraphDestroy)
#define NCCL_FUNCTIONS(F) \
	F(ncclGetVersion) F(ncclGetUniqueId) F(ncclGetErrorString) F(ncclCommInitRank) \
	F(ncclCommDestroy) F(ncclCommAbort) F(ncclCommGetAsyncError) F(ncclAllReduce) \
	F(ncclBroadcast) F(ncclReduce) F(ncclAllGather) F(ncclReduceScatter) \
	F(ncclSend) F(ncclRecv) F(ncclGroupStart) F(ncclGroupEnd)
/* clang-format on */

/* Twice, so that the names that cuda.h gives to others are those others'. */
#define GPU_MEMBER(name) GPU_MEMBER_OF(name)
#define GPU_MEMBER_OF(name) __typeof__(&name) name;

struct cuda {
	CUDA_FUNCTIONS(GPU_MEMBER)
};

struct nccl {
	NCCL_FUNCTIONS(GPU_MEMBER)
};

extern struct cuda cuda;
extern struct nccl nccl;
extern const char *gpu_program; /* its name, for what is said */
extern int gpu_rank;

void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...);
void check_cuda(CUresult result, const char *call);
void check_nccl(ncclResult_t result, const char *call);
#define CUDA(call) check_cuda(cuda.call, #call)
#define NCCL(call) check_nccl(nccl.call, #call)

/*
 * libcuda.so.1, and libnccl.so.2; GPU_LIBCUDA and GPU_LIBNCCL name others.  A library or
 * a function that is not there ends the program, with status 77.
 */
void load_cuda(void);
void load_nccl(void);

/* The device for this rank: ranks that are more than there are share one. */
CUcontext open_device(int number, CUdevice *ret_device);

/* Kernels of our own: adds to floats, and lasts so many ns. */
struct kernels {
	CUfunction add;
	CUfunction spin;
};

void load_kernels(struct kernels *kernels);
CUresult launch_add(const struct kernels *kernels, CUdeviceptr data, float value,
		    unsigned int count, CUstream stream);
CUresult launch_spin(const struct kernels *kernels, uint64_t ns, CUstream stream);

/* The log: FOLDER/log.RANK, a line of JSON for each thing that was done. */
void open_log(const char *folder);
void __attribute__((format(printf, 1, 2))) log_line(const char *format, ...);

int64_t now_ns(void); /* CLOCK_MONOTONIC */

/* Of the command line. */
long number_of(const char *text, long least, long most, const char *what);

#endif
