/* SPDX-License-Identifier: MIT */
/* A libcuda.so.1 that launches nothing, and gives each function a name. */
#include <cuda.h>

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	*pctx = NULL;
	return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char **name, CUfunction hfunc)
{
	(void) hfunc;
	*name = "kernel";
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
			unsigned int gridDimZ, unsigned int blockDimX,
			unsigned int blockDimY, unsigned int blockDimZ,
			unsigned int sharedMemBytes, CUstream hStream,
			void **kernelParams, void **extra)
{
	(void) f;
	(void) gridDimX;
	(void) gridDimY;
	(void) gridDimZ;
	(void) blockDimX;
	(void) blockDimY;
	(void) blockDimZ;
	(void) sharedMemBytes;
	(void) hStream;
	(void) kernelParams;
	(void) extra;
	return CUDA_SUCCESS;
}
