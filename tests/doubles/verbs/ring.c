/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE 64
#define CONTROL_BYTES 4096

/* What the writer changes and what the reader changes, not on one line of the cache. */
struct soft_ring_control {
	_Alignas(LINE) _Atomic uint64_t written;
	_Alignas(LINE) _Atomic uint64_t read;
	_Alignas(LINE) atomic_bool is_waited_for;
};

int soft_rings_new(void)
{
	int fd = memfd_create("softverbs", MFD_CLOEXEC);

	if (fd >= 0 && ftruncate(fd, CONTROL_BYTES + 2 * (off_t) SOFT_RING_BYTES)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A message that begins at the end goes on at the beginning, which is mapped there too.
 */
static char *map_twice(int fd, off_t offset)
{
	int flags = MAP_SHARED | MAP_FIXED;
	char *data = mmap(NULL, 2 * SOFT_RING_BYTES, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *half;
	int i;

	if (data == MAP_FAILED)
		return NULL;
	for (i = 0; i < 2; i++) {
		half = data + (size_t) i * SOFT_RING_BYTES;
		if (mmap(half, SOFT_RING_BYTES, PROT_READ | PROT_WRITE, flags, fd,
			 offset) == MAP_FAILED) {
			munmap(data, 2 * SOFT_RING_BYTES);
			return NULL;
		}
	}
	/* The adapter of a child is another one. */
	madvise(data, 2 * SOFT_RING_BYTES, MADV_DONTFORK);
	return data;
}

int soft_rings_map(int fd, bool is_first, struct soft_ring *out, struct soft_ring *in)
{
	struct soft_ring_control *controls =
		mmap(NULL, CONTROL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (controls == MAP_FAILED)
		return -ENOMEM;
	madvise(controls, CONTROL_BYTES, MADV_DONTFORK);
	memset(out, 0, sizeof(*out));
	memset(in, 0, sizeof(*in));
	out->control = &controls[is_first ? 0 : 1];
	in->control = &controls[is_first ? 1 : 0];
	out->data = map_twice(fd, CONTROL_BYTES + (is_first ? 0 : SOFT_RING_BYTES));
	in->data = map_twice(fd, CONTROL_BYTES + (is_first ? SOFT_RING_BYTES : 0));
	if (out->data && in->data)
		return 0;
	soft_rings_unmap(out, in, is_first);
	return -ENOMEM;
}

void soft_rings_unmap(struct soft_ring *out, struct soft_ring *in, bool is_first)
{
	if (out->data)
		munmap(out->data, 2 * SOFT_RING_BYTES);
	if (in->data)
		munmap(in->data, 2 * SOFT_RING_BYTES);
	munmap(is_first ? out->control : in->control, CONTROL_BYTES);
}

static size_t room(const struct soft_ring *ring)
{
	return SOFT_RING_BYTES -
	       (size_t) (ring->position - atomic_load(&ring->control->read));
}

size_t soft_ring_put(struct soft_ring *ring, const char *data, size_t size)
{
	size_t bytes = room(ring);

	if (bytes > size)
		bytes = size;
	memcpy(ring->data + ring->position % SOFT_RING_BYTES, data, bytes);
	ring->position += bytes;
	return bytes;
}

bool soft_ring_publish(struct soft_ring *ring)
{
	if (atomic_load_explicit(&ring->control->written, memory_order_relaxed) ==
	    ring->position)
		return false;
	atomic_store_explicit(&ring->control->written, ring->position,
			      memory_order_release);
	return true;
}

bool soft_ring_ask_for_room(struct soft_ring *ring)
{
	if (room(ring))
		return true;
	atomic_store(&ring->control->is_waited_for, true);
	/* Read meanwhile: nobody would say so. */
	return room(ring);
}

size_t soft_ring_left(const struct soft_ring *ring)
{
	return (size_t) (atomic_load_explicit(&ring->control->written,
					      memory_order_acquire) -
			 ring->position);
}

char *soft_ring_data(const struct soft_ring *ring)
{
	return ring->data + ring->position % SOFT_RING_BYTES;
}

bool soft_ring_take(struct soft_ring *ring, size_t bytes)
{
	ring->position += bytes;
	atomic_store(&ring->control->read, ring->position);
	return atomic_load(&ring->control->is_waited_for) &&
	       atomic_exchange(&ring->control->is_waited_for, false);
}
