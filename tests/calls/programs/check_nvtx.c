/* SPDX-License-Identifier: MIT */
/*
 * Compiled, never run: NVTX's own headers say the same as our declarations of its binary
 * interface.  Releases differ in names; what an older one does not have is not compared.
 */
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include "intercept/nvtx/nvtx_abi.h"

#define SAME(ours, theirs) \
	_Static_assert((long long) (ours) == (long long) (theirs), #ours " is not " #theirs)
#define SAME_PLACE(ours, member, theirs, their_member) \
	_Static_assert(offsetof(struct ours, member) == offsetof(theirs, their_member) && \
			       sizeof(((struct ours *) 0)->member) == \
				       sizeof(((theirs *) 0)->their_member), \
		       #ours "." #member " is not " #theirs "." #their_member)

SAME(NVTX_ABI_NO_TRACKING, NVTX_NO_PUSH_POP_TRACKING);
SAME(NVTX_ABI_TABLE_CALLBACKS, NVTX_ETID_CALLBACKS);
SAME(NVTX_ABI_TABLE_VERSION, NVTX_ETID_VERSIONINFO);
SAME(NVTX_ABI_MODULE_CORE, NVTX_CB_MODULE_CORE);
SAME(NVTX_ABI_MODULE_CORE2, NVTX_CB_MODULE_CORE2);
SAME(NVTX_ABI_CORE_MARK_EX, NVTX_CBID_CORE_MarkEx);
SAME(NVTX_ABI_CORE_MARK_A, NVTX_CBID_CORE_MarkA);
SAME(NVTX_ABI_CORE_MARK_W, NVTX_CBID_CORE_MarkW);
SAME(NVTX_ABI_CORE_START_EX, NVTX_CBID_CORE_RangeStartEx);
SAME(NVTX_ABI_CORE_START_A, NVTX_CBID_CORE_RangeStartA);
SAME(NVTX_ABI_CORE_START_W, NVTX_CBID_CORE_RangeStartW);
SAME(NVTX_ABI_CORE_END, NVTX_CBID_CORE_RangeEnd);
SAME(NVTX_ABI_CORE_PUSH_EX, NVTX_CBID_CORE_RangePushEx);
SAME(NVTX_ABI_CORE_PUSH_A, NVTX_CBID_CORE_RangePushA);
SAME(NVTX_ABI_CORE_PUSH_W, NVTX_CBID_CORE_RangePushW);
SAME(NVTX_ABI_CORE_POP, NVTX_CBID_CORE_RangePop);
SAME(NVTX_ABI_CORE2_MARK, NVTX_CBID_CORE2_DomainMarkEx);
SAME(NVTX_ABI_CORE2_START, NVTX_CBID_CORE2_DomainRangeStartEx);
SAME(NVTX_ABI_CORE2_END, NVTX_CBID_CORE2_DomainRangeEnd);
SAME(NVTX_ABI_CORE2_PUSH, NVTX_CBID_CORE2_DomainRangePushEx);
SAME(NVTX_ABI_CORE2_POP, NVTX_CBID_CORE2_DomainRangePop);
SAME(NVTX_ABI_CORE2_STRING_A, NVTX_CBID_CORE2_DomainRegisterStringA);
SAME(NVTX_ABI_CORE2_STRING_W, NVTX_CBID_CORE2_DomainRegisterStringW);
SAME(NVTX_ABI_CORE2_DOMAIN_A, NVTX_CBID_CORE2_DomainCreateA);
SAME(NVTX_ABI_CORE2_DOMAIN_W, NVTX_CBID_CORE2_DomainCreateW);
SAME(NVTX_ABI_COLOR_ARGB, NVTX_COLOR_ARGB);
SAME(NVTX_ABI_MESSAGE_ASCII, NVTX_MESSAGE_TYPE_ASCII);
SAME(NVTX_ABI_MESSAGE_WIDE, NVTX_MESSAGE_TYPE_UNICODE);
SAME(NVTX_ABI_MESSAGE_STRING, NVTX_MESSAGE_TYPE_REGISTERED);
SAME(NVTX_ABI_PAYLOAD_U64, NVTX_PAYLOAD_TYPE_UNSIGNED_INT64);
SAME(NVTX_ABI_PAYLOAD_I64, NVTX_PAYLOAD_TYPE_INT64);
SAME(NVTX_ABI_PAYLOAD_F64, NVTX_PAYLOAD_TYPE_DOUBLE);
SAME(NVTX_ABI_PAYLOAD_U32, NVTX_PAYLOAD_TYPE_UNSIGNED_INT32);
SAME(NVTX_ABI_PAYLOAD_I32, NVTX_PAYLOAD_TYPE_INT32);
SAME(NVTX_ABI_PAYLOAD_F32, NVTX_PAYLOAD_TYPE_FLOAT);
SAME(NVTX_ABI_PAYLOAD_EXT, NVTX_PAYLOAD_TYPE_EXT);
SAME(NVTX_ABI_MODULE_PAYLOAD, NVTX_EXT_PAYLOAD_MODULEID);
SAME(NVTX_ABI_PAYLOAD_SCHEMA, NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
SAME(NVTX_ABI_PAYLOAD_PUSH, NVTX3EXT_CBID_nvtxRangePushPayload);
SAME(NVTX_ABI_PAYLOAD_POP, NVTX3EXT_CBID_nvtxRangePopPayload);
SAME(NVTX_ABI_PAYLOAD_START, NVTX3EXT_CBID_nvtxRangeStartPayload);
SAME(NVTX_ABI_PAYLOAD_END, NVTX3EXT_CBID_nvtxRangeEndPayload);
SAME(NVTX_ABI_TYPE_INT, NVTX_PAYLOAD_ENTRY_TYPE_INT);
SAME(NVTX_ABI_TYPE_UINT, NVTX_PAYLOAD_ENTRY_TYPE_UINT);
SAME(NVTX_ABI_TYPE_INT32, NVTX_PAYLOAD_ENTRY_TYPE_INT32);
SAME(NVTX_ABI_TYPE_UINT32, NVTX_PAYLOAD_ENTRY_TYPE_UINT32);
SAME(NVTX_ABI_TYPE_INT64, NVTX_PAYLOAD_ENTRY_TYPE_INT64);
SAME(NVTX_ABI_TYPE_UINT64, NVTX_PAYLOAD_ENTRY_TYPE_UINT64);
SAME(NVTX_ABI_TYPE_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_SIZE);
#ifdef NVTX_PAYLOAD_SCHEMA_ID_STATIC_START
SAME(NVTX_ABI_TYPE_STATIC, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
SAME(NVTX_ABI_DYNAMIC_ID, NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
#else
SAME(NVTX_ABI_TYPE_STATIC, NVTX_PAYLOAD_ENTRY_TYPE_SCHEMA_ID_STATIC_START);
SAME(NVTX_ABI_DYNAMIC_ID, NVTX_PAYLOAD_ENTRY_TYPE_SCHEMA_ID_DYNAMIC_START);
#endif
#ifdef NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES
SAME(NVTX_ABI_SCHEMA_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES);
SAME(NVTX_ABI_SCHEMA_NR_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
SAME(NVTX_ABI_SCHEMA_STATIC_SIZE, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE);
SAME(NVTX_ABI_SCHEMA_ID, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
#else
SAME(NVTX_ABI_SCHEMA_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_ENTRIES);
SAME(NVTX_ABI_SCHEMA_NR_ENTRIES, NVTX_PAYLOAD_SCHEMA_ATTR_NUM_ENTRIES);
SAME(NVTX_ABI_SCHEMA_STATIC_SIZE, NVTX_PAYLOAD_SCHEMA_ATTR_STATIC_SIZE);
SAME(NVTX_ABI_SCHEMA_ID, NVTX_PAYLOAD_SCHEMA_ATTR_SCHEMA_ID);
#endif

SAME(sizeof(struct nvtx_abi_callbacks), sizeof(NvtxExportTableCallbacks));
SAME_PLACE(nvtx_abi_callbacks, get_module, NvtxExportTableCallbacks,
	   GetModuleFunctionTable);
SAME(sizeof(struct nvtx_abi_version), sizeof(NvtxExportTableVersionInfo));
SAME_PLACE(nvtx_abi_version, set_tool_version, NvtxExportTableVersionInfo,
	   SetInjectionNvtxVersion);
SAME(sizeof(struct nvtx_abi_attributes), sizeof(nvtxEventAttributes_t));
SAME_PLACE(nvtx_abi_attributes, category, nvtxEventAttributes_t, category);
SAME_PLACE(nvtx_abi_attributes, color_type, nvtxEventAttributes_t, colorType);
SAME_PLACE(nvtx_abi_attributes, color, nvtxEventAttributes_t, color);
SAME_PLACE(nvtx_abi_attributes, payload_type, nvtxEventAttributes_t, payloadType);
SAME_PLACE(nvtx_abi_attributes, payload_count, nvtxEventAttributes_t, reserved0);
SAME_PLACE(nvtx_abi_attributes, payload, nvtxEventAttributes_t, payload);
SAME_PLACE(nvtx_abi_attributes, message_type, nvtxEventAttributes_t, messageType);
SAME_PLACE(nvtx_abi_attributes, message, nvtxEventAttributes_t, message);
SAME(sizeof(struct nvtx_abi_segment), sizeof(nvtxExtModuleSegment_t));
SAME_PLACE(nvtx_abi_segment, nr_slots, nvtxExtModuleSegment_t, slotCount);
SAME_PLACE(nvtx_abi_segment, slots, nvtxExtModuleSegment_t, functionSlots);
SAME(sizeof(struct nvtx_abi_module), sizeof(nvtxExtModuleInfo_t));
SAME_PLACE(nvtx_abi_module, struct_size, nvtxExtModuleInfo_t, structSize);
SAME_PLACE(nvtx_abi_module, module, nvtxExtModuleInfo_t, moduleId);
SAME_PLACE(nvtx_abi_module, compat, nvtxExtModuleInfo_t, compatId);
SAME_PLACE(nvtx_abi_module, nr_segments, nvtxExtModuleInfo_t, segmentsCount);
SAME_PLACE(nvtx_abi_module, segments, nvtxExtModuleInfo_t, segments);
SAME(sizeof(struct nvtx_abi_data), sizeof(nvtxPayloadData_t));
SAME_PLACE(nvtx_abi_data, schema_id, nvtxPayloadData_t, schemaId);
SAME_PLACE(nvtx_abi_data, size, nvtxPayloadData_t, size);
SAME_PLACE(nvtx_abi_data, data, nvtxPayloadData_t, payload);
SAME(sizeof(struct nvtx_abi_entry), sizeof(nvtxPayloadSchemaEntry_t));
SAME_PLACE(nvtx_abi_entry, flags, nvtxPayloadSchemaEntry_t, flags);
SAME_PLACE(nvtx_abi_entry, type, nvtxPayloadSchemaEntry_t, type);
SAME_PLACE(nvtx_abi_entry, name, nvtxPayloadSchemaEntry_t, name);
SAME_PLACE(nvtx_abi_entry, offset, nvtxPayloadSchemaEntry_t, offset);
SAME_PLACE(nvtx_abi_schema, fields, nvtxPayloadSchemaAttr_t, fieldMask);
SAME_PLACE(nvtx_abi_schema, entries, nvtxPayloadSchemaAttr_t, entries);
SAME_PLACE(nvtx_abi_schema, nr_entries, nvtxPayloadSchemaAttr_t, numEntries);
SAME_PLACE(nvtx_abi_schema, static_size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
SAME_PLACE(nvtx_abi_schema, schema_id, nvtxPayloadSchemaAttr_t, schemaId);
