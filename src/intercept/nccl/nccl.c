/* SPDX-License-Identifier: MIT */
/* The wrappers of the NCCL API, made of the rows, and the table of their names. */
#include "calls/nccl_calls.h"
#include "common/names.h"
#include "intercept/entry.h"
#include "intercept/nccl/nccl_wrap.h"

/* clang-format off */
#define CALL TAP_WRAP_CALL
#define CALL_VOID TAP_WRAP_VOID
#include "calls/nccl.def"
#undef CALL
#undef CALL_VOID

#define COPY(sym, binding) {&sym##_##binding, (void *) tap_##binding##_##sym}
#define NAME(sym) {&sym##_linked, {COPY(sym, copy1), COPY(sym, copy2), COPY(sym, copy3), \
				   COPY(sym, copy4)}},
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) NAME(fn) NAME(p##fn)
#define CALL_VOID(since, class, fn, ...) NAME(fn) NAME(p##fn)
static const struct tap_entry_bindings names[] = {
#include "calls/nccl.def"
};
/* clang-format on */

/* Every dlsym() of the program calls this, so the first letters exclude most names. */
const struct tap_entry_bindings *tap_entry_find(const char *name)
{
	const char *base_name = name[0] == 'p' ? name + 1 : name;
	unsigned i;

	if (base_name[0] != 'n' && base_name[0] != 'm')
		return NULL;
	if (base_name[1] != 'c' && base_name[1] != 's')
		return NULL;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (tap_same_name(names[i].linked->name, name))
			return &names[i];
	return NULL;
}

void tap_entries_each(void (*each)(struct tap_entry *e))
{
	unsigned i, k;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		each(names[i].linked);
		for (k = 0; k < TAP_NR_COPIES; k++)
			each(names[i].looked_up[k].entry);
	}
}
