/* SPDX-License-Identifier: MIT */
/*
 * What NCCL tells a profiler plugin of version 4 or 5, as PROFILER_VERSION says: for
 * plugins of tests, which agree with no double by construction (NCCL 2.28.9,
 * include/plugin/profiler/profiler_v4.h and profiler_v5.h).
 */
#ifndef DOUBLES_TESTS_PROFILER_EVENT_H
#define DOUBLES_TESTS_PROFILER_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	GROUP = 1 << 0,
	COLL = 1 << 1,
	P2P = 1 << 2,
	PROXY_OP = 1 << 3,
	PROXY_STEP = 1 << 4,
	PROXY_CTRL = 1 << 5,
	KERNEL_CH = 1 << 6,
	GROUP_API = 1 << 8,
	COLL_API = 1 << 9,
	P2P_API = 1 << 10,
	KERNEL_LAUNCH = 1 << 11,
	KINDS = 12
};

#if PROFILER_VERSION == 4
typedef uint8_t kind_t;
#define PARENT_GROUP
#else
typedef uint64_t kind_t;
#define PARENT_GROUP void *parentGroup;
#endif

struct event {
	kind_t type;
	void *parentObj;
	int rank;
	union {
#if PROFILER_VERSION == 5
		struct {
			bool graphCaptured;
			int groupDepth;
		} groupApi;
		struct {
			const char *func;
			size_t count;
			const char *datatype;
			int root;
			void *stream;
			bool graphCaptured;
		} collApi;
		struct {
			const char *func;
			size_t count;
			const char *datatype;
			void *stream;
			bool graphCaptured;
		} p2pApi;
		struct {
			void *stream;
		} kernelLaunch;
#endif
		struct {
			uint64_t seqNumber;
			const char *func;
			const void *sendBuff;
			void *recvBuff;
			size_t count;
			int root;
			const char *datatype;
			uint8_t nChannels;
			uint8_t nWarps;
			const char *algo;
			const char *proto;
			PARENT_GROUP
		} coll;
		struct {
			const char *func;
			void *buff;
			const char *datatype;
			size_t count;
			int peer;
			uint8_t nChannels;
			PARENT_GROUP
		} p2p;
		struct {
			pid_t pid;
			uint8_t channelId;
			int peer;
			int nSteps;
			int chunkSize;
			int isSend;
		} proxyOp;
		struct {
			int step;
		} proxyStep;
		struct {
			uint8_t channelId;
			uint64_t pTimer;
		} kernelCh;
	};
};

union argument {
	size_t transSize;
	int appendedProxyOps;
	uint64_t pTimer;
};

#endif
