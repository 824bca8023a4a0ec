/* SPDX-License-Identifier: MIT */
#include "bell.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BELL_BYTES 4096

struct soft_bell {
	_Alignas(64) atomic_uint rings;
	/* The futex. */
	_Alignas(64) atomic_uint wakes;
	atomic_bool is_asleep;
};

int soft_bell_new(void)
{
	int fd = memfd_create("softverbs-bell", MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, BELL_BYTES)) {
		close(fd);
		return -1;
	}
	return fd;
}

struct soft_bell *soft_bell_map(int fd)
{
	void *memory = mmap(NULL, BELL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return NULL;
	madvise(memory, BELL_BYTES, MADV_DONTFORK);
	return memory;
}

void soft_bell_unmap(struct soft_bell *bell)
{
	if (bell)
		munmap(bell, BELL_BYTES);
}

void soft_bell_wake(struct soft_bell *bell)
{
	atomic_fetch_add(&bell->wakes, 1);
	syscall(SYS_futex, &bell->wakes, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void soft_bell_ring(struct soft_bell *bell)
{
	atomic_fetch_add(&bell->rings, 1);
	/* One of those who ring is enough. */
	if (atomic_load(&bell->is_asleep) && atomic_exchange(&bell->is_asleep, false))
		soft_bell_wake(bell);
}

uint32_t soft_bell_rings(const struct soft_bell *bell)
{
	return atomic_load_explicit(&bell->rings, memory_order_acquire);
}

uint32_t soft_bell_wakes(const struct soft_bell *bell)
{
	return atomic_load(&bell->wakes);
}

void soft_bell_nap(struct soft_bell *bell, uint32_t wakes, uint64_t for_ns)
{
	/* How long, not until when: a test may have set the program's clock. */
	struct timespec most = {.tv_sec = (time_t) (for_ns / 1000000000),
				.tv_nsec = (long) (for_ns % 1000000000)};

	syscall(SYS_futex, &bell->wakes, FUTEX_WAIT, wakes,
		for_ns == UINT64_MAX ? NULL : &most, NULL, 0);
}

void soft_bell_sleep(struct soft_bell *bell, uint32_t rings, uint32_t wakes,
		     uint64_t for_ns)
{
	atomic_store(&bell->is_asleep, true);
	if (atomic_load(&bell->rings) == rings)
		soft_bell_nap(bell, wakes, for_ns);
	atomic_store(&bell->is_asleep, false);
}
