/* SPDX-License-Identifier: MIT */
/* Ranges, and the schemas of their values.  Numbers are those of NVTX 3's headers. */
#include "nvtx.h"

#include "nvtx_tool.h"
#include "release.h"
#include "settings.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

/* What a range may tell, in the order in which it does. */
enum {
	COMM = 1 << 0,
	PARENT = 1 << 1,
	BYTES = 1 << 2,
	DEVICES = 1 << 3,
	NRANKS = 1 << 4,
	RANK = 1 << 5,
	DEVICE = 1 << 6,
	COLOR = 1 << 7,
	KEY = 1 << 8,
	EXCLUDED = 1 << 9,
	ROOT = 1 << 10,
	PEER = 1 << 11,
	REDUCTION = 1 << 12,
	FIELDS = 13
};

/* NVTX_PAYLOAD_ENTRY_TYPE_INT and such. */
enum { TYPE_INT = 5, TYPE_UINT64 = 18, TYPE_SIZE = 22, TYPE_REDUCTION = 0 };

static const struct {
	uint64_t type;
	size_t size;
	const char *name;
} fields[FIELDS] = {
	{TYPE_UINT64, 8, "NCCL communicator ID"},
	{TYPE_UINT64, 8, "Parent NCCL communicator ID"},
	{TYPE_SIZE, 8, "Message size [bytes]"},
	{TYPE_INT, 4, "No. of devices"},
	{TYPE_INT, 4, "No. of ranks"},
	{TYPE_INT, 4, "Rank"},
	{TYPE_INT, 4, "CUDA device"},
	{TYPE_INT, 4, "Color"},
	{TYPE_INT, 4, "Key"},
	{TYPE_INT, 4, "num_exclude"},
	{TYPE_INT, 4, "Root"},
	{TYPE_INT, 4, "Peer rank"},
	{TYPE_REDUCTION, 4, "Reduction operation"},
};

/* clang-format off */
static const struct {
	const char *text;
	int schema;
	unsigned int told;
} ranges[] = {
#define RANGE(name, schema, told) {"nccl" #name, schema, told},
#include "nvtx.def"
#undef RANGE
	{"hostStreamPlanCallback", -1, 0},
};
/* clang-format on */

enum { RANGES = sizeof(ranges) / sizeof(ranges[0]) };

/* Schemas that a library brings with it have numbers from here on. */
#define FIRST_SCHEMA (1ULL << 24)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under lock: the domain, texts and schemas that the tool was told of. */
static void *domain;
static void *texts[RANGES];
static bool is_registered[RANGES];

/* The number of the enumeration of reductions, after those of all schemas. */
static uint64_t reductions(void)
{
	static const struct {
		int since;
		unsigned int number;
	} numbers[] = {{22900, 24}, {22807, 20}, {22800, 19},
		       {22700, 16}, {22600, 15}, {0, 14}};
	size_t i = 0;

	while (mini_release() < numbers[i].since)
		i++;
	return FIRST_SCHEMA + numbers[i].number;
}

/* Packs the values as a structure of C has them; returns its size. */
static size_t pack(enum mini_range_name name, const uint64_t *values, char *data,
		   struct mini_nvtx_entry *entries, size_t *count)
{
	size_t end = 0;
	int field;

	*count = 0;
	for (field = 0; field < FIELDS; field++) {
		uint64_t type = fields[field].type;

		if (!(ranges[name].told >> field & 1))
			continue;
		if (type == TYPE_REDUCTION)
			type = reductions();
		entries[*count] = (struct mini_nvtx_entry){.type = type,
							   .name = fields[field].name,
							   .offset = end};
		if (values)
			memcpy(data + end, &values[*count], fields[field].size);
		end += fields[field].size;
		++*count;
	}
	return (end + 7) / 8 * 8;
}

/* Called with the lock held. */
static void register_schema(enum mini_range_name name)
{
	/* Which a tool may look at later. */
	static struct mini_nvtx_entry entries[RANGES][FIELDS];
	size_t count;
	size_t size;

	if (ranges[name].schema < 0 || is_registered[name])
		return;
	is_registered[name] = true;
	size = pack(name, NULL, NULL, entries[name], &count);
	mini_nvtx_register_schema(domain, FIRST_SCHEMA + (uint64_t) ranges[name].schema,
				  entries[name], count, size);
}

/* Called with the lock held. */
static void open_domain(void)
{
	if (!domain) {
		domain = mini_nvtx_create_domain("NCCL");
		mini_nvtx_register_reductions(domain, reductions());
	}
}

static bool is_wanted(void)
{
	return !mini_number(SET_NCCL_NVTX_DISABLE) && mini_nvtx_has_tool();
}

static struct mini_nvtx_payload payload_of(enum mini_range_name name,
					   const uint64_t *values, char *data)
{
	struct mini_nvtx_entry entries[FIELDS];
	size_t count;

	return (struct mini_nvtx_payload){
		.schema = FIRST_SCHEMA + (uint64_t) ranges[name].schema,
		.size = pack(name, values, data, entries, &count),
		.data = data,
	};
}

static struct mini_range begin(enum mini_range_name name, const uint64_t *values)
{
	struct mini_range range = {.name = name};
	struct mini_nvtx_payload payload;
	char data[64] = "";

	if (!is_wanted())
		return range;
	pthread_mutex_lock(&lock);
	open_domain();
	if (values)
		register_schema(name);
	if (!texts[name])
		texts[name] = mini_nvtx_register_text(domain, ranges[name].text);
	pthread_mutex_unlock(&lock);
	if (values)
		payload = payload_of(name, values, data);
	mini_nvtx_push(domain, texts[name], values ? &payload : NULL);
	range.is_open = true;
	return range;
}

struct mini_range mini_range_begin(enum mini_range_name name)
{
	return begin(name, NULL);
}

struct mini_range mini_range_begin_with(enum mini_range_name name, const uint64_t *values)
{
	return begin(name, values);
}

void mini_range_tell(struct mini_range *range, const uint64_t *values)
{
	memcpy(range->values, values, sizeof(range->values));
	range->has_values = true;
}

void mini_range_end(struct mini_range *range)
{
	struct mini_nvtx_payload payload;
	char data[64] = "";

	if (!range->is_open)
		return;
	if (!range->has_values) {
		mini_nvtx_pop(domain, NULL);
		return;
	}
	pthread_mutex_lock(&lock);
	register_schema(range->name);
	pthread_mutex_unlock(&lock);
	payload = payload_of(range->name, range->values, data);
	mini_nvtx_pop(domain, &payload);
}

void mini_nvtx_name_thread(const char *name)
{
	if (mini_nvtx_has_tool())
		mini_nvtx_name((uint32_t) gettid(), name);
}
