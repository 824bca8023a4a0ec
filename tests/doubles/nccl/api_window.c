/* SPDX-License-Identifier: MIT */
/*
 * The exported functions of memory, its registration and windows: what they check, and in
 * which order, as NCCL does it.
 */
#include "api.h"

#include "release.h"
#include "settings.h"

#include <stdlib.h>

static bool has_objects(void)
{
	return mini_driver.MemCreate && mini_number(SET_NCCL_CUMEM_ENABLE);
}

/* An object of the driver's, which other processes can have too, rounded up. */
static CUresult create_memory(CUdeviceptr *ret_address, size_t size, CUdevice device)
{
	const CUmemAllocationProp properties = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device},
	};
	CUmemAccessDesc access = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle handle;
	size_t unit;
	int count = 0;
	int i;
	CUresult res = mini_driver.MemGetAllocationGranularity(
		&unit, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);

	if (!res)
		res = mini_driver.DeviceGetCount(&count);
	if (res)
		return res;
	size = (size + unit - 1) / unit * unit;
	res = mini_driver.MemCreate(&handle, size, &properties, 0);
	if (!res)
		res = mini_driver.MemAddressReserve(ret_address, size, unit, 0, 0);
	if (!res)
		res = mini_driver.MemMap(*ret_address, size, 0, handle, 0);
	access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	for (i = 0; i < count && !res; i++) {
		access.location.id = i;
		res = mini_driver.MemSetAccess(*ret_address, size, &access, 1);
	}
	return res;
}

MINI_API ncclResult_t ncclMemAlloc(void **ptr, size_t size)
{
	MINI_RANGE(MemAlloc);
	CUcontext context;
	CUdeviceptr address;
	int device;
	CUresult res;

	CHECK(mini_driver_load());
	CHECK(mini_driver_current(&context, &device));
	/* NCCL hands both to cudaMalloc(), which minds only the first. */
	if (!ptr)
		return mini_driver_check(CUDA_ERROR_INVALID_VALUE);
	*ptr = NULL;
	if (size == 0)
		return ncclSuccess;
	if (has_objects())
		res = create_memory(&address, size, device);
	else
		res = mini_driver.MemAlloc(&address, size);
	CHECK(mini_driver_check(res));
	*ptr = (void *) (uintptr_t) address;
	return ncclSuccess;
}

/* The handle that is asked for here is given back, and the one of the allocation. */
static CUresult free_memory(CUdeviceptr address)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr base;
	size_t size;
	CUresult res =
		mini_driver.MemRetainAllocationHandle(&handle,
						      (void *) (uintptr_t) address);

	if (!res)
		res = mini_driver.MemRelease(handle);
	if (!res)
		res = mini_driver.MemGetAddressRange(&base, &size, address);
	if (!res)
		res = mini_driver.MemUnmap(address, size);
	if (!res)
		res = mini_driver.MemRelease(handle);
	return res ? res : mini_driver.MemAddressFree(address, size);
}

MINI_API ncclResult_t ncclMemFree(void *ptr)
{
	MINI_RANGE(MemFree);
	CUdeviceptr address = (uintptr_t) ptr;

	CHECK(mini_driver_load());
	if (ptr && has_objects())
		return mini_driver_check(free_memory(address));
	return mini_driver_check(mini_driver.MemFree(address));
}

MINI_API ncclResult_t ncclCommRegister(const ncclComm_t comm, void *buff, size_t size,
				       void **handle)
{
	CHECK(mini_comm_check(comm, "CommRegister"));
	CHECK(check_pointer(handle, "CommRegister", "handle"));
	(void) buff;
	(void) size;
	/* Nothing is faster for it here; the handle is one to be given back. */
	*handle = malloc(1);
	return *handle ? ncclSuccess : mini_fail(ncclSystemError, "out of memory");
}

MINI_API ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle)
{
	CHECK(mini_comm_check(comm, "CommDeregister"));
	free(handle);
	return ncclSuccess;
}

static ncclResult_t add_window(ncclComm_t comm, void *buff, size_t size,
			       ncclWindow_t *win, int flags)
{
	struct mini_registration *registration;

	CHECK(mini_comm_ensure_ready(comm, "CommWindowRegister"));
	registration = calloc(1, sizeof(*registration));
	if (!registration)
		return mini_fail(ncclSystemError, "out of memory");
	registration->address = buff;
	registration->size = size;
	registration->flags = flags;
	registration->window = win;
	return mini_group_add_registration(comm, registration);
}

/* Since 2.29 it looks at its arguments, and says nothing where there are no windows. */
static ncclResult_t check_window(ncclComm_t comm, const void *buff, size_t size,
				 ncclWindow_t *win)
{
	CHECK(mini_comm_check(comm, "ncclCommWindowRegister"));
	CHECK(check_pointer(win, "ncclCommWindowRegister", "win"));
	*win = NULL;
	if (buff && size)
		return ncclSuccess;
	return mini_fail(ncclInvalidArgument, "invalid pointer %p / size %zu", buff,
			 size);
}

MINI_API ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void *buff, size_t size,
					     ncclWindow_t *win, int winFlags)
{
	bool is_checked = mini_release() >= 22900;

	if (is_checked)
		CHECK(check_window(comm, buff, size, win));
	if (is_checked && !mini_windows_are_supported(comm))
		return ncclSuccess;
	CHECK(mini_driver_load());
	if (!buff || !size)
		return ncclSuccess;
	CHECK(mini_comm_check(comm, "CommWindowRegister"));
	mini_group_start();
	return end_after(add_window(comm, buff, size, win, winFlags));
}

/* At once, by each rank alone. */
MINI_API ncclResult_t ncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t win)
{
	if (mini_release() >= 22900)
		CHECK(mini_comm_check(comm, "ncclCommWindowDeregister"));
	else if (mini_release() < 22800)
		CHECK(mini_driver_load());
	if (!win)
		return ncclSuccess;
	CHECK(mini_comm_check(comm, "CommWindowDeregister"));
	return mini_window_deregister(comm, win);
}

MINI_API ncclResult_t ncclWinGetUserPtr(ncclComm_t comm, ncclWindow_t win,
					void **outUserPtr)
{
	CHECK(mini_comm_check(comm, "ncclWinGetUserPtr"));
	CHECK(check_pointer(outUserPtr, "ncclWinGetUserPtr", "outUserPtr"));
	*outUserPtr = NULL;
	if (!mini_windows_are_supported(comm))
		return ncclSuccess;
	CHECK(check_pointer(win, "ncclWinGetUserPtr", "win"));
	*outUserPtr = win->window->address;
	return ncclSuccess;
}

/* The other name of each. */

MINI_ALIAS(MemAlloc);
MINI_ALIAS(MemFree);
MINI_ALIAS(CommRegister);
MINI_ALIAS(CommDeregister);
MINI_ALIAS(CommWindowRegister);
MINI_ALIAS(CommWindowDeregister);
MINI_ALIAS(WinGetUserPtr);
