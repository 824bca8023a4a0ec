/* SPDX-License-Identifier: MIT */
/*
 * Parts of trees: in a table, below each other in trees, or waiting.
 *
 * Hides the bound on what is held, and who owns a span: the oldest tree is given when
 * there is no more room, or when nothing came for it for long.
 */
#ifndef TAP_JOIN_VIEWS_TREE_HOLD_H
#define TAP_JOIN_VIEWS_TREE_HOLD_H

#include "common/list.h"
#include "common/vec.h"
#include "join/model/context.h"
#include "join/model/link.h"

/* What a part of a tree is; those that follow below another are in this order. */
enum tap_tree_kind {
	TAP_TREE_GROUP,	 /* GroupApi: from the beginning of the group to its end */
	TAP_TREE_CALL,	 /* CollApi, P2pApi */
	TAP_TREE_LAUNCH, /* KernelLaunch, CeBatch, CeSync */
	TAP_TREE_COLL,	 /* Coll or P2p: what a kernel does for its operations */
	TAP_TREE_RUN,	 /* KernelCh */
	TAP_TREE_PROXY_OP,
	TAP_TREE_STEP,	  /* ProxyStep: a message at one end */
	TAP_TREE_REQUEST, /* NetPlugin */
};

struct tap_tree;

struct tap_tree_part {
	enum tap_tree_kind kind;
	struct tap_span *span;	 /* owned; of a group its beginning; NULL of a COLL */
	struct tap_span *second; /* owned; of a group its end, else NULL */
	const struct tap_process *process;
	struct tap_tree *tree;	      /* NULL: waits */
	struct tap_tree_part *parent; /* NULL: the first of its rank, or waits */
	enum tap_known known;	      /* that it belongs to its parent */
	struct tap_tree_part
		*other; /* of a STEP the other end of the message, if known */
	struct tap_tree_part *flush; /* of a STEP its flush, a REQUEST below it, if any */
	uint64_t calls;		     /* of a COLL: how many operations it carries out */
	bool is_messages;	     /* of a COLL: of sends and receives */
	enum tap_known wire;	     /* of a STEP: which requests it is made of */
	uint64_t a, b;		     /* its place in the table */
	uint64_t place;		     /* among those below its parent, as they came */
	uint64_t count;		     /* of those below it */
	TAP_LIST(struct tap_tree_part) below;
	TAP_LIST_LINK(struct tap_tree_part) among; /* below its parent, or waiting */
	struct tap_tree_part *next;		   /* of its tree */
};

/* An operation of all ranks. */
struct tap_tree_operation {
	const struct tap_comm *comm;
	const struct tap_name *name; /* NULL: ranks called different functions */
	uint64_t number;
	int64_t nranks;		  /* of the communicator, -1 unknown */
	int64_t sender, receiver; /* of a message, else -1 */
	size_t ranks;		  /* that called */
	bool is_linked;		  /* its link has come: `known` is its */
	enum tap_known known;
};

struct tap_tree {
	uint64_t number; /* from 1, in the order in which they begin */
	struct tap_tree_part *parts, **last;
	TAP_VEC(struct tap_tree_operation) operations;
	int64_t touched_ns; /* when something came for it */
	TAP_LIST_LINK(struct tap_tree) all;
};

struct tap_trees {
	/* The owner sets these; the rest starts as zero.  take() returns 0 or -errno. */
	const struct tap_context *context;
	int (*take)(void *data, const struct tap_tree *tree);
	void *data;

	struct tap_table parts; /* by tap_known_span(), or a number of our own */
	TAP_LIST(struct tap_tree) all;
	TAP_LIST(struct tap_tree_part) waiting;
	size_t count; /* parts */
	uint64_t numbers;
	uint64_t left_out; /* messages that are of no operation, as far as is known */
};

/* Each returns NULL where there is none. */
struct tap_tree_part *tap_trees_find(const struct tap_trees *trees, uint64_t a,
				     uint64_t b);
struct tap_tree_part *tap_trees_find_end(const struct tap_trees *trees,
					 const struct tap_link_end *end);
struct tap_tree_part *tap_trees_find_call(const struct tap_trees *trees,
					  const struct tap_process *process,
					  uint64_t call_id);

/*
 * Each makes a part that waits, with a span, which may be NULL, and its place in the
 * table. Returns NULL when memory is short.
 */
struct tap_tree_part *tap_trees_make(struct tap_trees *trees, enum tap_tree_kind kind,
				     const struct tap_process *process,
				     struct tap_span *span, uint64_t a, uint64_t b);
struct tap_tree_part *tap_trees_make_span(struct tap_trees *trees,
					  enum tap_tree_kind kind, struct tap_span *span);
/* Forgets the call that ends a group. */
void tap_trees_drop_second(struct tap_trees *trees, struct tap_tree_part *part);

/* Puts a part that waits below another one, which may wait, too. */
void tap_trees_put_below(struct tap_trees *trees, struct tap_tree_part *parent,
			 struct tap_tree_part *part, enum tap_known known);
/* Makes a tree of a part that waits.  Returns 0 or -ENOMEM. */
int tap_trees_put_first(struct tap_trees *trees, struct tap_tree_part *part);
/* Returns the tree that has the parts of both, the older one; NULL: memory is short. */
struct tap_tree *tap_trees_unite(struct tap_trees *trees, struct tap_tree *a,
				 struct tap_tree *b);

/* Gives the oldest trees, and drops what waits, while there is too much. */
int tap_trees_make_room(struct tap_trees *trees);

/* Nothing comes any more: gives all trees.  Returns 0 or -errno. */
int tap_trees_finish(struct tap_trees *trees);
/* Before the join is destroyed. */
void tap_trees_free(struct tap_trees *trees);

/* The rank of a part's process in the tree's communicator, -1 unknown. */
int64_t tap_tree_rank(const struct tap_tree_part *part);

/* When a part began and ended; -1 unknown. */
int64_t tap_tree_begin_ns(const struct tap_tree_part *part);
int64_t tap_tree_end_ns(const struct tap_tree_part *part);

#endif
