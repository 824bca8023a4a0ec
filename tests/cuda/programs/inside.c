/* SPDX-License-Identifier: MIT */
/*
 * A libcuda.so.1 that uses itself as a program would: by name, through dlsym() and
 * through its own cuGetProcAddress(), each of which may lead through who stands before
 * it.  inside_calls says how many of its functions were reached.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <string.h>

int inside_calls;

CUresult cuStreamSynchronize(CUstream hStream)
{
	(void) hStream;
	inside_calls++;
	return CUDA_SUCCESS;
}

CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
		       CUstream hStream)
{
	(void) dst;
	(void) src;
	(void) ByteCount;
	inside_calls++;
	return cuStreamSynchronize(hStream);
}

CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	*pctx = NULL;
	return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion,
			     cuuint64_t flags,
			     CUdriverProcAddressQueryResult *symbolStatus)
{
	void *self = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);

	(void) cudaVersion;
	(void) flags;
	(void) symbolStatus;
	*pfn = self ? dlsym(self, symbol) : NULL;
	if (self)
		dlclose(self);
	return *pfn ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY,
			unsigned int gridDimZ, unsigned int blockDimX,
			unsigned int blockDimY, unsigned int blockDimZ,
			unsigned int sharedMemBytes, CUstream hStream,
			void **kernelParams, void **extra)
{
	CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t, CUstream) = NULL;
	CUresult (*wait)(CUstream) = NULL;

	(void) f;
	(void) gridDimY;
	(void) gridDimZ;
	(void) blockDimX;
	(void) blockDimY;
	(void) blockDimZ;
	(void) sharedMemBytes;
	(void) kernelParams;
	(void) extra;
	inside_calls++;
	if (cuGetProcAddress_v2("cuMemcpyAsync", (void **) &copy, 12000, 0, NULL) ||
	    copy(0, 0, 8, hStream))
		return CUDA_ERROR_UNKNOWN;
	*(void **) &wait = dlsym(RTLD_DEFAULT, "cuStreamSynchronize");
	if (!wait || wait(hStream))
		return CUDA_ERROR_UNKNOWN;
	/* Itself, once. */
	if (gridDimX > 1)
		return cuLaunchKernel(NULL, gridDimX - 1, 1, 1, 1, 1, 1, 0, hStream, NULL,
				      NULL);
	return CUDA_SUCCESS;
}
