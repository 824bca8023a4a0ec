/* SPDX-License-Identifier: MIT */
/*
 * Libraries as files: what several processes have loaded is one object, so that a call
 * site is the same on all ranks.
 *
 * Hides how an object is found by the library of a process.
 */
#ifndef TAP_JOIN_AUDIT_OBJECT_H
#define TAP_JOIN_AUDIT_OBJECT_H

#include "common/vec.h"
#include "join/base/buffer.h"
#include "join/base/table.h"
#include "join/model/span.h"

struct tap_audit_object {
	unsigned int number;		   /* from 1 */
	const struct tap_library *library; /* the first that is this file */
};

/* All zero is empty. */
struct tap_audit_objects {
	struct tap_table by_library;
	TAP_VEC(struct tap_audit_object *) all;
};

/* The object of a library, made when new; NULL when memory is short. */
const struct tap_audit_object *tap_audit_object_of(struct tap_audit_objects *objects,
						   const struct tap_library *library);

/*
 * A call site; object NULL: unknown.  Then the offset is 0: of code that is made at run
 * time there may be as many places as calls.
 */
struct tap_audit_place {
	const struct tap_audit_object *object;
	uint64_t offset;
};

/* The place of a call.  Returns 0 or -ENOMEM. */
int tap_audit_place_of(struct tap_audit_objects *objects, const struct tap_span *span,
		       struct tap_audit_place *place);
/* Half of a key of tap_rows: equal of the same place. */
uint64_t tap_audit_place_key(const struct tap_audit_place *place);
/* Compares two places, for qsort(): 0 of the same. */
int tap_audit_place_compare(const struct tap_audit_place *a,
			    const struct tap_audit_place *b);

/* "app+0x12", or "?" where the place is unknown. */
void tap_audit_add_place(struct tap_buffer *text, const struct tap_audit_place *place);

void tap_audit_objects_free(struct tap_audit_objects *objects);

#endif
