/* SPDX-License-Identifier: MIT */
/*
 * Ranges that the program announces itself: its steps, layers and iterations.
 */
#include "common/safe_read.h"
#include "common/thread.h"
#include "intercept/entry.h"
#include "intercept/guard.h"
#include "intercept/nvtx/nvtx.h"
#include "intercept/start.h"
#include "intercept/trace.h"

static bool is_wanted(void)
{
	const int *const *on = tap_events_table->nvtx_range_on;

	return *on[0] | *on[1] | *on[2];
}

/* kept holds a truncated copy of the program's text while the event is written. */
static const char *text_of(const struct nvtx_abi_attributes *a, char *kept)
{
	const struct tap_nvtx_string *string;

	switch (a->message_type) {
	case NVTX_ABI_MESSAGE_ASCII:
		return tap_safe_read_string(kept, TAP_NVTX_TEXT, a->message.ascii);
	case NVTX_ABI_MESSAGE_WIDE:
		if (!a->message.wide)
			return "";
		tap_nvtx_narrow(a->message.wide, kept, TAP_NVTX_TEXT);
		return kept;
	case NVTX_ABI_MESSAGE_STRING:
		string = a->message.string;
		return string ? string->text : "";
	}
	return "";
}

static void set_value(struct tap_nvtx_range *range, const struct nvtx_abi_attributes *a)
{
	switch (a->payload_type) {
	case NVTX_ABI_PAYLOAD_U64:
		range->unsigned_value = a->payload.u64;
		range->given |= TAP_NVTX_HAS_UNSIGNED;
		break;
	case NVTX_ABI_PAYLOAD_U32:
		range->unsigned_value = a->payload.u32;
		range->given |= TAP_NVTX_HAS_UNSIGNED;
		break;
	case NVTX_ABI_PAYLOAD_I64:
		range->value = a->payload.i64;
		range->given |= TAP_NVTX_HAS_SIGNED;
		break;
	case NVTX_ABI_PAYLOAD_I32:
		range->value = a->payload.i32;
		range->given |= TAP_NVTX_HAS_SIGNED;
		break;
	case NVTX_ABI_PAYLOAD_F64:
		range->real_value = a->payload.f64;
		range->given |= TAP_NVTX_HAS_REAL;
		break;
	case NVTX_ABI_PAYLOAD_F32:
		range->real_value = (double) a->payload.f32;
		range->given |= TAP_NVTX_HAS_REAL;
		break;
	}
}

/* Call numbers increase, so the innermost call or range of the thread has the largest. */
static uint64_t parent_of_thread(void)
{
	const uint64_t range = tap_nvtx_innermost(false), call = tap_thread.call_id;

	return range > call ? range : call;
}

static void describe(struct tap_nvtx_range *range, const struct tap_nvtx_domain *domain,
		     const struct nvtx_abi_attributes *a, char *kept)
{
	range->call_id = tap_call_number();
	range->parent_id = parent_of_thread();
	range->domain = domain->name;
	range->name = "";
	if (!a || a->size < sizeof(*a))
		return;
	range->name = text_of(a, kept);
	if (a->category) {
		range->category = a->category;
		range->given |= TAP_NVTX_HAS_CATEGORY;
	}
	if (a->color_type == NVTX_ABI_COLOR_ARGB) {
		range->color = a->color;
		range->given |= TAP_NVTX_HAS_COLOR;
	}
	set_value(range, a);
}

void tap_nvtx_range_begin(const struct tap_nvtx_domain *domain,
			  const struct nvtx_abi_attributes *attributes)
{
	struct tap_nvtx_level *level = tap_nvtx_push(domain);
	struct tap_nvtx_range range = {.kind = TAP_NVTX_THREAD};
	struct tap_guard guard;
	char kept[TAP_NVTX_TEXT];

	if (!level || !tap_nvtx_is_started() || !is_wanted())
		return;
	guard = tap_guard_set();
	tap_announce();
	describe(&range, domain, attributes, kept);
	level->call_id = range.call_id;
	tap_events_table->range_entry(&range);
	tap_guard_clear(guard);
}

void tap_nvtx_range_end(uint64_t call_id)
{
	const struct tap_guard guard = tap_guard_set();

	tap_events_table->range_exit(call_id);
	tap_guard_clear(guard);
}

uint64_t tap_nvtx_range_start(const struct tap_nvtx_domain *domain,
			      const struct nvtx_abi_attributes *attributes)
{
	struct tap_nvtx_range range = {.kind = TAP_NVTX_PROCESS};
	struct tap_guard guard;
	char kept[TAP_NVTX_TEXT];

	if (!tap_nvtx_is_started() || !is_wanted())
		return 0;
	guard = tap_guard_set();
	tap_announce();
	describe(&range, domain, attributes, kept);
	tap_events_table->range_entry(&range);
	tap_guard_clear(guard);
	return range.call_id;
}

void tap_nvtx_mark(const struct tap_nvtx_domain *domain,
		   const struct nvtx_abi_attributes *attributes)
{
	struct tap_nvtx_range mark = {.kind = TAP_NVTX_MARK};
	struct tap_guard guard;
	char kept[TAP_NVTX_TEXT];

	if (!tap_nvtx_is_started() || !is_wanted())
		return;
	guard = tap_guard_set();
	tap_announce();
	describe(&mark, domain, attributes, kept);
	tap_events_table->mark(&mark);
	tap_guard_clear(guard);
}
