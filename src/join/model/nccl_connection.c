/* SPDX-License-Identifier: MIT */
/* The names of transports are NCCL's own. */
#include "join/model/nccl_connection.h"

const char *tap_nccl_transport_name(enum tap_nccl_transport transport)
{
	static const char *const names[TAP_TRANSPORTS] = {
		[TAP_TRANSPORT_OTHER] = "other",
		[TAP_TRANSPORT_P2P] = "P2P",
		[TAP_TRANSPORT_SHM] = "SHM",
		[TAP_TRANSPORT_NET] = "NET",
		[TAP_TRANSPORT_COLLNET] = "COLLNET",
		[TAP_TRANSPORT_NET_IB] = "NET/IB",
		[TAP_TRANSPORT_NET_SOCKET] = "NET/Socket",
	};

	return names[transport];
}

bool tap_nccl_transport_is_seen(enum tap_nccl_transport transport)
{
	return transport == TAP_TRANSPORT_NET_IB || transport == TAP_TRANSPORT_NET_SOCKET;
}
