/* SPDX-License-Identifier: MIT */
/*
 * The sockets that NCCL's own threads use, by their descriptors.
 *
 * Hides memory that only grows: a look-up takes no lock, and what it finds can be read
 * whatever another thread does meanwhile.  A socket is numbered from 1 when it is met, and
 * a new one under an old descriptor has another number.
 */
#ifndef TAP_INTERCEPT_NET_SOCKETS_H
#define TAP_INTERCEPT_NET_SOCKETS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"
#include "intercept/net/service.h"
#include "intercept/net/stream.h"

union tap_net_address {
	struct sockaddr any; /* family AF_UNSPEC: unknown */
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct tap_socket {
	uint32_t id; /* 0: there is no socket of NCCL's here */
	int fd;
	bool is_accepted;
	bool is_whole; /* known from the beginning of its streams */
	union tap_net_address local, peer;
	struct tap_net_handshake handshake;
	struct tap_net_stream out, in;
	struct tap_service_stream service_out, service_in;
};

#define TAP_SOCKETS_BITS 6 /* of a page */
#define TAP_SOCKETS_PAGE (1 << TAP_SOCKETS_BITS)
#define TAP_SOCKETS_PAGES (1 << 14) /* for a million descriptors; others are not known */

extern struct tap_socket *tap_sockets_pages[TAP_SOCKETS_PAGES] tap_hidden;

/* The socket of a descriptor, or NULL. */
static inline struct tap_socket *tap_sockets_find(int fd)
{
	const unsigned page = (unsigned) fd >> TAP_SOCKETS_BITS;
	struct tap_socket *sockets;

	if (unlikely(page >= TAP_SOCKETS_PAGES))
		return NULL;
	sockets = __atomic_load_n(&tap_sockets_pages[page], __ATOMIC_ACQUIRE);
	if (likely(!sockets))
		return NULL;
	sockets += fd & (TAP_SOCKETS_PAGE - 1);
	return __atomic_load_n(&sockets->id, __ATOMIC_ACQUIRE) ? sockets : NULL;
}

/*
 * Makes a socket for a descriptor, in place of one that was there: `like` with its number.
 * NULL when there is no memory.
 */
struct tap_socket *tap_sockets_make(const struct tap_socket *like) tap_hidden;
void tap_sockets_drop(struct tap_socket *socket) tap_hidden;
void tap_sockets_drop_all(void) tap_hidden;

/* Calls each(data, socket) for every socket; another thread may use it meanwhile. */
void tap_sockets_each(void (*each)(void *data, const struct tap_socket *socket),
		      void *data) tap_hidden;

/* The lock under which a socket is made or dropped, for the table of layers. */
extern struct tap_lock tap_sockets_lock tap_hidden;

#endif
