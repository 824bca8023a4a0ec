/* SPDX-License-Identifier: MIT */
/*
 * NVTX 3 from the side of a library: tables of functions that a tool fills in when it is
 * opened, which stay empty without one.
 */
#include "nvtx_tool.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Which table, and where in it: NvtxCallbackModule and NvtxCallbackId... */
enum { CALLBACKS = 1, CORE = 1, CORE2 = 5, TABLE = 16 };
enum { CORE_NAME_THREAD = 14 };
enum { CORE2_PUSH = 4, CORE2_POP = 5, CORE2_TEXT = 10, CORE2_DOMAIN = 12 };
/* The extension of payloads. */
enum { PAYLOADS = 2, COMPATIBILITY = 0x0103, SLOTS = 64 };
enum { SLOT_SCHEMA = 0, SLOT_ENUM = 1, SLOT_POP = 4 };
enum { VERSION = 3, PAYLOAD_TYPE = (int) 0xDFBD0009, MESSAGE_REGISTERED = 3 };

typedef void (*function)(void);

/* nvtxEventAttributes_t. */
struct event {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t payload_count;
	const struct mini_nvtx_payload *payload;
	int32_t message_type;
	void *message;
};

/* nvtxPayloadSchemaAttr_t. */
struct schema {
	uint64_t mask;
	const char *name;
	uint64_t type;
	uint64_t flags;
	const struct mini_nvtx_entry *entries;
	size_t count;
	size_t size;
	size_t alignment;
	uint64_t number;
	void *extension;
};

/* nvtxPayloadEnum_t and nvtxPayloadEnumAttr_t. */
struct choice {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};
struct enumeration {
	uint64_t mask;
	const char *name;
	const struct choice *choices;
	size_t count;
	size_t size;
	uint64_t number;
	void *extension;
};

static function core[TABLE];
static function core2[TABLE];
static intptr_t slots[SLOTS];
static bool has_tool;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int get_module(uint32_t module, function ***table, unsigned int *size)
{
	static function *places[2][TABLE + 1];
	function *functions = module == CORE ? core : core2;
	function **list = places[module == CORE];
	int i;

	if (module != CORE && module != CORE2)
		return 0;
	for (i = 1; i < TABLE; i++)
		list[i] = &functions[i];
	*table = list;
	*size = TABLE;
	return 1;
}

static const void *get_table(uint32_t number)
{
	static const struct {
		size_t size;
		int (*get)(uint32_t module, function ***table, unsigned int *size);
	} callbacks = {sizeof(callbacks), get_module};

	return number == CALLBACKS ? &callbacks : NULL;
}

static void extend(void *library)
{
	struct {
		size_t number;
		size_t count;
		intptr_t *slots;
	} segment = {0, SLOTS - 1, slots};
	struct {
		uint16_t version;
		uint16_t size;
		uint16_t module;
		uint16_t compatibility;
		size_t count;
		void *segments;
		const void *get;
		const void *info;
	} module = {VERSION, sizeof(module), PAYLOADS, COMPATIBILITY,
		    1,	     &segment,	     NULL,     NULL};
	int (*begin)(void *module);

	*(void **) &begin = dlsym(library, "InitializeInjectionNvtxExtension");
	if (begin && !begin(&module))
		memset(slots, 0, sizeof(slots));
}

static void open_tool(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*begin)(const void *(*get)(uint32_t number));

	if (!library)
		return;
	*(void **) &begin = dlsym(library, "InitializeInjectionNvtx2");
	has_tool = begin && begin(get_table);
	if (has_tool)
		extend(library);
	else
		dlclose(library);
}

bool mini_nvtx_has_tool(void)
{
	pthread_once(&once, open_tool);
	return has_tool;
}

void *mini_nvtx_create_domain(const char *name)
{
	void *(*create)(const char *name) =
		(void *(*) (const char *) ) core2[CORE2_DOMAIN];

	/* Some handle, so that it is not asked for again. */
	return create ? create(name) : (void *) core2;
}

void *mini_nvtx_register_text(void *domain, const char *text)
{
	void *(*announce)(void *domain, const char *text) =
		(void *(*) (void *, const char *) ) core2[CORE2_TEXT];

	return announce ? announce(domain, text) : NULL;
}

void mini_nvtx_register_schema(void *domain, uint64_t number,
			       const struct mini_nvtx_entry *entries, size_t count,
			       size_t size)
{
	/* Type, entries, how many, size and number are given. */
	enum { GIVEN = 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 8, STATIC = 1 };
	struct schema schema = {.mask = GIVEN,
				.type = STATIC,
				.entries = entries,
				.count = count,
				.size = size,
				.number = number};
	uint64_t (*announce)(void *domain, const struct schema *schema);

	memcpy(&announce, &slots[SLOT_SCHEMA], sizeof(announce));
	if (announce)
		announce(domain, &schema);
}

void mini_nvtx_register_reductions(void *domain, uint64_t number)
{
	static const struct choice choices[] = {{"Sum", 0, 0},
						{"Product", 1, 0},
						{"Max", 2, 0},
						{"Min", 3, 0},
						{"Avg", 4, 0}};
	/* Choices, how many, size and number are given. */
	enum { GIVEN = 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 };
	struct enumeration told = {.mask = GIVEN,
				   .choices = choices,
				   .count = sizeof(choices) / sizeof(choices[0]),
				   .size = sizeof(int32_t),
				   .number = number};
	uint64_t (*announce)(void *domain, const struct enumeration *told);

	memcpy(&announce, &slots[SLOT_ENUM], sizeof(announce));
	if (announce)
		announce(domain, &told);
}

void mini_nvtx_push(void *domain, void *text, const struct mini_nvtx_payload *payload)
{
	struct event event = {
		.version = VERSION,
		.size = sizeof(event),
		.payload_type = payload ? PAYLOAD_TYPE : 0,
		.payload_count = payload ? 1 : 0,
		.payload = payload,
		.message_type = MESSAGE_REGISTERED,
		.message = text,
	};
	int (*push)(void *domain, const struct event *event) =
		(int (*)(void *, const struct event *)) core2[CORE2_PUSH];

	if (push)
		push(domain, &event);
}

void mini_nvtx_pop(void *domain, const struct mini_nvtx_payload *payload)
{
	int (*pop)(void *domain) = (int (*)(void *)) core2[CORE2_POP];
	int (*pop_with)(void *domain, const struct mini_nvtx_payload *payload,
			size_t count);

	memcpy(&pop_with, &slots[SLOT_POP], sizeof(pop_with));
	if (payload && pop_with)
		pop_with(domain, payload, 1);
	else if (!payload && pop)
		pop(domain);
}

void mini_nvtx_name(uint32_t thread, const char *name)
{
	void (*announce)(uint32_t thread, const char *name) =
		(void (*)(uint32_t, const char *)) core[CORE_NAME_THREAD];

	if (announce)
		announce(thread, name);
}
