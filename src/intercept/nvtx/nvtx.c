/* SPDX-License-Identifier: MIT */
/*
 * Attaches to each instance of NVTX, and passes ranges to nvtx_call.c or nvtx_range.c.
 */
#include "intercept/nvtx/nvtx.h"

#include <stdlib.h>
#include <string.h>

#include "common/lock.h"
#include "common/log.h"
#include "common/thread.h"
#include "intercept/dl/elf.h"
#include "intercept/entry.h"
#include "intercept/guard.h"
#include "intercept/layer.h"
#include "intercept/nvtx/nvtx_schema.h"
#include "intercept/start.h"
#include "intercept/trace.h"

#define NR_DOMAINS 64
#define NR_NCCLS 8
#define NR_STRINGS 65536

static struct tap_nvtx_domain domains[NR_DOMAINS];
static uint32_t nr_domains;
static struct tap_nvtx_schemas nccls[NR_NCCLS];
static uint32_t nr_nccls;
static struct tap_lock lock; /* guards appending to domains and nccls */
/* unrecorded: for domains that the user did not enable, or that have no room. */
static struct tap_nvtx_domain unnamed, unrecorded;

/* One for each row, however often its name is registered. */
static struct tap_nvtx_string functions[TAP_NCCL_NR];
static uint32_t nr_strings;

/* Whether the user has enabled the program's own ranges; set before any callback. */
static bool has_ranges;

bool tap_nvtx_sees_nccl(void)
{
	return __atomic_load_n(&nr_nccls, __ATOMIC_RELAXED) != 0;
}

bool tap_nvtx_is_started(void)
{
	/* TAP_STARTED and TAP_FAILED are final. */
	static enum tap_started known = TAP_STARTING;
	enum tap_started seen = __atomic_load_n(&known, __ATOMIC_ACQUIRE);
	struct tap_guard guard;

	if (unlikely(seen == TAP_STARTING)) {
		guard = tap_guard_set();
		seen = tap_start(&guard);
		tap_guard_clear(guard);
		__atomic_store_n(&known, seen, __ATOMIC_RELEASE);
	}
	return seen == TAP_STARTED;
}

void tap_nvtx_narrow(const wchar_t *wide, char *ret_text, size_t size)
{
	size_t used = 0;

	for (; *wide && used + 4 < size; wide++) {
		const uint32_t c = (uint32_t) *wide;

		if (c < 0x80) {
			ret_text[used++] = (char) c;
		} else if (c < 0x800) {
			ret_text[used++] = (char) (0xc0 | c >> 6);
			ret_text[used++] = (char) (0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			ret_text[used++] = (char) (0xe0 | c >> 12);
			ret_text[used++] = (char) (0x80 | (c >> 6 & 0x3f));
			ret_text[used++] = (char) (0x80 | (c & 0x3f));
		} else {
			ret_text[used++] = (char) (0xf0 | (c >> 18 & 7));
			ret_text[used++] = (char) (0x80 | (c >> 12 & 0x3f));
			ret_text[used++] = (char) (0x80 | (c >> 6 & 0x3f));
			ret_text[used++] = (char) (0x80 | (c & 0x3f));
		}
	}
	ret_text[used] = '\0';
}

/* ---- Domains ---- */

static struct tap_nvtx_domain *add_domain(const char *name, bool is_nccl,
					  const void *within)
{
	struct tap_nvtx_domain *d;

	if (nr_domains == NR_DOMAINS)
		return &unrecorded;
	d = &domains[nr_domains++];
	strncpy(d->name, name, sizeof(d->name) - 1);
	d->is_nccl = is_nccl;
	d->within = within;
	if (is_nccl && nr_nccls < NR_NCCLS)
		d->schemas = &nccls[nr_nccls];
	if (is_nccl)
		__atomic_fetch_add(&nr_nccls, 1, __ATOMIC_RELAXED);
	return d;
}

static struct tap_nvtx_domain *find_domain(const char *name)
{
	uint32_t i;

	for (i = 0; i < nr_domains; i++)
		if (!domains[i].is_nccl &&
		    !strncmp(domains[i].name, name, sizeof(domains[i].name) - 1))
			return &domains[i];
	return NULL;
}

/*
 * Each NCCL has a domain of its own, since each describes its values itself; other
 * domains with the same name are one.
 */
static struct tap_nvtx_domain *make_domain(const char *name, const void *within)
{
	const bool is_nccl = !strcmp(name, "NCCL");
	struct tap_nvtx_domain *d;
	struct tap_guard guard;

	if (!is_nccl && !has_ranges)
		return &unrecorded;
	guard = tap_guard_set();
	d = &unrecorded;
	if (tap_lock_take(&lock)) {
		d = is_nccl ? NULL : find_domain(name);
		if (!d)
			d = add_domain(name, is_nccl, within);
		tap_lock_drop(&lock);
	}
	if (d == &unrecorded)
		tap_problem("not recorded", "the ranges of a domain of NVTX", 1);
	tap_guard_clear(guard);
	return d;
}

static void *on_domain(const char *name)
{
	return make_domain(name ? name : "", __builtin_return_address(0));
}

static void *on_domain_wide(const wchar_t *name)
{
	char text[TAP_NVTX_TEXT];

	tap_nvtx_narrow(name ? name : L"", text, sizeof(text));
	return make_domain(text, __builtin_return_address(0));
}

static struct tap_nvtx_domain *domain_of(void *handle)
{
	return handle ? handle : &unnamed;
}

/* ---- Texts ---- */

static struct tap_nvtx_string *keep_text(const char *text)
{
	struct tap_nvtx_string *string;
	size_t length = strnlen(text, TAP_NVTX_TEXT - 1);
	char *kept;

	if (__atomic_fetch_add(&nr_strings, 1, __ATOMIC_RELAXED) >= NR_STRINGS) {
		__atomic_fetch_sub(&nr_strings, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	string = malloc(sizeof(*string) + length + 1);
	if (!string)
		return NULL;
	kept = (char *) (string + 1);
	memcpy(kept, text, length);
	kept[length] = '\0';
	*string = (struct tap_nvtx_string){.text = kept};
	return string;
}

/* The string of the row with this name; NULL when the text is not a public call. */
static struct tap_nvtx_string *function_of(const char *text)
{
	const struct tap_entry_bindings *bindings = tap_entry_find(text);
	struct tap_nvtx_string *string;

	if (!bindings)
		return NULL;
	string = &functions[bindings->linked->row];
	string->text = bindings->linked->name;
	__atomic_store_n(&string->function, bindings->linked->name, __ATOMIC_RELEASE);
	return string;
}

static void *on_string(void *handle, const char *text)
{
	struct tap_nvtx_string *string = NULL;
	struct tap_guard guard;

	if (!text)
		return NULL;
	if (domain_of(handle)->is_nccl)
		string = function_of(text);
	if (string || !has_ranges)
		return string;
	guard = tap_guard_set();
	string = keep_text(text);
	tap_guard_clear(guard);
	return string;
}

static void *on_string_wide(void *handle, const wchar_t *wide)
{
	char text[TAP_NVTX_TEXT];

	if (!wide)
		return NULL;
	tap_nvtx_narrow(wide, text, sizeof(text));
	return on_string(handle, text);
}

static const char *function_in(const struct nvtx_abi_attributes *a)
{
	const struct tap_nvtx_string *string = NULL;

	if (!a || a->size < sizeof(*a))
		return NULL;
	if (a->message_type == NVTX_ABI_MESSAGE_STRING)
		string = a->message.string;
	else if (a->message_type == NVTX_ABI_MESSAGE_ASCII && a->message.ascii)
		string = function_of(a->message.ascii);
	return string ? string->function : NULL;
}

/* ---- Ranges ---- */

/* Ranges in the tracer's threads and LTTng's are not the program's. */
static bool is_ours(void)
{
	return tap_thread.in_tracer;
}

static void push(const struct tap_nvtx_domain *d, const struct nvtx_abi_attributes *a)
{
	const char *function;

	if (d == &unrecorded || is_ours())
		return;
	function = d->is_nccl ? function_in(a) : NULL;
	if (function)
		tap_nvtx_call_begin(d, function, a);
	else if (has_ranges)
		tap_nvtx_range_begin(d, a);
	else if (d->is_nccl)
		tap_nvtx_push(d); /* its pop removes it */
}

static void pop(const struct tap_nvtx_domain *d, const struct nvtx_abi_data *data,
		size_t nr)
{
	struct tap_nvtx_level level;

	if (d == &unrecorded || is_ours() || !tap_nvtx_pop(d, &level) || !level.call_id)
		return;
	if (level.function)
		tap_nvtx_call_end(&level, data, nr);
	else
		tap_nvtx_range_end(level.call_id);
}

static uint64_t start_range(const struct tap_nvtx_domain *d,
			    const struct nvtx_abi_attributes *a)
{
	return d == &unrecorded || is_ours() ? 0 : tap_nvtx_range_start(d, a);
}

static void end_range(uint64_t id)
{
	if (id && !is_ours() && tap_nvtx_is_started())
		tap_nvtx_range_end(id);
}

static void mark(const struct tap_nvtx_domain *d, const struct nvtx_abi_attributes *a)
{
	if (d != &unrecorded && !is_ours())
		tap_nvtx_mark(d, a);
}

static struct nvtx_abi_attributes with_text(const char *text)
{
	return (struct nvtx_abi_attributes){.size = sizeof(struct nvtx_abi_attributes),
					    .message_type = NVTX_ABI_MESSAGE_ASCII,
					    .message = {.ascii = text}};
}

static struct nvtx_abi_attributes with_wide(const wchar_t *text)
{
	return (struct nvtx_abi_attributes){.size = sizeof(struct nvtx_abi_attributes),
					    .message_type = NVTX_ABI_MESSAGE_WIDE,
					    .message = {.wide = text}};
}

/* ---- Callbacks; they return levels as if no tool were attached ---- */

static int on_push(void *handle, const struct nvtx_abi_attributes *a)
{
	push(domain_of(handle), a);
	return NVTX_ABI_NO_TRACKING;
}

static int on_pop(void *handle)
{
	pop(domain_of(handle), NULL, 0);
	return NVTX_ABI_NO_TRACKING;
}

static uint64_t on_start(void *handle, const struct nvtx_abi_attributes *a)
{
	return start_range(domain_of(handle), a);
}

static void on_end(void *handle, uint64_t id)
{
	(void) handle;
	end_range(id);
}

static void on_mark(void *handle, const struct nvtx_abi_attributes *a)
{
	mark(domain_of(handle), a);
}

/* The same for the domain without a name. */
static int on_plain_push(const struct nvtx_abi_attributes *a)
{
	push(&unnamed, a);
	return NVTX_ABI_NO_TRACKING;
}

static int on_plain_push_text(const char *text)
{
	const struct nvtx_abi_attributes a = with_text(text);

	return on_plain_push(&a);
}

static int on_plain_push_wide(const wchar_t *text)
{
	const struct nvtx_abi_attributes a = with_wide(text);

	return on_plain_push(&a);
}

static int on_plain_pop(void)
{
	pop(&unnamed, NULL, 0);
	return NVTX_ABI_NO_TRACKING;
}

static uint64_t on_plain_start(const struct nvtx_abi_attributes *a)
{
	return start_range(&unnamed, a);
}

static uint64_t on_plain_start_text(const char *text)
{
	const struct nvtx_abi_attributes a = with_text(text);

	return start_range(&unnamed, &a);
}

static uint64_t on_plain_start_wide(const wchar_t *text)
{
	const struct nvtx_abi_attributes a = with_wide(text);

	return start_range(&unnamed, &a);
}

static void on_plain_mark(const struct nvtx_abi_attributes *a)
{
	mark(&unnamed, a);
}

static void on_plain_mark_text(const char *text)
{
	const struct nvtx_abi_attributes a = with_text(text);

	mark(&unnamed, &a);
}

static void on_plain_mark_wide(const wchar_t *text)
{
	const struct nvtx_abi_attributes a = with_wide(text);

	mark(&unnamed, &a);
}

/* Callbacks of the payload extension. */
static uint64_t on_schema(void *handle, const struct nvtx_abi_schema *schema)
{
	return schema ? tap_nvtx_schema_add(domain_of(handle)->schemas, schema) : 0;
}

static int on_payload_push(void *handle, const struct nvtx_abi_data *data, size_t nr)
{
	(void) data;
	(void) nr;
	push(domain_of(handle), NULL);
	return NVTX_ABI_NO_TRACKING;
}

static uint64_t on_payload_start(void *handle, const struct nvtx_abi_data *data,
				 size_t nr)
{
	(void) data;
	(void) nr;
	return start_range(domain_of(handle), NULL);
}

static int on_payload_pop(void *handle, const struct nvtx_abi_data *data, size_t nr)
{
	pop(domain_of(handle), data, nr);
	return NVTX_ABI_NO_TRACKING;
}

static void on_payload_end(void *handle, uint64_t id, const struct nvtx_abi_data *data,
			   size_t nr)
{
	(void) data;
	(void) nr;
	on_end(handle, id);
}

/* ---- Attaching ---- */

struct callback {
	unsigned id;
	bool is_for_ranges;
	nvtx_abi_function function;
};

/* clang-format off */
#define CALLBACK(number, ranges, name) { \
	.id = (number), .is_for_ranges = (ranges), .function = (nvtx_abi_function) (name) \
}
/* clang-format on */

static const struct callback core[] = {
	CALLBACK(NVTX_ABI_CORE_MARK_EX, true, on_plain_mark),
	CALLBACK(NVTX_ABI_CORE_MARK_A, true, on_plain_mark_text),
	CALLBACK(NVTX_ABI_CORE_MARK_W, true, on_plain_mark_wide),
	CALLBACK(NVTX_ABI_CORE_START_EX, true, on_plain_start),
	CALLBACK(NVTX_ABI_CORE_START_A, true, on_plain_start_text),
	CALLBACK(NVTX_ABI_CORE_START_W, true, on_plain_start_wide),
	CALLBACK(NVTX_ABI_CORE_END, true, end_range),
	CALLBACK(NVTX_ABI_CORE_PUSH_EX, true, on_plain_push),
	CALLBACK(NVTX_ABI_CORE_PUSH_A, true, on_plain_push_text),
	CALLBACK(NVTX_ABI_CORE_PUSH_W, true, on_plain_push_wide),
	CALLBACK(NVTX_ABI_CORE_POP, true, on_plain_pop),
};

/* NCCL needs those that are not for ranges alone. */
static const struct callback core2[] = {
	CALLBACK(NVTX_ABI_CORE2_MARK, true, on_mark),
	CALLBACK(NVTX_ABI_CORE2_START, true, on_start),
	CALLBACK(NVTX_ABI_CORE2_END, true, on_end),
	CALLBACK(NVTX_ABI_CORE2_PUSH, false, on_push),
	CALLBACK(NVTX_ABI_CORE2_POP, false, on_pop),
	CALLBACK(NVTX_ABI_CORE2_STRING_A, false, on_string),
	CALLBACK(NVTX_ABI_CORE2_STRING_W, true, on_string_wide),
	CALLBACK(NVTX_ABI_CORE2_DOMAIN_A, false, on_domain),
	CALLBACK(NVTX_ABI_CORE2_DOMAIN_W, true, on_domain_wide),
};

static const struct callback payload[] = {
	CALLBACK(NVTX_ABI_PAYLOAD_PUSH, false, on_payload_push),
	CALLBACK(NVTX_ABI_PAYLOAD_POP, false, on_payload_pop),
	CALLBACK(NVTX_ABI_PAYLOAD_START, true, on_payload_start),
	CALLBACK(NVTX_ABI_PAYLOAD_END, true, on_payload_end),
};

static void set_callbacks(const struct nvtx_abi_callbacks *tables, int module,
			  const struct callback *callbacks, unsigned nr)
{
	nvtx_abi_functions table = NULL;
	unsigned i, size = 0;

	if (!tables->get_module(module, &table, &size) || !table)
		return;
	for (i = 0; i < nr; i++)
		if (callbacks[i].id < size && table[callbacks[i].id] &&
		    (has_ranges || !callbacks[i].is_for_ranges))
			*table[callbacks[i].id] = callbacks[i].function;
}

static void look_for_wishes(void)
{
	const char *wish = secure_getenv("CCLTAP_NVTX");

	has_ranges = wish && *wish && strcmp(wish, "0") != 0;
}

tap_exported int InitializeInjectionNvtx2(nvtx_abi_get_table get_table);
/*
 * Called by each instance of NVTX at the first use of any of its functions, while other
 * threads that use NVTX wait: so it must not start LTTng.  Returns 1: attached.
 */
tap_exported int InitializeInjectionNvtx2(nvtx_abi_get_table get_table)
{
	const struct nvtx_abi_callbacks *tables = get_table(NVTX_ABI_TABLE_CALLBACKS);
	const struct nvtx_abi_version *version = get_table(NVTX_ABI_TABLE_VERSION);

	if (!tables || tables->struct_size < sizeof(*tables))
		return 0;
	look_for_wishes();
	/* NVTX 3 asks for the version that the tool was written for. */
	if (version && version->struct_size >= sizeof(*version) &&
	    version->set_tool_version)
		version->set_tool_version(3);
	set_callbacks(tables, NVTX_ABI_MODULE_CORE2, core2, ARRAY_SIZE(core2));
	if (has_ranges)
		set_callbacks(tables, NVTX_ABI_MODULE_CORE, core, ARRAY_SIZE(core));
	return 1;
}

static const struct callback payload_schema =
	CALLBACK(NVTX_ABI_PAYLOAD_SCHEMA, false, on_schema);

static void set_slot(const struct nvtx_abi_segment *segment,
		     const struct callback *callback)
{
	if (callback->id < segment->nr_slots && (has_ranges || !callback->is_for_ranges))
		segment->slots[callback->id] = (intptr_t) callback->function;
}

tap_exported int InitializeInjectionNvtxExtension(struct nvtx_abi_module *module);
/*
 * The same for each extension of NVTX; returns 0 to leave the extension without a tool.
 */
tap_exported int InitializeInjectionNvtxExtension(struct nvtx_abi_module *module)
{
	unsigned i;

	if (module->struct_size < sizeof(*module) ||
	    module->module != NVTX_ABI_MODULE_PAYLOAD || module->compat >> 8 != 1 ||
	    !module->nr_segments) {
		tap_log("nvtx: An extension is not known: module %u, compatibility 0x%x",
			module->module, module->compat);
		return 0;
	}
	look_for_wishes();
	for (i = 0; i < ARRAY_SIZE(payload); i++)
		set_slot(&module->segments[0], &payload[i]);
	/*
	 * 0x103 is in all releases of NCCL and 0x104 in CUDA 13, with the same layout of
	 * the fields read here.  For others no schema is registered, so no value is read,
	 * but pops still end ranges.
	 */
	if (module->compat == 0x103 || module->compat == 0x104)
		set_slot(&module->segments[0], &payload_schema);
	return 1;
}

/* ---- The layer ---- */

static void thread_ends(struct tap_thread *thread)
{
	tap_nvtx_stack_leave(thread->nvtx);
	thread->nvtx = NULL;
}

static void fork_child(void)
{
	tap_nvtx_schemas_fork_child();
	tap_nvtx_stacks_fork_child();
}

const struct tap_layer tap_layer_nvtx = {
	.thread_ends = thread_ends,
	.lock = &lock,
	.fork_child = fork_child,
};
