/* SPDX-License-Identifier: MIT */
/*
 * What really happened, for tests that score what a tracer says of it: with
 * MININCCL_TRUTH=FOLDER each process writes a line per fact into a file of its own there.
 * README tells what is in a line.
 *
 * Hides the file and its form.  All that is told is told in values, not by what the parts
 * of the library happen to keep, so that a message that is posted for another rank can be
 * told of as well.  Each function may be called by any thread, and does nothing where no
 * truth is asked for.
 */
#ifndef MINI_NCCL_TRUTH_H
#define MINI_NCCL_TRUTH_H

#include "plan.h"
#include "transport.h"

/* CLOCK_MONOTONIC. */
uint64_t mini_truth_now(void);
/* Whether anybody wants to know, where it costs something to find out. */
bool mini_truth_is_wanted(void);

/* How a communicator came to be: once it is there. */
struct mini_truth_comm {
	const struct ncclComm *comm;
	/* "init", "split", "shrink", "grow". */
	const char *origin;
	/* 0: none. */
	uint64_t parent_hash;
	/* Whose threads and connections it uses: its own hash, or an ancestor's. */
	uint64_t proxy_hash;
};
void mini_truth_comm(const struct mini_truth_comm *told);

/*
 * The calling thread, told by itself before all else.  The communicator is NULL for what
 * belongs to the process: MINI_THREAD_ROOT, MINI_THREAD_IB_ASYNC.
 */
enum mini_thread_role {
	MINI_THREAD_SERVICE,
	MINI_THREAD_UDS,
	MINI_THREAD_PROGRESS,
	/* Carries out a group or one of its jobs. */
	MINI_THREAD_GROUP,
	/* Behind a unique id. */
	MINI_THREAD_ROOT,
	MINI_THREAD_IB_ASYNC,
	/* Of NET/Socket. */
	MINI_THREAD_SOCKET,
	MINI_THREAD_RAS
};
void mini_truth_thread(enum mini_thread_role role, const struct ncclComm *comm);

enum {
	MINI_TRUTH_QPS = MINI_MAX_QPS + 8,
	MINI_TRUTH_SOCKETS = 32,
	MINI_TRUTH_REGIONS = 16
};

/*
 * One end of a connection between ranks, once it can be used.  Who asked for it knows its
 * head, from `comm` to `index`; the transport fills in the rest.
 */
struct mini_truth_connection {
	/* NULL where the end is another process's, for which this one posts. */
	const struct ncclComm *comm;
	uint64_t comm_hash;
	/* Whose end it is, and who posts for it: the same without PXN. */
	int rank;
	int proxy_rank;
	int peer;
	int channel;
	/* 0 for collectives, 1 for point to point. */
	int index;
	bool is_send;
	/* "NET/IB", "NET/Socket", "P2P", "SHM". */
	const char *transport;
	/* Another connection may share all of it: one line for each. */
	bool is_shared;
	int qp_count;
	struct mini_truth_qp {
		const char *adapter;
		uint32_t number;
		/* Of the other end; of a flush its own. */
		uint32_t remote;
		bool is_flush;
	} qps[MINI_TRUTH_QPS];
	int socket_count;
	struct mini_truth_socket {
		int fd;
		/* "control" or "data". */
		const char *role;
	} sockets[MINI_TRUTH_SOCKETS];
	int region_count;
	struct mini_truth_region {
		/* "LL", "LL128", "SIMPLE"; "clears", "sizes" and such for NET/IB's own.
		 */
		const char *what;
		const void *address;
		size_t size;
	} regions[MINI_TRUTH_REGIONS];
};
void mini_truth_connection(const struct mini_truth_connection *told);

/*
 * A socket that no connection between ranks has: "bootstrap", "service" (requests to a
 * service thread), "ras".  While it is connected; the communicator may be NULL.
 */
void mini_truth_socket(const struct ncclComm *comm, const char *role, int fd);

/* One end of a message, when it is done. */
struct mini_truth_message {
	/* NULL where it is posted for another process's rank. */
	const struct ncclComm *comm;
	uint64_t comm_hash;
	int rank;
	int proxy_rank;
	/* Which call of the communicator on `rank`, and its name. */
	uint64_t op;
	const char *name;
	int channel;
	int index;
	/* Which message of the operation on this connection, and which of the connection.
	 */
	int step;
	uint64_t ordinal;
	bool is_send;
	int peer;
	size_t size;
	/* "LL", "LL128", "SIMPLE"; NULL where there is none of those. */
	const char *protocol;
	/* When this end first tried to begin it. */
	uint64_t wanted_ns;
	const struct mini_way *way;
};
void mini_truth_message(const struct mini_truth_message *told);

/* What the GPU was given for operations of one communicator, right after that. */
struct mini_truth_launch {
	const struct ncclComm *comm;
	/* "kernel", "replay" (of a graph), "copies" (of copy engines), "one-rank". */
	const char *kind;
	/* Of the process, from 1; a replay has that of what was captured. */
	unsigned int number;
	/* NULL: none. */
	const char *kernel;
	CUstream stream;
	uint64_t channels;
	bool is_captured;
	int result;
	unsigned int op_count;
	const struct mini_truth_op {
		uint64_t op;
		const char *name;
		/* As in NCCL's names of device functions; NULL: none. */
		const char *function;
		const char *algorithm;
		const char *protocol;
		uint64_t channels;
		/* Or the peer. */
		int root;
		size_t count;
		size_t bytes;
	} * ops;
};
void mini_truth_launch(const struct mini_truth_launch *told);

#endif
