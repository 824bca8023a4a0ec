/* SPDX-License-Identifier: MIT */
/* Names by their hash, and what NCCL's names and those of the CUDA driver mean. */
#include "join/model/name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t length)
{
	while (length--)
		hash = (hash ^ (unsigned char) *bytes++) * 0x100000001b3u;
	return hash;
}

static bool is_named(const char *string, const char *name, size_t length)
{
	return !strncmp(string, name, length) && !string[length];
}

static enum tap_name_kind find_kind(const struct tap_name *name)
{
	static const struct {
		const char *name;
		enum tap_name_kind kind;
	} kinds[] = {
		{"ncclSend", TAP_NAME_SEND},
		{"ncclRecv", TAP_NAME_RECEIVE},
		{"ncclGroupStart", TAP_NAME_GROUP_START},
		{"ncclGroupEnd", TAP_NAME_GROUP_END},
		{"ncclGroupSimulateEnd", TAP_NAME_GROUP_END},
	};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(name->operation->name, kinds[i].name))
			return kinds[i].kind;
	return TAP_NAME_COLLECTIVE;
}

const char *tap_name_of_cuda(const struct tap_name *name)
{
	if (!strncmp(name->name, "cu", 2))
		return name->name + 2;
	return strncmp(name->name, "hip", 3) ? name->name : name->name + 3;
}

/* By how they begin: a later form, or a function that is new, does the same. */
static void set_cuda(struct tap_name *name)
{
	static const struct {
		const char *begin;
		enum tap_cuda_kind kind;
	} kinds[] = {
		{"LaunchHostFunc", TAP_CUDA_HOST_FUNCTION},
		{"StreamAddCallback", TAP_CUDA_HOST_FUNCTION},
		{"Launch", TAP_CUDA_KERNEL},
		{"ModuleLaunch", TAP_CUDA_KERNEL},
		{"DrvLaunch", TAP_CUDA_KERNEL},
		{"ExtLaunch", TAP_CUDA_KERNEL},
		{"ExtModuleLaunch", TAP_CUDA_KERNEL},
		{"GraphLaunch", TAP_CUDA_GRAPH},
		{"Memcpy", TAP_CUDA_COPY},
		{"DrvMemcpy", TAP_CUDA_COPY},
		{"Memset", TAP_CUDA_SET},
		{"EventRecord", TAP_CUDA_STREAM},
		{"StreamWait", TAP_CUDA_STREAM},
		{"StreamWriteValue", TAP_CUDA_STREAM},
		{"StreamBatchMemOp", TAP_CUDA_STREAM},
		{"StreamSynchronize", TAP_CUDA_SYNCHRONIZE},
		{"EventSynchronize", TAP_CUDA_SYNCHRONIZE},
		{"CtxSynchronize", TAP_CUDA_SYNCHRONIZE},
		{"DeviceSynchronize", TAP_CUDA_SYNCHRONIZE},
	};
	const char *function = tap_name_of_cuda(name);
	size_t i;

	if (strcmp(name->layer, "cuda"))
		return;
	name->cuda = TAP_CUDA_OTHER;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(function, kinds[i].begin, strlen(kinds[i].begin)))
			continue;
		name->cuda = kinds[i].kind;
		break;
	}
	name->is_cuda_wait =
		name->cuda == TAP_CUDA_SYNCHRONIZE ||
		((name->cuda == TAP_CUDA_COPY || name->cuda == TAP_CUDA_SET) &&
		 !strstr(name->name, "Async"));
}

bool tap_name_is_work(const struct tap_name *name)
{
	return name->cuda && name->cuda < TAP_CUDA_SYNCHRONIZE && !name->is_cuda_wait;
}

bool tap_name_is_launch(const struct tap_name *name)
{
	return tap_name_is_work(name) && name->cuda != TAP_CUDA_STREAM;
}

/*
 * The function whose work a function does too: a rank that calls one may meet
 * ranks that call the other.  Returns NULL when memory is short.
 */
static const struct tap_name *find_operation(struct tap_names *names,
					     const struct tap_name *name)
{
	static const char *const others[][2] = {
		{"ncclBcast", "ncclBroadcast"},
		/* RCCL's spelling */
		{"ncclAllToAll", "ncclAlltoAll"},
		{"ncclAllToAllv", "ncclAlltoAllv"},
	};
	static const char config[] = "Config";
	size_t i, length = strlen(name->name), end = sizeof(config) - 1;

	if (strcmp(name->layer, "nccl"))
		return name;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name->name, others[i][0]))
			return tap_names_get(names, "nccl", 4, others[i][1],
					     strlen(others[i][1]));
	/* A damaged name may end so a million times. */
	if (length > end && length < 64 && !strcmp(name->name + length - end, config))
		return tap_names_get(names, "nccl", 4, name->name, length - end);
	return name;
}

static void free_name(struct tap_name *name)
{
	free(name->layer);
	free(name->name);
	free(name);
}

static uint64_t hash_name(const char *layer, size_t layer_length, const char *name,
			  size_t name_length)
{
	const uint64_t hash = hash_bytes(0xcbf29ce484222325u, layer, layer_length);

	return hash_bytes(hash * 31, name, name_length);
}

static struct tap_name *find(const struct tap_names *names, uint64_t hash,
			     const char *layer, size_t layer_length, const char *name,
			     size_t name_length)
{
	struct tap_name *found;

	for (found = tap_table_find(&names->by_hash, hash, 0); found; found = found->next)
		if (is_named(found->layer, layer, layer_length) &&
		    is_named(found->name, name, name_length))
			break;
	return found;
}

const struct tap_name *tap_names_find(const struct tap_names *names, const char *layer,
				      size_t layer_length, const char *name,
				      size_t name_length)
{
	return find(names, hash_name(layer, layer_length, name, name_length), layer,
		    layer_length, name, name_length);
}

const struct tap_name *tap_names_get(struct tap_names *names, const char *layer,
				     size_t layer_length, const char *name,
				     size_t name_length)
{
	const uint64_t hash = hash_name(layer, layer_length, name, name_length);
	struct tap_name *found =
		find(names, hash, layer, layer_length, name, name_length);

	if (found)
		return found;
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->layer = strndup(layer, layer_length);
	found->name = strndup(name, name_length);
	if (!found->layer || !found->name) {
		free_name(found);
		return NULL;
	}
	/* This may add a name: the hash is looked up again below. */
	found->operation = find_operation(names, found);
	found->next = tap_table_find(&names->by_hash, hash, 0);
	if (!found->operation || tap_table_set(&names->by_hash, hash, 0, found)) {
		free_name(found);
		return NULL;
	}
	found->kind = find_kind(found);
	set_cuda(found);
	found->number = names->count++;
	return found;
}

void tap_names_free(struct tap_names *names)
{
	size_t i;

	for (i = 0; i < names->by_hash.size; i++) {
		struct tap_name *name = names->by_hash.slots[i].value;

		while (name) {
			struct tap_name *next = name->next;

			free_name(name);
			name = next;
		}
	}
	tap_table_free(&names->by_hash);
}
