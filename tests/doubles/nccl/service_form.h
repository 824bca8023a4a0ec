/* SPDX-License-Identifier: MIT */
/*
 * What the threads of the API and a service thread say to each other over TCP on the
 * loopback, as NCCL's proxy does it.  Hides how the sizes changed from release to
 * release: where only its size is known of something that nobody here needs, it is sent
 * as zeros.
 */
#ifndef MINI_NCCL_SERVICE_FORM_H
#define MINI_NCCL_SERVICE_FORM_H

#include <stdbool.h>
#include <stdint.h>

/* NCCL's ncclProxyMsgType, as far as it is said here. */
enum mini_call_type {
	MINI_CALL_INIT = 1,
	MINI_CALL_SHARED_INIT = 2,
	MINI_CALL_SETUP = 3,
	MINI_CALL_CONNECT = 4,
	MINI_CALL_CLOSE = 6,
	MINI_CALL_STOP = 8
};

/* NCCL's numbers of transports. */
enum mini_call_transport { MINI_CALL_P2P = 0, MINI_CALL_SHM = 1, MINI_CALL_NET = 2 };

enum {
	/* An ncclNetHandle_t. */
	MINI_HANDLE_BYTES = 128,
	/* The most of each release. */
	MINI_CALL_RESPONSE_BYTES = 21040,
	/* Where in the response to a connect the memory is that another rank's has. */
	MINI_CALL_POSTED_AT = 64
};

/* Its request, in all releases; its response begins with the connection. */
struct mini_call_init {
	int32_t transport;
	int32_t is_send;
	int32_t local_rank;
	int32_t rank;
	int32_t is_same_process;
};

/* The setup of a connection of the network.  Ranks are those of the top parent. */
struct mini_call_setup {
	int32_t rank;
	int32_t local_rank;
	int32_t remote_rank;
	int32_t is_shared;
	int32_t adapter;
	int32_t use_gdr;
	int32_t need_flush;
	int32_t channel;
	int32_t index;
	/* Since 2.30. */
	int32_t is_same_device;
};

/* Where the response to a connect begins with these. */
struct mini_call_map {
	int32_t is_same_process;
	int32_t is_shared;
	int32_t device;
};

struct mini_call_sizes {
	int init_response;
	/* What is behind the connection there: the end of the name of shared memory. */
	int suffix;
	int setup;
	/* A handle, and how it is to be used. */
	int connect_send;
	/* The rank that posts for the sender, and the same. */
	int connect_receive;
	int connect_response;
	/* What the ends of a connection tell each other through the bootstrap. */
	int exchanged;
	/* Whether a response begins with a result. */
	bool has_result;
};

/* Before each response, since 2.19 in one piece. */
struct mini_call_head {
	uint64_t id;
	int32_t result;
	int32_t size;
};

/* Those of the release that is imitated. */
const struct mini_call_sizes *mini_call_sizes(void);

#endif
