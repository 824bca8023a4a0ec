/* SPDX-License-Identifier: MIT */
/* Keeps calls with their operations and launches, and reads launches. */
#include "join/gpu/gpu_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "join/model/stream.h"

/* Most threads with groups, and communicators: a damaged trace cannot fill the memory. */
#define KEYS_MAX 65536

/* Of ncclGroupEnd's enumeration group_outcome. */
#define GROUP_INNER 0

/* A launch of one of NCCL's kernels in its call. */
struct tap_gpu_site_launch {
	uint64_t call_id;
	uint64_t device_comm; /* 0 unknown */
	uint64_t context;     /* likewise */
	char *words;	      /* functions, with commas; NULL unknown */
	bool is_left_out;     /* it has more functions */
	bool is_asked_for;    /* the call asks for each of these functions */
};

/* The operations that a thread has asked for in an open group. */
struct group {
	uint64_t group_id;
	TAP_VEC(struct tap_gpu_op) ops;
	bool is_cut;
};

static void put_call(struct tap_gpu_call *call)
{
	size_t i;

	if (!call || --call->references)
		return;
	for (i = 0; i < call->launches.count; i++)
		free(call->launches.items[i].words);
	tap_vec_free(&call->launches);
	if (call->kept_ops)
		*call->kept_ops -= call->op_count;
	free(call->ops);
	free(call);
}

void tap_gpu_launch_put(struct tap_gpu_launch *launch)
{
	if (--launch->references)
		return;
	put_call(launch->call);
	tap_fields_free(&launch->about);
	free(launch);
}

/* ---- Groups ---- */

static struct group *group_of(const struct tap_gpu_calls *calls,
			      const struct tap_span *span)
{
	return span->tid < 0 ? NULL
			     : tap_table_find(&calls->groups, span->process->number,
					      (uint64_t) span->tid);
}

static struct tap_gpu_op op_of(const struct tap_span *span)
{
	return (struct tap_gpu_op){.call_id = span->call_id,
				   .name = span->name,
				   .member = span->member,
				   .operation = span->operation,
				   .begin_ns = span->begin_ns,
				   .is_captured = tap_cuda_is_captured(span)};
}

/*
 * Whether NCCL has nothing to do at the end of the group: for a collective of no
 * elements, and for one of a single rank, which it carries out in the call.
 */
static bool is_done(const struct tap_span *span)
{
	if (span->name->kind == TAP_NAME_SEND || span->name->kind == TAP_NAME_RECEIVE)
		return false;
	return (span->operation.has_count && !span->operation.count) ||
	       (span->member && tap_member_comm(span->member)->nranks == 1);
}

static int add_to_group(struct tap_gpu_calls *calls, const struct tap_span *span)
{
	struct group *group = group_of(calls, span);

	if (span->tid < 0)
		return 0;
	if (!group) {
		if (calls->groups.count >= KEYS_MAX)
			return 0;
		group = calloc(1, sizeof(*group));
		if (!group || tap_table_set(&calls->groups, span->process->number,
					    (uint64_t) span->tid, group)) {
			free(group);
			return -ENOMEM;
		}
	}
	if (group->group_id != span->operation.group_id) {
		group->group_id = span->operation.group_id;
		group->ops.count = 0;
		group->is_cut = false;
	}
	if (group->ops.count == TAP_GPU_OPS_MAX) {
		group->is_cut = true;
		return 0;
	}
	return tap_vec_add(&group->ops, op_of(span));
}

static void end_group(struct tap_gpu_calls *calls, const struct tap_span *span)
{
	struct group *group = group_of(calls, span);
	int64_t outcome;

	if (!group || group->group_id != span->operation.group_id)
		return;
	if (!tap_fields_get_signed(&span->exit, "group_outcome", &outcome) &&
	    outcome == GROUP_INNER)
		return;
	group->ops.count = 0;
	group->is_cut = false;
}

/* ---- Calls ---- */

static int take_ops(struct tap_gpu_calls *calls, const struct tap_span *span,
		    struct tap_gpu_call *call)
{
	const struct group *group = group_of(calls, span);
	size_t count;

	if (span->operation.number) {
		call->ops = malloc(sizeof(*call->ops));
		if (!call->ops)
			return -ENOMEM;
		call->ops[0] = op_of(span);
		call->op_count = 1;
		return 0;
	}
	if (span->name->kind != TAP_NAME_GROUP_END || !group || !group->ops.count ||
	    group->group_id != span->operation.group_id)
		return 0;
	count = group->ops.count;
	call->is_cut = group->is_cut || calls->kept_ops + count > TAP_GPU_OPS_KEPT_MAX;
	if (call->is_cut)
		count = 1;
	call->ops = malloc(count * sizeof(*call->ops));
	if (!call->ops)
		return -ENOMEM;
	memcpy(call->ops, group->ops.items, count * sizeof(*call->ops));
	call->op_count = count;
	call->kept_ops = &calls->kept_ops;
	calls->kept_ops += count;
	return 0;
}

static struct tap_gpu_call *find_call(const struct tap_gpu_calls *calls,
				      const struct tap_span *span)
{
	return tap_table_find(&calls->open, span->process->number, span->call_id);
}

const struct tap_gpu_call *tap_gpu_calls_find(const struct tap_gpu_calls *calls,
					      const struct tap_span *span)
{
	return find_call(calls, span);
}

/* Finds or makes the call.  NULL when memory is short. */
static struct tap_gpu_call *call_of(struct tap_gpu_calls *calls,
				    const struct tap_span *span)
{
	struct tap_gpu_call *call = find_call(calls, span);

	if (call)
		return call;
	call = calloc(1, sizeof(*call));
	if (!call)
		return NULL;
	call->references = 1;
	call->process = span->process;
	call->name = span->name;
	call->call_id = span->call_id;
	call->begin_ns = span->begin_ns;
	if (take_ops(calls, span, call) ||
	    tap_table_set(&calls->open, span->process->number, span->call_id, call)) {
		put_call(call);
		return NULL;
	}
	return call;
}

/* The communicator of all operations of the call; 0: several, or unknown. */
static uint64_t only_comm(const struct tap_gpu_call *call)
{
	size_t i;

	for (i = 1; i < call->op_count; i++)
		if (call->ops[i].operation.comm_id != call->ops[0].operation.comm_id)
			return 0;
	return call->op_count && !call->is_cut ? call->ops[0].operation.comm_id : 0;
}

/* Replaces older entries: a device communicator may reuse a freed one's memory. */
static int learn(struct tap_gpu_calls *calls, const struct tap_gpu_call *call,
		 uint64_t device_comm)
{
	const uint64_t process = call->process->number, comm_id = only_comm(call);

	if (!comm_id || !device_comm || calls->device_comms.count >= KEYS_MAX ||
	    calls->comms.count >= KEYS_MAX)
		return 0;
	return tap_table_set(&calls->device_comms, process, device_comm,
			     (void *) (uintptr_t) comm_id) ||
			       tap_table_set(&calls->comms, process, comm_id,
					     (void *) (uintptr_t) device_comm)
		       ? -ENOMEM
		       : 0;
}

static const char *words_of(const struct tap_fields *about)
{
	return tap_fields_get_string(about, "known")
		       ? tap_fields_get_string(about, "collective")
		       : NULL;
}

/* Whether an operation asks for this kernel function, named as in funcid.h. */
static bool is_asked_for(const char *word, size_t length, const struct tap_gpu_op *op)
{
	const char *name = op->name->operation->name;

	if (!strncmp(name, "nccl", 4) && strlen(name) == 4 + length &&
	    !memcmp(name + 4, word, length))
		return true;
	return length == strlen("SendRecv") && !memcmp(word, "SendRecv", length) &&
	       op->name->operation->is_made_of_messages;
}

/* Whether the call asks for each of these functions. */
static bool are_asked_for(const char *words, const struct tap_gpu_call *call)
{
	size_t length, i;

	for (; *words; words += length + (words[length] == ',')) {
		length = strcspn(words, ",");
		for (i = 0; i < call->op_count; i++)
			if (is_asked_for(words, length, &call->ops[i]))
				break;
		if (i == call->op_count)
			return false;
	}
	return true;
}

static int note_launch(struct tap_gpu_call *call, const struct tap_gpu_launch *launch,
		       uint64_t device_comm)
{
	const char *words = words_of(&launch->about);
	struct tap_gpu_site_launch added = {.call_id = launch->call_id,
					    .device_comm = device_comm,
					    .context = launch->context,
					    .is_left_out = tap_fields_find(&launch->about,
									   "left_out")};

	if (call->launches.count == TAP_GPU_LAUNCHES_MAX) {
		call->is_cut = true;
		return 0;
	}
	added.words = words ? strdup(words) : NULL;
	added.is_asked_for = words && are_asked_for(words, call);
	if ((!words || added.words) && !tap_vec_add(&call->launches, added))
		return 0;
	free(added.words);
	return -ENOMEM;
}

int tap_gpu_calls_launch(struct tap_gpu_calls *calls, const struct tap_span *span,
			 struct tap_gpu_launch *launch)
{
	struct tap_gpu_call *call = span ? call_of(calls, span) : NULL;
	uint64_t device_comm = 0;
	int ret;

	if (!call)
		return span ? -ENOMEM : 0;
	call->references++;
	launch->call = call;
	if (launch->name->cuda != TAP_CUDA_KERNEL)
		return 0;
	if (!tap_fields_find(&launch->about, "kernel_kind")) {
		call->has_unknown = true;
		return 0;
	}
	tap_fields_get_unsigned(&launch->about, "device_comm", &device_comm);
	ret = note_launch(call, launch, device_comm);
	return ret ? ret : learn(calls, call, device_comm);
}

int tap_gpu_calls_batch(struct tap_gpu_calls *calls, const struct tap_span *span)
{
	struct tap_gpu_call *call = span ? call_of(calls, span) : NULL;

	if (call)
		call->has_batches = true;
	return span && !call ? -ENOMEM : 0;
}

/* Keeps the call in the table, with the operations that it asks for. */
static int keep_call(struct tap_gpu_calls *calls, const struct tap_span *span)
{
	struct tap_gpu_call *call = call_of(calls, span);

	if (!call)
		return -ENOMEM;
	call->end_ns = span->end_ns;
	if (call->is_kept || tap_vec_add(&calls->kept, call))
		return call->is_kept ? 0 : -ENOMEM;
	call->is_kept = true;
	return 0;
}

const struct tap_gpu_call *tap_gpu_calls_kept(const struct tap_gpu_calls *calls,
					      size_t more_than)
{
	return calls->kept.count > more_than ? calls->kept.items[0] : NULL;
}

const struct tap_gpu_call *tap_gpu_calls_worked(struct tap_gpu_calls *calls,
						const struct tap_process *process,
						uint64_t call_id)
{
	struct tap_gpu_call *call =
		call_id ? tap_table_find(&calls->open, process->number, call_id) : NULL;

	if (call)
		call->is_worked = true;
	return call && call->is_kept ? call : NULL;
}

/* Returns the call if it was kept, and keeps it no longer; else NULL. */
static struct tap_gpu_call *unkeep(struct tap_gpu_calls *calls,
				   const struct tap_gpu_call *call)
{
	struct tap_gpu_call *kept;
	size_t i;

	for (i = 0; i < calls->kept.count && calls->kept.items[i] != call; i++)
		;
	if (i == calls->kept.count)
		return NULL;
	kept = calls->kept.items[i];
	calls->kept.count--;
	memmove(&calls->kept.items[i], &calls->kept.items[i + 1],
		(calls->kept.count - i) * sizeof(calls->kept.items[0]));
	kept->is_kept = false;
	return kept;
}

void tap_gpu_calls_drop(struct tap_gpu_calls *calls, const struct tap_gpu_call *call)
{
	struct tap_gpu_call *kept = unkeep(calls, call);

	if (!kept)
		return;
	tap_table_remove(&calls->open, kept->process->number, kept->call_id);
	kept->is_over = true;
	put_call(kept);
}

int tap_gpu_calls_ended(struct tap_gpu_calls *calls, const struct tap_span *span,
			bool is_kept)
{
	struct tap_gpu_call *call = NULL;
	int ret = 0;

	if (is_kept)
		ret = keep_call(calls, span);
	else
		call = tap_table_remove(&calls->open, span->process->number,
					span->call_id);
	if (ret)
		return ret;
	/* In a damaged trace a call that was kept ends once more. */
	if (call && call->is_kept)
		unkeep(calls, call);

	if (span->is_inner || span->is_from_nvtx || span->state == TAP_SPAN_BEGIN_LOST)
		;
	else if (span->name->kind == TAP_NAME_GROUP_END)
		end_group(calls, span);
	else if (span->operation.number && span->operation.group_id && !is_done(span) &&
		 !tap_span_is_failure(tap_span_result(span)))
		ret = add_to_group(calls, span);
	if (!call)
		return ret;
	call->is_over = true;
	call->end_ns = span->state == TAP_SPAN_COMPLETE ? span->end_ns : 0;
	put_call(call);
	return ret;
}

/* ---- Readings ---- */

/* Whether the kernels of the operation are known; those of newer functions are not. */
static bool is_known(const struct tap_gpu_op *op)
{
	static const char *const names[] = {"ncclAllReduce",	 "ncclAllGather",
					    "ncclReduceScatter", "ncclBroadcast",
					    "ncclReduce",	 "ncclSend",
					    "ncclRecv"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(op->name->operation->name, names[i]))
			return true;
	return false;
}

static bool is_among(const char *words, const struct tap_gpu_op *op)
{
	size_t length;

	for (; *words; words += length + (words[length] == ',')) {
		length = strcspn(words, ",");
		if (is_asked_for(words, length, op))
			return true;
	}
	return false;
}

/* Whether both may have a function in common; NULL: unknown functions. */
static bool may_share(const char *words, const char *others)
{
	size_t length, other;
	const char *at;

	if (!words || !others)
		return true;
	for (; *words; words += length + (words[length] == ',')) {
		length = strcspn(words, ",");
		for (at = others; *at; at += other + (at[other] == ',')) {
			other = strcspn(at, ",");
			if (length == other && !memcmp(words, at, length))
				return true;
		}
	}
	return false;
}

/* A communicator's kernels run on its own GPU. */
static bool is_on(const struct tap_gpu_op *op, int64_t device)
{
	return op->member && op->member->device == device;
}

/* The GPU that the kernel ran on, if any operation of the call is for that one, else -1.
 */
static int64_t device_of(const struct tap_gpu_call *call, const struct tap_fields *about)
{
	uint64_t device;
	size_t i;

	if (tap_fields_get_unsigned(about, "device", &device) || device > INT32_MAX)
		return -1;
	for (i = 0; i < call->op_count; i++)
		if (is_on(&call->ops[i], (int64_t) device))
			return (int64_t) device;
	return -1;
}

static bool is_comm_possible(const struct tap_gpu_calls *calls,
			     const struct tap_gpu_call *call, const struct tap_gpu_op *op,
			     uint64_t device_comm)
{
	const uint64_t process = call->process->number;
	const void *comm, *device;

	if (!device_comm)
		return true;
	comm = tap_table_find(&calls->device_comms, process, device_comm);
	if (comm)
		return (uintptr_t) comm == op->operation.comm_id;
	device = tap_table_find(&calls->comms, process, op->operation.comm_id);
	return !device || (uintptr_t) device == device_comm;
}

/* Counts the other launches of the call that may belong to the same operations. */
static size_t count_rivals(const struct tap_gpu_call *call,
			   const struct tap_gpu_launch *launch, const char *words,
			   uint64_t device_comm, size_t *before)
{
	size_t i, count = 0;
	bool is_before = true;

	*before = 0;
	for (i = 0; i < call->launches.count; i++) {
		const struct tap_gpu_site_launch *other = &call->launches.items[i];

		if (other->call_id == launch->call_id) {
			is_before = false;
			continue;
		}
		if ((device_comm && other->device_comm &&
		     device_comm != other->device_comm) ||
		    (launch->context && other->context &&
		     launch->context != other->context) ||
		    !may_share(words, other->words))
			continue;
		*before += is_before;
		count++;
	}
	return count;
}

/* Whether copy engines may have carried out the operation. */
static bool may_be_copied(const struct tap_gpu_call *call, const struct tap_gpu_op *op)
{
	return call->has_batches &&
	       tap_call_is_made_of(op->name->operation->name, TAP_MADE_OF_COPIES);
}

static bool may_any_be_copied(const struct tap_gpu_call *call,
			      const struct tap_gpu_reading *reading)
{
	size_t i;

	for (i = 0; i < reading->count; i++)
		if (may_be_copied(call, reading->ops[i]))
			return true;
	return false;
}

/*
 * Either copy engines carry out all of an operation, or a kernel does, which then has the
 * operation's function (NCCL 2.28.9, enqueue.cc: taskAppend, ncclLaunchPrepare).
 */
bool tap_gpu_calls_is_copied(const struct tap_gpu_call *call, const struct tap_gpu_op *op)
{
	size_t i;

	if (call->is_cut || call->has_unknown || !may_be_copied(call, op))
		return false;
	for (i = 0; i < call->launches.count; i++) {
		const struct tap_gpu_site_launch *launch = &call->launches.items[i];

		if (!launch->words || launch->is_left_out ||
		    is_among(launch->words, op) || !launch->is_asked_for)
			return false;
	}
	return true;
}

static bool are_alike(const struct tap_gpu_op *a, const struct tap_gpu_op *b)
{
	return a->name->operation == b->name->operation &&
	       a->operation.has_count == b->operation.has_count &&
	       a->operation.count == b->operation.count &&
	       a->operation.datatype == b->operation.datatype &&
	       a->operation.peer == b->operation.peer;
}

/* Finds the operations of a group that the launch may belong to. */
static enum tap_why read_group(const struct tap_gpu_calls *calls,
			       const struct tap_gpu_launch *launch, const char *words,
			       uint64_t device_comm, int64_t device,
			       struct tap_gpu_reading *reading)
{
	const struct tap_gpu_call *call = launch->call;
	size_t i, rivals, before;
	bool is_left_out = tap_fields_find(&launch->about, "left_out") != NULL;

	for (i = 0; i < call->op_count; i++) {
		const struct tap_gpu_op *op = &call->ops[i];

		if (is_comm_possible(calls, call, op, device_comm) &&
		    (device < 0 || is_on(op, device)) &&
		    (!words || is_left_out || is_among(words, op)))
			reading->ops[reading->count++] = op;
	}
	if (!reading->count)
		return TAP_WHY_CONTRADICTED;
	for (i = 1; i < reading->count; i++)
		if (reading->ops[i]->operation.comm_id !=
		    reading->ops[0]->operation.comm_id)
			return TAP_WHY_AMBIGUOUS;
	if (may_any_be_copied(call, reading))
		return TAP_WHY_AMBIGUOUS;
	rivals = count_rivals(call, launch, words, device_comm, &before);
	if (!rivals) {
		reading->known =
			words && !is_left_out ? TAP_KNOWN_DECODED : TAP_KNOWN_INFERRED;
		return TAP_WHY_NONE;
	}
	/* There are as many launches as operations, all alike: matched in order. */
	if (rivals + 1 != reading->count)
		return TAP_WHY_AMBIGUOUS;
	for (i = 1; i < reading->count; i++)
		if (!are_alike(reading->ops[i], reading->ops[0]))
			return TAP_WHY_AMBIGUOUS;
	reading->ops[0] = reading->ops[before];
	reading->count = 1;
	reading->known = TAP_KNOWN_INFERRED;
	return TAP_WHY_NONE;
}

int tap_gpu_calls_read(const struct tap_gpu_calls *calls,
		       const struct tap_gpu_launch *launch,
		       const struct tap_fields *about, struct tap_gpu_reading *reading)
{
	const struct tap_gpu_call *call = launch->call;
	const char *words = words_of(&launch->about);
	uint64_t device_comm = 0;

	memset(reading, 0, sizeof(*reading));
	reading->why = TAP_WHY_NOT_RECORDED;
	if (!call || !call->op_count)
		return 0;
	if (!words)
		words = words_of(about);
	tap_fields_get_unsigned(&launch->about, "device_comm", &device_comm);
	reading->ops = malloc(call->op_count * sizeof(*reading->ops));
	if (!reading->ops)
		return -ENOMEM;
	if (call->op_count > 1 || call->is_cut) {
		reading->why = call->is_cut
				       ? TAP_WHY_GIVEN_UP
				       : read_group(calls, launch, words, device_comm,
						    device_of(call, about), reading);
		return 0;
	}
	reading->ops[0] = &call->ops[0];
	reading->known = TAP_KNOWN_EXACT;
	reading->why = words && is_known(&call->ops[0]) && !is_among(words, call->ops)
			       ? TAP_WHY_CONTRADICTED
			       : TAP_WHY_NONE;
	reading->count = !reading->why;
	return 0;
}

bool tap_gpu_calls_is_whole(const struct tap_gpu_launch *launch,
			    const struct tap_gpu_reading *reading)
{
	const struct tap_gpu_call *call = launch->call;
	uint64_t device_comm = 0;
	size_t i, count = 0, before;

	if (!call || call->is_cut || !reading->count)
		return false;
	for (i = 0; i < call->op_count; i++)
		count += call->ops[i].operation.comm_id ==
				 reading->ops[0]->operation.comm_id &&
			 !tap_gpu_calls_is_copied(call, &call->ops[i]);
	tap_fields_get_unsigned(&launch->about, "device_comm", &device_comm);
	return count == reading->count &&
	       !count_rivals(call, launch, NULL, device_comm, &before);
}

void tap_gpu_calls_free(struct tap_gpu_calls *calls)
{
	size_t i;

	for (i = 0; i < calls->open.size; i++)
		put_call(calls->open.slots[i].value);
	for (i = 0; i < calls->groups.size; i++) {
		struct group *group = calls->groups.slots[i].value;

		if (group)
			tap_vec_free(&group->ops);
		free(group);
	}
	tap_vec_free(&calls->kept);
	tap_table_free(&calls->open);
	tap_table_free(&calls->groups);
	tap_table_free(&calls->device_comms);
	tap_table_free(&calls->comms);
}
