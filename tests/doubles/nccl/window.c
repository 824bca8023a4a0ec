/* SPDX-License-Identifier: MIT */
/* Windows (NCCL 2.28.9, dev_runtime.cc). */
#include "window.h"

#include "comm.h"
#include "release.h"
#include "result.h"
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STRIDE_UNIT ((size_t) 1 << 32)
#define LARGEST_PAGE ((size_t) 512 << 20)
/* Of the ranks' resources: as much as one allocation has at least. */
#define RESOURCE_BYTES ((size_t) 2 << 20)

/* An allocation of the driver's, mapped for each rank. */
struct mini_memory {
	struct mini_memory *next;
	CUmemGenericAllocationHandle handle;
	size_t size;
	size_t offset;
	unsigned int references;
};

bool mini_windows_are_supported(const struct ncclComm *comm)
{
	return mini_release() >= 22700 && mini_driver.MemCreate && comm->topology &&
	       comm->topology->nnodes == 1 && mini_number(SET_NCCL_WIN_ENABLE) &&
	       mini_number(SET_NCCL_CUMEM_ENABLE) && !mini_number(SET_NCCL_P2P_DISABLE);
}

static size_t round_up(size_t size, size_t unit)
{
	return (size + unit - 1) / unit * unit;
}

static ncclResult_t open_space(struct ncclComm *comm)
{
	struct mini_windows *windows = &comm->windows;
	int64_t stride = mini_number(SET_NCCL_WIN_STRIDE);
	CUdeviceptr base;
	size_t bytes;
	CUresult res = CUDA_SUCCESS;

	if (windows->stride)
		return ncclSuccess;
	bytes = (size_t) stride;
	if (stride <= 1)
		res = mini_driver.DeviceTotalMem(&bytes, comm->device);
	bytes = round_up(bytes, STRIDE_UNIT);
	if (!res)
		res = mini_driver.MemAddressReserve(&base, (size_t) comm->nranks * bytes,
						    LARGEST_PAGE, 0, 0);
	if (res)
		return mini_driver_check(res);
	windows->stride = bytes;
	windows->base = (char *) (uintptr_t) base;
	return ncclSuccess;
}

static char *rank_part(const struct ncclComm *comm, int rank)
{
	return comm->windows.base + (size_t) rank * comm->windows.stride;
}

/* The first gap that is large enough, the same on all ranks; the list is in order. */
static struct mini_memory **find_gap(struct mini_windows *windows, size_t size,
				     size_t *ret_offset)
{
	struct mini_memory **place = &windows->memories;
	size_t end = 0;

	while (*place && (*place)->offset - end < size) {
		end = (*place)->offset + (*place)->size;
		place = &(*place)->next;
	}
	*ret_offset = end;
	return place;
}

/* By what another process finds an allocation. */
struct handle {
	int32_t pid;
	int32_t fd;
};

/*
 * NCCL asks the peer's UDS thread for the file; here it is opened where the process shows
 * it, as transport_local.c does it.
 */
static CUresult import(const struct handle *peer,
		       CUmemGenericAllocationHandle *ret_handle)
{
	char path[64];
	CUresult res;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", peer->pid, peer->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return CUDA_ERROR_INVALID_VALUE;
	res = mini_driver.MemImportFromShareableHandle(
		ret_handle, (void *) (uintptr_t) fd,
		CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	close(fd);
	return res;
}

static CUresult map_rank(struct ncclComm *comm, const struct mini_memory *memory,
			 const struct handle *peer, int rank)
{
	CUdeviceptr address = (uintptr_t) rank_part(comm, rank) + memory->offset;
	CUmemAccessDesc access = {
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = comm->device},
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle handle = memory->handle;
	CUresult res = rank == comm->rank ? CUDA_SUCCESS : import(peer, &handle);

	if (res)
		return res;
	res = mini_driver.MemMap(address, memory->size, 0, handle, 0);
	if (!res)
		res = mini_driver.MemSetAccess(address, memory->size, &access, 1);
	if (rank != comm->rank)
		mini_driver.MemRelease(handle);
	return res;
}

static ncclResult_t map_ranks(struct ncclComm *comm, const struct mini_memory *memory)
{
	struct handle *handles = calloc((size_t) comm->nranks, sizeof(*handles));
	ncclResult_t result;
	CUresult res;
	int fd = -1;
	int rank;

	if (!handles)
		return mini_result(-ENOMEM);
	res = mini_driver.MemExportToShareableHandle(
		&fd, memory->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
	handles[comm->rank] = (struct handle){(int32_t) getpid(), fd};
	result = mini_result(
		mini_bootstrap_allgather(&comm->bootstrap, handles, sizeof(*handles)));
	for (rank = 0; rank < comm->nranks && !res && result == ncclSuccess; rank++)
		res = map_rank(comm, memory, &handles[rank], rank);
	free(handles);
	/* The others need the file until all of them have the memory. */
	if (result == ncclSuccess)
		result = mini_comm_barrier(comm);
	if (fd >= 0)
		close(fd);
	return result == ncclSuccess ? mini_driver_check(res) : result;
}

static void unmap_ranks(struct ncclComm *comm, const struct mini_memory *memory)
{
	int rank;

	for (rank = 0; rank < comm->nranks; rank++)
		mini_driver.MemUnmap((uintptr_t) rank_part(comm, rank) + memory->offset,
				     memory->size);
}

/* Takes the caller's reference of the handle. */
static ncclResult_t obtain(struct ncclComm *comm, CUmemGenericAllocationHandle handle,
			   size_t size, struct mini_memory **ret_memory)
{
	struct mini_windows *windows = &comm->windows;
	struct mini_memory **place;
	struct mini_memory *memory = windows->memories;
	ncclResult_t result = open_space(comm);

	while (memory && memory->handle != handle)
		memory = memory->next;
	if (result == ncclSuccess && !memory) {
		memory = calloc(1, sizeof(*memory));
		if (!memory)
			return mini_result(-ENOMEM);
		memory->handle = handle;
		memory->size = size;
		place = find_gap(windows, size, &memory->offset);
		result = map_ranks(comm, memory);
		if (result != ncclSuccess) {
			unmap_ranks(comm, memory);
			free(memory);
			memory = NULL;
		} else {
			memory->next = *place;
			*place = memory;
		}
	} else {
		mini_driver.MemRelease(handle);
	}
	if (result == ncclSuccess)
		memory->references++;
	*ret_memory = memory;
	return result;
}

static void drop(struct ncclComm *comm, struct mini_memory *memory)
{
	struct mini_memory **place = &comm->windows.memories;

	if (--memory->references)
		return;
	while (*place != memory)
		place = &(*place)->next;
	*place = memory->next;
	unmap_ranks(comm, memory);
	mini_driver.MemRelease(memory->handle);
	free(memory);
}

/* Without an address it has that of the flat space. */
static ncclResult_t create(struct ncclComm *comm, struct mini_memory *memory,
			   size_t offset, const struct mini_registration *registration,
			   struct mini_window **ret_window)
{
	struct mini_window *window = calloc(1, sizeof(*window));

	if (!window)
		return mini_result(-ENOMEM);
	window->memory = memory;
	window->offset = memory->offset + offset;
	window->address = registration->address
				  ? registration->address
				  : rank_part(comm, comm->rank) + window->offset;
	window->size = registration->size;
	window->flags = registration->flags;
	window->vidmem = (struct ncclWindow_vidmem){
		.window = window,
		.flat_base = comm->windows.base + window->offset,
		.lsa_rank = comm->rank,
		.world_rank = comm->rank,
		.stride_4g = (uint32_t) (comm->windows.stride / STRIDE_UNIT),
		.multicast_offset_4k = (uint32_t) (window->offset >> 12),
		.gin_offset_4k = (uint32_t) (offset >> 12),
	};
	window->next = comm->windows.windows;
	comm->windows.windows = window;
	*ret_window = window;
	return ncclSuccess;
}

static void destroy(struct ncclComm *comm, struct mini_window *window)
{
	struct mini_window **place = &comm->windows.windows;

	while (*place != window)
		place = &(*place)->next;
	*place = window->next;
	drop(comm, window->memory);
	free(window);
}

/* Where the kernels of the ranks meet: memory that only NCCL has. */
static ncclResult_t open_resources(struct ncclComm *comm)
{
	const CUmemAllocationProp properties = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = comm->device},
	};
	const struct mini_registration whole = {.size = RESOURCE_BYTES};
	CUmemGenericAllocationHandle handle;
	struct mini_memory *memory;
	ncclResult_t result;

	if (comm->windows.resources)
		return ncclSuccess;
	result = mini_driver_check(
		mini_driver.MemCreate(&handle, RESOURCE_BYTES, &properties, 0));
	if (result == ncclSuccess)
		result = obtain(comm, handle, RESOURCE_BYTES, &memory);
	if (result == ncclSuccess)
		result = create(comm, memory, 0, &whole, &comm->windows.resources);
	return result == ncclSuccess ? mini_comm_barrier(comm) : result;
}

static ncclResult_t register_memory(struct ncclComm *comm,
				    const struct mini_registration *registration,
				    struct mini_window **ret_window)
{
	CUdeviceptr address = (uintptr_t) registration->address;
	CUmemGenericAllocationHandle handle;
	struct mini_memory *memory;
	ncclResult_t result;
	CUdeviceptr base;
	size_t size;
	CUresult res = mini_driver.MemGetAddressRange(&base, &size, address);

	if (!res && (address - base) % NCCL_WIN_REQUIRED_ALIGNMENT)
		return mini_fail(ncclInvalidArgument,
				 "Window address must be suitably aligned.");
	if (!res)
		res = mini_driver.MemRetainAllocationHandle(&handle,
							    (void *) (uintptr_t) base);
	result = mini_driver_check(res);
	if (result == ncclSuccess)
		result = obtain(comm, handle, size, &memory);
	if (result == ncclSuccess)
		result = create(comm, memory, address - base, registration, ret_window);
	return result == ncclSuccess ? mini_comm_barrier(comm) : result;
}

ncclResult_t mini_window_register(struct ncclComm *comm,
				  const struct mini_registration *registration)
{
	struct mini_window *window = NULL;
	void *handle = NULL;
	ncclResult_t result;

	*registration->window = NULL;
	/* Through the exported name, as NCCL does it. */
	result = ncclCommRegister(comm, registration->address, registration->size,
				  &handle);
	if (result != ncclSuccess)
		return result;
	if (!mini_windows_are_supported(comm)) {
		*registration->window = handle;
		return ncclSuccess;
	}
	if (registration->flags & NCCL_WIN_COLL_SYMMETRIC)
		result = open_resources(comm);
	if (result == ncclSuccess)
		result = register_memory(comm, registration, &window);
	if (result != ncclSuccess) {
		ncclCommDeregister(comm, handle);
		return result;
	}
	window->handle = handle;
	*registration->window = &window->vidmem;
	return ncclSuccess;
}

ncclResult_t mini_window_deregister(struct ncclComm *comm, ncclWindow_t vidmem)
{
	struct mini_window *window = comm->windows.windows;
	void *handle;

	if (!mini_windows_are_supported(comm))
		return ncclCommDeregister(comm, vidmem);
	while (window && &window->vidmem != vidmem)
		window = window->next;
	if (!window)
		return mini_fail(ncclInternalError,
				 "Device object does not exist in shadow pool.");
	handle = window->handle;
	destroy(comm, window);
	return ncclCommDeregister(comm, handle);
}

struct mini_window *mini_window_find(const struct ncclComm *comm, const void *address)
{
	struct mini_window *window = comm->windows.windows;

	while (window && ((const char *) address < window->address ||
			  (const char *) address >= window->address + window->size))
		window = window->next;
	return window;
}

bool mini_window_find_both(const struct ncclComm *comm, const void *send,
			   const void *recv, struct mini_window **ret_send,
			   struct mini_window **ret_recv)
{
	*ret_send = mini_window_find(comm, send);
	*ret_recv = mini_window_find(comm, recv);
	return *ret_send && *ret_recv &&
	       (*ret_send)->flags & (*ret_recv)->flags & NCCL_WIN_COLL_SYMMETRIC;
}

char *mini_window_peer(const struct ncclComm *comm, const struct mini_window *window,
		       const void *address, int rank)
{
	return rank_part(comm, rank) + window->offset +
	       ((const char *) address - window->address);
}

void mini_windows_close(struct ncclComm *comm)
{
	struct mini_windows *windows = &comm->windows;

	while (windows->windows) {
		/* Those that the program has left, too. */
		free(windows->windows->handle);
		destroy(comm, windows->windows);
	}
	if (windows->stride)
		mini_driver.MemAddressFree((uintptr_t) windows->base,
					   (size_t) comm->nranks * windows->stride);
}
