/* SPDX-License-Identifier: MIT */
/* Memory of P2P and SHM. */
#include "transport_local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

/* What comes before the buffers; head and tail are written by different ends. */
struct front {
	_Alignas(64) _Atomic uint64_t head;
	_Alignas(64) _Atomic uint64_t tail;
};

struct handle {
	int32_t pid;
	int32_t fd;
	uint64_t sizes[MINI_PROTOCOLS];
	char name[32];
};

_Static_assert(sizeof(struct handle) <= MINI_NET_HANDLE_BYTES, "too large");
_Static_assert(sizeof(struct front) <= PAGE, "too large");

static size_t round_up(size_t size)
{
	return (size + PAGE - 1) / PAGE * PAGE;
}

static int map(struct mini_local *local, const uint64_t *sizes)
{
	struct front *front;
	char *next;
	int p;

	local->size = PAGE;
	for (p = 0; p < MINI_PROTOCOLS; p++)
		local->size += round_up(sizes[p]);
	if (ftruncate(local->fd, (off_t) local->size))
		return -errno;
	local->memory =
		mmap(NULL, local->size, PROT_READ | PROT_WRITE, MAP_SHARED, local->fd, 0);
	if (local->memory == MAP_FAILED) {
		local->memory = NULL;
		return -errno;
	}
	front = local->memory;
	local->direct.head = &front->head;
	local->direct.tail = &front->tail;
	next = (char *) local->memory + PAGE;
	for (p = 0; p < MINI_PROTOCOLS; p++) {
		local->direct.buffers[p] = next;
		local->direct.sizes[p] = sizes[p];
		next += round_up(sizes[p]);
	}
	return 0;
}

/* NCCL 2.28.9, misc/shmutils.cc:67: the name is drawn by mkstemp(). */
static int make_file(enum mini_kind kind, struct mini_local *local)
{
	if (kind == MINI_P2P)
		return memfd_create("nccl-p2p", MFD_CLOEXEC);
	snprintf(local->name, sizeof(local->name), "/dev/shm/nccl-XXXXXX");
	return mkostemp(local->name, O_CLOEXEC);
}

int mini_local_make(enum mini_kind kind, struct mini_local *local, char *handle)
{
	struct handle own = {.pid = (int32_t) getpid()};
	int err;
	int p;

	for (p = 0; p < MINI_PROTOCOLS; p++)
		own.sizes[p] = mini_protocol_buffer((enum mini_protocol) p);
	local->fd = make_file(kind, local);
	if (local->fd < 0) {
		local->name[0] = '\0';
		return -errno;
	}
	err = map(local, own.sizes);
	own.fd = local->fd;
	memcpy(own.name, local->name, sizeof(own.name));
	memset(handle, 0, MINI_NET_HANDLE_BYTES);
	memcpy(handle, &own, sizeof(own));
	return err;
}

int mini_local_open(enum mini_kind kind, struct mini_local *local, const char *handle)
{
	struct handle peer;
	char path[64];

	memcpy(&peer, handle, sizeof(peer));
	if (kind == MINI_P2P)
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", peer.pid, peer.fd);
	else
		snprintf(path, sizeof(path), "%.31s", peer.name);
	local->fd = open(path, O_RDWR | O_CLOEXEC);
	if (local->fd < 0)
		return -errno;
	/* NCCL 2.28.9, transport/shm.cc:147: nobody else needs the name. */
	if (kind == MINI_SHM)
		unlink(path);
	return map(local, peer.sizes);
}

void mini_local_close(struct mini_local *local)
{
	if (local->memory)
		munmap(local->memory, local->size);
	if (local->fd >= 0)
		close(local->fd);
	/* Gone already where the sender has opened it. */
	if (local->name[0])
		unlink(local->name);
}
