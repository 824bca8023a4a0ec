/* SPDX-License-Identifier: MIT */
/* Few objects are traced or call NCCL, so a list is enough. */
#include "join/audit/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_file_of(const struct tap_audit_object *object,
		       const struct tap_library *library)
{
	return !strcmp(object->library->path, library->path) &&
	       !strcmp(object->library->build_id, library->build_id);
}

static struct tap_audit_object *find(const struct tap_audit_objects *objects,
				     const struct tap_library *library)
{
	size_t i;

	for (i = 0; i < objects->all.count; i++)
		if (is_file_of(objects->all.items[i], library))
			return objects->all.items[i];
	return NULL;
}

static struct tap_audit_object *make(struct tap_audit_objects *objects,
				     const struct tap_library *library)
{
	struct tap_audit_object *object = calloc(1, sizeof(*object));

	if (!object || tap_vec_add(&objects->all, object)) {
		free(object);
		return NULL;
	}
	object->number = (unsigned int) objects->all.count;
	object->library = library;
	return object;
}

const struct tap_audit_object *tap_audit_object_of(struct tap_audit_objects *objects,
						   const struct tap_library *library)
{
	struct tap_audit_object *object =
		tap_table_find(&objects->by_library, (uintptr_t) library, 0);

	if (object)
		return object;
	object = find(objects, library);
	if (!object)
		object = make(objects, library);
	if (object && tap_table_set(&objects->by_library, (uintptr_t) library, 0, object))
		return NULL;
	return object;
}

int tap_audit_place_of(struct tap_audit_objects *objects, const struct tap_span *span,
		       struct tap_audit_place *place)
{
	*place = (struct tap_audit_place){0};
	if (!span->caller)
		return 0;
	place->object = tap_audit_object_of(objects, span->caller);
	place->offset = span->caller_offset;
	return place->object ? 0 : -ENOMEM;
}

uint64_t tap_audit_place_key(const struct tap_audit_place *place)
{
	return (uint64_t) (place->object ? place->object->number : 0) << 48 ^
	       place->offset;
}

int tap_audit_place_compare(const struct tap_audit_place *a,
			    const struct tap_audit_place *b)
{
	const unsigned int left = a->object ? a->object->number : 0;
	const unsigned int right = b->object ? b->object->number : 0;

	if (left != right)
		return left < right ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

void tap_audit_add_place(struct tap_buffer *text, const struct tap_audit_place *place)
{
	const char *name = place->object ? place->object->library->base_name : "";

	if (!place->object) {
		tap_buffer_add_char(text, '?');
		return;
	}
	tap_buffer_add_visible(text, *name ? name : "?");
	tap_buffer_add_char(text, '+');
	tap_buffer_add_hex(text, place->offset);
}

void tap_audit_objects_free(struct tap_audit_objects *objects)
{
	size_t i;

	for (i = 0; i < objects->all.count; i++)
		free(objects->all.items[i]);
	tap_vec_free(&objects->all);
	tap_table_free(&objects->by_library);
}
