/* SPDX-License-Identifier: MIT */
/* Pages of sockets, mapped when the first descriptor of a page is met, and never unmapped. */
#include "intercept/net/sockets.h"

#include <string.h>
#include <sys/mman.h>

#include "common/lock.h"

struct tap_socket *tap_sockets_pages[TAP_SOCKETS_PAGES];
struct tap_lock tap_sockets_lock;

static unsigned nr_pages; /* the pages from here on were never used */
static uint32_t last_id;

/* Under the lock. */
static struct tap_socket *place_of(int fd)
{
	const unsigned nr = (unsigned) fd >> TAP_SOCKETS_BITS;
	void *page;

	if (nr >= TAP_SOCKETS_PAGES)
		return NULL;
	if (!tap_sockets_pages[nr]) {
		page = mmap(NULL, TAP_SOCKETS_PAGE * sizeof(struct tap_socket),
			    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			return NULL;
		__atomic_store_n(&tap_sockets_pages[nr], page, __ATOMIC_RELEASE);
		if (nr >= nr_pages)
			__atomic_store_n(&nr_pages, nr + 1, __ATOMIC_RELEASE);
	}
	return &tap_sockets_pages[nr][fd & (TAP_SOCKETS_PAGE - 1)];
}

struct tap_socket *tap_sockets_make(const struct tap_socket *like)
{
	struct tap_socket *socket;

	if (!tap_lock_take(&tap_sockets_lock))
		return NULL;
	socket = place_of(like->fd);
	if (socket) {
		__atomic_store_n(&socket->id, 0, __ATOMIC_RELEASE);
		*socket = *like;
		__atomic_store_n(&socket->id, ++last_id, __ATOMIC_RELEASE);
	}
	tap_lock_drop(&tap_sockets_lock);
	return socket;
}

void tap_sockets_drop(struct tap_socket *socket)
{
	__atomic_store_n(&socket->id, 0, __ATOMIC_RELEASE);
}

void tap_sockets_each(void (*each)(void *data, const struct tap_socket *socket), void *data)
{
	const unsigned pages = __atomic_load_n(&nr_pages, __ATOMIC_ACQUIRE);
	const struct tap_socket *sockets;
	unsigned nr, i;

	for (nr = 0; nr < pages; nr++) {
		sockets = __atomic_load_n(&tap_sockets_pages[nr], __ATOMIC_ACQUIRE);
		for (i = 0; sockets && i < TAP_SOCKETS_PAGE; i++)
			if (__atomic_load_n(&sockets[i].id, __ATOMIC_ACQUIRE))
				each(data, &sockets[i]);
	}
}

static void drop(void *data, const struct tap_socket *socket)
{
	(void) data;
	tap_sockets_drop((struct tap_socket *) socket);
}

void tap_sockets_drop_all(void)
{
	tap_sockets_each(drop, NULL);
}
