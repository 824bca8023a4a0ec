/* SPDX-License-Identifier: MIT */
/*
 * How each kind of argument is recorded: the only recording code written by hand.
 *
 * A kind K has five lines: READ_K(ON_ENTRY, ON_EXIT, n), what is read through the
 * argument, and when; ENTRY_K(n), the fields before the call; EXIT_K(n), the fields after
 * it; KIND_FITS_K(t), whether the kind fits the C type t (LTTng would cast in silence);
 * and ROLE_K(n), TAP_ROLE(role, field) for each field that means something to the reader
 * (join/model/call.h).  RET_K records a result, as the field "result", and READ_RET_K
 * reads it.  In the fields, n is the argument's name, a points to the call's arguments,
 * call to the rest that is known of the call, and on exit ret is its result.
 *
 * LTTng evaluates the fields while it holds a reserved place in its buffer.  A process
 * that dies there destroys what all processes record on that processor; so the fields
 * read no memory of the program's.  Before the event, READ_K copies that memory to the
 * stack, if it can be read, and points the argument in a, which is itself a copy, to it,
 * or sets it to NULL.
 *
 * The rules: no call into a traced library, no allocation, no lock.  The tracer reads
 * memory of the program only where the call itself may read it, and results only once the
 * call's result says that they were written; else the field is 0, the empty string, or -1
 * in an enumeration.  The tracer reads no secret.
 *
 * It hides which fields an argument becomes.
 */
#ifndef TAP_CALLS_KINDS_H
#define TAP_CALLS_KINDS_H

#include <limits.h>
#include <string.h>

#include "calls/nccl_types.h"
#include "common/safe_read.h"

#define ARG_READ_ON_ENTRY(t, n, k) READ_##k(TAP_NOW, TAP_NOT_NOW, n)
#define ARG_READ_ON_ENTRY_NONE
#define ARG_READ_ON_EXIT(t, n, k) READ_##k(TAP_NOT_NOW, TAP_NOW, n)
#define ARG_READ_ON_EXIT_NONE
#define TAP_NOW(...) __VA_ARGS__
#define TAP_NOT_NOW(...)
#define ARG_ON_ENTRY(t, n, k) ENTRY_##k(n)
#define ARG_ON_ENTRY_NONE
#define ARG_ON_EXIT(t, n, k) EXIT_##k(n)
#define ARG_ON_EXIT_NONE
#define ARG_FITS(t, n, k) \
	_Static_assert(KIND_FITS_##k(t), "kind " #k " does not fit " #t " " #n);
#define ARG_FITS_NONE

/* 5 is GCC's and clang's number for a pointer. */
#define TAP_IS_POINTER(t) (__builtin_classify_type(*(t *) 0) == 5)
#define TAP_IS_NUMBER(t, size) (sizeof(t) == (size) && !TAP_IS_POINTER(t))
#define TAP_POINTS_TO(t, type) __builtin_types_compatible_p(t, type *)
#define TAP_POINTS_TO_POINTER(t) (TAP_IS_POINTER(t) && TAP_IS_POINTER(__typeof__(*(t) 0)))

/*
 * A call that goes on in the background has already written its handle; the numbers are
 * ncclSuccess and ncclInProgress.
 */
#define TAP_WROTE(n) ((ret) == 0 && a->n)
#define TAP_WROTE_HANDLE(n) (((ret) == 0 || (ret) == 7) && a->n)

/*
 * A longer list is taken as invalid and not read; its length is an argument of its own.
 */
#define TAP_LIST_MAX 4096

static inline uint32_t tap_list_length(const void *list, int64_t length)
{
	return list && length > 0 && length <= TAP_LIST_MAX ? (uint32_t) length : 0;
}

/* The room on the stack for one list: 256 numbers, 128 handles, 64 descriptors. */
#define TAP_LIST_BYTES 1024
#define TAP_STRING_BYTES 256
#define TAP_RESULT_BYTES 1024

/* How many items of a list are recorded: the first ones of a long list. */
static inline uint32_t tap_list_shown(const void *list, int64_t length, size_t each)
{
	const uint32_t nr = tap_list_length(list, length), most = TAP_LIST_BYTES / each;

	return nr < most ? nr : most;
}

/*
 * The communicator hash of NCCL 2.26 and later, so that the trace, NCCL's log and its
 * profiler plugins use one name for a communicator; older releases had another hash.  It
 * takes the identifier as 16 words of the machine's byte order.  NULL gives 0.
 */
static inline uint64_t tap_nccl_hash(const ncclUniqueId *id)
{
	uint64_t low = 1 ^ sizeof(*id), high = 1, word;
	size_t at;

	if (!id)
		return 0;
	for (at = 0; at < sizeof(*id); at += sizeof(word)) {
		low += high;
		high ^= low;
		low = (low ^ low >> 31) * 0x9de62bbc8cef3ce3;
		high = (high ^ high >> 32) * 0x485cd6311b599e79;
		memcpy(&word, id->internal + at, sizeof(word));
		low += word;
	}
	low = (low ^ low >> 31) * 0xbac3bd562846de6b + high;
	return (low ^ low >> 32) * 0x995a187a14e7b445;
}

/*
 * Whether the program's copy of a structure has a field that ends at end bytes and came
 * with version since.  The size alone does not tell: an int in the place of padding does
 * not change it.
 */
static inline bool tap_nccl_has(const void *versioned, unsigned int magic, size_t end,
				unsigned int since)
{
	const struct tap_nccl_head *head = versioned;

	return head && head->magic == magic && head->size >= end &&
	       head->version >= since;
}

/*
 * Copies a versioned structure, as far as it reaches and ret_copy has room; NULL if from
 * is none.
 */
static inline void *tap_read_versioned(void *ret_copy, size_t room, const void *from,
				       unsigned int magic)
{
	struct tap_nccl_head head;

	if (!tap_safe_read(&head, from, sizeof(head)) || head.magic != magic ||
	    head.size < sizeof(head))
		return NULL;
	return tap_safe_read(ret_copy, from, head.size < room ? head.size : room);
}

/* A configuration and its names, cut to size. */
struct tap_config_copy {
	struct tap_nccl_config config;
	char net_name[32], comm_name[128];
};

#define TAP_HAS_STRING(copy, type, field, since) \
	tap_nccl_has(copy, TAP_NCCL_MAGIC, \
		     offsetof(struct type, field) + sizeof(const char *), since)

static inline void *tap_read_config(struct tap_config_copy *ret_copy, const void *from)
{
	struct tap_nccl_config *config = &ret_copy->config;

	if (!tap_read_versioned(config, sizeof(*config), from, TAP_NCCL_MAGIC))
		return NULL;
	if (TAP_HAS_STRING(config, tap_nccl_config, netName, 0))
		config->netName =
			tap_safe_read_string(ret_copy->net_name,
					     sizeof(ret_copy->net_name), config->netName);
	if (TAP_HAS_STRING(config, tap_nccl_config, commName, 22700))
		config->commName = tap_safe_read_string(ret_copy->comm_name,
							sizeof(ret_copy->comm_name),
							config->commName);
	return config;
}

struct tap_coll_config_copy {
	struct tap_nccl_coll_config config;
	char selection[TAP_STRING_BYTES];
};

static inline void *tap_read_coll_config(struct tap_coll_config_copy *ret_copy,
					 const void *from)
{
	struct tap_nccl_coll_config *config = &ret_copy->config;

	if (!tap_read_versioned(config, sizeof(*config), from, TAP_NCCL_MAGIC))
		return NULL;
	if (TAP_HAS_STRING(config, tap_nccl_coll_config, algSelection, 0))
		config->algSelection = tap_safe_read_string(ret_copy->selection,
							    sizeof(ret_copy->selection),
							    config->algSelection);
	return config;
}

/* A field of a versioned structure, or `absent` if the structure does not have it. */
#define TAP_FIELD_OF(type, n, field, since, absent) \
	(tap_nccl_has(a->n, TAP_NCCL_MAGIC, \
		      offsetof(struct type, field) + sizeof(((struct type *) 0)->field), \
		      since) \
		 ? ((const struct type *) (const void *) a->n)->field \
		 : (absent))

static inline const char *tap_string(const char *string)
{
	return string ? string : "";
}

/* clang-format off */

/* The bodies of READ_K: each declares a copy on the stack. */
#define TAP_READ_STRING(n) \
	char n##_copy[TAP_STRING_BYTES]; \
	a->n = tap_safe_read_string(n##_copy, sizeof(n##_copy), a->n);
#define TAP_READ_BYTES(n, is_there) \
	_Alignas(8) char n##_copy[sizeof(*a->n)]; \
	a->n = (is_there) ? tap_safe_read(n##_copy, a->n, sizeof(n##_copy)) : NULL;
#define TAP_READ_VERSIONED(n, type, magic, is_there) \
	struct type n##_copy; \
	a->n = (is_there) ? tap_read_versioned(&n##_copy, sizeof(n##_copy), a->n, magic) : NULL;
#define TAP_READ_CONFIG(n, copy, read) \
	struct copy n##_copy; \
	a->n = read(&n##_copy, a->n);
/* The string gets as much room as a result: some calls return a long text. */
#define TAP_READ_OUT_STRING(n) \
	char n##_text[TAP_RESULT_BYTES]; \
	TAP_READ_BYTES(n, TAP_WROTE(n)) \
	if (a->n) \
		*a->n = tap_safe_read_string(n##_text, sizeof(n##_text), *a->n);
#define TAP_READ_LIST(n, length, is_there) \
	_Alignas(8) char n##_copy[TAP_LIST_BYTES]; \
	a->n = (is_there) ? tap_safe_read(n##_copy, a->n, \
		sizeof(*a->n) * tap_list_shown(a->n, length, sizeof(*a->n))) : NULL;

#define READ_PTR(ON_ENTRY, ON_EXIT, n)
#define ENTRY_PTR(n) lttng_ust_field_integer_hex(uint64_t, n, (uintptr_t) a->n)
#define EXIT_PTR(n)
#define KIND_FITS_PTR(t) TAP_IS_POINTER(t)
#define ROLE_PTR(n)

/* The communicator that the call works on: its address, number and key. */
#define READ_COMM(ON_ENTRY, ON_EXIT, n)
#define ENTRY_COMM(n) \
	lttng_ust_field_integer_hex(uint64_t, n, (uintptr_t) a->n) \
	lttng_ust_field_integer(uint32_t, n##_id, call->comm_id) \
	lttng_ust_field_integer_hex(uint64_t, n##_key, call->comm_key)
#define EXIT_COMM(n)
#define KIND_FITS_COMM(t) __builtin_types_compatible_p(t, ncclComm_t)
#define ROLE_COMM(n) TAP_ROLE(COMM, #n) TAP_ROLE(COMM_ID, #n "_id") TAP_ROLE(COMM_KEY, #n "_key")

#define READ_U64(ON_ENTRY, ON_EXIT, n)
#define ENTRY_U64(n) lttng_ust_field_integer(uint64_t, n, a->n)
#define EXIT_U64(n)
#define KIND_FITS_U64(t) TAP_IS_NUMBER(t, 8)
#define ROLE_U64(n)

#define READ_U32(ON_ENTRY, ON_EXIT, n)
#define ENTRY_U32(n) lttng_ust_field_integer(uint32_t, n, a->n)
#define EXIT_U32(n)
#define KIND_FITS_U32(t) TAP_IS_NUMBER(t, 4)
#define ROLE_U32(n)

#define READ_I32(ON_ENTRY, ON_EXIT, n)
#define ENTRY_I32(n) lttng_ust_field_integer(int32_t, n, a->n)
#define EXIT_I32(n)
#define KIND_FITS_I32(t) TAP_IS_NUMBER(t, 4)
#define ROLE_I32(n)

/* Arguments that the reader finds by their role, recorded as pointers or numbers. */
#define READ_STREAM READ_PTR
#define ENTRY_STREAM ENTRY_PTR
#define EXIT_STREAM EXIT_PTR
#define KIND_FITS_STREAM(t) TAP_IS_POINTER(t)
#define ROLE_STREAM(n) TAP_ROLE(STREAM, #n)
#define READ_COUNT READ_U64
#define ENTRY_COUNT ENTRY_U64
#define EXIT_COUNT EXIT_U64
#define KIND_FITS_COUNT(t) KIND_FITS_U64(t)
#define ROLE_COUNT(n) TAP_ROLE(COUNT, #n)
#define READ_PEER READ_I32
#define ENTRY_PEER ENTRY_I32
#define EXIT_PEER EXIT_I32
#define KIND_FITS_PEER(t) KIND_FITS_I32(t)
#define ROLE_PEER(n) TAP_ROLE(PEER, #n)
#define READ_ROOT READ_I32
#define ENTRY_ROOT ENTRY_I32
#define EXIT_ROOT EXIT_I32
#define KIND_FITS_ROOT(t) KIND_FITS_I32(t)
#define ROLE_ROOT(n) TAP_ROLE(ROOT, #n)

#define READ_STR(ON_ENTRY, ON_EXIT, n) ON_ENTRY(TAP_READ_STRING(n))
#define ENTRY_STR(n) lttng_ust_field_string(n, tap_string(a->n))
#define EXIT_STR(n)
#define KIND_FITS_STR(t) TAP_POINTS_TO(t, const char)
#define ROLE_STR(n)

/* Enumerations: nccl_enums.h. */
#define TAP_NCCL_VALUE(name, number) lttng_ust_field_enum_value(#name, number)
#define TAP_ENUM_FIELD(type, n, value) \
	lttng_ust_field_enum(nccl, type, int32_t, n, (int32_t) (value))

#define READ_RESULT(ON_ENTRY, ON_EXIT, n)
#define ENTRY_RESULT(n) TAP_ENUM_FIELD(ncclResult_t, n, a->n)
#define EXIT_RESULT(n)
#define KIND_FITS_RESULT(t) TAP_IS_NUMBER(t, 4)
#define ROLE_RESULT(n)

#define READ_DATATYPE(ON_ENTRY, ON_EXIT, n)
#define ENTRY_DATATYPE(n) TAP_ENUM_FIELD(ncclDataType_t, n, a->n)
#define EXIT_DATATYPE(n)
#define KIND_FITS_DATATYPE(t) TAP_IS_NUMBER(t, 4)
#define ROLE_DATATYPE(n) TAP_ROLE(DATATYPE, #n)

#define READ_REDOP(ON_ENTRY, ON_EXIT, n)
#define ENTRY_REDOP(n) TAP_ENUM_FIELD(ncclRedOp_t, n, a->n)
#define EXIT_REDOP(n)
#define KIND_FITS_REDOP(t) TAP_IS_NUMBER(t, 4)
#define ROLE_REDOP(n) TAP_ROLE(REDOP, #n)

#define READ_SCALAR_RESIDENCE(ON_ENTRY, ON_EXIT, n)
#define ENTRY_SCALAR_RESIDENCE(n) TAP_ENUM_FIELD(ncclScalarResidence_t, n, a->n)
#define EXIT_SCALAR_RESIDENCE(n)
#define KIND_FITS_SCALAR_RESIDENCE(t) TAP_IS_NUMBER(t, 4)
#define ROLE_SCALAR_RESIDENCE(n)

#define READ_MEM_STAT(ON_ENTRY, ON_EXIT, n)
#define ENTRY_MEM_STAT(n) TAP_ENUM_FIELD(ncclCommMemStat_t, n, a->n)
#define EXIT_MEM_STAT(n)
#define KIND_FITS_MEM_STAT(t) TAP_IS_NUMBER(t, 4)
#define ROLE_MEM_STAT(n)

#define READ_CFT_TEAM_MODE(ON_ENTRY, ON_EXIT, n)
#define ENTRY_CFT_TEAM_MODE(n) TAP_ENUM_FIELD(ncclCftTeamMode_t, n, a->n)
#define EXIT_CFT_TEAM_MODE(n)
#define KIND_FITS_CFT_TEAM_MODE(t) TAP_IS_NUMBER(t, 4)
#define ROLE_CFT_TEAM_MODE(n)

/* Structures by value. */
#define READ_TEAM(ON_ENTRY, ON_EXIT, n)
#define ENTRY_TEAM(n) \
	lttng_ust_field_integer(int32_t, n##_nRanks, a->n.nRanks) \
	lttng_ust_field_integer(int32_t, n##_rank, a->n.rank) \
	lttng_ust_field_integer(int32_t, n##_stride, a->n.stride)
#define EXIT_TEAM(n)
#define KIND_FITS_TEAM(t) __builtin_types_compatible_p(t, ncclTeam_t)
#define ROLE_TEAM(n)

#define READ_MULTIMEM(ON_ENTRY, ON_EXIT, n)
#define ENTRY_MULTIMEM(n) \
	lttng_ust_field_integer_hex(uint64_t, n, (uintptr_t) a->n.mcBasePtr)
#define EXIT_MULTIMEM(n)
#define KIND_FITS_MULTIMEM(t) __builtin_types_compatible_p(t, ncclMultimemHandle_t)
#define ROLE_MULTIMEM(n)

#define READ_UNIQUE_ID(ON_ENTRY, ON_EXIT, n)
#define ENTRY_UNIQUE_ID(n) \
	lttng_ust_field_integer_hex(uint64_t, n##_hash, tap_nccl_hash(&a->n))
#define EXIT_UNIQUE_ID(n)
#define KIND_FITS_UNIQUE_ID(t) __builtin_types_compatible_p(t, ncclUniqueId)
#define ROLE_UNIQUE_ID(n)

/* Structures by address. */
#define READ_UNIQUE_ID_PTR(ON_ENTRY, ON_EXIT, n) ON_ENTRY(TAP_READ_BYTES(n, true))
#define ENTRY_UNIQUE_ID_PTR(n) \
	lttng_ust_field_integer_hex(uint64_t, n##_hash, tap_nccl_hash(a->n))
#define EXIT_UNIQUE_ID_PTR(n)
#define KIND_FITS_UNIQUE_ID_PTR(t) TAP_POINTS_TO(t, const ncclUniqueId)
#define ROLE_UNIQUE_ID_PTR(n)

/* NCCL computes a communicator's hash from the first of its identifiers. */
#define READ_UNIQUE_IDS_nId(ON_ENTRY, ON_EXIT, n) \
	ON_ENTRY(TAP_READ_BYTES(n, tap_list_length(a->n, a->nId)))
#define ENTRY_UNIQUE_IDS_nId(n) \
	lttng_ust_field_integer_hex(uint64_t, n##_hash, \
		tap_nccl_hash(tap_list_length(a->n, a->nId) ? a->n : NULL))
#define EXIT_UNIQUE_IDS_nId(n)
#define KIND_FITS_UNIQUE_IDS_nId(t) TAP_POINTS_TO(t, ncclUniqueId)
#define ROLE_UNIQUE_IDS_nId(n)

#define TAP_CONFIG_INT(n, field, since) \
	lttng_ust_field_integer(int32_t, n##_##field, \
		TAP_FIELD_OF(tap_nccl_config, n, field, since, INT_MIN))
#define TAP_CONFIG_STR(n, field, since) \
	lttng_ust_field_string(n##_##field, \
		tap_string(TAP_FIELD_OF(tap_nccl_config, n, field, since, NULL)))
#define READ_CONFIG(ON_ENTRY, ON_EXIT, n) \
	ON_ENTRY(TAP_READ_CONFIG(n, tap_config_copy, tap_read_config))
#define ENTRY_CONFIG(n) \
	TAP_CONFIG_INT(n, blocking, 0) \
	TAP_CONFIG_INT(n, cgaClusterSize, 0) \
	TAP_CONFIG_INT(n, minCTAs, 0) \
	TAP_CONFIG_INT(n, maxCTAs, 0) \
	TAP_CONFIG_STR(n, netName, 0) \
	TAP_CONFIG_INT(n, splitShare, 0) \
	TAP_CONFIG_INT(n, trafficClass, 22600) \
	TAP_CONFIG_STR(n, commName, 22700) \
	TAP_CONFIG_INT(n, collnetEnable, 22700) \
	TAP_CONFIG_INT(n, CTAPolicy, 22700) \
	TAP_CONFIG_INT(n, shrinkShare, 22700) \
	TAP_CONFIG_INT(n, nvlsCTAs, 22700) \
	TAP_CONFIG_INT(n, nChannelsPerNetPeer, 22800) \
	TAP_CONFIG_INT(n, nvlinkCentricSched, 22800) \
	TAP_CONFIG_INT(n, graphUsageMode, 22900) \
	TAP_CONFIG_INT(n, numRmaCtx, 22900) \
	TAP_CONFIG_INT(n, maxP2pPeers, 23000) \
	TAP_CONFIG_INT(n, graphStreamOrdering, 23005) \
	TAP_CONFIG_INT(n, launchOrderImplicit, 23100) \
	TAP_CONFIG_INT(n, numRmaSig, 23100) \
	TAP_CONFIG_INT(n, rmaEagerInit, 23100) \
	TAP_CONFIG_INT(n, hostCftMode, 23100) \
	TAP_CONFIG_INT(n, nvlsHostMode, 23200)
#define EXIT_CONFIG(n)
#define KIND_FITS_CONFIG(t) TAP_POINTS_TO(t, ncclConfig_t)
#define ROLE_CONFIG(n)

#define TAP_COLL_CONFIG_FIELD(n, field, since, absent) \
	TAP_FIELD_OF(tap_nccl_coll_config, n, field, since, absent)
#define TAP_COLL_CONFIG_INT(n, field) \
	lttng_ust_field_integer(int32_t, n##_##field, \
		TAP_COLL_CONFIG_FIELD(n, field, 0, INT_MIN))
#define READ_COLL_CONFIG(ON_ENTRY, ON_EXIT, n) \
	ON_ENTRY(TAP_READ_CONFIG(n, tap_coll_config_copy, tap_read_coll_config))
#define ENTRY_COLL_CONFIG(n) \
	TAP_COLL_CONFIG_INT(n, minCTAs) \
	TAP_COLL_CONFIG_INT(n, maxCTAs) \
	TAP_COLL_CONFIG_INT(n, nvlsCTAs) \
	TAP_COLL_CONFIG_INT(n, cgaClusterSize) \
	lttng_ust_field_string(n##_algSelection, \
		tap_string(TAP_COLL_CONFIG_FIELD(n, algSelection, 0, NULL))) \
	TAP_COLL_CONFIG_INT(n, forceAlgSelection) \
	TAP_COLL_CONFIG_INT(n, CTAPolicy) \
	lttng_ust_field_integer(uint64_t, n##_userProfilerTag, \
		TAP_COLL_CONFIG_FIELD(n, userProfilerTag, 0, 0)) \
	lttng_ust_field_integer_hex(uint64_t, n##_launchCompletionEvent, (uintptr_t) \
		TAP_COLL_CONFIG_FIELD(n, launchCompletionEvent, 23200, NULL))
#define EXIT_COLL_CONFIG(n)
#define KIND_FITS_COLL_CONFIG(t) TAP_POINTS_TO(t, const ncclCollConfig_t)
#define ROLE_COLL_CONFIG(n)

#define READ_ENCRYPTION_CONFIG(ON_ENTRY, ON_EXIT, n) \
	ON_ENTRY(TAP_READ_VERSIONED(n, tap_nccl_encryption_config, TAP_NCCL_MAGIC, true))
#define ENTRY_ENCRYPTION_CONFIG(n) \
	TAP_ENUM_FIELD(ncclEncryptionMode_t, n##_mode, \
		TAP_FIELD_OF(tap_nccl_encryption_config, n, mode, 0, -1))
#define EXIT_ENCRYPTION_CONFIG(n)
#define KIND_FITS_ENCRYPTION_CONFIG(t) TAP_POINTS_TO(t, const ncclEncryptionConfig_t)
#define ROLE_ENCRYPTION_CONFIG(n)

#define READ_OUT_SIM_INFO(ON_ENTRY, ON_EXIT, n) \
	ON_EXIT(TAP_READ_VERSIONED(n, tap_nccl_sim_info, TAP_NCCL_SIM_MAGIC, TAP_WROTE(n)))
#define ENTRY_OUT_SIM_INFO(n)
#define EXIT_OUT_SIM_INFO(n) \
	lttng_ust_field_float(float, n##_estimatedTime, \
		TAP_WROTE(n) && tap_nccl_has(a->n, TAP_NCCL_SIM_MAGIC, \
					     sizeof(struct tap_nccl_sim_info), 0) \
		? ((const struct tap_nccl_sim_info *) (void *) a->n)->estimatedTime : 0)
#define KIND_FITS_OUT_SIM_INFO(t) TAP_POINTS_TO(t, ncclSimInfo_t)
#define ROLE_OUT_SIM_INFO(n)

#define TAP_PROPERTY(n, field, since) \
	(TAP_WROTE(n) ? TAP_FIELD_OF(tap_nccl_properties, n, field, since, 0) : 0)
#define READ_OUT_PROPERTIES(ON_ENTRY, ON_EXIT, n) \
	ON_EXIT(TAP_READ_VERSIONED(n, tap_nccl_properties, TAP_NCCL_MAGIC, TAP_WROTE(n)))
#define ENTRY_OUT_PROPERTIES(n)
#define EXIT_OUT_PROPERTIES(n) \
	lttng_ust_field_integer(int32_t, n##_rank, TAP_PROPERTY(n, rank, 0)) \
	lttng_ust_field_integer(int32_t, n##_nRanks, TAP_PROPERTY(n, nRanks, 0)) \
	lttng_ust_field_integer(int32_t, n##_cudaDev, TAP_PROPERTY(n, cudaDev, 0)) \
	lttng_ust_field_integer(int32_t, n##_nvmlDev, TAP_PROPERTY(n, nvmlDev, 0)) \
	lttng_ust_field_integer_hex(uint64_t, n##_commHash, \
		TAP_PROPERTY(n, commHash, 23100))
#define KIND_FITS_OUT_PROPERTIES(t) TAP_POINTS_TO(t, ncclCommProperties_t)
#define ROLE_OUT_PROPERTIES(n)

/* Lists: the kind's name ends with the argument that holds the length. */
#define TAP_LIST(type, n, length) \
	lttng_ust_field_sequence(type, n, (const type *) (const void *) a->n, uint32_t, \
		(uint32_t) (sizeof(*a->n) / sizeof(type)) * \
			tap_list_shown(a->n, length, sizeof(*a->n)))

#define READ_INTS_ndev(ON_ENTRY, ON_EXIT, n) ON_ENTRY(TAP_READ_LIST(n, a->ndev, true))
#define ENTRY_INTS_ndev(n) TAP_LIST(int32_t, n, a->ndev)
#define EXIT_INTS_ndev(n)
#define KIND_FITS_INTS_ndev(t) TAP_POINTS_TO(t, const int)
#define ROLE_INTS_ndev(n)

#define READ_INTS_excludeRanksCount(ON_ENTRY, ON_EXIT, n) \
	ON_ENTRY(TAP_READ_LIST(n, a->excludeRanksCount, true))
#define ENTRY_INTS_excludeRanksCount(n) TAP_LIST(int32_t, n, a->excludeRanksCount)
#define EXIT_INTS_excludeRanksCount(n)
#define KIND_FITS_INTS_excludeRanksCount(t) TAP_POINTS_TO(t, int)
#define ROLE_INTS_excludeRanksCount(n)

/* opCnt, peer, sigIdx and ctx of each descriptor in turn. */
#define READ_SIGNAL_DESCS_nDesc(ON_ENTRY, ON_EXIT, n) \
	ON_ENTRY(TAP_READ_LIST(n, a->nDesc, true))
#define ENTRY_SIGNAL_DESCS_nDesc(n) TAP_LIST(int32_t, n, a->nDesc)
#define EXIT_SIGNAL_DESCS_nDesc(n)
#define KIND_FITS_SIGNAL_DESCS_nDesc(t) \
	(TAP_POINTS_TO(t, ncclWaitSignalDesc_t) && sizeof(*(t) 0) == 4 * sizeof(int32_t))
#define ROLE_SIGNAL_DESCS_nDesc(n)

#define READ_OUT_HANDLES_ndev(ON_ENTRY, ON_EXIT, n) \
	ON_EXIT(TAP_READ_LIST(n, a->ndev, TAP_WROTE_HANDLE(n)))
#define ENTRY_OUT_HANDLES_ndev(n)
#define EXIT_OUT_HANDLES_ndev(n) \
	lttng_ust_field_sequence_hex(uint64_t, n, \
		(const uint64_t *) (const void *) a->n, uint32_t, \
		TAP_WROTE_HANDLE(n) ? tap_list_shown(a->n, a->ndev, sizeof(*a->n)) : 0)
#define KIND_FITS_OUT_HANDLES_ndev(t) TAP_POINTS_TO_POINTER(t)
#define ROLE_OUT_HANDLES_ndev(n)

/* Results of the call. */
#define READ_OUT_PTR(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_PTR(n)
#define EXIT_OUT_PTR(n) \
	lttng_ust_field_integer_hex(uint64_t, n, TAP_WROTE(n) ? (uintptr_t) *a->n : 0)
#define KIND_FITS_OUT_PTR(t) TAP_POINTS_TO_POINTER(t)
#define ROLE_OUT_PTR(n)

#define READ_OUT_HANDLE(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE_HANDLE(n)))
#define ENTRY_OUT_HANDLE(n)
#define EXIT_OUT_HANDLE(n) \
	lttng_ust_field_integer_hex(uint64_t, n, \
		TAP_WROTE_HANDLE(n) ? (uintptr_t) *a->n : 0)
#define KIND_FITS_OUT_HANDLE(t) TAP_POINTS_TO_POINTER(t)
#define ROLE_OUT_HANDLE(n)

#define TAP_OUT(type, n) lttng_ust_field_integer(type, n, TAP_WROTE(n) ? *a->n : 0)

#define READ_OUT_I8(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_I8(n)
#define EXIT_OUT_I8(n) TAP_OUT(int8_t, n)
#define KIND_FITS_OUT_I8(t) TAP_POINTS_TO(t, int8_t)
#define ROLE_OUT_I8(n)
#define READ_OUT_I16(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_I16(n)
#define EXIT_OUT_I16(n) TAP_OUT(int16_t, n)
#define KIND_FITS_OUT_I16(t) TAP_POINTS_TO(t, int16_t)
#define ROLE_OUT_I16(n)
#define READ_OUT_I32(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_I32(n)
#define EXIT_OUT_I32(n) TAP_OUT(int32_t, n)
#define KIND_FITS_OUT_I32(t) TAP_POINTS_TO(t, int32_t)
#define ROLE_OUT_I32(n)
#define READ_OUT_I64(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_I64(n)
#define EXIT_OUT_I64(n) TAP_OUT(int64_t, n)
#define KIND_FITS_OUT_I64(t) TAP_POINTS_TO(t, int64_t)
#define ROLE_OUT_I64(n)
#define READ_OUT_U8(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_U8(n)
#define EXIT_OUT_U8(n) TAP_OUT(uint8_t, n)
#define KIND_FITS_OUT_U8(t) TAP_POINTS_TO(t, uint8_t)
#define ROLE_OUT_U8(n)
#define READ_OUT_U16(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_U16(n)
#define EXIT_OUT_U16(n) TAP_OUT(uint16_t, n)
#define KIND_FITS_OUT_U16(t) TAP_POINTS_TO(t, uint16_t)
#define ROLE_OUT_U16(n)
#define READ_OUT_U32(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_U32(n)
#define EXIT_OUT_U32(n) TAP_OUT(uint32_t, n)
#define KIND_FITS_OUT_U32(t) TAP_POINTS_TO(t, uint32_t)
#define ROLE_OUT_U32(n)
#define READ_OUT_U64(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_U64(n)
#define EXIT_OUT_U64(n) TAP_OUT(uint64_t, n)
#define KIND_FITS_OUT_U64(t) TAP_POINTS_TO(t, uint64_t)
#define ROLE_OUT_U64(n)

#define READ_OUT_STR(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_OUT_STRING(n))
#define ENTRY_OUT_STR(n)
#define EXIT_OUT_STR(n) lttng_ust_field_string(n, tap_string(TAP_WROTE(n) ? *a->n : NULL))
#define KIND_FITS_OUT_STR(t) TAP_POINTS_TO(t, const char *)
#define ROLE_OUT_STR(n)

#define READ_OUT_RESULT(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_RESULT(n)
#define EXIT_OUT_RESULT(n) \
	TAP_ENUM_FIELD(ncclResult_t, n, TAP_WROTE(n) ? (int32_t) *a->n : -1)
#define KIND_FITS_OUT_RESULT(t) TAP_POINTS_TO(t, ncclResult_t)
#define ROLE_OUT_RESULT(n)

#define READ_OUT_REDOP(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_REDOP(n)
#define EXIT_OUT_REDOP(n) \
	TAP_ENUM_FIELD(ncclRedOp_t, n, TAP_WROTE(n) ? (int32_t) *a->n : -1)
#define KIND_FITS_OUT_REDOP(t) TAP_POINTS_TO(t, ncclRedOp_t)
#define ROLE_OUT_REDOP(n)

#define READ_OUT_UNIQUE_ID(ON_ENTRY, ON_EXIT, n) ON_EXIT(TAP_READ_BYTES(n, TAP_WROTE(n)))
#define ENTRY_OUT_UNIQUE_ID(n)
#define EXIT_OUT_UNIQUE_ID(n) \
	lttng_ust_field_integer_hex(uint64_t, n##_hash, \
		TAP_WROTE(n) ? tap_nccl_hash(a->n) : 0)
#define KIND_FITS_OUT_UNIQUE_ID(t) TAP_POINTS_TO(t, ncclUniqueId)
#define ROLE_OUT_UNIQUE_ID(n)

/*
 * A hook H (intercept/nccl/hooks.h) is three lines here: HOOK_ENTRY_H has the fields that its
 * calls add to their entry event, HOOK_EXIT_H those of the exit event, and HOOK_KIND_H says what
 * the calls mean for their communicator's operations (join/model/call.h).  Of those that are
 * COLLECTIVE here, only calls with an op_number count.
 */
#define TAP_GROUP_FIELDS \
	lttng_ust_field_integer(uint64_t, group_id, call->group_id) \
	lttng_ust_field_integer(uint8_t, group_depth, call->group_depth)
#define TAP_OPERATION_FIELDS \
	TAP_GROUP_FIELDS \
	lttng_ust_field_enum(nccl, capture, int32_t, capture, call->capture)

#define TAP_GROUP_LIST(type, n, list) \
	lttng_ust_field_sequence(type, n, call->group->list, uint32_t, call->group->nr_listed)

#define HOOK_ENTRY_COLLECTIVE \
	lttng_ust_field_integer(uint64_t, op_number, call->op_number) \
	lttng_ust_field_integer(uint32_t, not_counted, call->not_counted) \
	TAP_OPERATION_FIELDS
#define HOOK_EXIT_COLLECTIVE
#define HOOK_KIND_COLLECTIVE COLLECTIVE

#define HOOK_ENTRY_SEND HOOK_ENTRY_COLLECTIVE
#define HOOK_EXIT_SEND
#define HOOK_KIND_SEND SEND

#define HOOK_ENTRY_RECV HOOK_ENTRY_COLLECTIVE
#define HOOK_EXIT_RECV
#define HOOK_KIND_RECV RECEIVE

#define HOOK_ENTRY_ONE_SIDED TAP_OPERATION_FIELDS
#define HOOK_EXIT_ONE_SIDED
#define HOOK_KIND_ONE_SIDED COLLECTIVE

#define HOOK_ENTRY_GROUP_START TAP_GROUP_FIELDS
#define HOOK_EXIT_GROUP_START
#define HOOK_KIND_GROUP_START GROUP_START

#define HOOK_ENTRY_GROUP_END TAP_GROUP_FIELDS
#define HOOK_EXIT_GROUP_END \
	lttng_ust_field_integer(uint64_t, group_id, call->group_id) \
	lttng_ust_field_enum(nccl, group_outcome, int32_t, group_outcome, \
			     (int32_t) call->group->outcome) \
	lttng_ust_field_integer(uint32_t, group_comms, call->group->nr_comms) \
	TAP_GROUP_LIST(uint32_t, group_comm_id, comm_id) \
	TAP_GROUP_LIST(uint64_t, group_first_op, first_op) \
	TAP_GROUP_LIST(uint64_t, group_collectives, collectives) \
	TAP_GROUP_LIST(uint64_t, group_p2p, p2p)
#define HOOK_KIND_GROUP_END GROUP_END

#define HOOK_ENTRY_GROUP_SIMULATE TAP_GROUP_FIELDS
#define HOOK_EXIT_GROUP_SIMULATE HOOK_EXIT_GROUP_END
#define HOOK_KIND_GROUP_SIMULATE GROUP_END

#define HOOK_ENTRY_ASYNC_ERROR
#define HOOK_EXIT_ASYNC_ERROR
#define HOOK_KIND_ASYNC_ERROR COLLECTIVE

#define HOOK_ENTRY_UNIQUE_ID
#define HOOK_EXIT_UNIQUE_ID
#define HOOK_KIND_UNIQUE_ID COLLECTIVE

#define HOOK_ENTRY_INIT_RANK
#define HOOK_EXIT_INIT_RANK
#define HOOK_KIND_INIT_RANK COLLECTIVE

#define HOOK_ENTRY_INIT_CONFIG
#define HOOK_EXIT_INIT_CONFIG
#define HOOK_KIND_INIT_CONFIG COLLECTIVE

#define HOOK_ENTRY_INIT_SCALABLE
#define HOOK_EXIT_INIT_SCALABLE
#define HOOK_KIND_INIT_SCALABLE COLLECTIVE

#define HOOK_ENTRY_INIT_ALL
#define HOOK_EXIT_INIT_ALL
#define HOOK_KIND_INIT_ALL COLLECTIVE

#define HOOK_ENTRY_SPLIT
#define HOOK_EXIT_SPLIT
#define HOOK_KIND_SPLIT COLLECTIVE

#define HOOK_ENTRY_SHRINK
#define HOOK_EXIT_SHRINK
#define HOOK_KIND_SHRINK COLLECTIVE

#define HOOK_ENTRY_GROW_ID
#define HOOK_EXIT_GROW_ID
#define HOOK_KIND_GROW_ID COLLECTIVE

#define HOOK_ENTRY_GROW
#define HOOK_EXIT_GROW
#define HOOK_KIND_GROW COLLECTIVE

#define HOOK_ENTRY_FINALIZE
#define HOOK_EXIT_FINALIZE
#define HOOK_KIND_FINALIZE COLLECTIVE

#define HOOK_ENTRY_DESTROY
#define HOOK_EXIT_DESTROY
#define HOOK_KIND_DESTROY COLLECTIVE

#define HOOK_ENTRY_ABORT
#define HOOK_EXIT_ABORT
#define HOOK_KIND_ABORT COLLECTIVE

#define HOOK_ENTRY_REVOKE
#define HOOK_EXIT_REVOKE
#define HOOK_KIND_REVOKE COLLECTIVE

#define HOOK_ENTRY_SUSPEND
#define HOOK_EXIT_SUSPEND
#define HOOK_KIND_SUSPEND COLLECTIVE

#define HOOK_ENTRY_RESUME
#define HOOK_EXIT_RESUME
#define HOOK_KIND_RESUME COLLECTIVE

#define HOOK_ENTRY_PLAIN
#define HOOK_EXIT_PLAIN
#define HOOK_KIND_PLAIN COLLECTIVE

#define HOOK_ENTRY_ON_COMM
#define HOOK_EXIT_ON_COMM
#define HOOK_KIND_ON_COMM COLLECTIVE

/* Return values. */
#define READ_RET_RESULT
#define READ_RET_I32
#define READ_RET_SKIP
#define READ_RET_STR \
	char result_copy[TAP_RESULT_BYTES]; \
	ret = tap_safe_read_string(result_copy, sizeof(result_copy), ret);
#define RET_RESULT TAP_ENUM_FIELD(ncclResult_t, result, ret)
#define RET_FITS_RESULT(t) TAP_IS_NUMBER(t, 4)
#define RET_I32 lttng_ust_field_integer(int32_t, result, ret)
#define RET_FITS_I32(t) TAP_IS_NUMBER(t, 4)
#define RET_STR lttng_ust_field_string(result, tap_string(ret))
#define RET_FITS_STR(t) TAP_POINTS_TO(t, const char)
#define RET_SKIP
#define RET_FITS_SKIP(t) 1

#endif
