/* SPDX-License-Identifier: MIT */
/*
 * The part of NVTX's binary interface that a tool sees, so that no header of NVTX's is
 * needed to build.
 *
 * It hides nothing: the numbers and layouts are those of NVTX 3's public headers, named
 * at each.  tests/calls/programs/check_nvtx.c compares them where the headers are
 * installed.  A program has an instance of NVTX in each object that includes these
 * headers.
 */
#ifndef TAP_INTERCEPT_NVTX_NVTX_ABI_H
#define TAP_INTERCEPT_NVTX_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

/* nvToolsExt.h: the result of a push or pop when no tool counts levels. */
#define NVTX_ABI_NO_TRACKING (-2)

/* nvtxTypes.h: NvtxExportTableID, NvtxCallbackModule. */
enum { NVTX_ABI_TABLE_CALLBACKS = 1, NVTX_ABI_TABLE_VERSION = 3 };
enum { NVTX_ABI_MODULE_CORE = 1, NVTX_ABI_MODULE_CORE2 = 5 };

/* nvtxTypes.h: NvtxCallbackIdCore, for the domain without a name. */
enum {
	NVTX_ABI_CORE_MARK_EX = 1,
	NVTX_ABI_CORE_MARK_A = 2,
	NVTX_ABI_CORE_MARK_W = 3,
	NVTX_ABI_CORE_START_EX = 4,
	NVTX_ABI_CORE_START_A = 5,
	NVTX_ABI_CORE_START_W = 6,
	NVTX_ABI_CORE_END = 7,
	NVTX_ABI_CORE_PUSH_EX = 8,
	NVTX_ABI_CORE_PUSH_A = 9,
	NVTX_ABI_CORE_PUSH_W = 10,
	NVTX_ABI_CORE_POP = 11,
};

/* nvtxTypes.h: NvtxCallbackIdCore2. */
enum {
	NVTX_ABI_CORE2_MARK = 1,
	NVTX_ABI_CORE2_START = 2,
	NVTX_ABI_CORE2_END = 3,
	NVTX_ABI_CORE2_PUSH = 4,
	NVTX_ABI_CORE2_POP = 5,
	NVTX_ABI_CORE2_STRING_A = 10,
	NVTX_ABI_CORE2_STRING_W = 11,
	NVTX_ABI_CORE2_DOMAIN_A = 12,
	NVTX_ABI_CORE2_DOMAIN_W = 13,
};

/*
 * nvtxTypes.h: an array of pointers to the variables that hold the functions; each may be
 * NULL.
 */
typedef void (*nvtx_abi_function)(void);
typedef nvtx_abi_function **nvtx_abi_functions;

/* nvtxTypes.h: NvtxExportTableCallbacks, NvtxExportTableVersionInfo. */
struct nvtx_abi_callbacks {
	size_t struct_size;
	int (*get_module)(int module, nvtx_abi_functions *ret_table, unsigned *ret_size);
};
struct nvtx_abi_version {
	size_t struct_size;
	uint32_t version, reserved;
	void (*set_tool_version)(uint32_t version);
};
typedef const void *(*nvtx_abi_get_table)(uint32_t id);

/* nvToolsExt.h: nvtxColorType_t, nvtxMessageType_t, nvtxPayloadType_t. */
enum { NVTX_ABI_COLOR_ARGB = 1 };
enum {
	NVTX_ABI_MESSAGE_ASCII = 1,
	NVTX_ABI_MESSAGE_WIDE = 2,
	NVTX_ABI_MESSAGE_STRING = 3,
};
enum {
	NVTX_ABI_PAYLOAD_U64 = 1,
	NVTX_ABI_PAYLOAD_I64 = 2,
	NVTX_ABI_PAYLOAD_F64 = 3,
	NVTX_ABI_PAYLOAD_U32 = 4,
	NVTX_ABI_PAYLOAD_I32 = 5,
	NVTX_ABI_PAYLOAD_F32 = 6,
};
/* nvToolsExtPayload.h: NVTX_PAYLOAD_TYPE_EXT, which was _BINARY in NCCL 2.18. */
#define NVTX_ABI_PAYLOAD_EXT ((int32_t) 0xDFBD0009)

/* nvToolsExt.h: nvtxEventAttributes_t, of versions 2 and 3. */
struct nvtx_abi_attributes {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t payload_count; /* reserved0: of NVTX_ABI_PAYLOAD_EXT */
	union {
		uint64_t u64;
		int64_t i64;
		double f64;
		uint32_t u32;
		int32_t i32;
		float f32;
	} payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		const void *string; /* the handle that the tool returned */
	} message;
};

/* nvtxExtTypes.h: nvtxExtModuleSegment_t, nvtxExtModuleInfo_t. */
struct nvtx_abi_segment {
	size_t id, nr_slots;
	intptr_t *slots;
};
struct nvtx_abi_module {
	uint16_t version, struct_size, module, compat;
	size_t nr_segments;
	struct nvtx_abi_segment *segments;
	intptr_t (*get_export)(uint32_t id);
	const void *info;
};

/* nvToolsExtPayload.h: the numbers of the extension and of its functions. */
#define NVTX_ABI_MODULE_PAYLOAD 2
enum {
	NVTX_ABI_PAYLOAD_SCHEMA = 0,
	NVTX_ABI_PAYLOAD_PUSH = 3,
	NVTX_ABI_PAYLOAD_POP = 4,
	NVTX_ABI_PAYLOAD_START = 5,
	NVTX_ABI_PAYLOAD_END = 6,
};

/* nvToolsExtPayload.h: nvtxPayloadData_t; size -1: the tool must determine it. */
struct nvtx_abi_data {
	uint64_t schema_id;
	size_t size;
	const void *data;
};

/* nvToolsExtPayload.h: nvtxPayloadSchemaEntry_t, and the types that NCCL uses. */
struct nvtx_abi_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const void *semantics, *reserved;
};
enum {
	NVTX_ABI_TYPE_INT = 5,
	NVTX_ABI_TYPE_UINT = 6,
	NVTX_ABI_TYPE_INT32 = 15,
	NVTX_ABI_TYPE_UINT32 = 16,
	NVTX_ABI_TYPE_INT64 = 17,
	NVTX_ABI_TYPE_UINT64 = 18,
	NVTX_ABI_TYPE_SIZE = 22,
	/* And above: types of the program, including enumerations. */
	NVTX_ABI_TYPE_STATIC = 1 << 24,
};
#define NVTX_ABI_DYNAMIC_ID ((uint64_t) 1 << 32) /* and above: assigned by the tool */

/* nvToolsExtPayload.h: the fields of nvtxPayloadSchemaAttr_t that NCCL 2.18 has. */
struct nvtx_abi_schema {
	uint64_t fields; /* which of the following are set */
	const char *name;
	uint64_t type, flags;
	const struct nvtx_abi_entry *entries;
	size_t nr_entries, static_size, pack_align;
	uint64_t schema_id;
};
enum {
	NVTX_ABI_SCHEMA_ENTRIES = 1 << 4,
	NVTX_ABI_SCHEMA_NR_ENTRIES = 1 << 5,
	NVTX_ABI_SCHEMA_STATIC_SIZE = 1 << 6,
	NVTX_ABI_SCHEMA_ID = 1 << 8,
};

#endif
