/* SPDX-License-Identifier: MIT */
/* Sorts a group's operations, and adds the kernel once for each series of them. */
#include "join/nccl/kernel_ops.h"

#include <errno.h>
#include <stdlib.h>

#include "join/model/name.h"
#include "join/nccl/kernel.h"

enum tap_op_series tap_kernel_ops_series(const struct tap_name *name)
{
	switch (name->kind) {
	case TAP_NAME_SEND:
		return TAP_OPS_SEND;
	case TAP_NAME_RECEIVE:
		return TAP_OPS_RECEIVE;
	default:
		return TAP_OPS_COLLECTIVE;
	}
}

bool tap_kernel_ops_are_messages(const struct tap_name *name)
{
	return tap_kernel_ops_series(name) != TAP_OPS_COLLECTIVE ||
	       name->operation->is_made_of_messages;
}

bool tap_kernel_ops_transfer(const struct tap_name *name,
			     const struct tap_operation *operation,
			     struct tap_op_transfer *ret)
{
	const char *function = name->operation->name;
	const int64_t bytes = tap_operation_bytes(operation);
	const int32_t root = operation->root >= 0 && operation->root <= INT32_MAX
				     ? (int32_t) operation->root
				     : -1;

	*ret = (struct tap_op_transfer){.from = !strcmp(function, "ncclScatter") ? root
										 : -1,
					.to = !strcmp(function, "ncclGather") ? root : -1,
					.bytes = bytes < 0 ? TAP_BYTES_UNKNOWN
							   : (uint64_t) bytes};
	/* The counts of ncclAlltoAllv are in arrays. */
	return bytes >= 0;
}

int64_t tap_kernel_ops_peer(const struct tap_name *name, int64_t peer)
{
	return tap_kernel_ops_series(name) == TAP_OPS_COLLECTIVE ? -1 : peer;
}

static int64_t peer_of(const struct tap_attribution_operation *operation)
{
	return tap_kernel_ops_peer(operation->name, operation->operation->peer);
}

/* By series and peer, then by number. */
static int compare(const void *left, const void *right)
{
	const struct tap_attribution_operation *a = left, *b = right;
	const enum tap_op_series x = tap_kernel_ops_series(a->name),
				 y = tap_kernel_ops_series(b->name);
	const int64_t p = peer_of(a), q = peer_of(b);
	const uint64_t m = a->operation->number, n = b->operation->number;

	if (x != y)
		return x < y ? -1 : 1;
	if (p != q)
		return p < q ? -1 : 1;
	return m < n ? -1 : m > n;
}

/* ---- What a kernel was launched for ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const struct tap_fields *fields, const char *name)
{
	const char *text = tap_fields_get_string(fields, name);

	return mix(hash, text ? tap_table_hash(text) : 0);
}

static uint64_t sign(const struct tap_attribution_kernel *kernel,
		     const struct tap_attribution_operation *operations, size_t count)
{
	const struct tap_fields *about = kernel->about;
	uint64_t hash = tap_table_hash(kernel->span->name->name);
	size_t i;

	hash = mix(hash, tap_fields_number(about, "channel_mask"));
	hash = mix_text(hash, &kernel->span->entry, "function");
	hash = mix_text(hash, about, "collective");
	hash = mix_text(hash, about, "algorithm");
	hash = mix_text(hash, about, "protocol");
	for (i = 0; i < count; i++) {
		const struct tap_operation *operation = operations[i].operation;

		hash = mix(hash, tap_table_hash(operations[i].name->operation->name));
		hash = mix(hash, operation->count);
		hash = mix(hash, (uint64_t) operation->datatype);
		hash = mix(hash, (uint64_t) operation->redop);
		hash = mix(hash, (uint64_t) operation->root);
	}
	return hash;
}

static bool is_decoded(const struct tap_fields *about)
{
	const char *known = tap_fields_get_string(about, "known");

	return known && !strcmp(known, "decoded") && !tap_fields_find(about, "left_out");
}

/*
 * The algorithm of all collectives of a kernel, from a list of those of its functions,
 * "-" for sends; none where there are several, or others than ring and tree.
 */
static enum tap_ccl_algorithm common_algorithm(const char *list)
{
	enum tap_ccl_algorithm all = TAP_CCL_NO_ALGORITHM, one;
	char word[8];
	size_t length;

	for (; list && *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		if (length >= sizeof(word))
			return TAP_CCL_NO_ALGORITHM;
		memcpy(word, list, length);
		word[length] = '\0';
		if (!strcmp(word, "-"))
			continue;
		one = tap_ccl_work_named(NULL, word, NULL).algorithm;
		if (!one || (all && one != all))
			return TAP_CCL_NO_ALGORITHM;
		all = one;
	}
	return all;
}

/* By the kernel's name alone; a single collective uses the first channels. */
static struct tap_ccl_work named_work(const struct tap_attribution_kernel *kernel,
				      uint32_t version)
{
	const char *function = tap_fields_get_string(&kernel->span->entry, "function");
	const char *algorithm =
		function ? tap_kernel_algorithm(function, &version) : NULL;
	struct tap_ccl_work work = tap_ccl_work_named(NULL, algorithm, NULL);

	work.function =
		tap_ccl_function_named(kernel->operations[0].name->operation->name);
	if (!work.function || !work.algorithm)
		return (struct tap_ccl_work){.root = -1};
	work.is_named = true;
	work.version = version;
	if (kernel->blocks && kernel->blocks <= 64)
		work.channel_mask = UINT64_MAX >> (64 - kernel->blocks);
	return work;
}

/* Of a kernel with several operations, only what all have. */
static struct tap_ccl_work work_of(const struct tap_attribution_kernel *kernel,
				   const struct tap_ccl_sizes *sizes)
{
	const struct tap_fields *about = kernel->about;
	const struct tap_operation *operation = kernel->operations[0].operation;
	const uint64_t mask = tap_fields_number(about, "channel_mask");
	const uint32_t version = (uint32_t) tap_fields_number(about, "nccl_version");
	struct tap_ccl_work work = {.root = -1};
	int64_t bytes = tap_operation_bytes(operation);

	if (kernel->count == 1 && bytes > 0 && operation->count) {
		work = is_decoded(about)
			       ? tap_ccl_work_named(
					 tap_fields_get_string(about, "collective"),
					 tap_fields_get_string(about, "algorithm"),
					 tap_fields_get_string(about, "protocol"))
			       : named_work(kernel, version);
		work.count = operation->count;
		work.element_bytes = (uint64_t) bytes / operation->count;
		work.root = operation->root;
	}
	if (!work.algorithm && is_decoded(about))
		work.algorithm =
			common_algorithm(tap_fields_get_string(about, "algorithm"));
	if (version)
		work.version = version;
	if (mask)
		work.channel_mask = mask;
	work.sizes = *sizes;
	return work;
}

static struct tap_op_total total_of(const struct tap_attribution_kernel *kernel)
{
	const struct tap_attribution_operation *only = kernel->operations;
	const int64_t bytes = tap_operation_bytes(only->operation);

	if (kernel->count > 1 || bytes < 0 || tap_kernel_ops_are_messages(only->name))
		return (struct tap_op_total){.root = -1};
	return (struct tap_op_total){.function = tap_ccl_function_named(
					     only->name->operation->name),
				     .bytes = (uint64_t) bytes,
				     .root = only->operation->root};
}

/* ---- Adding ---- */

static void add_transfer(struct tap_op_transfers *transfers,
			 const struct tap_attribution_operation *operation)
{
	struct tap_op_transfer transfer;
	const bool is_known =
		tap_kernel_ops_transfer(operation->name, operation->operation, &transfer);

	transfers->is_cut |= !is_known || transfers->count == TAP_OP_TRANSFERS_MAX;
	if (!transfers->is_cut)
		transfers->items[transfers->count++] = transfer;
}

/* The place of an operation; 0: it is not known. */
static uint64_t place_of(const struct tap_op_times *times,
			 const struct tap_attribution_operation *operation)
{
	const uint64_t number = operation->operation->number;

	if (operation->place)
		return operation->place;
	return times ? tap_op_times_place(times, number) : number;
}

/* Whether these places have operations without a kernel. */
static bool are_empty(const struct tap_op_times *times, uint64_t from, uint64_t to)
{
	const struct tap_op_call *call;

	for (; from < to; from++) {
		call = times ? tap_op_times_find_call(times, from) : NULL;
		if (!call || !call->is_empty)
			return false;
	}
	return true;
}

/* Whether the kernel has all of the operations from its first to its last one. */
static bool has_all(const struct tap_op_times *times,
		    const struct tap_attribution_operation *operations, size_t count)
{
	uint64_t place = place_of(times, operations), next;
	size_t i;

	if (!place)
		return false;
	for (i = 1; i < count; i++, place = next) {
		next = place_of(times, operations + i);
		if (next <= place || !are_empty(times, place + 1, next))
			return false;
	}
	return true;
}

/* Adds the operations of one series. */
static int add_series(struct tap_ranks_ops *ranks,
		      const struct tap_attribution_kernel *kernel,
		      const struct tap_ccl_sizes *sizes,
		      const struct tap_attribution_operation *operations, size_t count,
		      int64_t error_ns)
{
	const struct tap_op_times *times =
		tap_rank_ops_find(ranks, kernel->member,
				  tap_kernel_ops_series(operations->name),
				  peer_of(operations));
	const struct tap_span *span = kernel->span;
	struct tap_op_kernel added = {.first = place_of(times, operations),
				      .last = place_of(times, operations + count - 1),
				      .number = operations->operation->number,
				      .begin_ns = span->begin_ns,
				      .end_ns = span->end_ns,
				      .asked = work_of(kernel, sizes),
				      .total = total_of(kernel),
				      .signature = sign(kernel, operations, count),
				      .is_decoded = !kernel->graph_launch_id &&
						    is_decoded(kernel->about),
				      .work = span->work,
				      .name = span->name,
				      .operation = operations->name->operation};
	size_t i;

	/* Another thread's calls are between those of the group. */
	if (!has_all(times, operations, count))
		return 0;
	for (i = 0; i < count; i++) {
		if (tap_kernel_ops_are_messages(operations[i].name)) {
			added.has_messages = true;
			add_transfer(&added.transfers, &operations[i]);
		} else {
			added.has_others = true;
		}
		if (operations[i].name->operation != added.operation)
			added.operation = span->name;
	}
	return tap_rank_ops_kernel(ranks, kernel->member,
				   tap_kernel_ops_series(operations->name),
				   peer_of(operations), &added, error_ns);
}

int tap_kernel_ops_add(struct tap_ranks_ops *ranks,
		       const struct tap_attribution_kernel *kernel,
		       const struct tap_ccl_sizes *sizes, int64_t error_ns)
{
	struct tap_attribution_operation *sorted =
		malloc(kernel->count * sizeof(*sorted));
	size_t from, to;
	int ret = sorted ? 0 : -ENOMEM;

	if (ret)
		return ret;
	memcpy(sorted, kernel->operations, kernel->count * sizeof(*sorted));
	qsort(sorted, kernel->count, sizeof(*sorted), compare);
	for (from = 0; !ret && from < kernel->count; from = to) {
		for (to = from + 1; to < kernel->count &&
				    tap_kernel_ops_series(sorted[to].name) ==
					    tap_kernel_ops_series(sorted[from].name) &&
				    peer_of(&sorted[to]) == peer_of(&sorted[from]);
		     to++)
			;
		ret = add_series(ranks, kernel, sizes, sorted + from, to - from,
				 error_ns);
	}
	free(sorted);
	return ret;
}
