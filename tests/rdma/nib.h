/* SPDX-License-Identifier: MIT */
/*
 * What the parts of nib share: see nib.c for what it is.
 */
#ifndef NIB_H
#define NIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What make calls a test that cannot run here. */
#define NIB_CANNOT 77

#define NIB_MAX_GROUP 8
#define NIB_MAX_DEVICES 4
/* NCCL_NET_HANDLE_MAXSIZE of every release. */
#define NIB_HANDLE_BYTES 128

/* What the command line asks for. */
struct nib_options {
	const char *library;
	/* The log of rank R is written to LOG.R; NULL: none. */
	const char *log;
	/* The folder in which two commands meet, NULL: one command, which forks. */
	const char *rendezvous;
	int rank;
	int messages;
	int max_group;
	size_t max_size;
	unsigned int stall_percent;
	unsigned int stall_us;
	unsigned int timeout_s;
	uint32_t seed;
	bool flush;
	/* NET/Socket, and not NET/IB. */
	bool is_socket;
	/* Make one of these devices: 0, no. */
	int num_merged;
	/* Of the connection from 0 to 1, and of that from 1 to 0. */
	int devices[2];
};

/* nib.c: one line on stderr, and the process ends. */
_Noreturn void nib_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
_Noreturn void nib_cannot(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t nib_now(void);

/* nib_table.c: NET/IB or NET/Socket of one library.  What returns an int returns NCCL's result. */
struct nib_net;

struct nib_net *nib_open(const char *path, bool is_socket);
/* Where the function is whose name begins so, in .symtab. */
void *nib_function(struct nib_net *net, const char *name);
/* As 22809, and as "2.28.9, table v11". */
int nib_version(const struct nib_net *net);
const char *nib_describe(const struct nib_net *net);
int nib_init(struct nib_net *net);
int nib_devices(struct nib_net *net, int *count);
const char *nib_device_name(struct nib_net *net, int device);
/* -1: this release does not have it. */
int nib_merge(struct nib_net *net, int count, int *device);
int nib_listen(struct nib_net *net, int device, void *handle, void **comm);
int nib_connect(struct nib_net *net, int device, void *handle, void **comm);
int nib_accept(struct nib_net *net, void *listening, void **comm);
int nib_reg(struct nib_net *net, void *comm, void *data, size_t size, void **mr);
int nib_dereg(struct nib_net *net, void *comm, void *mr);
int nib_isend(struct nib_net *net, void *comm, void *data, size_t size, int tag, void *mr,
	      void **request);
int nib_irecv(struct nib_net *net, void *comm, int n, void **data, const size_t *sizes,
	      int *tags, void **mrs, void **request);
int nib_iflush(struct nib_net *net, void *comm, int n, void **data, int *sizes,
	       void **mrs, void **request);
int nib_test(struct nib_net *net, void *request, int *done, int *sizes);
/* What test tells of the size of a message that came in a receive of so many. */
int nib_told(const struct nib_net *net, uint32_t size, int of);
int nib_close_send(struct nib_net *net, void *comm);
int nib_close_recv(struct nib_net *net, void *comm);
int nib_close_listen(struct nib_net *net, void *comm);

/*
 * nib_socket.c: what NET/Socket asks CUDA for, its number of the GPU, and where there is none:
 * takes the step that connect and accept have failed in, with NCCL's own functions.  Returns
 * whether they go on.
 */
bool nib_socket_connect(struct nib_net *net, void *handle);
bool nib_socket_accept(struct nib_net *net, void *listening);
size_t nib_socket_bytes(struct nib_net *net);
/* Runs a function in a thread of NCCL's, as its groups run jobs; returns what it returns. */
int nib_in_thread(struct nib_net *net, int (*run)(void *data), void *data);

/* nib_plan.c: what is sent over one connection, the same at both ends. */
struct nib_message {
	uint32_t size;
	int tag;
	uint32_t group;
	uint8_t place;
	uint8_t of;
	/* Which of the connection's messages is offered at this turn: those of one group
	 * are sent in another order than they are received. */
	uint32_t offered;
};

struct nib_plan {
	int connection;
	int nr;
	struct nib_message *messages;
};

uint32_t nib_random(uint64_t *state);
void nib_plan(struct nib_plan *plan, const struct nib_options *options, int connection);
/* The data of a message: written, made wrong on purpose, looked at. */
void nib_fill(const struct nib_plan *plan, uint32_t ordinal, unsigned char *data);
void nib_spoil(const struct nib_plan *plan, uint32_t ordinal, unsigned char *data,
	       size_t room);
bool nib_is_right(const struct nib_plan *plan, uint32_t ordinal,
		  const unsigned char *data, size_t room);

/* nib_log.c */
struct nib_times {
	uint64_t tried;
	uint64_t called;
	uint64_t accepted;
	uint64_t done;
	uint64_t flush;
	uint64_t flushed;
};

void nib_log_write(const struct nib_options *options, int rank, const struct nib_net *net,
		   const struct nib_plan plans[2], struct nib_times *const times[2]);

/* nib_meet.c: how two processes tell each other what they must know. */
void nib_tell(const char *folder, const char *what, int rank, const void *data,
	      size_t size);
/* Whether the other has told it. */
bool nib_heard(const char *folder, const char *what, int rank, void *data, size_t size);

/* nib_end.c: one of the two processes; its exit status. */
int nib_run(const struct nib_options *options, int rank);

#endif
