/* SPDX-License-Identifier: MIT */
/* Keeps the last event. */
#include "cupti/owner.h"

#include <limits.h>
#include <stdio.h>

#include "common/lock.h"
#include "intercept/resolve.h"

static struct tap_lock lock;
static struct {
	const char *state; /* NULL: there was no event */
	char holder[PATH_MAX], library[PATH_MAX], detail[256];
	uint32_t version;
} last;

void tap_cupti_owner_emit(const struct tap_gpu_owner *owner)
{
	tap_events_table->gpu.owner(owner, false);
	if (!tap_lock_take(&lock))
		return;
	last.state = owner->state;
	snprintf(last.holder, sizeof(last.holder), "%s", owner->holder);
	snprintf(last.library, sizeof(last.library), "%s", owner->library);
	snprintf(last.detail, sizeof(last.detail), "%s", owner->detail);
	last.version = owner->version;
	tap_lock_drop(&lock);
}

void tap_cupti_owner_write(void)
{
	if (!tap_lock_take(&lock))
		return;
	if (last.state) {
		const struct tap_gpu_owner owner = {
			.state = last.state,
			.holder = last.holder,
			.library = last.library,
			.version = last.version,
			.detail = last.detail,
		};

		tap_events_table->gpu.owner(&owner, true);
	}
	tap_lock_drop(&lock);
}

void tap_cupti_owner_fork_child(void)
{
	last.state = NULL;
	tap_lock_drop(&lock);
}
