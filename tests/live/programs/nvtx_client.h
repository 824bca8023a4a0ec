/* SPDX-License-Identifier: MIT */
/*
 * What a program compiles in to speak to a tool of NVTX's, for machines without NVTX's
 * headers: the few functions that nvtx.c uses, made as the headers' documentation and
 * init functions say.  Every object that includes it is an instance of its own.
 *
 * It borrows nothing from src, so that agreeing with it means something; where the real
 * headers are, nvtx.c is compiled against those too.
 */
#ifndef TESTS_LIVE_NVTX_CLIENT_H
#define TESTS_LIVE_NVTX_CLIENT_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t) sizeof(nvtxEventAttributes_t))
#define NVTX_NO_PUSH_POP_TRACKING (-2)
#define NVTX_COLOR_ARGB 1
#define NVTX_MESSAGE_TYPE_ASCII 1
#define NVTX_MESSAGE_TYPE_REGISTERED 3
#define NVTX_PAYLOAD_TYPE_INT64 2
#define NVTX_PAYLOAD_TYPE_EXT ((int32_t) 0xDFBD0009)
#define NVTX_PAYLOAD_ENTRY_TYPE_INT 5
#define NVTX_PAYLOAD_ENTRY_TYPE_UINT64 18
#define NVTX_PAYLOAD_ENTRY_TYPE_SIZE 22
#define NVTX_PAYLOAD_SCHEMA_TYPE_STATIC 1
#define NVTX_PAYLOAD_SCHEMA_ATTR_TYPE (1 << 2)
#define NVTX_PAYLOAD_SCHEMA_ATTR_ENTRIES (1 << 4)
#define NVTX_PAYLOAD_SCHEMA_ATTR_NUM_ENTRIES (1 << 5)
#define NVTX_PAYLOAD_SCHEMA_ATTR_STATIC_SIZE (1 << 6)
#define NVTX_PAYLOAD_SCHEMA_ATTR_SCHEMA_ID (1 << 8)

typedef struct domain *nvtxDomainHandle_t;
typedef struct string *nvtxStringHandle_t;
typedef uint64_t nvtxRangeId_t;

typedef struct {
	uint16_t version, size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType, reserved0;
	union {
		uint64_t ullValue;
		int64_t llValue;
	} payload;
	int32_t messageType;
	union {
		const char *ascii;
		nvtxStringHandle_t registered;
	} message;
} nvtxEventAttributes_t;

typedef struct {
	uint64_t schemaId;
	size_t size;
	const void *payload;
} nvtxPayloadData_t;

typedef struct {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t arrayOrUnionDetail, offset;
	const void *semantics, *reserved;
} nvtxPayloadSchemaEntry_t;

typedef struct {
	uint64_t fieldMask;
	const char *name;
	uint64_t type, flags;
	const nvtxPayloadSchemaEntry_t *entries;
	size_t numEntries, payloadStaticSize, packAlign;
	uint64_t schemaId;
	void *extension;
} nvtxPayloadSchemaAttr_t;

/* ---- The tables that a tool fills in: by the numbers of nvtxTypes.h ---- */

typedef void (*client_function)(void);

static client_function core[16], core2[16];
static intptr_t payload[64];
static int is_initialised;

static client_function *core_at[17], *core2_at[17];

static int client_module(int module, client_function ***table, unsigned *size)
{
	unsigned i;

	for (i = 0; i < 16; i++) {
		core_at[i] = i ? &core[i] : NULL;
		core2_at[i] = i ? &core2[i] : NULL;
	}
	if (module != 1 && module != 5)
		return 0;
	*table = module == 1 ? core_at : core2_at;
	*size = 16;
	return 1;
}

static const void *client_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*module)(int, client_function ***, unsigned *);
	} callbacks = {sizeof(callbacks), client_module};

	return id == 1 ? &callbacks : NULL;
}

static void client_extend(void *library)
{
	struct {
		size_t id, count;
		intptr_t *slots;
	} segment = {0, 63, payload};
	struct {
		uint16_t version, size, module, compatibility;
		size_t count;
		void *segments, *get, *info;
	} module = {NVTX_VERSION, sizeof(module), 2,   CLIENT_COMPATIBILITY, 1,
		    &segment,	  NULL,		  NULL};
	int (*begin)(void *) =
		(int (*)(void *)) dlsym(library, "InitializeInjectionNvtxExtension");

	if (begin && !begin(&module))
		memset(payload, 0, sizeof(payload));
}

static void client_init(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	int (*begin)(const void *(*) (uint32_t));
	void *library;

	if (is_initialised++ || !path)
		return;
	library = dlopen(path, RTLD_LAZY);
	if (!library)
		return;
	begin = (int (*)(const void *(*) (uint32_t))) dlsym(library,
							    "InitializeInjectionNvtx2");
	if (!begin || !begin(client_table)) {
		memset(core, 0, sizeof(core));
		memset(core2, 0, sizeof(core2));
		dlclose(library);
		return;
	}
	client_extend(library);
}

#define CLIENT(ret, none, function, table, number, types, names) \
	static inline ret function types \
	{ \
		client_init(); \
		if (!table[number]) \
			return none; \
		return ((ret(*) types) table[number]) names; \
	}
#define CLIENT_VOID(function, table, number, types, names) \
	static inline void function types \
	{ \
		client_init(); \
		if (table[number]) \
			((void(*) types) table[number]) names; \
	}

CLIENT_VOID(nvtxMarkA, core, 2, (const char *m), (m))
CLIENT(nvtxRangeId_t, 0, nvtxRangeStartA, core, 5, (const char *m), (m))
CLIENT_VOID(nvtxRangeEnd, core, 7, (nvtxRangeId_t id), (id))
CLIENT(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePushA, core, 9, (const char *m), (m))
CLIENT(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePushW, core, 10, (const wchar_t *m), (m))
CLIENT(int, NVTX_NO_PUSH_POP_TRACKING, nvtxRangePop, core, 11, (void), ())
CLIENT(int, NVTX_NO_PUSH_POP_TRACKING, nvtxDomainRangePushEx, core2, 4,
       (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))
CLIENT(int, NVTX_NO_PUSH_POP_TRACKING, nvtxDomainRangePop, core2, 5,
       (nvtxDomainHandle_t d), (d))
CLIENT(nvtxStringHandle_t, NULL, nvtxDomainRegisterStringA, core2, 10,
       (nvtxDomainHandle_t d, const char *s), (d, s))
CLIENT(nvtxDomainHandle_t, NULL, nvtxDomainCreateA, core2, 12, (const char *s), (s))
CLIENT(uint64_t, (uint64_t) -1, nvtxPayloadSchemaRegister, payload, 0,
       (nvtxDomainHandle_t d, const nvtxPayloadSchemaAttr_t *a), (d, a))
CLIENT(int, -1, nvtxRangePopPayload, payload, 4,
       (nvtxDomainHandle_t d, const nvtxPayloadData_t *p, size_t n), (d, p, n))

#endif
