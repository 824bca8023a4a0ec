/* SPDX-License-Identifier: MIT */
/*
 * Finds each value by the display name that NCCL gives it.
 */
#include "intercept/nvtx/nvtx_schema.h"

#include <string.h>

#include "common/lock.h"

/* Guards appending; readers need no lock, since nr is written last. */
static struct tap_lock lock;
static uint64_t last_dynamic_id;

/*
 * The names in nvtx_payload_schemas.h, or before 2.25 in NCCL's functions.  The last are
 * older names.
 */
static const struct {
	const char *name;
	uint8_t value;
} names[] = {
	{"NCCL communicator ID", TAP_NVTX_comm_hash},
	{"Parent NCCL communicator ID", TAP_NVTX_parent_hash},
	{"Message size [bytes]", TAP_NVTX_bytes},
	{"Root", TAP_NVTX_root},
	{"Reduction operation", TAP_NVTX_op},
	{"Peer rank", TAP_NVTX_peer},
	{"No. of ranks", TAP_NVTX_nranks},
	{"Rank", TAP_NVTX_rank},
	{"CUDA device", TAP_NVTX_device},
	{"No. of devices", TAP_NVTX_ndev},
	{"Color", TAP_NVTX_color},
	{"Key", TAP_NVTX_key},
	{"num_exclude", TAP_NVTX_excludeRanksCount},
	{"Context ID", TAP_NVTX_ctx},
	{"Number of peers", TAP_NVTX_npeers},
	{"Bytes", TAP_NVTX_bytes},
	{"color", TAP_NVTX_color},
	{"key", TAP_NVTX_key},
};

static int value_of(const char *name)
{
	unsigned i;

	for (i = 0; name && i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, name))
			return names[i].value;
	return -1;
}

/*
 * Size in bytes, 0 for a type that no value of NCCL has.  A type of NCCL's own is an
 * enumeration.
 */
static uint8_t size_of(uint64_t type, bool *ret_signed)
{
	*ret_signed = true;
	switch (type) {
	case NVTX_ABI_TYPE_INT:
	case NVTX_ABI_TYPE_INT32:
		return 4;
	case NVTX_ABI_TYPE_INT64:
		return 8;
	case NVTX_ABI_TYPE_UINT:
	case NVTX_ABI_TYPE_UINT32:
		*ret_signed = false;
		return 4;
	case NVTX_ABI_TYPE_UINT64:
	case NVTX_ABI_TYPE_SIZE:
		*ret_signed = false;
		return 8;
	}
	return type >= NVTX_ABI_TYPE_STATIC && type < NVTX_ABI_DYNAMIC_ID ? 4 : 0;
}

/*
 * An entry without an offset lies behind the one before, aligned as in C, so the size of
 * that one must be known.
 */
static void describe(struct tap_nvtx_schema *schema, const struct nvtx_abi_schema *from)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < from->nr_entries && schema->nr < TAP_NVTX_NR; i++) {
		const struct nvtx_abi_entry *entry = &from->entries[i];
		const int value = value_of(entry->name);
		bool is_signed;
		const uint8_t size = size_of(entry->type, &is_signed);
		uint64_t offset = entry->offset;

		/* A pointer or an array, which no value of NCCL is. */
		if (!size || entry->flags)
			return;
		if (!offset)
			offset = (end + size - 1) & ~(uint64_t) (size - 1);
		if (offset > UINT16_MAX)
			return;
		end = offset + size;
		if (value < 0)
			continue;
		schema->at[schema->nr].offset = (uint16_t) offset;
		schema->at[schema->nr].size = size;
		schema->at[schema->nr].is_signed = is_signed;
		schema->at[schema->nr].value = (uint8_t) value;
		schema->nr++;
	}
}

static const struct tap_nvtx_schema *find(const struct tap_nvtx_schemas *schemas,
					  uint64_t id)
{
	const uint32_t nr = __atomic_load_n(&schemas->nr, __ATOMIC_ACQUIRE);
	uint32_t i;

	for (i = 0; i < nr; i++)
		if (schemas->all[i].id == id)
			return &schemas->all[i];
	return NULL;
}

static void add(struct tap_nvtx_schemas *schemas, const struct nvtx_abi_schema *from,
		uint64_t id)
{
	const uint32_t nr = schemas->nr;
	struct tap_nvtx_schema *schema = &schemas->all[nr];

	/* NCCL registers a schema for each place in its code, some of them equal. */
	if (nr == TAP_NVTX_SCHEMAS || find(schemas, id))
		return;
	schema->id = id;
	if (from->fields & NVTX_ABI_SCHEMA_STATIC_SIZE)
		schema->size = from->static_size;
	describe(schema, from);
	__atomic_store_n(&schemas->nr, nr + 1, __ATOMIC_RELEASE);
}

uint64_t tap_nvtx_schema_add(struct tap_nvtx_schemas *schemas,
			     const struct nvtx_abi_schema *from)
{
	const uint64_t needed = NVTX_ABI_SCHEMA_ENTRIES | NVTX_ABI_SCHEMA_NR_ENTRIES;
	uint64_t id;

	if (from->fields & NVTX_ABI_SCHEMA_ID)
		id = from->schema_id;
	else
		id = NVTX_ABI_DYNAMIC_ID +
		     __atomic_add_fetch(&last_dynamic_id, 1, __ATOMIC_RELAXED);
	if (!schemas || (from->fields & needed) != needed || !from->entries ||
	    !tap_lock_take(&lock))
		return id;
	add(schemas, from, id);
	tap_lock_drop(&lock);
	return id;
}

static uint64_t number_at(const char *from, uint8_t size, bool is_signed)
{
	uint64_t wide;
	uint32_t narrow;

	if (size == sizeof(wide)) {
		memcpy(&wide, from, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, from, sizeof(narrow));
	return is_signed ? (uint64_t) (int64_t) (int32_t) narrow : narrow;
}

void tap_nvtx_schema_read(const struct tap_nvtx_schemas *schemas,
			  const struct nvtx_abi_data *data, size_t nr,
			  struct tap_nvtx_values *values)
{
	size_t i, size;
	uint32_t k;

	for (i = 0; schemas && data && i < nr; i++) {
		const struct tap_nvtx_schema *schema = find(schemas, data[i].schema_id);

		if (!schema || !data[i].data)
			continue;
		size = data[i].size == SIZE_MAX ? schema->size : data[i].size;
		for (k = 0; k < schema->nr; k++) {
			const unsigned value = schema->at[k].value;

			if ((size_t) schema->at[k].offset + schema->at[k].size > size)
				continue;
			values->of[value] =
				number_at((const char *) data[i].data +
						  schema->at[k].offset,
					  schema->at[k].size, schema->at[k].is_signed);
			values->given |= 1u << value;
		}
	}
}

void tap_nvtx_schemas_fork_child(void)
{
	tap_lock_drop(&lock);
}
