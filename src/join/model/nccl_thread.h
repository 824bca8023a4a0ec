/* SPDX-License-Identifier: MIT */
/*
 * A thread that NCCL (or RCCL) created, as every view shows it.
 *
 * Hides from the views how the role of a thread is found out.
 */
#ifndef TAP_JOIN_MODEL_NCCL_THREAD_H
#define TAP_JOIN_MODEL_NCCL_THREAD_H

#include "join/model/link.h"

/* What NCCL created the thread for. */
enum tap_thread_role {
	TAP_THREAD_UNKNOWN,
	TAP_THREAD_BOOTSTRAP, /* collects the ranks of a communicator */
	TAP_THREAD_SERVICE,   /* a proxy's: makes connections, registers memory */
	TAP_THREAD_UDS,	      /* a proxy's: hands descriptors to other processes */
	TAP_THREAD_PROGRESS,  /* a proxy's: sends and receives */
	TAP_THREAD_JOB,	      /* does what a call asked for, beside the caller */
	TAP_THREAD_SOCKET,    /* helps a progress thread to send and receive */
	TAP_THREAD_DEVICE,    /* waits for asynchronous events of a network device */
	TAP_THREAD_RAS,
	TAP_THREAD_GIN, /* progress of what kernels send themselves */
	TAP_THREAD_ROLES,
};

/* How the role is known, and so how certain it is: tap_thread_known(). */
enum tap_thread_how {
	TAP_THREAD_HOW_NONE,
	TAP_THREAD_HOW_CALL, /* the call that it was created in makes one such thread */
	TAP_THREAD_HOW_CREATOR,	    /* its creator's role */
	TAP_THREAD_HOW_ARGUMENT,    /* it shares its argument with other threads */
	TAP_THREAD_HOW_DOES,	    /* what it does */
	TAP_THREAD_HOW_ROUTINE,	    /* a thread with the same routine has that role */
	TAP_THREAD_HOW_NO_ARGUMENT, /* its routine got NULL */
	TAP_THREAD_HOW_WORK,	    /* it was created in a call that asks for work */
	TAP_THREAD_HOW_REST,	    /* no other role is left */
};

struct tap_nccl_thread {
	const struct tap_process *process;
	int64_t tid;
	enum tap_thread_role role;
	enum tap_thread_how how;
	int64_t begin_ns; /* its first event */
	int64_t end_ns;	  /* valid if is_over */
	bool is_over;	  /* it has ended */
	bool is_late;	  /* it was there before recording began */
	int64_t creator;  /* thread id, -1 unknown */
	bool creator_is_nccls;
	uint64_t call_id;	     /* that the thread was created for, 0 unknown */
	const struct tap_name *call; /* of that call, NULL unknown */
	uint64_t comm_id;	     /* the communicator it was made for, 0 unknown */
	enum tap_known comm_known;   /* valid if comm_id */
	uint64_t comm_count;	     /* how many the call makes */
	const struct tap_member *member;	  /* that communicator, NULL unknown */
	uint64_t routine_library, routine_offset; /* 0 unknown */
	uint64_t argument;
	/* ProxyCtrl, as far as calls show it. */
	bool is_asleep;
	uint64_t sleeps;   /* how often it waited on a condition variable */
	int64_t asleep_ns; /* for how long, in all, without the sleep that goes on */
	int64_t asleep_since_ns; /* valid if is_asleep */
	uint64_t yields; /* how often it offered its processor to others, at least */
};

/* "progress" ... in every output; "unknown" too. */
const char *tap_thread_role_name(enum tap_thread_role role);
/* "argument" ...; NULL for none. */
const char *tap_thread_how_name(enum tap_thread_how how);
enum tap_known tap_thread_known(enum tap_thread_how how);

#endif
