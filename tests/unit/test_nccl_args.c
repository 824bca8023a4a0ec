/* SPDX-License-Identifier: MIT */
/* The arguments of NCCL's kernels: those that are as they should be, and all others. Each
 * buffer ends at the end of a page, with nothing behind it. */
#include "intercept/cuda/nccl_args.h"
#include "calls/guarded.h"
#include "unit/tap.h"

#include <stdlib.h>
#include <string.h>

#define HEADER 32
#define BATCH 16
#define NR_BATCHES 250

/* As device.h has them. */
struct args {
	uint64_t comm, channel_mask;
	uint8_t work_storage, garbage[3];
	uint32_t work_mask;
	uint64_t work_buf;
	struct {
		uint32_t flags, offset_base;
		uint64_t offset_bits;
	} batches[NR_BATCHES];
};

static uint32_t batch(unsigned function, unsigned type, unsigned jump)
{
	return function << 17 | type << 15 | jump;
}

static const uint32_t extends = 1 << 14;

static void begin(struct args *args, uint64_t mask)
{
	memset(args, 0xa5, sizeof(*args));
	args->comm = 0x7f0000001000;
	args->channel_mask = mask;
	args->work_storage = 1;
}

/* Returns what tap_nccl_args_read() does. */
static size_t read_args(struct tap_nccl_args_event *event, const struct args *args,
			size_t size, uint32_t version)
{
	const size_t kept = size < sizeof(*args) ? size : sizeof(*args);
	void *buffer = guarded(kept ? kept : 1, 0);

	memcpy(buffer, args, kept);
	memset(event, 0xee, sizeof(*event));
	return tap_nccl_args_read(event, buffer, size, version);
}

static unsigned function_of(const struct tap_nccl_args_event *event, unsigned i)
{
	uint16_t id;

	memcpy(&id, event->arrays + sizeof(id) * i, sizeof(id));
	return id;
}

static unsigned type_of(const struct tap_nccl_args_event *event, unsigned i)
{
	return event->arrays[sizeof(uint16_t) * event->record.nr_functions + i];
}

static bool reads_one_function(void)
{
	const size_t size = HEADER + 3 * BATCH;
	struct tap_nccl_args_event event;
	bool is_passed = true;
	struct args args;
	int i;

	begin(&args, 0x8000000000000101);
	for (i = 0; i < 3; i++)
		args.batches[i].flags = batch(123, 1, 0);
	CHECK(read_args(&event, &args, size, 22809) == sizeof(event.record) + 3);
	CHECK(event.record.comm == 0x7f0000001000);
	CHECK(event.record.channel_mask == 0x8000000000000101);
	CHECK(event.record.version == 22809);
	CHECK(event.record.args_bytes == size);
	CHECK(event.record.nr_batches == 3);
	CHECK(event.record.work_storage == 1);
	CHECK(event.record.complete == 1);
	CHECK(event.record.nr_functions == 1);
	CHECK(function_of(&event, 0) == 123);
	CHECK(type_of(&event, 0) == 1);
	return is_passed;
}

static bool follows_chains(void)
{
	struct tap_nccl_args_event event;
	bool is_passed = true;
	struct args args;

	begin(&args, 3);
	args.batches[0].flags = batch(7, 1, 2);
	args.batches[1].flags = batch(7, 2, 3) | extends;
	args.batches[2].flags = batch(32767, 0, 1);
	args.batches[3].flags = batch(7, 1, 0);
	args.batches[4].flags = batch(0, 0, 0);
	CHECK(read_args(&event, &args, HEADER + 5 * BATCH, 22203) ==
	      sizeof(event.record) + 4 * 3);
	CHECK(event.record.nr_batches == 5);
	CHECK(event.record.complete == 1);
	CHECK(event.record.nr_functions == 4);
	CHECK(function_of(&event, 0) == 7 && type_of(&event, 0) == 1);
	CHECK(function_of(&event, 1) == 32767 && type_of(&event, 1) == 0);
	CHECK(function_of(&event, 2) == 7 && type_of(&event, 2) == 2);
	CHECK(function_of(&event, 3) == 0 && type_of(&event, 3) == 0);
	return is_passed;
}

/* Function 0 with work type 0 is one, too. */
static bool knows_the_layout_of_a_release(void)
{
	struct tap_nccl_args_event event;
	bool is_passed = true;
	struct args args;

	begin(&args, 1);
	args.batches[0].flags = 4U << 28 | batch(200, 3, 0);
	CHECK(read_args(&event, &args, HEADER + BATCH, 23203) != 0);
	CHECK(function_of(&event, 0) == 200 && type_of(&event, 0) == 3);
	CHECK(read_args(&event, &args, HEADER + BATCH, 23102) != 0);
	CHECK(function_of(&event, 0) == (4 << 11) + 200);
	args.batches[0].flags = 0;
	CHECK(read_args(&event, &args, HEADER + BATCH, 22809) != 0);
	CHECK(event.record.nr_functions == 1 && function_of(&event, 0) == 0);
	CHECK(!tap_nccl_args_known(0) && !tap_nccl_args_known(21706));
	CHECK(tap_nccl_args_known(21801) && tap_nccl_args_known(23203));
	CHECK(!tap_nccl_args_known(23300) && !tap_nccl_args_known(UINT32_MAX));
	return is_passed;
}

static bool reads_nothing_beyond_the_size(void)
{
	struct tap_nccl_args_event event;
	bool is_passed = true;
	struct args args;
	size_t size;
	int i;

	begin(&args, 0xff);
	for (i = 0; i < 8; i++)
		args.batches[i].flags = batch(9, 1, 0);
	for (size = 0; size < HEADER + BATCH; size++)
		CHECK(read_args(&event, &args, size, 22809) == 0);
	for (; size < HEADER + 8 * BATCH; size++) {
		CHECK(read_args(&event, &args, size, 22809) != 0);
		CHECK(event.record.complete == 0);
		CHECK(event.record.nr_batches == (size - HEADER) / BATCH);
	}
	CHECK(read_args(&event, &args, size, 22809) != 0 && event.record.complete == 1);
	CHECK(tap_nccl_args_read(&event, NULL, 0, 22809) == 0);
	CHECK(read_args(&event, &args, HEADER + 8 * BATCH, 22105) == 0);
	CHECK(read_args(&event, &args, SIZE_MAX, 22809) == 0);
	return is_passed;
}

static bool refuses_what_is_none(void)
{
	struct tap_nccl_args_event event;
	bool is_passed = true;
	struct args args;

	begin(&args, 0);
	args.batches[0].flags = 0;
	CHECK(read_args(&event, &args, HEADER + BATCH, 22809) == 0);
	begin(&args, 1);
	args.comm = 0;
	CHECK(read_args(&event, &args, HEADER + BATCH, 22809) == 0);
	begin(&args, 1);
	args.work_storage = 3;
	CHECK(read_args(&event, &args, HEADER + BATCH, 22809) == 0);
	return is_passed;
}

static bool reads_parameters(void)
{
	uint64_t comm = 0x7f0000001000, mask = 0x101;
	void *const parameters[] = {&comm, &mask};
	struct tap_nccl_args_event event;
	bool is_passed = true;

	memset(&event, 0xee, sizeof(event));
	CHECK(tap_nccl_args_read_parameters(&event, parameters, 22105) ==
	      sizeof(event.record));
	CHECK(event.record.comm == comm && event.record.channel_mask == mask);
	CHECK(event.record.version == 22105);
	CHECK(!event.record.args_bytes && !event.record.nr_batches);
	CHECK(!event.record.nr_functions && !event.record.complete);
	CHECK(tap_nccl_args_read_parameters(&event, parameters, 22203) == 0);
	mask = 0;
	CHECK(tap_nccl_args_read_parameters(&event, parameters, 22105) == 0);
	comm = 0;
	mask = 1;
	CHECK(tap_nccl_args_read_parameters(&event, parameters, 22105) == 0);
	return is_passed;
}

/* A jump leads forward alone, so a loop is many channels that share one long chain. */
static bool ends(void)
{
	struct tap_nccl_args_event event;
	bool is_passed = true;
	struct args args;
	int i;

	begin(&args, UINT64_MAX);
	for (i = 0; i < NR_BATCHES; i++)
		args.batches[i].flags = batch(5, 1, 1);
	CHECK(read_args(&event, &args, sizeof(args), 22809) != 0);
	CHECK(event.record.complete == 0);
	CHECK(event.record.nr_batches == 255);
	CHECK(event.record.nr_functions == 1);
	begin(&args, 1);
	args.batches[0].flags = batch(5, 1, 0x3fff);
	CHECK(read_args(&event, &args, HEADER + BATCH, 22809) != 0);
	CHECK(event.record.complete == 0 && event.record.nr_batches == 1);
	return is_passed;
}

static bool says_that_there_are_more(void)
{
	struct tap_nccl_args_event event;
	bool is_passed = true;
	struct args args;
	int i;

	begin(&args, 1);
	for (i = 0; i < 17; i++)
		args.batches[i].flags = batch((unsigned) i, 1, i < 16);
	CHECK(read_args(&event, &args, HEADER + 17 * BATCH, 22809) == sizeof(event));
	CHECK(event.record.nr_functions == 16 && event.record.complete == 0);
	CHECK(function_of(&event, 15) == 15);
	args.batches[15].flags = batch(15, 1, 0);
	CHECK(read_args(&event, &args, HEADER + 17 * BATCH, 22809) == sizeof(event));
	CHECK(event.record.nr_functions == 16 && event.record.complete == 1);
	return is_passed;
}

#define END ((void *) 0)
#define POINTER ((void *) 1)
#define SIZE ((void *) 2)

static bool finds_the_buffer(void)
{
	size_t size = 48, none = 0, found;
	char buffer[48];
	void *const good[] = {POINTER, buffer, SIZE, &size, END};
	void *const swapped[] = {SIZE, &size, POINTER, buffer, END};
	void *const empty[] = {END};
	void *const no_size[] = {POINTER, buffer, END};
	void *const no_buffer[] = {POINTER, NULL, SIZE, &size, END};
	void *const null_size[] = {POINTER, buffer, SIZE, NULL, END};
	void *const of_size_0[] = {POINTER, buffer, SIZE, &none, END};
	void *const strange[] = {(void *) 99, buffer, POINTER, buffer, SIZE, &size, END};
	/* Without an end: what lies behind it is not there. */
	void **endless = guarded(16 * sizeof(*endless), 0);
	bool is_passed = true;
	int i;

	CHECK(tap_nccl_args_buffer(good, &found) == buffer && found == 48);
	CHECK(tap_nccl_args_buffer(swapped, &found) == buffer && found == 48);
	CHECK(!tap_nccl_args_buffer(NULL, &found) && !found);
	CHECK(!tap_nccl_args_buffer(empty, &found) && !found);
	CHECK(!tap_nccl_args_buffer(no_size, &found) && !found);
	CHECK(!tap_nccl_args_buffer(no_buffer, &found) && !found);
	CHECK(!tap_nccl_args_buffer(null_size, &found) && !found);
	CHECK(!tap_nccl_args_buffer(of_size_0, &found) && !found);
	CHECK(!tap_nccl_args_buffer(strange, &found) && !found);
	for (i = 0; i < 16; i += 2) {
		endless[i] = POINTER;
		endless[i + 1] = buffer;
	}
	CHECK(!tap_nccl_args_buffer(endless, &found) && !found);
	return is_passed;
}

int main(void)
{
	report("one function on all channels is read", reads_one_function);
	report("the batches of a channel are followed", follows_chains);
	report("each release is read by its own layout", knows_the_layout_of_a_release);
	report("no byte is read beyond the size", reads_nothing_beyond_the_size);
	report("what cannot be NCCL's is not read", refuses_what_is_none);
	report("parameters are read before 2.22", reads_parameters);
	report("batches without end come to one", ends);
	report("functions beyond the room are not passed over in silence",
	       says_that_there_are_more);
	report("the buffer is found where it is named", finds_the_buffer);
	printf("1..%u\n", tap_number);
	return 0;
}
