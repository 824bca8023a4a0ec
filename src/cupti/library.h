/* SPDX-License-Identifier: MIT */
/*
 * Finds libcupti and its functions.
 *
 * It hides where CUPTI may be: the copy that the process has already, else one beside its
 * CUDA libraries, else where the linker looks; never one newer than the driver, which
 * would refuse it.  It calls no function but those that report versions.
 */
#ifndef TAP_CUPTI_LIBRARY_H
#define TAP_CUPTI_LIBRARY_H

#include <limits.h>
#include <stdint.h>

#include "common/compiler.h"
#include "cupti/abi.h"

/* clang-format off */
/*
 * NEED(name, arguments...): CUPTI cannot be used without it.  MAY: later releases have
 * it.
 */
#define TAP_CUPTI_FUNCTIONS(NEED, MAY) \
	NEED(GetVersion, uint32_t *version) \
	NEED(Subscribe, void **subscriber, tap_cupti_callback_function callback, void *userdata) \
	MAY(Subscribe_v2, void **subscriber, tap_cupti_callback_function callback, \
	    void *userdata, struct tap_cupti_subscriber_params *params) \
	NEED(Unsubscribe, void *subscriber) \
	NEED(EnableCallback, uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid) \
	NEED(GetTimestamp, uint64_t *timestamp) \
	MAY(GetGraphId, void *graph, uint32_t *id) \
	MAY(GetGraphNodeId, void *node, uint64_t *id) \
	NEED(ActivityEnable, int kind) \
	NEED(ActivityDisable, int kind) \
	MAY(ActivityEnableDriverApi, uint32_t cbid, uint8_t enable) \
	NEED(ActivityFlushAll, uint32_t flag) \
	NEED(ActivityGetNextRecord, uint8_t *buffer, size_t valid, \
	     struct tap_cupti_record **record) \
	MAY(ActivityGetNumDroppedRecords, void *context, uint32_t stream, size_t *dropped) \
	NEED(ActivityRegisterCallbacks, tap_cupti_buffer_requested requested, \
	     tap_cupti_buffer_completed completed) \
	MAY(ActivityRegisterTimestampCallback, uint64_t (*timestamp)(void))

#define TAP_CUPTI_FUNCTION(name, ...) int (*name)(__VA_ARGS__);
struct tap_cupti_library {
	TAP_CUPTI_FUNCTIONS(TAP_CUPTI_FUNCTION, TAP_CUPTI_FUNCTION)
	uint32_t version; /* of cuptiGetVersion(), 0: not known */
	char path[PATH_MAX];
};
#undef TAP_CUPTI_FUNCTION
/* clang-format on */

/*
 * Finds and opens libcupti.  Returns 0; -ENOENT if there is none, -ENOTSUP if it cannot
 * be used, with the reason in *ret_why.  Not to be called in a thread of the program's:
 * it looks for files that may not exist.
 */
int tap_cupti_open(struct tap_cupti_library *ret_library,
		   const char **ret_why) tap_hidden;

#endif
