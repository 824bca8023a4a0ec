/* SPDX-License-Identifier: MIT */
/* The rows as a table. */
#include "join/model/call.h"

#include "calls/cuda_kinds.h"
#include "common/args.h"

#include <errno.h>
#include <string.h>

/* clang-format off */
#define ROLE_OF(t, n, k) ROLE_##k(n)
#define ROLE_OF_NONE
#define TAP_ROLE(role, field) [TAP_ROLE_##role] = field,
#define FIELDS(...) {[TAP_ROLE_NONE] = NULL, ARGS_WALK(ROLE_OF, SEP_NONE, ##__VA_ARGS__)}

static const struct tap_call_row rows[] = {
#define CALL(since, class, hook, ret_kind, ret_t, name, ...) \
	{"nccl", #name, TAP_CLASS_##class, TAP_NAME(HOOK_KIND_##hook), TAP_CUDA_NONE, \
	 FIELDS(__VA_ARGS__)},
#define CALL_VOID(since, class, name, ...) \
	CALL(since, class, PLAIN, none, void, name, ##__VA_ARGS__)
#define TAP_NAME(kind) TAP_NAME_(kind)
#define TAP_NAME_(kind) TAP_NAME_##kind
#include "calls/nccl.def"
#undef CALL
#undef CALL_VOID
#define CALL_ALONE(since, class, does, api, name, ...) \
	{"cuda", #name, TAP_CLASS_##class, TAP_NAME_COLLECTIVE, TAP_CUDA_##does, \
	 FIELDS(__VA_ARGS__)},
#define CALL(since, class, does, api, name, twin, ...) \
	CALL_ALONE(since, class, does, api, name, ##__VA_ARGS__)
#include "calls/cuda.def"
#include "calls/hip.def"
#undef CALL
#undef CALL_ALONE
};

static const struct {
	const char *name, *operation;
} others[] = {
#define CALL(...)
#define CALL_VOID(...)
#define ALSO(name, operation) {#name, #operation},
#include "calls/nccl.def"
};
#undef CALL
#undef CALL_VOID

static const struct {
	const char *name;
	enum tap_call_made made;
} made_of[] = {
#define CALL(...)
#define CALL_VOID(...)
#define MADE_OF(name, made) {#name, TAP_MADE_OF_##made},
#include "calls/nccl.def"
};
#undef CALL
#undef CALL_VOID

static const char *const polled[] = {
#define CALL(...)
#define CALL_VOID(...)
#define POLLED(name) #name,
#include "calls/nccl.def"
};
#undef CALL
#undef CALL_VOID
/* clang-format on */

const struct tap_call_row *tap_call_row(size_t at)
{
	return at < sizeof(rows) / sizeof(rows[0]) ? &rows[at] : NULL;
}

const struct tap_call_row *tap_call_find(const char *layer, const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(name, rows[i].name) && !strcmp(layer, rows[i].layer))
			return &rows[i];
	return NULL;
}

const struct tap_call_row *tap_call_find_earlier(const char *layer, const char *name)
{
	const struct tap_call_row *found = NULL;
	size_t i, length, longest = 0;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		length = strlen(rows[i].name);
		if (length > longest && !strncmp(name, rows[i].name, length) &&
		    !strcmp(layer, rows[i].layer)) {
			found = &rows[i];
			longest = length;
		}
	}
	return found;
}

const char *tap_call_operation(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i].name))
			return others[i].operation;
	return NULL;
}

bool tap_call_is_made_of(const char *name, enum tap_call_made made)
{
	size_t i;

	for (i = 0; i < sizeof(made_of) / sizeof(made_of[0]); i++)
		if (made_of[i].made == made && !strcmp(name, made_of[i].name))
			return true;
	return false;
}

bool tap_call_is_polled(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(polled) / sizeof(polled[0]); i++)
		if (!strcmp(name, polled[i]))
			return true;
	return false;
}

/* The usual names of fields, for calls that have no row. */
static const struct {
	const char *field;
	enum tap_call_role role;
} usual[] = {
	{"comm_id", TAP_ROLE_COMM_ID},	  {"comm_key", TAP_ROLE_COMM_KEY},
	{"peer", TAP_ROLE_PEER},	  {"count", TAP_ROLE_COUNT},
	{"sendcount", TAP_ROLE_COUNT},	  {"recvcount", TAP_ROLE_COUNT},
	{"datatype", TAP_ROLE_DATATYPE},  {"op", TAP_ROLE_REDOP},
	{"root", TAP_ROLE_ROOT},	  {"hStream", TAP_ROLE_STREAM},
	{"stream", TAP_ROLE_STREAM},	  {"ByteCount", TAP_ROLE_BYTES},
	{"pCopy_bytes", TAP_ROLE_BYTES},  {"sizes_bytes", TAP_ROLE_BYTES},
	{"f", TAP_ROLE_FUNCTION},	  {"gridDimX", TAP_ROLE_GRID},
	{"hGraph", TAP_ROLE_GRAPH},	  {"hGraphExec", TAP_ROLE_GRAPH_EXEC},
	{"phGraph", TAP_ROLE_MADE_GRAPH}, {"phGraphExec", TAP_ROLE_MADE_GRAPH_EXEC},
};

enum tap_call_role tap_call_role(const struct tap_call_row *row, const char *field)
{
	unsigned int role;
	size_t i;

	for (role = TAP_ROLE_NONE; row && role < TAP_ROLE_NR; role++)
		if (row->field[role] && !strcmp(field, row->field[role]))
			return role;
	for (i = 0; !row && i < sizeof(usual) / sizeof(usual[0]); i++)
		if (!strcmp(field, usual[i].field))
			return usual[i].role;
	return TAP_ROLE_NONE;
}

int tap_call_get(const struct tap_call_row *row, enum tap_call_role role,
		 const struct tap_fields *fields, uint64_t *ret)
{
	size_t i;

	if (row)
		return row->field[role]
			       ? tap_fields_get_unsigned(fields, row->field[role], ret)
			       : -ENOENT;
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (usual[i].role == role &&
		    !tap_fields_get_unsigned(fields, usual[i].field, ret))
			return 0;
	return -ENOENT;
}
