/* SPDX-License-Identifier: MIT */
/* Memory that a process reaches by another one's descriptor of it. */
#include "shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static int map(struct mini_shared *shared, int fd, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	shared->memory = memory;
	shared->size = size;
	return 0;
}

int mini_shared_make(struct mini_shared *shared, size_t size)
{
	int fd = memfd_create("nccl-proxy", MFD_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = ftruncate(fd, (off_t) size) ? -errno : map(shared, fd, size);
	if (err)
		close(fd);
	else
		shared->fd = fd;
	return err;
}

struct mini_shared_handle mini_shared_handle(const struct mini_shared *shared)
{
	return (struct mini_shared_handle){(int32_t) getpid(), shared->fd, shared->size};
}

int mini_shared_open(struct mini_shared *shared, const struct mini_shared_handle *handle)
{
	char path[64];
	int err;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", handle->pid, handle->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = map(shared, fd, handle->size);
	close(fd);
	return err;
}

void mini_shared_close(struct mini_shared *shared)
{
	if (shared->memory)
		munmap(shared->memory, shared->size);
	if (shared->fd > 0)
		close(shared->fd);
	*shared = (struct mini_shared){.fd = 0};
}
