/* SPDX-License-Identifier: MIT */
/* What a launch of NCCL's is said to be: the tables of numbers, kernels by name,
 * arguments that fit the launch and others. */
#include "join/nccl/funcid.h"
#include "join/nccl/kernel.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>

/* As zlib's. */
static uint32_t checksum(uint32_t crc, const char *text)
{
	int bit;

	for (; *text; text++) {
		crc ^= (unsigned char) *text;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

/* Of all functions of a release, each spelled as scripts/nccl-function-ids does. */
static uint32_t checksum_of(uint32_t version, unsigned int *ret_count)
{
	uint32_t crc = UINT32_MAX;
	struct tap_funcid f;
	char line[256];

	for (*ret_count = 0; tap_funcid_lookup(version, *ret_count, &f); ++*ret_count) {
		const char *slash = f.datatype ? strchr(f.datatype, '/') : NULL;

		snprintf(line, sizeof(line), "%u %s %s %s%s %s %s\n", *ret_count,
			 f.collective, f.op ? f.op : "-",
			 slash	      ? slash + 1
			 : f.datatype ? f.datatype
				      : "-",
			 slash ? "+" : "", f.algorithm ? f.algorithm : "-",
			 f.protocol ? f.protocol : "-");
		crc = checksum(crc, line);
	}
	return ~crc;
}

/* What `nccl-function-ids --checksums` prints, of tables that agree with every library.
 */
static bool tables_are_those(void)
{
	static const struct {
		uint32_t from, until, crc;
		unsigned int count;
	} tables[] = {{22203, 22299, 0x57f96664, 555},
		      {22304, 22399, 0x577bf384, 590},
		      {22403, 22899, 0xcefd9df3, 670},
		      {22902, 23299, 0x0f76be19, 673}};
	bool is_passed = true;
	unsigned int count;
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		CHECK(checksum_of(tables[i].from, &count) == tables[i].crc);
		CHECK(count == tables[i].count);
		CHECK(checksum_of(tables[i].until, &count) == tables[i].crc);
	}
	return is_passed;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is(uint32_t version, unsigned int id, const char *collective, const char *op,
	       const char *datatype, const char *algorithm, const char *protocol)
{
	struct tap_funcid f;

	return tap_funcid_lookup(version, id, &f) && is_same(f.collective, collective) &&
	       is_same(f.op, op) && is_same(f.datatype, datatype) &&
	       is_same(f.algorithm, algorithm) && is_same(f.protocol, protocol);
}

static bool numbers_mean_this(void)
{
	struct tap_funcid f;
	bool is_passed = true;

	CHECK(is(22809, 258, "AllReduce", "Sum", "f32", "RING", "LL"));
	CHECK(is(22809, 256, "AllReduce", "Sum", "f32", "NVLS", "SIMPLE"));
	CHECK(is(22809, 298, "AllReduce", "Sum", "i32/u32", "TREE", "LL128"));
	CHECK(is(22809, 669, "SendRecv", NULL, NULL, NULL, NULL));
	CHECK(is(22809, 2, "AllGather", NULL, NULL, "PAT", "SIMPLE"));
	CHECK(is(22203, 209, "AllReduce", "Sum", "f32", "RING", "LL"));
	CHECK(is(22304, 210, "AllReduce", "Sum", "f32", "RING", "LL"));
	CHECK(is(22907, 261, "AllReduce", "Sum", "f32", "RING", "LL"));
	CHECK(is(23203, 6, "AllGatherV", NULL, NULL, "RING", "LL"));
	CHECK(!tap_funcid_lookup(22809, 670, &f));
	CHECK(!tap_funcid_lookup(22809, UINT64_MAX, &f));
	CHECK(!tap_funcid_lookup(22105, 0, &f));
	CHECK(!tap_funcid_lookup(23300, 0, &f));
	CHECK(!tap_funcid_lookup(0, 0, &f));
	return is_passed;
}

/* Arguments as the event has them. */
static void emit(struct tap_fields *args, uint64_t version, uint64_t mask, size_t count,
		 const uint64_t *ids)
{
	uint64_t *elements;

	tap_fields_clear(args);
	tap_fields_add(args, "comm", TAP_FIELD_UNSIGNED)->value.u = 0x7000;
	tap_fields_add(args, "channel_mask", TAP_FIELD_UNSIGNED)->value.u = mask;
	tap_fields_add(args, "version", TAP_FIELD_UNSIGNED)->value.u = version;
	tap_fields_add(args, "complete", TAP_FIELD_UNSIGNED)->value.u = 1;
	if (tap_fields_add_array(args, "func_id", count, &elements) && count)
		memcpy(elements, ids, count * sizeof(*ids));
}

/* The fields as text: name=value, with spaces. */
static const char *describe(const char *function, uint64_t grid,
			    const struct tap_fields *args)
{
	static char text[4096];
	struct tap_fields fields = {0};
	size_t i, used = 0;

	text[0] = '\0';
	if (tap_kernel_describe(&fields, function, grid, args))
		return "error";
	for (i = 0; i < fields.count; i++) {
		const struct tap_field *f = &fields.list[i];

		if (f->kind == TAP_FIELD_STRING)
			used += (size_t) snprintf(text + used, sizeof(text) - used,
						  "%s%s=%s", i ? " " : "", f->name,
						  tap_fields_string(&fields, f));
		else
			used += (size_t) snprintf(text + used, sizeof(text) - used,
						  f->is_hex ? "%s%s=%#llx" : "%s%s=%llu",
						  i ? " " : "", f->name,
						  (unsigned long long) f->value.u);
	}
	tap_fields_free(&fields);
	return text;
}

#define SAYS(expected, ...) CHECK(!strcmp(describe(__VA_ARGS__), expected))
#define KERNEL(n, name) \
	"_Z" #n "ncclDevKernel_" name "24ncclDevKernelArgsStorageILm4096EE"
#define F32 KERNEL(39, "AllReduce_Sum_f32_RING_LL")

static bool arguments_are_decoded(void)
{
	struct tap_fields args = {0};
	bool is_passed = true;

	/* A ring with another protocol, which the kernel's name does not tell. */
	emit(&args, 22809, 0x80000003, 1, (uint64_t[]){260});
	SAYS("kernel_kind=collective known=decoded collective=AllReduce op=Sum datatype=f32 "
	     "algorithm=RING protocol=SIMPLE channels=3 channel_mask=0x80000003 "
	     "device_comm=0x7000 nccl_version=22809",
	     F32, 3, &args);
	SAYS("kernel_kind=collective known=decoded collective=AllReduce op=Sum datatype=f32 "
	     "algorithm=RING protocol=SIMPLE channels=3 channel_mask=0x80000003 "
	     "device_comm=0x7000 nccl_version=22809",
	     "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	     3, &args);
	emit(&args, 22809, 1, 3, (uint64_t[]){669, 298, 2});
	SAYS("kernel_kind=collective known=decoded collective=SendRecv,AllReduce,AllGather "
	     "op=-,Sum,- datatype=-,i32/u32,- algorithm=-,TREE,PAT protocol=-,LL128,SIMPLE "
	     "channels=1 channel_mask=0x1 device_comm=0x7000 nccl_version=22809",
	     KERNEL(39, "AllReduce_Sum_u32_TREE_LL"), 1, &args);
	emit(&args, 23203, 1, 1, (uint64_t[]){2});
	SAYS("kernel_kind=collective known=decoded collective=AllGather algorithm=PAT "
	     "protocol=SIMPLE channels=1 channel_mask=0x1 device_comm=0x7000 nccl_version=23203",
	     KERNEL(28, "AllGather_RING"), 1, &args);
	emit(&args, 22203, 1, 1, (uint64_t[]){554});
	SAYS("kernel_kind=collective known=decoded collective=SendRecv channels=1 "
	     "channel_mask=0x1 device_comm=0x7000 nccl_version=22203",
	     KERNEL(22, "SendRecv"), 1, &args);
	tap_fields_free(&args);
	return is_passed;
}

/* Every function, under the kernel that it would have alone, and no other. */
static bool every_function_has_its_kernel(void)
{
	static const uint32_t versions[] = {22203, 22304, 22809, 22907, 23203};
	char kernel[TAP_FUNCID_KERNEL_MAX], name[128];
	struct tap_fields args = {0};
	bool is_passed = true;
	struct tap_funcid f;
	uint64_t id;
	size_t i;

	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
		for (id = 0; tap_funcid_lookup(versions[i], id, &f); id++) {
			emit(&args, versions[i], 1, 1, &id);
			tap_funcid_kernel(versions[i], &f, kernel);
			snprintf(name, sizeof(name), "ncclDevKernel_%s", kernel);
			CHECK(strstr(describe(name, 1, &args), "known=decoded"));
			snprintf(name, sizeof(name), "ncclDevKernel_%s128", kernel);
			CHECK(!strstr(describe(name, 1, &args), "known="));
		}
	tap_fields_free(&args);
	return is_passed;
}

static bool others_are_not_believed(void)
{
	struct tap_fields args = {0};
	bool is_passed = true;

	emit(&args, 22809, 3, 1, (uint64_t[]){260});
	SAYS("kernel_kind=collective", F32, 3, &args);
	SAYS("kernel_kind=collective", KERNEL(39, "AllReduce_Sum_f16_RING_LL"), 2, &args);
	SAYS("kernel_kind=collective", KERNEL(39, "AllReduce_Sum_f32_TREE_LL"), 2, &args);
	SAYS("kernel_kind=collective", F32, 2, NULL);
	emit(&args, 23300, 3, 1, (uint64_t[]){260});
	SAYS("kernel_kind=collective", F32, 2, &args);
	emit(&args, 22809, 3, 1, (uint64_t[]){670});
	SAYS("kernel_kind=collective", F32, 2, &args);
	emit(&args, 22809, 3, 0, NULL);
	SAYS("kernel_kind=collective", F32, 2, &args);
	emit(&args, 22809, 3, 17, (uint64_t[17]){260});
	SAYS("kernel_kind=collective", F32, 2, &args);
	tap_fields_clear(&args);
	SAYS("kernel_kind=collective", F32, 2, &args);
	tap_fields_free(&args);
	return is_passed;
}

#define OLD_KERNEL(n, name) "_Z" #n name "P11ncclDevCommmP8ncclWork"
#define OLD_F32 OLD_KERNEL(36, "ncclKernel_AllReduce_RING_LL_Sum_float")

static bool before_2_22_channels_are_decoded(void)
{
	struct tap_fields args = {0};
	bool is_passed = true;

	emit(&args, 21801, 0x13, 0, NULL);
	SAYS("kernel_kind=collective channels=3 channel_mask=0x13 device_comm=0x7000 "
	     "nccl_version=21801",
	     OLD_F32, 3, &args);
	SAYS("kernel_kind=collective", OLD_F32, 2, &args);
	emit(&args, 22105, 1, 0, NULL);
	SAYS("kernel_kind=collective channels=1 channel_mask=0x1 device_comm=0x7000 "
	     "nccl_version=22105",
	     OLD_KERNEL(39, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"), 1, &args);
	emit(&args, 22203, 1, 0, NULL);
	SAYS("kernel_kind=collective", OLD_F32, 1, &args);
	tap_fields_free(&args);
	return is_passed;
}

static bool has_algorithm(const char *function, uint32_t version, const char *expected)
{
	const char *found = tap_kernel_algorithm(function, &version);

	return found && expected ? !strcmp(found, expected) : found == expected;
}

static bool old_names_tell_algorithms(void)
{
	uint32_t version = 0;
	bool is_passed = true;

	CHECK(tap_kernel_algorithm(OLD_F32, &version) && version == 21800);
	CHECK(has_algorithm("ncclDevKernel_AllReduce_Sum_f32_TREE_LL", 0, NULL));

	CHECK(has_algorithm(OLD_F32, 21801, "RING"));
	CHECK(has_algorithm("ncclKernel_AllReduce_TREE_LL_Sum_float(ncclDevComm*)", 21801,
			    "TREE"));
	CHECK(has_algorithm("ncclKernel_AllReduce_NVLS_TREE_LL_Sum_float", 21801, NULL));
	CHECK(has_algorithm("ncclDevKernel_AllReduce_Sum_f32_TREE_LL", 21904, "TREE"));
	CHECK(has_algorithm("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 22105, "RING"));
	CHECK(has_algorithm("ncclDevKernel_Reduce_Sum_f32_RING_LL", 22105, "RING"));
	CHECK(has_algorithm("ncclDevKernel_AllGather_RING_LL", 22105, "RING"));
	CHECK(has_algorithm("ncclDevKernel_Reduce_Sum_f32_RING_LL", 22203, NULL));
	CHECK(has_algorithm("kernel", 22105, NULL));
	return is_passed;
}

static bool names_tell_of_others(void)
{
	bool is_passed = true;

	SAYS("kernel_kind=symmetric known=named collective=AllReduce op=sum datatype=bf16 "
	     "algorithm=AGxLL_R",
	     "_Z43ncclSymDevKernel_AllReduce_AGxLL_R_sum_bf1614ncclSymDevArgs", 1, NULL);
	SAYS("kernel_kind=symmetric known=named collective=ReduceScatter op=avg datatype=f32 "
	     "algorithm=LD",
	     "_Z42ncclSymkDevKernel_ReduceScatter_LD_avg_f3221ncclSymkDevWorkArgs4K", 1,
	     NULL);
	SAYS("kernel_kind=symmetric known=named collective=AllGather algorithm=TmaST",
	     "_Z41ncclSymkDevKernel_AllGather_TmaST_profile21ncclSymkDevWorkArgs4K", 1,
	     NULL);
	SAYS("kernel_kind=symmetric", "ncclSymkDevKernel_", 1, NULL);
	SAYS("kernel_kind=one_rank", "_Z13oneRankReduceI11FuncPreMulSumIfEEvPvS2_mmb", 1,
	     NULL);
	SAYS("kernel_kind=collective",
	     "_Z33ncclKernel_AllReduce_RING_LL_Sum_fP11ncclDevComm", 1, NULL);
	SAYS("", "_Z6kernelv", 1, NULL);
	SAYS("", "_Z99999999999999999999ncclDevKernel_AllGather", 1, NULL);
	SAYS("", "", 1, NULL);
	SAYS("", NULL, 1, NULL);
	return is_passed;
}

static bool copies_are_told_apart(void)
{
	bool is_passed = true;

	CHECK(is_same(tap_kernel_copy("cuMemcpyAsync", "ncclAllReduce", 1), "one_rank"));
	CHECK(is_same(tap_kernel_copy("cuMemcpyBatchAsync_v2", "ncclAllGather", 8),
		      "copy_engine"));
	CHECK(is_same(tap_kernel_copy("cuStreamBatchMemOp_v2", "ncclGather", -1),
		      "copy_engine"));
	CHECK(!tap_kernel_copy("cuMemcpyAsync", "ncclAllReduce", 8));
	CHECK(!tap_kernel_copy("cuMemcpyAsync", "ncclAllReduce", -1));
	CHECK(!tap_kernel_copy("cuStreamBatchMemOp_v2", "ncclWaitSignal", 8));
	CHECK(!tap_kernel_copy("cuStreamBatchMemOp_v2", "ncclGroupEnd", 8));
	CHECK(!tap_kernel_copy("cuMemcpyAsync", NULL, 1));
	return is_passed;
}

int main(void)
{
	report("the tables are those that agree with the libraries", tables_are_those);
	report("numbers mean in each release what they should", numbers_mean_this);
	report("arguments are decoded", arguments_are_decoded);
	report("every function is known under its kernel alone",
	       every_function_has_its_kernel);
	report("arguments that do not fit the launch are not believed",
	       others_are_not_believed);
	report("before 2.22 the channels alone are decoded",
	       before_2_22_channels_are_decoded);
	report("before 2.22 some names tell the algorithm", old_names_tell_algorithms);
	report("other kernels are what their names say", names_tell_of_others);
	report("collectives without a kernel are told from copies",
	       copies_are_told_apart);
	printf("1..%u\n", tap_number);
	return 0;
}
