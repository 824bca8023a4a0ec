/* SPDX-License-Identifier: MIT */
/* Takes kernel names apart as the compiler puts them together. */
#include "join/nccl/kernel.h"

#include "join/model/call.h"
#include "join/nccl/funcid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEVICE "ncclDevKernel_"
#define OLD "ncclKernel_"    /* before 2.19 */
#define WITH_FUNCTIONS 22200 /* before, the arguments do not name them */
#define FUNCTIONS_MAX 16
#define LIST_MAX 512

/* Part of a string. */
struct part {
	const char *at;
	size_t length;
};

/* A function's own name; in _Z41<name><arguments> it has the stated length. */
static struct part own_name(const char *function)
{
	struct part name = {function, strcspn(function, "(")};
	size_t length = strlen(function);
	char *end;

	if (!strncmp(function, "_Z", 2)) {
		const unsigned long stated = strtoul(function + 2, &end, 10);

		if (end > function + 2 && stated <= length - (size_t) (end - function)) {
			name.at = end;
			name.length = stated;
		}
	}
	return name;
}

static bool take(struct part *part, const char *begin)
{
	const size_t length = strlen(begin);

	if (part->length < length || memcmp(part->at, begin, length) != 0)
		return false;
	part->at += length;
	part->length -= length;
	return true;
}

static bool drop_end(struct part *part, const char *end)
{
	const size_t length = strlen(end);

	if (part->length < length ||
	    memcmp(part->at + part->length - length, end, length) != 0)
		return false;
	part->length -= length;
	return true;
}

static bool is_same(struct part part, const char *string)
{
	return part.length == strlen(string) && !memcmp(part.at, string, part.length);
}

/*
 * Splits off what is before `separator`, and drops the separator; takes all where there
 * is none.
 */
static struct part split(struct part *rest, const char *separator)
{
	const char *found = memmem(rest->at, rest->length, separator, strlen(separator));
	struct part before = *rest;

	if (!found) {
		rest->at += rest->length;
		rest->length = 0;
		return before;
	}
	before.length = (size_t) (found - rest->at);
	rest->at += before.length;
	rest->length -= before.length;
	take(rest, separator);
	return before;
}

static int add_string(struct tap_fields *fields, const char *name, struct part value)
{
	return !value.length ||
			       tap_fields_add_string(fields, name, value.at, value.length)
		       ? 0
		       : -ENOMEM;
}

static int add_text(struct tap_fields *fields, const char *name, const char *value)
{
	return add_string(fields, name, (struct part){value, strlen(value)});
}

static int add_number(struct tap_fields *fields, const char *name, uint64_t value,
		      bool is_hex)
{
	return (is_hex ? tap_fields_add_hex(fields, name, value)
		       : tap_fields_add_unsigned(fields, name, value))
		       ? 0
		       : -ENOMEM;
}

/* ---- Symmetric kernels: <collective>_<algorithm>[_sum_<type>][_profile] ---- */

static int describe_symmetric(struct tap_fields *fields, struct part name)
{
	static const char *const ops[] = {"sum", "avg"};
	struct part collective, algorithm, rest;
	size_t i;
	int error;

	drop_end(&name, "_profile");
	collective = split(&name, "_");
	error = add_text(fields, "kernel_kind", "symmetric");
	if (error || !name.length)
		return error;
	algorithm = name;
	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		const char separator[] = {'_', ops[i][0], ops[i][1], ops[i][2], '_', 0};

		rest = name;
		algorithm = split(&rest, separator);
		if (rest.length)
			break;
	}
	if (add_text(fields, "known", "named") ||
	    add_string(fields, "collective", collective) ||
	    (rest.length &&
	     (add_text(fields, "op", ops[i]) || add_string(fields, "datatype", rest))) ||
	    add_string(fields, "algorithm", algorithm))
		return -ENOMEM;
	return 0;
}

/* ---- Kernels with arguments ---- */

/* The fields of cuda:nccl_args. */
struct reported {
	uint64_t comm, channel_mask, version, complete;
	size_t count;
	struct tap_funcid functions[FUNCTIONS_MAX];
};

/* Reads the fields; false where one is missing or a number has no meaning. */
static bool read_reported(struct reported *reported, const struct tap_fields *args)
{
	return !tap_fields_get_unsigned(args, "comm", &reported->comm) &&
	       !tap_fields_get_unsigned(args, "channel_mask", &reported->channel_mask) &&
	       !tap_fields_get_unsigned(args, "version", &reported->version) &&
	       !tap_fields_get_unsigned(args, "complete", &reported->complete) &&
	       reported->version <= UINT32_MAX;
}

static bool read_functions(struct reported *reported, const struct tap_fields *args)
{
	const struct tap_field *ids = tap_fields_find(args, "func_id");
	const uint64_t *id;
	size_t i;

	if (!ids || ids->kind != TAP_FIELD_ARRAY)
		return false;
	reported->count = ids->value.data.length;
	if (!reported->count || reported->count > FUNCTIONS_MAX)
		return false;
	id = tap_fields_array(args, ids);
	for (i = 0; i < reported->count; i++)
		if (!tap_funcid_lookup((uint32_t) reported->version, id[i],
				       &reported->functions[i]))
			return false;
	return true;
}

static unsigned int count_bits(uint64_t mask)
{
	unsigned int count = 0;

	for (; mask; mask &= mask - 1)
		count++;
	return count;
}

/*
 * Whether the functions fit the launch, which has the kernel of one of them.  NCCL takes
 * that of the first one, but the batches do not say which of several that is.
 */
static bool is_plausible(const struct reported *reported, struct part kernel)
{
	char expected[TAP_FUNCID_KERNEL_MAX];
	size_t i;

	for (i = 0; i < reported->count; i++) {
		tap_funcid_kernel((uint32_t) reported->version, &reported->functions[i],
				  expected);
		if (is_same(kernel, expected))
			return true;
	}
	/* The kernel may be that of a function that was left out. */
	return !reported->complete;
}

/* Adds one word of each function; nothing where no function has it. */
static int add_list(struct tap_fields *fields, const char *name,
		    const struct reported *reported, size_t offset)
{
	char list[LIST_MAX];
	size_t i, used = 0;
	bool has_any = false;

	for (i = 0; i < reported->count; i++) {
		const char *word;

		memcpy(&word, (const char *) &reported->functions[i] + offset,
		       sizeof(word));
		has_any |= word != NULL;
		word = word ? word : "-";
		if (used + strlen(word) + 2 > sizeof(list))
			break;
		if (i)
			list[used++] = ',';
		memcpy(list + used, word, strlen(word));
		used += strlen(word);
	}
	return has_any ? add_string(fields, name, (struct part){list, used}) : 0;
}

static int describe_channels(struct tap_fields *fields, const struct reported *reported)
{
	if (add_number(fields, "channels", count_bits(reported->channel_mask), false) ||
	    add_number(fields, "channel_mask", reported->channel_mask, true) ||
	    add_number(fields, "device_comm", reported->comm, true) ||
	    add_number(fields, "nccl_version", reported->version, false))
		return -ENOMEM;
	return 0;
}

static int describe_functions(struct tap_fields *fields, const struct reported *reported)
{
#define LIST(name) add_list(fields, #name, reported, offsetof(struct tap_funcid, name))
	if (add_text(fields, "known", "decoded") || LIST(collective) || LIST(op) ||
	    LIST(datatype) || LIST(algorithm) || LIST(protocol) ||
	    describe_channels(fields, reported) ||
	    (!reported->complete && add_number(fields, "left_out", 1, false)))
		return -ENOMEM;
	return 0;
#undef LIST
}

int tap_kernel_describe(struct tap_fields *fields, const char *function, uint64_t grid_x,
			const struct tap_fields *args)
{
	struct part name;
	struct reported reported;

	if (!function)
		return 0;
	name = own_name(function);
	if (take(&name, "ncclSymkDevKernel_") || take(&name, "ncclSymDevKernel_"))
		return describe_symmetric(fields, name);
	if (take(&name, "oneRankReduce"))
		return add_text(fields, "kernel_kind", "one_rank");
	if (!take(&name, OLD) && !take(&name, DEVICE))
		return 0;
	if (add_text(fields, "kernel_kind", "collective"))
		return -ENOMEM;
	/* There is a block for each channel. */
	if (!args || !read_reported(&reported, args) ||
	    count_bits(reported.channel_mask) != grid_x)
		return 0;
	if (reported.version < WITH_FUNCTIONS)
		return describe_channels(fields, &reported);
	if (!read_functions(&reported, args) || !is_plausible(&reported, name))
		return 0;
	return describe_functions(fields, &reported);
}

const char *tap_kernel_algorithm(const char *function, uint32_t *version)
{
	struct part name = own_name(function);

	if (*version >= WITH_FUNCTIONS)
		return NULL;
	if (take(&name, OLD)) {
		if (!*version)
			*version = 21800;
		split(&name, "_");
		return take(&name, "RING_")   ? "RING"
		       : take(&name, "TREE_") ? "TREE"
					      : NULL;
	}
	if (!*version || !take(&name, DEVICE))
		return NULL;
	if (drop_end(&name, "_TREE_LL"))
		return "TREE";
	return drop_end(&name, "_RING_LL") ? "RING" : NULL;
}

/* ---- Collectives without a kernel ---- */

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

bool tap_kernel_is_batch(const char *function)
{
	static const char *const batches[] = {"cuMemcpyBatchAsync",
					      "cuMemcpyBatchAsync_v2",
					      "cuStreamBatchMemOp",
					      "cuStreamBatchMemOp_v2", NULL};

	return is_one_of(function, batches);
}

const char *tap_kernel_copy(const char *function, const char *nccl_call, int64_t nr_ranks)
{
	static const char *const copies[] = {"cuMemcpyAsync", "cuMemcpyDtoDAsync_v2",
					     NULL};
	if (!function || !nccl_call)
		return NULL;
	if (nr_ranks == 1)
		return is_one_of(function, copies) ? "one_rank" : NULL;
	/*
	 * Other calls put batches on a stream to signal, or end a group of unknown calls.
	 */
	if (tap_kernel_is_batch(function) &&
	    tap_call_is_made_of(nccl_call, TAP_MADE_OF_COPIES))
		return "copy_engine";
	return NULL;
}
