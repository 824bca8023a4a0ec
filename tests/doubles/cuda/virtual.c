/* SPDX-License-Identifier: MIT */
/*
 * Memory of the driver double that is an object of its own, and the addresses under which
 * a process has it: cuMemCreate() and what belongs to it.  An object is a file without a
 * name, so that another process can have the same memory.
 */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* What GPUs have. */
#define GRANULARITY ((size_t) 2 << 20)

struct allocation {
	struct allocation *next;
	int fd;
	size_t size;
	/* Of handles and of mappings. */
	unsigned int references;
	bool can_be_exported;
};

/* A reservation, or what of one is mapped: then it has an allocation. */
struct range {
	struct range *next;
	CUdeviceptr address;
	size_t size;
	struct allocation *allocation;
};

/* All under double_lock. */
static struct allocation *allocations;
static struct range *reservations;
static struct range *mappings;

static void *host_address(CUdeviceptr address)
{
	return (void *) (uintptr_t) address;
}

static struct allocation *find_allocation(CUmemGenericAllocationHandle handle)
{
	struct allocation *a;

	for (a = allocations; a && (uintptr_t) a != handle; a = a->next)
		;
	return a;
}

static void put_allocation(struct allocation *allocation)
{
	struct allocation **place = &allocations;

	if (--allocation->references)
		return;
	while (*place != allocation)
		place = &(*place)->next;
	*place = allocation->next;
	close(allocation->fd);
	free(allocation);
}

static struct range **find_range(struct range **place, CUdeviceptr address)
{
	while (*place && (address < (*place)->address ||
			  address - (*place)->address >= (*place)->size))
		place = &(*place)->next;
	return place;
}

static bool overlaps(const struct range *range, CUdeviceptr address, size_t size)
{
	for (; range; range = range->next) {
		if (address < range->address + range->size &&
		    range->address < address + size)
			return true;
	}
	return false;
}

static CUresult add_range(struct range **list, CUdeviceptr address, size_t size,
			  struct allocation *allocation)
{
	struct range *range = malloc(sizeof(*range));

	if (!range)
		return CUDA_ERROR_OUT_OF_MEMORY;
	range->address = address;
	range->size = size;
	range->allocation = allocation;
	range->next = *list;
	*list = range;
	return CUDA_SUCCESS;
}

static void remove_range(struct range **place)
{
	struct range *range = *place;

	*place = range->next;
	free(range);
}

bool double_virtual_find(CUdeviceptr address, CUdeviceptr *ret_base, size_t *ret_size)
{
	const struct range *range = *find_range(&mappings, address);

	if (!range)
		return false;
	*ret_base = range->address;
	*ret_size = range->size;
	return true;
}

/* Takes the file. */
static CUresult add_allocation(CUmemGenericAllocationHandle *handle, int fd, size_t size,
			       bool can_be_exported)
{
	struct allocation *allocation = fd < 0 ? NULL : malloc(sizeof(*allocation));

	if (!allocation) {
		if (fd >= 0)
			close(fd);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	allocation->fd = fd;
	allocation->size = size;
	allocation->references = 1;
	allocation->can_be_exported = can_be_exported;
	pthread_mutex_lock(&double_lock);
	allocation->next = allocations;
	allocations = allocation;
	pthread_mutex_unlock(&double_lock);
	*handle = (uintptr_t) allocation;
	return CUDA_SUCCESS;
}

static bool is_valid(const CUmemAllocationProp *prop)
{
	return prop && prop->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
	       prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

DOUBLE_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
				   const CUmemAllocationProp *prop,
				   unsigned long long flags)
{
	CUresult res = double_require_init();
	int fd;

	if (res != CUDA_SUCCESS)
		return res;
	if (!handle || !is_valid(prop) || flags || size == 0 || size % GRANULARITY)
		return CUDA_ERROR_INVALID_VALUE;
	fd = memfd_create("double-cuda", MFD_CLOEXEC);
	if (fd >= 0 && ftruncate(fd, (off_t) size)) {
		close(fd);
		fd = -1;
	}
	return add_allocation(handle, fd, size,
			      prop->requestedHandleTypes &
				      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

DOUBLE_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	struct allocation *allocation;

	pthread_mutex_lock(&double_lock);
	allocation = find_allocation(handle);
	if (allocation)
		put_allocation(allocation);
	pthread_mutex_unlock(&double_lock);
	return allocation ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DOUBLE_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle,
						   void *addr)
{
	const struct range *range;

	if (!handle)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	range = *find_range(&mappings, (uintptr_t) addr);
	if (range) {
		range->allocation->references++;
		*handle = (uintptr_t) range->allocation;
	}
	pthread_mutex_unlock(&double_lock);
	return range ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DOUBLE_EXPORT CUresult cuMemExportToShareableHandle(void *shareableHandle,
						    CUmemGenericAllocationHandle handle,
						    CUmemAllocationHandleType handleType,
						    unsigned long long flags)
{
	struct allocation *allocation;
	int fd = -1;

	if (!shareableHandle || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (handleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&double_lock);
	allocation = find_allocation(handle);
	if (allocation && allocation->can_be_exported)
		fd = fcntl(allocation->fd, F_DUPFD_CLOEXEC, 0);
	pthread_mutex_unlock(&double_lock);
	if (fd < 0)
		return CUDA_ERROR_INVALID_VALUE;
	*(int *) shareableHandle = fd;
	return CUDA_SUCCESS;
}

DOUBLE_EXPORT CUresult
cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *osHandle,
			       CUmemAllocationHandleType shHandleType)
{
	CUresult res = double_require_init();
	struct stat status;
	int fd;

	if (res != CUDA_SUCCESS)
		return res;
	if (shHandleType != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_SUPPORTED;
	/* The caller keeps its own. */
	fd = handle ? fcntl((int) (uintptr_t) osHandle, F_DUPFD_CLOEXEC, 0) : -1;
	if (fd < 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (fstat(fd, &status) || status.st_size == 0) {
		close(fd);
		return CUDA_ERROR_INVALID_VALUE;
	}
	return add_allocation(handle, fd, (size_t) status.st_size, true);
}

DOUBLE_EXPORT CUresult
cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
			      CUmemAllocationGranularity_flags option)
{
	(void) option;
	if (!granularity || !is_valid(prop))
		return CUDA_ERROR_INVALID_VALUE;
	*granularity = GRANULARITY;
	return CUDA_SUCCESS;
}

/* More than is wanted, of which the ends are given back. */
static void *reserve(size_t size, size_t alignment)
{
	size_t room = size + alignment;
	char *begin = mmap(NULL, room, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;

	if (begin == MAP_FAILED)
		return NULL;
	before = (alignment - (uintptr_t) begin % alignment) % alignment;
	if (before)
		munmap(begin, before);
	munmap(begin + before + size, alignment - before);
	return begin + before;
}

DOUBLE_EXPORT CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size,
					   size_t alignment, CUdeviceptr addr,
					   unsigned long long flags)
{
	CUresult res = double_require_init();
	void *address;

	/* A place that is wished for need not be given. */
	(void) addr;
	if (res != CUDA_SUCCESS)
		return res;
	if (!ptr || flags || size == 0 || size % GRANULARITY ||
	    (alignment & (alignment - 1)))
		return CUDA_ERROR_INVALID_VALUE;
	address = reserve(size, alignment > GRANULARITY ? alignment : GRANULARITY);
	if (!address)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&double_lock);
	res = add_range(&reservations, (uintptr_t) address, size, NULL);
	pthread_mutex_unlock(&double_lock);
	if (res == CUDA_SUCCESS)
		*ptr = (uintptr_t) address;
	else
		munmap(address, size);
	return res;
}

DOUBLE_EXPORT CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
	struct range **place;
	bool is_it;

	pthread_mutex_lock(&double_lock);
	place = find_range(&reservations, ptr);
	is_it = *place && (*place)->address == ptr && (*place)->size == size &&
		!overlaps(mappings, ptr, size);
	if (is_it) {
		munmap(host_address(ptr), size);
		remove_range(place);
	}
	pthread_mutex_unlock(&double_lock);
	return is_it ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Nobody may touch it before cuMemSetAccess(). */
static CUresult map(CUdeviceptr address, size_t size, struct allocation *allocation)
{
	const struct range *room = *find_range(&reservations, address);

	if (!allocation || size > allocation->size || !room ||
	    address + size > room->address + room->size ||
	    overlaps(mappings, address, size))
		return CUDA_ERROR_INVALID_VALUE;
	if (mmap(host_address(address), size, PROT_NONE, MAP_SHARED | MAP_FIXED,
		 allocation->fd, 0) == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	allocation->references++;
	return add_range(&mappings, address, size, allocation);
}

DOUBLE_EXPORT CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset,
				CUmemGenericAllocationHandle handle,
				unsigned long long flags)
{
	CUresult res;

	if (offset || flags || size == 0 || size % GRANULARITY || ptr % GRANULARITY)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	res = map(ptr, size, find_allocation(handle));
	pthread_mutex_unlock(&double_lock);
	return res;
}

/* Where it is one whole mapping. */
static struct range **find_mapping(CUdeviceptr address, size_t size)
{
	struct range **place = find_range(&mappings, address);

	return *place && (*place)->address == address && (*place)->size == size ? place
										: NULL;
}

DOUBLE_EXPORT CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size,
				      const CUmemAccessDesc *desc, size_t count)
{
	bool is_it = false;

	if (!desc || count == 0)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&double_lock);
	/* All devices are one memory. */
	if (find_mapping(ptr, size))
		is_it = !mprotect(host_address(ptr), size, PROT_READ | PROT_WRITE);
	pthread_mutex_unlock(&double_lock);
	return is_it ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

DOUBLE_EXPORT CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
	struct range **place;

	pthread_mutex_lock(&double_lock);
	place = find_mapping(ptr, size);
	if (place) {
		mmap(host_address(ptr), size, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		put_allocation((*place)->allocation);
		remove_range(place);
	}
	pthread_mutex_unlock(&double_lock);
	return place ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
