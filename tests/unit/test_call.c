/* SPDX-License-Identifier: MIT */
/* What the reader knows of calls by their rows, and of names that have none. */
#include "join/model/call.h"
#include "join/model/name.h"
#include "unit/tap.h"

#include <string.h>

static struct tap_names names;

static const struct tap_name *get(const char *layer, const char *name)
{
	return tap_names_get(&names, layer, strlen(layer), name, strlen(name));
}

/* ---- Rows ---- */

/* These fields have a role, and no others. */
static const struct expected {
	const char *layer, *name;
	enum tap_call_class class;
	enum tap_name_kind kind;
	enum tap_cuda_kind does;
	struct {
		enum tap_call_role role;
		const char *field;
	} fields[10];
} expected[] = {
	{"nccl",
	 "ncclAllReduce",
	 TAP_CLASS_HOT,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_NONE,
	 {{TAP_ROLE_COUNT, "count"},
	  {TAP_ROLE_DATATYPE, "datatype"},
	  {TAP_ROLE_REDOP, "op"},
	  {TAP_ROLE_COMM, "comm"},
	  {TAP_ROLE_COMM_ID, "comm_id"},
	  {TAP_ROLE_COMM_KEY, "comm_key"},
	  {TAP_ROLE_STREAM, "stream"}}},
	{"nccl",
	 "ncclReduceScatterConfig",
	 TAP_CLASS_HOT,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_NONE,
	 {{TAP_ROLE_COUNT, "recvcount"},
	  {TAP_ROLE_DATATYPE, "datatype"},
	  {TAP_ROLE_REDOP, "op"},
	  {TAP_ROLE_COMM, "comm"},
	  {TAP_ROLE_COMM_ID, "comm_id"},
	  {TAP_ROLE_COMM_KEY, "comm_key"},
	  {TAP_ROLE_STREAM, "stream"}}},
	{"nccl",
	 "ncclSend",
	 TAP_CLASS_HOT,
	 TAP_NAME_SEND,
	 TAP_CUDA_NONE,
	 {{TAP_ROLE_COUNT, "count"},
	  {TAP_ROLE_DATATYPE, "datatype"},
	  {TAP_ROLE_PEER, "peer"},
	  {TAP_ROLE_COMM, "comm"},
	  {TAP_ROLE_COMM_ID, "comm_id"},
	  {TAP_ROLE_COMM_KEY, "comm_key"},
	  {TAP_ROLE_STREAM, "stream"}}},
	{"nccl",
	 "mscclRunAlgo",
	 TAP_CLASS_HOT,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_NONE,
	 {{TAP_ROLE_COUNT, "count"},
	  {TAP_ROLE_DATATYPE, "dataType"},
	  {TAP_ROLE_REDOP, "op"},
	  {TAP_ROLE_ROOT, "root"},
	  {TAP_ROLE_PEER, "peer"},
	  {TAP_ROLE_COMM, "comm"},
	  {TAP_ROLE_COMM_ID, "comm_id"},
	  {TAP_ROLE_COMM_KEY, "comm_key"},
	  {TAP_ROLE_STREAM, "stream"}}},
	{"nccl",
	 "ncclRecv",
	 TAP_CLASS_HOT,
	 TAP_NAME_RECEIVE,
	 TAP_CUDA_NONE,
	 {{TAP_ROLE_COUNT, "count"},
	  {TAP_ROLE_DATATYPE, "datatype"},
	  {TAP_ROLE_PEER, "peer"},
	  {TAP_ROLE_COMM, "comm"},
	  {TAP_ROLE_COMM_ID, "comm_id"},
	  {TAP_ROLE_COMM_KEY, "comm_key"},
	  {TAP_ROLE_STREAM, "stream"}}},
	{"nccl",
	 "ncclGroupStart",
	 TAP_CLASS_HOT,
	 TAP_NAME_GROUP_START,
	 TAP_CUDA_NONE,
	 {{0}}},
	{"nccl",
	 "ncclGroupSimulateEnd",
	 TAP_CLASS_HOT,
	 TAP_NAME_GROUP_END,
	 TAP_CUDA_NONE,
	 {{0}}},
	/* What it gives back has no role, though it is called "count". */
	{"nccl",
	 "ncclCommCount",
	 TAP_CLASS_HOT,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_NONE,
	 {{TAP_ROLE_COMM, "comm"},
	  {TAP_ROLE_COMM_ID, "comm_id"},
	  {TAP_ROLE_COMM_KEY, "comm_key"}}},
	{"nccl",
	 "ncclParamDumpAll",
	 TAP_CLASS_SETUP,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_NONE,
	 {{0}}},
	{"cuda",
	 "cuLaunchKernel",
	 TAP_CLASS_WORK,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_KERNEL,
	 {{TAP_ROLE_FUNCTION, "f"},
	  {TAP_ROLE_GRID, "gridDimX"},
	  {TAP_ROLE_STREAM, "hStream"}}},
	{"cuda",
	 "cuLaunchKernelEx",
	 TAP_CLASS_WORK,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_KERNEL,
	 {{TAP_ROLE_FUNCTION, "f"},
	  {TAP_ROLE_GRID, "gridDimX"},
	  {TAP_ROLE_STREAM, "hStream"}}},
	{"cuda",
	 "hipLaunchKernel",
	 TAP_CLASS_WORK,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_KERNEL,
	 {{TAP_ROLE_FUNCTION, "f"},
	  {TAP_ROLE_GRID, "gridDimX"},
	  {TAP_ROLE_STREAM, "hStream"}}},
	/* It has threads, and no blocks. */
	{"cuda",
	 "hipExtModuleLaunchKernel",
	 TAP_CLASS_WORK,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_KERNEL,
	 {{TAP_ROLE_FUNCTION, "f"}, {TAP_ROLE_STREAM, "hStream"}}},
	{"cuda",
	 "cuMemcpyDtoDAsync_v2",
	 TAP_CLASS_WORK,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_COPY,
	 {{TAP_ROLE_BYTES, "ByteCount"}, {TAP_ROLE_STREAM, "hStream"}}},
	{"cuda",
	 "cuMemcpy2DAsync_v2",
	 TAP_CLASS_WORK,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_COPY,
	 {{TAP_ROLE_BYTES, "pCopy_bytes"}, {TAP_ROLE_STREAM, "hStream"}}},
	{"cuda",
	 "cuMemcpyBatchAsync",
	 TAP_CLASS_WORK,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_COPY,
	 {{TAP_ROLE_BYTES, "sizes_bytes"}, {TAP_ROLE_STREAM, "hStream"}}},
	{"cuda",
	 "cuMemcpyHtoD_v2",
	 TAP_CLASS_WAIT,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_COPY,
	 {{TAP_ROLE_BYTES, "ByteCount"}}},
	{"cuda",
	 "cuStreamWaitValue32_v2",
	 TAP_CLASS_WORK,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_STREAM,
	 {{TAP_ROLE_STREAM, "stream"}}},
	{"cuda",
	 "cuStreamSynchronize",
	 TAP_CLASS_WAIT,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_SYNCHRONIZE,
	 {{TAP_ROLE_STREAM, "hStream"}}},
	{"cuda",
	 "cuStreamBeginCaptureToGraph",
	 TAP_CLASS_CAPTURE,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_BEGIN_CAPTURE_TO_GRAPH,
	 {{TAP_ROLE_STREAM, "hStream"}, {TAP_ROLE_GRAPH, "hGraph"}}},
	{"cuda",
	 "cuStreamEndCapture",
	 TAP_CLASS_CAPTURED,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_END_CAPTURE,
	 {{TAP_ROLE_STREAM, "hStream"}, {TAP_ROLE_MADE_GRAPH, "phGraph"}}},
	{"cuda",
	 "cuGraphInstantiate_v2",
	 TAP_CLASS_SETUP,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_INSTANTIATE_GRAPH,
	 {{TAP_ROLE_GRAPH, "hGraph"}, {TAP_ROLE_MADE_GRAPH_EXEC, "phGraphExec"}}},
	{"cuda",
	 "hipGraphClone",
	 TAP_CLASS_SETUP,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_CLONE_GRAPH,
	 {{TAP_ROLE_GRAPH, "originalGraph"}, {TAP_ROLE_MADE_GRAPH, "phGraphClone"}}},
	{"cuda",
	 "cuGraphLaunch",
	 TAP_CLASS_WORK,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_GRAPH,
	 {{TAP_ROLE_GRAPH_EXEC, "hGraphExec"}, {TAP_ROLE_STREAM, "hStream"}}},
	{"cuda",
	 "cuModuleUnload",
	 TAP_CLASS_UNLOAD,
	 TAP_NAME_COLLECTIVE,
	 TAP_CUDA_OTHER,
	 {{0}}},
};

static bool is_expected(const struct expected *e)
{
	const struct tap_call_row *row = tap_call_find(e->layer, e->name);
	const char *fields[TAP_ROLE_NR] = {NULL};
	bool is_passed = true;
	size_t i;

	CHECK(row != NULL);
	if (!row)
		return false;
	for (i = 0; i < sizeof(e->fields) / sizeof(e->fields[0]) && e->fields[i].field;
	     i++)
		fields[e->fields[i].role] = e->fields[i].field;
	CHECK(!strcmp(row->name, e->name) && !strcmp(row->layer, e->layer));
	CHECK(row->class == e->class);
	CHECK(row->kind == e->kind);
	CHECK(row->does == e->does);
	for (i = 0; i < TAP_ROLE_NR; i++) {
		CHECK(!fields[i] == !row->field[i]);
		if (fields[i] && row->field[i])
			CHECK(!strcmp(fields[i], row->field[i]) &&
			      tap_call_role(row, fields[i]) == i);
	}
	if (!is_passed)
		printf("# of %s\n", e->name);
	return is_passed;
}

static bool test_rows(void)
{
	bool is_passed = true;
	size_t i;

	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		is_passed &= is_expected(&expected[i]);
	return is_passed;
}

/* What must hold of each, whatever is added. */
static bool is_sound(const struct tap_call_row *row)
{
	const bool is_nccl = !strcmp(row->layer, "nccl");
	const struct tap_name *name = get(row->layer, row->name);
	bool is_passed = true;

	CHECK(name && name->row == row && tap_call_find(row->layer, row->name) == row);
	CHECK(is_nccl == (row->does == TAP_CUDA_NONE));
	CHECK(row->class == TAP_CLASS_SETUP || is_nccl == (row->class == TAP_CLASS_HOT));
	CHECK(!row->field[TAP_ROLE_NONE]);
	/* What is put on a stream says on which, but for launches on several devices. */
	if (row->class == TAP_CLASS_WORK && !row->field[TAP_ROLE_STREAM])
		CHECK(strstr(row->name, "MultiDevice") != NULL);
	if (row->kind == TAP_NAME_SEND || row->kind == TAP_NAME_RECEIVE)
		CHECK(row->field[TAP_ROLE_PEER] && row->field[TAP_ROLE_COUNT]);
	if (row->does == TAP_CUDA_GRAPH)
		CHECK(row->field[TAP_ROLE_GRAPH_EXEC] != NULL);
	if (!is_nccl && name) {
		CHECK(tap_name_is_work(name) == (row->class == TAP_CLASS_WORK));
		CHECK(name->is_cuda_wait == (row->class == TAP_CLASS_WAIT));
	}
	if (!is_passed)
		printf("# of %s\n", row->name);
	return is_passed;
}

static bool test_all(void)
{
	const struct tap_call_row *row;
	bool is_passed = true;
	size_t i;

	for (i = 0; (row = tap_call_row(i)); i++)
		is_passed &= is_sound(row);
	CHECK(i > 200);
	return is_passed;
}

static bool does_work_of(const char *name, const char *operation)
{
	const struct tap_name *found = get("nccl", name), *other = get("nccl", operation);

	return found && found->operation == other && found->kind == other->kind;
}

static bool test_operations(void)
{
	bool is_passed = true;

	CHECK(does_work_of("ncclBcast", "ncclBroadcast"));
	CHECK(does_work_of("ncclAllToAll", "ncclAlltoAll"));
	CHECK(does_work_of("ncclAllToAllv", "ncclAlltoAllv"));
	CHECK(does_work_of("ncclScatterConfig", "ncclScatter"));
	CHECK(does_work_of("ncclAllReduce", "ncclAllReduce"));
	CHECK(does_work_of("ncclAllReduceWithBias", "ncclAllReduceWithBias"));
	CHECK(!tap_call_operation("ncclAllReduce"));
	/* Without row. */
	CHECK(does_work_of("ncclSendConfig", "ncclSend"));
	CHECK(does_work_of("ncclFooConfig", "ncclFoo"));
	return is_passed;
}

static bool test_made_of(void)
{
	bool is_passed = true;

	CHECK(tap_call_is_made_of("ncclSend", TAP_MADE_OF_MESSAGES));
	CHECK(!tap_call_is_made_of("ncclSend", TAP_MADE_OF_COPIES));
	CHECK(tap_call_is_made_of("ncclScatter", TAP_MADE_OF_MESSAGES));
	CHECK(tap_call_is_made_of("ncclScatter", TAP_MADE_OF_COPIES));
	CHECK(tap_call_is_made_of("ncclAllGather", TAP_MADE_OF_COPIES));
	CHECK(!tap_call_is_made_of("ncclAllGather", TAP_MADE_OF_MESSAGES));
	CHECK(!tap_call_is_made_of("ncclAllReduce", TAP_MADE_OF_MESSAGES));
	return is_passed;
}

static bool test_polled(void)
{
	bool is_passed = true;

	CHECK(tap_name_is_poll(get("nccl", "ncclCommGetAsyncError")));
	CHECK(!tap_name_is_poll(get("nccl", "ncclCommAbort")));
	CHECK(!tap_name_is_poll(get("nccl", "ncclCommGetAsyncErrors")));
	return is_passed;
}

/* ---- Names without row ---- */

static bool test_no_row(void)
{
	const struct tap_name *name;
	bool is_passed = true;

	name = get("cuda", "cuLaunchKernelTomorrow");
	CHECK(!name->row && name->cuda == TAP_CUDA_KERNEL && tap_name_is_work(name));
	name = get("cuda", "cuMemcpyAsync_v9");
	CHECK(!name->row && name->cuda == TAP_CUDA_COPY && tap_name_is_work(name));
	name = get("cuda", "cuMemcpySomehow");
	CHECK(!name->row && name->cuda == TAP_CUDA_COPY && name->is_cuda_wait);
	name = get("cuda", "cuFrobnicate");
	CHECK(!name->row && name->cuda == TAP_CUDA_OTHER && !name->is_cuda_wait);
	/* Each layer has its own: a program may call a range so. */
	name = get("nvtx", "ncclSend");
	CHECK(!name->row && name->kind == TAP_NAME_COLLECTIVE && !name->cuda);
	name = get("nvtx", "cuLaunchKernel");
	CHECK(!name->row && !name->cuda && name->operation == name);
	CHECK(tap_call_role(NULL, "peer") == TAP_ROLE_PEER);
	CHECK(tap_call_role(NULL, "stream") == TAP_ROLE_STREAM);
	CHECK(tap_call_role(NULL, "root") == TAP_ROLE_ROOT);
	return is_passed;
}

/* A row's fields are the only ones: what else is called so is something else. */
static bool test_fields(void)
{
	const struct tap_call_row *row = tap_call_find("cuda", "cuStreamWriteValue32");
	struct tap_fields fields = {0};
	struct tap_field *field;
	bool is_passed = true;
	uint64_t stream = 0;

	field = tap_fields_add(&fields, "hStream", TAP_FIELD_UNSIGNED);
	field->value.u = 7;
	CHECK(tap_call_get(row, TAP_ROLE_STREAM, &fields, &stream));
	CHECK(!tap_call_get(NULL, TAP_ROLE_STREAM, &fields, &stream) && stream == 7);
	CHECK(tap_call_get(NULL, TAP_ROLE_BYTES, &fields, &stream));
	field = tap_fields_add(&fields, "stream", TAP_FIELD_UNSIGNED);
	field->value.u = 8;
	CHECK(!tap_call_get(row, TAP_ROLE_STREAM, &fields, &stream) && stream == 8);
	CHECK(tap_call_get(row, TAP_ROLE_BYTES, &fields, &stream));
	tap_fields_free(&fields);
	return is_passed;
}

int main(void)
{
	puts("1..7");
	report("calls are what their rows say", test_rows);
	report("every row is sound, and its name leads to it", test_all);
	report("a call that does another's work is known for it", test_operations);
	report("what NCCL makes a call of is in the rows", test_made_of);
	report("polling calls are in the rows", test_polled);
	report("a name without row is that of an earlier form, or of nothing",
	       test_no_row);
	report("fields are found by the row, and by usual names only without",
	       test_fields);
	tap_names_free(&names);
	return 0;
}
