/* SPDX-License-Identifier: MIT */
/*
 * A table consists of runs: functions of one collective, operation and type, which differ
 * in algorithm and protocol as the run's shape lists them.
 */
#include "join/nccl/funcid.h"

#include <stdio.h>
#include <string.h>

struct algo_proto {
	const char *algorithm, *protocol;
	bool has_both; /* signed numbers too */
};

struct run {
	unsigned int first, count;
	const char *collective, *op, *type;
	const struct algo_proto *algo_protos;
};

/* clang-format off */
#define ALGO_PROTO(algorithm, protocol, has_both) {#algorithm, #protocol, has_both},
#define JOIN_NAMES(a, b) a##b
#define NAME_OF(table, n) JOIN_NAMES(table, n)
#define SHAPE(n, algo_protos) static const struct algo_proto NAME_OF(SHAPES, n)[] = {algo_protos};
#define RUN(first, count, coll, op, type, shape)
#define SHAPES v222_
#include "join/nccl/funcid/v222.def"
#undef SHAPES
#define SHAPES v223_
#include "join/nccl/funcid/v223.def"
#undef SHAPES
#define SHAPES v224_
#include "join/nccl/funcid/v224.def"
#undef SHAPES
#define SHAPES v229_
#include "join/nccl/funcid/v229.def"
#undef SHAPES
#undef SHAPE
#undef RUN

#define SHAPE(n, algo_protos)
#define RUN(first, count, coll, op, type, shape) \
	{first, count, #coll, #op, #type, NAME_OF(SHAPES, shape)},
#define SHAPES v222_
static const struct run v222[] = {
#include "join/nccl/funcid/v222.def"
};
#undef SHAPES
#define SHAPES v223_
static const struct run v223[] = {
#include "join/nccl/funcid/v223.def"
};
#undef SHAPES
#define SHAPES v224_
static const struct run v224[] = {
#include "join/nccl/funcid/v224.def"
};
#undef SHAPES
#define SHAPES v229_
static const struct run v229[] = {
#include "join/nccl/funcid/v229.def"
};
#undef SHAPES
/* clang-format on */

#define TABLE(since, until, runs) \
	{ \
		since, until, runs, sizeof(runs) / sizeof((runs)[0]) \
	}
static const struct {
	uint32_t since, until;
	const struct run *runs;
	size_t count;
} tables[] = {
	TABLE(22200, 22300, v222),
	TABLE(22300, 22400, v223),
	TABLE(22400, 22900, v224),
	TABLE(22900, 23300, v229),
};

/* From this release on a kernel's name has neither operation nor protocol. */
#define SHORT_NAMES 23100

static const char *name_or_none(const char *name)
{
	return strcmp(name, "NONE") != 0 ? name : NULL;
}

static const char *with_signed(const char *type)
{
	static const char *const both[] = {"i8/u8", "i32/u32", "i64/u64"};
	size_t i;

	for (i = 0; i < sizeof(both) / sizeof(both[0]); i++)
		if (!strcmp(strchr(both[i], '/') + 1, type))
			return both[i];
	return type;
}

bool tap_funcid_lookup(uint32_t version, uint64_t id, struct tap_funcid *ret_function)
{
	const struct run *run, *end;
	const struct algo_proto *algo_proto;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (version >= tables[i].since && version < tables[i].until)
			break;
	if (i == sizeof(tables) / sizeof(tables[0]))
		return false;
	end = tables[i].runs + tables[i].count;
	for (run = tables[i].runs; run < end; run++)
		if (id < run->first + run->count)
			break;
	if (run == end)
		return false;
	algo_proto = &run->algo_protos[id - run->first];
	ret_function->collective = run->collective;
	ret_function->op = name_or_none(run->op);
	ret_function->datatype =
		algo_proto->has_both ? with_signed(run->type) : name_or_none(run->type);
	ret_function->algorithm = name_or_none(algo_proto->algorithm);
	ret_function->protocol = name_or_none(algo_proto->protocol);
	return true;
}

void tap_funcid_kernel(uint32_t version, const struct tap_funcid *function,
		       char ret_name[TAP_FUNCID_KERNEL_MAX])
{
	const bool is_short = version >= SHORT_NAMES;
	const char *type = function->datatype;
	const char *slash;
	bool is_tree;

	if (!function->algorithm) {
		snprintf(ret_name, TAP_FUNCID_KERNEL_MAX, "%s", function->collective);
		return;
	}
	if (!type) {
		snprintf(ret_name, TAP_FUNCID_KERNEL_MAX, "%s_RING%s",
			 function->collective, is_short ? "" : "_LL");
		return;
	}
	/* NCCL has kernels for sums; those for signed numbers are the unsigned ones. */
	slash = strchr(type, '/');
	if (slash)
		type = slash + 1;
	is_tree = !strcmp(function->algorithm, "TREE");
	snprintf(ret_name, TAP_FUNCID_KERNEL_MAX, "%s%s_%s%s_%s%s", function->collective,
		 is_short ? "" : "_Sum", *type == 'i' ? "u" : "",
		 *type == 'i' ? type + 1 : type, is_tree ? "TREE" : "RING",
		 is_short ? "" : "_LL");
}
