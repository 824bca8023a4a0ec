/* SPDX-License-Identifier: MIT */
/* Memory of the driver double that is an object: addresses, access, and other processes.
 */
#include "../lib/tap.h"

#include <cuda.h>

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define POSIX CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

static const CUmemAccessDesc all_access = {
	.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
};
static CUmemAllocationProp properties = {
	.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	.requestedHandleTypes = POSIX,
	.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
};
static size_t unit;
static pid_t other;
static int tells;

static void *host(CUdeviceptr address)
{
	return (void *) (uintptr_t) address;
}

static void test_limits(void)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr address;

	ok(cuMemGetAllocationGranularity(&unit, &properties,
					 CU_MEM_ALLOC_GRANULARITY_MINIMUM) ==
			   CUDA_SUCCESS &&
		   unit > 0 && (unit & (unit - 1)) == 0,
	   "there is a least size");
	ok(cuMemCreate(&handle, unit + 1, &properties, 0) == CUDA_ERROR_INVALID_VALUE &&
		   cuMemCreate(&handle, 0, &properties, 0) == CUDA_ERROR_INVALID_VALUE,
	   "of which each object is a multiple");
	ok(cuMemAddressReserve(&address, unit - 1, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE,
	   "and so is each reservation");
	ok(cuMemAddressReserve(&address, 3 * unit, 4 * unit, 0, 0) == CUDA_SUCCESS &&
		   address % (4 * unit) == 0,
	   "addresses are aligned as it was wished");
	ok(cuMemAddressFree(address, unit) == CUDA_ERROR_INVALID_VALUE &&
		   cuMemAddressFree(address, 3 * unit) == CUDA_SUCCESS &&
		   cuMemAddressFree(address, 3 * unit) == CUDA_ERROR_INVALID_VALUE,
	   "and given back once, as a whole");
}

/* In the middle of three. */
static void test_mapping(void)
{
	CUmemGenericAllocationHandle handle = 0;
	CUmemGenericAllocationHandle again;
	CUdeviceptr begin = 0;
	CUdeviceptr base = 0;
	CUdeviceptr plain;
	uint32_t words[2] = {0};
	size_t size = 0;

	ok(cuMemCreate(&handle, unit, &properties, 0) == CUDA_SUCCESS &&
		   cuMemAddressReserve(&begin, 3 * unit, 0, 0, 0) == CUDA_SUCCESS &&
		   cuMemMap(begin + unit, unit, 0, handle, 0) == CUDA_SUCCESS,
	   "an object has an address");
	ok(cuMemMap(begin + unit, unit, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE &&
		   cuMemMap(begin + 3 * unit, unit, 0, handle, 0) ==
			   CUDA_ERROR_INVALID_VALUE &&
		   cuMemMap(begin, 2 * unit, 0, handle, 0) == CUDA_ERROR_INVALID_VALUE,
	   "where nothing is, within a reservation, and not more of it than there is");
	ok(cuMemSetAccess(begin + unit, unit, &all_access, 1) == CUDA_SUCCESS &&
		   cuMemSetAccess(begin, unit, &all_access, 1) ==
			   CUDA_ERROR_INVALID_VALUE,
	   "access is given to what is mapped");
	ok(cuMemsetD32(begin + unit, 7, 2) == CUDA_SUCCESS &&
		   cuMemcpyDtoH(words, begin + unit, sizeof(words)) == CUDA_SUCCESS &&
		   words[1] == 7,
	   "it is memory of the device");
	ok(cuMemcpyDtoH(words, begin, sizeof(words)) == CUDA_ERROR_INVALID_VALUE,
	   "what is beside it is not");
	ok(cuMemGetAddressRange(&base, &size, begin + unit + 5) == CUDA_SUCCESS &&
		   base == begin + unit && size == unit &&
		   cuMemGetAddressRange(&base, &size, begin) == CUDA_ERROR_NOT_FOUND,
	   "an address leads to all of it");
	ok(cuMemRetainAllocationHandle(&again, host(begin + unit + 9)) == CUDA_SUCCESS &&
		   again == handle && cuMemRelease(again) == CUDA_SUCCESS,
	   "and to the object");
	cuMemAlloc(&plain, 64);
	ok(cuMemRetainAllocationHandle(&again, host(plain)) == CUDA_ERROR_INVALID_VALUE &&
		   cuMemGetAddressRange(&base, &size, plain + 1) == CUDA_SUCCESS &&
		   base == plain && size == 64,
	   "which other memory is not");
	cuMemFree(plain);
	/* The mapping keeps it. */
	ok(cuMemRelease(handle) == CUDA_SUCCESS &&
		   cuMemcpyDtoH(words, begin + unit, sizeof(words)) == CUDA_SUCCESS,
	   "it stays while it is mapped");
	ok(cuMemAddressFree(begin, 3 * unit) == CUDA_ERROR_INVALID_VALUE &&
		   cuMemUnmap(begin + unit, unit) == CUDA_SUCCESS &&
		   cuMemUnmap(begin + unit, unit) == CUDA_ERROR_INVALID_VALUE &&
		   cuMemRelease(handle) == CUDA_ERROR_INVALID_VALUE &&
		   cuMemAddressFree(begin, 3 * unit) == CUDA_SUCCESS,
	   "and no longer");
}

static bool map(CUmemGenericAllocationHandle handle, CUdeviceptr *address)
{
	return !cuMemAddressReserve(address, unit, 0, 0, 0) &&
	       !cuMemMap(*address, unit, 0, handle, 0) &&
	       !cuMemSetAccess(*address, unit, &all_access, 1);
}

/* A process that was there before cuInit(), and opens the file that it is told of. */
static pid_t start_other(int told)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr address;
	CUcontext context;
	char path[64];
	int fd = -1;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	cuInit(0);
	cuDevicePrimaryCtxRetain(&context, 1);
	cuCtxSetCurrent(context);
	cuMemGetAllocationGranularity(&unit, &properties,
				      CU_MEM_ALLOC_GRANULARITY_MINIMUM);
	if (read(told, &fd, sizeof(fd)) != (ssize_t) sizeof(fd))
		_exit(1);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int) getppid(), fd);
	fd = open(path, O_RDWR);
	if (cuMemImportFromShareableHandle(&handle, (void *) (uintptr_t) fd, POSIX) ||
	    !map(handle, &address) || *(uint32_t *) host(address) != 11)
		_exit(2);
	_exit(cuMemsetD32(address, 12, 1) != CUDA_SUCCESS);
}

static bool other_sees(int fd)
{
	int status = -1;

	if (write(tells, &fd, sizeof(fd)) != (ssize_t) sizeof(fd))
		return false;
	waitpid(other, &status, 0);
	return status == 0;
}

static void test_sharing(void)
{
	CUmemGenericAllocationHandle handle;
	CUmemGenericAllocationHandle alone;
	CUdeviceptr address;
	int fd = -1;

	ok(!cuMemCreate(&handle, unit, &properties, 0) && map(handle, &address) &&
		   !cuMemsetD32(address, 11, 1) &&
		   !cuMemExportToShareableHandle(&fd, handle, POSIX, 0) && fd >= 0,
	   "an object is exported");
	ok(other_sees(fd) && *(uint32_t *) host(address) == 12,
	   "and another process has the same memory");
	properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
	ok(!cuMemCreate(&alone, unit, &properties, 0) &&
		   cuMemExportToShareableHandle(&fd, alone, POSIX, 0) ==
			   CUDA_ERROR_INVALID_VALUE,
	   "if it was made for that");
	ok(cuMemImportFromShareableHandle(&alone, (void *) (uintptr_t) 9999, POSIX) ==
		   CUDA_ERROR_INVALID_VALUE,
	   "what is no file is no object");
}

int main(void)
{
	CUcontext context;
	int ends[2];

	if (pipe(ends))
		return 1;
	tells = ends[1];
	other = start_other(ends[0]);
	ok(cuMemCreate(&(CUmemGenericAllocationHandle){0}, 1, &properties, 0) ==
		   CUDA_ERROR_NOT_INITIALIZED,
	   "nothing goes before cuInit()");
	cuInit(0);
	cuDevicePrimaryCtxRetain(&context, 0);
	cuCtxSetCurrent(context);
	test_limits();
	test_mapping();
	test_sharing();
	return tap_done();
}
