/* SPDX-License-Identifier: MIT */
/* Names by hash, each with its row. */
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

/*
 * Fills in a name without a row, as a newer tracer's calls and those that NVTX reports
 * have: a call that does another call's work is of its kind, and a function of the driver
 * does what an earlier form of it did.
 */
static void guess(struct tap_name *name)
{
	const struct tap_call_row *earlier;

	name->kind = name->operation->kind;
	if (strcmp(name->layer, "cuda"))
		return;
	earlier = tap_call_find_earlier(name->layer, name->name);
	name->cuda = earlier ? earlier->does : TAP_CUDA_OTHER;
	name->is_cuda_wait =
		name->cuda == TAP_CUDA_SYNCHRONIZE ||
		((name->cuda == TAP_CUDA_COPY || name->cuda == TAP_CUDA_SET) &&
		 !strstr(name->name, "Async"));
}

static void describe(struct tap_name *name)
{
	name->is_poll = tap_call_is_polled(name->name);
	name->is_nccl = !strcmp(name->layer, "nccl");
	name->is_made_of_messages = tap_call_is_made_of(name->name, TAP_MADE_OF_MESSAGES);
	if (!name->row) {
		guess(name);
		return;
	}
	name->kind = name->row->kind;
	name->cuda = name->row->does;
	name->is_cuda_wait = name->row->class == TAP_CLASS_WAIT;
}

bool tap_name_is_work(const struct tap_name *name)
{
	return name->cuda && name->cuda < TAP_CUDA_SYNCHRONIZE && !name->is_cuda_wait;
}

bool tap_name_is_launch(const struct tap_name *name)
{
	return tap_name_is_work(name) && name->cuda != TAP_CUDA_STREAM;
}

bool tap_name_is_poll(const struct tap_name *name)
{
	return name->is_poll;
}

/*
 * The function that does the same work under another name: a rank that calls the one may
 * meet ranks that call the other.  Returns NULL when memory is short.
 */
static const struct tap_name *find_operation(struct tap_names *names,
					     const struct tap_name *name)
{
	static const char config[] = "Config";
	const size_t length = strlen(name->name), end = sizeof(config) - 1;
	const char *operation;

	if (strcmp(name->layer, "nccl"))
		return name;
	operation = tap_call_operation(name->name);
	if (operation)
		return tap_names_get(names, "nccl", 4, operation, strlen(operation));
	/*
	 * Newer releases of NCCL may add calls with this ending.  The bound on the length
	 * is for a damaged name, which may repeat the ending a million times.
	 */
	if (!name->row && length > end && length < 64 &&
	    !strcmp(name->name + length - end, config))
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
	found->row = tap_call_find(found->layer, found->name);
	/* find_operation() may add a name: the hash is looked up again below. */
	found->operation = find_operation(names, found);
	found->next = tap_table_find(&names->by_hash, hash, 0);
	if (!found->operation || tap_table_set(&names->by_hash, hash, 0, found)) {
		free_name(found);
		return NULL;
	}
	describe(found);
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
