/* SPDX-License-Identifier: MIT */
/* The wrappers of the NCCL API, made of the rows, and the table of their names. */
#include "calls/nccl_calls.h"
#include "intercept/entry.h"
#include "intercept/elf.h"
#include "intercept/start.h"
#include "intercept/wrap.h"

/* clang-format off */
#define CALL TAP_WRAP_CALL
#define CALL_VOID TAP_WRAP_VOID
#include "calls/nccl.def"
#undef CALL
#undef CALL_VOID

#define NAME(sym) { \
	.linked = &sym##_linked, .linked_wrapper = (void *) tap_linked_##sym, \
	.looked_up = &sym##_looked_up, .looked_up_wrapper = (void *) tap_looked_up_##sym \
},
#define CALL(since, class, hook, ret_kind, ret_t, fn, ...) NAME(fn) NAME(p##fn)
#define CALL_VOID(since, class, fn, ...) NAME(fn) NAME(p##fn)
static const struct tap_entry_pair names[] = {
#include "calls/nccl.def"
};
/* clang-format on */

/*
 * Every dlsym() of the program comes by here, so what cannot be one of our
 * names is sent away by its first letters.
 */
const struct tap_entry_pair *tap_entry_find(const char *name)
{
	const char *bare = name[0] == 'p' ? name + 1 : name;
	unsigned i;

	if (bare[0] != 'n' && bare[0] != 'm')
		return NULL;
	if (bare[1] != 'c' && bare[1] != 's')
		return NULL;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (tap_elf_same(names[i].linked->name, name))
			return &names[i];
	return NULL;
}

void tap_entries_expire(void)
{
	unsigned i;

	__atomic_fetch_add(&tap_epoch, 1, __ATOMIC_RELEASE);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct tap_entry *both[] = {names[i].linked, names[i].looked_up};
		unsigned k;

		for (k = 0; k < ARRAY_SIZE(both); k++) {
			__atomic_store_n(&both[k]->entry_on, &tap_not_ready, __ATOMIC_RELEASE);
			__atomic_store_n(&both[k]->exit_on, &tap_not_ready, __ATOMIC_RELEASE);
		}
	}
}
