/* SPDX-License-Identifier: MIT */
/*
 * What a profiler plugin exports, and what it is told in: the tables of its versions 4
 * and 5 (NCCL 2.28.9, include/plugin/profiler/profiler_v4.h and profiler_v5.h).
 *
 * An event of version 4 lies as one of version 5 does, where a byte is enough for its
 * kind: it lacks the calls of the API, and the group of what is not told as its parent.
 */
#ifndef MINI_NCCL_PROFILER_PLUGIN_H
#define MINI_NCCL_PROFILER_PLUGIN_H

#include <nccl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* NetPlugin, 1 << 7, is none of a library that is released: it is built without. */
enum mini_event_kind {
	MINI_EVENT_GROUP = 1 << 0,
	MINI_EVENT_COLL = 1 << 1,
	MINI_EVENT_P2P = 1 << 2,
	MINI_EVENT_PROXY_OP = 1 << 3,
	MINI_EVENT_PROXY_STEP = 1 << 4,
	MINI_EVENT_PROXY_CONTROL = 1 << 5,
	MINI_EVENT_KERNEL_CHANNEL = 1 << 6,
	MINI_EVENT_NET = 1 << 7,
	/* None of these in version 4. */
	MINI_EVENT_GROUP_CALL = 1 << 8,
	MINI_EVENT_COLL_CALL = 1 << 9,
	MINI_EVENT_P2P_CALL = 1 << 10,
	MINI_EVENT_LAUNCH = 1 << 11
};

enum mini_event_state {
	MINI_STATE_SEND_GPU_WAIT = 8,
	MINI_STATE_SEND_WAIT = 9,
	MINI_STATE_RECV_WAIT = 10,
	MINI_STATE_RECV_FLUSH_WAIT = 11,
	MINI_STATE_RECV_GPU_WAIT = 12,
	MINI_STATE_IDLE = 13,
	MINI_STATE_ACTIVE = 14,
	MINI_STATE_SLEEP = 15,
	MINI_STATE_WAKEUP = 16,
	MINI_STATE_APPEND = 17,
	MINI_STATE_APPEND_END = 18,
	MINI_STATE_IN_PROGRESS = 19,
	MINI_STATE_SEND_PEER_WAIT = 20,
	MINI_STATE_KERNEL_STOP = 22,
	/* None of these in version 4. */
	MINI_STATE_GROUP_START_STOP = 23,
	MINI_STATE_GROUP_END_START = 24
};

struct mini_event {
	uint64_t kind;
	void *parent;
	int rank;
	union {
		struct {
			bool is_captured;
			int depth;
		} group_call;
		struct {
			const char *function;
			size_t count;
			const char *type;
			int root;
			void *stream;
			bool is_captured;
		} coll_call;
		struct {
			const char *function;
			size_t count;
			const char *type;
			void *stream;
			bool is_captured;
		} p2p_call;
		struct {
			void *stream;
		} launch;
		struct {
			uint64_t number;
			const char *function;
			const void *send;
			void *recv;
			size_t count;
			int root;
			const char *type;
			uint8_t channels;
			uint8_t warps;
			const char *algorithm;
			const char *protocol;
			void *group;
		} coll;
		struct {
			const char *function;
			void *buffer;
			const char *type;
			size_t count;
			int peer;
			uint8_t channels;
			void *group;
		} p2p;
		struct {
			pid_t pid;
			uint8_t channel;
			int peer;
			int steps;
			int chunk;
			int is_send;
		} proxy_op;
		struct {
			int step;
		} proxy_step;
		struct {
			uint8_t channel;
			uint64_t timer;
		} kernel;
	};
};

union mini_event_argument {
	size_t bytes;
	int added;
	void *data;
	uint64_t timer;
};

_Static_assert(sizeof(struct mini_event) == 24 + 88, "an event is as NCCL's");
_Static_assert(offsetof(struct mini_event, coll) == 24, "its parts begin as NCCL's");

typedef void (*mini_logger)(int level, unsigned long flags, const char *file, int line,
			    const char *format, ...);

typedef ncclResult_t (*mini_profiler_start_function)(void *context, void **handle,
						     struct mini_event *event);
typedef ncclResult_t (*mini_profiler_record_function)(
	void *handle, enum mini_event_state state, union mini_event_argument *argument);

struct mini_profiler_v5 {
	const char *name;
	ncclResult_t (*init)(void **context, uint64_t hash, int *mask,
			     const char *comm_name, int nnodes, int nranks, int rank,
			     mini_logger log);
	mini_profiler_start_function start;
	ncclResult_t (*stop)(void *handle);
	mini_profiler_record_function record;
	ncclResult_t (*finalize)(void *context);
};

struct mini_profiler_v4 {
	const char *name;
	ncclResult_t (*init)(void **context, int *mask, const char *comm_name,
			     uint64_t hash, int nnodes, int nranks, int rank,
			     mini_logger log);
	mini_profiler_start_function start;
	ncclResult_t (*stop)(void *handle);
	mini_profiler_record_function record;
	ncclResult_t (*finalize)(void *context);
};

#endif
