/* SPDX-License-Identifier: MIT */
/*
 * What the small programs share: two processes, a connection between them over which they
 * tell each other where they are, and a log that each keeps of what it posted and what it
 * read.  The log is what their trace is compared with (log.py), so it shares nothing with
 * ccltap and takes no short cut.
 */
#ifndef PAIR_H
#define PAIR_H

#include <infiniband/verbs.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CHECK(x) \
	do { \
		if (!(x)) \
			pair_die(__FILE__, __LINE__, #x); \
	} while (0)

/* Bit of a wr_id that says of a completion that failed which queue it was of. */
#define RECEIVE (UINT64_C(1) << 62)

#define QUEUES_MAX 16

/* A queue pair, and how much of it there was. */
struct queue {
	struct ibv_qp *qp;
	uint64_t posted, received; /* requests */
	uint64_t sent, got;	   /* completions */
	uint64_t failed;	   /* of both */
};

/* One of the two. */
struct side {
	int number;    /* 0, 1 */
	int socket;    /* to the other */
	bool has_told; /* that it may be paused */
	FILE *log;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct queue queues[QUEUES_MAX];
	int queue_count;
	uint32_t tokens; /* given out: each is once in both processes */
};

/* Where a queue pair, and memory, is. */
struct where {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t rkey;
	uint32_t qp_num;
	uint16_t lid;
};

/* What the program does, in both processes. */
extern void run(struct side *side, int argc, char **argv);

_Noreturn void pair_die(const char *file, int line, const char *what);

/* Both come here before either goes on; what each has goes to the other. */
void exchange(struct side *side, const void *mine, void *theirs, size_t size);
void meet(struct side *side);
/* Where PROGRAM_PAUSE names a folder: says that it is here, and waits until it may go on.
 */
void wait_for_test(struct side *side);
/* That, once the other is there, too; whoever is earlier goes on until then. */
void pause_both(struct side *side, bool is_here);
/* Until that is over neither may end, or meet. */
bool is_pause_over(void);

struct ibv_mr *register_memory(struct side *side, void *memory, size_t size);
struct queue *make_queue(struct side *side, enum ibv_qp_type type, struct ibv_cq *send_cq,
			 struct ibv_cq *recv_cq, struct ibv_srq *srq, uint32_t depth);
struct where where_is(struct side *side, const struct queue *queue,
		      const struct ibv_mr *mr);
/* By GID, or by LID where the link is InfiniBand's. */
struct ibv_ah_attr way_to(const struct where *where);
void connect_queue(struct queue *queue, const struct where *to);
void ready_datagrams(struct queue *queue, uint32_t qkey);
/* Connects the n-th of each side, from first on. */
void connect_all(struct side *side, int first, int count, const struct ibv_mr *mr,
		 struct where *theirs);

/* A number that no other message of the two has. */
uint32_t new_token(struct side *side);

/* Each as the call of that name, and logged; 0 or an errno. */
int post_send(struct side *side, struct queue *queue, struct ibv_send_wr *list);
int post_recv(struct side *side, struct queue *queue, struct ibv_recv_wr *list);
int post_srq_recv(struct side *side, struct ibv_srq *srq, struct ibv_recv_wr *list);
/* Into wc; the number of completions. */
int poll_cq(struct side *side, struct ibv_cq *cq, struct ibv_wc *wc, int max);
/* What was read otherwise, between those times. */
void log_completion(struct side *side, const struct ibv_wc *wc, uint64_t begin_ns,
		    uint64_t end_ns);
uint64_t now_ns(void);

#endif
